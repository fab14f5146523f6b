"""Many sandboxes created and deleted must leave nothing behind."""
import glob
import os
import time


def network_namespaces():
    found = set()
    for path in glob.glob("/proc/[0-9]*/ns/net"):
        try:
            found.add(os.readlink(path))
        except OSError:
            pass  # ended meanwhile, or guarded
    return found


def footprint(server):
    """What a sandbox could leave, as name -> count."""
    worker, node = server.pids("worker")[0], server.pids("node")[0]
    return {
        "processes": sum(entry.isdigit() for entry in os.listdir("/proc")),
        "mounts": len(open("/proc/self/mountinfo").readlines()),
        "cgroups": sum(len(dirs) for _, dirs, _ in os.walk("/sys/fs/cgroup")),
        "loop devices in use": len(glob.glob("/sys/block/loop*/loop/backing_file")),
        "gateway descriptors": len(os.listdir(f"/proc/{worker}/fd")),
        "node descriptors": len(os.listdir(f"/proc/{node}/fd")),
        "network namespaces": len(network_namespaces()),
        "files": sum(len(files) + len(dirs) for _, dirs, files in os.walk(server.home + "/run/sandboxes")),
    }


def settled(server, before, patience=15):
    """The footprint once it stopped shrinking; kernel and database threads need a moment."""
    limit = time.monotonic() + patience
    while True:
        after = footprint(server)
        left = {name: after[name] - count for name, count in before.items() if after[name] > count}
        if not left or time.monotonic() > limit:
            return left
        time.sleep(0.25)


def run(context, report):
    client = context.client()
    count = context.count(200, 1000)

    def cycle():
        box = client.ok("POST", "/v1/sandboxes", {"profile": "bench"})["id"]
        client.ok("DELETE", f"/v1/sandboxes/{box}")

    for _ in range(20):
        cycle()
    time.sleep(2)
    before = footprint(context.server)
    begin = time.perf_counter()
    for _ in range(count):
        cycle()
    seconds = time.perf_counter() - begin
    left = settled(context.server, before)
    # Idle database connections and kernel workers come and go by a few; a leak is one per sandbox.
    leaked = {name: extra for name, extra in left.items() if extra > (4 if name in ("processes",) else 0)}
    report.add(f"{count} sandboxes created and deleted, per second", count / seconds, "1/s")
    report.add("left behind (kinds of things)", len(leaked), "", target="0", ok=not leaked)
    if leaked:
        print("left behind:", leaked)
