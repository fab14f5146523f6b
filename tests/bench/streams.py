"""1 GiB out of and into a sandbox file, and what that costs the gateway in memory."""
import os
import statistics
import subprocess
import tempfile
import time

from measure import peak_resident_mib

MIB = 1 << 20


def curl(*arguments):
    begin = time.perf_counter()
    subprocess.run(["curl", "-fsS", "-o", "/dev/null", *arguments], check=True)
    return time.perf_counter() - begin


def run(context, report):
    client = context.client()
    box = client.ok("POST", "/v1/sandboxes", {"profile": "bench"})["id"]
    url = f"http://127.0.0.1:{client.port}/v1/sandboxes/{box}/files?path=big"
    header = f"Authorization: Bearer {client.key}"
    worker = context.server.pids("worker")[0]
    size = context.count(256, 1024) * MIB
    before = peak_resident_mib(worker)
    with tempfile.NamedTemporaryFile() as source:
        source.truncate(size)
        into = [curl("-T", source.name, "-H", header, url) for _ in range(3)]
    out = [curl("-H", header, url) for _ in range(3)]
    growth = peak_resident_mib(worker) - before
    client.ok("DELETE", f"/v1/sandboxes/{box}")
    for name, times in (("into", into), ("out of", out)):
        rate = size / MIB / statistics.median(times)
        report.add(f"streaming {size // MIB} MiB {name} a file", rate, "MiB/s", target="at least 400", ok=rate >= 400)
    report.add("gateway peak memory growth while streaming", growth, "MiB", target="under 8", ok=growth < 8)
