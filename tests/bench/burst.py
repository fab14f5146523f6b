"""Many creates at once, each with a first command, beside as many of bwrap."""
import statistics
import threading
import time

from measure import percentile
from peers import bwrap


def at_once(action, count):
    """Starts `count` actions together; returns the milliseconds of those that succeed, and the failures."""
    times, failures = [], []
    gate = threading.Barrier(count)

    def one():
        gate.wait()
        begin = time.perf_counter()
        try:
            action()
            times.append((time.perf_counter() - begin) * 1e3)
        except (AssertionError, OSError, RuntimeError) as failure:
            failures.append(str(failure))

    threads = [threading.Thread(target=one) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, failures


def burst(context, report, command, count, public=()):
    """None may fail. `public`: the best published median and p99 in milliseconds, for the report."""
    boxes = []

    def create_and_run():
        client = context.lean_client()
        boxes.append(box := client.ok("POST", "/v1/sandboxes", {"profile": "bench"})["id"])
        result = client.ok("POST", f"/v1/sandboxes/{box}/exec", {"command": command})
        assert result["exit_code"] == 0, result

    times, failures = at_once(create_and_run, count)
    client = context.lean_client()
    for box in boxes:
        client.ok("DELETE", "/v1/sandboxes/" + box)
    for failure in failures[:3]:
        print("burst failure:", failure[:300])
    what = f"{count} creates at once + {' '.join(command)}"
    report.add(what + ": failures", len(failures), "", target="0", ok=not failures)
    if not times:
        return
    peer, peer_failures = at_once(bwrap(context.rootfs, *command), count)
    if peer_failures:
        raise RuntimeError("bwrap: " + peer_failures[0])
    for name, value_of, published in zip(("median", "p99"), (statistics.median, lambda all: percentile(all, 0.99)),
                                         public or ("", "")):
        report.add(f"{what}, {name}", value_of(times), "ms", "bwrap", value_of(peer),
                   f"published {published} ms" if published else "")
