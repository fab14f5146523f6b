#!/usr/bin/env python3
"""Programs under an Idempotency-Key whose answers nobody hears: none runs twice. Run as root; takes names of single
tests."""
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support"]

from cases import main  # noqa: E402
from faults_test import fresh  # noqa: E402


def test_a_program_without_an_answer_runs_once_under_its_key():
    server, _, client = fresh()
    try:
        box = "/v1/sandboxes/" + client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]

        def run(key, script, **more):
            return client.call("POST", box + "/exec", {"shell": script, **more}, headers={"Idempotency-Key": key})

        def run_and_leave(key, script, **more):
            leaver = server.operator()
            leaver.key, leaver.timeout = client.key, 1
            try:
                leaver.call("POST", box + "/exec", {"shell": script, **more}, headers={"Idempotency-Key": key})
            except OSError:
                leaver.close()
                return
            raise AssertionError("it was answered")

        scripts = {"kill": "echo x >> kill; sleep 3", "keep": "echo x >> keep; sleep 3"}
        for how, script in scripts.items():
            run_and_leave(how, script, on_disconnect=how)
        time.sleep(3)
        for _ in range(130):  # more than the ended ones that are known
            client.ok("POST", box + "/exec", {"command": ["true"]})
        for how, script in scripts.items():
            assert run(how, script, on_disconnect=how).status == 409, how
        assert client.ok("POST", box + "/exec", {"shell": "cat kill keep"})["stdout"] == "x\nx\n"
    finally:
        server.close()


if __name__ == "__main__":
    main(globals())
