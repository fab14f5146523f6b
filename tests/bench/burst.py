"""Many creates at once, each with a first command."""
import statistics
import threading
import time

from measure import percentile


def burst(context, report, command, count, public=None):
    """None may fail. `public`: the best published median and p99 in milliseconds, to stand beside ours."""
    times, failures, boxes = [], [], []
    gate = threading.Barrier(count)

    def one():
        gate.wait()
        begin = time.perf_counter()
        try:
            client = context.lean_client()
            boxes.append(box := client.ok("POST", "/v1/sandboxes", {"profile": "bench"})["id"])
            result = client.ok("POST", f"/v1/sandboxes/{box}/exec", {"command": command})
            assert result["exit_code"] == 0, result
            times.append((time.perf_counter() - begin) * 1e3)
        except (AssertionError, OSError) as failure:
            failures.append(str(failure))

    threads = [threading.Thread(target=one) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    client = context.lean_client()
    for box in boxes:
        client.ok("DELETE", "/v1/sandboxes/" + box)
    for failure in failures[:3]:
        print("burst failure:", failure[:300])
    what = f"{count} creates at once + {' '.join(command)}"
    report.add(what + ": failures", len(failures), "", target="0", ok=not failures)
    if times:
        median, p99 = public or (None, None)
        report.add(what + ", median", statistics.median(times), "ms", "public" if public else "", median)
        report.add(what + ", p99", percentile(times, 0.99), "ms", "public" if public else "", p99)
