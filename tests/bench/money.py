"""Usage into PostgreSQL, what a budget adds to a create, a report over ten million events' sums, and a month of
everything that a second calculation has to agree with."""
import json
import os
import re
import subprocess


def run_program(context, name, arguments=(), **environment):
    build = os.path.dirname(os.path.dirname(context.server.binary))
    return subprocess.run([f"{build}/tests/billing/{name}", *arguments], check=True, capture_output=True, text=True,
                          env={**os.environ, **environment}).stdout


def figures(context):
    # On disk: what is counted as booked has to be there after a crash.
    told = run_program(context, "billing_bench", [str(context.count(5000, 20000)), str(context.count(1, 60))],
                       SANDGATE_TEST_FSYNC="on")
    return {row.pop("name"): row for row in map(json.loads, told.splitlines())}


def random_month(context, report):
    sandboxes = context.count(1000, 10000)
    told = run_program(context, "billing_test", ["--gtest_filter=RandomMonth.*"],
                       SANDGATE_MONTH_SANDBOXES=str(sandboxes))
    events, differences = map(int, re.search(r"(\d+) events, (\d+) differences", told).groups())
    report.add(f"differences in a month of {sandboxes} sandboxes, {events} events", differences, "", target="0",
               ok=differences == 0 and events > sandboxes)


def run(context, report):
    found = figures(context)
    usage = found["usage_events_per_second"]
    report.add(f"usage events into PostgreSQL for {usage['ms'] / 1000:.0f} s", usage["value"], "/s",
               target="at least 10000", ok=usage["value"] >= 10000)
    missing = usage["events"] - min(usage["rows"], usage["in_sums"])
    report.add(f"of these {usage['events']}, not found again", missing, "", target="0", ok=missing == 0)
    for quantile, most in (("p50", 0.5), ("p99", 5)):
        without = found["reserve_us_without_budget"][quantile] / 1000
        added = found["reserve_us_with_budget"][quantile] / 1000 - without
        report.add(f"a budget adds to a create, {quantile}", added, "ms", target=f"under {most}", ok=added < most)
    report.add("and to its end, where the price is known, p50", found["adjust_us"]["p50"] / 1000, "ms")
    for whose in ("one_tenant", "all_tenants"):
        took = found["usage_query_us_" + whose]["p50"] / 1000
        report.add(f"usage by tenant and day, {whose.replace('_', ' ')}", took, "ms", target="under 200", ok=took < 200)
    random_month(context, report)
