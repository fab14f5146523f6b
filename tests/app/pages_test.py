#!/usr/bin/env python3
"""The blocks with a name, such as `sh longer`, of the pages in docs/ do what the pages promise. Run as root."""
import atexit
import json
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


def page(name):
    with open(f"{SOURCE}/docs/{name}", encoding="utf-8") as file:
        return file.read()


def block(name, label):
    return re.search(rf"^```{label}\n(.*?)^```$", page(name), re.M | re.S).group(1)


class World:
    """A server and a tenant for all tests."""
    server = None

    def __init__(self):
        if not World.server:
            World.server = Server().start()
            atexit.register(World.server.close)
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


def test_the_profile_that_is_explained_can_be_published():
    world = World()
    world.shell("sandgate profiles apply -f - <<'END'\n" + block("profiles.md", "yaml") + "END")


def test_packages_can_be_installed():
    world = World()
    world.shell("sandgate profiles apply -f docs/profiles/packages.yaml")
    publish, create, install, *_ = block("packages.md", "sh apt").splitlines()
    world.shell(publish)
    # Without what needs the registries themselves.
    told = world.shell("\n".join([*block("packages.md", "sh pip").splitlines()[:2], "sandgate network show --json $id",
                                  "sandgate exec $id -- venv/bin/pip --version >&2"]))
    assert json.loads(told[told.index("{"):told.rindex("}") + 1])["default"] == "allow", told
    assert "venv/lib" in told, told
    assert "--user root" in install
    assert world.shell(f"{create}\nsandgate exec --user root $id -- id -u") == "0\n"


def test_what_installing_needs_is_told():
    told = World().shell(block("packages.md", "sh refused"))
    assert "no_rule" in told, told


def test_the_example_of_an_extension_runs():
    world = World()
    told = world.shell("trap 'kill $(jobs -p)' EXIT\n" + block("provider-protocol.md", "sh example"),
                       SANDGATE_ADMIN_KEY=world.server.admin_key)
    assert told.endswith("42\n"), told


if __name__ == "__main__":
    main(globals())
