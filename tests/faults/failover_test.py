#!/usr/bin/env python3
"""Three running gateways: A sends its creates to B, and to C when B fails. B is killed amid creates
and comes back. Run as root; takes the names of single tests."""
import os
import signal
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support"]

from cases import main, wait_until  # noqa: E402
from server import Server  # noqa: E402

THREADS, CREATES = 3, 8


class Trio:
    """A with deployments "b" and "c", in this order of preference."""

    def __init__(self):
        self.servers = []
        try:
            self.a, self.b, self.c = (self.started() for _ in range(3))
            _, self.client = self.a.tenant("callers")
            self.inner = {name: self.deploy(name, server) for name, server in (("b", self.b), ("c", self.c))}
            self.a.profile("test", placement={"strategy": "priority", "order": ["b", "c"], "only": ["b", "c"]})
            wait_until(lambda: all((self.provider(name) or {}).get("descriptor", {}).get("verbs") for name in "bc"), 60,
                       "A knows what B and C can do")
        except BaseException:
            self.close()
            raise

    def started(self):
        server = Server()
        self.servers.append(server)
        return server.start()

    def deploy(self, name, server):
        """Makes a server a deployment of A; returns the client that A is there."""
        server.profile("test", limits={"max_ttl_seconds": 3600})
        _, client = server.tenant("gateway-a", "developer")
        self.point(name, server, client.key)
        return client

    def point(self, name, server, key):
        self.a.operator().ok("PUT", f"/v1/deployments/{name}", {
            "provider": "sandgate", "enabled": True, "credentials": {"api_key": key},
            "settings": {"url": f"http://127.0.0.1:{server.port}", "profile": "test"}})

    def provider(self, name):
        listed = self.a.operator().ok("GET", "/v1/providers")["items"]
        return next((one for one in listed if one["deployment"] == name), None)

    def create(self, client=None):
        return (client or self.client).call("POST", "/v1/sandboxes", {"profile": "test"})

    def own_client(self):
        client = self.a.operator()
        client.key = self.client.key
        return client

    def running(self, client, query=""):
        found, cursor = [], ""
        while cursor is not None:
            page = client.ok("GET", f"/v1/sandboxes?state=running&limit=100{query}" + (cursor and "&cursor=" + cursor))
            found, cursor = found + page["items"], page["next_cursor"]
        return found

    def kill_b(self):
        pids = [pid for role in ("serve", "worker", "node", "postgres") for pid in self.b.pids(role)]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.b.process.wait()

    def bring_b_back(self):
        """On the address that A knows."""
        self.b.settings["listen"] = f"127.0.0.1:{self.b.port}"
        self.b.start()

    def close(self):
        for server in self.servers:
            server.close()


def storm(trio, answers):
    """Creates until each thread has its share; `answers` fills with (deployment or body, seconds, id)."""
    def work():
        client = trio.own_client()
        for _ in range(CREATES):
            begin = time.monotonic()
            answer = trio.create(client)
            took = time.monotonic() - begin
            if answer.status == 201:
                box = answer.json()
                answers.append((box["backend"]["deployment"], took, box["id"]))
            else:
                answers.append((answer.body, took, None))

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    return threads


def test_a_gateway_killed_amid_creates_costs_none_of_them():
    trio = Trio()
    try:
        answers = []
        threads = storm(trio, answers)
        wait_until(lambda: len(answers) >= THREADS, 60, "the first creates are done")
        trio.kill_b()
        for thread in threads:
            thread.join()
        lost = [answer for answer in answers if answer[2] is None]
        assert not lost, f"{len(lost)} of {len(answers)} creates failed: {lost[0]}"
        assert len(answers) == THREADS * CREATES
        assert {answer[0] for answer in answers} == {"b", "c"}, answers
        print(f"      {len(answers)} creates, slowest {max(answer[1] for answer in answers):.2f} s")
        moved = [trio.client.ok("GET", f"/v1/sandboxes/{box}/decision") for name, _, box in answers if name == "c"]
        tried = [[(one["deployment"], one["outcome"]) for one in decision["attempts"]] for decision in moved]
        # Until its breaker opens, B is tried first; a refused connection may also leave open what happened.
        both = [attempts for attempts in tried if len(attempts) == 2]
        assert both and all(one[0][0] == "b" and one[1] == ("c", "created") for one in both), tried
        assert all(one["code"] in ("unavailable", "timeout") for decision in moved for one in decision["attempts"][:-1])
        after_the_opening(trio, answers)
    finally:
        trio.close()


def after_the_opening(trio, answers):
    # Enough failures in a row: now nobody waits for B any more.
    for _ in range(5):
        assert trio.create().status == 201
    assert trio.provider("b")["health"]["breaker"] == "open", trio.provider("b")["health"]
    decision = trio.client.ok("GET", f"/v1/sandboxes/{trio.create().json()['id']}/decision")
    assert [one["deployment"] for one in decision["attempts"]] == ["c"], decision["attempts"]
    on_b = next(box for name, _, box in answers if name == "b")
    begin = time.monotonic()
    answer = trio.client.call("POST", f"/v1/sandboxes/{on_b}/exec", {"command": ["true"]})
    assert answer.status == 503 and answer.json()["code"] == "unavailable", answer.body
    assert time.monotonic() - begin < 10

    trio.bring_b_back()
    trio.inner["b"].close()
    done = trio.client.ok("POST", f"/v1/sandboxes/{on_b}/exec", {"command": ["echo", "alive"]})
    assert done["stdout"] == "alive\n", done

    def nothing_but_ours():
        there = {box["metadata"]["sandgate_id"] for box in trio.running(trio.inner["b"])}
        here = {box["id"] for box in trio.running(trio.client, "&deployment=b")}
        return there == here and here

    wait_until(nothing_but_ours, 150, "B has exactly the sandboxes that A has on it")

    def probed():
        return trio.create().json()["backend"]["deployment"] == "b"

    wait_until(probed, 90, "a probe reaches B again")
    assert trio.provider("b")["health"]["breaker"] == "closed"
    assert trio.create().json()["backend"]["deployment"] == "b"


def test_refused_credentials_open_the_breaker_at_once():
    trio = Trio()
    try:
        assert trio.create().json()["backend"]["deployment"] == "b"
        for key in trio.b.operator().ok("GET", "/v1/keys")["items"]:
            if key["name"] == "developer":
                trio.b.operator().ok("DELETE", f"/v1/keys/{key['id']}")

        def moved():
            box = trio.create().json()
            return box["backend"]["deployment"] == "c" and box["id"]

        # B may know the revoked key for a moment yet.
        box = wait_until(moved, 30, "creates move to C")
        attempts = trio.client.ok("GET", f"/v1/sandboxes/{box}/decision")["attempts"]
        assert [(one["deployment"], one["outcome"], one["code"]) for one in attempts] == \
            [("b", "failed", "unavailable"), ("c", "created", None)], attempts
        assert trio.provider("b")["health"]["breaker"] == "open", trio.provider("b")["health"]
        decision = trio.client.ok("GET", f"/v1/sandboxes/{trio.create().json()['id']}/decision")
        assert [one["deployment"] for one in decision["attempts"]] == ["c"], decision
    finally:
        trio.close()


if __name__ == "__main__":
    main(globals())
