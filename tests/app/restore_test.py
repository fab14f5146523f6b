#!/usr/bin/env python3
"""The blocks `sh backup` and `sh restore` of docs/operating.md do what they promise. Run as root."""
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/../faults", HERE + "/../support"]

from cases import main  # noqa: E402
from server import SOURCE, Client, Server  # noqa: E402


def run_block(label, home, backup, **variables):
    page = open(SOURCE + "/docs/operating.md", encoding="utf-8").read()
    text = re.search(rf"^ *```sh {label}\n(.*?)^ *```$", page, re.M | re.S).group(1)
    text = re.sub(r"^(home|backup)=/.*\n", "", text, flags=re.M)  # the page's own places
    subprocess.run(["bash", "-euo", "pipefail", "-c", text], check=True, cwd="/", timeout=120,
                   env={"PATH": os.environ["PATH"], "home": home, "backup": backup, **variables},
                   stdout=subprocess.DEVNULL)


def operator_key(server):
    """A key from an idempotent request: a repeat is answered with the same one, which is kept sealed."""
    body = {"name": "before", "role": "operator"}
    return server.operator().ok("POST", "/v1/keys", body, headers={"Idempotency-Key": "before-the-backup"})


def issued_number(server, tenant, day):
    operator = server.operator()
    draft = operator.ok("POST", "/v1/invoices", {"tenant": tenant, "from": f"2026-01-{day:02}T00:00:00Z",
                                                 "to": f"2026-01-{day + 1:02}T00:00:00Z"})
    return operator.ok("POST", f"/v1/invoices/{draft['id']}/issue")["number"]


def text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def saved(server, backup):
    """What a restored server must still know, with its backup in the folder `backup`."""
    tenant, _ = server.tenant("kept")
    secret = operator_key(server)["secret"]
    run_block("backup", server.home, backup)
    late, _ = server.tenant("after the backup")
    numbers = [issued_number(server, tenant, day) for day in (3, 4)]
    server.tenants.clear()
    return {"tenant": tenant, "secret": secret, "late": late, "number": max(numbers),
            "key": text(server.home + "/master.key"), "machine": text(server.home + "/gateway/machine")}


def check_restored(server, known):
    assert text(server.home + "/master.key") == known["key"]
    assert text(server.home + "/gateway/machine") == known["machine"]
    tenants = [one["id"] for one in Client(server.host, server.port, known["secret"]).ok("GET", "/v1/tenants")["items"]]
    assert known["tenant"] in tenants and known["late"] not in tenants, tenants
    assert operator_key(server)["secret"] == known["secret"]  # sealed with the master key


def test_on_a_new_machine():
    with tempfile.TemporaryDirectory() as backup:
        with Server() as old:
            known = saved(old, backup)
        home = tempfile.mkdtemp(prefix="sandgate-restored-", dir="/tmp")
        os.rmdir(home)
        os.mkdir(home, 0o711)
        new = Server(home=home)
        new.own_home, new.admin_key = True, old.admin_key
        new.environment["SANDGATE_ADMIN_KEY"] = old.admin_key
        run_block("restore", home, backup)
        with new:
            check_restored(new, known)


def test_where_only_the_database_is_lost():
    with tempfile.TemporaryDirectory() as backup, Server() as server:
        known = saved(server, backup)
        server.stop()
        with open(server.home + "/postgres/data/global/pg_control", "wb"):
            pass  # damaged
        run_block("restore", server.home, backup)
        server.start()
        check_restored(server, known)
        run_block("numbers", server.home, backup, number=str(known["number"]))
        assert issued_number(server, known["tenant"], 5) == known["number"] + 1
        assert os.path.isdir(server.home + "/postgres/data.before")


def psql(url, statement):
    return subprocess.run(["psql", "-d", url, "-c", statement], capture_output=True, text=True, timeout=60)


@contextlib.contextmanager
def cluster_of(superuser):
    """A PostgreSQL of its own, without a role `sandgate`; yields where it listens."""
    folder = tempfile.mkdtemp(prefix="sandgate-cluster-", dir="/tmp")
    shutil.chown(folder, "sandgate")
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]

    def run(name, *words):
        subprocess.run(["runuser", "-u", "sandgate", "--", f"{programs}/{name}", "-D", folder + "/data", *words],
                       check=True, cwd="/", timeout=120, stdout=subprocess.DEVNULL)
    try:
        run("initdb", "-U", superuser, "-A", "trust", "-E", "UTF8", "--locale=C")
        run("pg_ctl", "-l", folder + "/log", "-o", f"-k {folder} -c listen_addresses=", "-w", "start")
        try:
            yield folder
        finally:
            run("pg_ctl", "-m", "fast", "-w", "stop")
    finally:
        shutil.rmtree(folder)


def test_into_a_database_of_another_role():
    with tempfile.TemporaryDirectory() as backup, cluster_of("administrator") as elsewhere:
        with Server() as old:
            known = saved(old, backup)
        for statement in ("CREATE ROLE keeper LOGIN", "CREATE DATABASE kept OWNER keeper"):
            assert psql(f"host={elsewhere} user=administrator dbname=postgres", statement).returncode == 0
        url = f"host={elsewhere} user=keeper dbname=kept"
        run_block("elsewhere", "/nonexistent", backup, SANDGATE_DATABASE_URL=url)
        new = Server(environment={"SANDGATE_DATABASE_URL": url})
        new.admin_key = new.environment["SANDGATE_ADMIN_KEY"] = old.admin_key
        os.makedirs(new.home + "/gateway")
        for name in ("master.key", "gateway/machine"):
            shutil.copy(backup + "/" + os.path.basename(name), new.home + "/" + name)
            shutil.chown(new.home + "/" + name, "sandgate", "sandgate")
        shutil.chown(new.home + "/gateway", "sandgate", "sandgate")
        with new:
            check_restored(new, known)
            new.profile()
            new.tenant("made after it")
        for statement in ("TRUNCATE usage_event", "TRUNCATE ledger_entry", "TRUNCATE invoice_payment"):
            assert "rows are never changed" in psql(url, statement).stderr, statement


if __name__ == "__main__":
    main(globals())
