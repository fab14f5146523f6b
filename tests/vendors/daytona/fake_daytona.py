#!/usr/bin/env python3
"""Daytona 0.x as one server: its API under /api, every sandbox's toolbox under /toolbox/<id>."""
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fake  # noqa: E402
import web_socket  # noqa: E402

KEY = "dtn_0001"
SNAPSHOT = "daytona-small"
MARKS = {"stdout": b"\x01\x01\x01", "stderr": b"\x02\x02\x02"}
PATH = r"/toolbox/([^/]+)"


def rfc3339(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + ".000Z"


class FakeDaytona(fake.Fake):
    routes = (
        ("POST", r"/api/sandbox", "create"),
        ("GET", r"/api/sandbox", "list"),
        ("GET", r"/api/sandbox/([^/]+)", "get"),
        ("DELETE", r"/api/sandbox/([^/]+)", "kill"),
        ("POST", r"/api/sandbox/([^/]+)/ttl/(\d+)", "ttl"),
        ("POST", r"/api/sandbox/([^/]+)/stop", "stop"),
        ("POST", r"/api/sandbox/([^/]+)/start", "start"),
        ("GET", r"/api/sandbox/([^/]+)/toolbox-proxy-url", "proxy_url"),
        ("POST", PATH + r"/process/execute", "execute"),
        ("POST", PATH + r"/process/session", "new_session"),
        ("GET", PATH + r"/process/session/([^/]+)", "get_session"),
        ("DELETE", PATH + r"/process/session/([^/]+)", "drop_session"),
        ("POST", PATH + r"/process/session/([^/]+)/exec", "session_exec"),
        ("GET", PATH + r"/process/session/([^/]+)/command/([^/]+)", "get_command"),
        ("GET", PATH + r"/process/session/([^/]+)/command/([^/]+)/logs", "logs"),
        ("GET", PATH + r"/files", "list_files"),
        ("GET", PATH + r"/files/info", "file_info"),
        ("GET", PATH + r"/files/download", "download"),
        ("POST", PATH + r"/files/(?:upload|upload-v2)", "upload"),
        ("POST", PATH + r"/files/bulk-upload", "bulk_upload"),
        ("POST", PATH + r"/files/bulk-download", "bulk_download"),
        ("POST", PATH + r"/files/folder", "folder"),
        ("POST", PATH + r"/files/move", "move"),
        ("DELETE", PATH + r"/files", "remove"),
        ("GET", PATH + r"/(?:user-home-dir|work-dir)", "home"),
    )

    def failure(self, status, message):
        return {"path": "/", "timestamp": rfc3339(time.time()), "statusCode": status,
                "error": "Error", "message": message}

    def authorized(self, request):
        if request.headers.get("Authorization") != "Bearer " + KEY:
            raise self.refuse(401, "Unauthorized")

    # ---- the API

    def box(self, id_or_name):
        for box in self.boxes.values():
            if id_or_name in (box.id, box.name):
                return box
        raise self.refuse(404, f"Sandbox with ID or name {id_or_name} not found")

    def view(self, box):
        # Accepted first, there a moment later.
        state = "creating" if time.time() < box.created_at + fake.STARTS_IN else box.state
        return {"id": box.id, "organizationId": "o", "name": box.name, "snapshot": box.snapshot,
                "user": "daytona", "env": box.env, "labels": box.metadata, "public": False,
                "networkBlockAll": box.blocked, "target": "us", "cpu": 1, "gpu": 0, "memory": 1,
                "disk": 3, "state": state, "desiredState": "started", "sandboxClass": "container",
                "createdAt": rfc3339(box.created_at),
                "autoDestroyAt": rfc3339(box.ends_at) if box.ends_at else None,
                "toolboxProxyUrl": self.url + "/toolbox"}

    def create(self, request):
        body = request.json()
        name = body.get("name") or fake.new_id()
        if any(box.name == name for box in self.boxes.values()):
            raise self.refuse(409, f"Sandbox with name {name} already exists")
        snapshot = body.get("snapshot", SNAPSHOT)
        if snapshot != SNAPSHOT:
            raise self.refuse(400, f"Snapshot {snapshot} not found")
        box = self.new_box(fake.new_id(), env=body.get("env"), metadata=body.get("labels"),
                           name=name, snapshot=snapshot, blocked=body.get("networkBlockAll", False),
                           sessions={}, ends_at=None)
        box.state = "started"
        self.end_in(box, int(body.get("ttlMinutes", 0)))
        return 200, self.view(box)

    def list(self, request):
        wanted = json.loads(request.one("labels", "{}"))
        found = [self.view(box) for box in sorted(self.boxes.values(), key=lambda b: b.created_at)
                 if wanted.items() <= box.metadata.items()]
        first, limit = int(request.one("cursor", "0")), int(request.one("limit", "100"))
        more = str(first + limit) if first + limit < len(found) else None
        return 200, {"items": found[first:first + limit], "nextCursor": more}

    def get(self, request, id_or_name):
        return 200, self.view(self.box(id_or_name))

    def kill(self, request, id_or_name):
        box = self.box(id_or_name)
        self.drop_box(box.id)
        return 200, {**self.view(box), "state": "destroying"}

    def ttl(self, request, id_or_name, minutes):
        box = self.box(id_or_name)
        self.end_in(box, int(minutes))
        return 200, self.view(box)

    def end_in(self, box, minutes):
        # From now on, also for a sandbox that is old; 0 is no end.
        box.ends_at = time.time() + 60 * minutes if minutes else None

    def stop(self, request, id_or_name):
        box = self.box(id_or_name)
        box.signal_all(9)
        box.state = "stopped"
        return 200, self.view(box)

    def start(self, request, id_or_name):
        box = self.box(id_or_name)
        box.state = "started"
        return 200, self.view(box)

    def proxy_url(self, request, id_or_name):
        self.box(id_or_name)
        return 200, {"url": self.url + "/toolbox"}

    # ---- the toolbox

    def running(self, box_id):
        box = self.boxes.get(box_id)
        if not box:
            raise self.refuse(404, "Sandbox not found")
        if box.state != "started":
            raise self.refuse(400, "Sandbox is not running")
        return box

    def home(self, request, box_id):
        return 200, {"dir": self.running(box_id).home}

    def execute(self, request, box_id):
        body = request.json()
        box = self.running(box_id)
        full = {"PATH": os.environ["PATH"], "HOME": box.home, "TMPDIR": box.tmp, **box.env,
                **body.get("envs", {})}
        cwd = box.path(body.get("cwd"))
        try:
            done = subprocess.run(["/bin/sh", "-c", body["command"]], cwd=cwd, env=full,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=body.get("timeout") or 60)
        except subprocess.TimeoutExpired:
            raise self.refuse(408, "command execution timeout")
        return 200, {"exitCode": done.returncode, "result": done.stdout.decode(errors="replace")}

    def session(self, box_id, session_id):
        box = self.running(box_id)
        if session_id not in box.sessions:
            raise self.refuse(404, "session not found")
        return box, box.sessions[session_id]

    def new_session(self, request, box_id):
        box, session_id = self.running(box_id), request.json()["sessionId"]
        if session_id in box.sessions:
            raise self.refuse(409, "session already exists")
        box.sessions[session_id] = {}
        return 201, b""

    def get_session(self, request, box_id, session_id):
        _, session = self.session(box_id, session_id)
        return 200, {"sessionId": session_id, "commands": [
            self.command_view(key, child) for key, child in session.items()]}

    def drop_session(self, request, box_id, session_id):
        box, session = self.session(box_id, session_id)
        for child in session.values():
            if child.status is None:
                for pid in reversed(fake.descendants(child.pid)):
                    try:
                        os.kill(pid, 9)
                    except ProcessLookupError:
                        pass
        del box.sessions[session_id]
        return 204, b""

    def session_exec(self, request, box_id, session_id):
        box, session = self.session(box_id, session_id)
        body, command_id = request.json(), fake.new_id()
        child = box.run(["/bin/bash", "-c", body["command"]])
        session[command_id] = child
        if body.get("runAsync") or body.get("async"):
            return 202, {"cmdId": command_id}
        for _ in child.follow():
            pass
        text = {name: child.text(name).decode(errors="replace") for name in ("stdout", "stderr")}
        return 200, {"cmdId": command_id, "exitCode": child.exit_code(),
                     "output": child.text().decode(errors="replace"), **text}

    def command_view(self, command_id, child):
        view = {"id": command_id, "command": child.argv[-1]}
        if child.status is not None:
            view["exitCode"] = child.exit_code()
        return view

    def child(self, box_id, session_id, command_id):
        _, session = self.session(box_id, session_id)
        if command_id not in session:
            raise self.refuse(404, "command not found")
        return session[command_id]

    def get_command(self, request, box_id, session_id, command_id):
        return 200, self.command_view(command_id, self.child(box_id, session_id, command_id))

    def logs(self, request, box_id, session_id, command_id):
        child = self.child(box_id, session_id, command_id)
        if request.headers.get("Upgrade", "").lower() != "websocket":
            return 200, {"output": child.text().decode(errors="replace"),
                         "stdout": child.text("stdout").decode(errors="replace"),
                         "stderr": child.text("stderr").decode(errors="replace")}
        socket = web_socket.WebSocket(request)
        threading.Thread(target=socket.receive, daemon=True).start()
        for channel, data in child.follow():
            # A marker may come in two frames.
            socket.send(MARKS[channel][:2])
            socket.send(MARKS[channel][2:] + data)
        socket.close()
        return None

    # ---- files

    def info(self, path):
        info = os.stat(path)
        return {"name": os.path.basename(path), "isDir": stat.S_ISDIR(info.st_mode),
                "size": info.st_size, "mode": stat.filemode(info.st_mode),
                "permissions": "%04o" % (info.st_mode & 0o7777), "owner": "daytona",
                "group": "daytona", "modTime": rfc3339(info.st_mtime),
                "modifiedAt": rfc3339(info.st_mtime)}

    def existing(self, request, box_id, name="path"):
        path = self.running(box_id).path(request.one(name))
        if not os.path.lexists(path):
            raise self.refuse(404, "file not found")
        return path

    def list_files(self, request, box_id):
        path = self.running(box_id).path(request.one("path"))
        if not os.path.isdir(path):
            raise self.refuse(404, "no such directory")
        return 200, [self.info(os.path.join(path, name)) for name in sorted(os.listdir(path))]

    def file_info(self, request, box_id):
        return 200, self.info(self.existing(request, box_id))

    def download(self, request, box_id):
        path = self.existing(request, box_id)
        if os.path.isdir(path):
            raise self.refuse(400, "path is a directory")
        with open(path, "rb") as file:
            return 200, file.read()

    def store(self, path, data):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def upload(self, request, box_id):
        parts = fake.form_of(request)
        self.store(self.running(box_id).path(request.one("path")), parts["file"])
        return 200, {}

    def bulk_upload(self, request, box_id):
        box, parts = self.running(box_id), fake.form_of(request)
        for name in parts:
            if name.endswith(".path"):
                target = box.path(parts[name].decode())
                self.store(target, parts[name[:-len("path")] + "file"])
        return 200, {}

    def bulk_download(self, request, box_id):
        box, boundary, body = self.running(box_id), "fakeboundary", b""
        for path in request.json()["paths"]:
            full = box.path(path)
            if not os.path.isfile(full):
                head, data = f'name="error"; filename="{path}"', b"file not found"
            else:
                with open(full, "rb") as file:
                    head, data = f'name="file"; filename="{path}"', file.read()
            body += (f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n"
                     "Content-Type: application/octet-stream\r\n\r\n").encode() + data + b"\r\n"
        body += f"--{boundary}--\r\n".encode()
        return 200, body, {"Content-Type": f"multipart/form-data; boundary={boundary}"}

    def folder(self, request, box_id):
        os.makedirs(self.running(box_id).path(request.one("path")), exist_ok=True)
        return 201, b""

    def move(self, request, box_id):
        os.rename(self.existing(request, box_id, "source"),
                  self.running(box_id).path(request.one("destination")))
        return 200, {}

    def remove(self, request, box_id):
        path = self.existing(request, box_id)
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        return 204, b""


if __name__ == "__main__":
    fake.run(FakeDaytona, [("api-openapi.yaml", r"/api"),
                           ("toolbox-openapi.yaml", r"/toolbox/[^/]+")],
             newer=("ttlMinutes", "/ttl/"))
