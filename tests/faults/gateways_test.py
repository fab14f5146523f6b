#!/usr/bin/env python3
"""Gateways of one database, each with a machine of its own: what is one's stays its own, what they know of backends
they share. Run as root; takes names of single tests."""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support"]

from cases import main, wait_until  # noqa: E402
from server import Client, Server  # noqa: E402


@contextlib.contextmanager
def two_gateways():
    """Servers of one database, and a client of the same key on each."""
    with Server() as first:
        key = open(first.home + "/master.key").read().strip()
        url = f"host={first.home}/postgres user=sandgate dbname=sandgate"
        with Server(settings={"database.url": url}, environment={"SANDGATE_MASTER_KEY": key}) as second:
            _, client = first.tenant("two")
            first.profile("test")
            yield first, second, client, Client(second.host, second.port, client.key)


def test_gateways_of_one_database_keep_their_own_sandboxes():
    with two_gateways() as (first, second, client, other):
        box = client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
        mine = other.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
        # Long enough for each to have asked its node for all it has.
        time.sleep(35)
        for server, own, foreign in ((client, box, mine), (other, mine, box)):
            assert server.ok("POST", f"/v1/sandboxes/{own}/exec", {"command": ["true"]})["exit_code"] == 0
            assert server.ok("GET", f"/v1/sandboxes/{foreign}")["state"] == "running"
            refused = server.call("POST", f"/v1/sandboxes/{foreign}/exec", {"command": ["true"]})
            assert refused.status == 503, refused.body
        # Whoever is asked: it ends where it runs.
        assert client.call("DELETE", f"/v1/sandboxes/{mine}").status == 202
        wait_until(lambda: client.ok("GET", f"/v1/sandboxes/{mine}")["state"] == "stopped", 60, "it ended")
        wait_until(lambda: not os.path.exists(f"{second.home}/run/sandboxes/{mine}"), 10, "nothing is left of it")


def test_a_copy_of_a_home_waits_for_its_original():
    with two_gateways() as (_, second, __, client):
        box = client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
        copy = Server(settings={"database.url": second.settings["database.url"]}, environment=second.environment)
        try:
            shutil.copytree(second.home + "/gateway", copy.home + "/gateway")
            subprocess.run(["chown", "-R", "sandgate", copy.home + "/gateway"], check=True)
            thread = threading.Thread(target=copy.start, args=(200,))
            thread.start()
            wait_until(lambda: os.path.exists(copy.log_path) and "under the name of this machine" in copy.log(), 30,
                       "it says what it waits for")
            # Long enough for each to ask its node for all it has.
            time.sleep(35)
            assert client.ok("POST", f"/v1/sandboxes/{box}/exec", {"command": ["true"]})["exit_code"] == 0
            port = int(re.search(r" listening .* port=(\d+)", copy.log()).group(1))
            assert Client(copy.host, port).call("GET", "/readyz").status == 503
            second.stop()
            thread.join()
            assert Client(copy.host, copy.port).call("GET", "/readyz").status == 200, copy.log()[-2000:]
        finally:
            copy.close()


def test_no_tenant_takes_the_name_of_machines_where_a_gateway_has_none():
    with Server() as first:
        key = open(first.home + "/master.key").read().strip()
        _, client = first.tenant("naming")
        # What the gateway without a machine offers, so that it is ready.
        first.operator().ok("PUT", "/v1/deployments/spare", {"provider": "e2b", "credentials": {"api_key": "k"},
                                                             "settings": {"api_url": "http://127.0.0.1:9"}})
        settings = {"database.url": f"host={first.home}/postgres user=sandgate dbname=sandgate",
                    "local.enabled": "false"}
        with Server(settings=settings, environment={"SANDGATE_MASTER_KEY": key}) as second:
            other = Client(second.host, second.port, client.key)
            draft = {"provider": "sandgate", "credentials": {"api_key": "k"},
                     "settings": {"url": "https://sandgate.invalid", "profile": "any"}}
            assert other.call("PUT", "/v1/deployments/local", draft).status == 400
            assert other.call("PUT", "/v1/deployments/elsewhere", draft).status == 200


def test_a_gateway_with_another_master_key_does_not_start():
    with Server() as first:
        url = f"host={first.home}/postgres user=sandgate dbname=sandgate"
        with Server(settings={"database.url": url}) as other:
            assert "copy it before anything is sealed" in other.log(), "nothing is sealed yet"
        _, owner = first.tenant("sealing")
        owner.ok("PUT", "/v1/secrets/TOKEN", {"value": "sealed"})
        for environment in ({}, {"SANDGATE_MASTER_KEY": "5" * 64}):
            other = Server(settings={"database.url": url}, environment=environment)
            try:
                other.start()
                raise AssertionError("started with another key")
            except RuntimeError as ended:
                assert "sealed with another master key: copy the master.key" in str(ended), ended
                assert not os.path.exists(other.home + "/master.key"), "a key was made"
            finally:
                other.close()


def test_gateways_of_one_database_keep_their_own_snapshots():
    with two_gateways() as (first, second, client, other):
        box = client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
        client.ok("POST", f"/v1/sandboxes/{box}/exec", {"shell": "echo kept > file"})
        taken = client.ok("POST", f"/v1/sandboxes/{box}/snapshots", {"name": "one"})["id"]
        assert [one["id"] for one in other.ok("GET", "/v1/snapshots")["items"]] == [taken]
        refused = other.call("POST", "/v1/sandboxes", {"profile": "test", "snapshot": taken})
        assert refused.status == 503, refused.body
        assert other.call("POST", f"/v1/sandboxes/{box}/snapshots", {}).status == 503
        copy = client.ok("POST", "/v1/sandboxes", {"profile": "test", "snapshot": taken})["id"]
        assert client.ok("POST", f"/v1/sandboxes/{copy}/exec", {"command": ["cat", "file"]})["stdout"] == "kept\n"
        kept = f"{first.home}/local/snapshots/{taken}.img"
        assert os.path.exists(kept)
        assert other.call("DELETE", f"/v1/snapshots/{taken}").status == 204
        wait_until(lambda: not os.path.exists(kept), 20, "the file is removed where it is")
        assert client.ok("GET", "/v1/snapshots")["items"] == []


def test_gateways_of_one_database_share_their_breakers():
    with two_gateways() as (first, _, client, other):
        first.operator().ok("PUT", "/v1/deployments/away", {
            "provider": "e2b", "settings": {"api_url": "http://127.0.0.1:9", "sandbox_url": "http://127.0.0.1:9"},
            "credentials": {"api_key": "e2b_" + "0" * 40}})
        first.profile("away", isolation="process", images={"e2b": "base"}, network={"default": "allow"},
                      placement={"only": ["away"]})

        def breaker(asked):
            listed = asked.ok("GET", "/v1/providers")["items"]
            return next((one["health"]["breaker"] for one in listed if one["deployment"] == "away"), None)

        for asked in (client, other):
            wait_until(lambda: breaker(asked) == "closed", 40, "both know the deployment")
        for _ in range(5):
            assert client.call("POST", "/v1/sandboxes", {"profile": "away"}).status == 503
        assert breaker(client) == "open"
        wait_until(lambda: breaker(other) == "open", 5, "the other gateway knows")


if __name__ == "__main__":
    main(globals())
