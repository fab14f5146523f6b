"""Create, run `true`, delete: through the API, by bwrap and by runc on the same root file system."""
import contextlib
import statistics
import subprocess
import tempfile

from burst import burst
from lean_client import LeanClient
from measure import interleaved, percentile
from peers import bwrap, runc
from server import Server


def ours(client, profile):
    def once():
        box = client.ok("POST", "/v1/sandboxes", {"profile": profile})["id"]
        result = client.ok("POST", f"/v1/sandboxes/{box}/exec", {"command": ["true"]})
        assert result["exit_code"] == 0, result
        client.ok("DELETE", f"/v1/sandboxes/{box}")
    return once


def bare(context, stack):
    """A client of a server that starts nothing in advance."""
    server = stack.enter_context(Server(context.server.binary, settings={"local.warm_sandboxes": "0"}))
    _, owner = server.tenant("bench-bare", "developer")
    server.profile("bench", resources={"vcpu": 1, "memory_mib": 512, "disk_gib": 2})
    return LeanClient(server.host, server.port, owner.key)


def contenders(context, stack):
    actions = {"sandgate": ours(context.lean_client(), "bench"), "bare": ours(bare(context, stack), "bench"),
               "bwrap": bwrap(context.rootfs, "/bin/true")}
    try:
        actions["runc"] = runc(context.rootfs, stack.enter_context(tempfile.TemporaryDirectory()), "/bin/true")
        actions["runc"]()
    except (OSError, RuntimeError, subprocess.CalledProcessError) as failure:
        print(f"runc cannot run here: {failure}")
        actions.pop("runc", None)
    return actions


def run(context, report):
    with contextlib.ExitStack() as stack:
        actions = contenders(context, stack)
        for action in actions.values():
            action()
        times = interleaved(actions, rounds=6, each=context.count(10, 30), settle=0.2)
    p50 = {name: statistics.median(values) for name, values in times.items()}
    what = "create + exec true + delete"
    report.add(what + " p50", p50["sandgate"], "ms", "bwrap", p50["bwrap"], "at most 1.5x",
               p50["sandgate"] <= 1.5 * p50["bwrap"])
    report.add(what + " p99", percentile(times["sandgate"], 0.99), "ms", "bwrap", percentile(times["bwrap"], 0.99))
    report.add(what + ", without the warm pool, p50", p50["bare"], "ms", "bwrap", p50["bwrap"], "at most 1.5x",
               p50["bare"] <= 1.5 * p50["bwrap"])
    if "runc" in p50:
        report.add(what + " p50", p50["sandgate"], "ms", "runc", p50["runc"], "below", p50["sandgate"] < p50["runc"])
        report.add(what + ", without the warm pool, p50", p50["bare"], "ms", "runc", p50["runc"], "below",
                   p50["bare"] < p50["runc"])
    burst(context, report, ["true"], 50)
