#!/usr/bin/env python3
"""Modal's control plane and the command routers of its sandboxes as one server."""
import base64
import json
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fake  # noqa: E402
import grpc_server as grpc  # noqa: E402
from grpc_server import Failure  # noqa: E402
from proto_schema import Schema  # noqa: E402

TOKEN_ID, TOKEN_SECRET = "ak-0001", "as-0001"
IMAGES = ("debian:12-slim", "python:3.13")
PAGE = 3
SUCCESS, FAILURE, TERMINATED = 1, 2, 3
PROVIDERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../providers/modal")


def jwt(seconds=3600, **claims):
    part = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    return f"{part({})}.{part({'exp': int(time.time()) + seconds, **claims})}.{fake.new_id()}"


class FakeModal(grpc.GrpcFake):
    schema = Schema(os.path.join(PROVIDERS, "modal.proto"),
                    os.path.join(PROVIDERS, "modal_router.proto"))

    def __init__(self, specs=None):
        super().__init__(specs)
        self.tokens, self.apps, self.images, self.joined = set(), {}, {}, set()
        self.names, self.repeats, self.ended, self.routers = {}, {}, set(), {}

    def throttled(self, seconds):
        policy = self.schema.encode("RPCRetryPolicy", {"retry_after_secs": seconds})
        return self.schema.encode("RPCStatus", {"code": grpc.EXHAUSTED, "details": [
            {"type_url": "type.googleapis.com/modal.client.RPCRetryPolicy", "value": policy}]})

    def checked(self, call):
        if "task_command_router" in call.path:
            token = call.headers.get("authorization", "").removeprefix("Bearer ")
            if token not in self.routers:
                raise Failure(grpc.UNAUTHENTICATED, "no such token")
            return
        if (call.headers.get("x-modal-token-id"), call.headers.get("x-modal-token-secret")) != (
                TOKEN_ID, TOKEN_SECRET):
            raise Failure(grpc.UNAUTHENTICATED, "no such key")
        if not call.path.endswith("/AuthTokenGet"):
            if call.headers.get("x-modal-auth-token") not in self.tokens:
                raise Failure(grpc.UNAUTHENTICATED, "no such token")
        if not call.headers.get("x-modal-client-type") or not call.headers.get(
                "x-modal-client-version"):
            raise Failure(grpc.PRECONDITION, "the client does not say what it is")

    # ---- account, app, images

    def AuthTokenGet(self, asked, call):
        token = jwt()
        self.tokens.add(token)
        return {"token": token}

    def AppGetOrCreate(self, asked, call):
        if asked["app_name"] not in self.apps and asked.get("object_creation_type") != 1:
            raise Failure(grpc.NOT_FOUND, "no such app")
        return {"app_id": self.apps.setdefault(asked["app_name"], fake.new_id("ap-", 22))}

    def EnvironmentGetOrCreate(self, asked, call):
        return {"environment_id": "en-1", "metadata": {
            "name": "main", "settings": {"image_builder_version": "2025.06"}}}

    def ImageGetOrCreate(self, asked, call):
        commands = asked["image"]["dockerfile_commands"]
        if asked.get("builder_version") != "2025.06" or asked["app_id"] not in self.apps.values():
            raise Failure(grpc.INVALID, "no such app or builder")
        reference = commands[0].removeprefix("FROM ")
        for image_id, image in self.images.items():
            if image["reference"] == reference:
                return {"image_id": image_id, "result": {"status": image["status"]}}
        image_id = fake.new_id("im-", 22)
        self.images[image_id] = {"reference": reference, "home": None,
                                 "status": SUCCESS if reference in IMAGES else FAILURE}
        return {"image_id": image_id}

    def ImageJoinStreaming(self, asked, call):
        image = self.image(asked["image_id"])
        yield {"entry_id": "1-0"}
        # A stream may end before the build does.
        if asked["image_id"] in self.joined:
            yield {"entry_id": "1-1", "result": {"status": image["status"], "exception": "no image"}}
        self.joined.add(asked["image_id"])

    def image(self, image_id):
        if image_id not in self.images:
            raise Failure(grpc.PRECONDITION, "Could not find image with ID " + image_id)
        return self.images[image_id]

    def ImageFromId(self, asked, call):
        self.image(asked["image_id"])
        return {"image_id": asked["image_id"]}

    def ImageDelete(self, asked, call):
        self.image(asked["image_id"])
        del self.images[asked["image_id"]]
        return {}

    def ImagePublish(self, asked, call):
        self.image(asked["image_id"])
        self.names[asked["tag"]] = asked["image_id"]
        return {"image_id": asked["image_id"]}

    def ImageGetByTag(self, asked, call):
        if asked["tag"] not in self.names:
            raise Failure(grpc.NOT_FOUND, "no such image")
        return {"image_id": self.names[asked["tag"]]}

    # ---- sandboxes

    def box(self, box_id):
        if box_id not in self.boxes:
            raise Failure(grpc.NOT_FOUND, "no such sandbox")
        return self.boxes[box_id]

    def access(self, box):
        token = jwt(box=box.id)
        self.routers[token] = box.id
        # The vendor's client takes https alone, and speaks without TLS to a server of loopback.
        return {"jwt": token, "url": self.url.replace("http:", "https:")}

    def created_answer(self, box):
        return {"sandbox_id": box.id, "task_id": box.task,
                "command_router_access": self.access(box)}

    def SandboxCreateV2(self, asked, call):
        repeat = call.headers.get("x-idempotency-key")
        if repeat in self.repeats and self.repeats[repeat] in self.boxes:
            return self.created_answer(self.boxes[self.repeats[repeat]])
        wanted = asked["definition"]
        image, name = self.image(wanted["image_id"]), wanted.get("name", "")
        if asked["app_id"] not in self.apps.values() or not 0 < wanted["timeout_secs"] <= 86400:
            raise Failure(grpc.INVALID, "no such app or time")
        if name and any(box.name == name for box in self.boxes.values()):
            raise Failure(grpc.EXISTS, "the name is taken")
        env = {}
        for source in asked["secret_sources"]:
            env.update(source["env"]["contents"])
        box = self.new_box(fake.new_id("sb-", 26), env=env, name=name, app=asked["app_id"],
                           task=fake.new_id("ta-", 26), wanted=wanted, snapshots={},
                           tags={tag["tag_name"]: tag["tag_value"] for tag in asked["tags"]})
        self.repeats[repeat] = box.id
        if image["home"]:
            shutil.rmtree(box.home)
            shutil.copytree(image["home"], box.home, symlinks=True)
        return self.created_answer(box)

    def SandboxWaitV2(self, asked, call):
        end = time.time() + asked.get("timeout", 0)
        while True:
            if asked["sandbox_id"] in self.ended:
                return {"result": {"status": TERMINATED, "exitcode": 137}}
            self.box(asked["sandbox_id"])
            if time.time() >= end or call.gone.wait(0.02):
                return {}

    def SandboxTerminateV2(self, asked, call):
        if asked["sandbox_id"] not in self.ended:
            self.box(asked["sandbox_id"])
            self.ended.add(asked["sandbox_id"])
            self.drop_box(asked["sandbox_id"])
        return {}

    def SandboxGetTaskIdV2(self, asked, call):
        if asked["sandbox_id"] in self.ended:
            return {"task_result": {"status": TERMINATED}}
        return {"task_id": self.box(asked["sandbox_id"]).task}

    def SandboxGetCommandRouterAccess(self, asked, call):
        return self.access(self.box(asked["sandbox_id"]))

    def SandboxGetFromNameV2(self, asked, call):
        for box in self.boxes.values():
            if box.name == asked["sandbox_name"] and self.apps.get(asked["app_name"]) == box.app:
                return {"sandbox_id": box.id}
        raise Failure(grpc.NOT_FOUND, "no such name")

    def SandboxListV2(self, asked, call):
        before = asked.get("before_timestamp") or time.time() + 1
        tags = {(tag["tag_name"], tag["tag_value"]) for tag in asked["tags"]}
        found = [box for box in sorted(self.boxes.values(), key=lambda box: -box.created_at)
                 if box.created_at < before and asked.get("app_id") in (None, box.app)
                 and tags <= set(box.tags.items())]
        return {"sandboxes": [{
            "id": box.id, "created_at": box.created_at, "app_id": box.app, "name": box.name,
            "tags": self.tags(box)} for box in found[:PAGE]]}

    def tags(self, box):
        return [{"tag_name": name, "tag_value": value} for name, value in box.tags.items()]

    def SandboxTagsGetV2(self, asked, call):
        return {"tags": self.tags(self.box(asked["sandbox_id"]))}

    def SandboxTagsSetV2(self, asked, call):
        box = self.box(asked["sandbox_id"])
        box.tags = {tag["tag_name"]: tag["tag_value"] for tag in asked["tags"]}
        return {}

    # ---- the router of a sandbox

    def task(self, asked, call):
        box_id = self.routers[call.headers["authorization"].removeprefix("Bearer ")]
        box = self.boxes.get(box_id)
        if not box or box.task != asked["task_id"]:
            raise Failure(grpc.NOT_FOUND, "no such task")
        return box

    def child(self, asked, call):
        child = self.task(asked, call).children.get(asked["exec_id"])
        if not child:
            raise Failure(grpc.NOT_FOUND, "no such exec")
        return child

    def TaskExecStart(self, asked, call):
        box = self.task(asked, call)
        if asked["exec_id"] in box.children:
            return {}
        env, workdir = {}, asked.get("workdir")
        for source in asked["secret_sources"]:
            env.update(source["env"]["contents"])
        if sum(map(len, asked["command_args"])) > 131072 or not (workdir or "/").startswith("/"):
            raise Failure(grpc.INVALID, "too long, or no directory")
        pty = asked.get("pty_info")
        try:
            child = box.run(asked["command_args"], workdir, env,
                            pty=pty and (pty["winsz_cols"], pty["winsz_rows"]))
        except OSError as error:
            raise Failure(grpc.INVALID, str(error)) from None
        child.written = 0
        box.children[asked["exec_id"]] = box.children.pop(child.pid)
        return {}

    def TaskExecStdioRead(self, asked, call):
        child, at = self.child(asked, call), 0
        wanted = ("stderr",) if asked.get("file_descriptor") else ("stdout", "pty")
        skip = asked.get("offset", 0)
        for event in child.follow(patience=0.2):
            if event is None or event[0] not in wanted:
                yield None
                continue
            fresh = event[1][max(0, skip - at):]
            at += len(event[1])
            if fresh:
                yield {"data": fresh}

    def TaskExecWait(self, asked, call):
        child = self.child(asked, call)
        with child.changed:
            while child.status is None:
                child.changed.wait(0.1)
                if call.gone.is_set():
                    raise ConnectionError("nobody waits")
        return {"code": child.status} if child.status >= 0 else {"signal": -child.status}

    def put(self, child, offset, data, eof):
        if offset > child.written:
            raise Failure(grpc.OUT_OF_RANGE, "bytes are missing")
        fresh = data[child.written - offset:]
        try:
            if fresh:
                child.write(fresh)
            child.written += len(fresh)
            if eof:
                child.close_stdin()
        except (OSError, ValueError):
            raise Failure(grpc.PRECONDITION, "stdin is closed") from None

    def TaskExecStdinWrite(self, asked, call):
        self.put(self.child(asked, call), asked.get("offset", 0), asked.get("data", b""),
                 asked.get("eof", False))
        return {}

    def TaskExecStdinWriteStream(self, messages, call):
        start = messages[0]["start"]
        child, at = self.child(start, call), start.get("offset", 0)
        for message in messages[1:]:
            data = message.get("data", b"")
            self.put(child, at, data, "end" in message)
            at += len(data)
        return {}

    def TaskExecStdinStatus(self, asked, call):
        return {"num_bytes_written": self.child(asked, call).written}

    def TaskSnapshotFilesystem(self, asked, call):
        box = self.task(asked, call)
        if asked.get("ttl_seconds", 0) == 0:
            raise Failure(grpc.INVALID, "a snapshot needs a time to live")
        image_id = box.snapshots.get(asked["snapshot_id"])
        if image_id is None:
            image_id = fake.new_id("im-", 22)
            home = os.path.join(self.root, image_id)
            shutil.copytree(box.home, home, symlinks=True)
            self.images[image_id] = {"reference": None, "home": home, "status": SUCCESS}
            box.snapshots[asked["snapshot_id"]] = image_id
        return {"image_id": image_id}


if __name__ == "__main__":
    fake.run(FakeModal)
