#!/usr/bin/env python3
"""Ports of sandboxes over the real program: a server in a sandbox, reached from outside.

    SANDGATE_BINARY=build/gateway/sandgate tests/ports/ports_test.py [-v] [PortsTest.name]

SANDGATE_TEST_ROUNDS: how often the 3 MB upload is repeated (20). Exit code 77: nothing could run.
"""
import base64
import hashlib
import http.client
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "support")]
sys.dont_write_bytecode = True

import server as servers  # noqa: E402

ROUNDS = int(os.environ.get("SANDGATE_TEST_ROUNDS", "20"))
DOMAIN = "ports.example.com"
SILENCE = 3
PORT = 8000
LARGE = os.urandom(1 << 20) * 3


def eventually(condition, seconds=15):
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError("did not happen in time")


def resident(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


class PortsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = servers.Server(settings={"ports.domain": DOMAIN, "ports.silence_seconds": str(SILENCE)})
        cls.addClassCleanup(cls.server.close)
        cls.server.start()
        cls.tenant, cls.client = cls.server.tenant("ports", "developer")
        cls.server.profile("ports", resources={"vcpu": 1, "memory_mib": 256, "disk_gib": 1},
                           limits={"max_ttl_seconds": 3000}, ttl_seconds=1200)
        cls.box = cls.make_box()
        cls.start_app(cls.box)
        cls.token = cls.expose(cls.box, PORT)["token"]
        cls.prefix = f"/p/{cls.box}/{PORT}"

    @classmethod
    def make_box(cls, **more):
        return cls.client.ok("POST", "/v1/sandboxes", {"profile": "ports", **more})["id"]

    @classmethod
    def start_app(cls, box, port=PORT, *words):
        source = open(os.path.join(HERE, "app.py"), "rb").read()
        cls.client.ok("PUT", f"/v1/sandboxes/{box}/files?path=app.py", raw=source)
        made = cls.client.ok("POST", f"/v1/sandboxes/{box}/exec",
                             {"command": ["python3", "app.py", str(port), *words], "background": True})
        stream = http.client.HTTPConnection(cls.server.host, cls.server.port, timeout=30)
        stream.request("GET", f"/v1/sandboxes/{box}/processes/{made['process_id']}/output",
                       headers={"Authorization": "Bearer " + cls.client.key})
        answer = stream.getresponse()
        while line := answer.readline():
            if line.startswith(b"data: {\"data\""):
                break
        stream.close()
        return made["process_id"]

    @classmethod
    def expose(cls, box, port, **more):
        return cls.client.ok("POST", f"/v1/sandboxes/{box}/ports", {"port": port, **more})

    def connect(self, timeout=30):
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=timeout)
        self.addCleanup(connection.close)
        return connection

    def get(self, path, method="GET", body=None, token=True, connection=None, prefix=None, **headers):
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["X-Sandgate-Token"] = self.token if token is True else token
        connection = connection or self.connect()
        connection.request(method, (self.prefix if prefix is None else prefix) + path, body, sent)
        answer = connection.getresponse()
        return servers.Answer(answer.status, answer.headers, answer.read())

    def raw(self, text, seconds=10):
        """What the server answers to these bytes, until it closes or stays quiet."""
        with socket.create_connection((self.server.host, self.server.port), timeout=seconds) as link:
            link.sendall(text)
            link.settimeout(1.5)
            got = b""
            try:
                while part := link.recv(65536):
                    got += part
            except TimeoutError:
                pass
            return got

    def worker_memory(self):
        return resident(self.server.pids("worker")[0])

    # ---- HTTP

    def test_passes_what_the_client_sent(self):
        answer = self.get("/a%2Fb/%FF?x=1&y=%zz&sandgate_token=" + self.token, token=False, X_Own="yes")
        told = answer.json()
        self.assertEqual(answer.status, 200)
        self.assertEqual(told["target"], "/a%2Fb/%FF?x=1&y=%zz")
        headers = {name.lower(): value for name, value in told["headers"]}
        self.assertEqual(headers["x-own"], "yes")
        self.assertEqual(headers["x-forwarded-for"], "127.0.0.1")
        self.assertEqual(headers["x-forwarded-proto"], "http")
        self.assertEqual(headers["x-forwarded-prefix"], self.prefix)
        self.assertEqual(headers["x-forwarded-host"], headers["host"])

    def test_keeps_what_is_for_the_gateway(self):
        connection = self.connect()
        connection.putrequest("GET", self.prefix + "/echo")
        for name, value in [("X-Sandgate-Token", self.token), ("X-API-Key", self.client.key),
                            ("Authorization", "Bearer " + self.client.key), ("X-Sandgate-Tenant", "tn0"),
                            ("Cookie", f"a=1; sandgate_token={self.token}; b=2"), ("Connection", "X-Hop"),
                            ("X-Hop", "1"), ("TE", "trailers"), ("Proxy-Authorization", "x"),
                            ("Referer", f"http://x/?sandgate_token={self.token}")]:
            connection.putheader(name, value)
        connection.endheaders()
        told = json.loads(connection.getresponse().read())
        text = json.dumps(told)
        self.assertNotIn(self.token, text)
        self.assertNotIn(self.client.key, text)
        headers = {name.lower(): value for name, value in told["headers"]}
        for name in ("x-hop", "te", "proxy-authorization", "x-sandgate-tenant", "referer", "authorization",
                     "x-api-key"):
            self.assertNotIn(name, headers)
        self.assertEqual(headers["cookie"], "a=1; b=2")

    def test_passes_the_programs_own_authorization(self):
        told = self.get("/echo", Authorization="Basic dTpw", X_API_Key="mine").json()
        headers = {name.lower(): value for name, value in told["headers"]}
        self.assertEqual((headers["authorization"], headers["x-api-key"]), ("Basic dTpw", "mine"))

    def test_every_method(self):
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            self.assertEqual(self.get("/echo", method, b"" if method == "GET" else b"abc").json()["method"], method)

    def test_head_and_answers_without_body(self):
        connection = self.connect()
        answer = self.get("/large?bytes=160000", "HEAD", connection=connection)
        self.assertEqual((answer.status, answer.headers["Content-Length"], answer.body), (200, "160000", b""))
        for code in (204, 304):
            answer = self.get(f"/status?code={code}", connection=connection)
            self.assertEqual((answer.status, answer.body), (code, b""))
            self.assertIsNone(answer.headers["Transfer-Encoding"])
        for code in (200, 302, 404, 500):
            self.assertEqual(self.get(f"/status?code={code}", connection=connection).status, code)

    def test_large_answers(self):
        connection = self.connect()
        self.assertEqual(len(self.get("/large?bytes=48000000", connection=connection).body), 48000000)
        chunks = self.get("/chunked?chunks=5000&repeat=100", connection=connection)
        self.assertEqual(chunks.headers["Transfer-Encoding"], "chunked")
        self.assertEqual(chunks.body, b"".join((b"%d," % i) * 100 for i in range(5000)))
        self.assertEqual(self.get("/unsized", connection=connection).body, b"until the end " * 5000)
        self.assertEqual(self.get("/informed", connection=connection).body, b"informed")

    def test_large_uploads(self):
        digest = hashlib.sha256(LARGE).hexdigest()
        connection = self.connect()
        for turn in range(ROUNDS):
            begin = time.monotonic()
            told = self.get("/echo", "POST", LARGE, connection=connection).json()
            self.assertEqual((told["length"], told["digest"]), (len(LARGE), digest))
            self.assertLess(time.monotonic() - begin, 10, f"round {turn}")
        pieces = [LARGE[i:i + 50000] for i in range(0, len(LARGE), 50000)]
        for turn in range(3):
            told = self.get("/echo", "PUT", iter(pieces), connection=connection).json()
            self.assertEqual(told["digest"], digest)

    def test_small_bodies_one_after_another_on_one_connection(self):
        connection = self.connect()
        for size in (0, 1, 1000, 16384, 16385, 65536, 3):
            self.assertEqual(self.get("/echo", "POST", b"x" * size, connection=connection).json()["length"], size)

    def test_both_bodies_stream_at_once(self):
        with socket.create_connection((self.server.host, self.server.port), timeout=20) as link:
            link.sendall(f"POST {self.prefix}/duplex HTTP/1.1\r\nHost: x\r\nX-Sandgate-Token: {self.token}\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n".encode())
            got = b""
            while b"first" not in got:
                got += link.recv(65536)
            link.sendall(b"6\r\nsecond\r\n")
            while b"second" not in got:
                got += link.recv(65536)
            link.sendall(b"0\r\n\r\n")
            while not got.endswith(b"0\r\n\r\n"):
                got += link.recv(65536)

    def test_expect_continue(self):
        with socket.create_connection((self.server.host, self.server.port), timeout=20) as link:
            link.sendall(f"POST {self.prefix}/echo HTTP/1.1\r\nHost: x\r\nX-Sandgate-Token: {self.token}\r\n"
                         "Content-Length: 100000\r\nExpect: 100-continue\r\n\r\n".encode())
            self.assertTrue(link.recv(100).startswith(b"HTTP/1.1 100 "))
            link.sendall(b"y" * 100000)
            self.assertTrue(link.recv(65536).startswith(b"HTTP/1.1 200 "))

    def test_events_arrive_as_they_are_sent(self):
        connection = self.connect()
        connection.request("GET", self.prefix + "/events", headers={"X-Sandgate-Token": self.token})
        answer = connection.getresponse()
        times = []
        while line := answer.readline():
            if line.startswith(b"data"):
                times.append(time.monotonic())
        self.assertEqual(len(times), 3)
        self.assertGreater(times[2] - times[0], 0.4)

    def test_an_early_answer_to_an_upload(self):
        for _ in range(5):
            with socket.create_connection((self.server.host, self.server.port), timeout=20) as link:
                link.sendall(f"POST {self.prefix}/early HTTP/1.1\r\nHost: x\r\nX-Sandgate-Token: {self.token}\r\n"
                             "Content-Length: 50000000\r\n\r\n".encode() + b"z" * 100000)
                got = b""
                while b"no thanks" not in got:
                    part = link.recv(65536)
                    self.assertTrue(part, got)
                    got += part
                self.assertTrue(got.startswith(b"HTTP/1.1 413 "))

    def test_http10(self):
        head = f" HTTP/1.0\r\nX-Sandgate-Token: {self.token}\r\n\r\n"
        got = self.raw(f"GET {self.prefix}/chunked?chunks=3{head}".encode())
        self.assertTrue(got.endswith(b"\r\n\r\n0,1,2,"), got)
        self.assertNotIn(b"ransfer-Encoding", got)

    # ---- the program misbehaves

    def test_nothing_listens(self):
        token = self.expose(self.box, 8999)["token"]
        answer = self.get("/", prefix=f"/p/{self.box}/8999", token=token)
        self.assertEqual(answer.status, 503)
        self.assertIn("8999", answer.json()["detail"])
        self.assertIn("listen", answer.json()["detail"])

    def test_listens_on_ipv6_only(self):
        self.start_app(self.box, 8006, "::1")
        token = self.expose(self.box, 8006)["token"]
        self.assertEqual(self.get("/echo", prefix=f"/p/{self.box}/8006", token=token).status, 200)

    def test_leaves_without_an_answer(self):
        self.assertEqual(self.get("/leave").status, 503)
        self.assertEqual(self.get("/leave", "POST", b"x").status, 503)

    def test_answers_what_is_no_http(self):
        for wrong in (b"hello\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
                      b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                      b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
                      b"HTTP/1.1 200 OK\nContent-Length: 3\n\nabc",
                      b"HTTP/1.1 200 OK\r\nX: {filler}\r\n\r\n",
                      b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"):
            answer = self.get("/raw?filler=60000&bytes=" + base64.urlsafe_b64encode(wrong).decode().replace("-", "%2B").replace("_", "%2F"))
            self.assertEqual(answer.status, 503, wrong[:60])

    def test_a_cut_answer_is_seen_to_be_cut(self):
        with self.assertRaises((http.client.IncompleteRead, ConnectionResetError)):
            self.get("/cut")

    def test_never_reads_the_upload(self):
        before = self.worker_memory()
        link = socket.create_connection((self.server.host, self.server.port), timeout=20)
        self.addCleanup(link.close)
        link.sendall(f"POST {self.prefix}/never HTTP/1.1\r\nHost: x\r\nX-Sandgate-Token: {self.token}\r\n"
                     "Content-Length: 500000000\r\n\r\n".encode())
        sent = [0]

        def feed():
            try:
                while True:
                    sent[0] += link.send(b"u" * 65536)
            except OSError:
                pass
        thread = threading.Thread(target=feed, daemon=True)
        thread.start()
        begin = time.monotonic()
        got = link.recv(65536)
        self.assertTrue(got.startswith(b"HTTP/1.1 504 "), got)
        self.assertGreater(time.monotonic() - begin, SILENCE - 1)
        self.assertLess(sent[0], 40 << 20)
        self.assertLess(self.worker_memory() - before, 16)
        link.close()
        thread.join(10)

    def test_a_client_that_stops_reading(self):
        before = self.worker_memory()
        link = socket.socket()
        self.addCleanup(link.close)
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        link.connect((self.server.host, self.server.port))
        link.sendall(f"GET {self.prefix}/endless HTTP/1.1\r\nHost: x\r\nX-Sandgate-Token: {self.token}\r\n\r\n".encode())
        left = self.get("/stuck").json()["left"]
        link.recv(100)
        eventually(lambda: self.get("/stuck").json()["left"] > left)  # after the silence
        self.assertLess(self.get("/stuck").json()["bytes"], 64 << 20)
        self.assertLess(self.worker_memory() - before, 16)

    def test_a_client_that_leaves(self):
        left = self.get("/stuck").json()["left"]
        link = socket.create_connection((self.server.host, self.server.port), timeout=10)
        link.sendall(f"GET {self.prefix}/endless HTTP/1.1\r\nHost: x\r\nX-Sandgate-Token: {self.token}\r\n\r\n".encode())
        link.recv(1000)
        link.close()
        eventually(lambda: self.get("/stuck").json()["left"] > left)

    # ---- smuggling

    def test_ambiguous_requests_are_refused(self):
        head = f"POST {self.prefix}/echo HTTP/1.1\r\nHost: x\r\nX-Sandgate-Token: {self.token}\r\n"
        good = self.raw((head + "Content-Length: 3\r\n\r\nabc").encode())
        self.assertTrue(good.startswith(b"HTTP/1.1 200 "), good)
        for fields, body in (("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"),
                             ("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
                             ("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "0\r\n\r\n"),
                             ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
                             ("Transfer-Encoding: identity, chunked\r\n", "0\r\n\r\n"),
                             ("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"),
                             ("Transfer-Encoding: chunked\nX: y\r\n", "0\r\n\r\n"),
                             ("Content-Length: +3\r\n", "abc"), ("Content-Length: 3, 3\r\n", "abc"),
                             ("X: a\rContent-Length: 3\r\n", "abc"), ("Host: y\r\nContent-Length: 3\r\n", "abc")):
            got = self.raw((head + fields + "\r\n" + body).encode())
            self.assertTrue(got.startswith(b"HTTP/1.1 400 "), (fields, got[:200]))
            self.assertEqual(got.count(b"HTTP/1.1 "), 1, fields)
        got = self.raw((head + "Transfer-Encoding: chunked\r\n\r\nzz\r\nabc").encode())
        self.assertTrue(got.startswith(b"HTTP/1.1 400 "), got[:200])

    def test_a_request_inside_a_body_stays_a_body(self):
        inner = f"GET {self.prefix}/status?code=404 HTTP/1.1\r\nHost: x\r\n\r\n"
        got = self.raw((f"POST {self.prefix}/echo HTTP/1.1\r\nHost: x\r\nX-Sandgate-Token: {self.token}\r\n"
                        f"Content-Length: {len(inner)}\r\n\r\n{inner}").encode())
        self.assertEqual(got.count(b"HTTP/1.1"), 1, got)
        self.assertIn(b'"length": %d' % len(inner), got)

    # ---- WebSocket

    def websocket(self, headers, path=None, host="x"):
        link = socket.create_connection((self.server.host, self.server.port), timeout=15)
        self.addCleanup(link.close)
        link.sendall((f"GET {path or self.prefix + '/ws'} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                      + headers + "\r\n").encode())
        stream = link.makefile("rwb", buffering=0)
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = stream.read(1)
            if not byte:
                break
            head += byte
        return stream, head

    def test_websocket(self):
        stream, head = self.websocket(f"X-Sandgate-Token: {self.token}\r\n")
        self.assertTrue(head.startswith(b"HTTP/1.1 101 "), head)
        self.assertIn(b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", head)
        for size in (5, 200, 70000):
            data = os.urandom(size)
            length = bytes([0x80 | size]) if size < 126 else (
                bytes([0x80 | 126]) + struct.pack(">H", size) if size < 65536 else
                bytes([0x80 | 127]) + struct.pack(">Q", size))
            stream.write(b"\x82" + length + b"\0\0\0\0" + data)
            want = (2 if size < 126 else 4 if size < 65536 else 10) + size
            got = b""
            while len(got) < want:
                part = stream.read(want - len(got))
                self.assertTrue(part)
                got += part
            self.assertEqual(got[-size:], data)
        stream.write(b"\x88\x80\0\0\0\0")
        self.assertEqual(stream.read(1), b"")

    def test_a_websocket_needs_the_token_too(self):
        _, head = self.websocket("")
        self.assertTrue(head.startswith(b"HTTP/1.1 401 "), head)

    # ---- who may come

    def test_token_ways(self):
        self.assertEqual(self.get("/echo", token=False).status, 401)
        self.assertEqual(self.get("/echo", token="sgp_" + "0" * 40).status, 401)
        self.assertEqual(self.get("/echo", token=False, Authorization="Bearer " + self.client.key).status, 401)
        answer = self.get("/echo?sandgate_token=" + self.token, token=False)
        cookie = answer.headers["Set-Cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn(f"Path={self.prefix}/", cookie)
        self.assertEqual(self.get("/echo", token=False, Cookie=cookie.split(";")[0]).status, 200)
        self.assertEqual(self.get("/echo", token=False, Cookie="sandgate_token=sgp_x").status, 401)

    def test_the_slash_behind_the_port_is_added(self):
        answer = self.get("?a=1&sandgate_token=x", token=False)
        self.assertEqual((answer.status, answer.headers["Location"]), (308, self.prefix + "/?a=1&sandgate_token=x"))

    def test_public(self):
        self.start_app(self.box, 8010)
        self.assertIsNone(self.expose(self.box, 8010, access="public")["token"])
        prefix = f"/p/{self.box}/8010"
        self.assertEqual(self.get("/echo", token=False, prefix=prefix).status, 200)
        self.client.ok("DELETE", f"/v1/sandboxes/{self.box}/ports/8010")
        self.assertEqual(self.get("/echo", token=False, prefix=prefix).status, 404)

    def test_a_new_token_ends_the_old_one(self):
        self.start_app(self.box, 8011)
        prefix = f"/p/{self.box}/8011"
        old = self.expose(self.box, 8011)["token"]
        self.assertEqual(self.get("/echo", token=old, prefix=prefix).status, 200)
        new = self.expose(self.box, 8011)["token"]
        eventually(lambda: self.get("/echo", token=old, prefix=prefix).status == 401)
        self.assertEqual(self.get("/echo", token=new, prefix=prefix).status, 200)

    def test_expiry(self):
        self.start_app(self.box, 8012)
        token = self.expose(self.box, 8012, expires_in_seconds=2)["token"]
        prefix = f"/p/{self.box}/8012"
        self.assertEqual(self.get("/echo", token=token, prefix=prefix).status, 200)
        eventually(lambda: self.get("/echo", token=token, prefix=prefix).status == 404)
        ports = self.client.ok("GET", f"/v1/sandboxes/{self.box}/ports")["items"]
        self.assertNotIn(8012, [port["port"] for port in ports])

    def test_repeated_request_gives_the_same_token(self):
        body = {"port": 8013}
        key = {"Idempotency-Key": "again-" + self.box}
        path = f"/v1/sandboxes/{self.box}/ports"
        first, second = (self.client.call("POST", path, body, headers=key) for _ in range(2))
        self.assertEqual((first.status, second.status, second.headers["Idempotent-Replayed"]), (201, 201, "true"))
        self.assertEqual(first.json(), second.json())
        self.assertEqual(self.client.call("POST", path, {"port": 8014}, headers=key).status, 409)

    def test_no_token_is_kept(self):
        dump = subprocess.run(["grep", "-rl", self.token, self.server.home], capture_output=True, text=True).stdout
        self.assertEqual(dump, "")

    def test_other_tenants(self):
        _, other = self.server.tenant("others", "developer")
        path = f"/v1/sandboxes/{self.box}/ports"
        self.assertEqual(other.call("POST", path, {"port": 8000}).status, 404)
        self.assertEqual(other.call("GET", path).status, 404)
        self.assertEqual(other.call("DELETE", path + "/8000").status, 404)
        theirs = other.ok("POST", "/v1/sandboxes", {"profile": "ports"})["id"]
        token = other.ok("POST", f"/v1/sandboxes/{theirs}/ports", {"port": PORT})["token"]
        self.assertEqual(self.get("/echo", token=token).status, 401)
        self.assertEqual(self.get("/echo", prefix=f"/p/{theirs}/{PORT}").status, 401)
        # Nothing listens there although it does in the neighbour.
        self.assertEqual(self.get("/echo", token=token, prefix=f"/p/{theirs}/{PORT}").status, 503)

    def test_no_way_to_the_host(self):
        for port in (self.server.port, 22, 5432):
            token = self.expose(self.box, port)["token"]
            self.assertEqual(self.get("/healthz", token=token, prefix=f"/p/{self.box}/{port}").status, 503)
        for prefix in (f"/p/{self.box}/80@127.0.0.1", "/p/127.0.0.1/80", f"/p/{self.box}/0", f"/p/{self.box}/65536",
                       f"/p/{self.box}/+80", f"/p/{self.box}%2F..%2F/80"):
            self.assertEqual(self.get("/", prefix=prefix).status, 404, prefix)

    def test_hosts(self):
        host = f"{PORT}-{self.box}.{DOMAIN}"
        answer = self.get("/echo?sandgate_token=" + self.token, prefix="", token=False, Host=host + ":8080")
        self.assertEqual(answer.status, 200)
        self.assertIn("Path=/;", answer.headers["Set-Cookie"])
        headers = {name.lower(): value for name, value in answer.json()["headers"]}
        self.assertEqual(headers["host"], host + ":8080")
        self.assertNotIn("x-forwarded-prefix", headers)
        self.assertEqual(self.get("/echo", prefix="", token=False, Host=host.upper()).status, 401)
        self.assertEqual(self.get("/p/x/80/", prefix="", Host=host).json()["target"], "/p/x/80/")
        for wrong in (f"{PORT}{self.box}.{DOMAIN}", f"0-{self.box}.{DOMAIN}", f"x.{DOMAIN}", f"a.{host}"):
            self.assertEqual(self.get("/", prefix="", Host=wrong).status, 404, wrong)
        self.assertEqual(self.get("/healthz", prefix="", token=False, Host=DOMAIN).status, 200)
        _, head = self.websocket(f"X-Sandgate-Token: {self.token}\r\n", "/ws", host)
        self.assertTrue(head.startswith(b"HTTP/1.1 101 "), head)

    def test_answers_stay_below_the_prefix(self):
        answer = self.get("/fields?Location=/login&Set_Cookie=s%3D1;%20Path%3D/;%20Domain%3Dx.com&Service_Worker_Allowed=/")
        self.assertEqual(answer.headers["Location"], self.prefix + "/login")
        self.assertEqual(answer.headers["Set-Cookie"], f"s=1; Path={self.prefix}/")
        self.assertIsNone(answer.headers["Service-Worker-Allowed"])
        self.assertEqual(self.get("/fields?Location=https://x.com/").headers["Location"], "https://x.com/")

    # ---- life of the sandbox

    def test_a_killed_sandbox_cuts_its_streams(self):
        box = self.make_box()
        self.start_app(box)
        token = self.expose(box, PORT)["token"]
        prefix = f"/p/{box}/{PORT}"
        self.assertEqual(self.get("/echo", token=token, prefix=prefix).status, 200)
        connection = self.connect()
        connection.request("GET", prefix + "/endless", headers={"X-Sandgate-Token": token})
        answer = connection.getresponse()
        answer.read(100000)
        self.client.ok("DELETE", "/v1/sandboxes/" + box)
        with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
            answer.read()
        self.assertEqual(self.get("/echo", token=token, prefix=prefix).status, 404)
        self.assertEqual(self.client.ok("GET", f"/v1/sandboxes/{box}/ports")["items"], [])

    def test_port_traffic_keeps_a_sandbox_awake(self):
        box = self.make_box(idle_timeout_seconds=3)
        self.start_app(box)
        token = self.expose(box, PORT)["token"]
        limit = time.monotonic() + 7
        while time.monotonic() < limit:
            self.assertEqual(self.get("/echo", token=token, prefix=f"/p/{box}/{PORT}").status, 200)
            time.sleep(0.5)
        eventually(lambda: self.client.ok("GET", "/v1/sandboxes/" + box)["state"] == "stopped", 20)

    def test_many_at_once(self):
        wrong = []

        def work():
            connection = self.connect()
            for _ in range(30):
                answer = self.get("/echo", "POST", b"z" * 3000, connection=connection)
                if answer.status != 200 or answer.json()["length"] != 3000:
                    wrong.append(answer.status)
        threads = [threading.Thread(target=work) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: sandboxes of this machine need root")
        sys.exit(77)
    servers.ensure_image()
    unittest.main()
