"""Pause, resume and fork through the API; forks of a written disk with and without shared blocks."""
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from measure import milliseconds
from server import Server

GIB = 1 << 30


def pause_and_resume(context, report):
    client = context.lean_client()
    box = client.ok("POST", "/v1/sandboxes", {"profile": "bench"})["id"]
    client.ok("POST", f"/v1/sandboxes/{box}/exec", {"shell": "sleep 600", "background": True})
    # Extending asks the node once and commits once: what any change of a sandbox costs here now.
    bodies = {"pause": {}, "resume": {}, "extend": {"ttl_seconds": 600}}
    times = {verb: [] for verb in bodies}
    for _ in range(context.count(40, 200)):
        for verb, body in bodies.items():
            times[verb].append(milliseconds(lambda: client.ok("POST", f"/v1/sandboxes/{box}/{verb}", body)))
    p50 = {verb: statistics.median(values) for verb, values in times.items()}
    for verb in ("pause", "resume"):
        report.add(f"{verb} p50", p50[verb], "ms", "extend", p50["extend"], "under 5 ms", p50[verb] < 5)
    client.ok("DELETE", f"/v1/sandboxes/{box}")


class ReflinkDisk:
    """A loop-mounted XFS: a data directory whose files can share blocks."""

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="bench-xfs-")
        self.image, self.mount = self.directory + "/image", self.directory + "/mount"
        os.mkdir(self.mount)
        with open(self.image, "wb") as image:
            image.truncate(24 * GIB)
        subprocess.run(["mkfs.xfs", "-q", "-m", "reflink=1", self.image], check=True)
        subprocess.run(["mount", "-o", "loop", self.image, self.mount], check=True)
        os.chmod(self.directory, 0o711)
        os.chmod(self.mount, 0o711)
        os.mkdir(self.mount + "/home")
        return self.mount

    def __exit__(self, *unused):
        for _ in range(50):
            if subprocess.run(["umount", self.mount], stderr=subprocess.DEVNULL).returncode == 0:
                break
            time.sleep(0.1)
        else:
            subprocess.run(["umount", "-l", self.mount])
        shutil.rmtree(self.directory, ignore_errors=True)


def written_box(client, profile):
    box = client.ok("POST", "/v1/sandboxes", {"profile": profile})["id"]
    result = client.ok("POST", f"/v1/sandboxes/{box}/exec",
                       {"shell": "head -c 1G /dev/urandom > ~/big && sync && stat -c %s ~/big", "timeout_ms": 120000})
    assert result["stdout"] == f"{GIB}\n", result
    os.sync()  # What a fork waits for otherwise is the disk of this machine.
    return box


def fork_times(client, box, rounds):
    times = []
    for _ in range(rounds):
        copies = []
        times.append(milliseconds(lambda: copies.extend(
            client.ok("POST", f"/v1/sandboxes/{box}/fork", {"count": 1})["items"])))
        copy = copies[0]["sandbox"]["id"]
        size = client.ok("POST", f"/v1/sandboxes/{copy}/exec", {"shell": "stat -c %s ~/big"})["stdout"]
        assert size == f"{GIB}\n", size
        client.ok("DELETE", f"/v1/sandboxes/{copy}")
    return times


def create_times(client, profile, rounds):
    times = []
    for _ in range(rounds):
        made = []
        times.append(milliseconds(lambda: made.append(client.ok("POST", "/v1/sandboxes", {"profile": profile})["id"])))
        client.ok("DELETE", f"/v1/sandboxes/{made[0]}")
    return times


def fork_on(server, rounds):
    """The medians of forks of a written sandbox and of creates of empty ones, on one server."""
    client = server.tenant("bench-forks", "developer")[1]
    server.profile("forked", resources={"vcpu": 1, "memory_mib": 512, "disk_gib": 4}, ttl_seconds=1800,
                   idle_timeout_seconds=0)
    box = written_box(client, "forked")
    forks = fork_times(client, box, rounds)
    creates = create_times(client, "forked", rounds)
    client.ok("DELETE", f"/v1/sandboxes/{box}")
    return statistics.median(forks), statistics.median(creates)


def run(context, report):
    pause_and_resume(context, report)
    rounds = context.count(5, 20)
    if shutil.which("mkfs.xfs"):
        with ReflinkDisk() as mount, Server(context.server.binary, home=mount + "/home") as server:
            fork, create = fork_on(server, rounds)
        report.add("fork with 1 GiB written, shared blocks p50", fork, "ms", "create empty", create, "under 50 ms",
                   fork < 50)
    else:
        print("no mkfs.xfs: forks with shared blocks are not measured")
    fork, create = fork_on(context.server, max(3, rounds // 5))
    report.add("fork with 1 GiB written, copied p50", fork, "ms", "create empty", create)
