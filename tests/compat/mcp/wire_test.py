#!/usr/bin/env python3
"""/mcp by hand: what HTTP and JSON-RPC refuse, whose sessions are whose, and two gateways of one database.
Run as root; takes names of single tests."""
import atexit
import json
import os
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/../../support", HERE + "/../../faults"]
sys.dont_write_bytecode = True

from cases import main, wait_until  # noqa: E402
from server import Client, Server  # noqa: E402

PROFILE = {"limits": {"max_ttl_seconds": 3600}, "ttl_seconds": 600}


class World:
    """A server without a profile for sessions, and a tenant."""
    server = None

    def __init__(self):
        if not World.server:
            World.server = Server(settings={"mcp.profile": "", "mcp.origins": "https://app.example.com"}).start()
            atexit.register(World.server.close)
            World.server.profile("test", **PROFILE)
        self.tenant, self.owner = self.server.tenant("wire")


def post(client, message, session=None, **headers):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            **({"Mcp-Session-Id": session} if session else {}), **headers}
    return client.call("POST", "/mcp", raw=body, headers=sent)


def request(method, params=None, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def begin(client, version="2025-06-18", **headers):
    answer = post(client, request("initialize", {"protocolVersion": version, "capabilities": {}}), **headers)
    assert answer.status == 200, answer.body
    return answer.headers["Mcp-Session-Id"], answer.json()["result"]


def call(client, session, tool, headers=None, **args):
    answer = post(client, request("tools/call", {"name": tool, "arguments": args}), session, **(headers or {}))
    assert answer.status == 200, answer.body
    return answer.json()["result"]


def problem(result):
    assert result["isError"], result
    return json.loads(result["content"][0]["text"])


def test_the_handshake():
    client = World().owner
    for asked, told in (("2025-03-26", "2025-03-26"), ("2025-11-25", "2025-11-25"), ("2024-11-05", "2025-11-25")):
        session, result = begin(client, asked)
        assert result["protocolVersion"] == told and session.startswith("ms") and len(session) == 26
    told = post(client, {"jsonrpc": "2.0", "method": "notifications/initialized"}, session)
    assert (told.status, told.body) == (202, b"")
    assert post(client, {"jsonrpc": "2.0", "id": 1, "result": {}}, session).status == 202
    assert post(client, request("ping", number="a"), session).json() == {"jsonrpc": "2.0", "id": "a", "result": {}}
    assert post(client, request("ping"), session, **{"MCP-Protocol-Version": "2025-06-18"}).status == 200
    assert post(client, request("server/discover"), **{"MCP-Protocol-Version": "2026-07-28"}).status == 400
    assert post(client, request("initialize")).json()["error"]["code"] == -32602
    listening = client.call("GET", "/mcp", headers={"Accept": "text/event-stream", "Mcp-Session-Id": session})
    assert listening.status == 405 and set(listening.headers["Allow"].split(", ")) == {"POST", "DELETE"}


def test_sessions_are_of_one_key():
    world = World()
    session, _ = begin(world.owner)
    assert post(world.owner, request("ping"), session).status == 200
    colleague = world.server.key(world.tenant, "owner")
    _, stranger = world.server.tenant("strangers")
    for other in (colleague, stranger, world.server.operator(world.tenant)):
        assert post(other, request("ping"), session).status == 404
        assert other.call("DELETE", "/mcp", headers={"Mcp-Session-Id": session}).status == 404
    assert post(Client(world.owner.host, world.owner.port, "sg_" + "0" * 40), request("ping"), session).status == 401
    assert post(world.server.key(world.tenant, "billing"), request("ping"), session).status == 403
    assert post(world.owner, request("ping")).status == 400
    for unknown in ("ms" + "0" * 24, "x", session + "0"):
        assert post(world.owner, request("ping"), unknown).status == 404
    ended = world.owner.call("DELETE", "/mcp", headers={"Mcp-Session-Id": session})
    assert (ended.status, ended.body) == (204, b"")
    assert post(world.owner, request("ping"), session).status == 404
    assert world.owner.call("DELETE", "/mcp").status == 400


def test_hostile_bodies_are_refused():
    client = World().owner
    session, _ = begin(client)
    for body in (b"", b"{", b"\xff\xfe", b"[" * 200_000, b'{"a":' * 100_000, b'{"id":1,"id":2}', b"null", b"7",
                 json.dumps([request("ping")] * 2).encode(), json.dumps([]).encode(),
                 json.dumps({**request("ping"), "id": "x" * 10_000}).encode(),
                 b'{"jsonrpc":"2.0","id":1' + b"0" * 400 + b',"method":"ping"}',
                 json.dumps({**request("ping"), "params": [1]}).encode(),
                 json.dumps({**request("ping"), "method": "x" * 1000}).encode()):
        answer = post(client, body, session)
        assert answer.status == 400, (body[:60], answer.status)
        told = answer.json()
        assert told["jsonrpc"] == "2.0" and told["id"] is None and told["error"]["code"] in (-32700, -32600), told
    assert post(client, b'"' + b"x" * (9 << 20) + b'"', session).status == 413
    for params in ({"name": 7}, {"name": "x" * 100_000}, {}, {"name": "run_command", "arguments": [1]}):
        assert post(client, request("tools/call", params), session).json()["error"]["code"] == -32602, params
    deep = {}
    for _ in range(40):
        deep = {"a": deep}
    assert problem(call(client, session, "run_command", command=deep))["code"] == "invalid"
    assert post(client, request("ping"), session).status == 200


def test_pages_of_foreign_sites_are_refused():
    client = World().owner
    for origin, status in (("http://evil.example", 403), ("null", 403), (f"http://{client.host}.evil.example", 403),
                           ("http://localhost:6274", 200), ("https://app.example.com", 200)):
        answer = post(client, request("initialize", {"protocolVersion": "2025-06-18"}), Origin=origin)
        assert answer.status == status, (origin, answer.status)


def test_without_a_profile_a_sandbox_has_to_be_named():
    world = World()
    session, _ = begin(world.owner)
    for tool, args in (("run_command", {"command": "true"}), ("sandbox_create", {})):
        told = problem(call(world.owner, session, tool, **args))
        assert told["code"] == "invalid" and "mcp.profile" in told["detail"], told
    box = call(world.owner, session, "sandbox_create", profile="test")["structuredContent"]["sandbox_id"]
    ran = call(world.owner, session, "run_command", command="echo hi", sandbox_id=box)
    assert ran["structuredContent"]["stdout"] == "hi\n"
    # A sandbox is the tenant's, a session is not.
    _, stranger = world.server.tenant("strangers")
    theirs, _ = begin(stranger)
    assert problem(call(stranger, theirs, "run_command", command="true", sandbox_id=box))["code"] == "not_found"


def test_an_idempotency_key_makes_one_sandbox():
    world = World()
    session, _ = begin(world.owner)
    made = [call(world.owner, session, "sandbox_create", {"Idempotency-Key": "once"}, profile="test") for _ in range(2)]
    ids = [one["structuredContent"]["sandbox_id"] for one in made]
    assert ids[0] == ids[1], ids
    box = {"sandbox_id": ids[0], "port": 8000}
    first, again = (call(world.owner, session, "expose_port", {"Idempotency-Key": "port"}, **box) for _ in range(2))
    assert first["structuredContent"]["token"] == again["structuredContent"]["token"]
    other = problem(call(world.owner, session, "sandbox_create", {"Idempotency-Key": "once"}, profile="test@1"))
    assert other["code"] == "conflict"
    # Simple clients write the same id each time.
    assert call(world.owner, session, "sandbox_create", profile="test")["structuredContent"]["sandbox_id"] != ids[0]


def test_a_message_counts_as_one_request():
    world = World()
    session, _ = begin(world.owner)
    box = call(world.owner, session, "sandbox_create", profile="test")["structuredContent"]["sandbox_id"]
    world.server.operator().ok("PUT", f"/v1/tenants/{world.tenant}/limits", {"requests_per_second": 2})

    def at_once():
        answers = [post(world.owner, request("tools/call", {"name": "run_command", "arguments": {
            "command": "true", "sandbox_id": box}}), session) for _ in range(8)]
        # What a tool asks within the gateway is not refused for it.
        assert not any(answer.json()["result"]["isError"] for answer in answers if answer.status == 200)
        return any(answer.status == 429 for answer in answers)

    wait_until(at_once, 20, "the limit holds")


def test_a_suspension_ends_what_runs():
    world = World()
    session, _ = begin(world.owner)
    box = call(world.owner, session, "sandbox_create", profile="test")["structuredContent"]["sandbox_id"]
    message = request("tools/call", {"name": "run_command", "_meta": {"progressToken": "t"}, "arguments": {
        "command": "touch began; sleep 600", "sandbox_id": box}})
    answers = []
    own = Client(world.owner.host, world.owner.port, world.owner.key)
    running = threading.Thread(target=lambda: answers.append(post(own, message, session)))
    running.start()
    began = f"/v1/sandboxes/{box}/files/stat?path=began"
    wait_until(lambda: world.owner.call("GET", began).status == 200, 20, "the command runs")
    world.server.operator().ok("PATCH", "/v1/tenants/" + world.tenant, {"suspended": True})
    running.join(20)
    assert not running.is_alive(), "it runs on"
    told = [json.loads(line[6:]) for line in answers[0].body.decode().splitlines() if line.startswith("data: ")]
    assert problem(told[-1]["result"])["code"] == "forbidden", told
    world.server.operator().ok("PATCH", "/v1/tenants/" + world.tenant, {"suspended": False})


def cancelled(number, **more):
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, **more}}


class RunningCall:
    """A run_command of 600 s that began."""

    def __init__(self, client, session, box, number, **meta):
        self.client, self.box, self.answers = client, box, []
        message = request("tools/call", {"name": "run_command", "_meta": meta, "arguments": {
            "command": f"touch began-{number}; sleep 600", "sandbox_id": box}}, number)
        own = Client(client.host, client.port, client.key)
        self.thread = threading.Thread(target=lambda: self.answers.append(post(own, message, session)))
        self.thread.start()
        wait_until(lambda: client.call("GET", f"/v1/sandboxes/{box}/files/stat?path=began-{number}").status == 200, 20,
                   "the command runs")

    def runs(self):
        items = self.client.ok("GET", f"/v1/sandboxes/{self.box}/processes?limit=100")["items"]
        return any(one["state"] == "running" for one in items)

    def ended_unanswered(self):
        self.thread.join(20)
        assert not self.thread.is_alive(), "the request is still open"
        answer = self.answers[0]
        assert (answer.status, answer.headers["Content-Type"]) == (200, "text/event-stream"), answer.headers
        assert b'"result"' not in answer.body and b'"error"' not in answer.body, answer.body
        wait_until(lambda: not self.runs(), 20, "the program has ended")


def test_a_cancelled_call_ends_without_an_answer():
    world = World()
    session, _ = begin(world.owner)
    neighbour, _ = begin(world.owner)
    _, stranger = world.server.tenant("strangers")
    theirs, _ = begin(stranger)
    box = call(world.owner, session, "sandbox_create", profile="test")["structuredContent"]["sandbox_id"]
    for number, meta in ((7, {}), ("seven", {"progressToken": "t"})):
        running = RunningCall(world.owner, session, box, number, **meta)
        assert post(stranger, cancelled(number), session).status == 404
        for client, where, other in ((stranger, theirs, number), (world.owner, neighbour, number),
                                     (world.owner, session, str(number) + "0"), (world.owner, session, None),
                                     (world.owner, session, {"a": 1})):
            assert post(client, cancelled(other), where).status == 202
        running.thread.join(0.5)
        assert running.thread.is_alive() and running.runs(), "another's notification ended it"
        assert post(world.owner, cancelled(number, reason="enough"), session).status == 202
        running.ended_unanswered()
        # It came too late.
        assert post(world.owner, cancelled(number), session).status == 202
    assert call(world.owner, session, "run_command", command="echo on", sandbox_id=box)["structuredContent"]["stdout"]


def test_the_end_of_a_session_ends_its_calls():
    world = World()
    session, _ = begin(world.owner)
    neighbour, _ = begin(world.owner)
    boxes = [call(world.owner, session, "sandbox_create", profile="test")["structuredContent"]["sandbox_id"] for _ in "12"]
    calls = [RunningCall(world.owner, session, boxes[0], 1), RunningCall(world.owner, session, boxes[0], 2, progressToken=1)]
    other = RunningCall(world.owner, neighbour, boxes[1], 1)
    assert world.owner.call("DELETE", "/mcp", headers={"Mcp-Session-Id": session}).status == 204
    for one in calls:
        one.ended_unanswered()
    assert other.thread.is_alive() and other.runs(), "another session's call was ended"
    assert world.owner.call("DELETE", "/mcp", headers={"Mcp-Session-Id": neighbour}).status == 204
    other.ended_unanswered()


def test_a_sandbox_lives_while_its_session_is_used():
    with Server(settings={"mcp.profile": "short"}) as server:
        # It would end before its third use.
        server.profile("short", ttl_seconds=6, idle_timeout_seconds=0)
        _, owner = server.tenant("lasting")
        session, _ = begin(owner)
        first = call(owner, session, "run_command", command="echo kept > file")["structuredContent"]
        for _ in range(5):
            time.sleep(2)
            again = call(owner, session, "run_command", command="cat file")["structuredContent"]
            assert (again["stdout"], again["sandbox_id"]) == ("kept\n", first["sandbox_id"]), again
            assert "new_sandbox" not in again, again
        lasting = f"/v1/sandboxes/{first['sandbox_id']}"
        wait_until(lambda: owner.ok("GET", lasting)["state"] == "stopped", 20, "it ends when nobody uses it")
        assert call(owner, session, "run_command", command="ls")["structuredContent"]["new_sandbox"]


def test_two_gateways_know_one_session():
    with Server(settings={"mcp.profile": "test"}) as first:
        key = open(first.home + "/master.key").read().strip()
        url = f"host={first.home}/postgres user=sandgate dbname=sandgate"
        with Server(settings={"database.url": url, "mcp.profile": "test"},
                    environment={"SANDGATE_MASTER_KEY": key}) as second, Server() as backend:
            two_gateways(first, second, backend)


def two_gateways(first, second, backend):
    # A backend that both reach: what is local to one machine is not.
    backend.profile("inner", **PROFILE)
    _, inner = backend.tenant("inner", "developer")
    first.operator().ok("PUT", "/v1/deployments/both", {
        "provider": "sandgate", "enabled": True, "credentials": {"api_key": inner.key},
        "settings": {"url": f"http://127.0.0.1:{backend.port}", "profile": "inner"}})
    first.profile("test", **PROFILE, placement={"only": ["both"]})
    _, one = first.tenant("outer")
    other = Client(second.host, second.port, one.key)
    for client in (one, other):
        wait_until(lambda: next((p for p in client.ok("GET", "/v1/providers")["items"]
                                 if p["deployment"] == "both" and p["descriptor"]["verbs"]), None), 60, "it is known")
    session, _ = begin(one)
    results = []

    def use(client):
        own = Client(client.host, client.port, client.key)
        results.append(call(own, session, "run_command", command="echo $$ >> seen; echo hi"))

    threads = [threading.Thread(target=use, args=(client,)) for client in (one, other) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [result["structuredContent"] for result in results]
    assert len(found) == 6 and len({result["sandbox_id"] for result in found}) == 1, results
    assert sum(result.get("new_sandbox", False) for result in found) == 1, results
    seen = call(other, session, "read_file", path="seen")["structuredContent"]["text"]
    assert len(seen.splitlines()) == 6, seen
    running = RunningCall(one, session, found[0]["sandbox_id"], 9)
    assert post(other, cancelled(9), session).status == 202
    running.ended_unanswered()
    assert other.call("DELETE", "/mcp", headers={"Mcp-Session-Id": session}).status == 204
    assert post(one, request("ping"), session).status == 404
    assert not one.ok("GET", "/v1/sandboxes?state=running")["items"]


if __name__ == "__main__":
    main(globals())
