#!/usr/bin/env python3
"""The dashboard as people see it: every page, with a tenant's key and with the operator's. Run as
root; takes names of single tests."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/../support", HERE + "/../faults", HERE + "/../vendors"]
sys.dont_write_bytecode = True

from cases import main  # noqa: E402
from server import Server  # noqa: E402
from twin import beside, npm_packages  # noqa: E402

USAGE = ["Charge, last 30 days", "By profile and backend"]
HOSTILE = "<img src=x onerror=alert(1)>"


def open_pages(server, key, *steps):
    copy = beside(npm_packages("jsdom@22.1.0"), HERE + "/page.mjs")
    done = subprocess.run(["node", copy, f"http://{server.host}:{server.port}/", key, *steps],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_operator_without_a_tenant_is_told_what_to_do():
    with Server() as server:
        shown = open_pages(server, server.operator().key, "sandboxes", "backends", "money")
        for page in ("sandboxes", "money"):
            assert set(shown[page]["sections"]) == {"No tenant yet"}, shown[page]
        assert "local" in json.dumps(shown["backends"]["sections"]["Backends"]), shown["backends"]


def test_tenants_that_share_a_name_are_told_apart():
    with Server() as server:
        twins = [server.tenant("twin", "developer")[0] for _ in range(2)]
        server.tenant("single", "developer")
        shown = open_pages(server, server.operator().key, "sandboxes")["sandboxes"]["tenants"]
        assert sorted(shown) == sorted(["single", *(f"twin ({one})" for one in twins)]), shown


def test_an_operator_may_choose_any_of_many_tenants():
    with Server() as server:
        operator = server.operator()
        for number in range(1010):
            operator.ok("POST", "/v1/tenants", {"name": f"t{number}"})
        shown = open_pages(server, operator.key, "sandboxes")["sandboxes"]["tenants"]
        assert len(shown) == 1010 and {"t0", "t1009"} <= set(shown), len(shown)


def test_every_page_shows_what_the_api_says():
    with Server() as server:
        tenant, developer = server.tenant("demo", "developer")
        operator = server.operator()
        server.profile("small", description="Little jobs", ttl_seconds=3000,
                       resources={"vcpu": 1, "memory_mib": 512, "disk_gib": 1})
        box = developer.ok("POST", "/v1/sandboxes", {"profile": "small", "metadata": {"run": HOSTILE}})["id"]
        operator.ok("PUT", f"/v1/tenants/{tenant}/budgets/month", {
            "amount": "10", "currency": "USD", "window": "month", "timezone": "UTC", "on_exceeded": "deny"})
        invoice, issued = (operator.ok("POST", "/v1/invoices", {"tenant": tenant, "period": month})["id"]
                           for month in ("2026-01", "2026-02"))
        number = operator.ok("POST", f"/v1/invoices/{issued}/issue")["number"]

        pages = open_pages(server, operator.key, "sandboxes", "sandbox/" + box, "backends", "money")
        assert all(page["note"].startswith("Updated") for page in pages.values()), pages
        row = pages["sandboxes"]["sections"]["Sandboxes"][1]
        assert row[:4] == [box, "running", "small@1", "local"] and row[5] in ("in 50 minutes", "in 49 minutes"), row
        detail = pages["sandbox/" + box]
        assert ["State", "running"] in detail["sections"]["Sandbox"]
        assert ["Metadata", f"run={HOSTILE} "] in detail["sections"]["Sandbox"]
        assert "<img" not in detail["html"]
        why = detail["sections"]["Why it runs there"]
        assert why[1][0] == "local" and re.fullmatch(r"–|\d\.\d|\d+", why[1][4]), why
        assert [row[:3] for row in pages["backends"]["sections"]["Backends"]][1] == ["local", "local", "ok"]
        assert ["small", "1", "Little jobs"] in pages["backends"]["sections"]["Profiles"]
        assert set(pages["money"]["sections"]) >= set(USAGE)

        own = open_pages(server, server.key(tenant, "billing").key, "money")["money"]
        budget = own["sections"]["Budgets"][1]
        assert budget[:2] == ["month", "month"] and budget[-1] == "10.00 USD", budget
        invoices = {row[1]: row for row in own["sections"]["Invoices"][1:]}
        assert invoices[invoice][:7] == ["–", invoice, "draft", "2026-01-01", "2026-02-01", "0.00 USD", "–"], invoices
        assert invoices[issued][:3] == [str(number), issued, "issued"], invoices
        assert invoices[issued][5:7] == ["0.00 USD", "0.00 USD"], invoices
        assert "Accounts" in own["sections"]


def test_what_runs_is_not_hidden_by_what_ended():
    with Server() as server:
        _, developer = server.tenant("demo", "developer")
        server.profile("small")
        server.profile("other")
        box = developer.ok("POST", "/v1/sandboxes", {"profile": "small"})["id"]
        dead = []
        for _ in range(21):
            dead.insert(0, developer.ok("POST", "/v1/sandboxes", {"profile": "small"})["id"])
            developer.ok("DELETE", "/v1/sandboxes/" + dead[0])
        paused = developer.ok("POST", "/v1/sandboxes", {"profile": "other"})["id"]
        developer.ok("POST", f"/v1/sandboxes/{paused}/pause")

        steps = ["sandboxes", "more:Ended", "profile:other", "profile:", "state:stopped", "sandbox/" + dead[0]]
        shown = {step: page["sections"] for step, page in open_pages(server, developer.key, *steps).items()}

        def ids(step, title):
            return [row[0] for row in shown[step][title]][1:] if isinstance(shown[step][title], list) else []

        for step in ("sandboxes", "more:Ended"):
            assert ids(step, "Sandboxes") == [paused, box], shown[step]
        assert shown["sandboxes"]["Sandboxes"][1][-1] == "–", "the price of a running one is not that of a paused one"
        assert ids("sandboxes", "Ended") == dead[:20] and ids("more:Ended", "Ended") == dead
        assert ids("profile:other", "Sandboxes") == [paused] and not ids("profile:other", "Ended")
        assert list(shown["state:stopped"]) == ["Ended"] and ids("state:stopped", "Ended") == dead[:20]
        names = [row[0] for row in shown["sandbox/" + dead[0]]["Sandbox"]]
        assert "Ended" in names and "Expires" not in names and "Per hour" not in names, names


def test_a_role_sees_its_own_pages_and_no_refusals():
    with Server() as server:
        tenant, developer = server.tenant("demo", "developer")
        money = open_pages(server, server.key(tenant, "billing").key, "sandboxes")["sandboxes"]
        assert money["page"] == "#money" and money["links"] == ["Money"], money
        assert list(money["sections"]) == USAGE + ["Budgets", "Invoices", "Accounts"]
        usage = open_pages(server, developer.key, "money")["money"]
        assert usage["links"] == ["Sandboxes", "Backends", "Money"]
        assert list(usage["sections"]) == USAGE, usage


def test_a_key_that_is_none_says_so():
    with Server() as server:
        shown = open_pages(server, "sg_nobody", "sandboxes")["sandboxes"]
        assert "key" in shown["note"] and not shown["sections"], shown


def test_a_key_that_is_taken_back_shows_and_asks_nothing_more():
    with Server() as server:
        tenant, _ = server.tenant("demo", "developer")
        made = server.operator().ok("POST", "/v1/keys", {"tenant": tenant, "name": "mine", "role": "owner"})
        steps = ["sandboxes", f"DELETE:/v1/keys/{made['id']}", "backends", "wait:11000"]
        pages = open_pages(server, made["secret"], *steps)
        shown = [pages[steps[0]], pages["backends"], pages[steps[-1]]]
        assert not shown[0]["bad"] and "Sandboxes" in shown[0]["sections"], shown
        for page in shown[1:]:
            assert page["bad"] and page["note"] == "this API key is not valid" and not page["sections"], page
        assert shown[1]["asked"] == shown[2]["asked"], "it asks again and again"


main(globals())
