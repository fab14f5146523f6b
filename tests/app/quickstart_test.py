#!/usr/bin/env python3
"""quickstart before it installs anything: what it refuses, forgets and ends."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True

from server import free_port  # noqa: E402


# A shell that has read the quickstart.env of another gateway.
OTHERS = {"SANDGATE_URL": "http://127.0.0.1:1", "SANDGATE_API_KEY": "sg_other", "SANDGATE_ADMIN_KEY": "sg_other",
          "SANDGATE_TENANT": "tn_other", "SANDGATE_DATABASE_URL": "host=other"}
ENV_FILE = "SANDGATE_URL=http://ours\nSANDGATE_API_KEY=sg_ours\nSANDGATE_ADMIN_KEY=sg_admin\n"
PROGRAM = """#!/bin/sh
[ "$1" = tenants ] && printf 'tn1\\tone\\ntn2\\ttwo\\n'
echo "$* $SANDGATE_URL $SANDGATE_API_KEY $SANDGATE_ADMIN_KEY $SANDGATE_TENANT." >> "$0.log"
"""


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def quickstart(folder, listen, *arguments, extra={}):
    script(folder / ".ci/install", "#!/bin/sh\nenv > installing; echo INSTALLING; exit 1\n")
    shutil.copy(ROOT / "quickstart", folder)
    environment = {**os.environ, "SANDGATE_HOME": str(folder / "home"), "SANDGATE_LISTEN": listen, **extra}
    return subprocess.run([folder / "quickstart", *arguments], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60)


def check(offset, complaint):
    """The listener stands where quickstart, told the port `offset` below, looks for room."""
    port = free_port(2)
    with socket.create_server(("127.0.0.1", port + offset)), tempfile.TemporaryDirectory() as folder:
        done = quickstart(Path(folder), f"127.0.0.1:{port}")
        assert done.returncode != 0
        assert complaint in done.stdout, done.stdout
        assert "INSTALLING" not in done.stdout and "packages" not in done.stdout, done.stdout


def free_listen():
    return f"127.0.0.1:{free_port(2)}"


def check_settings():
    """Wrong settings are named as such before anything else is tried."""
    for listen, home, complaint in (
            ("8095", "/tmp/x", "SANDGATE_LISTEN must be an address and a port"),
            ("127.0.0.1:x", "/tmp/x", "SANDGATE_LISTEN must be"),
            ("127.0.0.1:65535", "/tmp/x", "SANDGATE_LISTEN must be"),  # no next port for E2B's clients
            ("::1:8080", "/tmp/x", "SANDGATE_LISTEN must be"),
            (free_listen(), "home", "SANDGATE_HOME must be an absolute path")):
        with tempfile.TemporaryDirectory() as folder:
            done = quickstart(Path(folder), listen, extra={"SANDGATE_HOME": home})
            assert done.returncode == 1 and complaint in done.stdout, done.stdout
            assert "INSTALLING" not in done.stdout and "listens on" not in done.stdout, done.stdout


def check_help():
    for word in ("--help", "-h"):
        with tempfile.TemporaryDirectory() as folder:
            done = quickstart(Path(folder), "127.0.0.1:1", word)
            assert done.returncode == 0 and "--fresh" in done.stdout and "SANDGATE_HOME" in done.stdout, done.stdout


def check_stop():
    """--stop ends the sandboxes of every tenant, at the gateway that it started."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "build/gateway/sandgate"
        script(program, PROGRAM)
        (folder / "home").mkdir()
        (folder / "home/quickstart.env").write_text(ENV_FILE)
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "sandgate"]) as server:
            (folder / "home/quickstart.pid").write_text(str(server.pid))
            threading.Thread(target=server.wait).start()  # until then the dead would count as running
            done = quickstart(folder, free_listen(), "--stop", extra=OTHERS)
        assert done.returncode == 0, done.stdout
        keys = "http://ours sg_ours sg_admin ."
        calls = Path(f"{program}.log").read_text().splitlines()
        assert calls == [f"tenants list {keys}", f"kill --all --tenant tn1 {keys}",
                         f"kill --all --tenant tn2 {keys}"], calls


def check_fresh():
    """--fresh forgets all data but the images, and what the shell knows of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kept in ("local/images/names", "notes"):
            (folder / "home" / kept).mkdir(parents=True)
        for old in ("postgres/data", "run", "gateway", "local/snapshots", "local/disks/spare", "local/sandboxes"):
            (folder / "home" / old).mkdir(parents=True)
        for old in ("master.key", "quickstart.env", "gateway/outage.journal", "local/snapshots/sn1.img"):
            (folder / "home" / old).touch()
        quickstart(folder, free_listen(), "--fresh", extra={**OTHERS, "no_proxy": "intranet"})
        left = sorted(str(one.relative_to(folder / "home")) for one in (folder / "home").rglob("*"))
        assert left == ["local", "local/images", "local/images/names", "notes"], left
        told = dict(line.partition("=")[::2] for line in (folder / "installing").read_text().splitlines())
        assert not told.keys() & OTHERS.keys(), told.keys() & OTHERS.keys()
        assert told["no_proxy"] == told["NO_PROXY"] == "intranet,127.0.0.1", "a proxy is asked for this machine"


check(0, "something else listens on 127.0.0.1:")
check(1, "which E2B's clients need")
check_settings()
check_help()
check_stop()
check_fresh()
