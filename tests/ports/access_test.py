#!/usr/bin/env python3
"""Ports of sandboxes over the real program: WebSockets, who may come in, and the life of the sandbox.

    SANDGATE_BINARY=build/gateway/sandgate tests/ports/access_test.py [-v] [PortsTest.name]

Exit code 77: nothing could run.
"""
import base64
import http.client
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import unittest
import urllib.parse

sys.dont_write_bytecode = True

from ports_world import DOMAIN, PORT, PortsCase, eventually, servers  # noqa: E402


class PortsTest(PortsCase):
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

    def test_a_connection_becomes_nothing_but_a_websocket(self):
        # Clients that speak HTTP/2 offer it by themselves. A program that took it would be sent what they have for
        # the gateway next, and with it their API key.
        switch = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
        raw = "/raw?bytes=" + urllib.parse.quote(base64.b64encode(switch), safe="")

        def ask(path, offer):
            return self.raw(f"GET {self.prefix}{path} HTTP/1.1\r\nHost: x\r\nX-Sandgate-Token: {self.token}\r\n"
                            f"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: {offer}\r\nHTTP2-Settings: AAMA\r\n\r\n".encode())

        for offer in ("h2c", "websocket", "h2c, websocket"):
            with self.subTest(offer=offer):
                self.assertTrue(ask(raw, offer).startswith(b"HTTP/1.1 503 "))
        seen = ask("/echo", "h2c")
        self.assertTrue(seen.startswith(b"HTTP/1.1 200 "), seen)
        self.assertNotIn(b"h2c", seen)

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

    def test_a_repeated_request_opens_nothing(self):
        self.start_app(self.box, 8015)
        path, prefix = f"/v1/sandboxes/{self.box}/ports", f"/p/{self.box}/8015"
        body, key = {"port": 8015, "access": "public"}, {"Idempotency-Key": "public-" + self.box}
        first = self.client.call("POST", path, body, headers=key)
        self.assertEqual(self.get("/echo", token=None, prefix=prefix).status, 200)
        new = self.expose(self.box, 8015)["token"]
        eventually(lambda: self.get("/echo", token=None, prefix=prefix).status == 401)
        self.assertEqual(self.client.call("POST", path, body, headers=key).json(), first.json())
        self.assertEqual(self.get("/echo", token=None, prefix=prefix).status, 401)
        self.assertEqual(self.get("/echo", token=new, prefix=prefix).status, 200)

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
        self.assertEqual(self.get("/echo", prefix="", Host=host + ".").status, 200)
        self.assertEqual(self.get("/echo", prefix="", Host=host + ".:8080").status, 200)
        self.assertEqual(self.get("/p/x/80/", prefix="", Host=host).json()["target"], "/p/x/80/")
        for wrong in (f"{PORT}{self.box}.{DOMAIN}", f"0-{self.box}.{DOMAIN}", f"x.{DOMAIN}", f"a.{host}"):
            self.assertEqual(self.get("/", prefix="", Host=wrong).status, 404, wrong)
        self.assertEqual(self.get("/healthz", prefix="", token=False, Host=DOMAIN).status, 200)
        _, head = self.websocket(f"X-Sandgate-Token: {self.token}\r\n", "/ws", host)
        self.assertTrue(head.startswith(b"HTTP/1.1 101 "), head)

    def test_the_link_names_the_port_that_was_reached(self):
        listed = self.client.ok("GET", f"/v1/sandboxes/{self.box}/ports")["items"]
        url = next(one["url"] for one in listed if one["port"] == PORT)
        self.assertEqual(url, f"http://{PORT}-{self.box}.{DOMAIN}:{self.server.port}/")
        self.assertEqual(self.get("/echo", prefix="", Host=url.split("/")[2]).status, 200)

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
        self.assertEqual(self.client.call("GET", f"/v1/sandboxes/{box}/ports").status, 409)

    def test_a_closed_port_cuts_what_passes(self):
        box = self.make_box()
        self.start_app(box)
        prefix = f"/p/{box}/{PORT}"
        closings = {
            "closed": lambda: self.client.ok("DELETE", f"/v1/sandboxes/{box}/ports/{PORT}"),
            "opened anew": lambda: self.expose(box, PORT),
            "expired": lambda: None,
        }
        for name, close in closings.items():
            with self.subTest(name):
                lifetime = {"expires_in_seconds": 2} if name == "expired" else {}
                token = self.expose(box, PORT, **lifetime)["token"]
                stream, head = self.websocket(f"X-Sandgate-Token: {token}\r\n", prefix + "/ws")
                self.assertTrue(head.startswith(b"HTTP/1.1 101 "), head)
                connection = self.connect()
                connection.request("GET", prefix + "/endless", headers={"X-Sandgate-Token": token})
                answer = connection.getresponse()
                answer.read(100000)
                close()
                try:
                    self.assertEqual(stream.read(1), b"")
                except ConnectionResetError:
                    pass
                with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
                    answer.read()

    def test_a_port_closed_before_the_answer_is_not_there(self):
        box = self.make_box()
        self.start_app(box)
        for name, target, body in (("no answer yet", "GET /p/%s/%d/late?seconds=3", False),
                                   ("no answer ever", "GET /p/%s/%d/never", False),
                                   ("an upload without end", "POST /p/%s/%d/echo", True)):
            with self.subTest(name):
                token = self.expose(box, PORT)["token"]
                link = socket.create_connection((self.server.host, self.server.port), timeout=0.2)
                self.addCleanup(link.close)
                framing = "Transfer-Encoding: chunked\r\n" if body else ""
                link.sendall(f"{target % (box, PORT)} HTTP/1.1\r\nHost: x\r\nX-Sandgate-Token: {token}\r\n{framing}\r\n"
                             .encode())
                time.sleep(0.5)
                self.client.ok("DELETE", f"/v1/sandboxes/{box}/ports/{PORT}")
                got, limit = b"", time.monotonic() + 8
                while not got and time.monotonic() < limit:
                    try:
                        if body:
                            link.sendall(b"1\r\nx\r\n")
                        got = link.recv(65536)
                    except TimeoutError:
                        pass
                self.assertTrue(got.startswith(b"HTTP/1.1 404 "), got)

    def test_a_closed_port_cuts_an_answer_that_fell_silent(self):
        box = self.make_box()
        self.start_app(box)
        closings = {
            "closed": lambda: self.client.ok("DELETE", f"/v1/sandboxes/{box}/ports/{PORT}"),
            "opened anew": lambda: self.expose(box, PORT),
            "expired": lambda: None,
        }
        for name, close in closings.items():
            with self.subTest(name):
                lifetime = {"expires_in_seconds": 2} if name == "expired" else {}
                token = self.expose(box, PORT, **lifetime)["token"]
                connection = self.connect()
                connection.request("GET", f"/p/{box}/{PORT}/hush", headers={"X-Sandgate-Token": token})
                answer = connection.getresponse()
                self.assertEqual(answer.read(4), b"half")
                close()
                began = time.monotonic()
                with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
                    answer.read()
                self.assertLess(time.monotonic() - began, 8)

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
