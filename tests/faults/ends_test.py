#!/usr/bin/env python3
"""Deletes that somebody's death cuts off: what was answered has ended for good and is charged to its end, nothing is
lost and nothing is called a failure. Run as root; takes names of single tests."""
import http.client
import json
import os
import random
import signal
import sys
import threading
import time
from datetime import datetime, timedelta, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support"]

from cases import main, wait_until  # noqa: E402
from money_test import database_processes  # noqa: E402
from server import Client, Server  # noqa: E402

SANDBOXES, ROUNDS = 16, 3
AT_ITS_START = 12  # a gateway looks at its machine as it starts, and then every 15 s
CLOCKS = timedelta(milliseconds=50)  # the gateway's is the database's to within a round trip


def moment(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def there(server):
    """What the node has."""
    return {name for name in os.listdir(server.home + "/run/sandboxes") if name.startswith("sb")}


class Deletes:
    """Four clients that delete sandboxes, each its own share; what they were told."""

    def __init__(self, server, key, boxes):
        self.answered, self.unanswered = {}, set()
        self.threads = [threading.Thread(target=self.delete, args=(Client(server.host, server.port, key), boxes[i::4]))
                        for i in range(4)]
        for thread in self.threads:
            thread.start()

    def delete(self, client, boxes):
        for box in boxes:
            try:
                status = client.call("DELETE", f"/v1/sandboxes/{box}").status
            except (OSError, http.client.HTTPException):
                status = 0
            if status in (202, 204):
                self.answered[box] = datetime.now(timezone.utc)
            else:
                self.unanswered.add(box)

    def wait_for(self, answers):
        while len(self.answered) < answers and any(thread.is_alive() for thread in self.threads):
            time.sleep(0.0005)

    def join(self):
        for thread in self.threads:
            thread.join()


def back(server, client):
    """Whether the gateway answers, wherever it listens now."""
    try:
        client.close()
        client.port = server.port = int(open(server.home + "/gateway/listen").read().rsplit(":", 1)[1])
        return client.call("GET", "/readyz").status == 200
    except (OSError, ValueError, IndexError, http.client.HTTPException):
        return False


def charged_to(client):
    """The last moment that each sandbox was charged for."""
    ends = {}
    for line in client.call("GET", "/v1/usage/export?format=json").body.splitlines():
        event = json.loads(line)
        ends[event["sandbox"]] = max(moment(event["interval_end"]), ends.get(event["sandbox"], moment(event["interval_end"])))
    return ends


def check_answered(client, deletes):
    """What was answered is so from then on, and nobody moves it: not by asking for usage, nor by deleting once more."""
    charged_to(client)
    for box in deletes.answered:
        assert client.call("DELETE", f"/v1/sandboxes/{box}").status in (202, 204)
        record = wait_until(lambda: (lambda one: one if one["state"] == "stopped" else None)(
            client.ok("GET", f"/v1/sandboxes/{box}")), 5, f"{box} has ended still")
        late = moment(record["ended_at"]) - deletes.answered[box]
        assert late <= CLOCKS, (record["ended_at"], deletes.answered[box])


def check_ends(server, client, deletes, agree_within):
    check_answered(client, deletes)
    agree = lambda: there(server) == {box["id"] for box in client.ok("GET", "/v1/sandboxes?state=running&limit=100")["items"]}  # noqa: E731
    wait_until(agree, agree_within, "node and registry agree on what runs")
    for box in deletes.unanswered:
        assert client.call("DELETE", f"/v1/sandboxes/{box}").status in (202, 204)
    wait_until(lambda: not there(server), 45, "all have ended")
    ends = charged_to(client)
    for box in list(deletes.answered) + list(deletes.unanswered):
        record = wait_until(lambda: (lambda one: one if one["state"] not in ("running", "stopping") else None)(
            client.ok("GET", f"/v1/sandboxes/{box}")), 45, f"{box} has ended")
        assert record["state"] == "stopped", record
        assert ends[box] == moment(record["ended_at"]), (box, ends[box], record["ended_at"])
        if box in deletes.answered:
            late = ends[box] - deletes.answered[box]
            assert late <= CLOCKS, (box, ends[box], deletes.answered[box])


def made(client):
    """A sandbox, as soon as a node that was killed is back."""
    answer = wait_until(lambda: (lambda one: one if one.status != 503 else None)(
        client.call("POST", "/v1/sandboxes", {"profile": "test"})), 15, "the node is back")
    assert answer.status == 201, (answer.status, answer.body)
    return answer.json()["id"]


def broken_amid_deletes(kill, agree_within=45):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    with Server() as server:
        _, client = server.tenant("ends")
        server.profile("test", resources={"vcpu": 0.25, "memory_mib": 128, "disk_gib": 1})
        cut_off = 0
        for _ in range(ROUNDS):
            boxes = [made(client) for _ in range(SANDBOXES)]
            deletes = Deletes(server, client.key, boxes)
            deletes.wait_for(chance.randrange(SANDBOXES // 2))
            kill(server)
            deletes.join()
            wait_until(lambda: back(server, client), 30, "the gateway is back")
            check_ends(server, client, deletes, agree_within)
            cut_off += len(deletes.unanswered)
        return cut_off


def kill_database(server):
    for pid in database_processes(server):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def test_the_gateway_dies_amid_deletes():
    cut_off = broken_amid_deletes(lambda server: server.kill("worker"), AT_ITS_START)
    assert cut_off > 0, "nothing was cut off: the test shows nothing"


def test_the_node_dies_amid_deletes():
    broken_amid_deletes(lambda server: server.kill("node"))


def test_the_database_dies_amid_deletes():
    with_pause = lambda server: (kill_database(server), time.sleep(0.5))  # noqa: E731
    broken_amid_deletes(with_pause)


def test_both_die_amid_deletes():
    broken_amid_deletes(lambda server: (server.kill("worker"), kill_database(server)), AT_ITS_START)


if __name__ == "__main__":
    main(globals())
