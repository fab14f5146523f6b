#!/usr/bin/env python3
"""An ordinary account serves from a systemd unit with a delegated control group: its sandboxes have their limits."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../support"))
from oci_layout import Layout
from server import Client

SANDGATE = os.path.abspath(sys.argv[1])
ACCOUNT = "nobody"
UNIT = "sandgate-of-account"
KEY = "0123456789" * 4
PORT = 18080
PROFILE = {"name": "small", "isolation": "container", "image": "busybox",
           "resources": {"vcpu": 1, "memory_mib": 128, "disk_gib": 1, "processes": 32}}


def make_image(home, environment):
    with open("/bin/busybox", "rb") as file:
        busybox = file.read()
    layout = tempfile.mkdtemp()
    Layout({"bin/sh": busybox, "bin/dd": busybox}, mode=0o755).write(layout)
    subprocess.run(["chmod", "-R", "a+rX", layout], check=True)
    subprocess.run(["setpriv", "--reuid", ACCOUNT, "--clear-groups", SANDGATE, "image", "import", layout, "busybox"],
                   check=True, env=environment)
    shutil.rmtree(layout)


def start(environment):
    settings = [word for name, value in environment.items() for word in ("-E", f"{name}={value}")]
    subprocess.run(["systemd-run", "--quiet", f"--unit={UNIT}", "-p", f"User={ACCOUNT}", "-p", "Delegate=yes", "-p",
                    "KillMode=mixed", *settings, SANDGATE, "serve"], check=True)


def await_ready(client, patience=300):
    limit = time.monotonic() + patience
    while time.monotonic() < limit:
        try:
            if client.call("GET", "/readyz").status == 200:
                return
        except OSError:
            pass
        time.sleep(1)
    print(subprocess.run(["journalctl", "-u", UNIT, "--no-pager", "-n", "40"], capture_output=True, text=True).stdout)
    raise RuntimeError("serve is not ready")


def patient(call):
    """A server that is emulated and just starting may say that its database does not answer."""
    for _ in range(60):
        answer = call()
        if answer.status != 503:
            break
        time.sleep(1)
    assert answer.status < 300, (answer.status, answer.body)
    return answer.json() if answer.body else None


def limits_hold(operator):
    tenant = patient(lambda: operator.call("POST", "/v1/tenants", {"name": "account"}))["id"]
    owner = Client("127.0.0.1", PORT, KEY, tenant=tenant)
    controls = patient(lambda: operator.call("GET", "/v1/providers"))["items"][0]["descriptor"]["controls"]
    assert {"cpu_limit", "memory_limit", "process_limit"} <= set(controls), controls
    patient(lambda: owner.call("PUT", "/v1/profiles/small", PROFILE))
    box = patient(lambda: owner.call("POST", "/v1/sandboxes", {"profile": "small"}))["id"]

    def exit_code(line):
        command = {"command": ["/bin/sh", "-c", line]}
        return patient(lambda: owner.call("POST", f"/v1/sandboxes/{box}/exec", command))["exit_code"]

    assert exit_code("true") == 0
    assert exit_code("dd if=/dev/zero of=/dev/null bs=16M count=1") == 0
    assert exit_code("dd if=/dev/zero of=/dev/null bs=300M count=1") == 137, "memory is not limited"
    patient(lambda: owner.call("POST", f"/v1/sandboxes/{box}/pause"))
    patient(lambda: owner.call("POST", f"/v1/sandboxes/{box}/resume"))
    assert exit_code("true") == 0
    patient(lambda: owner.call("DELETE", f"/v1/sandboxes/{box}"))


def main():
    home = tempfile.mkdtemp(dir="/data")
    shutil.chown(home, ACCOUNT)
    environment = {"HOME": home, "SANDGATE_HOME": home + "/state", "SANDGATE_ADMIN_KEY": KEY,
                   "SANDGATE_LISTEN": f"127.0.0.1:{PORT}", "PATH": os.environ["PATH"]}
    make_image(home, environment)
    start(environment)
    try:
        operator = Client("127.0.0.1", PORT, KEY)
        await_ready(operator)
        limits_hold(operator)
    finally:
        subprocess.run(["systemctl", "stop", UNIT])
    left = [name for name in os.listdir("/sys/fs/cgroup/system.slice") if name.startswith(UNIT)]
    assert not left, left
    print(json.dumps({"account in a delegated unit": "passed"}))


main()
