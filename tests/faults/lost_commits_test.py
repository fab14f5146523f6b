#!/usr/bin/env python3
"""A database that lost its last commits, as in a failover, while the sandboxes are ahead of it. Run as root; takes
names of single tests."""
import os
import shutil
import signal
import subprocess
import sys
import time
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support", HERE + "/../bench"]

from cases import main, wait_until  # noqa: E402
from faults_test import again, create, fresh, journals, psql, run, wait_until_booked  # noqa: E402
from states_test import is_frozen, state  # noqa: E402


def halted(server):
    """Kills all of it; returns the database's directory, which nobody uses then."""
    data = server.home + "/postgres/data"
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    wait_until(lambda: not os.path.exists(data + "/postmaster.pid"), 30, "the database is stopped")
    return data


def unbooked_for_a_while(server):
    """As if nothing were booked since then: what runs is due to be booked at once."""
    psql(server, "UPDATE metered_sandbox SET opened_at = opened_at - interval '70 s', boundary = boundary -"
                 " interval '70 s', observed_at = observed_at - interval '70 s'")


def charged_until(server, box):
    return Decimal(psql(server, f"SELECT extract(epoch FROM max(interval_end)) FROM usage_event WHERE sandbox = '{box}'"))


def test_what_was_answered_is_done_although_its_commit_is_lost():
    server, _, client = fresh()
    try:
        paused, resumed, ended = (create(client, ttl_seconds=600)["id"] for _ in range(3))
        client.ok("POST", f"/v1/sandboxes/{resumed}/pause", {})
        unbooked_for_a_while(server)
        data = halted(server)
        subprocess.run(["cp", "-a", data, data + ".before"], check=True)
        server.start()
        again(server, client)
        client.ok("POST", f"/v1/sandboxes/{paused}/pause", {})
        client.ok("POST", f"/v1/sandboxes/{resumed}/resume", {})
        client.ok("DELETE", f"/v1/sandboxes/{ended}")
        told_at = time.time()
        unknown = create(client, ttl_seconds=600)["id"]
        halted(server)
        shutil.rmtree(data)
        os.rename(data + ".before", data)
        server.start()
        again(server, client)
        told = {paused: "paused", resumed: "running", ended: "stopped", unknown: "unknown"}
        wait_until(lambda: {box: state(client, box) for box in told} == told, 60, "each is what it was answered to be")
        wait_until_booked(server)
        late = charged_until(server, ended) - Decimal(told_at)
        assert late < Decimal("0.05"), f"charged for {late} s after it was ended"
        assert is_frozen(paused) and not is_frozen(resumed)
        assert run(client, resumed, "echo", "on")["stdout"] == "on\n"
        wait_until(lambda: len(journals(server)) == 2, 60, "what nobody knows of is gone")
        client.ok("POST", f"/v1/sandboxes/{paused}/resume", {})
        assert run(client, paused, "echo", "on")["stdout"] == "on\n"
        for box in (paused, resumed):
            client.ok("DELETE", f"/v1/sandboxes/{box}")
        wait_until(lambda: not journals(server), 20, "nothing left of the sandboxes")
    finally:
        server.close()


if __name__ == "__main__":
    main(globals())
