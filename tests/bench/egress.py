"""A connection out of a sandbox beside the same one made directly: what it adds, and how much it carries."""
import os
import socket
import statistics
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/../egress"]

# Runs inside and outside alike: host, port, what, how often or how much.
PROBE = """
import socket, sys, time
host, port, what, amount = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
if what == 'latency':
    for i in range(amount):
        begin = time.perf_counter()
        s = socket.create_connection((host, port), 10)
        s.sendall(b'x'); s.recv(1)
        print((time.perf_counter() - begin) * 1e3)
        s.close()
else:
    s = socket.create_connection((host, port), 10)
    s.sendall(b'go')
    buffer, got, begin = bytearray(1 << 20), 0, time.perf_counter()
    while got < amount:
        n = s.recv_into(buffer)
        if not n: break
        got += n
    print(got / (1 << 20) / (time.perf_counter() - begin))
"""


def source():
    """A server that sends without end."""
    listener = socket.create_server(("127.0.0.1", 0))
    block = b"x" * (1 << 20)

    def talk(peer):
        with peer:
            try:
                peer.recv(2)
                while True:
                    peer.sendall(block)
            except OSError:
                pass

    def run():
        while True:
            peer, _ = listener.accept()
            threading.Thread(target=talk, args=(peer,), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()
    return listener.getsockname()[1]


def directly(*arguments):
    done = subprocess.run([sys.executable, "-c", PROBE, *map(str, arguments)], check=True, capture_output=True, text=True)
    return [float(line) for line in done.stdout.split()]


def run(context, report):
    from upstreams import Echo
    from world import World
    world, echo, port = World(), Echo(), source()
    try:
        box = world.box(f"api.test.example:{echo.port}", f"api.test.example:{port}")
        inside = lambda *arguments: [float(line) for line in world.python(
            box, PROBE, "api.test.example", *arguments, timeout_ms=120000)["stdout"].split()]
        times = {"out": [], "direct": []}
        rounds, each = 4, context.count(50, 200)
        inside(echo.port, "latency", 20)
        for _ in range(rounds):  # in turns, so that both meet the same neighbours
            times["out"] += inside(echo.port, "latency", each)
            times["direct"] += directly("127.0.0.1", echo.port, "latency", each)
        p50 = {name: statistics.median(values) for name, values in times.items()}
        report.add("connect + request + answer out of a sandbox p50", p50["out"], "ms", "direct", p50["direct"],
                   "at most 1 ms more", p50["out"] - p50["direct"] <= 1)
        amount = context.count(256, 1024) << 20
        rates = {"out": [], "direct": []}
        for _ in range(3):
            rates["out"] += inside(port, "throughput", amount)
            rates["direct"] += directly("127.0.0.1", port, "throughput", amount)
        best = {name: max(values) for name, values in rates.items()}
        report.add("one connection out of a sandbox carries", best["out"], "MiB/s", "direct", best["direct"],
                   "at least 500 MiB/s", best["out"] >= 500)
        world.end(box)
    finally:
        world.close()
