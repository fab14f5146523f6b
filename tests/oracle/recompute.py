#!/usr/bin/env python3
"""Recomputes all money from raw usage events, sharing no code with the gateway.

Reads the events and the price books with psql, rates every event again by its own reading of the
rules (docs), and compares with what is booked: costs and charges, the sums by day, the ledger, the
budgets' spending and every issued invoice. Exact: decimals with more digits than any product has.

Usage: recompute.py CONNINFO     exits 1 and names the differences when there are any.
"""
import csv
import io
import json
import subprocess
import sys
from collections import defaultdict
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal, getcontext

getcontext().prec = 200
ZERO = Decimal(0)
MINOR = {"JPY": 0, "KRW": 0, "BHD": 3, "JOD": 3, "KWD": 3, "TND": 3}


def rows(conninfo, query):
    out = subprocess.run(["psql", "-X", "--csv", "-c", query, conninfo], check=True,
                         capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(out)))


MICROS = "(extract(epoch FROM {0}) * 1000000)::bigint AS {0}"


class Prices:
    def __init__(self, conninfo):
        self.versions = {v["id"]: v for v in rows(conninfo, (
            "SELECT id, book, version, kind, coalesce(tenant, '') AS tenant, currency,"
            " markup_percent, " + MICROS.format("effective_from") + ", " +
            MICROS.format("created_at") + " FROM price_version"))}
        self.entries = rows(conninfo, "SELECT * FROM price_entry")
        self.picked = {}

    def in_force(self, at, known):
        """Ids of the versions in force at a moment, as known at another: the newest per book."""
        newest = {}
        for version in self.versions.values():
            if int(version["effective_from"]) > at or int(version["created_at"]) > known:
                continue
            best = newest.get(version["book"])
            if best is None or int(version["version"]) > int(best["version"]):
                newest[version["book"]] = version
        return {v["id"] for v in newest.values()}

    def pick(self, event, kind, tenant, force):
        question = (kind, tenant, frozenset(force),
                    *(event[name] for name in ("meter", "provider", "deployment", "region")))
        if question not in self.picked:
            self.picked[question] = self.choose(event, kind, tenant, force)
        return self.picked[question]

    def choose(self, event, kind, tenant, force):
        def fits(entry):
            version = self.versions[entry["version_id"]]
            return (entry["version_id"] in force and version["kind"] == kind
                    and version["tenant"] == tenant and entry["meter"] == event["meter"]
                    and entry["provider"] in (event["provider"], "*")
                    and entry["deployment"] in (event["deployment"], "")
                    and entry["region"] in (event["region"], ""))

        def order(entry):
            version = self.versions[entry["version_id"]]
            return (entry["deployment"] == "", entry["region"] == "", entry["provider"] == "*",
                    version["book"] == "shipped", -int(version["effective_from"]), version["book"])

        return min(filter(fits, self.entries), key=order, default=None)

    def markup(self, tenant, currency, force):
        found = [v for v in self.versions.values()
                 if v["id"] in force and v["tenant"] == tenant and v["markup_percent"]
                 and v["currency"] == currency]
        return min(found, key=lambda v: (-int(v["effective_from"]), v["book"]), default=None)


def billed(entry, total):
    if total == 0:
        return ZERO
    if entry["minimum"]:
        total = max(total, Decimal(entry["minimum"]))
    if entry["rounding"]:
        step = Decimal(entry["rounding"])
        total = (total / step).to_integral_value(ROUND_CEILING) * step
    return max(total - Decimal(entry["included"] or 0), ZERO)


def amount(entry, event):
    before = Decimal(event["quantity_before"])
    after = before + Decimal(event["quantity"])
    return Decimal(entry["unit_price"]) * (billed(entry, after) - billed(entry, before))


def rate(prices, event):
    force = prices.in_force(int(event["interval_start"]), int(event["recorded_at"]))
    own = event.get("own") == "t"
    entry = None if own else prices.pick(event, "cost", "", force)
    cost = amount(entry, event) if entry else ZERO
    currency = prices.versions[entry["version_id"]]["currency"] if entry else "USD"
    for tenant in (event["tenant"], ""):
        charged = prices.pick(event, "charge", tenant, force)
        if charged and (charged["deployment"] or not own):
            charge_currency = prices.versions[charged["version_id"]]["currency"]
            return cost, currency, amount(charged, event), charge_currency
        markup = None if own else prices.markup(tenant, currency, force)
        if markup:
            return cost, currency, cost * (100 + Decimal(markup["markup_percent"])) / 100, currency
    return cost, currency, cost, currency


class Report:
    def __init__(self):
        self.problems = []

    def same(self, what, ours, theirs):
        if ours != theirs:
            self.problems.append(f"{what}: recomputed {ours}, booked {theirs}")

    def same_sums(self, what, ours, theirs):
        for key in sorted(set(ours) | set(theirs)):
            self.same(f"{what} {key}", ours.get(key, ZERO), theirs.get(key, ZERO))


def check_events(report, prices, events):
    for event in events:
        cost, cost_currency, charge, charge_currency = rate(prices, event)
        report.same(f"cost of {event['id']}", (cost, cost_currency),
                    (Decimal(event["cost"]), event["cost_currency"]))
        report.same(f"charge of {event['id']}", (charge, charge_currency),
                    (Decimal(event["charge"]), event["charge_currency"]))
        event["charge"] = charge
        event["cost"] = cost


def check_cuts(report, prices, events):
    """No event reaches over a quarter of an hour, or over a price that was known when it was booked."""
    changes = [(int(v["effective_from"]), int(v["created_at"])) for v in prices.versions.values()]
    for event in events:
        start, end = int(event["interval_start"]), int(event["interval_end"])
        whole = (start // 900_000_000 == max(start, end - 1) // 900_000_000
                 and not any(start < at < end and known <= int(event["recorded_at"]) for at, known in changes))
        report.same(f"boundaries within {event['id']}", True, whole)


def check_rollups(report, conninfo, events):
    ours, theirs = defaultdict(lambda: ZERO), defaultdict(lambda: ZERO)
    for event in events:
        key = (event["tenant"], event["day"], event["profile"], event["deployment"], event["meter"])
        ours[key] += event["charge"]
    for row in rows(conninfo, "SELECT * FROM usage_rollup"):
        key = (row["tenant"], row["day"], row["profile"], row["deployment"], row["meter"])
        theirs[key] += Decimal(row["charge"])
    report.same_sums("day", ours, theirs)


def check_losses(report, conninfo, prices):
    """What nobody pays: rated by the cost books alone, and in the ledger as loss, to the same vendor."""
    ours, theirs = defaultdict(lambda: ZERO), defaultdict(lambda: ZERO)
    for event in rows(conninfo, "SELECT *, '' AS tenant, " + MICROS.format("interval_start") + ", " +
                      MICROS.format("recorded_at") + " FROM loss_event"):
        cost, currency, _, _ = rate(prices, event)
        report.same(f"cost of loss {event['id']}", (cost, currency),
                    (Decimal(event["cost"]), event["cost_currency"]))
        ours["loss", currency] += cost
        ours[f"vendor/{event['deployment']}/payable", currency] -= cost
    for row in rows(conninfo, "SELECT account, currency, debit, credit FROM ledger_entry"
                              " JOIN ledger_transfer ON id = transfer WHERE reason LIKE 'loss: %'"):
        theirs[row["account"], row["currency"]] += Decimal(row["debit"]) - Decimal(row["credit"])
    report.same_sums("loss", {k: v for k, v in ours.items() if v}, theirs)
    twice = rows(conninfo, "SELECT l.id FROM loss_event l JOIN usage_event u USING (sandbox, meter)"
                           " WHERE l.reason = 'late_end' AND u.interval_end > l.interval_start")
    report.same("losses within what a tenant was charged for", [], twice)


def check_ledger(report, conninfo, events):
    ours, theirs, balance, closed, kept = (defaultdict(lambda: ZERO) for _ in range(5))
    for event in events:
        ours[f"tenant/{event['tenant']}/receivable", event["charge_currency"]] += event["charge"]
        ours[f"vendor/{event['deployment']}/payable", event["cost_currency"]] += event["cost"]
    for row in rows(conninfo, "SELECT account, currency, reason, debit, credit,"
                              " id <= (SELECT through FROM ledger_closing) AS closed"
                              " FROM ledger_entry JOIN ledger_transfer ON id = transfer"):
        balance[row["currency"]] += Decimal(row["debit"]) - Decimal(row["credit"])
        for side in ("debit", "credit") if row["closed"] == "t" else ():
            closed[row["account"], row["currency"], side] += Decimal(row[side])
        if row["reason"] == "usage" and row["account"] not in ("revenue", "cost"):
            theirs[row["account"], row["currency"]] += Decimal(row["debit"]) + Decimal(row["credit"])
    report.same_sums("ledger", {k: v for k, v in ours.items() if v}, theirs)
    report.same_sums("balance", balance, {})
    for row in rows(conninfo, "SELECT account, currency, debit, credit FROM ledger_closed"):
        for side in ("debit", "credit"):
            kept[row["account"], row["currency"], side] += Decimal(row[side])
    report.same_sums("closed", closed, kept)


def holds_for(scope, subject):
    """Whether a budget holds for a sandbox of that profile, key and metadata."""
    return (scope.get("profile", subject.get("profile")) == subject.get("profile")
            and scope.get("key", subject.get("key")) == subject.get("key")
            and scope.get("metadata", {}).items() <= subject.get("metadata", {}).items())


def check_budgets(report, conninfo, events):
    subjects = {row["sandbox"]: {"profile": row["profile"], "key": row["key"],
                                 "metadata": json.loads(row["metadata"])}
                for row in rows(conninfo, "SELECT sandbox, profile, key, metadata FROM metered_sandbox")}
    for budget in rows(conninfo, "SELECT id, tenant, currency, applies_to, spent, reserved, " +
                       MICROS.format("window_start") + ", " + MICROS.format("window_end") +
                       " FROM budget"):
        end = int(budget["window_end"]) if budget["window_end"] else 1 << 62
        scope = json.loads(budget["applies_to"])
        spent = sum((e["charge"] for e in events if e["tenant"] == budget["tenant"]
                     and e["charge_currency"] == budget["currency"]
                     and holds_for(scope, subjects[e["sandbox"]])
                     and int(budget["window_start"]) <= int(e["interval_start"]) < end), ZERO)
        report.same(f"spent of budget {budget['id']}", spent, Decimal(budget["spent"]))
        held = rows(conninfo, "SELECT held, subject FROM reservation WHERE"
                    f" tenant = '{budget['tenant']}' AND currency = '{budget['currency']}'")
        reserved = sum((Decimal(r["held"]) for r in held if holds_for(scope, json.loads(r["subject"]))), ZERO)
        report.same(f"reserved of budget {budget['id']}", reserved, Decimal(budget["reserved"]))


def check_invoices(report, conninfo, events):
    issued = rows(conninfo, "SELECT id, tenant, currency, total, through_sequence, " +
                  MICROS.format("period_from") + ", " + MICROS.format("period_to") +
                  " FROM invoice WHERE state = 'issued' ORDER BY through_sequence, issued_at")
    seen = set()
    earlier = defaultdict(list)  # by tenant and currency: the periods issued before
    for invoice in issued:
        account = (invoice["tenant"], invoice["currency"])
        periods = earlier[account] + [(int(invoice["period_from"]), int(invoice["period_to"]))]
        lines = defaultdict(lambda: ZERO)
        for event in events:
            start = int(event["interval_start"])
            if ((event["tenant"], event["charge_currency"]) == account
                    and int(event["sequence"]) <= int(invoice["through_sequence"])
                    and event["id"] not in seen and any(a <= start < b for a, b in periods)):
                seen.add(event["id"])
                lines[event["meter"], event["deployment"], event["profile"]] += event["charge"]
        earlier[account] = periods
        booked, total = defaultdict(lambda: ZERO), ZERO
        unit = Decimal(1).scaleb(-MINOR.get(invoice["currency"], 2))
        for line in rows(conninfo, f"SELECT * FROM invoice_line WHERE invoice = '{invoice['id']}'"):
            exact = Decimal(line["amount_exact"])
            booked[line["meter"], line["deployment"], line["profile"]] += exact
            report.same(f"rounding in {invoice['id']}", exact.quantize(unit, ROUND_HALF_EVEN),
                        Decimal(line["amount"]))
            total += Decimal(line["amount"])
        report.same_sums(f"invoice {invoice['id']}", {k: v for k, v in lines.items() if v}, booked)
        report.same(f"total of {invoice['id']}", total, Decimal(invoice["total"]))


def check_credits(report, conninfo):
    """Credits pay issued invoices, the oldest first; none is left while something is to be paid."""
    left, paid = defaultdict(lambda: ZERO), defaultdict(lambda: ZERO)
    for row in rows(conninfo, "SELECT tenant, currency, reason, debit, credit FROM ledger_entry"
                              " JOIN ledger_transfer ON id = transfer WHERE account LIKE 'tenant/%/credits'"):
        left[row["tenant"], row["currency"]] += Decimal(row["credit"]) - Decimal(row["debit"])
        if row["reason"].startswith("credits for in"):
            paid[row["reason"].removeprefix("credits for ")] += Decimal(row["debit"])
    later = defaultdict(lambda: ZERO)
    for row in rows(conninfo, "SELECT invoice, amount FROM invoice_payment"):
        later[row["invoice"]] += Decimal(row["amount"])
    taken_back = defaultdict(lambda: ZERO)
    for row in rows(conninfo, "SELECT invoice, amount FROM credit_note"):
        taken_back[row["invoice"]] += Decimal(row["amount"])
    unpaid = set()  # tenant and currency, once an invoice is not paid in full
    for row in rows(conninfo, "SELECT id, tenant, currency, total, credits_applied FROM invoice"
                              " WHERE state = 'issued' ORDER BY issued_at, id"):
        account, said = (row["tenant"], row["currency"]), Decimal(row["credits_applied"]) + later[row["id"]]
        report.same(f"credits of {row['id']}", paid[row["id"]], said)
        report.same(f"{row['id']} paid before an older one", False, said > 0 and account in unpaid)
        report.same(f"{row['id']} paid too much", False, said > Decimal(row["total"]))
        report.same(f"{row['id']} taken back too much", False, taken_back[row["id"]] > Decimal(row["total"]))
        if said + taken_back[row["id"]] < Decimal(row["total"]):
            unpaid.add(account)
            report.same(f"credits left beside {row['id']}", True, left[account] <= 0)


def main():
    conninfo = sys.argv[1]
    events = rows(conninfo, (
        "SELECT id, sandbox, tenant, profile, deployment, provider, region, meter, quantity,"
        " quantity_before, cost, cost_currency, charge, charge_currency, sequence,"
        " (interval_start AT TIME ZONE 'UTC')::date AS day, " + MICROS.format("interval_start") +
        ", " + MICROS.format("interval_end") + ", " + MICROS.format("recorded_at") +
        ", (SELECT own FROM metered_sandbox m WHERE m.sandbox = e.sandbox) AS own"
        " FROM usage_event e ORDER BY sequence"))
    report = Report()
    prices = Prices(conninfo)
    check_events(report, prices, events)
    check_cuts(report, prices, events)
    check_losses(report, conninfo, prices)
    check_rollups(report, conninfo, events)
    check_ledger(report, conninfo, events)
    check_budgets(report, conninfo, events)
    check_invoices(report, conninfo, events)
    check_credits(report, conninfo)
    for problem in report.problems[:50]:
        print(problem)
    print(f"{len(events)} events, {len(report.problems)} differences")
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
