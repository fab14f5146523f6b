"""What a create on each vendor's adapter costs in processor time. `adapter`: what the adapter with its HTTP client
spends, in a process that has nothing else; `there in 250 ms`: with a vendor that has to be asked until then. `worker`: all that the gateway's worker spends, which is the request, the
decision, the rows, the events and what it does anyway meanwhile as well, so twenty are under way at once. The peer is
the vendor's fake, which answers the same calls in the same run."""
import concurrent.futures
import json
import os
import subprocess
import sys
import time

from server import SOURCE

sys.path.append(SOURCE + "/tests/vendors")
from deployments import VENDORS, Fake  # noqa: E402

AT_ONCE = 20


def spent_by_threads(pid):
    """Milliseconds, from the scheduler's own count in nanoseconds; of threads that there still are."""
    return sum(int(open(f"/proc/{pid}/task/{thread}/schedstat").read().split()[0])
               for thread in os.listdir(f"/proc/{pid}/task")) / 1e6


def spent_by_process(pid):
    """Milliseconds in ticks of ten, threads that ended included."""
    user, system = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) * 1e3 / os.sysconf("SC_CLK_TCK")


def why_not(client, name):
    candidates = client.ok("POST", f"/v1/profiles/{name}/explain", {"request": {}})["candidates"]
    found = next((one for one in candidates if one["deployment"] == name), {"rejected_because": ["unknown"]})
    return " ".join(found["rejected_because"])


def measure(context, report, vendor, of_adapter):
    operator, fake = context.server.operator(), Fake(vendor)
    clients = [context.client() for _ in range(AT_ONCE)]
    worker, rounds = context.server.pids("worker")[0], context.count(3, 10)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        def create_all():
            return [*pool.map(lambda client: client.ok("POST", "/v1/sandboxes", {"profile": vendor})["id"], clients)]

        try:
            operator.ok("PUT", f"/v1/deployments/{vendor}", fake.deployment)
            context.server.profile(vendor, isolation="process", network={"default": "allow"},
                                   resources={"vcpu": 1, "memory_mib": 256, "disk_gib": 1},
                                   images={vendor: fake.image}, placement={"only": [vendor]})
            limit = time.monotonic() + 20
            while (reason := why_not(clients[0], vendor)) == "unknown" and time.monotonic() < limit:
                time.sleep(0.05)
            assert not reason, f"{vendor} is not placed: {reason}"
            spent = theirs = 0
            for turn in range(1 + rounds):
                before, before_fake = spent_by_threads(worker), spent_by_process(fake.process.pid)
                made = create_all()
                if turn:  # the first makes the connections and statements that are there from then on
                    spent += spent_by_threads(worker) - before
                    theirs += spent_by_process(fake.process.pid) - before_fake
                for box in made:
                    clients[0].ok("DELETE", f"/v1/sandboxes/{box}")
        finally:
            operator.call("DELETE", f"/v1/deployments/{vendor}")
            fake.close()
    creates = rounds * AT_ONCE
    there, starting = of_adapter["there"], of_adapter["starting"]
    report.add(f"create on {vendor}: adapter", there, "ms", "its fake", theirs / creates, "under 1", there < 1)
    report.add(f"create on {vendor}: adapter, there in 250 ms", starting, "ms", "its fake", theirs / creates)
    report.add(f"create on {vendor}: worker", spent / creates, "ms", "its fake", theirs / creates)


def run(context, report):
    bench = os.path.dirname(os.path.dirname(context.server.binary)) + "/tests/bench/adapter_bench"
    done = subprocess.run([bench, str(context.count(10, 50))], capture_output=True, text=True, check=True)
    of_adapters = json.loads(done.stdout)
    for vendor in VENDORS:
        measure(context, report, vendor, of_adapters[vendor])
