#!/usr/bin/env python3
"""Money when many come at once: a thousand creates on a budget while the gateway is killed, and a minute without the
database under two hundred sandboxes. Run as root; takes the names of single tests."""
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support", HERE + "/../bench"]

from cases import main, wait_until  # noqa: E402
from faults_test import check_usage_is_exact, fresh, journals, psql  # noqa: E402
from measure import resident_mib  # noqa: E402
from money_test import database_processes, end_all, restarted_worker  # noqa: E402

CREATES, PAID_FOR = 1000, 37
SANDBOXES, MOST_ENDED, OUTAGE_SECONDS, MOST_GROWTH_MIB = 200, 20, 60, 32
SMALL = {"vcpu": 1, "memory_mib": 256, "disk_gib": 1}


def create_until_answered(server, key, ttl, answers):
    """One create, again where nobody answered or nothing was decided."""
    own = server.operator()
    own.key = key
    while True:
        try:
            own.port = server.port
            answer = own.call("POST", "/v1/sandboxes", {"profile": "test", "ttl_seconds": ttl})
            if answer.status != 503:
                answers.append((answer.status, answer.json().get("code")))
                own.close()
                return
        except Exception:
            pass
        own.close()
        time.sleep(0.5)


def test_a_budget_pays_for_exactly_as_many_while_the_gateway_is_killed():
    server, tenant, client = fresh()
    try:
        server.profile("test", resources=SMALL, limits={"max_ttl_seconds": 3600})
        ttl = 3500
        one = client.ok("POST", "/v1/sandboxes", {"profile": "test", "ttl_seconds": ttl})
        end_all(client)
        spent = Decimal(client.ok("GET", "/v1/usage")["total"]["charge"])
        each = Decimal(one["cost"]["estimated_per_hour"]) * ttl / 3600
        # A half over: what those use that the crash ends is spent.
        amount = spent + each * PAID_FOR + each / 2
        server.operator().ok("PUT", f"/v1/tenants/{tenant}/budgets/all",
                             {"amount": f"{amount:.9f}", "currency": one["cost"]["currency"], "window": "total"})
        answers, killed = [], []

        def kill_amid():
            while len(answers) < CREATES // 10:
                time.sleep(0.002)
            killed.append((len(answers), restarted_worker(server, client)))

        threading.stack_size(512 * 1024)
        callers = [threading.Thread(target=create_until_answered, args=(server, client.key, ttl, answers))
                   for _ in range(CREATES)]
        killer = threading.Thread(target=kill_amid)
        for thread in [killer, *callers]:
            thread.start()
        killer.join(60)
        killed_after, listening = killed[0]
        wait_until(listening, 30, "the gateway is back")
        for caller in callers:
            caller.join()
        assert len(answers) == CREATES, len(answers)
        assert set(answers) <= {(201, None), (402, "budget_exceeded")}, set(answers)
        wait_until(lambda: psql(server, "SELECT count(*) FROM sandbox WHERE state IN ('creating', 'stopping')") == "0",
                   150, "what the killed gateway had begun is settled")
        alive = int(psql(server, "SELECT count(*) FROM sandbox WHERE state = 'running'"))
        budget = client.ok("GET", f"/v1/tenants/{tenant}/budgets")["items"][0]
        assert 0 < alive <= PAID_FOR, f"{alive} run on a budget for {PAID_FOR}"
        assert Decimal(budget["spent"]) + Decimal(budget["reserved"]) <= amount, budget
        # What the crash had taken is free again: exactly the rest fits.
        more = 0
        while client.call("POST", "/v1/sandboxes", {"profile": "test", "ttl_seconds": ttl}).status == 201:
            more += 1
        assert alive + more == PAID_FOR, f"{alive} and {more} more on a budget for {PAID_FOR}"
        print(f"      {CREATES} creates, killed after {killed_after} answers: {alive} run, {more} more fitted")
        end_all(client)
        # What a killed gateway was making is found by asking the backend, which takes its time.
        wait_until(lambda: not journals(server), 180, "nothing left of the sandboxes")
        assert psql(server, "SELECT count(*) || ' ' || coalesce(sum(held), 0) FROM reservation") == "0 0"
        assert psql(server, "SELECT reserved = 0 FROM budget") == "t"
    finally:
        server.close()


def recompute(server):
    """The second calculation of everything that is booked."""
    url = f"host={server.home}/postgres user=sandgate dbname=sandgate"
    done = subprocess.run([sys.executable, HERE + "/../oracle/recompute.py", url], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    return done.stdout.strip().splitlines()[-1]


def live_through(server, client, boxes, seconds):
    """Uses some and ends some for that long; returns how many ended, and the most memory that the gateway had."""
    most, ended, until = 0, 0, time.monotonic() + seconds
    worker = server.pids("worker")[0]
    while time.monotonic() < until:
        begin = time.monotonic()
        if ended < MOST_ENDED:
            answer = client.call("DELETE", f"/v1/sandboxes/{boxes[ended]}")
            assert answer.status in (202, 204, 503), answer.body
            ended += answer.status != 503
        # Who calls is known for a while; what runs, runs on.
        answer = client.call("POST", f"/v1/sandboxes/{boxes[-1]}/exec", {"command": ["true"]})
        assert answer.status in (200, 503), answer.body
        assert client.call("POST", "/v1/sandboxes", {"profile": "test"}).status == 503
        most = max(most, resident_mib(worker))
        time.sleep(max(0, 1 - (time.monotonic() - begin)))
    assert 0 < ended, "none was ended"
    wait_until(lambda: len(journals(server)) == len(boxes) - ended, 10, "the others live on")
    return ended, most


def test_a_minute_without_the_database_under_two_hundred_loses_and_doubles_nothing():
    server, _, client = fresh()
    try:
        server.profile("test", resources=SMALL, idle_timeout_seconds=0, limits={"max_ttl_seconds": 3600})

        def make(_):
            own = server.operator()
            own.key = client.key
            return own.ok("POST", "/v1/sandboxes", {"profile": "test", "ttl_seconds": 3600})["id"]

        with ThreadPoolExecutor(4) as makers:
            boxes = list(makers.map(make, range(SANDBOXES)))
        before = resident_mib(server.pids("worker")[0])
        frozen = database_processes(server)
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        try:
            ended, most = live_through(server, client, boxes, OUTAGE_SECONDS)
        finally:
            # It never comes back as it was: another server starts on its files.
            for pid in frozen:
                os.kill(pid, signal.SIGKILL)
        growth = most - before
        print(f"      {SANDBOXES} sandboxes, {ended} ended, {OUTAGE_SECONDS} s: the gateway grew from {before:.1f} MiB"
              f" by {growth:.1f}")
        assert growth < MOST_GROWTH_MIB, f"grew by {growth:.1f} MiB"
        wait_until(lambda: "sandgate_outage_journal_records 0" in client.call("GET", "/metrics").body.decode(), 60,
                   "the ends are in the database")
        running = int(psql(server, "SELECT count(*) FROM sandbox WHERE state = 'running'"))
        assert running == SANDBOXES - ended, running
        end_all(client)
        wait_until(lambda: not journals(server), 60, "nothing left of the sandboxes")
        assert psql(server, "SELECT count(*) FROM metered_sandbox") == str(SANDBOXES), "none more, none less"
        check_usage_is_exact(server, client)
        print(f"      {recompute(server)}")
    finally:
        server.close()


if __name__ == "__main__":
    main(globals())
