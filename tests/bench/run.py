#!/usr/bin/env python3
"""Whole-process benchmarks: every figure beside its peer, measured in the same run.

  run.py [--build DIR] [--short] [--out FILE] [NAME...]

  names: lifecycle states reads streams lines ports money leaks egress scale adapters
"""
import argparse
import glob
import importlib
import os
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.abspath(__file__)) + "/../support"]

from lean_client import LeanClient  # noqa: E402
from measure import Report  # noqa: E402
from server import IMAGES, Client, Server, ensure_image  # noqa: E402

ALL = ["lifecycle", "states", "reads", "streams", "lines", "ports", "money", "leaks", "egress", "scale", "adapters"]


class Context:
    def __init__(self, server, short):
        self.server, self.short = server, short
        _, first = server.tenant("bench", "developer")
        self.key = first.key
        # An upload stands beside the file that it replaces: twice the GiB that is streamed, and some.
        server.profile("bench", resources={"vcpu": 1, "memory_mib": 512, "disk_gib": 3})
        self.rootfs = find_rootfs()

    def client(self):
        return Client(self.server.host, self.server.port, self.key)

    def lean_client(self):
        return LeanClient(self.server.host, self.server.port, self.key)

    def count(self, short, full):
        return short if self.short else full


def find_rootfs():
    found = [path for path in glob.glob(IMAGES + "/**/usr/bin/python3", recursive=True)]
    return os.path.dirname(os.path.dirname(os.path.dirname(found[0])))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.dirname(os.path.abspath(__file__)) + "/../../build")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--out", default="")
    parser.add_argument("names", nargs="*", default=[])
    options = parser.parse_args()
    binary = os.path.abspath(options.build) + "/gateway/sandgate"
    ensure_image(binary)
    report = Report()
    with Server(binary) as server:
        context = Context(server, options.short)
        for name in options.names or ALL:
            importlib.import_module(name).run(context, report)
    if options.out:
        report.save(options.out)
    missed = report.missed()
    print("missed: " + "; ".join(missed) if missed else "every target reached")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
