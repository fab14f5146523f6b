#!/usr/bin/env python3
"""A gateway whose database is behind PgBouncer. Run as root, with the package pgbouncer there."""
import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support"]

from cases import main, wait_until  # noqa: E402
from faults_test import psql  # noqa: E402
from server import Server, free_port  # noqa: E402

CALLS = 40


@contextlib.contextmanager
def pooler(owner, mode):
    """PgBouncer before a database of its own at the server `owner`; yields an address of it."""
    psql(owner, f"CREATE DATABASE pooled_{mode}")
    account, port = owner.settings.get("run_as", "sandgate"), free_port()
    folder = tempfile.mkdtemp(prefix="sandgate-pooler-", dir="/tmp")
    os.chown(folder, pwd.getpwnam(account).pw_uid, -1)
    with open(folder + "/settings.ini", "w", encoding="utf-8") as file:
        file.write(f"[databases]\npooled = host={owner.home}/postgres dbname=pooled_{mode} user=sandgate\n"
                   f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
                   f"auth_type = any\npool_mode = {mode}\n")
    os.chmod(folder + "/settings.ini", 0o644)
    with open(folder + "/log", "wb") as log:
        process = subprocess.Popen(["pgbouncer", "-u", account, folder + "/settings.ini"], stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log)
    try:
        wait_until(lambda: "process up" in open(folder + "/log", encoding="utf-8").read(), 20, "PgBouncer runs")
        yield f"postgresql://sandgate@127.0.0.1:{port}/pooled"
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


def test_sessions_of_their_own_are_enough():
    with Server() as owner, pooler(owner, "session") as address:
        with Server(environment={"SANDGATE_DATABASE_URL": address}) as server:
            _, client = server.tenant("pooled")
            server.profile()
            for _ in range(CALLS):
                client.ok("GET", "/v1/usage")
                client.ok("GET", "/v1/sandboxes")
            box = client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
            client.ok("DELETE", "/v1/sandboxes/" + box)


def test_sessions_that_are_shared_are_refused():
    with Server() as owner:
        for mode in ("transaction", "statement"):
            with pooler(owner, mode) as address:
                server = Server(environment={"SANDGATE_DATABASE_URL": address})
                try:
                    server.start(timeout=40)
                    raise AssertionError(f"started with sessions that are lent for a {mode}")
                except RuntimeError as failure:
                    last = str(failure).rstrip().splitlines()[-1]
                    assert last.startswith("sandgate: the database is reached through a pooler"), failure
                    assert "set the pooler's mode to session" in last, failure
                finally:
                    server.close()


if __name__ == "__main__":
    if not shutil.which("pgbouncer"):
        print("skipped: needs pgbouncer (apt-get install pgbouncer)")
        sys.exit(77)
    main(globals())
