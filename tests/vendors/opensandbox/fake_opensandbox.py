#!/usr/bin/env python3
"""OpenSandbox as one server of several tenants: its lifecycle API under /v1, every sandbox's execd under
/execd/<id>, which answers those only who send the header that the endpoint was given out with, and the same
through the server, which asks for its key on the way."""
import json
import os
import re
import shutil
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fake  # noqa: E402
import web_socket  # noqa: E402

KEY = "osb_0001"
IMAGE = "tools"
BOX = r"/v1/sandboxes/([^/]+)"
EXECD = r"/execd/([^/]+)"
FRAMES = {"stdout": b"\x01", "stderr": b"\x02", "pty": b"\x01"}


def rfc3339(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class FakeOpenSandbox(fake.Fake):
    routes = (
        ("POST", r"/v1/sandboxes", "create"),
        ("GET", r"/v1/sandboxes", "list"),
        ("GET", BOX, "get"),
        ("DELETE", BOX, "kill"),
        ("POST", BOX + r"/(pause|resume)", "turn"),
        ("POST", BOX + r"/renew-expiration", "renew"),
        ("POST", BOX + r"/snapshots", "snapshot"),
        ("GET", BOX + r"/endpoints/(\d+)", "endpoint"),
        ("GET", r"/v1/snapshots", "snapshots"),
        ("GET", r"/v1/snapshots/([^/]+)", "get_snapshot"),
        ("DELETE", r"/v1/snapshots/([^/]+)", "drop_snapshot"),
        ("GET", EXECD + r"/ping", "ping"),
        ("POST", EXECD + r"/command", "command"),
        ("POST", EXECD + r"/files/upload", "upload"),
        ("GET", EXECD + r"/files/download", "download"),
        ("POST", EXECD + r"/pty", "new_pty"),
        ("DELETE", EXECD + r"/pty/([^/]+)", "drop_pty"),
        ("GET", EXECD + r"/pty/([^/]+)/ws", "attach_pty"),
    )

    def __init__(self, specs=None):
        super().__init__(specs)
        self.saved = {}

    def failure(self, status, message):
        return {"code": "DOCKER::FAILED", "message": message}

    def dispatch(self, request):
        proxied = re.fullmatch(r"/v1/sandboxes/([^/]+)/proxy/\d+(/.*)", request.path)
        request.needs_key = request.path.startswith("/v1/")
        if proxied:
            request.path = f"/execd/{proxied[1]}{proxied[2]}"
        return super().dispatch(request)

    def authorized(self, request):
        key = request.headers.get("OPEN-SANDBOX-API-KEY")
        if request.needs_key and key != KEY:
            raise self.refuse(401, "INVALID_API_KEY")
        if key and not request.needs_key:
            self.violations.append("a sandbox was shown the key")
        if request.path.startswith("/execd/") and request.headers.get("X-Fake-Route") != request.path.split("/")[2]:
            raise self.refuse(401, "no route")

    # ---- the lifecycle API

    def box(self, box_id):
        if box_id not in self.boxes:
            raise self.refuse(404, f"Sandbox {box_id} not found")
        return self.boxes[box_id]

    def view(self, box):
        # Accepted first, there a moment later.
        starting = time.time() < box.created_at + fake.STARTS_IN
        state = {"running": "Running", "paused": "Paused"}[box.state]
        return {"id": box.id, "status": {"state": "Pending" if starting else state},
                "metadata": box.metadata, "entrypoint": box.entrypoint,
                "createdAt": rfc3339(box.created_at), "expiresAt": rfc3339(box.expires)}

    def create(self, request):
        body = request.json()
        if ("image" in body) == ("snapshotId" in body):
            raise self.refuse(400, "exactly one of image and snapshotId")
        if body.get("image", {"uri": IMAGE})["uri"] != IMAGE:
            raise self.refuse(400, "the image cannot be pulled")
        if body.get("snapshotId", next(iter(self.saved), None)) not in (None, *self.saved):
            raise self.refuse(404, "no such snapshot")
        box = self.new_box(fake.new_id(), env=body.get("env"), metadata=body.get("metadata"),
                           entrypoint=body.get("entrypoint", []), sessions={}, asked=body,
                           expires=time.time() + (body.get("timeout") or 1 << 30))
        if "snapshotId" in body:
            shutil.rmtree(box.home)
            shutil.copytree(self.saved[body["snapshotId"]]["home"], box.home, symlinks=True)
        return 202, self.view(box)

    def paged(self, request, found):
        page, size = int(request.one("page", "1")), int(request.one("pageSize", "20"))
        return 200, {"items": found[(page - 1) * size:page * size], "pagination": {
            "page": page, "pageSize": size, "totalItems": len(found),
            "totalPages": -(-len(found) // size), "hasNextPage": page * size < len(found)}}

    def list(self, request):
        wanted = dict(pair.split("=", 1) for pair in request.one("metadata", "").split("&") if pair)
        states = request.query.get("state", [])
        found = [self.view(box) for box in sorted(self.boxes.values(), key=lambda b: b.created_at)
                 if wanted.items() <= box.metadata.items()]
        return self.paged(request, [view for view in found
                                    if not states or view["status"]["state"] in states])

    def get(self, request, box_id):
        box = self.box(box_id)
        return 200, {**self.view(box), **{key: box.asked[key] for key in ("image", "snapshotId")
                                          if key in box.asked}}

    def kill(self, request, box_id):
        self.box(box_id)
        self.drop_box(box_id)
        return 204, b""

    def turn(self, request, box_id, verb):
        box = self.box(box_id)
        if box.state != ("running" if verb == "pause" else "paused"):
            raise self.refuse(409, "not in that state")
        box.signal_all(19 if verb == "pause" else 18)
        box.state = "paused" if verb == "pause" else "running"
        return 202, b""

    def renew(self, request, box_id):
        box, at = self.box(box_id), request.json()["expiresAt"]
        box.expires = time.mktime(time.strptime(at[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
        return 200, {"expiresAt": at}

    def endpoint(self, request, box_id, port):
        self.box(box_id)
        proxied = request.one("use_server_proxy") == "true"
        place = f"v1/sandboxes/{box_id}/proxy/{port}" if proxied else f"execd/{box_id}"
        return 200, {"endpoint": f"{self.url.partition('://')[2]}/{place}",
                     "headers": {"X-Fake-Route": box_id}}

    # ---- snapshots

    def snapshot(self, request, box_id):
        box, snapshot_id = self.box(box_id), fake.new_id()
        if box.state != "running":
            raise self.refuse(409, "SNAPSHOT::INVALID_SOURCE_STATE")
        home = os.path.join(self.root, snapshot_id)
        shutil.copytree(box.home, home, symlinks=True)
        self.saved[snapshot_id] = {"home": home, "at": time.time(), "box": box_id,
                                   "name": request.json().get("name", "")}
        return 202, self.snapshot_view(snapshot_id)

    def snapshot_view(self, snapshot_id):
        saved = self.saved[snapshot_id]
        state = "Creating" if time.time() < saved["at"] + 0.15 else "Ready"
        return {"id": snapshot_id, "sandboxId": saved["box"], "name": saved["name"],
                "status": {"state": state}, "createdAt": rfc3339(saved["at"])}

    def snapshots(self, request):
        return self.paged(request, [self.snapshot_view(one) for one in self.saved])

    def known_snapshot(self, snapshot_id):
        if snapshot_id not in self.saved:
            raise self.refuse(404, "no such snapshot")

    def get_snapshot(self, request, snapshot_id):
        self.known_snapshot(snapshot_id)
        return 200, self.snapshot_view(snapshot_id)

    def drop_snapshot(self, request, snapshot_id):
        self.known_snapshot(snapshot_id)
        if self.snapshot_view(snapshot_id)["status"]["state"] == "Creating":
            raise self.refuse(409, "it is being created")
        del self.saved[snapshot_id]
        return 204, b""

    # ---- execd

    def running(self, box_id):
        box = self.box(box_id)
        if box.state != "running":
            raise self.refuse(500, "the container is paused")
        return box

    def ping(self, request, box_id):
        self.running(box_id)
        return 200, b"", {"Content-Type": "text/plain"}

    def command(self, request, box_id):
        box, body = self.running(box_id), request.json()
        write = request.stream({"Content-Type": "text/event-stream"})

        def send(kind, **more):
            event = {"type": kind, "timestamp": int(time.time() * 1000), **more}
            write(json.dumps(event).encode() + b"\n\n")  # no "data:" before it
        send("init", text=fake.new_id())
        try:
            child = box.run(["/bin/bash", "-c", body["command"]], cwd=body.get("cwd"),
                            env=body.get("envs"), stdin=False)
        except FileNotFoundError as missing:
            send("error", error={"ename": "CommandExecError", "evalue": str(missing),
                                 "traceback": []})
            return write(b"")
        for event in child.follow(patience=1):
            if event is None:
                send("ping", text="pong")
                continue
            for line in event[1].decode(errors="replace").splitlines():
                send(event[0], text=line)
        if child.status == 0:
            send("execution_complete", execution_time=1)
        else:
            send("error", error={"ename": "CommandExecError", "evalue": str(status_of(child)),
                                 "traceback": []})
        # It lingers after the last event, and so may the connection.
        self.stopped.wait(0.2)
        return write(b"")

    def upload(self, request, box_id):
        box, parts = self.running(box_id), fake.form_of(request)
        if b'name="metadata"; filename=' not in request.body:
            raise self.refuse(400, "metadata is a file")
        meta = json.loads(parts["metadata"])
        path = box.path(meta["path"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(parts["file"])
        if "mode" in meta:
            os.chmod(path, int(str(meta["mode"]), 8))
        return 200, b""

    def download(self, request, box_id):
        path = self.running(box_id).path(request.one("path"))
        if not os.path.isfile(path):
            raise self.refuse(404, "FILE_NOT_FOUND")
        with open(path, "rb") as file:
            return 200, file.read()

    def new_pty(self, request, box_id):
        session_id = fake.new_id()
        self.running(box_id).sessions[session_id] = {"body": request.json(), "child": None}
        return 201, {"session_id": session_id}

    def session(self, box_id, session_id):
        session = self.running(box_id).sessions.get(session_id)
        if not session:
            raise self.refuse(404, "CONTEXT_NOT_FOUND")
        return session

    def drop_pty(self, request, box_id, session_id):
        child = self.session(box_id, session_id)["child"]
        if child and child.status is None:
            child.signal(9, group=True)
        del self.box(box_id).sessions[session_id]
        return 204, b""

    def attach_pty(self, request, box_id, session_id):
        session, box = self.session(box_id, session_id), self.box(box_id)
        socket = web_socket.WebSocket(request)
        pipes = request.one("pty") == "0"
        child = session["child"] = session["child"] or box.run(
            ["/bin/bash", "-c", session["body"]["command"]], pty=None if pipes else (80, 24))
        first = 0
        if not pipes:
            # What came before the connection was ready comes as a replay, in one piece.
            time.sleep(0.05)
            first = len(child.events)
            early = b"".join(data for _, data in child.events[:first])
            if early:
                socket.send(b"\x03" + len(early).to_bytes(8, "big") + early)
        socket.send(json.dumps({"type": "connected", "session_id": session_id,
                                "mode": "pipe" if pipes else "pty"}).encode(), web_socket.TEXT)
        threading.Thread(target=self.take_input, args=(socket, child), daemon=True).start()
        for channel, data in child.follow(first):
            if child.status is not None:
                break  # as the real one, which does not wait for the rest
            socket.send(FRAMES[channel] + data)
        socket.send(json.dumps({"type": "exit", "exit_code": status_of(child)}).encode(),
                    web_socket.TEXT)
        socket.close()

    def take_input(self, socket, child):
        while (message := socket.receive()) is not None:
            kind, data = message
            try:
                if kind == web_socket.TEXT:
                    change = json.loads(data)
                    if change["type"] == "resize":
                        child.resize(change["cols"], change["rows"])
                elif data[:1] == b"\x00":
                    child.write(data[1:])
            except (OSError, ValueError):
                pass  # it reads no more


def status_of(child):
    return child.status if child.status >= 0 else -1


if __name__ == "__main__":
    fake.run(FakeOpenSandbox, [("sandbox-lifecycle.yml", r"/v1"), ("execd-api.yaml", EXECD)],
             newer=("/pty",))
