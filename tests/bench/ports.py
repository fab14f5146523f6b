"""A port of a sandbox through Sandgate against nginx proxying to the same server.

nginx and its wrk run in the sandbox's own network, so that both relays talk to one process."""
import glob
import os
import re
import statistics
import subprocess
import tempfile
import time

SERVER_PORT, NGINX_PORT = 8000, 8100
CONNECTIONS = 32
SECONDS = {True: 2, False: 5}


def pid_of(program):
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if program in open(path, "rb").read().split(b"\0")[0]:
                return int(path.split("/")[2])
        except OSError:
            continue
    raise RuntimeError("the server does not run")


def write_config(directory):
    path = directory + "/nginx.conf"
    with open(path, "w") as file:
        file.write(f"""daemon off; worker_processes 2; pid {directory}/pid; error_log /dev/null;
events {{ worker_connections 1024; }}
http {{ access_log off; keepalive_requests 100000000;
  client_body_temp_path {directory}; proxy_temp_path {directory}; fastcgi_temp_path {directory};
  uwsgi_temp_path {directory}; scgi_temp_path {directory};
  upstream app {{ server 127.0.0.1:{SERVER_PORT}; keepalive {2 * CONNECTIONS}; keepalive_requests 100000000; }}
  server {{ listen 127.0.0.1:{NGINX_PORT}; location / {{ proxy_pass http://app; proxy_http_version 1.1;
    proxy_set_header Connection ""; proxy_set_header Host $host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme; }} }} }}""")
    return path


def wrk(url, seconds, prefix=(), header="X-None: 1"):
    out = subprocess.run([*prefix, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-H", header, url],
                         capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        raise RuntimeError(out)
    milliseconds = {"us": 1e-3, "ms": 1.0, "s": 1e3}
    spread = {name: float(value) * milliseconds[unit]
              for name, value, unit in re.findall(r"(50|99)%\s+([\d.]+)(us|ms|s)", out)}
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1)), spread


def start_server(context, box):
    client = context.client()
    build = os.path.dirname(os.path.dirname(context.server.binary))
    client.ok("PUT", f"/v1/sandboxes/{box}/files?path=fixed_server&mode=0755",
              raw=open(build + "/tests/bench/fixed_server", "rb").read())
    client.ok("POST", f"/v1/sandboxes/{box}/exec",
              {"command": ["./fixed_server", str(SERVER_PORT)], "background": True})
    return client.ok("POST", f"/v1/sandboxes/{box}/ports", {"port": SERVER_PORT})


def measure(url, token, seconds, inside, rounds):
    rates = {"sandgate": [], "nginx": [], "direct": []}
    spreads = {name: [] for name in rates}
    actions = {"sandgate": lambda: wrk(url, seconds, header="X-Sandgate-Token: " + token),
               "nginx": lambda: wrk(f"http://127.0.0.1:{NGINX_PORT}/", seconds, inside),
               "direct": lambda: wrk(f"http://127.0.0.1:{SERVER_PORT}/", 1, inside)}
    for turn in range(rounds):
        for name in list(actions) if turn % 2 == 0 else reversed(actions):
            rate, spread = actions[name]()
            rates[name].append(rate)
            spreads[name].append(spread)
    return rates, spreads


def run(context, report):
    client = context.client()
    box = client.ok("POST", "/v1/sandboxes", {"profile": "bench"})["id"]
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        opened = start_server(context, box)
        deadline = time.monotonic() + 10
        while client.call("GET", f"/p/{box}/{SERVER_PORT}/", headers={"X-Sandgate-Token": opened["token"]}).status != 200:
            if time.monotonic() > deadline:
                raise RuntimeError("the port does not answer")
        inside = ["nsenter", "-t", str(pid_of(b"fixed_server")), "-n"]
        nginx = subprocess.Popen([*inside, "nginx", "-c", write_config(directory)], stderr=subprocess.DEVNULL)
        try:
            time.sleep(0.3)
            rates, spreads = measure(opened["url"], opened["token"], SECONDS[context.short], inside,
                                     context.count(2, 4))
        finally:
            nginx.terminate()
            nginx.wait()
            client.call("DELETE", "/v1/sandboxes/" + box)
    ours, theirs = statistics.median(rates["sandgate"]), statistics.median(rates["nginx"])
    report.add("port: requests per second", ours, "req/s", peer="nginx", peer_value=theirs,
               target="at least 0.50x nginx", ok=ours >= 0.5 * theirs)
    report.add("port: the server itself", statistics.median(rates["direct"]), "req/s")
    for percent in ("50", "99"):
        mine, other = (statistics.median(s[percent] for s in spreads[name]) for name in ("sandgate", "nginx"))
        report.add(f"port: latency p{percent}", mine, "ms", peer="nginx", peer_value=other)
