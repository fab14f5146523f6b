#!/usr/bin/env python3
"""Settings that are read again while the program runs or starts: nothing ends, and what is wrong changes nothing. Run
as root; takes names of single tests."""
import os
import signal
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support"]

from cases import main, wait_until  # noqa: E402
from server import Server  # noqa: E402


def test_a_reload_ends_nothing():
    with Server() as server:
        pids = {role: server.pids(role) for role in ("worker", "node", "postgres")}
        os.kill(server.process.pid, signal.SIGHUP)
        _, client = server.tenant("reload")
        server.profile("test")
        box = client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
        assert client.ok("POST", f"/v1/sandboxes/{box}/exec", {"command": ["true"]})["exit_code"] == 0
        assert {role: server.pids(role) for role in pids} == pids


def test_a_reload_during_a_start_ends_nothing():
    server, ready = Server(), threading.Event()

    def reload_all_the_time():
        # Its own first instructions are before anything that it could do about a signal.
        wait_until(lambda: server.process and "started" in server.log(), 60, "serve begins")
        while not ready.is_set() and server.process.poll() is None:
            os.kill(server.process.pid, signal.SIGHUP)
            time.sleep(0.02)

    thread = threading.Thread(target=reload_all_the_time)
    thread.start()
    try:
        server.start()
        server.operator().ok("GET", "/v1/tenants")
        assert "reloading" in server.log(), server.log()
        assert "ended by itself" not in server.log(), server.log()
    finally:
        ready.set()
        thread.join()
        server.close()


def test_a_stop_amid_a_reload_lets_requests_end():
    with Server() as server:
        tenant, client = server.tenant("stop")
        server.profile("test")
        box = "/v1/sandboxes/" + client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
        # On a connection of its own: on a kept one that breaks, a request is repeated.
        caller = server.key(tenant, "developer")
        worker = server.pids("worker")[0]
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(caller.ok, "POST", box + "/exec", {"shell": "touch begun; sleep 3; echo whole"})
            wait_until(lambda: client.call("GET", box + "/files/stat?path=begun").status == 200, 30, "the program runs")
            for _ in range(1000):
                os.kill(worker, signal.SIGHUP)
            os.kill(worker, signal.SIGTERM)
            assert running.result()["stdout"] == "whole\n"


def test_a_reload_takes_limits_and_says_what_waits():
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as settings:
        def write(text):
            settings.seek(0)
            settings.truncate()
            settings.write(text)
            settings.flush()

        write("limits:\n  body_bytes: 1048576\n")
        with Server(config=settings.name) as server:
            client, pids = server.operator(), server.pids("worker")
            large = {"name": "x", "colour": "a" * 5000}

            def reload(text, told):
                seen = server.log().count(told)
                write(text)
                os.kill(server.process.pid, signal.SIGHUP)
                wait_until(lambda: server.log().count(told) > seen, 10, told)

            assert client.call("POST", "/v1/tenants", large).status == 400
            reload("limits:\n  body_bytes: 2048\ndatabase:\n  connections: 3\n", "settings changed")
            wait_until(lambda: client.call("POST", "/v1/tenants", large).status == 413, 10, "the limit counts")
            assert "settings count from the next start on" in server.log(), server.log()
            reload("limits:\n  body_bytes: many\n  colour: red\n", "settings kept as they were")
            assert "/limits/body_bytes" in server.log() and "/limits/colour" in server.log(), server.log()
            assert client.call("POST", "/v1/tenants", large).status == 413
            reload("limits:\n  body_bytes: 8192\n", "settings changed")
            wait_until(lambda: client.call("POST", "/v1/tenants", large).status == 400, 10, "the limit is lifted")
            os.unlink(settings.name)
            os.mkfifo(settings.name)
            reload("", "only a regular file")
            server.kill("worker")  # the supervisor does not wait for a writer
            wait_until(lambda: server.pids("worker") not in ([], pids), 10, "the worker is back")


if __name__ == "__main__":
    main(globals())
