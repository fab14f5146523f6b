#!/usr/bin/env python3
"""One program, tests/swap/program.py, on every backend there is here: nothing but the profile is edited between
its runs. What it sees is the same everywhere, and what it is charged differs in deployment and price only.

    SANDGATE_BINARY=build/gateway/sandgate tests/swap/swap_test.py [deployments]
"""
import contextlib
import json
import os
import subprocess
import sys
from datetime import datetime
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", folder) for folder in ("api", "faults", "support", "vendors")]
sys.dont_write_bytecode = True

from cases import wait_until  # noqa: E402
from deployments import VENDORS, Fake  # noqa: E402
from server import Server, ensure_image  # noqa: E402

try:
    from contract import Contract
except ImportError as missing:
    print(f"skipped: {missing} (Debian: python3-yaml python3-jsonschema)")
    sys.exit(77)

KEY = "key-of-the-extension"
CONTROLS = ["network_allow", "cpu_limit", "memory_limit", "process_limit", "disk_limit"]
OWN_SERVER = [os.path.join(ROOT, "docs", "extension", "example.py"), "--until-eof",
              *(word for name in CONTROLS for word in ("--control", name))]
# Meters of backends that measure; those of size and time are everywhere the same.
MEASURED = {"active_cpu_second", "egress_gib"}
# What a vendor gives whatever is asked for.
ONLY_SIZES = {"e2b": {"vcpu_second": 2, "memory_gib_second": Decimal("0.5"), "disk_gib_second": 10}}
PROFILE = {"isolation": "process", "resources": {"vcpu": 1, "memory_mib": 256, "disk_gib": 1},
           "network": {"default": "allow"}, "requires": ["exec", "files"]}


class OwnServer:
    """The example of an extension: a backend of somebody's own."""
    image = None

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, *OWN_SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, "EXTENSION_KEY": KEY})
        self.deployment = {"provider": "sandgate", "credentials": {"api_key": KEY},
                           "settings": {"url": self.process.stdout.readline().split()[1], "profile": "any"}}

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)


def offered(server, name):
    listed = server.operator().ok("GET", "/v1/providers")["items"]
    found = next((one for one in listed if one["deployment"] == name), None)
    return found and found["descriptor"]["verbs"]


def set_prices(server, kinds):
    """A vCPU second has another price on each deployment; a tenant pays it as it is."""
    prices = {name: Decimal(i + 1) / 1000 for i, name in enumerate(sorted(kinds))}
    entries = [{"provider": kinds[name], "deployment": name, "meter": "vcpu_second", "unit_price": str(price)}
               for name, price in prices.items()]
    server.operator().ok("PUT", "/v1/prices/swap", {
        "kind": "cost", "currency": "USD", "effective_from": "2026-01-01T00:00:00Z", "entries": entries})
    return prices


def run_program(server, key):
    done = subprocess.run([sys.executable, HERE + "/program.py", "swap"], capture_output=True, text=True, timeout=120,
                          env={"SANDGATE_URL": f"http://{server.host}:{server.port}", "SANDGATE_API_KEY": key})
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def check_document(contract, client, box):
    path = f"/v1/sandboxes/{box}"
    answer = client.call("GET", path)
    wrong = contract.problems("GET", path, answer.status, answer.headers, answer.body)
    assert not wrong, (wrong, answer.body)


def usage_of(server, tenant, box):
    lines = server.operator().call("GET", f"/v1/usage/export?format=json&tenant={tenant}").body.splitlines()
    return [line for line in map(json.loads, lines) if line["sandbox"] == box]


def seconds_of(line):
    begin, end = (datetime.fromisoformat(line[name].replace("Z", "+00:00")) for name in ("interval_start", "interval_end"))
    return Decimal((end - begin).total_seconds())


def check_usage(lines, name, kind, prices):
    """What remains of the lines when deployment, price and time are taken away."""
    assert lines and all((line["deployment"], line["provider"]) == (name, kind) for line in lines), lines
    lines = [line for line in lines if line["meter"] not in MEASURED]
    for line in lines:
        assert line["charge"] == line["cost"], line
        if line["meter"] == "vcpu_second":
            assert Decimal(line["cost"]) == prices[name] * Decimal(line["quantity"]), line
        size = ONLY_SIZES.get(kind, {}).get(line["meter"])
        assert size is None or abs(Decimal(line["quantity"]) - size * seconds_of(line)) < Decimal("0.001"), line
    return sorted({(line["meter"], line["profile"], line["currency"]) for line in lines})


def main():
    wanted = sys.argv[1:] or ["own-server", *VENDORS, "local"]
    pages = [page.removesuffix(".md") for page in os.listdir(os.path.join(ROOT, "docs", "providers"))]
    assert sorted(pages) == sorted(VENDORS), "a vendor has no line in tests/vendors/deployments.py"
    if os.geteuid() != 0:
        print("skipped: needs root")
        return 77
    if "local" in wanted:
        ensure_image()
    server = Server()
    with contextlib.ExitStack() as stack:
        stack.callback(server.close)
        kinds, images, backends = {}, {}, {}
        for name in wanted:
            if name == "local":
                kinds[name] = name
                continue
            backend = OwnServer() if name == "own-server" else Fake(name)
            stack.callback(backend.close)
            kinds[name] = backend.deployment["provider"]
            if backend.image:
                images[kinds[name]] = backend.image
            backends[name] = backend.deployment
        server.start()
        tenant, client = server.tenant("swapper", "developer")
        for name, deployment in backends.items():
            server.operator().ok("PUT", f"/v1/deployments/{name}", deployment)
        prices = set_prices(server, kinds)
        contract = Contract(os.path.join(ROOT, "docs", "openapi.yaml"))
        seen, charged = {}, {}
        for name, kind in kinds.items():
            verbs = wait_until(lambda: offered(server, name), 30, f"{name} tells what it can do")
            server.profile("swap", **PROFILE, images=images, placement={"only": [name]})
            run = run_program(server, client.key)
            box = run.pop("sandbox")
            check_document(contract, client, box)
            charged[name] = check_usage(usage_of(server, tenant, box), name, kind, prices)
            kept = run.pop("restored")
            assert kept is (True if "snapshot" in verbs else None), (name, kept, verbs)
            seen[name] = run
            print(f"      {name} ({kind}): snapshot {'restored' if kept else 'not offered'}, {charged[name]}")
        first = next(iter(seen))
        for name in seen:
            assert seen[name] == seen[first], f"{name}: {seen[name]}\n{first}: {seen[first]}"
            assert charged[name] == charged[first], (name, charged[name], charged[first])
        assert len(seen) >= 2 and seen[first]["exec"] == [3, "hello 42\n", "no\n"], seen
        print(f"ok    {len(seen)} backends, one program: {', '.join(seen)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
