#!/usr/bin/env python3
"""How connections out of a real sandbox end, as its programs and the hosts see it. Run as root; takes the names of
single tests."""
import json
import os
import signal
import socket
import struct
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../faults"]

from cases import wait_until  # noqa: E402
from upstreams import Ear, Tcp  # noqa: E402
from world import World, require_root  # noqa: E402

world = None


def head_of(peer):
    """The head of the next request, and what came behind it; empty at the end."""
    text = b""
    while b"\r\n\r\n" not in text:
        piece = peer.recv(65536)
        if not piece:
            return b"", b""
        text += piece
    return text.split(b"\r\n\r\n", 1)


class Quiet(Tcp):
    """Answers requests and says nothing of its connections, which it ends after `stays` seconds, or never."""

    def __init__(self, stays):
        self.stays = stays
        super().__init__()

    def talk(self, peer):
        with peer:
            while True:
                head, body = head_of(peer)
                if not head:
                    return
                while len(body) < 2:
                    body += peer.recv(10)
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                if self.stays is not None:
                    return time.sleep(self.stays)


class Early(Tcp):
    """Answers as soon as it has a head, then reads on."""

    def talk(self, peer):
        with peer:
            head_of(peer)
            peer.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 400000\r\n\r\n" + bytes(400_000))
            peer.shutdown(socket.SHUT_WR)
            try:
                while peer.recv(65536):
                    pass
            except OSError:
                pass


class Breaking(Tcp):
    """Answers a word with a part, then resets the connection."""

    def talk(self, peer):
        peer.recv(100)
        peer.sendall(b"p" * 1000)
        time.sleep(0.1)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()


KEEPING = {
    "node": ("node", "-e", """
const http = require('http'), agent = new http.Agent({keepAlive: true, maxSockets: 1});
let good = 0, left = 10;
function post() {
  if (left-- == 0) { console.log(good); process.exit(); }
  const one = http.request(process.argv[1], {method: 'POST', agent, timeout: 2000, headers: {'content-length': 2}}, answer => {
    answer.resume(); answer.on('end', () => { good++; setImmediate(post); }); });
  one.on('timeout', () => one.destroy(new Error('timeout')));
  one.on('error', () => setImmediate(post));
  one.end('hi');
}
post();"""),
    "python": ("python3", "-c", """
import http.client, sys, urllib.parse
url = urllib.parse.urlsplit(sys.argv[1])
kept, good = http.client.HTTPConnection(url.hostname, url.port, timeout=2), 0
for _ in range(10):
    try:
        kept.request('POST', '/', b'hi')
        good += kept.getresponse().read() == b'ok'
    except (OSError, http.client.HTTPException):
        kept.close()
print(good)""")}


def test_clients_that_keep_connections_know_that_each_ends():
    hosts = {"ends at once": Quiet(0), "ends later": Quiet(0.02), "never ends": Quiet(None)}
    box = world.box(*(f"api.test.example:{host.port}" for host in hosts.values()))
    for kind, host in hosts.items():
        for client, command in KEEPING.items():
            done = world.run(box, *command, f"http://api.test.example:{host.port}/")
            assert done["stdout"] == "10\n", (kind, client, done)
    for host in hosts.values():
        host.close()
    world.end(box)


UPLOAD = """
import sys, urllib.error, urllib.request
try:
    urllib.request.urlopen(urllib.request.Request(sys.argv[1], bytes(int(sys.argv[2]))), timeout=15)
except urllib.error.HTTPError as refused:
    print(refused.code, refused.read()[:200].decode().strip('\\0\\n'))
"""


def test_answers_reach_clients_that_still_send():
    early = Early()
    box = world.box(f"api.test.example:{early.port}")
    for size in (100_000, 20_000_000):
        done = world.python(box, UPLOAD, "http://other.test.example/", size)
        assert done["stdout"].startswith("403 ") and json.loads(done["stdout"][4:])["reason"] == "no_rule", (size, done)
        for direct in (False, True):
            done = world.python(box, UPLOAD, f"http://api.test.example:{early.port}/", size, direct=direct)
            assert done["stdout"] == "413 \n", (size, direct, done)
    early.close()
    world.end(box)


CONNECTED = """
import ctypes, socket, sys, time
name, port = 'api.test.example', int(sys.argv[1])
s = socket.create_connection((name, port) if sys.argv[2] == 'direct' else ('127.0.0.1', 3128), 10)
if sys.argv[2] != 'direct':
    s.sendall(f'CONNECT {name}:{port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'.encode())
    assert b' 200 ' in s.recv(1000)
s.sendall(b'part')
"""
RECEIVE = CONNECTED + """
got = 0
try:
    while piece := s.recv(65536): got += len(piece)
    print(got, 'whole')
except ConnectionResetError: print(got, 'broken off')
"""
ABORT = CONNECTED + """
time.sleep(.2)
unspecified = ctypes.create_string_buffer(16)  # AF_UNSPEC: connect() to it resets
print(ctypes.CDLL(None).connect(s.fileno(), unspecified, 16))
"""


def test_what_breaks_off_does_not_seem_whole():
    breaking, ear = Breaking(), Ear()
    box = world.box(f"api.test.example:{breaking.port}", f"api.test.example:{ear.port}")

    def heard(act):
        count = len(ear.heard)
        done = act()
        wait_until(lambda: len(ear.heard) > count, 10, "the connection has ended")
        return done, ear.heard[-1]

    for way in ("direct", "proxy"):
        done = world.python(box, RECEIVE, breaking.port, way)
        assert done["stdout"] == "1000 broken off\n", (way, done)
        done, host = heard(lambda: world.python(box, ABORT, ear.port, way))
        assert done["stdout"] == "0\n" and host == (b"part", False), (way, done, host)
        # The control: who ends in order is told so.
        done, host = heard(lambda: world.python(box, CONNECTED, ear.port, way))
        assert done["exit_code"] == 0 and host == (b"part", True), (way, done, host)
    holding = lambda: world.run(box, "python3", "-c", RECEIVE, str(ear.port), "direct", background=True)["process_id"]
    for cut in (lambda: world.client.ok("PUT", f"/v1/sandboxes/{box}/network", {"allow": []}),
                lambda: os.kill(world.egress_pid(), signal.SIGKILL)):
        world.client.ok("PUT", f"/v1/sandboxes/{box}/network", {"allow": [f"api.test.example:{ear.port}"]})
        opened, process = ear.connections, holding()
        wait_until(lambda: ear.connections > opened, 10, "the stream is open")
        time.sleep(0.2)  # until its word has arrived
        _, host = heard(cut)
        assert host == (b"part", False), host
        shown = lambda: world.client.call("GET", f"/v1/sandboxes/{box}/processes/{process}/output").body
        wait_until(lambda: b"event: exit" in shown(), 10, "the program has ended")
        assert b"MCBicm9rZW4gb2ZmCg==" in shown(), shown()  # "0 broken off\n"
    breaking.close()
    ear.close()
    world.end(box)


if __name__ == "__main__":
    require_root()
    world = World()
    world.run_tests(globals())
