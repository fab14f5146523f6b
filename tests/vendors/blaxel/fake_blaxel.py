#!/usr/bin/env python3
"""Blaxel as one server: the control plane below /v0, and each sandbox's own server below
/sbx/<name>, the address that the control plane tells for it."""
import base64
import json
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fake  # noqa: E402
from blaxel_files import BlaxelFiles, iso_date  # noqa: E402

KEY, WORKSPACE, VERSION = "bl_0001", "sandgate", "2026-04-28"
BOX = r"/v0/sandboxes/([^/]+)"
SNAPSHOT = r"/v0/snapshots/([^/]+)"
HERE = r"/sbx/([^/]+)"
PROCESS = HERE + r"/process/([^/]+)"
FILE = HERE + r"/filesystem/(.*)"
PARTS = HERE + r"/filesystem-multipart"


def http_date(seconds):
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(seconds))


class FakeBlaxel(BlaxelFiles, fake.Fake):
    routes = (
        ("POST", r"/v0/sandboxes", "create"),
        ("GET", r"/v0/sandboxes", "list"),
        ("GET", BOX, "get"),
        ("PUT", BOX, "update"),
        ("DELETE", BOX, "kill"),
        ("POST", BOX + r"/archive", "archive"),
        ("POST", BOX + r"/unarchive", "unarchive"),
        ("POST", r"/v0/snapshots", "snapshot"),
        ("GET", r"/v0/snapshots", "snapshots"),
        ("GET", SNAPSHOT, "get_snapshot"),
        ("DELETE", SNAPSHOT, "drop_snapshot"),
        ("POST", SNAPSHOT + r"/fork", "fork"),
        ("POST", HERE + r"/process", "start"),
        ("GET", HERE + r"/process", "processes"),
        ("GET", PROCESS, "process"),
        ("DELETE", PROCESS + r"/kill", "kill_process"),
        ("DELETE", PROCESS, "kill_process"),
        ("GET", PROCESS + r"/logs", "logs"),
        ("GET", PROCESS + r"/logs/stream", "follow"),
        ("POST", PROCESS + r"/stdin", "write_stdin"),
        ("DELETE", PROCESS + r"/stdin", "close_stdin"),
        ("GET", FILE, "read"),
        ("PUT", FILE, "write"),
        ("DELETE", FILE, "remove"),
        ("POST", PARTS + r"/initiate/([^/]+)", "begin_parts"),
        ("PUT", PARTS + r"/([^/]+)/part", "part"),
        ("POST", PARTS + r"/([^/]+)/complete", "complete"),
        ("DELETE", PARTS + r"/([^/]+)/abort", "abort"),
    )

    def __init__(self, specs=None):
        super().__init__(specs)
        self.ended, self.uploads, self.saved = {}, {}, {}

    def failure(self, status, message):
        return {"code": status, "error": message, "message": message}

    def authorized(self, request):
        if request.headers.get("x-blaxel-authorization") != "Bearer " + KEY:
            raise self.refuse(401, "Unauthorized")
        if request.headers.get("x-blaxel-workspace") != WORKSPACE:
            raise self.refuse(403, "no access to the workspace")

    # ---- control plane

    def box(self, name):
        box = self.boxes.get(name) or self.ended.get(name)
        if not box:
            raise self.refuse(404, f"sandbox {name} not found")
        return box

    def status(self, box):
        # A change of state takes a moment.
        if box.status in ("ARCHIVING", "UNARCHIVING") and time.time() > box.changed + 0.25:
            box.status = "ARCHIVED" if box.status == "ARCHIVING" else "DEPLOYED"
        return box.status

    def view(self, box):
        status = self.status(box)
        return {"metadata": {**box.meta, "url": f"{self.url}/sbx/{box.id}", "workspace": WORKSPACE,
                             "createdAt": iso_date(box.created_at)},
                "spec": box.spec, "status": status,
                "state": "RUNNING" if status == "DEPLOYED" else "STANDBY"}

    def create(self, request):
        body = request.json()
        meta, spec = body["metadata"], body["spec"]
        name, runtime = meta.get("name") or fake.new_id("sandbox-"), spec["runtime"]
        if name in self.boxes:
            if request.one("createIfNotExist") == "true":
                return 200, self.view(self.boxes[name])
            raise fake.Refusal(409, {"code": "SANDBOX_ALREADY_EXISTS", "message": "taken"})
        if runtime["image"] not in ("blaxel/base-image:latest", "tools"):
            raise fake.Refusal(400, {"code": "INVALID_IMAGE", "message": "no such image"})
        if not isinstance(runtime["memory"], int) or runtime["memory"] < 1:
            raise fake.Refusal(400, {"code": "BAD_REQUEST", "message": "no such memory"})
        self.check_life(runtime)
        env = {one["name"]: one["value"] for one in runtime.get("envs") or []}
        box = self.new_box(name, env=env, meta={**meta, "name": name}, spec=spec, status="DEPLOYED",
                           changed=0)
        return 200, self.view(box)

    def check_life(self, runtime):
        life = runtime.get("ttl")
        if life and int(life[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}[life[-1]] < 300:
            raise fake.Refusal(400, {"code": "BAD_REQUEST", "message": "ttl must be at least 5m"})

    def list(self, request):
        if request.headers.get("Blaxel-Version") != VERSION:
            return 200, [self.view(box) for box in self.boxes.values()]
        found = sorted(self.boxes.values(), key=lambda box: box.created_at, reverse=True)
        first, limit = int(request.one("cursor", "0")), min(int(request.one("limit", "50")), 200)
        more = first + limit < len(found)
        return 200, {"data": [self.view(box) for box in found[first:first + limit]],
                     "meta": {"hasMore": more, "nextCursor": str(first + limit) if more else "",
                              "total": len(found)}}

    def get(self, request, name):
        return 200, self.view(self.box(name))

    def update(self, request, name):
        box = self.box(name)
        self.check_life(request.json()["spec"]["runtime"])
        box.spec = request.json()["spec"]
        return 200, self.view(box)

    def kill(self, request, name):
        box = self.boxes.get(name)
        if not box:
            raise self.refuse(404, f"sandbox {name} not found")
        # The record stays for a while.
        box.status = "TERMINATED"
        self.ended[name] = box
        self.drop_box(name)
        return 200, self.view(box)

    def change(self, box, before, now):
        if self.status(box) != before:
            raise self.refuse(409, f"the sandbox is {box.status}")
        box.status, box.changed = now, time.time()
        return 200, self.view(box)

    def archive(self, request, name):
        answer = self.change(self.box(name), "DEPLOYED", "ARCHIVING")
        self.boxes[name].signal_all(9)
        return answer

    def unarchive(self, request, name):
        return self.change(self.box(name), "ARCHIVED", "UNARCHIVING")

    def snapshot_view(self, saved):
        ready = time.time() > saved["at"] + 0.25
        return {"id": saved["id"], "name": saved["name"], "workspace": WORKSPACE,
                "createdAt": iso_date(saved["at"]), "status": "ready" if ready else "pending",
                "source": {"name": saved["box"].id, "kind": "sandbox"}}

    def snapshot(self, request):
        body, snapshot_id = request.json(), fake.new_id("snap-")
        box, name = self.running(body["source"]["name"]), body.get("name") or snapshot_id
        if name in [saved["name"] for saved in self.saved.values()]:
            raise self.refuse(409, "the name is taken")
        home = os.path.join(self.root, snapshot_id)
        shutil.copytree(box.home, home, symlinks=True)
        self.saved[snapshot_id] = {"id": snapshot_id, "name": name, "home": home, "box": box,
                                   "at": time.time()}
        return 200, self.snapshot_view(self.saved[snapshot_id])

    def snapshots(self, request):
        found = [self.snapshot_view(saved) for saved in self.saved.values()
                 if request.one("q", "") in saved["name"]]
        return 200, {"data": found, "meta": {"hasMore": False, "nextCursor": ""}}

    def saved_as(self, snapshot_id):
        if snapshot_id not in self.saved:
            raise self.refuse(404, "no such snapshot")
        return self.saved[snapshot_id]

    def get_snapshot(self, request, snapshot_id):
        return 200, self.snapshot_view(self.saved_as(snapshot_id))

    def drop_snapshot(self, request, snapshot_id):
        view = self.snapshot_view(self.saved_as(snapshot_id))
        del self.saved[snapshot_id]
        return 200, view

    def fork(self, request, snapshot_id):
        saved, body = self.saved_as(snapshot_id), request.json()
        name, source = body["targetName"], saved["box"]
        if self.snapshot_view(saved)["status"] != "ready":
            raise self.refuse(409, "the snapshot is not ready")
        if name in self.boxes:
            raise self.refuse(409, "taken")
        env = {**source.env, **{one["name"]: one["value"] for one in body.get("envs") or []}}
        box = self.new_box(name, env=env, meta={"name": name}, spec=source.spec, status="DEPLOYED",
                           changed=0)
        shutil.rmtree(box.home)
        shutil.copytree(saved["home"], box.home, symlinks=True)
        return 200, {"name": name, "type": body["targetType"], "snapshotId": snapshot_id}

    # ---- processes

    def running(self, name):
        box = self.boxes.get(name)
        if not box:
            raise self.refuse(404, "no such sandbox")
        if self.status(box) != "DEPLOYED":
            raise self.refuse(503, "the sandbox is not running")
        return box

    def process_view(self, child):
        number = child.status
        view = {"pid": str(child.pid), "name": child.name, "command": child.command,
                "workingDir": child.place, "startedAt": http_date(child.started_at),
                "completedAt": "", "exitCode": 0, "status": "running", "stdin": child.stdin,
                "keepAlive": child.keep, "restartCount": 0}
        view["stdout"] = child.text("stdout").decode(errors="replace")
        view["stderr"] = child.text("stderr").decode(errors="replace")
        view["logs"] = child.text().decode(errors="replace")
        if number is not None:
            # A signal has no number.
            view.update(exitCode=max(number, -1), completedAt=http_date(time.time()),
                        status="completed" if number == 0 else "failed")
        return view

    def start(self, request, name):
        box, body = self.running(name), request.json()
        wanted = body.get("name")
        if any(child.name == wanted and child.status is None for child in box.children.values()):
            raise self.refuse(400, "a process of that name runs")
        try:
            child = box.run(["/bin/sh", "-c", body["command"]], body.get("workingDir"),
                            body.get("env"), stdin=bool(body.get("stdin")))
        except FileNotFoundError as failure:
            raise self.refuse(422, str(failure))
        child.command, child.place = body["command"], body.get("workingDir", "")
        child.name = wanted or fake.new_id("proc-", 8)
        child.stdin, child.keep = bool(body.get("stdin")), bool(body.get("keepAlive"))
        if "text/event-stream" in request.headers.get("Accept", ""):
            return self.stream_events(request, child)
        if body.get("waitForCompletion"):
            end = time.time() + min(body.get("timeout") or 60, 60)
            with child.changed:
                while child.status is None and time.time() < end:
                    child.changed.wait(0.2)
            if child.status is None:
                raise self.refuse(422, "the process did not end in time")
        return 200, self.process_view(child)

    def child(self, name, process):
        found = [child for child in self.running(name).children.values()
                 if process in (child.name, str(child.pid))]
        if not found:
            raise self.refuse(404, "process not found")
        return max(found, key=lambda child: child.started_at)

    def processes(self, request, name):
        return 200, [self.process_view(child) for child in self.running(name).children.values()]

    def process(self, request, name, process):
        return 200, self.process_view(self.child(name, process))

    def kill_process(self, request, name, process):
        self.child(name, process).signal(9, group=True)
        return 200, {"message": "Process killed successfully"}

    def logs(self, request, name, process):
        view = self.process_view(self.child(name, process))
        return 200, {key: view[key] for key in ("stdout", "stderr", "logs")}

    def follow(self, request, name, process):
        child = self.child(name, process)
        if "application/x-ndjson" in request.headers.get("Accept", ""):
            return self.log_records(request, child)
        write, open_ = request.stream({"Content-Type": "text/plain; charset=utf-8"}), {}
        for event in child.follow(patience=5):
            if event is None:
                write(b"[keepalive]\n")
                continue
            lines = (open_.pop(event[0], b"") + event[1]).split(b"\n")
            open_[event[0]] = lines.pop()
            for line in lines:
                write(event[0].encode() + b":" + line + b"\n")
        for channel, rest in open_.items():
            if rest:
                write(channel.encode() + b":" + rest + b"\n")
        return write(b"")

    def log_records(self, request, child, last=None):
        write = request.stream({"Content-Type": "application/x-ndjson"})

        def tell(record):
            write(json.dumps(record).encode() + b"\n")
        for event in child.follow(patience=5):
            if event is None:
                tell({"type": "keepalive", "data": ""})
                continue
            try:
                tell({"type": event[0], "data": event[1].decode()})
            except UnicodeDecodeError:
                tell({"type": event[0], "data": base64.b64encode(event[1]).decode(),
                      "encoding": "base64"})
        if last:
            tell({"type": "result", "data": json.dumps(last())})
        return write(b"")

    def stream_events(self, request, child):
        return self.log_records(request, child, lambda: self.process_view(child))

    def with_stdin(self, name, process):
        child = self.child(name, process)
        if not child.stdin:
            raise self.refuse(409, "the process was started without stdin")
        return child

    def write_stdin(self, request, name, process):
        child = self.with_stdin(name, process)
        if len(request.body) > 8 << 20:
            raise self.refuse(413, "too large")
        try:
            child.write(request.body)
        except (OSError, ValueError):
            raise self.refuse(409, "stdin is closed")
        return 200, {"message": "written"}

    def close_stdin(self, request, name, process):
        self.with_stdin(name, process).close_stdin()
        return 200, {"message": "closed"}

    # ---- files


if __name__ == "__main__":
    # stdin and binary transfers are newer than the description.
    fake.run(FakeBlaxel, [("sandbox-api-openapi.yml", HERE)],
             ("'stdin'", "/stdin: no such operation", "multipart/form-data', known are "
              "['application/json']"))
