"""Timing, percentiles and the result table shared by the benchmarks."""
import json
import os
import statistics
import time


def percentile(values, fraction):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * fraction))]


def milliseconds(action):
    begin = time.perf_counter_ns()
    action()
    return (time.perf_counter_ns() - begin) / 1e6


def interleaved(actions, rounds, each, settle=0.0):
    """Runs named actions A B B A ...; returns name -> list of milliseconds. `settle`: seconds before each turn, so
    that nobody is measured while the kernel or a server tidies up after another."""
    results = {name: [] for name in actions}
    names = list(actions)
    for turn in range(rounds):
        for name in names if turn % 2 == 0 else reversed(names):
            time.sleep(settle)
            results[name] += [milliseconds(actions[name]) for _ in range(each)]
    return results


def resident_mib(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def peak_resident_mib(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


class Report:
    """Rows of figures, each beside its peer and its target; printed as a table, kept as JSON."""

    def __init__(self):
        self.rows = []

    def add(self, what, value, unit, peer="", peer_value=None, target="", ok=None):
        self.rows.append({"what": what, "value": value, "unit": unit, "peer": peer, "peer_value": peer_value,
                          "ratio": value / peer_value if peer_value else None, "target": target, "ok": ok})
        print(self.line(self.rows[-1]), flush=True)

    @staticmethod
    def line(row):
        peer = f"{row['peer']} {row['peer_value']:.4g} {row['unit']}" if row["peer_value"] else row["peer"]
        ratio = f"{row['ratio']:.2f}x" if row["ratio"] else ""
        verdict = {None: "", True: "ok", False: "MISSED"}[row["ok"]]
        return f"{row['what']:<52} {row['value']:>10.4g} {row['unit']:<6} {peer:<26} {ratio:>8}  {row['target']:<24} {verdict}"

    def spread(self, what, values, unit="ms", **more):
        self.add(what + " p50", statistics.median(values), unit, **more)
        self.add(what + " p99", percentile(values, 0.99), unit)

    def save(self, path):
        with open(path, "w") as file:
            json.dump({"cores": os.cpu_count(), "kernel": os.uname().release, "rows": self.rows}, file, indent=1)

    def missed(self):
        return [row["what"] for row in self.rows if row["ok"] is False]
