"""What every fake vendor is made of: an HTTP server on a free port of loopback, sandboxes that are
scratch folders in which commands really run, faults by switch, and a check of requests against the
vendor's published API description.

A fake is a module with a class derived from Fake; run(cls) is its main program. It prints
"listening <url>" and serves until its stdin ends, so that it never outlives its test.

  POST   /_fake/faults  one fault, see FAULTS; applies to the next `times` matching requests
  DELETE /_fake/faults
  GET    /_fake/state   what was asked and what exists
"""
import argparse
import http.server
import json
import os
import re
import secrets
import shutil
import socket
import struct
import sys
import tempfile
import threading
import traceback
import urllib.parse

from box import Box, descendants  # noqa: F401

# Seconds from the acceptance of a create to its sandbox's being there, with vendors that have to be asked for that.
STARTS_IN = float(os.environ.get("SANDGATE_FAKES_START_IN", "0.25"))

# How a matching request goes wrong. `match` is a regular expression on "METHOD /path".
#   status      an answer with `status`, `headers` and `message`, nothing done
#   hang        no answer, nothing done
#   reset       the connection breaks, nothing done
#   half_body   done, but the answer breaks off in the middle of its body
#   trickle     done, and the answer comes one byte at a time
#   lost_reply  done, but the connection breaks before the answer
#   slow_input  done, but what the caller says over the WebSocket is heard late (sprites)
#   cut         a stream of output ends after its first piece, or, cut_at_end, once the program has (runloop)
#   broken      a stream of output breaks after its first piece (runloop)
#   exception   done, but the answer is an exception in its stream (agentcore_runtime)
#   lost_start  the container is started, then the connection breaks (cloudflare)
FAULTS = ("status", "hang", "reset", "half_body", "trickle", "lost_reply", "slow_input", "cut", "cut_at_end", "broken",
          "exception", "lost_start")


class Refusal(Exception):
    """An answer other than success; `body` is the vendor's error document."""

    def __init__(self, status, body, headers=None):
        super().__init__(f"{status} {body}")
        self.status, self.body, self.headers = status, body, headers or {}


class Request:
    def __init__(self, handler, method, path, query, headers, body):
        self.handler, self.method, self.path, self.query = handler, method, path, query
        self.headers, self.body = headers, body
        self.streaming = False
        self.fault = ""  # the kind that is switched on

    def json(self):
        return json.loads(self.body) if self.body else {}

    def one(self, name, default=None):
        return self.query.get(name, [default])[0]

    def stream(self, headers, status=200):
        """Starts a chunked answer; returns a function that writes a piece, b"" being the end."""
        self.streaming = True
        self.handler.send_response(status)
        for name, value in headers.items():
            self.handler.send_header(name, value)
        self.handler.send_header("Transfer-Encoding", "chunked")
        self.handler.end_headers()

        def write(data):
            self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        return write


class Fake:
    """Derived classes list `routes`: (method, pattern of the whole path, method name). A handler
    takes the request and the pattern's groups and returns (status, value[, headers]) with bytes or
    what becomes JSON, or has streamed and returns None."""
    routes = ()
    handler = None  # a class derived from Handler, for what is not HTTP/1.1 alone

    def __init__(self, specs=None):
        self.root = tempfile.mkdtemp(prefix="sandgate-fake-")
        self.boxes, self.saved, self.lock = {}, {}, threading.RLock()
        self.faults, self.asked, self.violations, self.created = [], [], [], 0
        self.specs = specs or []
        self.stopped = threading.Event()

    def new_box(self, box_id, **more):
        with self.lock:
            box = Box(self.root, box_id, **more)
            self.boxes[box_id] = box
            self.created += 1
        return box

    def drop_box(self, box_id):
        with self.lock:
            box = self.boxes.pop(box_id, None)
        if box:
            box.remove()
        return box

    def authorized(self, request):
        """Raises Refusal; every vendor has its own header."""

    def failure(self, status, message):
        """The vendor's error document for a status."""
        return {"message": message}

    def refuse(self, status, message):
        return Refusal(status, self.failure(status, message))

    def dispatch(self, request):
        if request.path.startswith("/_fake/"):
            return self.control(request)
        with self.lock:
            for spec in self.specs:
                self.violations += spec.problems(request)
        try:
            for method, pattern, name in self.routes:
                match = re.fullmatch(pattern, request.path)
                if match and method == request.method:
                    self.authorized(request)
                    groups = [urllib.parse.unquote(group) for group in match.groups()]
                    return getattr(self, name)(request, *groups)
            return 404, self.failure(404, "no such route")
        except Refusal as refusal:
            return refusal.status, refusal.body, refusal.headers
        except ConnectionError:
            raise
        except Exception:
            traceback.print_exc()
            if request.streaming:
                raise ConnectionError("the fake failed") from None
            return 500, self.failure(500, "the fake failed")

    def control(self, request):
        with self.lock:
            if request.path == "/_fake/faults":
                self.faults = [] if request.method == "DELETE" else self.faults + [request.json()]
                return 200, {}
            return 200, {"boxes": sorted(self.boxes), "created": self.created, "asked": self.asked,
                         "saved": len(self.saved), "violations": self.violations}

    def fault_of(self, request):
        if request.path.startswith("/_fake/"):
            return None
        line = f"{request.method} {request.path}"
        with self.lock:
            self.asked.append(line)
            for fault in self.faults:
                if fault.get("times", 1 << 30) > 0 and re.match(fault["match"], line):
                    fault["times"] = fault.get("times", 1 << 30) - 1
                    return fault
        return None

    def close(self):
        self.stopped.set()
        for box_id in list(self.boxes):
            self.drop_box(box_id)
        shutil.rmtree(self.root, ignore_errors=True)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fake = None

    def log_message(self, *_):
        pass

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            whole = []
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                whole.append(self.rfile.read(size))
                self.rfile.readline()
                if size == 0:
                    return b"".join(whole)
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def serve(self):
        path, _, query = self.path.partition("?")
        request = Request(self, self.command, path, urllib.parse.parse_qs(query, True), self.headers,
                          self.body())
        fault = self.fake.fault_of(request) or {"kind": ""}
        kind = request.fault = fault["kind"]
        if kind == "hang":
            self.fake.stopped.wait(60)
        if kind in ("hang", "reset"):
            return self.reset()
        if kind == "status":
            body = self.fake.failure(fault["status"], fault.get("message", "switched on"))
            return self.answer(fault["status"], body, fault.get("headers", {}))
        request.fault = kind
        reply = self.fake.dispatch(request)
        if kind == "lost_reply":
            return self.reset()
        if reply is not None:
            self.answer(*reply, manner=kind)

    def answer(self, status, value, headers=None, manner=""):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        if status == 204:
            data = b""
        self.send_response(status)
        sent = dict(headers or {})
        if not isinstance(value, bytes):
            sent.setdefault("Content-Type", "application/json")
        for name, text in sent.items():
            self.send_header(name, text)
        if status != 204:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if manner == "half_body":
            self.wfile.write(data[:len(data) // 2])
            return self.reset()
        if manner == "trickle":
            for i in range(len(data)):
                self.wfile.write(data[i:i + 1])
                self.fake.stopped.wait(0.002)
            return None
        if self.command != "HEAD":
            self.wfile.write(data)
        return None

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, ValueError, OSError):
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = serve


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def start(fake):
    """Serves in the background; the server, with its address as `url`."""
    handler = type("BoundHandler", (fake.handler or Handler,), {"fake": fake})
    server = Server(("127.0.0.1", 0), handler)
    fake.url = server.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def form_of(request):
    """The parts of a multipart body by name."""
    boundary = request.headers["Content-Type"].partition("boundary=")[2].strip('"').encode()
    parts = {}
    for part in (b"\r\n" + request.body).split(b"\r\n--" + boundary)[1:-1]:
        head, _, data = part.partition(b"\r\n\r\n")
        parts[head.partition(b'name="')[2].partition(b'"')[0].decode()] = data
    return parts


def new_id(prefix="", length=20):
    return prefix + "".join(secrets.choice("abcdefghijkmnpqrstuvwxyz0123456789") for _ in range(length))


def run(cls, spec_files=(), newer=(), checker=None):
    """The fake as a program. --specs DIR checks each request against DIR/<spec file>; a third
    member of `spec_files`, or else `checker`, is what checks it where that is no OpenAPI. `newer`:
    words of the vendor's present API that the description does not know yet."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--specs", default="")
    options = parser.parse_args()
    specs = []
    if options.specs:
        from spec_check import SpecCheck
        specs = [(check or [checker or SpecCheck])[0](os.path.join(options.specs, name), prefix, newer)
                 for name, prefix, *check in spec_files]
    fake = cls(specs)
    server = start(fake)
    print("listening " + server.url, flush=True)
    try:
        sys.stdin.read()
    finally:
        fake.close()
