#!/usr/bin/env python3
"""Sprites as one server: commands over WebSockets, files over HTTP."""
import json
import os
import re
import shutil
import stat
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fake  # noqa: E402
import web_socket  # noqa: E402

TOKEN = "org/1/0001"
BOX = r"/v1/sprites/([^/]+)"
STDIN, STDOUT, STDERR, EXIT, STDIN_END = range(5)
# How long the connection stays after the end; seconds at the real one.
LINGER = 0.2
# How long input over the connection that began a command may take.
SLOW = 0.4


def rfc3339(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class FakeSprites(fake.Fake):
    routes = (
        ("POST", r"/v1/sprites", "create"),
        ("GET", r"/v1/sprites", "list"),
        ("GET", BOX, "get"),
        ("PUT", BOX, "update"),
        ("DELETE", BOX, "kill"),
        ("GET", BOX + r"/policy/(network|resources)", "policy"),
        ("POST", BOX + r"/policy/(network|resources)", "set_policy"),
        ("GET", BOX + r"/exec", "execute"),
        ("GET", BOX + r"/exec/([^/]+)", "attach"),
        ("POST", BOX + r"/exec/([^/]+)/kill", "kill_session"),
        ("GET", BOX + r"/fs/read", "read"),
        ("PUT", BOX + r"/fs/write", "write"),
        ("GET", BOX + r"/fs/list", "list_files"),
        ("DELETE", BOX + r"/fs/delete", "remove"),
        ("POST", BOX + r"/fs/rename", "rename"),
    )

    def failure(self, status, message):
        return {"error": "rate_limited" if status == 429 else "failed", "message": message}

    def authorized(self, request):
        if request.headers.get("Authorization") != "Bearer " + TOKEN:
            raise self.refuse(401, "unauthorized")

    # ---- sprites

    def box(self, name):
        if name not in self.boxes:
            raise self.refuse(404, f"no sprite {name}")
        return self.boxes[name]

    def view(self, box):
        running = any(child.status is None for child in box.children.values())
        return {"id": "sprite-" + box.id, "name": box.id, "organization": "acme",
                "status": "running" if running else "warm" if box.children else "cold",
                "environment": box.env, "labels": box.labels,
                "url": f"https://{box.id}-acme.sprites.app", "url_settings": {"auth": "sprite"},
                "primary_region": "ord", "created_at": rfc3339(box.created_at),
                "updated_at": rfc3339(box.created_at)}

    def create(self, request):
        body = request.json()
        name = body.get("name", "")
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", name):
            raise self.refuse(400, "no such name")
        if name in self.boxes:
            raise self.refuse(400, "the name is taken")
        if body.get("runtime", "default") not in ("default", "dev"):
            raise self.refuse(400, "no such runtime")
        box = self.new_box(name, env=body.get("environment"), labels=body.get("labels") or [],
                           policies={"network": {"rules": [{"include": "defaults"}]},
                                     "resources": {}})
        return 201, self.view(box)

    def list(self, request):
        prefix = request.one("prefix", "")
        found = [self.boxes[name] for name in sorted(self.boxes) if name.startswith(prefix)]
        first, limit = int(request.one("continuation_token", "0")), int(request.one("max_results", "50"))
        if not 1 <= limit <= 50:
            raise self.refuse(400, "max_results")
        more = first + limit < len(found)
        answer = {"sprites": [self.view(box) for box in found[first:first + limit]],
                  "has_more": more, "name": "acme", "running": 0, "warm": 0, "cold": len(found)}
        if more:
            answer["next_continuation_token"] = str(first + limit)
        return 200, answer

    def get(self, request, name):
        return 200, self.view(self.box(name))

    def update(self, request, name):
        box = self.box(name)
        box.labels = request.json().get("labels", box.labels)
        return 200, self.view(box)

    def kill(self, request, name):
        self.box(name)
        self.drop_box(name)
        return 204, b""

    def policy(self, request, name, kind):
        return 200, self.box(name).policies[kind]

    def set_policy(self, request, name, kind):
        box, body = self.box(name), request.json()
        for rule in body.get("rules", []):
            if set(rule) not in ({"domain", "action"}, {"include"}):
                raise self.refuse(400, "no such rule")
        box.policies[kind] = body
        return 204, b""

    # ---- commands

    def session_view(self, child):
        return {"id": str(child.pid), "command": " ".join(child.argv), "workdir": child.place,
                "created": rfc3339(child.started_at), "bytes_per_second": 0,
                "is_active": child.status is None, "tty": child.terminal is not None}

    def execute(self, request, name):
        box = self.box(name)
        if request.headers.get("Upgrade", "").lower() != "websocket":
            return 200, {"sessions": [self.session_view(child) for child in box.children.values()
                                      if child.status is None]}
        argv, tty = request.query.get("cmd", ["bash"]), request.one("tty") == "true"
        size = (int(request.one("cols", "80")), int(request.one("rows", "24")))
        env = dict(one.split("=", 1) for one in request.query.get("env", []))
        try:
            child = box.run(argv, request.one("dir"), env, pty=size if tty else None,
                            stdin=request.one("stdin") == "true")
        except FileNotFoundError as failure:
            raise self.refuse(400, str(failure))
        child.place = request.one("dir", box.home)
        return self.serve(request, child)

    def attach(self, request, name, session):
        for child in self.box(name).children.values():
            if str(child.pid) == session and child.status is None:
                return self.serve(request, child)
        raise self.refuse(404, "no such session")

    def serve(self, request, child):
        socket, tty = web_socket.WebSocket(request), child.terminal is not None
        socket.send(json.dumps({"type": "session_info", "session_id": child.pid, "tty": tty,
                                "command": " ".join(child.argv)}).encode(), web_socket.TEXT)
        closed = threading.Event()
        reader = threading.Thread(target=self.listen, args=(socket, child, closed, request.fault),
                                  daemon=True)
        reader.start()
        for event in child.follow(patience=0.05):
            if closed.is_set():
                return None
            if event:
                code = STDERR if event[0] == "stderr" else STDOUT
                socket.send(event[1] if tty else bytes([code]) + event[1])
        if not tty:
            socket.send(bytes([EXIT, child.status & 0xFF]))
        closed.wait(LINGER)
        socket.close(1000 if child.status == 0 else 1011)
        return None

    def listen(self, socket, child, closed, fault):
        if fault == "slow_input":
            time.sleep(SLOW)
        try:
            while True:
                message = socket.receive()
                if message is None:
                    break
                self.heard(child, *message)
            socket.close()
        except (OSError, ValueError):
            pass
        closed.set()

    def heard(self, child, kind, data):
        if kind == web_socket.TEXT:
            order = json.loads(data)
            if order["type"] == "resize" and child.terminal is not None:
                child.resize(order["cols"], order["rows"])
            return
        try:
            if child.terminal is not None:
                child.write(data)
            elif data[0] == STDIN:
                child.write(data[1:])
            elif data[0] == STDIN_END:
                child.close_stdin()
        except (OSError, ValueError):
            pass  # it reads no more

    def kill_session(self, request, name, session):
        for child in self.box(name).children.values():
            if str(child.pid) == session and child.status is None:
                child.signal(9, group=True)
                lines = [{"type": "signal", "signal": "SIGKILL", "pid": child.pid},
                         {"type": "complete", "exit_code": 137}]
                return 200, b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        raise self.refuse(404, "no such session")

    # ---- files

    def wrong(self, status, code, path):
        return fake.Refusal(status, {"error": code.lower(), "code": code, "path": path})

    def at(self, name, working, path):
        return os.path.normpath(self.box(name).path(os.path.join(working or "", path)))

    def path_asked(self, request, name):
        return self.at(name, request.one("workingDir"), request.one("path"))

    def read(self, request, name):
        path = self.path_asked(request, name)
        if not os.path.exists(path):
            raise self.wrong(404, "ENOENT", path)
        if os.path.isdir(path):
            raise self.wrong(400, "EISDIR", path)
        with open(path, "rb") as file:
            return 200, file.read(), {"Content-Type": "application/octet-stream"}

    def write(self, request, name):
        path = self.path_asked(request, name)
        if os.path.isdir(path):
            raise self.wrong(400, "EISDIR", path)
        if request.one("mkdirParents") == "true":
            os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.isdir(os.path.dirname(path)):
            raise self.wrong(404, "ENOENT", path)
        with open(path, "wb") as file:
            file.write(request.body)
        os.chmod(path, int(request.one("mode", "0644"), 8))
        return 200, {"path": path, "size": len(request.body)}

    def entry(self, path):
        info = os.lstat(path)
        link = stat.S_ISLNK(info.st_mode)
        folder = stat.S_ISDIR(info.st_mode)
        return {"name": os.path.basename(path), "path": path, "isDir": folder, "size": info.st_size,
                "type": "symlink" if link else "directory" if folder else "file",
                "mode": "%04o" % (info.st_mode & 0o7777), "modTime": rfc3339(info.st_mtime)}

    def list_files(self, request, name):
        path = self.path_asked(request, name)
        if not os.path.lexists(path):
            raise self.wrong(404, "ENOENT", path)
        names = [os.path.join(path, one) for one in sorted(os.listdir(path))] if (
            os.path.isdir(path)) else [path]
        return 200, {"entries": [self.entry(one) for one in names]}

    def remove(self, request, name):
        path = self.path_asked(request, name)
        if not os.path.lexists(path):
            raise self.wrong(404, "ENOENT", path)
        if os.path.isdir(path) and request.one("recursive") != "true":
            raise self.wrong(400, "EISDIR", path)
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        return 200, {}

    def rename(self, request, name):
        body = request.json()
        source = self.at(name, body.get("workingDir"), body["source"])
        if not os.path.lexists(source):
            raise self.wrong(404, "ENOENT", source)
        os.rename(source, self.at(name, body.get("workingDir"), body["dest"]))
        return 200, {}


if __name__ == "__main__":
    fake.run(FakeSprites)
