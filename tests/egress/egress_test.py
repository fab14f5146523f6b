#!/usr/bin/env python3
"""What gets out of a real sandbox and what does not: each attack beside the same thing allowed. Run as root; takes
the names of single tests."""
import base64
import json
import os
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../faults"]

from cases import wait_until  # noqa: E402
from upstreams import Ear, Echo, Web  # noqa: E402
from world import CONNECT, PROXY, World, require_root  # noqa: E402

world = web = echo = None


def verdicts(box):
    return world.client.ok("GET", f"/v1/sandboxes/{box}/network")["verdicts"]


def test_a_rule_lets_out_and_nothing_else_does():
    box = world.box(f"api.test.example:{web.port}")
    done = world.curl(box, f"http://api.test.example:{web.port}/plain")
    assert done["stdout"] == "hello from outside\n", done
    before = len(web.heard)
    for url in (f"http://other.test.example:{web.port}/plain", f"http://api.test.example:{web.port + 1}/plain",
                f"http://127.0.0.1:{web.port}/plain", f"http://b.api.test.example:{web.port}/plain"):
        refused = world.curl(box, url, "--noproxy", "", "-o", "/dev/null", "-w", "%{http_code}")
        assert refused["stdout"] in ("403", "000") and refused["stdout"] != "200", (url, refused)
    assert len(web.heard) == before
    world.end(box)


def test_old_clients_get_what_they_understand():
    box = world.box(f"api.test.example:{web.port}")
    url = f"http://api.test.example:{web.port}/streamed"
    for version, body in (("1.0", "\r\n\r\nstreamed\n"), ("1.1", "\r\n9\r\nstreamed\n\r\n0\r\n\r\n")):
        head = f"GET {url} HTTP/{version}\r\nHost: api.test.example:{web.port}\r\n\r\n"
        assert world.raw(box, PROXY, head.encode()).endswith(body), version
    world.end(box)


def test_what_a_client_says_to_the_proxy_goes_no_further():
    box = world.box(f"api.test.example:{web.port}")
    done = world.curl(box, f"http://api.test.example:{web.port}/", "-H", "Connection: x-hop", "-H", "X-Hop: 1", "-H", "X-End: 2")
    heard = {name.lower() for name, _ in json.loads(done["stdout"])["headers"]}
    assert "x-end" in heard and "x-hop" not in heard, heard
    world.end(box)


def test_no_rule_no_way_out():
    box = world.box()
    env = world.run(box, "env")["stdout"]
    assert "PROXY" not in env.upper(), env
    done = world.python(box, CONNECT, "127.0.0.1", PROXY)
    assert "ConnectionRefused" in done["stdout"], done
    done = world.python(box, CONNECT, "198.18.0.1", 80)
    assert "101" in done["stdout"], done  # ENETUNREACH
    world.end(box)


def test_wildcard_is_one_label():
    box = world.box(f"*.wild.example:{web.port}")
    assert world.curl(box, f"http://a.wild.example:{web.port}/plain")["stdout"] == "hello from outside\n"
    assert world.curl(box, f"http://b.a.wild.example:{web.port}/plain", "-o", "/dev/null", "-w", "%{http_code}")["stdout"] \
        == "403"
    world.end(box)


def test_connect_carries_bytes_both_ways():
    box = world.box(f"api.test.example:{echo.port}")
    code = """
import socket, sys, hashlib, threading, os
s = socket.create_connection(('127.0.0.1', 3128), 10)
s.sendall(('CONNECT api.test.example:%s HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' % sys.argv[1]).encode())
head = b''
while b'\\r\\n\\r\\n' not in head: head += s.recv(1)
assert b' 200 ' in head, head
data = b'\\0' * 64 + os.urandom(1 << 20) * 8
t = threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR))); t.start()
got = bytearray()
while d := s.recv(1 << 16): got += d
print(len(got), bytes(got) == data)
"""
    done = world.python(box, code, echo.port)
    assert done["stdout"] == f"{(8 << 20) + 64} True\n", done
    # At once, and booked with the end: what went out last is not forgotten.
    world.end(box)
    usage = world.client.ok("GET", "/v1/usage?group_by=profile")
    carried = next(line["meters"]["egress_gib"] for line in usage["items"] if line["profile"] == world.last_profile)
    assert 8 << 20 <= float(carried) * (1 << 30) < 9 << 20, usage  # what came back is not egress


def test_names_are_answered_only_for_rules():
    box = world.box(f"api.test.example:{web.port}", f"*.wild.example:{web.port}")
    code = ("import socket,sys\n"
            "for n in sys.argv[1:]:\n"
            "  try: print(n, socket.getaddrinfo(n, 80, type=socket.SOCK_STREAM)[0][4][0])\n"
            "  except OSError as e: print(n, 'none')")
    names = ("api.test.example", "a.wild.example", "other.test.example", "c2VjcmV0.api.test.example",
             "x.y.wild.example", "wild.example")
    lines = dict(line.split() for line in world.python(box, code, *names)["stdout"].splitlines())
    assert lines["api.test.example"].startswith(("198.18.", "198.19.")), lines
    assert lines["a.wild.example"].startswith(("198.18.", "198.19.")), lines
    for name in names[2:]:
        assert lines[name] == "none", lines
    # Also for those who ask only for addresses of a kind that the machine has (AI_ADDRCONFIG).
    done = world.run(box, "getent", "ahostsv4", "api.test.example")
    assert done["stdout"].startswith(("198.18.", "198.19.")), done
    done = world.run(box, "getent", "ahosts", "localhost")
    assert done["stdout"].startswith("127.0.0.1 "), done
    # Over TCP as well, and a question that is none gets no answer that says anything.
    over_tcp = ("import socket,struct\n"
                "q=b'\\x12\\x34\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0\\x03api\\x04test\\x07example\\0\\0\\x01\\0\\x01'\n"
                "s=socket.create_connection(('127.0.0.1',53),5); s.sendall(struct.pack('>H',len(q))+q)\n"
                "d=s.recv(500); print(d[5]&15, d[-4])")
    assert world.python(box, over_tcp)["stdout"] == "0 198\n"
    world.end(box)


def test_programs_that_know_no_proxy():
    box = world.box(f"api.test.example:{web.port}", f"api.test.example:{echo.port}", f"127.0.0.0/8:{echo.port}",
                    "203.0.113.0/24:80")
    done = world.curl(box, f"http://api.test.example:{web.port}/plain", "--noproxy", "*")
    assert done["stdout"] == "hello from outside\n", done
    assert world.python(box, CONNECT, "api.test.example", echo.port)["stdout"] == "ping\n"
    node = "require('http').get(process.argv[1], r => r.pipe(process.stdout))"
    assert world.run(box, "node", "-e", node, f"http://api.test.example:{web.port}/plain")["stdout"] \
        == "hello from outside\n"
    # Another port of the name, an address nobody was told, one without any route, UDP.
    assert "ConnectionReset" in world.python(box, CONNECT, "api.test.example", echo.port + 1)["stdout"]
    assert "ConnectionReset" in world.python(box, CONNECT, "198.19.255.254", echo.port)["stdout"]
    assert "ConnectionReset" in world.python(box, CONNECT, "203.0.113.9", 81)["stdout"]
    for address in ("93.184.216.34", "10.0.0.1", "169.254.169.254"):
        assert world.python(box, CONNECT, address, 80)["stdout"].split()[-1] == "101", address
    udp = ("import socket\ns=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)\n"
           "try:\n s.connect(('%s',443)); s.send(b'quic'); s.settimeout(1); print(s.recv(9))\n"
           "except OSError as e: print(type(e).__name__)")
    address = world.python(box, "import socket;print(socket.gethostbyname('api.test.example'))")["stdout"].strip()
    for target in (address, "1.1.1.1"):
        assert world.python(box, udp % target)["stdout"].strip() in ("ConnectionRefusedError", "OSError"), target
    world.end(box)


def test_a_server_that_speaks_first():
    greeter = Echo(greeting=b"220 ready\r\n")
    box = world.box(f"api.test.example:{greeter.port}")
    code = ("import socket,sys\ns=socket.create_connection(('api.test.example',int(sys.argv[1])),5)\n"
            "print(s.recv(100)); s.sendall(b'EHLO x\\r\\n'); print(s.recv(100))")
    done = world.python(box, code, greeter.port)
    assert "220 ready" in done["stdout"] and "EHLO" in done["stdout"], done
    greeter.close()
    world.end(box)


def test_fronting_by_host_is_refused():
    box = world.box(f"api.test.example:{web.port}")
    authority, fine = f"api.test.example:{web.port}", f"Host: api.test.example:{web.port}\r\n"
    ok = world.raw(box, PROXY, f"GET http://{authority}/plain HTTP/1.1\r\n{fine}\r\n".encode())
    assert "hello from outside" in ok, ok
    before = len(web.heard)
    front = "Host: other.test.example\r\n"
    for attack in (
            f"GET http://{authority}/a HTTP/1.1\r\n{front}\r\n",
            f"GET http://{authority}/b HTTP/1.1\r\n{fine}{front}\r\n",
            f"GET http://user@{authority}/c HTTP/1.1\r\n{fine}\r\n",
            f"GET https://{authority}/d HTTP/1.1\r\n{fine}\r\n",
            f"GET /e HTTP/1.1\r\n{fine}\r\n",
            f"CONNECT {authority} HTTP/1.1\r\n{fine}\r\nGET /f HTTP/1.1\r\n{front}\r\n"):
        answer = world.raw(box, PROXY, attack.encode())
        assert answer.startswith(("HTTP/1.1 4", "HTTP/1.1 200 Connection")), (attack, answer)
        assert '"method"' not in answer, answer
    # Inside a tunnel and on a connection that the program thinks direct.
    for attack in (f"GET /g HTTP/1.1\r\n{front}\r\n", f"\r\nGET /h HTTP/1.1\r\n{front}\r\n",
                   f"GET http://other.test.example/i HTTP/1.1\r\n{fine}\r\n"):
        answer = world.raw(box, web.port, attack.encode(), host="api.test.example")
        assert answer.startswith("HTTP/1.1 4"), (attack, answer)
    assert len(web.heard) == before, web.heard[before:]
    world.end(box)


def client_hello(name, encrypted):
    """The first flight of a TLS client; with what browsers send for an encrypted hello when `encrypted`."""
    def field(width, content):
        return len(content).to_bytes(width, "big") + content
    extensions = b""
    if name:
        extensions += b"\0\0" + field(2, field(2, b"\0" + field(2, name.encode())))
    if encrypted:
        extensions += b"\xfe\x0d" + field(2, b"\0\0\1\0\1\7" + field(2, b"e" * 32) + field(2, b"p" * 144))
    body = b"\3\3" + b"r" * 32 + field(1, b"") + field(2, b"\x13\x01") + field(1, b"\0") + field(2, extensions)
    return b"\x16\3\1" + field(2, b"\1" + field(3, body))


def test_browsers_encrypted_hellos_are_judged_by_the_name_they_show():
    box = world.box(f"api.test.example:{echo.port}")
    code = ("import base64,socket,sys\ns=socket.create_connection(('api.test.example',int(sys.argv[1])),5)\n"
            "s.sendall(base64.b64decode(sys.argv[2]))\n"
            "try: print(len(s.recv(65536)))\nexcept OSError as e: print(type(e).__name__)")

    def tried(name, encrypted):
        hello = client_hello(name, encrypted)
        said = world.python(box, code, echo.port, base64.b64encode(hello).decode())["stdout"].strip()
        return "passed" if said == str(len(hello)) else said

    for encrypted in (False, True):
        assert tried("api.test.example", encrypted) == "passed", encrypted
        assert tried("other.test.example", encrypted) == "ConnectionResetError", encrypted
    assert tried("", True) == "ConnectionResetError"
    assert [v["reason"] for v in verdicts(box) if not v["allowed"]] \
        == ["other_server_name", "other_server_name", "encrypted_hello"]
    world.end(box)


def test_smuggling_is_refused():
    box = world.box(f"api.test.example:{web.port}")
    head = f"POST http://api.test.example:{web.port}/s HTTP/1.1\r\nHost: api.test.example:{web.port}\r\n"
    ok = world.raw(box, PROXY, (head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n").encode())
    assert json.loads(ok.split("\r\n\r\n", 1)[1])["body"] == "hello", ok
    before = len(web.heard)
    smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    for fields in ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 5\r\nContent-Length: 6\r\n",
                   "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding:\x0bchunked\r\n", "Content-Length: +5\r\n",
                   "Upgrade: h2c\r\n", "X: a\r\n b\r\n", "X: a\nY: b\r\n"):
        answer = world.raw(box, PROXY, (head + fields + "\r\n" + smuggled).encode("latin-1"))
        assert answer.startswith("HTTP/1.1 400"), (fields, answer)
    assert len(web.heard) == before
    # What follows a body is dropped, not sent as another request.
    world.raw(box, PROXY, (head + "Content-Length: 5\r\n\r\nhello" + smuggled).encode())
    world.raw(box, PROXY, (head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled).encode())
    assert len(web.heard) == before + 2 and not [h for h in web.heard if "smuggled" in h["path"]]
    world.end(box)


def test_a_malformed_body_is_refused_and_no_server_takes_it_for_whole():
    ear = Ear()
    authority = f"api.test.example:{ear.port}"
    box = world.box(authority)
    head = f"POST http://{authority}/x HTTP/1.1\r\nHost: {authority}\r\nTransfer-Encoding: chunked\r\n\r\n"

    def sent(chunks):
        count = len(ear.heard)
        answer = world.raw(box, PROXY, (head + chunks).encode())
        wait_until(lambda: len(ear.heard) > count, 5, "the connection has ended")
        return answer, ear.heard[-1][1]

    answer, in_order = sent("1\r\nz\r\n0\r\n\r\n")
    assert answer.endswith("heard") and in_order, (answer, in_order)
    broken = ("1\r\nz\r\n0\r\nX-T: a\r\n\r\n", "1;a=\"b\r\nx\"\r\nz\r\n0\r\n\r\n", "1\nz\n0\n\n", "0x1\r\nz\r\n0\r\n\r\n")
    for chunks in broken:
        answer, in_order = sent(chunks)
        assert answer.startswith("HTTP/1.1 400") and '"malformed chunk"' in answer, (chunks, answer)
        assert not in_order, chunks
    assert [v["reason"] for v in verdicts(box) if not v["allowed"]] == ["malformed chunk"] * len(broken)
    ear.close()
    world.end(box)


def test_rules_change_on_a_running_sandbox():
    box = world.box(f"api.test.example:{web.port}", f"api.test.example:{echo.port}")
    path = f"/v1/sandboxes/{box}/network"
    assert world.client.ok("GET", path)["allow"] == [f"api.test.example:{web.port}", f"api.test.example:{echo.port}"]
    holding = ("import socket,sys,time\ns=socket.create_connection(('api.test.example',int(sys.argv[1])),5)\n"
               "s.sendall(b'a'); assert s.recv(1)==b'a'; print('held',flush=True)\n"
               "s.settimeout(15)\ntry: print(repr(s.recv(1)))\nexcept OSError as e: print(type(e).__name__)")
    process = world.run(box, "python3", "-c", holding, str(echo.port), background=True)["process_id"]
    opened = echo.connections
    wait_until(lambda: echo.connections > opened - 1, 5, "the stream is open")
    output = lambda: world.client.ok("GET", f"/v1/sandboxes/{box}/processes/{process}")
    wait_until(lambda: any(v["target"].endswith(str(echo.port)) and v["allowed"] for v in verdicts(box)), 5, "a verdict")
    changed = world.client.ok("PUT", path, {"allow": [f"api.test.example:{web.port}"]})
    assert changed["allow"] == [f"api.test.example:{web.port}"], changed
    wait_until(lambda: output()["state"] == "exited", 5, "the stream is cut")
    assert world.curl(box, f"http://api.test.example:{web.port}/plain")["stdout"] == "hello from outside\n"
    assert "ConnectionReset" in world.python(box, CONNECT, "api.test.example", echo.port)["stdout"]
    assert any(v["reason"] == "rule_withdrawn" for v in verdicts(box))
    # Back within the profile, never beyond.
    world.client.ok("PUT", path, {"allow": [f"api.test.example:{echo.port}"]})
    assert world.python(box, CONNECT, "api.test.example", echo.port)["stdout"] == "ping\n"
    answer = world.client.call("PUT", path, {"allow": ["other.test.example:80"]})
    assert answer.status == 400 and answer.json()["fields"][0]["path"] == "/allow/0", answer.body
    assert world.client.call("PUT", path, {"default": "allow"}).status == 400
    world.client.ok("PUT", path, {"allow": []})
    assert '"no_rule"' in world.curl(box, f"http://api.test.example:{web.port}/plain")["stdout"]
    _, stranger = world.server.tenant("stranger")
    assert stranger.call("GET", path).status == 404 and stranger.call("PUT", path, {}).status == 404
    world.end(box)


def test_a_way_out_that_cannot_be_opened_is_not_shown_as_open():
    box = world.box(f"api.test.example:{web.port}", create={"network": {"allow": []}})
    path = f"/v1/sandboxes/{box}/network"
    holding = "import os,socket,time\ns=socket.create_server(('127.0.0.1',3128))\nopen('/tmp/held','w')\n" \
        "while not os.path.exists('/tmp/release'): time.sleep(.05)"
    world.run(box, "python3", "-c", holding, background=True)
    wait_until(lambda: world.run(box, "test", "-e", "/tmp/held")["exit_code"] == 0, 10, "the port is taken")
    wanted = {"allow": [f"api.test.example:{web.port}"]}
    assert world.client.call("PUT", path, wanted).status == 409
    assert world.client.ok("GET", path)["allow"] == []
    world.run(box, "touch", "/tmp/release")
    wait_until(lambda: world.client.call("PUT", path, wanted).status == 200, 10, "the port is free")
    assert world.curl(box, f"http://api.test.example:{web.port}/plain")["stdout"] == "hello from outside\n"
    world.end(box)


def test_many_connections_wait_their_turn():
    box = world.box(f"api.test.example:{echo.port}")
    code = """
import socket, sys
held = []
for i in range(300):
    s = socket.socket(); s.settimeout(3)
    try:
        s.connect(('127.0.0.1', 3128))
        s.sendall(('CONNECT api.test.example:%s HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' % sys.argv[1]).encode())
        if i < 200: assert b' 200 ' in s.recv(200)
        held.append(s)
    except OSError as e: print(i, e); break
print(len(held) >= 250)
"""
    before = echo.connections
    assert world.python(box, code, echo.port)["stdout"].strip().endswith("True")
    assert echo.connections - before <= 300
    other = world.box(f"api.test.example:{web.port}")
    assert world.curl(other, f"http://api.test.example:{web.port}/plain")["stdout"] == "hello from outside\n"
    for each in (box, other):
        world.end(each)


if __name__ == "__main__":
    require_root()
    world, web, echo = World(), Web(), Echo()
    world.run_tests(globals())
