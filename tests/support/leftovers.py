"""What a test server may leave on the machine: found, and taken away. Standard library only."""
import glob
import os
import shutil
import signal
import subprocess
import time


def text(path):
    try:
        with open(path, errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def below(path, home):
    return path == home or path.startswith(home + "/")


class Leftovers:
    """Of the server with this home, this name of its node and the sessions that its processes began."""

    def __init__(self, home, name, sessions):
        self.home, self.name, self.sessions = home, name, set(sessions)

    def groups(self):
        """Its control groups in every hierarchy, deepest first."""
        found = set()
        for top, directories, _ in os.walk("/sys/fs/cgroup"):
            found.update(os.path.join(top, one) for one in directories if one == "sandgate-" + self.name)
        every = [os.path.join(top, one) for group in found for top, ones, _ in os.walk(group) for one in ones]
        return sorted([*found, *every], key=len, reverse=True)

    def processes(self):
        members = {int(pid) for group in self.groups() for pid in text(group + "/cgroup.procs").split()}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            fields = text(f"/proc/{entry}/stat").rsplit(")", 1)[-1].split()
            if len(fields) < 4 or fields[0] == "Z":
                continue
            try:
                directory = os.readlink(f"/proc/{entry}/cwd")
            except OSError:
                directory = ""
            if int(fields[3]) in self.sessions or below(directory, self.home):
                members.add(int(entry))
        return members - {os.getpid()}

    def mounts(self):
        points = [line.split()[4] for line in text("/proc/self/mountinfo").splitlines()]
        return [point for point in reversed(points) if point.startswith(self.home + "/")]

    def loops(self):
        return ["/dev/" + path.split("/")[3] for path in glob.glob("/sys/block/loop*/loop/backing_file")
                if below(text(path).removesuffix(" (deleted)"), self.home)]

    def found(self):
        return [*(f"process {pid}: {text(f'/proc/{pid}/comm')}" for pid in self.processes()),
                *(f"control group {group}" for group in self.groups()), *(f"mount {point}" for point in self.mounts()),
                *(f"loop device {loop}" for loop in self.loops())]

    def remove(self):
        for group in self.groups():
            # A frozen process does not die.
            for file, word in (("freezer.state", "THAWED"), ("cgroup.freeze", "0")):
                if os.path.exists(f"{group}/{file}"):
                    self.write(f"{group}/{file}", word)
        limit = time.monotonic() + 5
        while (left := self.processes()) and time.monotonic() < limit:
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)
        for point in self.mounts():
            subprocess.run(["umount", "-l", point], stderr=subprocess.DEVNULL)
        for loop in self.loops():
            subprocess.run(["losetup", "-d", loop], stderr=subprocess.DEVNULL)
        # Where the node kept its journal in memory.
        sandboxes = self.home + "/run/sandboxes"
        if os.path.islink(sandboxes):
            shutil.rmtree(os.readlink(sandboxes), ignore_errors=True)
        for group in self.groups():
            try:
                os.rmdir(group)
            except OSError:
                pass

    @staticmethod
    def write(path, word):
        try:
            with open(path, "w") as file:
                file.write(word)
        except OSError:
            pass
