#!/usr/bin/env python3
"""kill -9 of the gateway, the node and the database while sandboxes are paused, kept and forked. Run as root;
takes the names of single tests."""
import glob
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support", HERE + "/../bench"]

from cases import main, wait_until  # noqa: E402
from ends_test import kill_database  # noqa: E402
from faults_test import again, agent_pid, check_usage_is_exact, create, fresh, psql, run  # noqa: E402
from server import Client  # noqa: E402
from websocket import Socket  # noqa: E402


class Restless:
    """Repeats an action with a client of its own until told to stop; what fails is tried again."""

    def __init__(self, server, client, action):
        self.server, self.key, self.action = server, client.key, action
        self.stopping, self.done = False, 0
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        while not self.stopping:
            try:
                self.action(Client(self.server.host, self.server.port, self.key, timeout=20))
                self.done += 1
            except (OSError, AssertionError, http.client.HTTPException):
                time.sleep(0.01)

    def stop(self):
        self.stopping = True
        self.thread.join()


def pause_and_resume(box):
    def action(own):
        own.ok("POST", f"/v1/sandboxes/{box}/pause", {})
        own.ok("POST", f"/v1/sandboxes/{box}/resume", {})
    return action


def await_rest(client, box, seconds):
    """Until what was cut off has gone on, and its row tells the truth."""
    wait_until(lambda: state(client, box) in ("running", "paused"), seconds, "what was cut off goes on")
    wait_until(lambda: (state(client, box) == "paused") == is_frozen(box), 5, "the row tells the truth")


def metered_as(server):
    try:
        return psql(server, "SELECT state FROM metered_sandbox")
    except subprocess.CalledProcessError:
        return "the database is away"


def restart_worker(server, client):
    listen = server.home + "/gateway/listen"
    os.unlink(listen)
    server.kill("worker")
    wait_until(lambda: os.path.exists(listen), 60, "the worker listens")
    server.port = int(open(listen).read().rsplit(":", 1)[1])
    return again(server, client)


def state(client, box):
    try:
        return client.ok("GET", f"/v1/sandboxes/{box}")["state"]
    except (OSError, AssertionError, http.client.HTTPException):
        return "unknown"


def is_frozen(box):
    for path in glob.glob("/sys/fs/cgroup/**/" + box + "/freezer.state", recursive=True):
        return open(path).read() == "FROZEN\n"
    for path in glob.glob("/sys/fs/cgroup/**/" + box + "/cgroup.events", recursive=True):
        return "frozen 1" in open(path).read()
    raise AssertionError("the sandbox has no freezer")


def kept_files(server):
    return glob.glob(server.home + "/local/snapshots/*")


def waiting(server, client, box):
    """Everything that can wait on a sandbox, begun: functions that tell the problem it ended with."""
    path = f"/v1/sandboxes/{box}"
    sleep = {"command": ["sleep", "60"]}
    pid = client.ok("POST", path + "/exec", {**sleep, "background": True})["process_id"]

    def call(method, tail, body=None, accept="*/*"):
        own = Client(server.host, server.port, client.key)
        answers = []
        thread = threading.Thread(target=lambda: answers.append(
            own.call(method, path + tail, body, headers={"Accept": accept})))
        thread.start()
        return thread, answers

    def told(thread, answers):
        thread.join(15)
        body = answers[0].body.decode()
        if answers[0].status == 200:  # a stream, of which the error is the last event
            assert "event: error\n" in body, body
            body = body.rsplit("data: ", 1)[1]
        return json.loads(body)

    def last_frame(socket):
        _, frame = socket.rest()
        assert frame["type"] == "error", frame
        return {**frame, "closed": socket.closed}

    calls = {"exec": call("POST", "/exec", sleep),
             "events": call("POST", "/exec", sleep, "text/event-stream"),
             "output": call("GET", f"/processes/{pid}/output"),
             "watch": call("GET", "/files/watch?path=.")}
    sockets = {"terminal": Socket(server.host, server.port, path + "/terminal", client.key),
               "attach": Socket(server.host, server.port, f"{path}/processes/{pid}/attach", client.key)}
    wait_until(lambda: len(client.ok("GET", path + "/processes")["items"]) == 4, 10, "all of them run")
    return {**{name: lambda call=call: told(*call) for name, call in calls.items()},
            **{name: lambda socket=socket: last_frame(socket) for name, socket in sockets.items()}}


def test_an_end_is_told_to_those_it_cuts_off():
    server, _, client = fresh()
    try:
        def end_by_delete(box):
            client.ok("DELETE", f"/v1/sandboxes/{box}")

        def end_by_time(box):
            client.ok("POST", f"/v1/sandboxes/{box}/extend", {"ttl_seconds": 1})

        for end in (end_by_delete, end_by_time):
            box = create(client, ttl_seconds=600)["id"]
            problems = waiting(server, client, box)
            end(box)
            for name, problem in problems.items():
                told = problem()
                assert told["code"] == "conflict" and told["state"] in ("stopping", "stopped"), (end, name, told)
                assert told.get("closed", 1000) == 1000, (name, told)
        box = create(client, ttl_seconds=600)["id"]
        problems = waiting(server, client, box)
        os.kill(agent_pid(server, box), signal.SIGKILL)
        for name, problem in problems.items():
            told = problem()
            assert told["code"] == "unavailable" or told.get("state") == "failed", (name, told)
    finally:
        server.close()


def test_killed_while_pausing():
    server, _, client = fresh()
    try:
        box = create(client, ttl_seconds=600)["id"]

        for number, role in enumerate(["worker", "node"]):
            restless = Restless(server, client, pause_and_resume(box))
            wait_until(lambda: restless.done > 3 * (number + 1), 20, "it is paused and resumed")
            if role == "worker":
                client = restart_worker(server, client)
            else:
                server.kill("node")
            restless.stop()
            await_rest(client, box, 60)
            client.ok("POST", f"/v1/sandboxes/{box}/resume", {})
            assert run(client, box, "echo", "on")["stdout"] == "on\n"
        client.ok("DELETE", f"/v1/sandboxes/{box}")
        assert psql(server, "SELECT state FROM metered_sandbox") == "closed"
    finally:
        server.close()


def test_the_database_dies_amid_pauses():
    server, _, client = fresh()
    try:
        box = create(client, ttl_seconds=600)["id"]

        for _ in range(4):
            restless = Restless(server, client, pause_and_resume(box))
            wait_until(lambda: restless.done > 3, 20, "it is paused and resumed")
            kill_database(server)
            restless.stop()
            client = again(server, client)
            await_rest(client, box, 12)
        client.ok("DELETE", f"/v1/sandboxes/{box}")
        wait_until(lambda: metered_as(server) == "closed", 10, "the end is written")
    finally:
        server.close()


def test_the_database_loses_that_a_pause_began():
    server, _, client = fresh()
    try:
        box = create(client, ttl_seconds=600)["id"]
        for verb, half, lost in (("pause", "pausing", "running"), ("resume", "resuming", "paused")):
            server.kill("node", signal.SIGSTOP)
            try:
                with ThreadPoolExecutor(1) as caller:
                    told = caller.submit(client.call, "POST", f"/v1/sandboxes/{box}/{verb}", {})
                    wait_until(lambda: psql(server, "SELECT state FROM sandbox") == half, 10, "it has begun")
                    psql(server, f"UPDATE sandbox SET state = '{lost}'")
                    server.kill("node", signal.SIGCONT)
                    problem = told.result()
            finally:
                server.kill("node", signal.SIGCONT)
            assert problem.json()["code"] == "unavailable", problem.json()
            done = {"pause": "paused", "resume": "running"}[verb]
            # Sooner than the comparison with the machine, which comes every 15 s.
            wait_until(lambda: state(client, box) == done, 3, "the row tells what was done")
            assert is_frozen(box) == (done == "paused")
        assert run(client, box, "echo", "on")["stdout"] == "on\n"
        client.ok("DELETE", f"/v1/sandboxes/{box}")
        wait_until(lambda: metered_as(server) == "closed", 10, "the end is written")
    finally:
        server.close()


def test_what_is_ended_in_an_outage_is_never_told_as_running():
    server, _, client = fresh()
    try:
        for _ in range(3):
            box = create(client, ttl_seconds=600)["id"]
            assert state(client, box) == "running"
            kill_database(server)
            assert client.call("DELETE", f"/v1/sandboxes/{box}").status == 204
            told, least = set(), time.monotonic() + 4
            while time.monotonic() < least or not ({"stopped", "listed as stopped"} <= told
                                                   or time.monotonic() > least + 56):
                told.add(state(client, box))
                listed = client.call("GET", "/v1/sandboxes")
                if listed.status == 200:
                    told.update("listed as " + item["state"] for item in listed.json()["items"] if item["id"] == box)
            assert {"stopped", "listed as stopped"} <= told, told
            assert not {"running", "listed as running"} & told, told
    finally:
        server.close()


def test_killed_while_forking():
    server, _, client = fresh()
    try:
        box = create(client, ttl_seconds=600)["id"]
        run(client, box, "sh", "-c", "head -c 20000000 /dev/urandom > big")

        def fork(own):
            for item in own.ok("POST", f"/v1/sandboxes/{box}/fork", {"count": 2})["items"]:
                if "sandbox" in item:
                    own.ok("DELETE", "/v1/sandboxes/" + item["sandbox"]["id"])

        for number, role in enumerate(["worker", "node"]):
            restless = Restless(server, client, fork)
            wait_until(lambda: restless.done > number, 30, "it is forked")
            time.sleep(0.05)
            if role == "worker":
                client = restart_worker(server, client)
            else:
                server.kill("node")
            restless.stop()
        wait_until(lambda: not kept_files(server), 30, "no snapshot is left")

        # The leases of rows are minutes long: the time is moved instead of waited for.
        def nothing_kept():
            psql(server, "UPDATE snapshot SET lease_until = now() WHERE lease_until > now()")
            return psql(server, "SELECT count(*) FROM snapshot") == "0"

        wait_until(nothing_kept, 60, "no row is left of a snapshot")
        assert run(client, box, "stat", "-c", "%s", "big")["stdout"] == "20000000\n"
        for item in client.ok("GET", "/v1/sandboxes?state=running&limit=100")["items"]:
            client.ok("DELETE", "/v1/sandboxes/" + item["id"])
        wait_until(lambda: psql(server, "SELECT count(*) FROM sandbox WHERE ended_at IS NULL") == "0", 90,
                   "nothing is half made")
        wait_until(lambda: not glob.glob(server.home + "/run/sandboxes/sb*"), 60, "nothing runs")
        check_usage_is_exact(server, client)
    finally:
        server.close()


class Held:
    """Somebody else's transaction, which has what a statement locks until it is let go."""

    def __init__(self, server, statement):
        self.psql = subprocess.Popen(["psql", "-X", "-q", "-A", "-t",
                                      f"host={server.home}/postgres user=sandgate dbname=sandgate"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.psql.stdin.write(f"BEGIN; {statement}; SELECT 'held';\n")
        self.psql.stdin.flush()
        while "held" not in self.psql.stdout.readline():
            assert self.psql.poll() is None

    def let_go(self):
        self.psql.communicate(timeout=20)


def test_what_was_given_up_does_not_begin_afterwards():
    server, tenant, client = fresh()
    try:
        server.operator().ok("PUT", f"/v1/tenants/{tenant}/budgets/all",
                             {"amount": "1000", "currency": "USD", "window": "total"})
        box = create(client)["id"]
        client.ok("POST", f"/v1/sandboxes/{box}/pause", {})
        # Two locks, each for less than a statement waits and together for longer than the call.
        first = Held(server, f"SELECT FROM sandbox WHERE id = '{box}' FOR UPDATE")
        second = Held(server, "SELECT FROM budget FOR UPDATE")
        timers = [threading.Timer(after, held.let_go) for after, held in ((1.5, first), (3, second))]
        for timer in timers:
            timer.start()
        assert client.call("POST", f"/v1/sandboxes/{box}/resume", {}).status == 503
        for timer in timers:
            timer.join()
        begin = time.monotonic()
        assert client.ok("POST", f"/v1/sandboxes/{box}/resume", {})["state"] == "running"
        assert time.monotonic() - begin < 5, "nobody works on what was given up"
        client.ok("DELETE", f"/v1/sandboxes/{box}")
    finally:
        server.close()


if __name__ == "__main__":
    main(globals())
