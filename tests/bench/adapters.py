"""What a create on each vendor's adapter takes in the gateway beyond the vendor's own answers: the peer is the plain
sequence of HTTP calls that the adapter makes, sent by itself to the same fake, in the same run."""
import http.client
import json
import secrets
import statistics
import subprocess
import sys
import time

from measure import interleaved
from server import SOURCE

FAKES = SOURCE + "/tests/vendors"
# Vendor: settings beside the address, credentials, the image's name there.
VENDORS = {
    "blaxel": ({"api_url": "/v0", "workspace": "sandgate"}, {"api_key": "bl_0001"}, "tools"),
    "cloudflare": ({"api_url": "", "instance_type": "standard-2"}, {"api_key": "cf_0001"}, "any"),
    "daytona": ({"api_url": "/api", "process_limit": True}, {"api_key": "dtn_0001"}, "daytona-small"),
    "e2b": ({"api_url": "", "sandbox_url": ""}, {"api_key": "e2b_" + "0" * 31 + "1"}, "base"),
    "kubernetes": ({"api_url": "", "process_limit": True}, {"token": "kube_0001"}, "tools"),
    "northflank": ({"api_url": "", "team": "us", "project": "sandboxes"}, {"api_token": "nf_0001"}, "debian:12"),
    "opensandbox": ({"api_url": "/v1", "process_limit": True, "disk_limit": True}, {"api_key": "osb_0001"}, "tools"),
    "runloop": ({"api_url": ""}, {"api_key": "ak_0001"}, "tools"),
    "sprites": ({"api_url": ""}, {"token": "org/1/0001"}, "dev"),
    "vercel": ({"api_url": "", "team": "team_1", "project": "prj_1"}, {"token": "vca_0001"},
               "vercel/sandbox/universal:latest"),
}
# agentcore signs its calls with the time in them, modal speaks gRPC: their calls cannot be sent again.


class Fake:
    """A vendor's fake as a process, and what it heard."""

    def __init__(self, vendor):
        self.process = subprocess.Popen([sys.executable, f"{FAKES}/{vendor}/fake_{vendor}.py", "--specs", ""],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().split()[1]
        self.connection = http.client.HTTPConnection(self.url.partition("//")[2], timeout=30)

    def send(self, method, target, body=b"", headers=None):
        self.connection.request(method, target, body, headers or {})
        reply = self.connection.getresponse()
        return reply.status, reply.read()

    def recorded(self, action):
        self.send("POST", "/_fake/record")
        action()
        return json.loads(self.send("GET", "/_fake/record")[1])

    def close(self):
        self.connection.close()
        self.process.stdin.close()
        self.process.wait(20)


def texts(value, path=()):
    """The texts in a JSON document, by where they stand."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts(item, (*path, key))


def texts_of(body):
    try:
        return dict(texts(json.loads(body)))
    except ValueError:
        return {}


class Calls:
    """The calls of one create, to be sent again with an id of ours and the vendor's new answers."""

    def __init__(self, fake, calls, box):
        self.fake, self.box = fake, box
        self.calls = [{name: value for name, value in call.items()} for call in calls]
        later = ""
        for call in reversed(self.calls):
            call["told"] = {path: text for path, text in texts_of(call["reply"]).items()
                            if len(text) > 5 and text in later}
            later += call["target"] + call["body"] + json.dumps(call["headers"])

    def send(self):
        changed = {self.box: "sb" + secrets.token_hex(12)}

        def now(text):
            for old, new in changed.items():
                text = text.replace(old, new)
            return text

        for call in self.calls:
            headers = {name: now(value) for name, value in call["headers"].items()
                       if name.lower() not in ("host", "content-length", "transfer-encoding", "connection")}
            status, reply = self.fake.send(call["method"], now(call["target"]), now(call["body"]).encode("latin-1"),
                                           headers)
            assert status == call["status"], (call["method"], call["target"], status, reply)
            answered = texts_of(reply) if call["told"] else {}
            changed.update({old: answered[path] for path, old in call["told"].items() if answered.get(path)})


def why_not(client, name):
    candidates = client.ok("POST", f"/v1/profiles/{name}/explain", {"request": {}})["candidates"]
    found = next((one for one in candidates if one["deployment"] == name), {"rejected_because": ["unknown"]})
    return " ".join(found["rejected_because"])


def measure(context, report, vendor):
    settings, credentials, image = VENDORS[vendor]
    operator, client, fake = context.server.operator(), context.client(), Fake(vendor)
    try:
        urls = {name: fake.url + value if name.endswith("url") else value for name, value in settings.items()}
        operator.ok("PUT", f"/v1/deployments/{vendor}",
                    {"provider": vendor, "settings": urls, "credentials": credentials})
        context.server.profile(vendor, isolation="process", network={"default": "allow"},
                               resources={"vcpu": 1, "memory_mib": 256, "disk_gib": 1},
                               images={vendor: image}, placement={"only": [vendor]})
        limit = time.monotonic() + 20
        while (reason := why_not(client, vendor)) == "unknown" and time.monotonic() < limit:
            time.sleep(0.05)
        if reason:
            print(f"{vendor}: not placed: {reason}")
            return
        made = []

        def create():
            made.append(client.ok("POST", "/v1/sandboxes", {"profile": vendor})["id"])

        create()  # connections and statements are there from now on
        calls = Calls(fake, fake.recorded(create), made[-1])
        times = interleaved({"create": create, "calls": calls.send}, context.count(4, 10), 5)
        p50 = {name: statistics.median(values) for name, values in times.items()}
        report.add(f"create on {vendor} ({len(calls.calls)} calls) p50", p50["create"], "ms", "its calls", p50["calls"])
        report.add("  of that beyond its calls", p50["create"] - p50["calls"], "ms")
        for box in made:
            client.ok("DELETE", f"/v1/sandboxes/{box}")
    finally:
        operator.call("DELETE", f"/v1/deployments/{vendor}")
        fake.close()


def run(context, report):
    for vendor in VENDORS:
        measure(context, report, vendor)
