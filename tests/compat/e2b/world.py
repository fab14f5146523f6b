"""What the tests of this surface share: a gateway with a listener for data planes, two tenants with
keys as the clients write them, and the raw calls that no client makes."""
import http.client
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(TESTS, "support"), os.path.join(TESTS, "vendors"), os.path.join(TESTS, "faults")]
sys.dont_write_bytecode = True

import server as servers  # noqa: E402
import twin  # noqa: E402

DOMAIN = "boxes.example.com"
PROFILES = os.path.join(os.path.dirname(TESTS), "docs", "profiles")


def need_root():
    if os.geteuid() != 0:
        twin.skip("needs root")
    servers.ensure_image()


class World:
    def __init__(self):
        self.server = servers.Server(settings={"e2b.listen": "127.0.0.1:0", "ports.domain": DOMAIN})
        try:
            self.server.start()
            self.data_port = int(open(self.server.home + "/gateway/listen_e2b").read().strip().rsplit(":", 1)[1])
            for name in ("base", "code-interpreter-v1"):
                with open(f"{PROFILES}/{name}.yaml", "rb") as file:
                    self.server.operator().ok("PUT", f"/v1/profiles/{name}", raw=file.read(),
                                              headers={"Content-Type": "application/yaml"})
            # Allows less than what clients mean by saying nothing.
            self.server.profile("brief", ttl_seconds=60, requires=["exec", "files", "background"])
            self.tenant, self.client = self.server.tenant("one", "developer")
            _, self.stranger = self.server.tenant("two", "developer")
        except BaseException:
            self.server.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.server.close()

    @staticmethod
    def spelled(client):
        return "e2b_" + client.key.removeprefix("sg_")

    def environment(self):
        base = f"http://{self.server.host}"
        return {"E2B_API_URL": f"{base}:{self.server.port}/e2b", "E2B_SANDBOX_URL": f"{base}:{self.data_port}",
                "E2B_API_KEY": self.spelled(self.client), "OTHER_KEY": self.spelled(self.stranger),
                "VIEWER_KEY": self.spelled(self.server.key(self.tenant, "viewer")), "BOX_DOMAIN": DOMAIN}

    def control(self, method, path, body=None, client=None, headers=None):
        caller = servers.Client(self.server.host, self.server.port)
        try:
            return caller.call(method, "/e2b" + path, body,
                               {"X-API-Key": self.spelled(client or self.client), **(headers or {})})
        finally:
            caller.close()

    def box(self, **more):
        made = self.control("POST", "/v2/sandboxes", {"templateID": "base", **more})
        assert made.status == 201, made.body
        return made.json()

    def data(self, method, path, box=None, token=None, body=None, headers=None, port=49983):
        """One call of a data plane; `box` and `token` as they are given."""
        sent = dict(headers or {})
        if box:
            sent |= {"E2b-Sandbox-Id": box, "E2b-Sandbox-Port": str(port)}
        if token:
            sent["X-Access-Token"] = token
        connection = http.client.HTTPConnection(self.server.host, self.data_port, timeout=60)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return servers.Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def rpc(self, method, message, box, token):
        return self.data("POST", "/" + method, box, token, json.dumps(message).encode(),
                         {"Content-Type": "application/json"})


def envelope(message, flags=0, length=None):
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    return bytes([flags]) + (len(text) if length is None else length).to_bytes(4, "big") + text


def messages(body):
    """The envelopes of a stream's answer as (flags, message)."""
    found = []
    while body:
        length = int.from_bytes(body[1:5], "big")
        found.append((body[0], json.loads(body[5:5 + length])))
        body = body[5 + length:]
    return found
