#!/usr/bin/env python3
"""A Kubernetes API server with the agent-sandbox controller, of which sandboxes need: pods and exec,
network policies, the Sandbox resource. What names decide here: namespace "old" speaks exec version 4
only; image "tools" is there, others cannot be pulled; a runtime class "lost" does not reach its pod;
no node has 64 processors. A second listener asks for a client's certificate: GET /_fake/state has
its address and what it takes as `tls`, and the commands in requests as `words`."""
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fake  # noqa: E402
import web_socket  # noqa: E402

TOKEN = "kube_0001"
PODS = r"/api/v1/namespaces/([^/]+)/pods"
GROUP = "agents.x-k8s.io/v1beta1"
SANDBOXES = rf"/apis/{GROUP}/namespaces/([^/]+)/sandboxes"
POLICIES = r"/apis/networking.k8s.io/v1/namespaces/([^/]+)/networkpolicies"
REASONS = {400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound",
           409: "AlreadyExists", 422: "Invalid", 429: "TooManyRequests"}
PAGE = 2  # a server may give less than was asked for
ENDING = 0.2


def rfc3339(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def status_document(message, **more):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, **more}


class FakeKubernetes(fake.Fake):
    routes = (
        ("GET", rf"/apis/{GROUP}", "resources"),
        ("POST", PODS, "create_pod"),
        ("GET", PODS, "list_pods"),
        ("GET", PODS + r"/([^/]+)", "get_pod"),
        ("DELETE", PODS + r"/([^/]+)", "kill_pod"),
        ("GET", PODS + r"/([^/]+)/exec", "exec"),
        ("POST", SANDBOXES, "create_sandbox"),
        ("GET", SANDBOXES, "list_sandboxes"),
        ("GET", SANDBOXES + r"/([^/]+)", "get_sandbox"),
        ("PATCH", SANDBOXES + r"/([^/]+)", "patch_sandbox"),
        ("DELETE", SANDBOXES + r"/([^/]+)", "kill_sandbox"),
        ("POST", POLICIES, "create_policy"),
        ("GET", POLICIES + r"/([^/]+)", "get_policy"),
    )

    def __init__(self, specs=None):
        super().__init__(specs)
        self.ending, self.policies, self.tls, self.words = {}, {}, None, []

    def failure(self, status, message):
        if status == 403 and "webhook" not in message:  # a lack of permission
            message = f'pods is forbidden: User "tests" cannot create resource "pods": {message}'
        return status_document(message, reason=REASONS.get(status, "InternalError"), code=status)

    def authorized(self, request):
        shown = getattr(request.handler.connection, "getpeercert", dict)()
        if not shown and request.headers.get("Authorization") != "Bearer " + TOKEN:
            raise self.refuse(401, "Unauthorized")

    def control(self, request):
        status, answer = super().control(request)
        if request.path == "/_fake/state":
            with self.lock:
                self.tls = self.tls or start_tls(self)
            answer.update(tls=self.tls, words=self.words)
        return status, answer

    # ---- objects

    def resources(self, request):
        return 200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": GROUP,
                     "resources": [{"name": "sandboxes", "namespaced": True, "kind": "Sandbox"}]}

    def box(self, kind, name):
        box = self.boxes.get(name) or self.ending.get(name)
        if box and box.id in self.ending and time.time() > box.ends_at:
            box = None
        if not box or (kind == "Sandbox" and box.kind != kind):
            raise self.refuse(404, f"{kind} {name!r} not found")
        return box

    def new_object(self, request, kind, pod_of):
        body = request.json()
        name = body["metadata"]["name"]
        if name in self.boxes:
            raise self.refuse(409, f"{kind} {name!r} already exists")
        pod = pod_of(body)
        container = pod["containers"][0]
        homes = {mount["mountPath"] for mount in container.get("volumeMounts", [])}
        # The home is elsewhere here.
        env = {one["name"]: one["value"].replace("$$", "$") for one in container.get("env", [])
               if one["name"] != "HOME" or one["value"] not in homes}
        box = self.new_box(name, env=env, kind=kind, body=body, pod=pod, ends_at=0)
        box.namespace = body["metadata"].get("namespace")
        if pod.get("runtimeClassName") == "lost":
            del pod["runtimeClassName"]
        return box

    def meta(self, box, given, owned=False):
        meta = {**given, "name": box.id, "namespace": box.namespace, "uid": "uid-" + box.id,
                "resourceVersion": "1", "creationTimestamp": rfc3339(box.created_at)}
        if owned:
            meta["ownerReferences"] = [{"apiVersion": GROUP, "kind": "Sandbox", "name": box.id,
                                        "uid": "uid-" + box.id, "controller": True}]
        if box.id in self.ending:
            meta["deletionTimestamp"] = rfc3339(box.ends_at)
        return meta

    def pod_status(self, box):
        container = box.pod["containers"][0]
        waiting = "ContainerCreating" if time.time() < box.created_at + fake.STARTS_IN else ""
        if int(container.get("resources", {}).get("limits", {}).get("cpu", "1").rstrip("m")) >= 64000:
            return {"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                 "message": "0/3 nodes are available"}]}
        if container["image"] != "tools" and not waiting:
            waiting = "ImagePullBackOff"
        state = {"waiting": {"reason": waiting}} if waiting else {
            "running": {"startedAt": rfc3339(box.created_at)}}
        return {"phase": "Pending" if waiting else "Running",
                "conditions": [{"type": "PodScheduled", "status": "True"},
                               {"type": "Ready", "status": "False" if waiting else "True"}],
                "containerStatuses": [{"name": container["name"], "image": container["image"],
                                       "imageID": "", "restartCount": 0, "ready": not waiting,
                                       "state": state}]}

    def pod_view(self, box):
        owned = box.kind == "Sandbox"
        source = box.body["spec"]["podTemplate"] if owned else box.body
        return {"apiVersion": "v1", "kind": "Pod", "spec": box.pod, "status": self.pod_status(box),
                "metadata": self.meta(box, source.get("metadata", {}), owned)}

    def sandbox_view(self, box):
        ready = self.pod_status(box)["phase"] == "Running" and box.state == "running"
        reason = ("SandboxSuspended" if box.state == "paused" else
                  "DependenciesReady" if ready else "DependenciesNotReady")
        return {**box.body, "metadata": self.meta(box, box.body["metadata"]),
                "status": {"conditions": [{"type": "Ready", "status": str(ready), "reason": reason,
                                           "message": "", "lastTransitionTime": rfc3339(time.time())}]}}

    def listed(self, request, kind, views):
        name, _, value = request.one("labelSelector", "").partition("=")
        found = [view for view in views if not name or (
            name in view["metadata"].get("labels", {}) and
            value in ("", view["metadata"]["labels"][name]))]
        first = int(request.one("continue", "0"))
        last = first + min(PAGE, int(request.one("limit", "500")))
        meta = {"resourceVersion": "1", **({"continue": str(last)} if last < len(found) else {})}
        return 200, {"kind": kind + "List", "apiVersion": "v1", "metadata": meta,
                     "items": found[first:last]}

    def here(self, namespace):
        known = [*self.boxes.values(),
                 *(box for box in self.ending.values() if time.time() < box.ends_at)]
        return sorted((box for box in known if box.namespace == namespace),
                      key=lambda box: box.created_at)

    def end(self, box):
        box.ends_at = time.time() + ENDING
        self.ending[box.id] = box
        self.drop_box(box.id)

    # ---- pods

    def create_pod(self, request, namespace):
        box = self.new_object(request, "Pod", lambda body: body["spec"])
        box.namespace = namespace
        return 201, self.pod_view(box)

    def list_pods(self, request, namespace):
        return self.listed(request, "Pod", [self.pod_view(box) for box in self.here(namespace)
                                            if box.state == "running"])

    def get_pod(self, request, namespace, name):
        box = self.box("Pod", name)
        if box.state != "running":
            raise self.refuse(404, f"Pod {name!r} not found")
        return 200, self.pod_view(box)

    def kill_pod(self, request, namespace, name):
        box = self.box("Pod", name)
        self.end(box)
        return 200, self.pod_view(box)

    # ---- the Sandbox resource

    def create_sandbox(self, request, namespace):
        box = self.new_object(request, "Sandbox", lambda body: body["spec"]["podTemplate"]["spec"])
        box.namespace = namespace
        return 201, self.sandbox_view(box)

    def list_sandboxes(self, request, namespace):
        return self.listed(request, "Sandbox", [self.sandbox_view(box) for box in self.here(namespace)
                                                if box.kind == "Sandbox"])

    def get_sandbox(self, request, namespace, name):
        return 200, self.sandbox_view(self.box("Sandbox", name))

    def patch_sandbox(self, request, namespace, name):
        if request.headers["Content-Type"] != "application/merge-patch+json":
            raise self.refuse(415, "a merge patch is expected")
        box, change = self.box("Sandbox", name), request.json()["spec"]
        box.body["spec"].update(change)
        suspended = box.body["spec"].get("operatingMode") == "Suspended"
        if suspended and box.state == "running":
            box.signal_all(9)
            if not box.body["spec"].get("volumeClaimTemplates"):
                shutil.rmtree(box.home)
                os.makedirs(box.home)
        if not suspended and box.state == "paused":
            box.created_at = time.time()
        box.state = "paused" if suspended else "running"
        return 200, self.sandbox_view(box)

    def kill_sandbox(self, request, namespace, name):
        self.end(self.box("Sandbox", name))
        return 200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}

    # ---- network policies

    def create_policy(self, request, namespace):
        body = request.json()
        if body["metadata"]["name"] in self.policies:
            raise self.refuse(409, "the network policy already exists")
        self.policies[body["metadata"]["name"]] = body
        return 201, body

    def get_policy(self, request, namespace, name):
        if name not in self.policies:
            raise self.refuse(404, "no such network policy")
        return 200, self.policies[name]

    # ---- exec

    def exec(self, request, namespace, name):
        box = self.box("Pod", name)
        if box.state != "running" or self.pod_status(box)["phase"] != "Running":
            raise self.refuse(400, "the container is not running")
        offered = [one.strip() for one in request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
        spoken = ["v4.channel.k8s.io"] if namespace == "old" else ["v5.channel.k8s.io",
                                                                  "v4.channel.k8s.io"]
        chosen = [one for one in spoken if one in offered]
        if not chosen:
            raise self.refuse(403, "no protocol in common")
        wants = {key: request.one(key) == "true" for key in ("stdin", "stdout", "stderr", "tty")}
        with self.lock:
            self.words.append(" ".join(request.query["command"]))
        socket = web_socket.WebSocket(request, chosen[0])
        for channel in range(4):
            socket.send(bytes([channel]))  # as the real one begins
        try:
            child = box.run(request.query["command"], stdin=wants["stdin"],
                            pty=(80, 24) if wants["tty"] else None)
        except FileNotFoundError:
            self.finish(socket, status_document("no such program", reason="InternalError", code=500))
            return
        threading.Thread(target=self.take_input, args=(socket, child, chosen[0]), daemon=True).start()
        numbers = {"stdout": b"\x01", "stderr": b"\x02", "pty": b"\x01"}
        for channel, data in child.follow():
            if channel == "pty" or wants[channel]:
                socket.send(numbers[channel] + data)
        code = child.exit_code()
        if code == 0:
            return self.finish(socket, {"metadata": {}, "status": "Success"})
        self.finish(socket, status_document(
            f"command terminated with non-zero exit code {code}", reason="NonZeroExitCode",
            details={"causes": [{"reason": "ExitCode", "message": str(code)}]}))

    def finish(self, socket, status):
        socket.send(b"\x03" + json.dumps(status).encode())
        socket.close()

    # Whoever closes the connection leaves the process running.
    def take_input(self, socket, child, protocol):
        while (message := socket.receive()) is not None:
            data = message[1]
            try:
                if data[:1] == b"\x00":
                    child.write(data[1:])
                elif data[:1] == b"\x04":
                    size = {key.lower(): value for key, value in json.loads(data[1:]).items()}
                    child.resize(size["width"], size["height"])
                elif data == b"\xff\x00" and protocol.startswith("v5"):
                    child.close_stdin()
            except (OSError, ValueError):
                pass  # it reads no more


def start_tls(served):
    """Serves the same over TLS to who shows a certificate of the authority that it makes."""
    folder = os.path.join(served.root, "tls")
    os.makedirs(folder)
    subject = ["-subj", "/CN=sandgate-fake", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", *subject,
                    "-keyout", "key", "-out", "certificate"],
                   cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(folder, "certificate"), os.path.join(folder, "key"))
    context.load_verify_locations(os.path.join(folder, "certificate"))
    context.verify_mode = ssl.CERT_REQUIRED
    handler = type("TlsHandler", (fake.Handler,), {"fake": served})
    server = fake.Server(("127.0.0.1", 0), handler)
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    texts = {}
    for name in ("certificate", "key"):
        with open(os.path.join(folder, name), encoding="ascii") as file:
            texts[name] = file.read()
    return {"url": f"https://127.0.0.1:{server.server_address[1]}", **texts}


def crd_check(*arguments):
    from crd_check import CrdCheck
    return CrdCheck(*arguments)


if __name__ == "__main__":
    fake.run(FakeKubernetes, [("agents.x-k8s.io_sandboxes.yaml", r"", crd_check)])
