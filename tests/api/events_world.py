"""What the tests of events share: a receiver of webhooks, a reader of streams, and a gateway with a tenant."""
import http.client
import http.server
import json
import os
import socket
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests", "support"), os.path.join(ROOT, "tests", "faults")]
sys.dont_write_bytecode = True

import server as servers  # noqa: E402
from cases import wait_until  # noqa: E402

SMALL = {"isolation": "process", "ttl_seconds": 300, "network": {"default": "deny"},
         "resources": {"vcpu": 0.5, "memory_mib": 128, "disk_gib": 1, "processes": 64},
         "limits": {"max_vcpu": 1, "max_memory_mib": 256, "max_ttl_seconds": 600}}
SECRET = "a secret that is never printed"


class Receiver:
    """A server that keeps what it is sent; `answers` are the statuses of a path's next requests."""

    def __init__(self):
        self.requests, self.answers, self.lock = [], {}, threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with outer.lock:
                    outer.requests.append((self.path, dict(self.headers), body))
                    status = outer.answers[self.path].pop(0) if outer.answers.get(self.path) else 200
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *unused):
                pass

        self.server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path, host="127.0.0.1"):
        return f"http://{host}:{self.port}{path}"

    def got(self, path):
        with self.lock:
            return [(headers, body) for where, headers, body in self.requests if where == path]

    def events(self, path):
        return [json.loads(body) for _, body in self.got(path)]


class Stream:
    """Reads server-sent events in a thread."""

    def __init__(self, client, path, last=None):
        self.events, self.ids, self.ended, self.comments = [], [], False, 0
        self.connection = http.client.HTTPConnection(client.host, client.port, timeout=60)
        headers = {"Authorization": "Bearer " + client.key}
        if client.tenant:
            headers["X-Sandgate-Tenant"] = client.tenant
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        self.connection.request("GET", path, headers=headers)
        self.answer = self.connection.getresponse()
        if self.answer.status != 200:
            raise AssertionError(f"{path}: {self.answer.status} {self.answer.read()[:300]!r}")
        self.place = self.read_place()
        threading.Thread(target=self.run, daemon=True).start()

    def read_place(self):
        line = self.answer.readline().decode().strip()
        assert line.startswith("id: "), line
        assert self.answer.readline().strip() == b"", "the first id is no event"
        return int(line[4:])

    def run(self):
        fields = {}
        try:
            while True:
                line = self.answer.readline()
                if not line:
                    break
                line = line.decode().rstrip("\n")
                if line.startswith(":"):
                    self.comments += 1
                elif line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif "data" in fields:
                    event = json.loads(fields["data"])
                    assert event["type"] == fields["event"], fields
                    self.ids.append(int(fields["id"]))
                    self.events.append(event)
                    fields = {}
        except (OSError, ValueError, AttributeError):
            pass
        self.ended = True

    def types(self):
        return [event["type"] for event in list(self.events)]

    def wait(self, count, seconds=20):
        wait_until(lambda: len(self.events) >= count, seconds, f"{count} events, there are {self.types()}")

    def close(self):
        # Wakes the reader, which holds the answer.
        try:
            self.connection.sock and self.connection.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.connection.close()


class World:
    def __init__(self):
        binary = os.environ.get("SANDGATE_BINARY", os.path.join(ROOT, "build", "gateway", "sandgate"))
        servers.ensure_image(binary)
        self.server = servers.Server(binary, settings={"webhooks.allow_private": "true"}).start()
        self.receiver = Receiver()
        self.tenant, self.owner = self.server.tenant("events")
        self.other_tenant, self.other = self.server.tenant("others")
        self.server.profile("small", **SMALL)

    def kill_gateway(self):
        """kill -9, and back again on another port."""
        listen = self.server.home + "/gateway/listen"
        os.unlink(listen)
        self.server.kill("worker")
        wait_until(lambda: os.path.exists(listen), 60, "the gateway is back")
        self.server.port = int(open(listen).read().rsplit(":", 1)[1])
        for client in (self.owner, self.other):
            client.close()
            client.port = self.server.port

    def create(self, client=None, **more):
        return (client or self.owner).ok("POST", "/v1/sandboxes", {"profile": "small", **more})["id"]

    def kill(self, box, client=None):
        (client or self.owner).call("DELETE", "/v1/sandboxes/" + box)

    def hook(self, name, client=None, **fields):
        body = {"url": self.receiver.url("/" + name), "secret": SECRET, **fields}
        return (client or self.owner).ok("PUT", "/v1/webhooks/" + name, body)
