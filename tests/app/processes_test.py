#!/usr/bin/env python3
"""What the program's own processes let out of their memory. Run as root."""
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/../faults", HERE + "/../support"]

from cases import main, wait_until  # noqa: E402
from server import Server  # noqa: E402

ROLES = ("serve", "worker", "node")
GENEROUS = ["prlimit", "--core=unlimited:unlimited", "--"]


def status(pid):
    return dict(line.split(":\t", 1) for line in open(f"/proc/{pid}/status").read().splitlines() if ":\t" in line)


def core_limit(pid):
    line = next(line for line in open(f"/proc/{pid}/limits") if line.startswith("Max core file size"))
    return line.split()[4:6]


def memory_has(pid, needle):
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in open(f"/proc/{pid}/maps"):
            words = line.split()
            if not words[1].startswith("rw"):
                continue
            begin, end = (int(word, 16) for word in words[0].split("-"))
            try:
                if needle in os.pread(memory.fileno(), end - begin, begin):
                    return True
            except OSError:
                continue  # gone meanwhile
    return False


def started():
    server = Server()
    server.start(wrapper=GENEROUS)
    wait_until(lambda: all(server.pids(role) for role in ROLES), 20, "every process runs")
    return server


def check_limits(server):
    for role in ROLES:
        for pid in server.pids(role):
            assert core_limit(pid) == ["1", "1"], (role, core_limit(pid))


def check_worker(server):
    pid = server.pids("worker")[0]
    assert status(pid)["NoNewPrivs"] == "1", status(pid)
    account = status(pid)["Uid"].split()[0]
    assert account != "0", "the worker is root"
    for file in ("environ", "mem"):
        assert os.stat(f"/proc/{pid}/{file}").st_uid == 0, "the worker's account may read its memory"
    done = subprocess.run(["setpriv", "--reuid", account, "--clear-groups", "cat", f"/proc/{pid}/environ"],
                          capture_output=True, text=True)
    assert done.returncode != 0 and "Permission denied" in done.stderr, done


def check_secrets(server):
    operator = server.admin_key.removeprefix("sg_").encode()
    master = open(server.home + "/master.key").read().strip()
    for pid in server.pids("worker"):
        assert memory_has(pid, operator) and memory_has(pid, bytes.fromhex(master)), "the search finds nothing"
    for pid in server.pids("node"):
        for secret in (operator, master.encode(), bytes.fromhex(master)):
            assert not memory_has(pid, secret), "the node knows a key"
    for role in ("worker", "node"):
        for pid in server.pids(role):
            names = {entry.split(b"=")[0] for entry in open(f"/proc/{pid}/environ", "rb").read().split(b"\0") if entry}
            assert names == {b"PATH", b"LC_ALL"}, (role, names)


def test_the_processes_keep_their_memory_to_themselves():
    server = started()
    try:
        check_limits(server)
        check_worker(server)
        check_secrets(server)
    finally:
        server.close()


def test_a_core_file_is_not_written():
    server = started()
    try:
        # The one that could write it wherever it stands.
        pid = server.pids("node")[0]
        where = os.readlink(f"/proc/{pid}/cwd")
        before = set(os.listdir(where))
        os.kill(pid, signal.SIGSEGV)
        wait_until(lambda: [now for now in server.pids("node") if now != pid], 20, "the node is started again")
        new = [name for name in set(os.listdir(where)) - before if name.startswith("core")]
        assert not new, new
    finally:
        server.close()


if __name__ == "__main__":
    main(globals())
