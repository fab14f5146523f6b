#!/usr/bin/env python3
"""Vercel Sandbox as one server. A sandbox is a name with a folder; a session is one run of it."""
import codecs
import io
import json
import os
import shutil
import sys
import tarfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fake  # noqa: E402
import web_socket  # noqa: E402

TOKEN, TEAM, PROJECT = "vca_0001", "team_1", "prj_1"
IMAGE = "vercel/sandbox/universal:latest"
NAME = r"/v2/sandboxes/([^/]+)"
SESSION = r"/v2/sandboxes/sessions/([^/]+)"
COMMAND = SESSION + r"/cmd/([^/]+)"


class FakeVercel(fake.Fake):
    routes = (
        ("POST", r"/v3/sandboxes", "create"),
        ("GET", r"/v2/sandboxes", "list"),
        ("GET", r"/v2/sandboxes/snapshots", "snapshots"),
        ("GET", r"/v2/sandboxes/snapshots/([^/]+)", "get_snapshot"),
        ("DELETE", r"/v2/sandboxes/snapshots/([^/]+)", "drop_snapshot"),
        ("POST", SESSION + r"/stop", "stop"),
        ("POST", r"/v[23]/sandboxes/sessions/([^/]+)/snapshot", "snapshot"),
        ("POST", SESSION + r"/extend-timeout", "extend"),
        ("POST", SESSION + r"/cmd", "exec"),
        ("GET", SESSION + r"/cmd", "commands"),
        ("GET", COMMAND, "get_command"),
        ("GET", COMMAND + r"/logs", "logs"),
        ("POST", COMMAND + r"/kill", "kill_command"),
        ("POST", SESSION + r"/fs/mkdir", "mkdir"),
        ("POST", SESSION + r"/fs/read", "read"),
        ("POST", SESSION + r"/fs/write", "write"),
        ("POST", SESSION + r"/interactive", "interactive"),
        ("GET", r"/tty/([^/]+)", "terminal"),
        ("GET", NAME, "get"),
        ("PATCH", NAME, "update"),
        ("DELETE", NAME, "delete"),
    )

    def __init__(self, specs=None):
        super().__init__(specs)
        self.saved = {}

    def failure(self, status, message, code=None):
        return {"error": {"code": code or f"code_{status}", "message": message}}

    def refuse(self, status, code, message=""):
        return fake.Refusal(status, self.failure(status, message or code, code))

    def authorized(self, request):
        if request.path.startswith("/tty/"):
            return
        if request.headers.get("Authorization") != "Bearer " + TOKEN:
            raise self.refuse(401, "unauthorized")
        if request.one("teamId") != TEAM:
            raise self.refuse(403, "forbidden", "not a member of the team")

    def in_project(self, value):
        if value != PROJECT:
            raise self.refuse(404, "not_found", "no such project")

    # ---- sandboxes

    def named(self, request, name):
        self.in_project(request.one("projectId"))
        box = self.boxes.get(name)
        if not box:
            raise self.refuse(404, "not_found", f"no sandbox {name}")
        return box

    def session_view(self, box):
        return {"id": box.session, "memory": box.vcpus * 2048, "vcpus": box.vcpus, "region": "iad1",
                "timeout": box.timeout, "status": box.state, "cwd": box.home,
                "requestedAt": box.started, "startedAt": box.started, "createdAt": box.started,
                "updatedAt": box.started}

    def view(self, box):
        view = {"name": box.id, "persistent": box.persistent, "region": "iad1", "vcpus": box.vcpus,
                "memory": box.vcpus * 2048, "image": IMAGE, "timeout": box.timeout,
                "createdAt": int(box.created_at * 1000), "updatedAt": int(box.created_at * 1000),
                "currentSessionId": box.session, "status": box.state, "tags": box.metadata}
        if box.current:
            view["currentSnapshotId"] = box.current
        return view

    def whole_view(self, box, **more):
        return {"sandbox": self.view(box), "session": self.session_view(box), "routes": [], **more}

    def begin(self, box):
        box.session, box.started = fake.new_id("sbx_"), int(time.time() * 1000)
        box.state, box.children = "running", {}

    def create(self, request):
        body = request.json()
        self.in_project(body.get("projectId"))
        name = body.get("name") or fake.new_id("name-")
        if name in self.boxes:
            raise self.refuse(409, "conflict", f"{name} exists")
        source = body.get("source") or {}
        if source and "image" in body or body.get("image", IMAGE) != IMAGE:
            raise self.refuse(400, "bad_request", "no such image")
        vcpus = (body.get("resources") or {}).get("vcpus", 2)
        if vcpus != 1 and vcpus % 2 or len(body.get("tags") or {}) > 5 or body.get("timeout", 1000) < 1000:
            raise self.refuse(400, "bad_request")
        snapshot = self.snapshot_of(source["snapshotId"]) if source else None
        box = self.new_box(name, env=body.get("env"), metadata=body.get("tags"), vcpus=vcpus,
                           timeout=body.get("timeout", 300000), current=None,
                           persistent=body.get("persistent", True),
                           policy=body.get("networkPolicy"), session=None, started=0)
        self.begin(box)
        if snapshot:
            self.restore(box, snapshot)
        return 200, self.whole_view(box)

    def list(self, request):
        self.in_project(request.one("project"))
        key, _, value = request.one("tags", "").partition(":")
        found = [box for box in sorted(self.boxes.values(), key=lambda box: -box.created_at)
                 if not key or box.metadata.get(key) == value]
        return self.page_of("sandboxes", [self.view(box) for box in found], request)

    def page_of(self, name, found, request):
        first, limit = int(request.one("cursor", "0")), int(request.one("limit", "10"))
        more = str(first + limit) if first + limit < len(found) else None
        page = found[first:first + limit]
        return 200, {name: page, "pagination": {"count": len(page), "next": more}}

    def get(self, request, name):
        box = self.named(request, name)
        resumed = request.one("resume") == "true" and box.state == "stopped"
        if resumed:
            if box.current not in self.saved:
                raise self.refuse(410, "snapshot_not_found")
            self.restore(box, self.saved[box.current])
            self.begin(box)
        return 200, self.whole_view(box, resumed=resumed)

    def update(self, request, name):
        box, body = self.named(request, name), request.json()
        box.metadata = body.get("tags", box.metadata)
        box.timeout = body.get("timeout", box.timeout)
        box.persistent = body.get("persistent", box.persistent)
        return 200, {"sandbox": self.view(box)}

    def delete(self, request, name):
        box = self.named(request, name)
        if box.state == "running" and box.persistent:
            self.save(box, None)
        self.drop_box(name)
        return 200, {"sandbox": self.view(box)}

    # ---- sessions

    def session(self, session_id):
        for box in self.boxes.values():
            if box.session == session_id:
                return box
        raise self.refuse(404, "not_found", "no such session")

    def running(self, session_id):
        box = self.session(session_id)
        if box.state != "running":
            raise self.refuse(410, "sandbox_stopped")
        return box

    def end(self, box):
        box.signal_all(9)
        box.state = "stopped"

    def stop(self, request, session_id):
        box = self.session(session_id)
        if box.state == "running":
            self.end(box)
            if box.persistent:
                self.save(box, None)
        return 200, {"session": self.session_view(box), "sandbox": self.view(box)}

    def extend(self, request, session_id):
        box, duration = self.running(session_id), request.json()["duration"]
        if duration < 1000:
            raise self.refuse(400, "bad_request")
        box.timeout += duration
        return 200, {"session": self.session_view(box)}

    # ---- snapshots

    def save(self, box, expiration):
        snapshot_id = fake.new_id("snap_")
        home, now = os.path.join(self.root, snapshot_id), int(time.time() * 1000)
        shutil.copytree(box.home, home, symlinks=True)
        view = {"id": snapshot_id, "sourceSessionId": box.session, "region": "iad1",
                "status": "created", "sizeBytes": 4096, "createdAt": now, "updatedAt": now}
        if expiration != 0:
            view["expiresAt"] = now + (expiration or 86400000)
        self.saved[snapshot_id] = {"home": home, "box": box.id, "view": view}
        box.current = snapshot_id
        return view

    def restore(self, box, saved):
        shutil.rmtree(box.home)
        shutil.copytree(saved["home"], box.home, symlinks=True)
        box.current = saved["view"]["id"]

    def snapshot_of(self, snapshot_id):
        if snapshot_id not in self.saved:
            raise self.refuse(404, "not_found", "no such snapshot")
        return self.saved[snapshot_id]

    def snapshot(self, request, session_id):
        box, expiration = self.running(session_id), request.json().get("expiration")
        if expiration and expiration < 86400000:
            raise self.refuse(400, "bad_request")
        self.end(box)
        view = self.save(box, expiration)
        return 201, {"snapshot": view, "session": self.session_view(box)}

    def snapshots(self, request):
        self.in_project(request.one("project"))
        found = [saved["view"] for saved in self.saved.values()
                 if request.one("name") in (None, saved["box"])]
        return self.page_of("snapshots", found[::-1], request)

    def get_snapshot(self, request, snapshot_id):
        return 200, {"snapshot": self.snapshot_of(snapshot_id)["view"]}

    def drop_snapshot(self, request, snapshot_id):
        view = self.snapshot_of(snapshot_id)["view"]
        del self.saved[snapshot_id]
        return 200, {"snapshot": {**view, "status": "deleted"}}

    # ---- commands

    def command_view(self, child):
        view = {"id": child.id, "name": child.argv[0], "args": child.argv[1:], "cwd": child.cwd,
                "sessionId": child.session, "exitCode": None,
                "startedAt": int(child.started_at * 1000)}
        if child.status is not None:
            view["exitCode"] = child.exit_code()
            view["durationMs"] = int((time.time() - child.started_at) * 1000)
        return view

    def exec(self, request, session_id):
        box, body = self.running(session_id), request.json()
        cwd = body.get("cwd") or box.home
        try:
            child = box.run([body["command"], *body.get("args", [])], cwd=cwd, env=body.get("env"),
                            stdin=False)
        except (FileNotFoundError, PermissionError):
            raise self.refuse(400, "executable_not_found") from None
        child.id, child.session, child.cwd = fake.new_id("cmd_"), session_id, cwd
        box.children[child.id] = box.children.pop(child.pid)
        if body.get("timeout"):
            threading.Timer(body["timeout"] / 1000, child.signal, [9]).start()
        if not body.get("wait"):
            return 200, {"command": self.command_view(child)}
        write = request.stream({"Content-Type": "application/x-ndjson"})
        write(line({"command": {**self.command_view(child), "exitCode": None}}))
        if body.get("logs"):
            self.follow(child, write)
        else:
            wait(child)
        write(line({"command": self.command_view(child)}))
        write(b"")
        return None

    def follow(self, child, write):
        # Text only, as the vendor's JSON is.
        decoders = {name: codecs.getincrementaldecoder("utf-8")("replace")
                    for name in ("stdout", "stderr")}
        for channel, data in child.follow():
            text = decoders[channel].decode(data)
            if text:
                write(line({"stream": channel, "data": text}))
        for channel, decoder in decoders.items():
            text = decoder.decode(b"", final=True)
            if text:
                write(line({"stream": channel, "data": text}))

    def child(self, session_id, command_id):
        child = self.running(session_id).children.get(command_id)
        if not child:
            raise self.refuse(404, "not_found", "no such command")
        return child

    def commands(self, request, session_id):
        children = list(self.running(session_id).children.values())
        return 200, {"commands": [self.command_view(child) for child in children[::-1]]}

    def get_command(self, request, session_id, command_id):
        child = self.child(session_id, command_id)
        if request.one("wait") == "true":
            wait(child)
        return 200, {"command": self.command_view(child)}

    def logs(self, request, session_id, command_id):
        child = self.child(session_id, command_id)
        write = request.stream({"Content-Type": "application/x-ndjson"})
        self.follow(child, write)
        write(b"")

    def kill_command(self, request, session_id, command_id):
        child = self.child(session_id, command_id)
        child.signal(request.json()["signal"])
        return 200, {"command": self.command_view(child)}

    # ---- files

    def mkdir(self, request, session_id):
        body = request.json()
        os.makedirs(os.path.join(self.running(session_id).path(body.get("cwd")), body["path"]),
                    exist_ok=True)
        return 200, {}

    def read(self, request, session_id):
        body = request.json()
        path = os.path.join(self.running(session_id).path(body.get("cwd")), body["path"])
        if not os.path.isfile(path):
            raise self.refuse(404, "not_found", "no such file")
        with open(path, "rb") as file:
            return 200, file.read(), {"Content-Type": "application/octet-stream"}

    def write(self, request, session_id):
        box = self.running(session_id)
        if request.headers.get("Content-Type") != "application/gzip":
            raise self.refuse(400, "bad_request", "not a gzipped tarball")
        with tarfile.open(fileobj=io.BytesIO(request.body), mode="r:gz") as archive:
            archive.extractall(request.headers.get("x-cwd") or box.home)
        return 200, {}

    # ---- terminals

    def interactive(self, request, session_id):
        self.running(session_id)
        url = self.url.replace("http://", "ws://") + "/tty/" + session_id
        return 200, {"url": url, "token": "tty_" + session_id}

    def terminal(self, request, session_id):
        box = self.running(session_id)
        if request.one("token") != "tty_" + session_id:
            raise self.refuse(401, "unauthorized")
        socket = web_socket.WebSocket(request)
        _, text = socket.receive()
        start = json.loads(text)
        assert start["type"] == "start", start
        child = box.run([start["command"], *start["args"]], cwd=start.get("cwd"),
                        env=dict(pair.split("=", 1) for pair in start["env"]),
                        pty=(start["cols"], start["rows"]))
        threading.Thread(target=self.typing, args=(socket, child), daemon=True).start()
        for _, data in child.follow():
            socket.send(data)
        socket.send(json.dumps({"type": "exit", "code": child.exit_code()}).encode(), web_socket.TEXT)
        socket.close()

    def typing(self, socket, child):
        while True:
            try:
                message = socket.receive()
            except (OSError, ValueError):
                message = None
            if message is None:
                child.signal(1)
                return
            kind, data = message
            if kind == web_socket.BINARY:
                child.write(data)
            else:
                change = json.loads(data)
                child.resize(change["cols"], change["rows"])


def line(value):
    return json.dumps(value).encode() + b"\n"


def wait(child):
    for _ in child.follow():
        pass


if __name__ == "__main__":
    fake.run(FakeVercel)
