#!/usr/bin/env python3
"""Three running gateways: A sends its creates to B, and to C when B fails. B is killed amid creates
and comes back. And gateways that lead back to themselves. Run as root; takes the names of single tests."""
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


def storm(trio, answers, killed):
    """Each thread creates, and goes on for its share after `killed`; `answers` fills with (deployment or body, seconds,
    id)."""
    def work():
        client = trio.own_client()
        left = CREATES
        while left > 0:
            left -= killed.is_set()
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
        killed = threading.Event()
        threads = storm(trio, answers, killed)
        wait_until(lambda: len(answers) >= THREADS, 60, "the first creates are done")
        trio.kill_b()
        killed.set()
        for thread in threads:
            thread.join()
        lost = [answer for answer in answers if answer[2] is None]
        assert not lost, f"{len(lost)} of {len(answers)} creates failed: {lost[0]}"
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


def lead(server, name, target, profile="test"):
    """Makes `target` the deployment `name` of a server; returns the client that it is there."""
    _, client = target.tenant("sent-on", "developer")
    server.operator().ok("PUT", f"/v1/deployments/{name}", {
        "provider": "sandgate", "enabled": True, "credentials": {"api_key": client.key},
        "settings": {"url": f"http://127.0.0.1:{target.port}", "profile": profile}})
    return client


def knows(server, name):
    listed = server.operator().ok("GET", "/v1/providers")["items"]
    return any(one["deployment"] == name and one["descriptor"]["verbs"] for one in listed)


def created_around(server, client, order, limit=10):
    """A create of a profile that prefers what leads back, its decision's attempts and how long it took."""
    server.profile("test", limits={"max_ttl_seconds": 3600},
                   placement={"strategy": "priority", "order": order, "only": order})
    wait_until(lambda: all(knows(server, name) for name in order), 60, "what there is, is known")
    begin = time.monotonic()
    answer = client.call("POST", "/v1/sandboxes", {"profile": "test"})
    took = time.monotonic() - begin
    assert took < limit, f"{took:.1f} s: {answer.body}"
    return answer


def attempts(client, box):
    tried = client.ok("GET", f"/v1/sandboxes/{box}/decision")["attempts"]
    return [(one["deployment"], one["outcome"], one["code"]) for one in tried]


def test_a_gateway_that_is_its_own_upstream_uses_what_else_it_has():
    with Server() as server:
        server.profile("test", limits={"max_ttl_seconds": 3600})
        inner = lead(server, "itself", server)
        _, client = server.tenant("callers")
        answer = created_around(server, client, ["itself", "local"])
        assert answer.status == 201, answer.body
        box = answer.json()
        assert attempts(client, box["id"]) == [("itself", "failed", "unsupported"), ("local", "created", None)]
        assert not inner.ok("GET", "/v1/sandboxes")["items"], "sandboxes of sandboxes"
        # Whoever comes back is told what is wrong, and the deployment is not taken for a broken one.
        answer = created_around(server, client, ["itself"])
        assert answer.status == 422 and answer.json()["code"] == "unsupported", answer.body
        assert "leads back" in answer.json()["detail"], answer.body
        listed = server.operator().ok("GET", "/v1/providers")["items"]
        assert next(one for one in listed if one["deployment"] == "itself")["health"]["breaker"] == "closed"


def test_gateways_in_a_ring_go_round_once():
    with Server() as one, Server() as other:
        for server in (one, other):
            server.profile("test", limits={"max_ttl_seconds": 3600})
        there, back = lead(one, "other", other), lead(other, "one", one)
        other.profile("test", limits={"max_ttl_seconds": 3600},
                      placement={"strategy": "priority", "order": ["one", "local"]})
        wait_until(lambda: knows(other, "one"), 60, "the other knows the first")
        _, client = one.tenant("callers")
        answer = created_around(one, client, ["other"])
        assert answer.status == 201, answer.body
        assert attempts(client, answer.json()["id"]) == [("other", "created", None)]
        sent = there.ok("GET", "/v1/sandboxes")["items"]
        assert [box["backend"]["deployment"] for box in sent] == ["local"], sent
        assert attempts(there, sent[0]["id"]) == [("one", "failed", "unsupported"), ("local", "created", None)]
        assert not back.ok("GET", "/v1/sandboxes")["items"], "it came round"


if __name__ == "__main__":
    main(globals())
