#!/usr/bin/env python3
"""Which addresses a real sandbox gets to, by whatever name or route. Run as root; takes the names of single tests."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

from upstreams import Web  # noqa: E402
from world import CONNECT, PROXY, World, require_root  # noqa: E402

world = web = None


def test_private_addresses_stay_private():
    """Whatever the rules say: the address that is dialled counts. 127/8 is the control."""
    names = ("ten", "meta", "six", "linklocal")
    rules = [f"{name}.test.example:80" for name in names] + [f"10.99.0.1:80", "169.254.169.254:80", "[::1]:80"]
    box = world.box(*rules, f"127.0.0.1:{web.port}")
    control = world.curl(box, f"http://127.0.0.1:{web.port}/plain", "--noproxy", "", "-x", f"http://127.0.0.1:{PROXY}")
    assert control["stdout"] == "hello from outside\n", control
    for rule in rules:
        done = world.curl(box, f"http://{rule}/", "--noproxy", "", "-x", f"http://127.0.0.1:{PROXY}")
        # A machine without IPv6 does not even look such names up, and one without a name server does not know.
        unknown = "six" in rule and ('"no_such_name"' in done["stdout"] or '"no_answer"' in done["stdout"])
        assert '"private_address"' in done["stdout"] or unknown, (rule, done)
    for literal in ("0x7f.1", "2130706433", "[::ffff:10.99.0.1]", "127.1", "[64:ff9b::a63:1]"):
        request = f"GET http://{literal}:80/ HTTP/1.1\r\nHost: {literal}:80\r\n\r\n".encode()
        answer = world.raw(box, PROXY, request)
        assert answer.startswith(("HTTP/1.1 403", "HTTP/1.1 400")), (literal, answer)
    world.end(box)


def test_default_allow_still_keeps_private_addresses():
    box = world.box(default="allow")
    assert world.curl(box, f"http://other.test.example:{web.port}/plain")["stdout"] == "hello from outside\n"
    for name in ("ten", "meta", "linklocal"):
        done = world.curl(box, f"http://{name}.test.example/", "--noproxy", "", "-x", f"http://127.0.0.1:{PROXY}")
        assert '"private_address"' in done["stdout"], done
    for address in ("10.99.0.1", "169.254.169.254"):
        assert "ConnectionReset" in world.python(box, CONNECT, address, 80)["stdout"], address
    world.end(box)


def test_few_addresses_of_ipv6_are_routed():
    """The kernel keeps something for each IPv6 address that is sent to. The proxy reaches the others nonetheless."""
    send = """
import socket, sys, collections
sent = collections.Counter()
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
for number in range(1000):
    try:
        s.sendto(b'x', (f'fd00::{number:x}', 9))
        sent['sent'] += 1
    except OSError as error:
        sent[error.errno] += 1
print(sorted(sent.items(), key=str))
"""
    ask = b"CONNECT [fd00::ffff]:443 HTTP/1.1\r\nHost: x\r\n\r\n"
    for wide, rules in (("allow", ()), ("deny", ("[fd00::/32]:443",))):
        box = world.box(*rules, default=wide)
        assert world.python(box, send)["stdout"] == "[(101, 1000)]\n", wide  # ENETUNREACH
        assert '"private_address"' in world.raw(box, PROXY, ask), wide  # it is judged, and would be dialled
        world.end(box)
    box = world.box("[fd00::/124]:443", "[fd00::/32]:443")
    assert world.python(box, send)["stdout"] == "[('sent', 16), (101, 984)]\n"
    assert " 101" not in world.python(box, CONNECT, "fd00::1", 443, direct=True)["stdout"]
    assert world.python(box, CONNECT, "fd00::1:1", 443, direct=True)["stdout"] == "OSError 101\n"
    world.end(box)


if __name__ == "__main__":
    require_root()
    world, web = World(), Web()
    world.run_tests(globals())
