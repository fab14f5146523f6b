#!/usr/bin/env python3
"""Streams whose gateway ends: who resumes them misses nothing and gets nothing twice. Run as root; takes names of
single tests."""
import base64
import contextlib
import http.client
import json
import os
import signal
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support"]

from cases import main, wait_until  # noqa: E402
from server import Client, Server, free_port  # noqa: E402
from websocket import Refused, Socket  # noqa: E402

COUNTING = "i=0; while :; do echo $i; i=$((i+1)); sleep .02; done"
BROKEN = (OSError, http.client.HTTPException, Refused)


class Reader:
    """Reads one stream in a thread, and goes on where it was whenever that breaks off."""

    def __init__(self, server, key):
        self.server, self.key, self.stopped, self.failure = server, key, False, None
        self.thread = threading.Thread(target=self.read_on, daemon=True)
        self.thread.start()

    def read_on(self):
        try:
            while not self.stopped:
                with contextlib.suppress(*BROKEN):
                    self.read()
                time.sleep(0.02)
        except Exception as error:  # told by stop(), in the thread that judges
            self.failure = error

    def stop(self):
        self.stopped = True
        self.thread.join(30)
        assert not self.thread.is_alive() and not self.failure, self.failure


class Events(Reader):
    """Server-sent events, resumed by Last-Event-ID."""

    def __init__(self, server, key, path, last=None):
        self.path, self.last, self.told = path, last, []
        super().__init__(server, key)

    def read(self):
        connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=20)
        with contextlib.closing(connection):
            resumed = {} if self.last is None else {"Last-Event-ID": self.last}
            connection.request("GET", self.path, headers={"Authorization": "Bearer " + self.key, **resumed})
            answer, buffer = connection.getresponse(), b""
            while answer.status == 200 and not self.stopped and (data := answer.read1(65536)):
                *whole, buffer = (buffer + data).split(b"\n\n")
                for frame in whole:
                    self.take(dict(line.split(": ", 1) for line in frame.decode().splitlines() if ": " in line))

    def take(self, event):
        if "data" in event:
            self.told.append((event["event"], json.loads(event["data"])))
        self.last = event.get("id", self.last)

    def output(self):
        return b"".join(base64.b64decode(data["data"]) for name, data in list(self.told) if name == "stdout")


class Attached(Reader):
    """A program's output over a WebSocket, resumed by its offset. `closed`: the codes that it ended with."""

    def __init__(self, server, key, path):
        self.path, self.bytes, self.closed = path, b"", []
        super().__init__(server, key)

    def read(self):
        path = f"{self.path}?from={len(self.bytes)}"
        socket = Socket(self.server.host, self.server.port, path, self.key, timeout=20)
        with contextlib.closing(socket):
            while not self.stopped and (message := socket.next()) is not None:
                if isinstance(message, tuple):
                    self.bytes += message[1]
            self.closed.append(socket.closed)

    def output(self):
        return self.bytes


def check_counted(output):
    lines = output.split(b"\n")[:-1]
    assert lines == [b"%d" % number for number in range(len(lines))], lines[-20:]


class World:
    """A sandbox with a program that counts, its readers, and one of the tenant's events."""

    def __init__(self, server):
        self.server = server
        server.profile("test")
        self.tenant, self.client = server.tenant("streams")
        box = self.client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
        path = f"/v1/sandboxes/{box}"
        program = self.client.ok("POST", path + "/exec", {"shell": COUNTING, "background": True})["process_id"]
        path += "/processes/" + program
        key = self.client.key
        self.attached = Attached(server, key, path + "/attach")
        self.readers = [self.attached, Events(server, key, path + "/output")]
        self.events = Events(server, key, "/v1/events", "0")

    def change(self):
        """One more sandbox, and what its life is expected to tell."""
        client = Client(self.server.host, self.server.port, self.client.key)
        box = client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
        client.ok("DELETE", "/v1/sandboxes/" + box)
        return [f"sandbox.{verb} {box}" for verb in ("created", "running", "killed")]

    def wait_for_more(self):
        before = [len(reader.output()) for reader in self.readers]
        wait_until(lambda: all(len(reader.output()) > size for reader, size in zip(self.readers, before)), 60,
                   "the streams go on")

    def told(self):
        return [f"{name} {data['data']['sandbox']}" for name, data in list(self.events.told) if "sandbox" in data["data"]]


def end_and_wait(world, end, changes):
    end()
    wait_until(lambda: world.server.pids("worker") and world.server.pids("node"), 60, "both run again")
    changes += wait_until(lambda: attempt_change(world), 60, "a sandbox is made and ended again")
    world.wait_for_more()


def attempt_change(world):
    with contextlib.suppress(AssertionError, *BROKEN):
        return world.change()


def test_streams_are_resumed_after_every_end_of_the_gateway():
    settings = {"listen": f"127.0.0.1:{free_port()}", "limits.stop_grace_seconds": "1"}
    with Server(settings=settings) as server:
        world, changes = World(server), []
        world.wait_for_more()
        end_and_wait(world, lambda: server.kill("worker"), changes)
        assert set(world.attached.closed) == {0}, world.attached.closed
        end_and_wait(world, lambda: server.kill("node"), changes)
        end_and_wait(world, lambda: (server.stop(), server.start()), changes)
        # Who is connected while the gateway stops is told that it leaves.
        assert world.attached.closed[-1] == 1001, world.attached.closed
        end_and_wait(world, lambda: server.process.send_signal(signal.SIGHUP), changes)
        wait_until(lambda: set(changes) <= set(world.told()), 60, "all changes are told")
        told = world.told()
        assert len(set(told)) == len(told), told
        assert [one for one in told if one in changes] == changes, (told, changes)
        for reader in world.readers:
            reader.stop()
            check_counted(reader.output())
        world.client.close()
        world.events.stopped = True
        world.change()  # wakes its reader
        world.events.stop()


def test_who_waits_at_a_stop_is_told():
    with Server(settings={"limits.stop_grace_seconds": "1"}) as server:
        server.profile("test")
        _, client = server.tenant("waits")
        path = "/v1/sandboxes/" + client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
        body, key, answers = {"shell": "touch /tmp/begun; sleep 60"}, {"Idempotency-Key": "once"}, []
        waiting = Client(server.host, server.port, client.key)
        thread = threading.Thread(target=lambda: answers.append(waiting.call("POST", path + "/exec", body, key)))
        thread.start()
        wait_until(lambda: client.call("GET", path + "/files?path=/tmp/begun").status == 200, 30, "the program runs")
        client.close()
        server.stop()
        thread.join(30)
        told = answers[0]
        assert told.status == 503 and told.json()["code"] == "unavailable", (told.status, told.body)
        assert told.headers["Retry-After"] and told.headers["Connection"] == "close", told.headers.items()
        server.start()
        # The program has run: a repeat under the same key says so, and runs it no second time.
        again = Client(server.host, server.port, client.key)
        repeated = again.call("POST", path + "/exec", body, key)
        assert (repeated.status, repeated.json()["code"]) == (409, "conflict"), (repeated.status, repeated.body)
        again.close()


if __name__ == "__main__":
    main(globals())
