"""What the tests of ports share: a gateway, a sandbox, the program in it and ways to speak to it."""
import http.client
import os
import socket
import sys
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


class PortsCase(unittest.TestCase):
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
