#!/usr/bin/env python3
"""The bridge worker of Cloudflare's Sandbox SDK as one server. Any question about an id starts a
container for it. A container's /workspace is its scratch folder."""
import base64
import codecs
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fake  # noqa: E402

KEY = "cf_0001"
BOX = r"/v1/sandbox/([^/]+)"
MAX_WRITE = 32 << 20
CODES = {401: "unauthorized", 404: "no_route", 503: "pool_error"}


class FakeCloudflare(fake.Fake):
    routes = (
        ("GET", r"/health", "health"),
        ("GET", r"/v1/pool/stats", "stats"),
        ("POST", r"/v1/sandbox", "create"),
        ("DELETE", BOX, "delete"),
        ("POST", BOX + r"/exec", "exec"),
        ("GET", BOX + r"/running", "running"),
        ("GET", BOX + r"/file/(.*)", "read"),
        ("PUT", BOX + r"/file/(.*)", "write"),
    )

    def failure(self, status, message, code=None):
        return {"error": message, "code": code or CODES.get(status, "invalid_request")}

    def refuse(self, status, code, message):
        return fake.Refusal(status, self.failure(status, message, code))

    def authorized(self, request):
        if request.path == "/health":
            return
        name = request.path.split("/")[3:4]
        if request.path.startswith("/v1/sandbox/") and not re.fullmatch(r"[a-z2-7]{1,128}", name[0]):
            raise self.refuse(400, "invalid_request", "Invalid sandbox ID format")
        if request.headers.get("Authorization") != "Bearer " + KEY:
            raise self.refuse(401, "unauthorized", "Unauthorized")

    def container(self, box_id):
        """What is started by a question alone is not counted as created."""
        with self.lock:
            if box_id not in self.boxes:
                self.new_box(box_id, written=False)
                self.created -= 1
            return self.boxes[box_id]

    def health(self, request):
        return 200, {"ok": True}

    def stats(self, request):
        return 200, {"warm": 0, "assigned": len(self.boxes), "total": len(self.boxes),
                     "config": {"warmTarget": 0, "refreshInterval": 10000, "maxInstances": 0,
                                "scaleBatchSize": 5}, "maxInstances": None}

    def create(self, request):
        return 200, {"id": "".join(fake.secrets.choice("abcdefghijklmnopqrstuvwxyz234567")
                                   for _ in range(26))}

    def delete(self, request, box_id):
        self.drop_box(box_id)
        return 204, b""

    def running(self, request, box_id):
        self.container(box_id)
        return 200, {"running": True}

    # ---- files

    def place(self, box, path, name="path"):
        path = os.path.normpath("/" + path.lstrip("/"))
        if path != "/workspace" and not path.startswith("/workspace/"):
            raise self.refuse(403, "invalid_request",
                              name + " must resolve to a location within /workspace")
        return box.home + path[len("/workspace"):]

    def read(self, request, box_id, path):
        full = self.place(self.container(box_id), path)
        if not os.path.isfile(full):
            raise self.refuse(404, "workspace_read_not_found",
                              "File not found: " + os.path.normpath("/" + path))
        with open(full, "rb") as file:
            return 200, file.read(), {"Content-Type": "application/octet-stream"}

    def write(self, request, box_id, path):
        box = self.container(box_id)
        full = self.place(box, path)
        if len(request.body) > MAX_WRITE:
            raise self.refuse(413, "payload_too_large", f"payload too large: {len(request.body)} "
                              f"bytes exceeds the {MAX_WRITE}-byte limit")
        with open(full, "wb") as file:
            file.write(request.body)
        if not box.written:
            box.written = True
            self.created += 1
        return 200, {"ok": True}

    # ---- commands

    def exec(self, request, box_id):
        box = self.container(box_id)
        try:
            body = request.json()
        except ValueError:
            raise self.refuse(400, "invalid_request", "Invalid JSON body") from None
        if not isinstance(body.get("argv"), list) or not body["argv"]:
            raise self.refuse(400, "invalid_request", "argv must be a non-empty array")
        cwd = body.get("cwd")
        if cwd is not None:
            cwd = self.place(box, cwd if cwd.startswith("/") else "workspace/" + cwd, "cwd")
        argv = [word.replace("/workspace", box.home) for word in body["argv"]]
        if request.fault == "lost_start":
            raise ConnectionError("its container is there, the answer is lost")
        write = request.stream({"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        try:
            # The vendor hands a shell the line; a missing program is the shell's to tell.
            child = box.run(["/bin/bash", "-c", 'exec "$@"', "bash", *argv], cwd=cwd or box.home,
                            stdin=False)
        except FileNotFoundError as error:
            write(event("error", json.dumps({"error": str(error), "code": "exec_error"})))
            write(b"")
            return
        decoders = {name: codecs.getincrementaldecoder("utf-8")("replace")
                    for name in ("stdout", "stderr")}
        for channel, data in child.follow():
            text = decoders[channel].decode(data)
            if text:
                write(event(channel, encoded(text)))
        for channel, decoder in decoders.items():
            text = decoder.decode(b"", final=True)
            if text:
                write(event(channel, encoded(text)))
        write(event("exit", json.dumps({"exit_code": child.exit_code()}, separators=(",", ":"))))
        write(b"")


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def event(name, data):
    return f"event: {name}\ndata: {data}\n\n".encode()


if __name__ == "__main__":
    fake.run(FakeCloudflare, [("bridge.openapi.json", "")])
