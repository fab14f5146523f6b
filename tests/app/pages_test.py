#!/usr/bin/env python3
"""The blocks with a name, such as `sh longer`, of the pages in docs/ do what the pages promise. Run as root."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/../faults", HERE + "/../support"]
sys.dont_write_bytecode = True

from cases import main  # noqa: E402
from server import SOURCE, Server  # noqa: E402

BINARY = os.environ.get("SANDGATE_BINARY", SOURCE + "/build/gateway/sandgate")


def block(page, label):
    text = open(f"{SOURCE}/docs/{page}", encoding="utf-8").read()
    return re.search(rf"^```{label}\n(.*?)^```$", text, re.M | re.S).group(1)


class World:
    """A server and a tenant for all tests."""
    server = None

    def __init__(self):
        if not World.server:
            World.server = Server().start()
            World.tenant, World.owner = World.server.tenant("reader", "developer")
        self.environment = {"PATH": os.path.dirname(BINARY) + ":" + os.environ["PATH"], "LANG": "C.UTF-8",
                            "HOME": self.server.home, "SANDGATE_URL": f"http://127.0.0.1:{self.server.port}",
                            "SANDGATE_API_KEY": self.owner.key}

    def shell(self, text, **more):
        """What the lines print, run as a reader would from the top of the checkout."""
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], env={**self.environment, **more}, cwd=SOURCE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        assert done.returncode == 0, done.stdout
        return done.stdout


def test_sandboxes_of_mcp_live_longer():
    world = World()
    world.shell(block("mcp.md", "sh longer"))
    assert world.owner.ok("GET", "/v1/profiles/mcp")["profile"]["ttl_seconds"] == 28800


def run():
    try:
        main(globals())
    finally:
        if World.server:
            World.server.close()


if __name__ == "__main__":
    run()
