#!/usr/bin/env python3
"""Northflank's deployment services, and commands in their containers over WebSockets."""
import base64
import json
import os
import re
import shlex
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fake  # noqa: E402
import web_socket  # noqa: E402

TOKEN = "nf_0001"
PROJECT = r"/v1/(?:teams/[^/]+/)?projects/[^/]+"
SERVICE = PROJECT + r"/services/([^/]+)"
NAME = re.compile(r"[a-zA-Z]((-|\s)?[a-zA-Z0-9]+((-|\s)[a-zA-Z0-9]+)*)?")
DESCRIPTION = re.compile(r"[a-zA-Z0-9 ]{0,200}")
IMAGES = ("debian:12", "python:3.12")
PLANS = ("nf-compute-20", "nf-compute-50", "nf-compute-100-1", "nf-compute-100-2", "nf-compute-200")


class FakeNorthflank(fake.Fake):
    routes = (
        ("POST", PROJECT + r"/services/deployment", "create"),
        ("GET", PROJECT + r"/services", "list"),
        ("GET", SERVICE, "get"),
        ("DELETE", SERVICE, "delete"),
        ("GET", SERVICE + r"/containers", "containers"),
        ("POST", SERVICE + r"/pause", "pause"),
        ("POST", SERVICE + r"/resume", "resume"),
        ("GET", r"/v1/command-exec/(?:teams/[^/]+/)?projects/[^/]+/services/([^/]+)", "execute"),
    )

    def failure(self, status, message):
        return {"error": {"status": status, "message": message, "id": "err-" + str(status)}}

    def authorized(self, request):
        # Commands carry the token in their first message.
        in_header = request.headers.get("Authorization") == "Bearer " + TOKEN
        if not in_header and not request.path.startswith("/v1/command-exec/"):
            raise self.refuse(401, "unauthorized")

    # ---- services

    def box(self, service):
        if service not in self.boxes:
            raise self.refuse(404, f"no service {service}")
        return self.boxes[service]

    def status(self, box):
        # Accepted first, there a moment later.
        return "IN_PROGRESS" if time.time() < box.created_at + 0.25 else "COMPLETED"

    def view(self, box):
        return {"id": box.id, "appId": f"/us/sandboxes/{box.id}", "name": box.name, "tags": [],
                "description": box.asked.get("description", ""),
                "projectId": "sandboxes", "serviceType": "deployment", "disabledCI": False,
                "disabledCD": False,
                "status": {"deployment": {"status": self.status(box), "reason": "DEPLOYING"}}}

    def create(self, request):
        body = request.json()
        name, deployment = body.get("name", ""), body.get("deployment", {})
        if not 3 <= len(name) <= 54 or not NAME.fullmatch(name):
            raise self.refuse(400, "name is not valid")
        if deployment.get("external", {}).get("imagePath") not in IMAGES:
            raise self.refuse(400, "no such image")
        if body["billing"]["deploymentPlan"] not in PLANS:
            raise self.refuse(400, "no such plan")
        if not DESCRIPTION.fullmatch(body.get("description", "")):
            raise self.refuse(400, "description is not valid")
        if not 300 <= body.get("createOptions", {}).get("expiryTime", 300) <= 604800:
            raise self.refuse(400, "expiryTime is out of range")
        service = re.sub(r"\s", "-", name).lower()
        if service in self.boxes:
            raise self.refuse(409, "the name is taken")
        box = self.new_box(service, env=body.get("runtimeEnvironment"), name=name, asked=body)
        return 200, {"data": {"id": box.id, "name": box.name, "billing": body["billing"],
                              "deployment": deployment}}

    def list(self, request):
        boxes = sorted(self.boxes.values(), key=lambda box: box.created_at)
        limit, start = int(request.one("per_page", "50")), int(request.one("cursor", "0"))
        page = boxes[start:start + limit]
        more = start + limit < len(boxes)
        pagination = {"hasNextPage": more, "count": len(page)}
        if more:
            pagination["cursor"] = str(start + limit)
        return 200, {"data": {"services": [self.view(box) for box in page]},
                     "pagination": pagination}

    def get(self, request, service):
        box = self.box(service)
        return 200, {"data": {**self.view(box), "createdAt": "2026-01-20T11:19:53.175Z",
                              "billing": box.asked["billing"],
                              "servicePaused": box.state == "paused",
                              "deployment": {"region": "us-central", "instances": 1}}}

    def delete(self, request, service):
        self.box(service)
        self.drop_box(service)
        return 200, {"data": {}}

    def containers(self, request, service):
        box = self.box(service)
        state = "TASK_RUNNING" if self.status(box) == "COMPLETED" else "TASK_STARTING"
        found = [] if box.state == "paused" else [{
            "name": f"{service}-78b4d4459d-sbtn8", "createdAt": int(box.created_at),
            "updatedAt": int(box.created_at), "status": state}]
        return 200, {"data": {"containers": found},
                     "pagination": {"hasNextPage": False, "count": len(found)}}

    def pause(self, request, service):
        box = self.box(service)
        box.signal_all(9)
        box.state = "paused"
        return 200, {"data": {}}

    def resume(self, request, service):
        self.box(service).state = "running"
        return 200, {"data": {}}

    # ---- commands

    def execute(self, request, service):
        box = self.box(service)
        socket = web_socket.WebSocket(request)
        message = socket.receive()
        first = json.loads(message[1]) if message else {}
        data = first.get("data", {})
        if first.get("type") != "init" or data.get("auth") != {"type": "apiToken",
                                                              "apiToken": TOKEN}:
            self.tell(socket, "init", {"auth": "failed", "message": "not authorized"})
            return socket.close()
        context = data["context"]
        if box.state == "paused" or self.status(box) != "COMPLETED":
            self.tell(socket, "error", {"message": "no running container"})
            return socket.close()
        self.tell(socket, "init", {"auth": "successful", "context": {
            "instanceName": service + "-78b4d4459d-sbtn8", "containerName": service}})
        command = context["command"]
        if context.get("shell") not in (None, "none"):
            command = [*shlex.split(context["shell"]), command]
        elif isinstance(command, str):
            command = shlex.split(command)
        size = (context.get("ttyColumns") or 80, context.get("ttyRows") or 24)
        child = box.run(command, pty=size if context.get("tty") else None)
        in_base64 = context.get("encoding") == "base64"
        threading.Thread(target=self.follow_input, args=(socket, child, in_base64),
                         daemon=True).start()
        for channel, piece in child.follow():
            text = base64.b64encode(piece).decode() if in_base64 else piece.decode(errors="replace")
            self.tell(socket, "stdErr" if channel == "stderr" else "stdOut", text)
        code = child.exit_code()
        self.tell(socket, "completion", {"exitCode": code,
                                         "status": "Failure" if code else "Success"})
        return socket.close()

    def tell(self, socket, kind, data):
        socket.send(json.dumps({"type": kind, "data": data}).encode(), web_socket.TEXT)

    def follow_input(self, socket, child, in_base64):
        """The command lives on when the connection goes."""
        try:
            while (message := socket.receive()) is not None:
                frame = json.loads(message[1])
                if frame["type"] == "payload":
                    data = frame["data"].encode()
                    child.write(base64.b64decode(data) if in_base64 else data)
                elif frame["type"] == "stdInEnd":
                    child.close_stdin()
                elif frame["type"] == "resize":
                    child.resize(frame["data"]["ttyColumns"], frame["data"]["ttyRows"])
        except (OSError, ValueError):
            pass


if __name__ == "__main__":
    fake.run(FakeNorthflank)
