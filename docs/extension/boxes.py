"""What the example offers: sandboxes that are scratch folders. Standard library only."""
import os
import secrets
import shutil
import signal
import threading
from datetime import datetime, timezone


class Problem(Exception):
    STATUS = {"invalid": 400, "unauthenticated": 401, "not_found": 404, "conflict": 409, "too_large": 413,
              "unsupported": 422, "internal": 500}

    def __init__(self, code, detail, path=None):
        super().__init__(detail)
        self.status = self.STATUS[code]
        self.document = {"type": "about:blank", "title": code, "status": self.status, "code": code, "detail": detail}
        if path:
            self.document["fields"] = [{"path": path, "message": detail}]


def rfc3339(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat().replace("+00:00", "Z")


class Box:
    """One sandbox: a folder that is the home of what runs in it."""

    def __init__(self, root, wanted):
        self.id = "sb" + secrets.token_hex(12)
        self.home = os.path.join(root, self.id)
        os.mkdir(self.home, 0o700)
        self.metadata, self.env = wanted.get("metadata", {}), wanted.get("env", {})
        self.groups, self.timer = set(), None
        self.lock, self.claimed = threading.Lock(), set()

    def claim(self, key):
        """A start under a key that was there before is a repeat after a lost reply: the program ran."""
        with self.lock:
            if key in self.claimed:
                raise Problem("conflict", "an earlier request with this Idempotency-Key started its program")
            if key:
                self.claimed.add(key)

    def document(self):
        return {"id": self.id, "state": "running", "metadata": self.metadata,
                "backend": {"isolation": "process", "region": "here"}}

    def path(self, text, follow=False):
        """Where a path of the API is; what leads out of the folder is refused."""
        full = os.path.normpath(os.path.join(self.home, text))
        inside = os.path.realpath(full if follow else os.path.dirname(full))
        if full != self.home and not (inside + "/").startswith(os.path.realpath(self.home) + "/"):
            raise Problem("invalid", "leads outside", "/path")
        return full

    def entry(self, full):
        found = os.lstat(full)
        kind = {0o040000: "directory", 0o100000: "file", 0o120000: "symlink"}.get(found.st_mode & 0o170000, "other")
        entry = {"name": os.path.basename(full), "path": os.path.relpath(full, self.home), "type": kind,
                 "size": found.st_size, "mode": f"{found.st_mode & 0o7777:04o}", "modified_at": rfc3339(found.st_mtime)}
        if kind == "symlink":
            entry["target"] = os.readlink(full)
        return entry

    def end(self):
        if self.timer:
            self.timer.cancel()
        for group in list(self.groups):
            end_group(group)
        shutil.rmtree(self.home, ignore_errors=True)


def end_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Boxes:
    """All sandboxes, by id, and by the id that the gateway gave: a create that is repeated finds its own."""

    def __init__(self, root):
        self.root, self.lock, self.all = root, threading.Lock(), {}

    def create(self, wanted):
        tag = wanted.get("metadata", {}).get("sandgate_id")
        with self.lock:
            for box in self.all.values():
                if tag and box.metadata.get("sandgate_id") == tag:
                    return box
            box = Box(self.root, wanted)
            self.all[box.id] = box
        self.extend(box, wanted.get("ttl_seconds", 600))
        return box

    def extend(self, box, seconds):
        if box.timer:
            box.timer.cancel()
        box.timer = threading.Timer(seconds, self.kill, [box.id])
        box.timer.daemon = True
        box.timer.start()

    def get(self, box_id):
        with self.lock:
            if box_id not in self.all:
                raise Problem("not_found", "there is no such sandbox")
            return self.all[box_id]

    def kill(self, box_id):
        with self.lock:
            box = self.all.pop(box_id, None)
        if box:
            box.end()

    def matching(self, metadata):
        with self.lock:
            return sorted((box for box in self.all.values() if metadata.items() <= box.metadata.items()),
                          key=lambda box: box.id)
