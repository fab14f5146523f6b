"""The programs that sandboxes are measured beside: each returns an action that runs a command in one and waits."""
import json
import os
import subprocess
import time


def spawn(argv):
    null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)]
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=null)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise RuntimeError(f"{argv[0]} failed with status {status}")


def bwrap(rootfs, *command):
    return lambda: spawn(["bwrap", "--unshare-all", "--ro-bind", rootfs, "/", "--proc", "/proc", "--dev", "/dev",
                          *command])


def runc(rootfs, bundle, *command):
    """`bundle`: an empty directory, for as long as the action is used."""
    subprocess.run(["runc", "spec", "--bundle", bundle], check=True)
    spec = json.load(open(bundle + "/config.json"))
    spec["process"].update(terminal=False, args=list(command))
    spec["root"] = {"path": rootfs, "readonly": True}
    json.dump(spec, open(bundle + "/config.json", "w"))
    return lambda: spawn(["runc", "run", "--bundle", bundle, f"bench-{time.monotonic_ns()}"])
