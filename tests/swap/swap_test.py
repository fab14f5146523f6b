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
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", "faults"), os.path.join(ROOT, "tests", "support")]
sys.dont_write_bytecode = True

from cases import wait_until  # noqa: E402
from server import Server, ensure_image  # noqa: E402

KEY = "key-of-the-extension"
CONTROLS = ["network_allow", "cpu_limit", "memory_limit", "process_limit", "disk_limit"]
FAKES = os.path.join(ROOT, "tests", "vendors")
# Deployment: its kind, what serves it, settings by the URL, credentials, the image's name there.
BACKENDS = {
    "own-server": ("sandgate", [os.path.join(ROOT, "docs", "extension", "example.py"), "--until-eof",
                                *(word for name in CONTROLS for word in ("--control", name))],
                   lambda url: {"url": url, "profile": "any"}, {"api_key": KEY}, None),
    "vendor-one": ("e2b", [FAKES + "/e2b/fake_e2b.py", "--specs", ""],
                   lambda url: {"api_url": url, "sandbox_url": url},
                   {"api_key": "e2b_00000000000000000000000000000001"}, "base"),
    "vendor-two": ("daytona", [FAKES + "/daytona/fake_daytona.py", "--specs", ""],
                   lambda url: {"api_url": url + "/api", "process_limit": True}, {"api_key": "dtn_0001"},
                   "daytona-small"),
    "vendor-three": ("runloop", [FAKES + "/runloop/fake_runloop.py", "--specs", ""],
                     lambda url: {"api_url": url}, {"api_key": "ak_0001"}, "tools"),
}
# Meters of backends that measure; those of size and time are everywhere the same.
MEASURED = {"active_cpu_second", "egress_gib"}
PROFILE = {"isolation": "process", "resources": {"vcpu": 1, "memory_mib": 256, "disk_gib": 1},
           "network": {"default": "allow"}, "requires": ["exec", "files"]}


@contextlib.contextmanager
def serving(words):
    process = subprocess.Popen([sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "EXTENSION_KEY": KEY})
    try:
        yield process.stdout.readline().split()[1]
    finally:
        process.stdin.close()
        process.wait(20)


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


def usage_of(server, tenant, box):
    lines = server.operator().call("GET", f"/v1/usage/export?format=json&tenant={tenant}").body.splitlines()
    return [line for line in map(json.loads, lines) if line["sandbox"] == box]


def check_usage(lines, name, kind, prices):
    """What remains of the lines when deployment, price and time are taken away."""
    assert lines and all((line["deployment"], line["provider"]) == (name, kind) for line in lines), lines
    lines = [line for line in lines if line["meter"] not in MEASURED]
    for line in lines:
        assert line["charge"] == line["cost"], line
        if line["meter"] == "vcpu_second":
            assert Decimal(line["cost"]) == prices[name] * Decimal(line["quantity"]), line
    return sorted({(line["meter"], line["profile"], line["currency"]) for line in lines})


def main():
    wanted = sys.argv[1:] or [*BACKENDS, "local"]
    if os.geteuid() != 0:
        print("skipped: needs root")
        return 77
    if "local" in wanted:
        ensure_image()
    server = Server()
    with contextlib.ExitStack() as stack:
        stack.callback(server.close)
        kinds = {"local": "local"} if "local" in wanted else {}
        urls = {name: stack.enter_context(serving(BACKENDS[name][1])) for name in wanted if name in BACKENDS}
        server.start()
        tenant, client = server.tenant("swapper", "developer")
        for name, url in urls.items():
            kind, _, settings, credentials, _ = BACKENDS[name]
            kinds[name] = kind
            server.operator().ok("PUT", f"/v1/deployments/{name}", {
                "provider": kind, "settings": settings(url), "credentials": credentials})
        prices = set_prices(server, kinds)
        images = {backend[0]: backend[4] for backend in BACKENDS.values() if backend[4]}
        seen, charged = {}, {}
        for name, kind in kinds.items():
            verbs = wait_until(lambda: offered(server, name), 30, f"{name} tells what it can do")
            server.profile("swap", **PROFILE, images=images, placement={"only": [name]})
            run = run_program(server, client.key)
            charged[name] = check_usage(usage_of(server, tenant, run.pop("sandbox")), name, kind, prices)
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
