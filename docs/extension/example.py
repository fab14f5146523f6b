#!/usr/bin/env python3
"""A server that Sandgate can use as a backend: an example of docs/provider-protocol.md.

    EXTENSION_KEY=… docs/extension/example.py [--port N] [--control NAME …]

Its sandboxes are scratch folders in which commands run as this program's own account: no wall at all,
hence isolation `process`. `--control` declares what is enforced around it (say, by a machine of its own);
without any, no profile is ever placed here. Standard library only.
"""
import argparse
import base64
import http.server
import json
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from boxes import Boxes, Problem, end_group

MOST_JSON, PIECE, MOST_PAGE = 1 << 20, 1 << 16, 100
CONTROLS = ["network_deny", "network_allow", "network_rules", "cpu_limit", "memory_limit", "process_limit",
            "disk_limit"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    ROUTES = [  # method, path with {} for one part, function, whether a sandbox is meant
        ("GET", "/v1/descriptor", "descriptor"), ("POST", "/v1/sandboxes", "create"),
        ("GET", "/v1/sandboxes", "list"), ("GET", "/v1/sandboxes/{}", "show"),
        ("DELETE", "/v1/sandboxes/{}", "kill"), ("POST", "/v1/sandboxes/{}/extend", "extend"),
        ("POST", "/v1/sandboxes/{}/exec", "execute"), ("GET", "/v1/sandboxes/{}/files", "read"),
        ("PUT", "/v1/sandboxes/{}/files", "write"), ("DELETE", "/v1/sandboxes/{}/files", "remove"),
        ("GET", "/v1/sandboxes/{}/files/stat", "stat"), ("GET", "/v1/sandboxes/{}/files/list", "list_files"),
        ("POST", "/v1/sandboxes/{}/files/mkdir", "mkdir"), ("POST", "/v1/sandboxes/{}/files/move", "move")]

    def log_message(self, *unused):
        pass

    def do_GET(self):
        self.left = int(self.headers.get("Content-Length") or 0)
        self.chunked = "chunked" in self.headers.get("Transfer-Encoding", "").lower()
        self.ended = False
        try:
            self.dispatch()
        except Problem as problem:
            self.answer(problem.status, problem.document, "application/problem+json")
        except (ValueError, TypeError, AttributeError):
            wrong = Problem("invalid", "a value is not of the kind that is wanted")
            self.answer(wrong.status, wrong.document, "application/problem+json")
        except FileNotFoundError:
            missing = Problem("not_found", "there is no such path")
            self.answer(missing.status, missing.document, "application/problem+json")
        except (IsADirectoryError, NotADirectoryError, FileExistsError, OSError) as wrong:
            if isinstance(wrong, (BrokenPipeError, ConnectionError)):
                self.close_connection = True
                return
            refused = Problem("invalid", wrong.strerror or "this cannot be done", "/path")
            self.answer(refused.status, refused.document, "application/problem+json")

    do_POST = do_PUT = do_DELETE = do_GET

    def dispatch(self):
        sent = self.headers.get("Authorization", "").encode()
        if not secrets.compare_digest(sent, b"Bearer " + self.server.key.encode()):
            raise Problem("unauthenticated", "the key is not known")
        url = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        parts = url.path.split("/")
        for method, pattern, name in self.ROUTES:
            wanted = pattern.split("/")
            if method == self.command and len(wanted) == len(parts) and \
                    all(a in ("{}", b) for a, b in zip(wanted, parts)):
                box = [urllib.parse.unquote(parts[3])] if "{}" in wanted else []
                return getattr(self, name)(*box)
        raise Problem("unsupported" if url.path.startswith("/v1/") else "not_found", "this is not offered")

    # ---- bodies

    def body_read(self, size):
        """At most `size` bytes of the body; empty at its end."""
        if self.chunked and self.left == 0 and not self.ended:
            self.left = int(self.rfile.readline(64).split(b";")[0], 16)
            if self.left == 0:
                self.ended = True
                while self.rfile.readline(1024).strip():
                    pass
        piece = self.rfile.read(min(size, self.left)) if self.left else b""
        self.left -= len(piece)
        if self.chunked and piece and self.left == 0:
            self.rfile.readline(8)
        return piece

    def json_body(self):
        body = b""
        while piece := self.body_read(PIECE):
            body += piece
            if len(body) > MOST_JSON:
                raise Problem("too_large", "the body is too large")
        try:
            document = json.loads(body or b"{}")
        except ValueError:
            document = None
        if not isinstance(document, dict):
            raise Problem("invalid", "the body must be a JSON object")
        return document

    def answer(self, status, document=None, kind="application/json", headers=()):
        while self.body_read(PIECE):
            pass
        body = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if body:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    # ---- sandboxes

    def descriptor(self):
        self.answer(200, {
            "provider": "example", "isolation": "process", "persistence": ["ephemeral"],
            "verbs": {"exec": "nothing", "files": "nothing"}, "controls": self.server.controls,
            "limits": {"vcpu": 4, "memory_mib": 4096, "disk_gib": 16, "ttl_seconds": 86400},
            "regions": ["here"], "images": ["debian-12"], "notes": ["commands run without a wall"]})

    def create(self):
        wanted = self.json_body()
        if wanted.get("image", "debian-12") != "debian-12":
            raise Problem("invalid", "there is no such image", "/image")
        self.answer(201, self.server.boxes.create(wanted).document())

    def list(self):
        wanted = {name[len("metadata."):]: value for name, value in self.query.items() if name.startswith("metadata.")}
        found = [box for box in self.server.boxes.matching(wanted) if box.id > self.query.get("cursor", "")]
        most = min(int(self.query.get("limit", 50)), MOST_PAGE)
        page = found[:most]
        self.answer(200, {"items": [box.document() for box in page],
                          "next_cursor": page[-1].id if len(found) > most else None})

    def show(self, box_id):
        self.answer(200, self.server.boxes.get(box_id).document())

    def kill(self, box_id):
        self.server.boxes.kill(box_id)
        self.answer(204)

    def extend(self, box_id):
        box = self.server.boxes.get(box_id)
        self.server.boxes.extend(box, self.json_body().get("ttl_seconds", 600))
        self.answer(200, box.document())

    # ---- exec

    def execute(self, box_id):
        box, wanted = self.server.boxes.get(box_id), self.json_body()
        if wanted.get("pty") or wanted.get("background") or wanted.get("on_disconnect") == "keep":
            raise Problem("unsupported", "only programs that end with their reader are offered")
        words = wanted.get("command") or ["/bin/sh", "-c", wanted.get("shell", "")]
        place = os.path.join(box.home, wanted.get("cwd", ""))
        if not os.path.isdir(place):
            raise Problem("invalid", "there is no such directory", "/cwd")
        env = {"PATH": os.environ["PATH"], "HOME": box.home, **box.env, **wanted.get("env", {})}
        box.claim(self.headers.get("Idempotency-Key"))
        began = time.monotonic()
        try:
            process = subprocess.Popen(words, cwd=place, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, start_new_session=True, bufsize=0)
        except (FileNotFoundError, PermissionError):
            process = None
        limit = wanted.get("timeout_ms", 0)
        stream = Stream(self)
        stream.open()
        if process is None:
            return stream.close({"exit_code": 127, "signal": None, "timed_out": False, "duration_ms": 0})
        box.groups.add(process.pid)
        try:
            timed_out = stream.follow(process, began + limit / 1000 if limit else None)
        finally:
            end_group(process.pid)
            code = process.wait()
            box.groups.discard(process.pid)
            process.stdout.close()
            process.stderr.close()
        name = signal.Signals(-code).name if code < 0 else None
        stream.close({"exit_code": 124 if timed_out else code if code >= 0 else 128 - code, "signal": name,
                      "timed_out": timed_out, "duration_ms": int((time.monotonic() - began) * 1000)})

    # ---- files

    def file(self, box_id, follow=False):
        box = self.server.boxes.get(box_id)
        return box, box.path(self.query.get("path", ""), follow)

    def read(self, box_id):
        box, full = self.file(box_id, follow=True)
        entry = box.entry(full)
        with open(full, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            first, last, status = 0, size - 1, 200
            if wanted := self.headers.get("Range"):
                begin, end = wanted.removeprefix("bytes=").split("-")
                first, last, status = int(begin), min(int(end or size), size - 1), 206
                if first >= size:
                    return self.answer(416, Problem("invalid", "nothing is there").document)
            self.send_response(status)
            self.send_header("X-Sandgate-Entry", json.dumps(entry))
            self.send_header("Content-Length", str(last - first + 1))
            if status == 206:
                self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
            self.end_headers()
            file.seek(first)
            left = last - first + 1
            while left > 0 and (piece := file.read(min(PIECE, left))):
                self.wfile.write(piece)
                left -= len(piece)
            self.close_connection = left > 0  # It shrank meanwhile: the length was wrong.

    def write(self, box_id):
        box, full = self.file(box_id)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        handle, part = tempfile.mkstemp(dir=os.path.dirname(full), prefix=".part-")
        try:
            with os.fdopen(handle, "wb") as file:
                while piece := self.body_read(PIECE):
                    file.write(piece)
            os.chmod(part, int(self.query.get("mode", "0644"), 8) & 0o777)
            os.replace(part, full)
        finally:
            if os.path.exists(part):
                os.unlink(part)
        self.answer(200, box.entry(full))

    def remove(self, box_id):
        _, full = self.file(box_id)
        if not os.path.isdir(full) or os.path.islink(full):
            os.unlink(full)
        elif self.query.get("recursive") == "true":
            shutil.rmtree(full)
        else:
            os.rmdir(full)
        self.answer(204)

    def stat(self, box_id):
        box, full = self.file(box_id)
        self.answer(200, box.entry(full))

    def list_files(self, box_id):
        box, full = self.file(box_id, follow=True)
        depth, found, level = int(self.query.get("depth", 1)), [], [full]
        for _ in range(depth):
            level = [os.path.join(place, name) for place in level for name in os.listdir(place)]
            found += level
            level = [place for place in level if os.path.isdir(place) and not os.path.islink(place)]
        entries = sorted((box.entry(place) for place in found), key=lambda entry: entry["path"])
        begin = int(self.query.get("cursor", 0))
        end = begin + min(int(self.query.get("limit", 50)), MOST_PAGE)
        self.answer(200, {"items": entries[begin:end], "next_cursor": str(end) if end < len(entries) else None})

    def mkdir(self, box_id):
        box = self.server.boxes.get(box_id)
        full = box.path(self.json_body().get("path", ""))
        os.makedirs(full, exist_ok=True)
        self.answer(200, box.entry(full))

    def move(self, box_id):
        box, wanted = self.server.boxes.get(box_id), self.json_body()
        target = box.path(wanted.get("to", ""))
        os.rename(box.path(wanted.get("from", "")), target)
        self.answer(200, box.entry(target))


class Stream:
    """A process's output as server-sent events; their ids count its bytes. Nobody reading stops the program."""
    SILENCE = 10  # seconds until a comment shows that the connection lives

    def __init__(self, handler):
        self.handler, self.offset, self.sent_at = handler, 0, 0

    def send(self, text):
        self.handler.wfile.write(text.encode())
        self.sent_at = time.monotonic()

    def open(self):
        self.handler.close_connection = True
        self.handler.send_response(200)
        self.handler.send_header("Content-Type", "text/event-stream")
        self.handler.send_header("Connection", "close")
        self.handler.end_headers()
        self.send("event: start\ndata: " + json.dumps({"process_id": "pr" + secrets.token_hex(12)}) + "\n\n")

    def close(self, exit_event):
        self.send("event: exit\ndata: " + json.dumps(exit_event) + "\n\n")

    def follow(self, process, deadline):
        """Until the program has ended and its output is read; true when the time limit ended it."""
        client, pipes = self.handler.connection, {process.stdout: "stdout", process.stderr: "stderr"}
        timed_out = False
        while pipes:
            # A program may leave others behind that hold its pipes: it has ended when they are silent.
            ended = process.poll() is not None
            ready = select.select([*pipes, client], [], [], 0.1)[0]
            if not timed_out and deadline and time.monotonic() >= deadline:
                timed_out = True
                end_group(process.pid)
            if client in ready and not client.recv(1, socket.MSG_PEEK):
                raise ConnectionError("the reader is gone")
            for pipe in [pipe for pipe in ready if pipe in pipes]:
                if not self.pass_on(pipe, pipes[pipe]):
                    del pipes[pipe]
            if not ready and ended:
                break
            if time.monotonic() - self.sent_at > self.SILENCE:
                self.send(": still there\n\n")
        return timed_out

    def pass_on(self, pipe, name):
        piece = os.read(pipe.fileno(), PIECE)
        if piece:
            self.offset += len(piece)
            data = json.dumps({"data": base64.b64encode(piece).decode()})
            self.send(f"id: {self.offset}\nevent: {name}\ndata: {data}\n\n")
        return bool(piece)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port, key, controls, root):
        super().__init__(("127.0.0.1", port), Handler)
        self.key, self.controls, self.boxes = key, controls, Boxes(root)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--control", action="append", default=[], choices=CONTROLS)
    parser.add_argument("--until-eof", action="store_true", help="end when standard input does")
    options = parser.parse_args()
    key = os.environ.get("EXTENSION_KEY")
    if not key:
        parser.error("EXTENSION_KEY must hold the key that the gateway sends")
    with tempfile.TemporaryDirectory(prefix="sandgate-extension-") as root:
        server = Server(options.port, key, options.control, root)
        print(f"listening http://127.0.0.1:{server.server_port}", flush=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            if options.until_eof:
                sys.stdin.read()
            else:
                signal.pause()
        finally:
            for box in server.boxes.matching({}):
                server.boxes.kill(box.id)


if __name__ == "__main__":
    main()
