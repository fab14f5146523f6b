"""Sandboxes of the fakes: scratch folders in which commands really run."""
import fcntl
import os
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time


class Child:
    """A command that runs, with its output as a sequence of (channel, bytes) that readers wait for."""

    def __init__(self, argv, cwd, env, stdin=True, pty=None):
        self.argv, self.started_at = argv, time.time()
        self.events, self.status = [], None
        self.changed = threading.Condition()
        self.terminal, self.tag, self.name = None, None, None
        if pty:
            self.terminal, inner = os.openpty()
            self.resize(*pty)
            pipes = {"stdin": inner, "stdout": inner, "stderr": inner}
        else:
            pipes = {"stdin": subprocess.PIPE if stdin else subprocess.DEVNULL,
                     "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(argv, cwd=cwd, env=env, start_new_session=True, **pipes)
        if pty:
            os.close(inner)
            outputs = [("pty", self.terminal)]
        else:
            outputs = [("stdout", self.process.stdout.fileno()),
                       ("stderr", self.process.stderr.fileno())]
        self.readers = [threading.Thread(target=self.read, args=output, daemon=True)
                        for output in outputs]
        for reader in self.readers:
            reader.start()
        threading.Thread(target=self.wait, daemon=True).start()

    @property
    def pid(self):
        return self.process.pid

    def read(self, channel, fd):
        while True:
            try:
                data = os.read(fd, 32768)
            except OSError:
                data = b""
            if not data:
                return
            with self.changed:
                self.events.append((channel, data))
                self.changed.notify_all()

    def wait(self):
        status = self.process.wait()
        for reader in self.readers:
            reader.join(0.5)
        with self.changed:
            self.status = status
            self.changed.notify_all()

    def exit_code(self):
        """As a shell tells it, of a command that has ended."""
        return self.status if self.status >= 0 else 128 - self.status

    def follow(self, index=0, patience=None):
        """Yields events from an index on, None after `patience` seconds of silence, ends at the end."""
        while True:
            with self.changed:
                if index >= len(self.events) and self.status is None:
                    if not self.changed.wait(patience):
                        yield None
                        continue
                if index >= len(self.events) and self.status is not None:
                    return
                event = self.events[index] if index < len(self.events) else None
            if event:
                index += 1
                yield event

    def text(self, channel=None):
        return b"".join(data for name, data in self.events if channel in (None, name))

    def write(self, data):
        if self.terminal is not None:
            os.write(self.terminal, data)
        else:
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def close_stdin(self):
        if self.process.stdin:
            self.process.stdin.close()

    def resize(self, cols, rows):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def signal(self, number, group=False):
        try:
            (os.killpg if group else os.kill)(self.process.pid, number)
            return True
        except ProcessLookupError:
            return False


class Box:
    """A sandbox: a scratch folder and what runs in it."""

    def __init__(self, root, box_id, env=None, metadata=None, **more):
        self.id, self.env, self.metadata = box_id, dict(env or {}), dict(metadata or {})
        self.home = os.path.join(root, box_id, "home")
        self.tmp = os.path.join(root, box_id, "tmp")
        os.makedirs(self.home)
        os.makedirs(self.tmp)
        self.state, self.children, self.created_at = "running", {}, time.time()
        self.__dict__.update(more)

    def path(self, path):
        path = path or ""
        if path.startswith("~"):
            path = path[1:].lstrip("/")
        return os.path.join(self.home, path)

    def run(self, argv, cwd=None, env=None, **more):
        """Raises FileNotFoundError for a directory or program that is not there."""
        full = {"PATH": os.environ["PATH"], "HOME": self.home, "TMPDIR": self.tmp, "USER": "user",
                **self.env, **(env or {})}
        child = Child(argv, self.path(cwd), full, **more)
        self.children[child.pid] = child
        return child

    def signal_all(self, number):
        for child in list(self.children.values()):
            if child.status is None:
                # Groups of their own are told too: everything below the leader.
                for pid in reversed(descendants(child.pid)):
                    try:
                        os.kill(pid, number)
                    except ProcessLookupError:
                        pass

    def remove(self):
        self.signal_all(signal.SIGKILL)
        shutil.rmtree(os.path.dirname(self.home), ignore_errors=True)


def descendants(pid):
    """The process and all below it, parents first."""
    below = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    parent = int(file.read().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            below.setdefault(parent, []).append(int(name))
    found, open_ = [], [pid]
    while open_:
        one = open_.pop()
        found.append(one)
        open_.extend(below.get(one, []))
    return found
