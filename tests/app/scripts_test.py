#!/usr/bin/env python3
"""What ./check and ./quickstart say to wrong options, before they install anything."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(name, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        install = Path(folder, ".ci/install")
        install.parent.mkdir()
        install.write_text("#!/bin/sh\necho INSTALLING; exit 1\n")
        install.chmod(0o755)
        shutil.copy(ROOT / name, folder)
        done = subprocess.run([Path(folder, name), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=60, env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": folder,
                                                          "SANDGATE_HOME": folder + "/home"})
    return done.returncode, done.stdout


def check_stages():
    code, text = run("check", "--help")
    assert code == 0 and "./check STAGE..." in text and "INSTALLING" not in text, (code, text)
    assert "set -u" not in text and "#" not in text, text
    for words in (("nosuch",), ("format", "--foo")):
        code, text = run("check", *words)
        assert code == 2 and "INSTALLING" not in text, (code, text)
        assert f"no stage '{words[-1]}': there are " in text and " format " in text and " unit" in text, text
    code, text = run("check", "format")
    assert code == 1 and "INSTALLING" in text, (code, text)


def check_options():
    for words, complaint in ((("--foo",), "unknown option --foo"),
                             (("--stop", "--fresh"), "takes one option, not: --stop --fresh")):
        code, text = run("quickstart", *words)
        assert code == 1 and complaint in text and "INSTALLING" not in text, (code, text)


def main():
    check_stages()
    check_options()
    return 0


if __name__ == "__main__":
    sys.exit(main())
