#!/usr/bin/env python3
"""Event streams and webhooks against the real program: order, resuming, isolation, signatures,
retries, kill -9, and addresses that are refused.

    SANDGATE_BINARY=build/gateway/sandgate tests/api/events.py [names of tests]

Exit code 0, 1 for failures, 77 when an account other than root can start no sandbox here.
"""
import os
import re
import socket
import sys
import threading
import time

sys.dont_write_bytecode = True

from events_world import ROOT, SECRET, Stream, World, servers  # noqa: E402
from cases import run_all, wait_until  # noqa: E402

world = None


def of(events, box):
    return [event["type"] for event in events if event["data"].get("sandbox") == box]


def documented_verify():
    """The function that docs/events.md shows."""
    text = open(os.path.join(ROOT, "docs", "events.md"), encoding="utf-8").read()
    names = {}
    exec(re.search(r"```python\n(.*?)```", text, re.S).group(1), names)
    return names["verify"]


def verify(headers, body, secret=SECRET):
    return documented_verify()(secret, headers["Sandgate-Signature"], body)


def test_a_sandboxes_stream_tells_its_life_and_ends():
    box = world.create(metadata={"run": "1"})
    stream = Stream(world.owner, f"/v1/sandboxes/{box}/events")
    stream.wait(2)
    assert not stream.ended
    begin = time.monotonic()
    world.kill(box)
    wait_until(lambda: stream.ended, 10, "the stream ends")
    print(f"      from kill to the stream's end: {(time.monotonic() - begin) * 1000:.0f} ms")
    assert stream.types() == ["sandbox.created", "sandbox.running", "sandbox.killed"], stream.types()
    event = stream.events[1]
    assert event["specversion"] == "1.0" and event["subject"] == "sandboxes/" + box
    assert event["source"] == "/v1/tenants/" + world.tenant
    assert event["data"]["deployment"] == "local" and event["data"]["metadata"] == {"run": "1"}
    assert stream.ids == sorted(set(stream.ids))


def test_a_place_ahead_of_the_log_loses_no_event():
    """As after a log was restored from a backup."""
    box = world.create()
    stream = Stream(world.owner, f"/v1/sandboxes/{box}/events", last=1 << 40)
    all_of_them = Stream(world.owner, "/v1/events?types=sandbox.killed", last=1 << 40)
    world.kill(box)
    wait_until(lambda: stream.ended, 10, "the stream ends")
    assert stream.types() == ["sandbox.killed"], stream.types()
    wait_until(lambda: all_of_them.events, 10, "the tenant's stream")
    assert [event["subject"] for event in all_of_them.events] == ["sandboxes/" + box], all_of_them.events
    all_of_them.close()


def test_expiry_and_idleness_are_told():
    boxes = [world.create(ttl_seconds=1), world.create(idle_timeout_seconds=1)]
    streams = [Stream(world.owner, f"/v1/sandboxes/{box}/events?types=sandbox.expired") for box in boxes]
    for stream, reason in zip(streams, ["expired", "idle"]):
        wait_until(lambda: stream.ended, 30, "the stream ends")
        assert [event["data"]["reason"] for event in stream.events] == [reason], stream.events


def test_the_tenants_stream_resumes_with_none_lost_and_none_twice():
    stream = Stream(world.owner, "/v1/events?types=sandbox.*")
    boxes, threads = [], []

    def live():
        for _ in range(3):
            box = world.create(client=servers.Client(world.server.host, world.server.port, world.owner.key))
            boxes.append(box)
            world.kill(box, servers.Client(world.server.host, world.server.port, world.owner.key))

    for _ in range(3):
        threads.append(threading.Thread(target=live))
        threads[-1].start()
    # Cut off again and again while events come in.
    ids, events, last = [], [], stream.place
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.15)
        stream.close()
        wait_until(lambda: stream.ended, 10, "the reader ends")
        ids += stream.ids
        events += stream.events
        last = ids[-1] if ids else last
        stream = Stream(world.owner, "/v1/events?types=sandbox.*", last)
    for thread in threads:
        thread.join()
    wait_until(lambda: len(ids) + len(stream.ids) >= 27, 10, "27 events")
    time.sleep(0.3)  # for what should not come
    ids += stream.ids
    events += stream.events
    stream.close()
    assert len(ids) == 27 and len(set(ids)) == 27 and ids == sorted(ids), ids
    for box in boxes:
        assert of(events, box) == ["sandbox.created", "sandbox.running", "sandbox.killed"], of(events, box)
    # From the oldest on, the same once more.
    again = Stream(world.owner, "/v1/events?types=sandbox.*", 0)
    wait_until(lambda: set(ids) <= set(again.ids), 10, "all from the beginning")
    again.close()


def test_tenants_are_apart():
    mine = Stream(world.owner, "/v1/events")
    theirs = Stream(world.other, "/v1/events")
    all_of_them = Stream(world.server.operator(), "/v1/events")
    for_tenant = Stream(world.server.operator(world.tenant), "/v1/events")
    box = world.create()
    for stream in (mine, all_of_them, for_tenant):
        stream.wait(2)
    assert world.other.call("GET", f"/v1/sandboxes/{box}/events").status == 404
    own = world.create(client=world.other)
    theirs.wait(2)
    all_of_them.wait(4)
    assert of(theirs.events, box) == [] and len(of(theirs.events, own)) == 2
    assert of(mine.events, own) == [] and of(for_tenant.events, own) == []
    for stream in (mine, theirs, all_of_them, for_tenant):
        stream.close()
    world.kill(box)
    world.kill(own, world.other)


def test_webhooks_are_signed_and_filtered():
    world.hook("signed", types=["sandbox.running", "sandbox.k*"])
    begin = time.monotonic()
    box = world.create()
    wait_until(lambda: of(world.receiver.events("/signed"), box), 10, "a delivery")
    print(f"      from create to delivery: {(time.monotonic() - begin) * 1000:.0f} ms")
    world.kill(box)
    wait_until(lambda: len(of(world.receiver.events("/signed"), box)) >= 2, 10, "two deliveries")
    headers, body = world.receiver.got("/signed")[0]
    assert headers["Content-Type"].startswith("application/cloudevents+json"), headers
    assert verify(headers, body) and not verify(headers, body + b" ") and not verify(headers, body, "other")
    late = documented_verify()(SECRET, headers["Sandgate-Signature"], body, tolerance_seconds=-1)
    assert not late, "an old signature is believed"
    assert sorted(of(world.receiver.events("/signed"), box)) == ["sandbox.killed", "sandbox.running"]
    world.owner.call("DELETE", "/v1/webhooks/signed")


def test_failures_are_tried_again():
    world.hook("flaky", types=["sandbox.running"])
    with world.receiver.lock:
        world.receiver.answers["/flaky"] = [500, 302]
    box = world.create()
    wait_until(lambda: world.owner.ok("GET", "/v1/webhooks/flaky")["state"] == "failing", 10, "it shows as failing")
    shown = world.owner.ok("GET", "/v1/webhooks/flaky")
    assert shown["last_failure"]["reason"] in ("the receiver answered 500", "the receiver answered 302"), shown
    wait_until(lambda: len(world.receiver.got("/flaky")) >= 3, 30, "three tries")
    ids = {event["id"] for event in world.receiver.events("/flaky")}
    assert len(ids) == 1, ids
    assert ids == {shown["last_failure"]["event"]}
    assert not world.receiver.got("/elsewhere"), "a redirect was followed"
    wait_until(lambda: world.owner.ok("GET", "/v1/webhooks/flaky")["state"] == "active", 10, "it recovers")
    times = [verify(headers, body) for headers, body in world.receiver.got("/flaky")]
    assert times == [True, True, True]
    world.owner.call("DELETE", "/v1/webhooks/flaky")
    world.kill(box)


def test_other_tenants_webhooks_get_nothing():
    world.hook("theirs", client=world.other, types=["*"])
    world.hook("mine", types=["*"])
    operator = world.server.operator()
    world.hook("everybody", client=operator, types=["sandbox.*"])
    box = world.create()
    world.kill(box)
    wait_until(lambda: len(of(world.receiver.events("/mine"), box)) >= 3, 10, "three deliveries")
    wait_until(lambda: len(of(world.receiver.events("/everybody"), box)) >= 3, 10, "the operator's three")
    assert of(world.receiver.events("/theirs"), box) == []
    for client, name in ((world.other, "theirs"), (world.owner, "mine"), (operator, "everybody")):
        client.call("DELETE", "/v1/webhooks/" + name)


def test_nothing_is_lost_when_the_gateway_is_killed():
    world.hook("killed", types=["sandbox.running", "sandbox.killed"])
    boxes = []
    for _ in range(3):
        box = world.create()
        boxes.append(box)
        world.kill(box)
        world.kill_gateway()
    wanted = {(box, kind) for box in boxes for kind in ("sandbox.running", "sandbox.killed")}

    def delivered():
        return {(event["data"]["sandbox"], event["type"]) for event in world.receiver.events("/killed")}

    # What was under way when it was killed waits for its lease, a minute.
    wait_until(lambda: wanted <= delivered(), 90, "every event")
    history = Stream(world.owner, "/v1/events?types=sandbox.*", 0)
    for box in boxes:
        wait_until(lambda: len(of(history.events, box)) == 3, 10, "each event once in the log")
    history.close()
    world.owner.call("DELETE", "/v1/webhooks/killed")


def test_private_receivers_are_refused_when_they_are_dialled():
    name = socket.gethostname()
    addresses = {info[4][0] for info in socket.getaddrinfo(name, None, socket.AF_INET)}
    if not all(address.startswith(("127.", "10.", "172.", "192.168.")) for address in addresses):
        print(f"      skipped: {name} is not a name of a private address here")
        return
    # The control: where it is allowed, the same name is reached.
    world.hook("named", url=world.receiver.url("/named", name), types=["sandbox.created"])
    box = world.create()
    wait_until(lambda: world.receiver.got("/named"), 10, "the control's delivery")
    world.kill(box)
    strict = servers.Server(world.server.binary).start()
    try:
        tenant, owner = strict.tenant("strict")
        strict.profile("nowhere", isolation="process", placement={"only": ["local"]})
        body = {"url": world.receiver.url("/inside", name), "secret": SECRET, "types": ["sandbox.*"]}
        owner.ok("PUT", "/v1/webhooks/inside", body)
        refused = owner.call("PUT", "/v1/webhooks/literal", {**body, "url": world.receiver.url("/inside")})
        assert refused.status == 400, refused.body
        owner.call("POST", "/v1/sandboxes", {"profile": "nowhere"})
        failing = lambda: owner.ok("GET", "/v1/webhooks/inside")["last_failure"]
        reason = wait_until(failing, 20, "a failure is shown")["reason"]
        assert reason == "the receiver's address is not a public one", reason
        assert not world.receiver.got("/inside")
        stream = Stream(owner, "/v1/events")
        begin = time.monotonic()
        strict.stop()
        took = time.monotonic() - begin
        wait_until(lambda: stream.ended, 5, "the stream ends with the server")
        assert took < 10, f"an open stream held up the stop for {took:.1f} s"
    finally:
        strict.close()


def test_secrets_are_never_printed():
    client = world.owner
    world.hook("quiet", types=["budget.*"])
    texts = [client.call("GET", path).body for path in ("/v1/webhooks", "/v1/webhooks/quiet", "/v1/audit")]
    texts.append(client.call("GET", "/metrics").body)
    texts.append(world.server.log().encode())
    assert b"webhook.put" in texts[2], "the control: the trail knows of webhooks"
    for text in texts:
        assert SECRET.encode() not in text, text[:300]
    for word in (b'sandgate_webhook_deliveries_total{outcome="delivered"}', b"sandgate_events_total"):
        assert word in texts[3], word


def main():
    global world
    world = World()
    try:
        answer = world.owner.call("POST", "/v1/sandboxes", {"profile": "small"})
        if answer.status != 201 and os.geteuid() != 0:
            print(f"skipped: this account can start no sandbox here: {answer.body[:300]!r}")
            return 77
        assert answer.status == 201, answer.body[:300]
        world.kill(answer.json()["id"])
        code = run_all(globals(), sys.argv[1:])
        if code:
            print("the server's last lines:\n" + world.server.log()[-3000:])
        return code
    finally:
        world.server.close()


if __name__ == "__main__":
    sys.exit(main())
