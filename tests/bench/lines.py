"""Many exec streams at once through one gateway: every line counted, and how late it came."""
import asyncio
import base64
import json
import time

from measure import peak_resident_mib, percentile, resident_mib

LINES_PER_SECOND = 10
STREAMS_PER_BOX = 100
# Waits without starting a program each time: what is measured is the way of a line, not forks.
PROGRAM = """exec {never}<> <(:)
for ((i = 0; i < $1; i++)); do echo "$i $EPOCHREALTIME"; read -rt 0.1 -u $never; done"""


async def follow(server, key, box, lines, late):
    """One stream; returns how many lines came out of order or not at all."""
    reader, writer = await asyncio.open_connection(server.host, server.port, limit=1 << 20)
    body = json.dumps({"command": ["bash", "-c", PROGRAM, "lines", str(lines)]}).encode()
    writer.write(f"POST /v1/sandboxes/{box}/exec HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
                 "Accept: text/event-stream\r\nContent-Type: application/json\r\nConnection: close\r\n"
                 f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    head = await reader.readuntil(b"\r\n\r\n")
    assert b" 200 " in head.split(b"\r\n")[0], head
    text = ""
    expected = 0
    while piece := await reader.readline():
        if not piece.startswith(b"data: "):
            continue
        event = json.loads(piece[6:])
        if "exit_code" in event:
            break
        text += base64.b64decode(event.get("data", "")).decode()
        now = time.time()
        *whole, text = text.split("\n")
        for line in whole:
            number, sent = line.split()
            expected += int(number) == expected
            late.append((now - float(sent)) * 1e3)
    writer.close()
    return lines - expected


async def follow_all(server, key, boxes, streams, lines):
    late = []
    tasks = [asyncio.create_task(follow(server, key, boxes[i % len(boxes)], lines, late)) for i in range(streams)]
    lost = sum(await asyncio.gather(*tasks))
    return lost, late


def run(context, report):
    client = context.client()
    streams, seconds = context.count(200, 1000), context.count(5, 15)
    context.server.profile("lines", resources={"vcpu": 2, "memory_mib": 1024, "disk_gib": 2, "processes": 512})
    boxes = [client.ok("POST", "/v1/sandboxes", {"profile": "lines"})["id"] for _ in range(-(-streams // STREAMS_PER_BOX))]
    worker = context.server.pids("worker")[0]
    before = resident_mib(worker)
    lost, late = asyncio.run(follow_all(context.server, client.key, boxes, streams, seconds * LINES_PER_SECOND))
    for box in boxes:
        client.ok("DELETE", "/v1/sandboxes/" + box)
    report.add(f"{streams} exec streams: lines lost", lost, "", target="0", ok=lost == 0)
    p99 = percentile(late, 0.99)
    report.add(f"{streams} exec streams: lateness of a line p99", p99, "ms", target="under 20", ok=p99 < 20)
    report.add(f"{streams} exec streams: gateway resident", peak_resident_mib(worker), "MiB", "before", before,
               "under 256", peak_resident_mib(worker) < 256)
