#!/usr/bin/env python3
"""Money under kill -9 and outages of the database, against the real program: every end charged at its moment. Run as
root; takes the names of single tests."""
import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timezone
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support", HERE + "/../bench"]

from cases import main, wait_until  # noqa: E402
from faults_test import again, agent_pid, create, fresh, journals, psql, run, wait_until_booked  # noqa: E402


def database_processes(server):
    postmaster = server.pids("postgres")[0]
    children = subprocess.run(["pgrep", "-P", str(postmaster)], capture_output=True, text=True).stdout.split()
    return [postmaster] + [int(pid) for pid in children]


def restarted_worker(server, client):
    """Kills the gateway and waits for the next one to listen."""
    listen = server.home + "/gateway/listen"
    os.unlink(listen)
    server.kill("worker")
    return lambda: os.path.exists(listen) and again_at(server, client, listen)


def again_at(server, client, listen):
    server.port = int(open(listen).read().rsplit(":", 1)[1])
    return again(server, client)


def end_all(client):
    while running := client.ok("GET", "/v1/sandboxes?state=running&limit=100")["items"]:
        for record in running:
            client.ok("DELETE", f"/v1/sandboxes/{record['id']}")


def test_an_end_in_an_outage_is_charged_at_its_moment():
    server, _, client = fresh()
    try:
        ended, living = create(client)["id"], create(client)["id"]
        for box in (ended, living):
            run(client, box, "echo", "on")
        frozen = database_processes(server)
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(1)
            before = datetime.now(timezone.utc)
            answer = client.call("DELETE", f"/v1/sandboxes/{ended}")
            assert answer.status in (202, 204), answer.body
            asked_within = datetime.now(timezone.utc)
            wait_until(lambda: not any(ended in path for path in journals(server)), 10, f"killed, as {answer.status} said")
            metrics = client.call("GET", "/metrics").body.decode()
            assert "sandgate_outage_journal_records 1" in metrics, metrics
            looked = subprocess.run([server.binary, "doctor", "--json", "--set", f"home={server.home}"],
                                    capture_output=True, text=True).stdout
            assert "1 record of an ended sandbox waits" in looked, looked
            assert client.call("POST", "/v1/sandboxes", {"profile": "test"}).status == 503
            assert run(client, living, "echo", "on")["stdout"] == "on\n", "running sandboxes live on"
            listening = restarted_worker(server, client)
            time.sleep(6)
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
        wait_until(listening, 60, "the gateway is back")
        wait_until(lambda: "sandgate_outage_journal_records 0" in client.call("GET", "/metrics").body.decode(), 20,
                   "the end is in the database")
        wait_until_booked(server)
        charged = psql(server, "SELECT extract(epoch FROM max(interval_end)) FROM usage_event"
                               f" WHERE sandbox = '{ended}' AND meter = 'vcpu_second'")
        begin, end = (Decimal(str(at.timestamp())) for at in (before, asked_within))
        assert begin - Decimal("0.05") <= Decimal(charged) <= end, f"charged until {charged}, asked at {begin}"
        wait_until(lambda: client.call("GET", "/readyz").status == 200, 20, "the backend is described")
        assert run(client, living, "echo", "on")["stdout"] == "on\n"
        client.ok("DELETE", f"/v1/sandboxes/{living}")
        wait_until(lambda: not journals(server), 30, "nothing left of the sandboxes")
        overlaps = psql(server, "SELECT count(*) FROM (SELECT interval_start < lag(interval_end) OVER"
                                " (PARTITION BY sandbox, meter ORDER BY interval_start) AS twice"
                                " FROM usage_event WHERE meter = 'vcpu_second') e WHERE twice")
        assert overlaps == "0"
    finally:
        server.close()


def test_what_dies_in_an_outage_is_charged_until_then_by_the_next_gateway():
    server, _, client = fresh()
    try:
        boxes = [create(client)["id"] for _ in range(4)]
        # As if they had been booked a minute ago: they are due as soon as the database is back.
        psql(server, "UPDATE metered_sandbox SET opened_at = opened_at - interval '70 s', boundary = boundary -"
                     " interval '70 s', observed_at = observed_at - interval '70 s'")
        frozen = database_processes(server)
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:
            listening = restarted_worker(server, client)
            for box in boxes:
                os.kill(agent_pid(server, box), signal.SIGKILL)
            died = time.time()
            time.sleep(5)
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
        wait_until(listening, 60, "the gateway is back")
        wait_until(lambda: {client.ok("GET", f"/v1/sandboxes/{box}")["state"] for box in boxes} == {"failed"}, 20, "told")
        wait_until_booked(server)
        ends = psql(server, "SELECT max(extract(epoch FROM interval_end)) FROM usage_event GROUP BY sandbox").split()
        late = [Decimal(end) - Decimal(died) for end in ends]
        assert len(late) == len(boxes) and max(late) < 1, f"charged after their deaths: {late} s"
    finally:
        server.close()


def test_an_end_that_nobody_confirms_in_an_outage_is_on_its_way():
    server, _, client = fresh()
    try:
        box = create(client)["id"]
        frozen = database_processes(server) + server.pids("node")
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:
            answer = client.call("DELETE", f"/v1/sandboxes/{box}")
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
        assert answer.status == 202, answer.body
        assert answer.json()["state"] == "stopping", answer.body
        wait_until(lambda: client.ok("GET", f"/v1/sandboxes/{box}")["state"] == "stopped", 60, "it ended")
    finally:
        server.close()


def test_a_hard_budget_pays_for_no_more_in_an_outage():
    server, tenant, client = fresh()
    try:
        operator = server.operator()
        server.profile("test", resources={"vcpu": 1}, limits={"max_ttl_seconds": 7200})
        operator.ok("PUT", "/v1/prices/seconds", {
            "kind": "charge", "currency": "USD", "effective_from": "2026-01-01T00:00:00Z",
            "entries": [{"provider": "local", "meter": "vcpu_second", "unit_price": "0.001"}]})
        operator.ok("PUT", f"/v1/tenants/{tenant}/budgets/hard",
                    {"amount": "100", "currency": "USD", "window": "total", "on_exceeded": "kill"})
        box = create(client, ttl_seconds=7200)["id"]
        # As at the end of a budget, of which the gateway hears in its next round.
        psql(server, "UPDATE budget SET amount = reserved")
        covered = Decimal(psql(server, "UPDATE reservation SET covered_until = clock_timestamp() + interval '110 s'"
                                       " RETURNING extract(epoch FROM covered_until)").split()[0])
        time.sleep(15.5)
        frozen = database_processes(server)
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(30)
            assert any(box in path for path in journals(server)), "it is paid for"
            wait_until(lambda: not any(box in path for path in journals(server)), 70, "it ended with its money")
        finally:
            for pid in frozen:
                os.kill(pid, signal.SIGCONT)
        wait_until(lambda: client.call("GET", f"/v1/sandboxes/{box}").json().get("state") == "stopped", 30, "told")
        wait_until_booked(server)
        charged = Decimal(psql(server, "SELECT extract(epoch FROM max(interval_end)) FROM usage_event"))
        assert covered - 60 < charged <= covered, f"charged until {charged}, paid for until {covered}"
        assert psql(server, "SELECT spent <= amount AND reserved = 0 FROM budget") == "t"
    finally:
        server.close()


def test_the_first_operator_key_needs_only_the_database():
    server, _, _ = fresh()
    try:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SANDGATE_")}

        def create(name, *more):
            return subprocess.run([server.binary, "keys", "create", name, "--operator", "--set",
                                   f"home={server.home}", *more], capture_output=True, text=True, env=environment)

        done = create("first")
        assert done.returncode == 0, done.stderr
        client = server.operator()
        client.key = done.stdout.strip()
        assert client.call("GET", "/v1/tenants").status == 200
        trail = client.ok("GET", "/v1/audit?action=key.create")["items"]
        assert any(entry["actor"]["name"].startswith("command line") for entry in trail), trail
        refused = create("red\x1b[31m")
        assert refused.returncode == 1 and refused.stderr.startswith("sandgate: /name: "), refused.stderr
        past = create("late", "--expires", "2026-01-31")
        assert past.returncode == 1 and "/expires_at: must be in the future" in past.stderr, past.stderr
    finally:
        server.close()


if __name__ == "__main__":
    main(globals())
