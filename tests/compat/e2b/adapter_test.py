#!/usr/bin/env python3
"""The adapter that uses this maker's service as a backend, against the surface that imitates it: both
were written from the same facts, and neither from the other."""
import json
import sys
import time

import world


def wait_for_deployment(here, name):
    limit = time.monotonic() + 30
    while True:
        told = here.client.ok("POST", f"/v1/profiles/{name}/explain", {"request": {}})
        if any(one["eligible"] for one in told["candidates"]):
            return
        assert time.monotonic() < limit, told
        time.sleep(0.1)


def use(client, box):
    def run(**body):
        return client.ok("POST", f"/v1/sandboxes/{box}/exec", body)

    done = run(shell="echo hi; echo err >&2; exit 3")
    assert (done["exit_code"], done["stdout"], done["stderr"]) == (3, "hi\n", "err\n"), done
    assert run(command=["cat"], stdin="abc")["stdout"] == "abc"
    assert run(shell="sleep 600", timeout_ms=500)["timed_out"]
    written = client.ok("PUT", f"/v1/sandboxes/{box}/files?path=x/y", raw=b"data")
    assert (written["path"], written["size"]) == ("/home/user/x/y", 4), written
    assert client.call("GET", f"/v1/sandboxes/{box}/files?path=x/y", headers={"Range": "bytes=1-2"}).body == b"at"
    listed = client.ok("GET", f"/v1/sandboxes/{box}/files/list?path=x")["items"]
    assert [one["name"] for one in listed] == ["y"], listed
    assert client.call("GET", f"/v1/sandboxes/{box}/files?path=none").status == 404
    assert client.ok("GET", f"/v1/sandboxes/{box}?refresh=true")["state"] == "running"
    assert client.ok("POST", f"/v1/sandboxes/{box}/pause", {})["state"] == "paused"
    assert client.ok("POST", f"/v1/sandboxes/{box}/resume", {})["state"] == "running"
    assert run(command=["cat", "x/y"])["stdout"] == "data"


def run_code(here):
    """Of the code interpreter's clients, in a sandbox of the other side."""
    box = here.box(templateID="looped")

    def told(text):
        answer = here.data("POST", "/execute", box["sandboxID"], box["envdAccessToken"], json.dumps({"code": text}).encode(),
                           {"Content-Type": "application/json"}, 49999)
        assert answer.status == 200, answer.body
        return [json.loads(line) for line in answer.body.splitlines()][-1]

    assert told("x = 6\nprint('out')")["text"] == "out\n"
    assert told("x * 7")["text"] == "42"
    assert here.control("DELETE", "/sandboxes/" + box["sandboxID"]).status == 204


def main():
    world.need_root()
    with world.World() as here:
        there = here.environment()
        here.server.operator().ok("PUT", "/v1/deployments/loop", {
            "provider": "e2b", "credentials": {"api_key": there["E2B_API_KEY"]},
            "settings": {"api_url": there["E2B_API_URL"], "sandbox_url": there["E2B_SANDBOX_URL"]}})
        here.server.profile("looped", images={"e2b": "base"}, placement={"only": ["loop"]}, ttl_seconds=120,
                            network={"default": "allow"}, resources={"vcpu": 2, "memory_mib": 512, "disk_gib": 4})
        wait_for_deployment(here, "looped")
        box = here.client.ok("POST", "/v1/sandboxes", {"profile": "looped"})["id"]
        use(here.client, box)
        assert here.client.call("DELETE", f"/v1/sandboxes/{box}").status == 204
        run_code(here)
        # Both the sandboxes and those that they were.
        assert {one["state"] for one in here.client.ok("GET", "/v1/sandboxes")["items"]} == {"stopped"}
    print("both sides agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
