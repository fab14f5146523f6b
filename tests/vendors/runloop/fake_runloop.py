#!/usr/bin/env python3
"""Runloop's devboxes as one server."""
import json
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fake  # noqa: E402

KEY = "ak_0001"
BOX = r"/v1/devboxes/([^/]+)"
EXECUTION = BOX + r"/executions/([^/]+)"


class FakeRunloop(fake.Fake):
    routes = (
        ("GET", r"/v1/devboxes/disk_snapshots", "snapshots"),
        ("GET", r"/v1/devboxes/disk_snapshots/([^/]+)/status", "snapshot_status"),
        ("POST", r"/v1/devboxes/disk_snapshots/([^/]+)/delete", "drop_snapshot"),
        ("POST", r"/v1/devboxes", "create"),
        ("GET", r"/v1/devboxes", "list"),
        ("GET", BOX, "get"),
        ("POST", BOX + r"/shutdown", "shutdown"),
        ("POST", BOX + r"/suspend", "suspend"),
        ("POST", BOX + r"/resume", "resume"),
        ("POST", BOX + r"/(?:snapshot_disk|snapshot_disk_async)", "snapshot"),
        ("POST", BOX + r"/wait_for_status", "wait_for_box"),
        ("POST", BOX + r"/execute_sync", "execute_sync"),
        ("POST", BOX + r"/execute_async", "execute_async"),
        ("POST", BOX + r"/execute", "execute"),
        ("GET", EXECUTION, "execution"),
        ("POST", EXECUTION + r"/wait_for_status", "wait_for_execution"),
        ("GET", EXECUTION + r"/stream_(stdout|stderr)_updates", "updates"),
        ("POST", EXECUTION + r"/kill", "kill_execution"),
        ("POST", EXECUTION + r"/send_std_in", "send_stdin"),
        ("POST", BOX + r"/upload_file", "upload"),
        ("POST", BOX + r"/download_file", "download"),
        ("POST", BOX + r"/read_file_contents", "read_text"),
        ("POST", BOX + r"/write_file_contents", "write_text"),
    )

    def __init__(self, specs=None):
        super().__init__(specs)
        self.ended, self.repeats, self.saved = {}, {}, {}

    def authorized(self, request):
        if request.headers.get("Authorization") != "Bearer " + KEY:
            raise self.refuse(401, "Unauthorized")

    # ---- devboxes

    def box(self, box_id):
        box = self.boxes.get(box_id) or self.ended.get(box_id)
        if not box:
            raise self.refuse(404, f"no devbox {box_id}")
        return box

    def status(self, box):
        # Accepted first, there a moment later.
        starting = box.state == "running" and time.time() < box.created_at + fake.STARTS_IN
        return "provisioning" if starting else box.state

    def view(self, box):
        return {"id": box.id, "name": box.name, "status": self.status(box), "metadata": box.metadata,
                "create_time_ms": int(box.created_at * 1000), "end_time_ms": None, "capabilities": [],
                "state_transitions": [], "launch_parameters": box.launch}

    def create(self, request):
        repeat = request.headers.get("x-request-id")
        if repeat and repeat in self.repeats:
            return 200, self.view(self.box(self.repeats[repeat]))
        body = request.json()
        if body.get("snapshot_id", next(iter(self.saved), None)) not in (None, *self.saved):
            raise self.refuse(400, "no such snapshot")
        if body.get("blueprint_name", "tools") != "tools":
            raise self.refuse(400, "no such blueprint")
        launch = body.get("launch_parameters") or {}
        memory, cores = launch.get("custom_gb_memory", 4), launch.get("custom_cpu_cores", 2)
        if launch.get("resource_size_request") == "CUSTOM_SIZE" and not (
                cores in (0.5, 1) or cores % 2 == 0) or not 2 * cores <= memory <= 8 * cores:
            raise self.refuse(400, "no such size")
        box = self.new_box(fake.new_id("dbx_"), env=body.get("environment_variables"),
                           metadata=body.get("metadata"), name=body.get("name"), launch=launch)
        if repeat:
            self.repeats[repeat] = box.id
        if body.get("snapshot_id"):
            shutil.rmtree(box.home)
            shutil.copytree(self.saved[body["snapshot_id"]]["home"], box.home, symlinks=True)
        return 200, self.view(box)

    def list(self, request):
        found = [box for box in sorted([*self.boxes.values(), *self.ended.values()],
                                       key=lambda box: box.created_at, reverse=True)
                 if request.one("status") in (None, self.status(box))]
        after = request.one("starting_after")
        ids = [box.id for box in found]
        first = ids.index(after) + 1 if after in ids else 0
        limit = int(request.one("limit", "20"))
        return 200, {"devboxes": [self.view(box) for box in found[first:first + limit]],
                     "has_more": first + limit < len(found), "total_count": len(found)}

    def get(self, request, box_id):
        return 200, self.view(self.box(box_id))

    def shutdown(self, request, box_id):
        box = self.box(box_id)
        box.state = "shutdown"
        self.ended[box_id] = box
        self.drop_box(box_id)
        return 200, self.view(box)

    def suspend(self, request, box_id):
        box = self.running(box_id)
        box.signal_all(9)
        box.state = "suspended"
        return 200, self.view(box)

    def resume(self, request, box_id):
        box = self.box(box_id)
        box.state = "running"
        return 200, self.view(box)

    def snapshot(self, request, box_id):
        box, body, snapshot_id = self.running(box_id), request.json(), fake.new_id("snp_")
        home = os.path.join(self.root, snapshot_id)
        shutil.copytree(box.home, home, symlinks=True)
        self.saved[snapshot_id] = {"home": home, "view": {
            "id": snapshot_id, "create_time_ms": int(time.time() * 1000), "source_devbox_id": box_id,
            "name": body.get("name"), "metadata": body.get("metadata") or {}, "size_bytes": 4096}}
        return 200, self.saved[snapshot_id]["view"]

    def snapshots(self, request):
        wanted = request.one("metadata[sandgate_id]")
        found = [saved["view"] for saved in self.saved.values()
                 if wanted in (None, saved["view"]["metadata"].get("sandgate_id"))]
        return 200, {"snapshots": found, "has_more": False, "total_count": len(found)}

    def snapshot_status(self, request, snapshot_id):
        if snapshot_id not in self.saved:
            return 200, {"status": "deleted"}
        return 200, {"status": "complete", "snapshot": self.saved[snapshot_id]["view"]}

    def drop_snapshot(self, request, snapshot_id):
        if not self.saved.pop(snapshot_id, None):
            raise self.refuse(404, "no such snapshot")
        return 200, {}

    def wait_for_box(self, request, box_id):
        body, box = request.json(), self.box(box_id)
        end = time.time() + body.get("timeout_seconds", 10)
        while self.status(box) not in body["statuses"]:
            if time.time() > end:
                raise self.refuse(408, "not yet")
            time.sleep(0.02)
        return 200, self.view(box)

    def running(self, box_id):
        box = self.box(box_id)
        if self.status(box) != "running":
            raise self.refuse(400, "the devbox is not running")
        return box

    # ---- executions

    def begin(self, box_id, body):
        box = self.running(box_id)
        child = box.run(["/bin/bash", "-c", body["command"]], stdin=bool(body.get("attach_stdin")))
        child.id = body.get("command_id") or fake.new_id("exec_")
        child.box = box_id
        box.children[child.id] = box.children.pop(child.pid)
        return child

    def child(self, box_id, execution_id):
        child = self.box(box_id).children.get(execution_id)
        if not child:
            raise self.refuse(404, "no such execution")
        return child

    def execution_view(self, child, output=True):
        view = {"execution_id": child.id, "devbox_id": child.box,
                "status": "running" if child.status is None else "completed"}
        if child.status is not None:
            view.update(exit_status=child.exit_code(), stdout_truncated=False, stderr_truncated=False)
            if output:
                view.update(stdout=child.text("stdout").decode(errors="replace"),
                            stderr=child.text("stderr").decode(errors="replace"))
        return view

    def finish(self, child, limit=None):
        end = time.time() + (limit or 1 << 20)
        with child.changed:
            while child.status is None and time.time() < end:
                child.changed.wait(0.2)
        return self.execution_view(child)

    def execute_sync(self, request, box_id):
        return 200, self.finish(self.begin(box_id, request.json()))

    def execute_async(self, request, box_id):
        return 200, self.execution_view(self.begin(box_id, request.json()))

    def execute(self, request, box_id):
        body = request.json()
        return 200, self.finish(self.begin(box_id, body), body.get("optimistic_timeout") or 25)

    def execution(self, request, box_id, execution_id):
        return 200, self.execution_view(self.child(box_id, execution_id))

    def wait_for_execution(self, request, box_id, execution_id):
        view = self.finish(self.child(box_id, execution_id), request.json().get("timeout_seconds", 25))
        if view["status"] not in request.json()["statuses"]:
            raise fake.Refusal(408, self.failure(408, "not yet"), {"x-should-retry": "true"})
        return 200, view

    def updates(self, request, box_id, execution_id, channel):
        child = self.child(box_id, execution_id)
        write = request.stream({"Content-Type": "text/event-stream"})
        offset, skip, held = 0, int(request.one("offset", "0")), b""
        for event in child.follow(patience=0.2):
            if event is None or event[0] != channel:
                continue
            # Text only: a character that is not whole yet waits for the rest of it.
            held += event[1]
            text = held.decode(errors="ignore") if len(held) < 4 else whole(held)
            held = held[len(text.encode()):] if text else held
            if offset >= skip and text:
                data = json.dumps({"output": text, "offset": offset})
                write(f"data: {data}\n\n".encode())
                if request.fault == "cut_at_end":
                    self.finish(child)
                if request.fault in ("cut", "cut_at_end"):
                    return write(b"")
                if request.fault == "broken":
                    return request.handler.reset()
            offset += len(text.encode())
        if held:
            data = json.dumps({"output": held.decode(errors="replace"), "offset": offset})
            write(f"data: {data}\n\n".encode())
        write(b"")

    def kill_execution(self, request, box_id, execution_id):
        child = self.child(box_id, execution_id)
        child.signal(9, group=bool(request.json().get("kill_process_group")))
        return 200, self.finish(child, 5)

    def send_stdin(self, request, box_id, execution_id):
        child, body = self.child(box_id, execution_id), request.json()
        if body.get("signal") == "EOF":
            child.close_stdin()
        else:
            child.write(body["text"].encode())
        return 200, {"success": True, "devbox_id": box_id, "execution_id": execution_id}

    # ---- files

    def store(self, path, data):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    def upload(self, request, box_id):
        parts = fake.form_of(request)
        self.store(self.running(box_id).path(parts["path"].decode()), parts["file"])
        return 200, {}

    def bytes_at(self, box_id, path):
        path = self.running(box_id).path(path)
        if not os.path.isfile(path):
            raise self.refuse(404 if not os.path.exists(path) else 400, "no such file")
        with open(path, "rb") as file:
            return file.read()

    def download(self, request, box_id):
        return 200, self.bytes_at(box_id, request.json()["path"])

    def read_text(self, request, box_id):
        data = self.bytes_at(box_id, request.json()["file_path"])
        return 200, data, {"Content-Type": "text/plain"}

    def write_text(self, request, box_id):
        body, box = request.json(), self.running(box_id)
        self.store(box.path(body["file_path"]), body["contents"].encode())
        return 200, {"devbox_id": box_id, "exit_status": 0, "stdout": "", "stderr": ""}


def whole(data):
    """The text up to the last character that is whole; bytes that are none become U+FFFD."""
    for cut in range(0, 4):
        try:
            return data[:len(data) - cut].decode()
        except UnicodeDecodeError:
            pass
    return data.decode(errors="replace")


if __name__ == "__main__":
    fake.run(FakeRunloop)
