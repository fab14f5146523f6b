"""Requests per second of small answers beside nginx returning a fixed body; wrk loads both."""
import os
import re
import signal
import socket
import statistics
import subprocess
import tempfile
import time

from measure import peak_resident_mib, resident_mib


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    """nginx with one worker per core, answering `body` from memory."""

    def __init__(self, body):
        self.port = free_port()
        self.directory = tempfile.mkdtemp(prefix="bench-nginx-")
        os.chmod(self.directory, 0o755)
        config = f"""
worker_processes {os.cpu_count()}; daemon off; pid {self.directory}/pid; error_log {self.directory}/error.log;
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 1000000000; default_type application/json;
  server {{ listen 127.0.0.1:{self.port}; location / {{ return 200 '{body}'; }} }} }}
"""
        path = self.directory + "/nginx.conf"
        open(path, "w").write(config)
        self.process = subprocess.Popen(["nginx", "-p", self.directory, "-c", path], stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("nginx did not start")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def wrk(url, key, seconds):
    printed = subprocess.run(["wrk", "-t1", "-c32", f"-d{seconds}s", "-H", f"Authorization: Bearer {key}", url],
                             capture_output=True, text=True, check=True).stdout
    return float(re.search(r"Requests/sec:\s+([\d.]+)", printed).group(1))


def run(context, report):
    client = context.client()
    box = client.ok("POST", "/v1/sandboxes", {"profile": "bench"})
    body = client.call("GET", f"/v1/sandboxes/{box['id']}").body.decode().replace("'", "")
    nginx = Nginx(body)
    base = f"http://127.0.0.1:{client.port}"
    urls = {"nginx": f"http://127.0.0.1:{nginx.port}/", "GET sandbox": f"{base}/v1/sandboxes/{box['id']}",
            "404 sandbox": f"{base}/v1/sandboxes/sb{'0' * 24}", "404 path": f"{base}/v1/nothing"}
    worker = context.server.pids("worker")[0]
    seconds = context.count(2, 5)
    try:
        for url in urls.values():
            wrk(url, client.key, 1)
        before = resident_mib(worker)
        rates = {name: [] for name in urls}
        for turn in range(context.count(2, 4)):
            for name in urls if turn % 2 == 0 else reversed(list(urls)):
                rates[name].append(wrk(urls[name], client.key, seconds))
        after = resident_mib(worker)
    finally:
        nginx.stop()
        client.ok("DELETE", f"/v1/sandboxes/{box['id']}")
    peer = statistics.median(rates["nginx"])
    for name in ("GET sandbox", "404 sandbox", "404 path"):
        rate = statistics.median(rates[name])
        report.add(f"{name}, requests per second", rate, "1/s", "nginx", peer, "at least 0.5x", rate >= peer / 2)
    report.add("gateway resident after the run", after, "MiB", target="under 64", ok=after < 64)
    report.add("gateway resident growth over the run", after - before, "MiB", target="flat (2)", ok=after - before < 2)
    report.add("gateway resident peak", peak_resident_mib(worker), "MiB")
