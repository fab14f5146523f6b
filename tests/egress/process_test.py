#!/usr/bin/env python3
"""The process that carries what sandboxes send: what it may do itself, and that neither its death nor the node's loses
anything. Run as root; takes the names of single tests."""
import json
import os
import signal
import sys
import threading
import time
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support", HERE + "/../faults"]

from cases import wait_until  # noqa: E402
from server import Client  # noqa: E402
from upstreams import Sink, Web  # noqa: E402
from world import World, require_root  # noqa: E402

world = web = None


def test_the_egress_process_is_bare():
    pid = world.egress_pid()
    status = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status").read().splitlines())
    assert "0" not in status["Uid"].split() and status["Groups"].strip() == "", status["Uid"]
    for field in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
        assert int(status[field], 16) == 0, field
    assert status["NoNewPrivs"].strip() == "1" and status["Seccomp"].strip() == "2"
    for thread in os.listdir(f"/proc/{pid}/task"):
        assert "Seccomp:\t2" in open(f"/proc/{pid}/task/{thread}/status").read(), thread


def test_its_log_has_the_configured_form():
    lines = [line for line in world.server.log().splitlines() if "egress process ready" in line]
    assert lines, world.server.log()[-2000:]
    for line in lines:
        assert json.loads(line)["event"] == "egress process ready", line


def test_a_killed_egress_process_comes_back():
    box = world.box(f"api.test.example:{web.port}")
    url = f"http://api.test.example:{web.port}/plain"
    assert world.curl(box, url)["stdout"] == "hello from outside\n"
    old = world.egress_pid()
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: world.egress_pid() not in (None, old), 10, "a new egress process")
    wait_until(lambda: world.curl(box, url)["stdout"] == "hello from outside\n", 10, "the way out is open again")
    refused = world.curl(box, f"http://other.test.example:{web.port}/plain", "-o", "/dev/null", "-w", "%{http_code}")
    assert refused["stdout"] == "403", refused
    world.end(box)


def test_an_egress_process_that_hangs_is_replaced():
    box = world.box(f"api.test.example:{web.port}")
    url = f"http://api.test.example:{web.port}/plain"
    assert world.curl(box, url)["stdout"] == "hello from outside\n"
    hangs = world.egress_pid()
    os.kill(hangs, signal.SIGSTOP)
    wait_until(lambda: world.egress_pid() not in (None, hangs), 60, "a new egress process")
    wait_until(lambda: world.curl(box, url)["stdout"] == "hello from outside\n", 10, "the way out is open again")
    world.end(box)


def test_changes_that_wait_for_the_egress_process_hold_up_nobody_else():
    boxes = [world.box(f"api.test.example:{web.port}") for _ in range(6)]  # more than the node has threads
    statuses = []

    def close(box):
        client = Client(world.server.host, world.server.port, world.client.key)
        statuses.append(client.call("PUT", f"/v1/sandboxes/{box}/network", {"default": "deny", "allow": []}).status)

    os.kill(world.egress_pid(), signal.SIGSTOP)
    changes = [threading.Thread(target=close, args=(box,)) for box in boxes]
    for change in changes:
        change.start()
    time.sleep(0.5)
    world.end(world.box())
    waited = sum(change.is_alive() for change in changes)
    for change in changes:
        change.join()
    assert waited == len(boxes), "somebody else had to wait until these gave up"
    assert statuses == [200] * len(boxes), statuses
    wait_until(world.egress_pid, 10, "a new egress process")
    for box in boxes:
        refused = world.curl(box, f"http://api.test.example:{web.port}/plain", "-o", "/dev/null", "-w", "%{http_code}")
        assert refused["stdout"] in ("403", "000"), refused
        world.end(box)


def test_addresses_told_before_a_restart_name_nothing_after_it():
    box = world.box(f"api.test.example:{web.port}")
    told = lambda: world.python(box, "import socket; print(socket.gethostbyname('api.test.example'))")["stdout"].strip()
    fetch = lambda address: world.curl(box, f"http://api.test.example:{web.port}/plain", "--noproxy", "*", "--resolve",
                                       f"api.test.example:{web.port}:{address}")
    before = told()
    assert before.startswith(("198.18.", "198.19.")), before
    assert fetch(before)["stdout"] == "hello from outside\n", "the control: it names something now"
    old = world.egress_pid()
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: world.egress_pid() not in (None, old), 10, "a new egress process")
    wait_until(lambda: told() != "", 10, "names are answered again")
    heard = len(web.heard)
    stale = fetch(before)
    assert stale["exit_code"] != 0 and len(web.heard) == heard, stale
    after = told()
    assert after != before
    assert fetch(after)["stdout"] == "hello from outside\n"
    world.end(box)


def test_a_killed_node_comes_back():
    box = world.box(f"api.test.example:{web.port}")
    url = f"http://api.test.example:{web.port}/plain"
    assert world.curl(box, url)["stdout"] == "hello from outside\n"
    starts = world.server.log().count("node ready")
    world.server.kill("node")
    wait_until(lambda: world.server.log().count("node ready") > starts, 20, "a new node")
    wait_until(lambda: world.curl(box, url)["stdout"] == "hello from outside\n", 20, "the way out is open again")
    world.end(box)


def test_a_killed_node_takes_an_egress_process_that_hangs_along():
    """Which would keep the ports inside that the next one needs."""
    box = world.box(f"api.test.example:{web.port}")
    url = f"http://api.test.example:{web.port}/plain"
    assert world.curl(box, url)["stdout"] == "hello from outside\n"
    os.kill(world.egress_pid(), signal.SIGSTOP)
    starts = world.server.log().count("node ready")
    world.server.kill("node")
    wait_until(lambda: world.server.log().count("node ready") > starts, 20, "a new node")
    wait_until(lambda: world.curl(box, url)["stdout"] == "hello from outside\n", 20, "the way out is open again")
    world.end(box)


def test_what_a_sandbox_is_sent_is_no_egress():
    box = world.box(f"api.test.example:{web.port}")
    counted = lambda: world.client.ok("GET", f"/v1/sandboxes/{box}/metrics")["egress_bytes"]
    big = f"http://api.test.example:{web.port}/big"
    for proxy in ("http://127.0.0.1:3128", ""):  # asked to, and in between
        before = counted()
        got = world.curl(box, big, "--proxy", proxy, "-o", "/dev/null", "-w", "%{size_download}")
        assert int(got["stdout"]) > 1_000_000, got
        assert before < counted() < before + 2000, (proxy, before, counted())
    world.end(box)


def test_nothing_leaves_uncounted_at_the_end():
    """What a program had handed over when its sandbox ended still lies in buffers."""
    sink = Sink()
    box = world.box(f"api.test.example:{sink.port}")
    code = ("import socket\n"
            "s = socket.create_connection(('127.0.0.1', 3128))\n"
            f"s.sendall(b'CONNECT api.test.example:{sink.port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')\n"
            "s.recv(100)\n"
            "s.sendall(bytes(1 << 26))")
    world.run(box, "python3", "-c", code, background=True)
    counted = lambda: world.client.ok("GET", f"/v1/sandboxes/{box}/metrics")["egress_bytes"]

    def full():
        before = counted()
        time.sleep(0.3)
        return before > 0 and counted() == before

    wait_until(full, 20, "all buffers are full")
    sink.flows.set()
    time.sleep(0.02)
    world.client.ok("DELETE", f"/v1/sandboxes/{box}")
    assert sink.ended.wait(20)
    usage = world.client.ok("GET", "/v1/usage?group_by=profile")["items"]
    metered, = [item["meters"]["egress_gib"] for item in usage if item["profile"] == world.last_profile]
    assert sink.received <= Decimal(metered) * 2**30 + 10, (sink.received, metered)


def test_no_death_loses_a_byte_of_the_count():
    box = world.box(f"api.test.example:{web.port}")
    url = f"http://api.test.example:{web.port}/plain"
    counted = lambda: world.client.ok("GET", f"/v1/sandboxes/{box}/metrics")["egress_bytes"]

    def killed_node():
        starts = world.server.log().count("node ready")
        world.server.kill("node")
        wait_until(lambda: world.server.log().count("node ready") > starts, 20, "a new node")

    def killed_egress():
        old = world.egress_pid()
        os.kill(old, signal.SIGKILL)
        wait_until(lambda: world.egress_pid() not in (None, old), 10, "a new egress process")

    sent = 0
    for kill in (killed_egress, killed_node):
        world.run(box, "sh", "-c", f"head -c 5000000 /dev/zero | curl -sS -m 10 --data-binary @- -o /dev/null {url}")
        sent += 5_000_000
        assert counted() >= sent, "told as soon as it was sent"
        kill()
        wait_until(lambda: world.curl(box, url)["stdout"] == "hello from outside\n", 20, "the way out is open again")
        assert counted() >= sent, (kill, counted(), sent)
    counts = counted()
    world.client.ok("DELETE", f"/v1/sandboxes/{box}")
    usage = world.client.ok("GET", "/v1/usage?group_by=profile")["items"]
    metered, = [item["meters"]["egress_gib"] for item in usage if item["profile"] == world.last_profile]
    assert abs(Decimal(metered) * 2**30 - counts) < 10, (metered, counts)


if __name__ == "__main__":
    require_root()
    world, web = World(**{"log.format": "json"}), Web()
    world.run_tests(globals())
