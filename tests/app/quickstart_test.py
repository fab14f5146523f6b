#!/usr/bin/env python3
"""quickstart says that its port is taken before it installs and builds anything."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def quickstart(folder, listen):
    (folder / ".ci").mkdir()
    (folder / ".ci/install").write_text("#!/bin/sh\necho INSTALLING; exit 1\n")
    (folder / ".ci/install").chmod(0o755)
    shutil.copy(ROOT / "quickstart", folder)
    environment = {**os.environ, "SANDGATE_HOME": str(folder / "home"), "SANDGATE_LISTEN": listen}
    done = subprocess.run([folder / "quickstart"], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    return done.stdout + done.stderr


def check(offset, complaint):
    """The listener stands where quickstart, told the port `offset` below, looks for room."""
    with socket.create_server(("127.0.0.1", 0)) as taken, tempfile.TemporaryDirectory() as folder:
        told = quickstart(Path(folder), f"127.0.0.1:{taken.getsockname()[1] - offset}")
        assert complaint in told, told
        assert "INSTALLING" not in told and "packages" not in told, told


check(0, "something else listens on 127.0.0.1:")
check(1, "which E2B's clients need")
