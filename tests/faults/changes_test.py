#!/usr/bin/env python3
"""Deployments that are changed while their sandboxes are in use: what runs goes on. Run as root; takes names of single
tests."""
import contextlib
import http.client
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support", HERE + "/../vendors"]

from cases import main  # noqa: E402
from deployments import Fake  # noqa: E402
from server import Server  # noqa: E402


def events(client, path, body):
    """The events of a program, as (name, data)."""
    connection = http.client.HTTPConnection(client.host, client.port, timeout=30)
    with contextlib.closing(connection):
        connection.request("POST", path, json.dumps(body), {
            "Authorization": "Bearer " + client.key, "Content-Type": "application/json", "Accept": "text/event-stream"})
        answer, frame = connection.getresponse(), {}
        while line := answer.readline().decode():
            name, _, value = line.rstrip("\n").partition(": ")
            if name:
                frame[name] = value
            elif "data" in frame:
                yield frame["event"], json.loads(frame["data"])
                frame = {}


def test_a_program_takes_input_after_a_change_of_its_deployment():
    """Of a vendor that takes input over the connection of the output alone."""
    vendor = Fake("kubernetes")
    try:
        with Server() as server:
            def set_up(**settings):
                changed = {**vendor.deployment, "settings": {**vendor.deployment["settings"], **settings}}
                server.operator().ok("PUT", "/v1/deployments/cluster", changed)

            set_up()
            server.profile("test", isolation="process", images={"kubernetes": vendor.image},
                           network={"default": "allow"}, placement={"only": ["cluster"]},
                           resources={"vcpu": 1, "memory_mib": 256, "disk_gib": 1})
            client = server.tenant("typist")[1]
            box = "/v1/sandboxes/" + client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
            told = events(client, box + "/exec", {"shell": "read a; read b; exit $((a + b))"})
            stdin = f"{box}/processes/{next(told)[1]['process_id']}/stdin"
            writer = server.operator()
            writer.key = client.key
            for number in (3, 4):
                written = writer.call("POST", stdin, raw=b"%d\n" % number,
                                      headers={"Content-Type": "application/octet-stream"})
                assert written.status == 204, (number, written.body)
                set_up(limits={"vcpu": number})
            assert dict(told)["exit"]["exit_code"] == 7
            client.ok("DELETE", box)
    finally:
        vendor.close()


if __name__ == "__main__":
    main(globals())
