"""Create, run `true`, delete: through the API, by bwrap and by runc on the same root file system."""
import json
import os
import statistics
import subprocess
import tempfile
import time

from burst import burst
from measure import interleaved, percentile


def spawn(argv):
    null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)]
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=null)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise RuntimeError(f"{argv[0]} failed with status {status}")


def bwrap(rootfs):
    return lambda: spawn(["bwrap", "--unshare-all", "--ro-bind", rootfs, "/", "--proc", "/proc", "--dev", "/dev",
                          "/bin/true"])


def runc(rootfs):
    bundle = tempfile.mkdtemp(prefix="bench-runc-")
    subprocess.run(["runc", "spec", "--bundle", bundle], check=True)
    spec = json.load(open(bundle + "/config.json"))
    spec["process"].update(terminal=False, args=["/bin/true"])
    spec["root"] = {"path": rootfs, "readonly": True}
    json.dump(spec, open(bundle + "/config.json", "w"))
    return lambda: spawn(["runc", "run", "--bundle", bundle, f"bench-{time.monotonic_ns()}"])


def ours(client, profile):
    def once():
        box = client.ok("POST", "/v1/sandboxes", {"profile": profile})["id"]
        result = client.ok("POST", f"/v1/sandboxes/{box}/exec", {"command": ["true"]})
        assert result["exit_code"] == 0, result
        client.ok("DELETE", f"/v1/sandboxes/{box}")
    return once


def run(context, report):
    client = context.lean_client()
    actions = {"sandgate": ours(client, "bench"), "bwrap": bwrap(context.rootfs)}
    try:
        actions["runc"] = runc(context.rootfs)
        actions["runc"]()
    except (OSError, RuntimeError, subprocess.CalledProcessError) as failure:
        print(f"runc cannot run here: {failure}")
        actions.pop("runc", None)
    for action in actions.values():
        action()
    times = interleaved(actions, rounds=6, each=context.count(10, 30))
    p50 = {name: statistics.median(values) for name, values in times.items()}
    report.add("create + exec true + delete p50", p50["sandgate"], "ms", "bwrap", p50["bwrap"], "at most 3x",
               p50["sandgate"] <= 3 * p50["bwrap"])
    report.add("create + exec true + delete p99", percentile(times["sandgate"], 0.99), "ms", "bwrap",
               percentile(times["bwrap"], 0.99))
    if "runc" in p50:
        report.add("create + exec true + delete p50", p50["sandgate"], "ms", "runc", p50["runc"], "below",
                   p50["sandgate"] < p50["runc"])
    burst(context, report, ["true"], 50)
