"""One gateway with a node, and servers outside, shared by the tests of a file."""
import base64
import os
import shutil
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support", HERE + "/../faults"]

from cases import run_all  # noqa: E402
from server import SOURCE, Server, ensure_image  # noqa: E402
from upstreams import Certificates, scratch, wrapped_binary  # noqa: E402

BINARY = os.environ.get("SANDGATE_BINARY", SOURCE + "/build/gateway/sandgate")
PROXY = 3128  # its port inside
# A program that connects to an address and a port as one that knows no proxy, and prints what comes of it.
CONNECT = """
import socket, sys
s = socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET)
s.settimeout(5)
try:
    s.connect((sys.argv[1], int(sys.argv[2])))
    s.sendall(b'ping')
    print(s.recv(100).decode() or 'closed')
except OSError as error:
    print(type(error).__name__, error.errno)
"""


def require_root():
    if os.geteuid() != 0:
        print("SKIP needs root: the tests start real sandboxes")
        sys.exit(77)


def require_port_443():
    """For a host whose TLS ends here: secrets go to that port only."""
    try:
        socket.create_server(("127.0.0.1", 443)).close()
    except OSError as failure:
        print(f"SKIP port 443 of this machine is taken: {failure}")
        sys.exit(77)


class World:
    def __init__(self, **settings):
        self.directory = scratch()
        self.certificates = Certificates(self.directory)
        ensure_image(BINARY)
        # Not ::1 and not 10/8: those stay private.
        self.server = Server(wrapped_binary(BINARY, self.directory), settings={
            "local.egress.private_cidrs": "127.0.0.0/8", "local.egress.authorities": self.certificates.authority,
            **settings}).start()
        self.tenant, self.client = self.server.tenant("egress")
        self.profiles = 0

    def close(self):
        self.server.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def run_tests(self, cases, before=None):
        """Runs a file's tests, or those that the command line names, and ends the program."""
        try:
            if before:
                before()
            code = run_all(cases, sys.argv[1:])
            if code:
                print(self.server.log()[-5000:])
        finally:
            self.close()
        sys.exit(code)

    def box(self, *allow, default="deny", **fields):
        """A new sandbox whose profile allows the given rules; returns its id."""
        self.profiles += 1
        name = self.last_profile = f"p{self.profiles}"
        create = fields.pop("create", {})
        self.server.profile(name, network={"default": default, "allow": list(allow)}, **fields)
        return self.client.ok("POST", "/v1/sandboxes", {"profile": name, **create})["id"]

    def run(self, box, *command, env=None, **more):
        return self.client.ok("POST", f"/v1/sandboxes/{box}/exec",
                              {"command": list(command), "env": env or {}, "timeout_ms": 20000, **more})

    def curl(self, box, url, *more):
        return self.run(box, "curl", "-sS", "--max-time", "10", *more, url)

    def python(self, box, code, *arguments, direct=False, **more):
        """Runs Python inside; `direct` hides the proxy from it."""
        env = {name: "" for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")} if direct else {}
        return self.run(box, "python3", "-c", code, *map(str, arguments), env=env, **more)

    def egress_pid(self):
        """The node's child that carries what the sandboxes send; None while there is none."""
        node = (self.server.pids("node") or [0])[0]
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = open(f"/proc/{entry}/cmdline", "rb").read().split(b"\0")
                parent = int(open(f"/proc/{entry}/stat", errors="replace").read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if parent == node and words[1:2] == [b"egress"]:
                return int(entry)
        return None

    def end(self, box):
        self.client.call("DELETE", "/v1/sandboxes/" + box)

    def raw(self, box, port, payload, host="127.0.0.1", wait=5):
        """Sends bytes to an address as seen from inside; returns what comes back until the end."""
        code = ("import socket,sys,base64\n"
                "s=socket.create_connection((sys.argv[1],int(sys.argv[2])),float(sys.argv[4]))\n"
                "s.sendall(base64.b64decode(sys.argv[3]))\n"
                "out=b''\n"
                "try:\n"
                "  while d:=s.recv(65536): out+=d\n"
                "except OSError as e: out+=b'<'+type(e).__name__.encode()+b'>'\n"
                "sys.stdout.buffer.write(out)")
        done = self.python(box, code, host, port, base64.b64encode(payload).decode(), wait)
        assert done["exit_code"] == 0, done
        return done["stdout"]
