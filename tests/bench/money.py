"""Usage into PostgreSQL, what a budget adds to a create, and a report over ten million events' sums."""
import json
import os
import subprocess


def figures(context):
    build = os.path.dirname(os.path.dirname(context.server.binary))
    program = build + "/tests/billing/billing_bench"
    done = subprocess.run([program, str(context.count(5000, 20000))], check=True, capture_output=True, text=True)
    return {row.pop("name"): row for row in map(json.loads, done.stdout.splitlines())}


def run(context, report):
    found = figures(context)
    rate = found["usage_events_per_second"]["value"]
    report.add("usage events into PostgreSQL", rate, "/s", target="at least 10000", ok=rate >= 10000)
    for quantile, most in (("p50", 0.5), ("p99", 5)):
        without = found["reserve_us_without_budget"][quantile] / 1000
        added = found["reserve_us_with_budget"][quantile] / 1000 - without
        report.add(f"a budget adds to a create, {quantile}", added, "ms", target=f"under {most}", ok=added < most)
    for whose in ("one_tenant", "all_tenants"):
        took = found["usage_query_us_" + whose]["p50"] / 1000
        report.add(f"usage by profile and day, {whose.replace('_', ' ')}", took, "ms", target="under 200", ok=took < 200)
