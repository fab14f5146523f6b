#!/usr/bin/env python3
"""Ports of sandboxes over the real program: HTTP to a server in a sandbox, reached from outside.

    SANDGATE_BINARY=build/gateway/sandgate tests/ports/ports_test.py [-v] [PortsTest.name]

SANDGATE_TEST_ROUNDS: how often the 3 MB upload is repeated (20). Exit code 77: nothing could run.
"""
import base64
import hashlib
import http.client
import json
import os
import socket
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True

from ports_world import LARGE, PortsCase, ROUNDS, SILENCE, eventually, servers  # noqa: E402


class PortsTest(PortsCase):
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
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "X_OWN"):
            self.assertEqual(self.get("/echo", method, b"" if method == "GET" else b"abc").json()["method"], method)

    def test_neither_tunnels_nor_echoes(self):
        for method in ("CONNECT", "TRACE"):
            self.assertEqual(self.get("/echo", method).status, 405, method)

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
        for path in ("/cut", "/broken"):
            with self.assertRaises((http.client.IncompleteRead, ConnectionResetError)):
                self.get(path)

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

    def test_interim_answers_have_an_end(self):
        self.assertEqual(self.get("/interim").body, b"final")
        left = self.get("/stuck").json()["left"]
        self.assertEqual(self.get("/never_final").status, 503)
        eventually(lambda: self.get("/stuck").json()["left"] > left)

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


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: sandboxes of this machine need root")
        sys.exit(77)
    servers.ensure_image()
    unittest.main()
