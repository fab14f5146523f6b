"""Many exec streams at once through one gateway: every line counted, and how late it comes.

A line's lateness runs from just before its program writes it until one client that follows all streams has read it:
through the agent in the sandbox, the gateway and a connection. What is judged is the steady state, from when every
stream has begun until the first one ends; while a thousand programs are being started, lines wait for processors, not
for us, and that time has a row of its own. The peer is what there is without us: as many of the same programs at the
same pace, each with its output on a connection to the same client. The latency we add is the difference at p99."""
import json
import os
import subprocess

from measure import peak_resident_mib, resident_mib

LINES_PER_SECOND = 10
STREAMS_PER_BOX = 100


def follow(reader, streams, lines, server, key, boxes):
    body = json.dumps({"command": ["./line_source", str(lines), str(LINES_PER_SECOND)]})
    paths = "".join(f"/v1/sandboxes/{boxes[i % len(boxes)]}/exec\n" for i in range(streams))
    done = subprocess.run([reader, str(server.port), key, body], input=paths, capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr[:1000]
    return json.loads(done.stdout)


def without_us(reader, source, streams, lines):
    following = subprocess.Popen([reader, "listen", str(streams)], stdout=subprocess.PIPE, text=True)
    port = following.stdout.readline().strip()
    subprocess.run([source, str(lines), str(LINES_PER_SECOND), port, str(streams)], check=True)
    return json.loads(following.communicate()[0])


def run(context, report):
    client = context.client()
    streams, seconds = context.count(200, 1000), context.count(5, 15)
    tools = os.path.dirname(os.path.dirname(context.server.binary)) + "/tests/bench/"
    source, reader, lines = tools + "line_source", tools + "line_reader", seconds * LINES_PER_SECOND
    context.server.profile("lines", resources={"vcpu": 2, "memory_mib": 1024, "disk_gib": 2, "processes": 512})
    boxes = [client.ok("POST", "/v1/sandboxes", {"profile": "lines"})["id"]
             for _ in range(-(-streams // STREAMS_PER_BOX))]
    for box in boxes:
        client.ok("PUT", f"/v1/sandboxes/{box}/files?path=line_source&mode=0755", raw=open(source, "rb").read())
    worker = context.server.pids("worker")[0]
    before = resident_mib(worker)
    peer = without_us(reader, source, streams, lines // 2)
    ours = follow(reader, streams, lines, context.server, client.key, boxes)
    for box in boxes:
        client.ok("DELETE", "/v1/sandboxes/" + box)
    name = f"{streams} exec streams: "
    lost = streams * lines - ours["in_order"]
    report.add(name + "lines lost", lost, "", target="0", ok=lost == 0)
    for moment in ("starting", "steady"):
        of_us, of_peer = ours[moment], peer[moment]
        report.add(f"{name}{moment}, lateness p50", of_us["p50"], "ms", "no gateway", of_peer["p50"])
        report.add(f"{name}{moment}, lateness p99", of_us["p99"], "ms", "no gateway", of_peer["p99"])
    rate = ours["steady"]["lines"] / ours["steady_seconds"]
    report.add(name + "steady lines", rate, "/s", target=f"{streams * LINES_PER_SECOND}",
               ok=rate > 0.98 * streams * LINES_PER_SECOND)
    added = ours["steady"]["p99"] - peer["steady"]["p99"]
    report.add(name + "added to a line at p99", added, "ms", target="under 20", ok=added < 20)
    report.add(name + "gateway resident", peak_resident_mib(worker), "MiB", "before", before,
               "under 256", peak_resident_mib(worker) < 256)
