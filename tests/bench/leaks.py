"""Many sandboxes created and deleted, calmly and amid kill -9 of agents and of the node: nothing left behind."""
import collections
import glob
import http.client
import json
import os
import random
import signal
import subprocess
import threading
import time

from server import Client, Server

AGENTS_KILLED, CYCLES_PER_NODE = 0.05, 1000
# What a call may answer whose agent or node is killed meanwhile: come again, or it is gone.
HIT = {"unavailable", "no_capacity", "timeout", "conflict"}


def claims():
    """What nodes of this machine claimed, as journal -> claim."""
    found = {}
    for path in glob.glob("/run/sandgate-nodes/*.json"):
        try:
            with open(path) as file:
                claim = json.load(file)
            found[claim["sandboxes"]] = claim
        except (OSError, ValueError):
            pass  # of a node that comes or goes
    return found


def processes_of(server):
    """Of its sandboxes, whose user ids end where its egress process has its own."""
    claim = claims()[server.home + "/run/sandboxes"]
    ids = range(claim["id_base"], claim["id_base"] + (claim["id_ranges"] - 1) * 65536)
    count = 0
    for path in glob.glob("/proc/[0-9]*/status"):
        try:
            with open(path) as file:
                count += int(next(line for line in file if line.startswith("Uid:")).split()[1]) in ids
        except (OSError, StopIteration):
            pass  # ended meanwhile
    return count


def places_in_memory(server):
    """Directories of journals that are no other node's."""
    others = {os.path.realpath(journal) for journal in claims() if journal != server.home + "/run/sandboxes"}
    return len(set(glob.glob("/run/sandgate-*") + glob.glob("/dev/shm/sandgate-*")) - others)


def namespaces_held(pids):
    """What open descriptors keep alive beside their processes."""
    held = set()
    for path in (path for pid in pids for path in glob.glob(f"/proc/{pid}/fd/*")):
        try:
            held.add(os.readlink(path))
        except OSError:
            pass
    return sum(name.startswith(("net:", "mnt:")) for name in held)


def lines(path):
    with open(path) as file:
        return len(file.readlines())


def entries(top):
    return sum(len(files) + len(dirs) for _, dirs, files in os.walk(top))


def query(server, text):
    url = f"host={server.home}/postgres user=sandgate dbname=sandgate"
    return subprocess.run(["psql", "-X", "-A", "-t", "-c", text, url], check=True, capture_output=True,
                          text=True).stdout.strip()


def footprint(server):
    """What a sandbox could leave, as name -> count; nothing of other servers of this machine but mounts."""
    worker, node, left = server.pids("worker")[0], server.pids("node")[0], server.leftovers()
    return {
        "processes": processes_of(server),
        "mounts": lines(f"/proc/{node}/mountinfo"),
        "cgroups": len(left.groups()),
        "loop devices": len(left.loops()),
        "namespaces held": namespaces_held([worker, node]),
        "gateway descriptors": len(os.listdir(f"/proc/{worker}/fd")),
        "node descriptors": len(os.listdir(f"/proc/{node}/fd")),
        "journal": entries(server.home + "/run/sandboxes"),
        "disks": entries(server.home + "/local/disks"),
        "places in memory": places_in_memory(server),
        "living rows": int(query(server, "SELECT count(*) FROM sandbox WHERE ended_at IS NULL")),
    }


def at_rest(server, patience=30):
    """The footprint once no sandbox waits for an owner."""
    limit = time.monotonic() + patience
    while os.listdir(server.home + "/run/sandboxes") and time.monotonic() < limit:
        time.sleep(0.1)
    time.sleep(1)  # of kernel and database threads that end
    return footprint(server)


def left_behind(server, before, patience):
    """What is more than before once it stopped shrinking."""
    limit = time.monotonic() + patience
    while True:
        after = footprint(server)
        # Idle connections of the database come and go by a few, and the gateway keeps up to eight to the node; a leak
        # is one per sandbox.
        slack = {"gateway descriptors": 12, "node descriptors": 8}
        left = {name: after[name] - count for name, count in before.items()
                if after[name] > count + slack.get(name, 0)}
        if not left or time.monotonic() > limit:
            return left
        time.sleep(0.5)


class Killer:
    """Kills the first process of one sandbox, of whoever's there is then, or the node; later."""

    def __init__(self, server, role, delay):
        self.server, self.role, self.killed = server, role, False
        self.timer = threading.Timer(delay, self.strike)
        self.timer.start()

    def strike(self):
        if self.role == "node":
            self.server.kill("node")
            self.killed = True
            return
        journals = glob.glob(self.server.home + "/run/sandboxes/*/sandbox.json")
        random.shuffle(journals)
        if random.random() < 0.5:  # of those that wait for an owner there may be many
            journals.sort(key=lambda path: "/seat-" in path)
        for journal in journals:
            try:
                with open(journal) as file:
                    first = os.pidfd_open(json.load(file)["pid"])
                signal.pidfd_send_signal(first, signal.SIGKILL)
                os.close(first)
                self.killed = True
                return
            except (OSError, ValueError):
                pass  # just made, or just ended

    def join(self):
        self.timer.join()


class Churn:
    """Cycles of create, exec and delete; failures by code, apart by whether something was killed then."""

    def __init__(self, server, client):
        self.server, self.client, self.boxes = server, client, 0
        self.hit, self.other = collections.Counter(), collections.Counter()
        self.killed = collections.Counter()
        self.node_is_away = False

    def answer(self, verb, method, path, body=None):
        """The answer when it is good; else counted, and nothing."""
        try:
            answer = self.client.call(method, path, body)
            if answer.status < 300:
                return answer
            code = answer.json()["code"]
        except (OSError, http.client.HTTPException) as failure:
            code = type(failure).__name__
        self.failed(verb, code)
        return None

    def failed(self, verb, code):
        self.failures.append((verb, code))

    def create(self, patience=60):
        limit = time.monotonic() + patience
        while time.monotonic() < limit:
            made = self.answer("create", "POST", "/v1/sandboxes", {"profile": "bench"})
            if made:
                return made.json()["id"]
            time.sleep(0.02)
        raise AssertionError(f"no sandbox within {patience} s: {self.failures[-3:]}")

    def cycle(self, victim=None, delay=0.0):
        self.failures = []
        killer = Killer(self.server, victim, delay) if victim else None
        box = self.create()
        self.boxes += 1
        done = self.answer("exec", "POST", f"/v1/sandboxes/{box}/exec", {"command": ["true"]})
        if done and done.json()["exit_code"] != 0:
            self.failed("exec", f"exit {done.json()['exit_code']} {done.json()['signal']}")
        self.answer("delete", "DELETE", f"/v1/sandboxes/{box}")
        if killer:
            killer.join()
            self.killed[victim] += killer.killed
        # A node that was killed late is still away for the cycle after.
        hit = bool(victim) or self.node_is_away
        self.node_is_away = victim == "node" or self.node_is_away and bool(self.failures)
        for verb, code in self.failures:
            (self.hit if hit and code in HIT else self.other)[f"{verb} {code}"] += 1


def calm(context, report):
    client = context.client()
    count = context.count(200, 1000)

    def cycle():
        box = client.ok("POST", "/v1/sandboxes", {"profile": "bench"})["id"]
        client.ok("DELETE", f"/v1/sandboxes/{box}")

    for _ in range(20):
        cycle()
    before = at_rest(context.server)
    begin = time.perf_counter()
    for _ in range(count):
        cycle()
    seconds = time.perf_counter() - begin
    left = left_behind(context.server, before, 15)
    report.add(f"{count} sandboxes created and deleted, per second", count / seconds, "1/s")
    report.add("left behind (kinds of things)", len(left), "", target="0", ok=not left)
    if left:
        print("left behind:", left)


def amid_kills(context, report):
    count, chance = context.count(600, 10000), random.Random(1)
    per_node = min(CYCLES_PER_NODE, count // 2)
    with Server(context.server.binary) as server:
        _, client = server.tenant("bench-kills", "developer")
        server.profile("bench", resources={"vcpu": 1, "memory_mib": 256, "disk_gib": 1})
        churn = Churn(server, Client(server.host, server.port, client.key))
        for _ in range(20):
            churn.cycle()
        before = at_rest(server)
        begin = time.perf_counter()
        usual = 0.02  # seconds of a cycle
        for number in range(count):
            node = number % per_node == per_node // 2
            victim = "node" if node else "agent" if chance.random() < AGENTS_KILLED else None
            started = time.perf_counter()
            churn.cycle(victim, chance.uniform(0, usual))
            if not victim and not churn.node_is_away:
                usual += (time.perf_counter() - started - usual) / 10
        seconds = time.perf_counter() - begin
        left = left_behind(server, before, 60)
        churn.failures = []
        living = churn.create()
        control = left_behind(server, before, 0)
        client.ok("DELETE", f"/v1/sandboxes/{living}")
    killed = f"{churn.killed['agent']} agents and {churn.killed['node']} nodes killed"
    report.add(f"{count} create/exec/delete, per second", count / seconds, "1/s", killed)
    report.add("failures that no kill explains", sum(churn.other.values()), "", target="0", ok=not churn.other)
    report.add("left behind amid kills (kinds of things)", len(left), "", target="0", ok=not left)
    print("one that lives would be seen by:", ", ".join(control) or "nothing")
    print("failed where something was killed:", dict(churn.hit))
    if churn.other:
        print("not explained:", dict(churn.other))
    if left:
        print("left behind:", left)


def run(context, report):
    calm(context, report)
    amid_kills(context, report)
