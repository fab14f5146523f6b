#!/usr/bin/env python3
"""The protocol's pip client on the real program. Run as root; skipped (77) where it cannot be installed."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/../../support", HERE + "/../../faults", HERE + "/../../vendors"]
sys.dont_write_bytecode = True

from cases import main  # noqa: E402
from server import Server  # noqa: E402
from twin import pip_package  # noqa: E402

PACKAGE, OLDER = "mcp==2.3.0", "mcp==1.30.0"


def visited(server, package, script):
    """What a client told of its visit, and the client of its tenant."""
    program = pip_package(package) + "/python"
    server.profile("test", ttl_seconds=600)
    _, client = server.tenant("pip", "developer")
    ended = subprocess.run([program, f"{HERE}/{script}", f"http://127.0.0.1:{server.port}/mcp", client.key],
                           capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(ended.stdout), client


def test_a_visit():
    with Server(settings={"mcp.profile": "test"}) as server:
        seen, client = visited(server, PACKAGE, "pip_client.py")
        assert seen["version"] == "2025-11-25" and seen["server"] == "sandgate", seen
        assert "run_command" in seen["tools"] and len(seen["tools"]) == 9, seen
        assert seen["ran"]["stdout"] == "42\n" and seen["ran"]["new_sandbox"] is True, seen
        assert seen["wrong"] == [True, "not_found"] and seen["unknown"] == -32602, seen
        assert seen["signs"] == [5] and seen["gave_up"], seen
        # It ends its session when it leaves.
        assert not client.ok("GET", "/v1/sandboxes?state=running")["items"]


def test_visits_of_the_older_client():
    """It fails when a call is answered that belongs to a session that it has ended."""
    with Server(settings={"mcp.profile": "test"}) as server:
        visits, client = visited(server, OLDER, "pip_client_1.py")
        for seen in visits:
            assert seen["version"] == "2025-11-25" and len(seen["tools"]) == 9, seen
            assert seen["ran"]["stdout"] == "42\n" and seen["gave_up"], seen
        assert not client.ok("GET", "/v1/sandboxes?state=running")["items"]


if __name__ == "__main__":
    main(globals())
