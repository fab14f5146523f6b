#!/usr/bin/env python3
"""The dashboard as people see it: every page, with a tenant's key and with the operator's. Run as
root; takes names of single tests."""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/../support", HERE + "/../faults", HERE + "/../vendors"]
sys.dont_write_bytecode = True

from cases import main  # noqa: E402
from server import Server  # noqa: E402
from twin import npm_package  # noqa: E402

HOSTILE = "<img src=x onerror=alert(1)>"


def open_pages(server, key, *pages):
    folder = npm_package("dashboard", "jsdom@22.1.0")
    # Modules are looked for beside the script that imports them.
    copy = os.path.join(folder, "page.mjs")
    shutil.copyfile(HERE + "/page.mjs", copy)
    done = subprocess.run(["node", copy, f"http://{server.host}:{server.port}/", key, *pages],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_page_shows_what_the_api_says():
    with Server() as server:
        tenant, developer = server.tenant("demo", "developer")
        operator = server.operator()
        server.profile("small", resources={"vcpu": 1, "memory_mib": 512, "disk_gib": 1})
        box = developer.ok("POST", "/v1/sandboxes", {"profile": "small", "metadata": {"run": HOSTILE}})["id"]
        operator.ok("PUT", f"/v1/tenants/{tenant}/budgets/month", {
            "amount": "10", "currency": "USD", "window": "month", "timezone": "UTC", "on_exceeded": "deny"})
        invoice = operator.ok("POST", "/v1/invoices", {"tenant": tenant, "from": "2026-01-01T00:00:00Z",
                                                              "to": "2026-02-01T00:00:00Z"})["id"]

        pages = open_pages(server, operator.key, "sandboxes", "sandbox/" + box, "backends", "money")
        assert all(page["note"].startswith("Updated") for page in pages.values()), pages
        row = pages["sandboxes"]["sections"]["Sandboxes"][1]
        assert row[:4] == [box, "running", "small@1", "local"], row
        detail = pages["sandbox/" + box]
        assert ["State", "running"] in detail["sections"]["Sandbox"]
        assert ["Metadata", json.dumps({"run": HOSTILE}, separators=(",", ":"))] in detail["sections"]["Sandbox"]
        assert "<img" not in detail["html"]
        assert [row[0] for row in detail["sections"]["Why it runs there"]][1] == "local"
        assert [row[:3] for row in pages["backends"]["sections"]["Backends"]][1] == ["local", "local", "closed"]
        assert "small" in [row[0] for row in pages["backends"]["sections"]["Profiles"]]
        assert set(pages["money"]["sections"]) >= {"Charge, last 30 days", "By profile and backend"}

        own = open_pages(server, server.key(tenant, "billing").key, "money")["money"]
        assert own["sections"]["Budgets"][1][:2] == ["month", "month"] and own["sections"]["Budgets"][1][-1] == "10 USD"
        assert own["sections"]["Invoices"][1][:2] == [invoice, "draft"]
        assert "Accounts" in own["sections"]


def test_a_key_that_is_none_says_so():
    with Server() as server:
        shown = open_pages(server, "sg_nobody", "sandboxes")["sandboxes"]
        assert "key" in shown["note"] and not shown["sections"], shown


main(globals())
