#!/usr/bin/env python3
"""Requests per second of a tiny JSON answer, ours against nginx's fixed body, interleaved.

Usage: http_speed.py PATH_TO/http_server [ROUNDS]
Both serve with two threads (processes); wrk runs one thread with 32 connections in a process of
its own. Exits 1 when the median ratio is under one half or our memory grows or exceeds 64 MiB.
"""
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

BODY = '{"id":"sbaaaaaaaaaaaaaaaaaaaaaaaa","state":"running"}'
PATH = "/v1/sandboxes/sbaaaaaaaaaaaaaaaaaaaaaaaa"
SECONDS = 5


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start_nginx(directory, port):
    config = pathlib.Path(directory, "nginx.conf")
    config.write_text(f"""daemon off; worker_processes 2; pid {directory}/pid; error_log /dev/null;
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 100000000;
  client_body_temp_path {directory}; proxy_temp_path {directory}; fastcgi_temp_path {directory};
  uwsgi_temp_path {directory}; scgi_temp_path {directory};
  server {{ listen 127.0.0.1:{port}; location / {{ default_type application/json;
    return 200 '{BODY}'; }} }} }}""")
    return subprocess.Popen(["nginx", "-c", config], stderr=subprocess.DEVNULL)


def wait_for(port):
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    sys.exit(f"nothing listens on port {port}")


def requests_per_second(port):
    out = subprocess.run(
        ["wrk", "-t1", "-c32", f"-d{SECONDS}s", "--latency", "-H", "Authorization: Bearer sg_" + "a" * 40,
         f"http://127.0.0.1:{port}{PATH}"], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        sys.exit(out)
    p99 = re.search(r"99%\s+(\S+)", out).group(1)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1)), p99


def rss_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    ours = subprocess.Popen([sys.argv[1], "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port, nginx_port = int(ours.stdout.readline()), free_port()
    ratios, memory = [], []
    with tempfile.TemporaryDirectory() as directory:
        nginx = start_nginx(directory, nginx_port)
        try:
            wait_for(nginx_port)
            for turn in range(rounds):
                (their_rate, their_p99), (our_rate, our_p99) = (
                    requests_per_second(nginx_port), requests_per_second(port))
                ratios.append(our_rate / their_rate)
                memory.append(rss_mib(ours.pid))
                print(f"round {turn + 1}: nginx {their_rate:.0f}/s p99 {their_p99}, "
                      f"sandgate {our_rate:.0f}/s p99 {our_p99}, ratio {ratios[-1]:.2f}, "
                      f"rss {memory[-1]:.1f} MiB", flush=True)
        finally:
            nginx.send_signal(signal.SIGTERM)
            nginx.wait()
            ours.stdin.close()
            ours.wait()
    ratio = statistics.median(ratios)
    print(f"median ratio {ratio:.2f} (at least 0.50), rss {memory[-1]:.1f} MiB (at most 64)")
    sys.exit(ratio < 0.5 or memory[-1] > 64 or memory[-1] > memory[0] + 4)


if __name__ == "__main__":
    main()
