#!/usr/bin/env python3
"""Tests of the local provider on another machine: Debian's kernel and systemd, control groups of version 2.

  run.py BUILD [--only TESTS] [--minutes N]

BUILD is where cmake built the program and its tests; TESTS a regular expression for ctest.
"""
import argparse
import os
import pathlib
import sys

from machine import run_script

SOURCE = pathlib.Path(__file__).resolve().parents[2]
IMAGES = os.environ.get("SANDGATE_TEST_IMAGES", "/var/cache/sandgate-test/images")
# What depends on the kernel most. Tests that measure time say nothing on a machine that is emulated.
TESTS = ("^(BombsTest|PausingTest|LifecycleTest|ModuleRequestsTest|WallsTest|EscapeTest|RootlessTest|SnapshotsTest"
         "|WorkspacesTest)[.]")

SCRIPT = """
mount --bind /data/tmp /tmp
mkdir -p {images} && mount --bind /data/images {images}
modprobe loop
# A way out that sandboxes must not find: the machine has no other.
modprobe dummy
ip link add way-out type dummy
ip address add 192.0.2.1/24 dev way-out
ip link set way-out up
cd {source}
code=0
python3 tests/guest/account_unit.py {build}/gateway/sandgate || code=1
ctest --test-dir {build} -R '{tests}' --output-on-failure || code=1
exit $code
"""


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build")
    options.add_argument("--only", default=TESTS)
    options.add_argument("--minutes", type=int, default=120)
    asked = options.parse_args()
    if os.geteuid() != 0:
        print("needs root: the guest has this machine's files")
        return 77
    script = SCRIPT.format(images=IMAGES, source=SOURCE, build=os.path.abspath(asked.build), tests=asked.only)
    code = run_script(script, {IMAGES: "images"}, asked.minutes * 60)
    if code is None:
        print("the guest has told no result")
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
