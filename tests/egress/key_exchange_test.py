#!/usr/bin/env python3
"""TLS that takes long, where it ends at the egress process: one process serves all sandboxes, so neither a program in
one of them nor a tenant's host may choose key exchanges that do, and a host that is silent is given up. Run as root; takes the names of single tests."""
import os
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../faults"]

from world import World, require_port_443, require_root  # noqa: E402

world = None
HOST = "api.test.example"
SECRET = {"name": "TOKEN", "host": HOST, "header": "Authorization"}


def make_rsa_certificate():
    """DHE of TLS 1.2 needs one; the shared certificates are not."""
    base = world.directory + "/rsa"
    run = lambda *words: subprocess.run(["openssl", *words], check=True, capture_output=True)
    run("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=server", "-keyout", base + ".key", "-out", base + ".csr")
    with open(base + ".ext", "w") as out:
        out.write(f"subjectAltName=DNS:{HOST}\n")
    run("x509", "-req", "-in", base + ".csr", "-CA", world.directory + "/authority.pem", "-CAkey",
        world.directory + "/authority.key", "-CAcreateserial", "-days", "2", "-extfile", base + ".ext", "-out",
        base + ".pem")


class Upstream:
    """An HTTPS server with these words of `openssl s_server`."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            ["openssl", "s_server", "-accept", "127.0.0.1:443", "-cert", world.directory + "/rsa.pem", "-key",
             world.directory + "/rsa.key", "-www", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        limit = time.monotonic() + 10
        while time.monotonic() < limit:
            try:
                return socket.create_connection(("127.0.0.1", 443), 1).close()
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server does not listen")

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()


def ask(sandbox, *words):
    return world.run(sandbox, "curl", "-sS", "--max-time", "15", *words, f"https://{HOST}/")


def test_a_program_chooses_none_that_takes_long():
    sandbox = world.box(f"{HOST}:443", secrets=[SECRET])
    with Upstream():
        for group in "X25519", "P-256", "P-384":
            done = ask(sandbox, "--curves", group)
            assert done["exit_code"] == 0 and "s_server" in done["stdout"], (group, done)
        for group in "ffdhe2048", "ffdhe8192":
            done = ask(sandbox, "--curves", group)
            assert done["exit_code"] == 35, (group, done)
    world.end(sandbox)


def test_a_host_chooses_none_that_takes_long():
    sandbox = world.box(f"{HOST}:443", secrets=[SECRET])
    twelve = ("-tls1_2", "-cipher")
    for words in ("-tls1_3", "-groups", "P-256"), (*twelve, "ECDHE-RSA-AES128-GCM-SHA256"):
        with Upstream(*words):
            done = ask(sandbox)
            assert "s_server" in done["stdout"], (words, done)
    for words in ("-tls1_3", "-groups", "ffdhe8192"), (*twelve, "DHE-RSA-AES128-GCM-SHA256"):
        with Upstream(*words):
            done = ask(sandbox)
            assert '"upstream_not_trusted"' in done["stdout"], (words, done)
    world.end(sandbox)


def test_a_host_that_never_says_anything_is_told():
    sandbox = world.box(f"{HOST}:443", secrets=[SECRET])
    with socket.create_server(("127.0.0.1", 443)):  # accepts for nobody
        for words in (), ("--noproxy", "*"):
            done = ask(sandbox, *words)
            assert '"unreachable"' in done["stdout"], (words, done)
    world.end(sandbox)


if __name__ == "__main__":
    require_root()
    require_port_443()
    world = World()
    make_rsa_certificate()
    world.run_tests(globals(), lambda: world.client.ok("PUT", "/v1/secrets/TOKEN", {"value": "real-value-7f3a91c4d2"}))
