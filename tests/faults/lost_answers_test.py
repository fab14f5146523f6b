#!/usr/bin/env python3
"""Commits whose confirmation is lost, each in turn, and backends' answers: whoever repeats a call under its key has it
done once. Run as root; takes names of single tests."""
import contextlib
import os
import shutil
import socket
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support", HERE + "/../vendors"]

from cases import main, wait_until  # noqa: E402
from deployments import Fake  # noqa: E402
from server import Server  # noqa: E402

SOCKET = "/.s.PGSQL.5432"
# Not the first, which is the key's own: a retry would wait for its lease. What goes on in the background commits too,
# so each comes twice.
NUMBERS = (2, 3, 4, 2, 3, 4)


class Way:
    """A way to a server, which loses the answers to some of what is asked through it."""

    def __init__(self, listener):
        self.listener, self.lock, self.left = listener, threading.Lock(), 0
        threading.Thread(target=self.accept, daemon=True).start()

    def lose(self, number):
        with self.lock:
            self.left = number

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server, lost = self.dial(), threading.Event()
                for ends in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self.relay, args=(*ends, lost), daemon=True).start()

    def relay(self, source, sink, is_question, lost):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if is_question and self.loses_answer_to(data):
                    lost.set()
                elif not is_question and lost.is_set():
                    break
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()


class Between(Way):
    """A way to a database. After lose(n), the n-th commit is delivered and the connection then breaks."""

    def __init__(self, target):
        self.target = target
        self.directory = tempfile.mkdtemp(prefix="sandgate-db-", dir="/tmp")
        os.chmod(self.directory, 0o755)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.directory + SOCKET)
        os.chmod(self.directory + SOCKET, 0o777)
        listener.listen(100)
        super().__init__(listener)

    def dial(self):
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.target + SOCKET)
        return server

    def loses_answer_to(self, data):
        if b"COMMIT" not in data:
            return False
        with self.lock:
            if self.left == 0:
                return False
            self.left -= 1
            return self.left == 0

    def close(self):
        super().close()
        shutil.rmtree(self.directory)


@contextlib.contextmanager
def behind():
    """A server whose database is another's, by such a way, and a client of it."""
    with Server() as owner:
        key = open(owner.home + "/master.key").read().strip()
        way = Between(owner.home + "/postgres")
        url = f"host={way.directory} user=sandgate dbname=sandgate"
        try:
            with Server(settings={"database.url": url}, environment={"SANDGATE_MASTER_KEY": key}) as server:
                _, client = server.tenant("unlucky")
                server.profile("test")
                yield way, client
        finally:
            way.close()


def repeated(way, client, path, body):
    """The answers of calls, each repeated under its key until it is not 503, with each commit lost in turn."""
    for turn, number in enumerate(NUMBERS):
        key = {"Idempotency-Key": f"{path}-{turn}"}
        way.lose(number)
        limit = time.monotonic() + 20
        while (answer := client.call("POST", path, body, headers=key)).status == 503 and time.monotonic() < limit:
            assert answer.headers["Retry-After"], answer.body
            time.sleep(0.1)
        way.lose(0)
        yield answer


def listed(client, path):
    return {one["id"] for one in client.ok("GET", path + "limit=100")["items"]}


def test_whoever_repeats_a_call_has_it_done_once():
    with behind() as (way, client):
        first = client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
        box = f"/v1/sandboxes/{first}"
        for runs, answer in enumerate(repeated(way, client, box + "/exec", {"shell": "echo x >> file; wc -l < file"}), 1):
            assert answer.status == 200 and answer.json()["stdout"] == f"{runs}\n", (runs, answer.body)
        # A snapshot whose first run made it although nobody was told stays, too.
        taken = [answer.json() for answer in repeated(way, client, box + "/snapshots", {})]
        assert {one["id"] for one in taken} <= listed(client, "/v1/snapshots?"), taken
        made = {answer.json()["id"] for answer in repeated(way, client, "/v1/sandboxes", {"profile": "test"})}
        wait_until(lambda: listed(client, "/v1/sandboxes?state=running&") == made | {first}, 20, "one for each key")
        for one in made | {first}:
            client.ok("DELETE", f"/v1/sandboxes/{one}")


class Forgetful(Way):
    """A way to a server's port. After lose(n), the answers to the next n starts of programs are not passed on."""

    def __init__(self, server):
        self.server = server
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]
        super().__init__(listener)

    def dial(self):
        return socket.create_connection((self.server.host, self.server.port))

    def loses_answer_to(self, data):
        with self.lock:
            lost = b"/exec HTTP" in data and self.left > 0
            self.left -= lost
            return lost


@contextlib.contextmanager
def above():
    """A server whose backend is another, by such a way, and a client of it."""
    with Server() as lower, Server() as upper:
        lower.profile("test")
        way = Forgetful(lower)
        upper.operator().ok("PUT", "/v1/deployments/lower", {
            "provider": "sandgate", "settings": {"url": f"http://127.0.0.1:{way.port}", "profile": "test"},
            "credentials": {"api_key": lower.tenant("upper")[1].key}})
        upper.profile("test", placement={"only": ["lower"]})
        try:
            yield way, upper.tenant("unlucky")[1]
        finally:
            way.close()


def test_a_program_whose_start_is_not_confirmed_runs_once():
    with above() as (way, client):
        first = wait_until(lambda: client.call("POST", "/v1/sandboxes", {"profile": "test"}), 20, "it is made")
        box = f"/v1/sandboxes/{first.json()['id']}"
        for background in (True, False):
            mark = f"background-{background}"
            way.lose(2)
            body = {"shell": f"echo {mark} >> marks; sleep 0.1; echo {mark}", "background": background}
            call = lambda: client.call("POST", box + "/exec", body, headers={"Idempotency-Key": mark})
            told = wait_until(lambda: (answer := call()).status != 503 and answer, 20, "it is answered")
            assert way.left == 0, "both were lost"
            assert told.status == (202 if background else 409), told.body
            marks = lambda: client.ok("POST", box + "/exec", {"shell": "cat marks"})["stdout"]
            wait_until(lambda: mark in marks(), 10, "it ran")
            assert marks().count(mark) == 1, marks()
        client.ok("DELETE", box)


# A vendor that does not know programs by ids of ours: whether an unconfirmed one ran cannot be found out.
def test_a_program_at_a_vendor_runs_once_at_most():
    vendor = Fake("runloop")
    try:
        with Server() as server:
            server.operator().ok("PUT", "/v1/deployments/vendor", vendor.deployment)
            server.profile("test", isolation="process", images={"runloop": vendor.image}, network={"default": "allow"},
                           resources={"vcpu": 1, "memory_mib": 256, "disk_gib": 1}, placement={"only": ["vendor"]})
            client = server.tenant("unlucky")[1]
            box = "/v1/sandboxes/" + client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
            for kind, refusal, status, marks in (("lost_reply", 0, 409, "x"), ("reset", 0, 409, ""),
                                                 ("status", 429, 200, "x"), ("status", 404, 200, "xx")):
                vendor.fail({"match": "POST .*/execute_async", "kind": kind, "status": refusal, "times": 1})
                told = {}
                for turn in ("first", "again"):
                    answer = client.call("POST", box + "/exec", {"shell": f"echo x >> {kind}", "timeout_ms": 10000},
                                         headers={"Idempotency-Key": f"{kind}-{refusal}"})
                    told[turn] = answer.status
                assert told["first"] >= 429 and told["again"] == status, (kind, refusal, told, answer.body)
                ran = client.ok("POST", box + "/exec", {"shell": f"touch {kind}; cat {kind}"})["stdout"].split()
                # What nobody was told of is killed, maybe before it ran.
                assert ran == list(marks) or kind == "lost_reply" and not ran, (kind, ran)
            client.ok("DELETE", box)
    finally:
        vendor.close()


if __name__ == "__main__":
    main(globals())
