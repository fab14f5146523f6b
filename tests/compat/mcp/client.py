"""The protocol's own npm client as a child that takes steps, see driver.mjs, and the world it works in."""
import atexit
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/../../support", HERE + "/../../faults", HERE + "/../../vendors"]

from server import Client, Server, free_port  # noqa: E402
from twin import beside, npm_packages  # noqa: E402

PACKAGE = "@modelcontextprotocol/sdk@1.32.2"
PROFILE = {"limits": {"max_ttl_seconds": 3600}, "ttl_seconds": 600}


class Failed(Exception):
    """What the client threw: its class's name, its code, its words."""

    def __init__(self, told):
        super().__init__(str(told))
        self.name, self.code, self.message = told["name"], told.get("code"), told["message"]


class Driver:
    def __init__(self):
        copy = beside(npm_packages(PACKAGE), HERE + "/driver.mjs")
        self.process = subprocess.Popen(["node", copy], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self.close)

    def steps(self, *steps):
        """The answers to steps that are taken at once."""
        self.process.stdin.write(json.dumps(list(steps)) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def step(self, name, do, **more):
        answer = self.steps({"name": name, "do": do, **more})[0]
        if "error" in answer:
            raise Failed(answer["error"])
        return answer["ok"]

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(20)


class Session:
    """One session of the client."""
    count = 0

    def __init__(self, driver, url, key, **headers):
        Session.count += 1
        self.driver, self.name = driver, f"s{Session.count}"
        self.told = driver.step(self.name, "connect", url=url, headers={"Authorization": "Bearer " + key, **headers})
        self.id = self.told["session"]

    def result(self, tool, args, **more):
        return self.driver.step(self.name, "call", tool=tool, args=args, **more)

    def call(self, tool, more=None, **args):
        """The structured result of a tool that must not fail."""
        result = self.result(tool, args, **(more or {}))
        assert not result["isError"], result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def refused(self, tool, **args):
        """The problem of a tool that must fail."""
        result = self.result(tool, args)
        assert result["isError"], result
        return json.loads(result["content"][0]["text"])

    def do(self, what):
        return self.driver.step(self.name, what)


class World:
    """A server whose sessions have the profile `test`, a tenant of it, and the client; one for all tests."""
    server = driver = None

    def __init__(self):
        if not World.server:
            World.driver = Driver()
            # The same after its gateway was killed: the client goes on with the address it has.
            listen = f"127.0.0.1:{free_port()}"
            World.server = Server(settings={"mcp.profile": "test", "listen": listen})
            atexit.register(World.server.close)
            World.server.start()
            World.server.profile("test", **PROFILE)
        self.tenant, self.owner = self.server.tenant("mcp")
        self.url = f"http://127.0.0.1:{self.server.port}/mcp"
        self.developer = self.server.key(self.tenant, "developer")

    def session(self, client=None, **headers):
        return Session(self.driver, self.url, (client or self.developer).key, **headers)

    def living(self):
        """Ids of the tenant's sandboxes that run."""
        items = self.owner.ok("GET", "/v1/sandboxes?state=running&limit=100")["items"]
        return {item["id"] for item in items}


__all__ = ["Client", "Driver", "Failed", "Session", "World"]
