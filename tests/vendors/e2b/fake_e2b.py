#!/usr/bin/env python3
"""E2B as one server: the control plane, and envd of every sandbox by the header E2b-Sandbox-Id."""
import base64
import json
import os
import shutil
import signal
import stat
import struct
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fake  # noqa: E402

KEY = "e2b_00000000000000000000000000000001"
STATUS_OF_CODE = {"invalid_argument": 400, "failed_precondition": 400, "unauthenticated": 401,
                  "not_found": 404, "already_exists": 409, "unimplemented": 501, "internal": 500}


def connect_refusal(code, message):
    return fake.Refusal(STATUS_OF_CODE[code], {"code": code, "message": message})


def rfc3339(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + "Z"


def envelope(flags, message):
    data = json.dumps(message).encode()
    return struct.pack(">BI", flags, len(data)) + data


class FakeE2b(fake.Fake):
    routes = (
        ("POST", r"/sandboxes", "create"),
        ("POST", r"/v2/sandboxes", "create"),
        ("GET", r"/v2/sandboxes", "list"),
        ("GET", r"/sandboxes/([^/]+)", "get"),
        ("DELETE", r"/sandboxes/([^/]+)", "kill"),
        ("POST", r"/sandboxes/([^/]+)/timeout", "timeout"),
        ("POST", r"/sandboxes/([^/]+)/pause", "pause"),
        ("POST", r"/(?:v2/)?sandboxes/([^/]+)/connect", "connect"),
        ("POST", r"/sandboxes/([^/]+)/snapshots", "snapshot"),
        ("GET", r"/snapshots", "snapshots"),
        ("DELETE", r"/templates/([^/]+)", "drop_snapshot"),
        ("GET", r"/health", "health"),
        ("POST", r"/process\.Process/(\w+)", "process"),
        ("POST", r"/filesystem\.Filesystem/(\w+)", "filesystem"),
        ("GET", r"/files", "download"),
        ("POST", r"/files", "upload"),
        ("POST", r"/execute", "execute"),
    )

    def __init__(self, specs=None):
        super().__init__(specs)
        self.saved = {}

    def failure(self, status, message):
        return {"code": status, "message": message}

    def authorized(self, request):
        if request.path == "/health":
            return
        if "E2b-Sandbox-Id" in request.headers:
            box = self.envd_box(request)
            if request.headers.get("X-Access-Token") != box.token:
                raise connect_refusal("unauthenticated", "wrong token")
        elif request.headers.get("X-API-Key") != KEY:
            raise self.refuse(401, "wrong key")

    # ---- control plane

    def box(self, box_id):
        box = self.boxes.get(box_id)
        if not box:
            raise self.refuse(404, f"sandbox {box_id} not found")
        return box

    def view(self, box):
        return {"templateID": box.template, "sandboxID": box.id, "clientID": "c",
                "envdVersion": "0.6.13", "envdAccessToken": box.token, "domain": None,
                "startedAt": rfc3339(box.created_at), "endAt": rfc3339(box.ends_at), "cpuCount": 2,
                "memoryMB": 512, "diskSizeMB": 10240, "state": box.state, "metadata": box.metadata,
                **({"envdUnresponsiveAtPause": True} if box.state == "paused" and box.deaf else {})}

    def create(self, request):
        body = request.json()
        template = body["templateID"]
        if template not in ("base", *self.saved):
            raise self.refuse(404, f"template '{template}' not found")
        box = self.new_box(fake.new_id("i"), env=body.get("envVars"), metadata=body.get("metadata"),
                           template=template, token=fake.new_id("t"), deaf=False,
                           ends_at=time.time() + body.get("timeout", 15))
        if template in self.saved:
            shutil.rmtree(box.home)
            shutil.copytree(self.saved[template]["home"], box.home, symlinks=True)
        return 201, self.view(box)

    def list(self, request):
        # Decoded once by the parser, again as a form, and once more each key and value.
        wanted = {urllib.parse.unquote(key): urllib.parse.unquote(value) for key, value in
                  urllib.parse.parse_qsl(request.one("metadata", ""))}
        states = request.one("state", "running,paused").split(",")
        found = [box for box in sorted(self.boxes.values(), key=lambda box: box.created_at)
                 if wanted.items() <= box.metadata.items() and box.state in states]
        first, limit = int(request.one("nextToken", "0")), int(request.one("limit", "100"))
        headers = {"X-Next-Token": str(first + limit)} if first + limit < len(found) else {}
        views = [self.view(box) for box in found[first:first + limit]]
        for view in views:
            view.pop("envdAccessToken")
        return 200, views, headers

    def get(self, request, box_id):
        return 200, self.view(self.box(box_id))

    def kill(self, request, box_id):
        if not self.drop_box(box_id):
            raise self.refuse(404, f"sandbox {box_id} not found")
        return 204, b""

    def timeout(self, request, box_id):
        box = self.box(box_id)
        if box.state == "paused":  # only those that run have a clock
            raise self.refuse(404, f"sandbox {box_id} not found")
        box.ends_at = time.time() + request.json()["timeout"]
        return 204, b""

    def pause(self, request, box_id):
        box = self.box(box_id)
        if box.state == "paused":
            raise self.refuse(409, "already paused")
        box.signal_all(signal.SIGSTOP)
        box.state = "paused"
        # A file of this name stands for an agent that does not answer: its memory is never restored.
        box.deaf = request.json().get("memory", True) and os.path.exists(box.path(".envd_hangs"))
        return 204, b""

    def connect(self, request, box_id):
        box = self.box(box_id)
        if box.state == "paused" and box.deaf and request.json().get("memory", True):
            raise fake.Refusal(409, {"code": 409, "message": "the guest agent did not respond",
                                     "error_code": "sandbox_snapshot_guest_agent_unresponsive"})
        was, box.state = box.state, "running"
        if was == "paused":
            box.signal_all(signal.SIGCONT)
        box.ends_at = max(box.ends_at, time.time() + request.json().get("timeout", 300))
        return (200 if was == "running" else 201), self.view(box)

    def snapshot(self, request, box_id):
        box = self.box(box_id)
        name = request.json().get("name", "")
        snapshot_id = fake.new_id("snap")
        home = os.path.join(self.root, snapshot_id)
        shutil.copytree(box.home, home, symlinks=True)
        self.saved[snapshot_id] = {"home": home, "names": [name] if name else [], "box": box_id}
        return 201, {"snapshotID": snapshot_id, "names": self.saved[snapshot_id]["names"]}

    def snapshots(self, request):
        wanted = request.one("name")
        return 200, [{"snapshotID": key, "names": saved["names"]} for key, saved in self.saved.items()
                     if wanted is None or wanted in saved["names"]]

    def drop_snapshot(self, request, snapshot_id):
        if not self.saved.pop(snapshot_id, None):
            raise self.refuse(404, "no such template")
        return 204, b""

    # ---- envd

    def envd_box(self, request):
        box_id = request.headers["E2b-Sandbox-Id"]
        box = self.boxes.get(box_id)
        if not box or box.state != "running":
            raise fake.Refusal(502, {"sandboxId": box_id, "code": 502,
                                     "message": "The sandbox was not found"})
        return box

    def health(self, request):
        self.envd_box(request)
        return 204, b""

    def child(self, box, body):
        selector = body.get("process", {})
        for child in box.children.values():
            if child.status is None and (child.pid == selector.get("pid") or (
                    child.tag and child.tag == selector.get("tag"))):
                return child
        raise connect_refusal("not_found", "no such process")

    def process(self, request, method):
        box = self.envd_box(request)
        if method in ("Start", "Connect"):
            return self.follow(request, box, method, json.loads(request.body[5:]))
        body = request.json()
        if method == "List":
            return 200, {"processes": [
                {"pid": child.pid, "config": {"cmd": child.argv[0], "args": child.argv[1:]}}
                for child in box.children.values() if child.status is None]}
        child = self.child(box, body)
        if method == "SendInput":
            given = body["input"]
            try:
                child.write(base64.b64decode(given.get("stdin") or given.get("pty", "")))
            except OSError:
                raise connect_refusal("not_found", "the process reads no more")
        elif method == "CloseStdin":
            child.close_stdin()
        elif method == "SendSignal":
            # The leader only, as the real one does.
            child.signal({"SIGNAL_SIGTERM": signal.SIGTERM, "SIGNAL_SIGKILL": signal.SIGKILL}[
                body["signal"]])
        elif method == "Update":
            child.resize(body["pty"]["size"]["cols"], body["pty"]["size"]["rows"])
        else:
            raise connect_refusal("unimplemented", method)
        return 200, {}

    def launch(self, box, body):
        config = body["process"]
        size = body.get("pty", {}).get("size")
        try:
            if config.get("cwd") and not os.path.isdir(box.path(config["cwd"])):
                raise connect_refusal("invalid_argument", "cwd does not exist")
            return box.run([config["cmd"], *config.get("args", [])], config.get("cwd"),
                           config.get("envs"), stdin=body.get("stdin", True),
                           pty=(size["cols"], size["rows"]) if size else None)
        except FileNotFoundError as failure:
            raise connect_refusal("invalid_argument", str(failure))

    def follow(self, request, box, method, body):
        write = None
        headers = {"Content-Type": "application/connect+json"}
        try:
            child = self.launch(box, body) if method == "Start" else self.child(box, body)
            if method == "Start":
                child.tag = body.get("tag")
        except fake.Refusal as refusal:
            write = request.stream(headers)
            write(envelope(2, {"error": refusal.body}))
            return write(b"")
        first = 0 if method == "Start" else len(child.events)
        write = request.stream(headers)
        write(envelope(0, {"event": {"start": {"pid": child.pid}}}))
        ping = float(request.headers.get("Keepalive-Ping-Interval", 90))
        for event in child.follow(first, ping):
            if event is None:
                write(envelope(0, {"event": {"keepalive": {}}}))
            else:
                data = {event[0]: base64.b64encode(event[1]).decode()}
                write(envelope(0, {"event": {"data": data}}))
        status = child.status
        end = {"exited": status >= 0, "status": f"exit status {status}"}
        if status < 0:
            end.update(exitCode=-1, error=f"signal: {-status}")
        elif status > 0:
            end["exitCode"] = status
        write(envelope(0, {"event": {"end": end}}))
        write(envelope(2, {}))
        return write(b"")

    def execute(self, request):
        """The interpreter beside envd, which here forgets what it ran."""
        body = request.json()
        child = self.envd_box(request).run(["python3", "-c", body["code"]], None, body.get("env_vars"), stdin=False)
        write = request.stream({"Content-Type": "application/x-ndjson"})

        def tell(kind, **more):
            write(json.dumps({"type": kind, **more}).encode() + b"\n")
        for channel, data in child.follow():
            tell(channel, text=data.decode(), timestamp=time.time_ns())
        if child.status:
            trace = child.text("stderr").decode()
            name, _, value = trace.strip().rpartition("\n")[2].partition(": ")
            tell("error", name=name, value=value, traceback=trace)
        tell("number_of_executions", execution_count=1)
        return write(b"")

    def entry(self, path):
        info = os.lstat(path)
        kind = ("FILE_TYPE_SYMLINK" if stat.S_ISLNK(info.st_mode) else
                "FILE_TYPE_DIRECTORY" if stat.S_ISDIR(info.st_mode) else "FILE_TYPE_FILE")
        entry = {"name": os.path.basename(path), "type": kind, "path": path,
                 "mode": info.st_mode & 0o7777, "permissions": stat.filemode(info.st_mode),
                 "owner": "user", "group": "user", "modifiedTime": rfc3339(info.st_mtime)}
        if info.st_size:
            entry["size"] = str(info.st_size)
        if stat.S_ISLNK(info.st_mode):
            entry["symlinkTarget"] = os.readlink(path)
        return entry

    def filesystem(self, request, method):
        box, body = self.envd_box(request), request.json()
        path = os.path.normpath(box.path(body.get("path") or body.get("source")))
        if method != "MakeDir" and method != "Remove" and not os.path.lexists(path):
            raise connect_refusal("not_found", "no such path")
        if method == "Stat":
            return 200, {"entry": self.entry(path)}
        if method == "ListDir":
            if not os.path.isdir(path):
                raise connect_refusal("invalid_argument", "not a directory")
            return 200, {"entries": [self.entry(one) for one in below(path, body.get("depth") or 1)]}
        if method == "MakeDir":
            if os.path.isdir(path):
                raise connect_refusal("already_exists", "exists")
            if os.path.lexists(path):
                raise connect_refusal("invalid_argument", "is a file")
            os.makedirs(path)
            return 200, {"entry": self.entry(path)}
        if method == "Move":
            target = os.path.normpath(box.path(body["destination"]))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.rename(path, target)
            return 200, {"entry": self.entry(target)}
        if method == "Remove":
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else (
                os.path.lexists(path) and os.remove(path))
            return 200, {}
        raise connect_refusal("unimplemented", method)

    def download(self, request):
        path = self.envd_box(request).path(request.one("path"))
        if os.path.isdir(path):
            raise self.refuse(400, "is a directory")
        if not os.path.exists(path):
            raise self.refuse(404, "no such file")
        with open(path, "rb") as file:
            data = file.read()
        wanted = request.headers.get("Range")
        if not wanted:
            return 200, data, {"Content-Type": "application/octet-stream"}
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        if int(first) >= len(data):
            raise self.refuse(416, "beyond the end")
        part = data[int(first):int(last) + 1 if last else None]
        place = f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}"
        return 206, part, {"Content-Range": place}

    def upload(self, request):
        box = self.envd_box(request)
        data, path = request.body, request.one("path")
        media = request.headers.get("Content-Type", "")
        if media.startswith("multipart/form-data"):
            path, data = part_of(media, data, path)
        path = box.path(path)
        if os.path.isdir(path):
            raise self.refuse(400, "is a directory")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return 200, [{"name": os.path.basename(path), "path": path, "type": "file"}]


def below(path, depth):
    for name in sorted(os.listdir(path)):
        one = os.path.join(path, name)
        yield one
        if depth > 1 and os.path.isdir(one) and not os.path.islink(one):
            yield from below(one, depth - 1)


def part_of(media, data, path):
    """The one file of a multipart body, and its name where no path was given."""
    boundary = media.partition("boundary=")[2].strip('"').encode()
    head, _, rest = data.partition(b"\r\n\r\n")
    name = head.partition(b'filename="')[2].partition(b'"')[0].decode()
    return path or name, rest[:rest.rindex(b"\r\n--" + boundary)]


if __name__ == "__main__":
    fake.run(FakeE2b, [("openapi.yml", r"(?=/(v2/)?(sandboxes|snapshots|templates))"),
                       ("envd.yaml", r"(?=/files$)")])
