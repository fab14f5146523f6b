"""The world outside a sandbox, on this machine's loopback: names, authorities, servers that write down what they
hear. Standard library and the openssl command only."""
import http.server
import json
import os
import socket
import ssl
import stat
import subprocess
import tempfile
import threading
import time

# Names of the test and where they lead, valid for the server's processes alone.
NAMES = {
    "api.test.example": "127.0.0.1", "other.test.example": "127.0.0.1", "a.wild.example": "127.0.0.1",
    "b.a.wild.example": "127.0.0.1", "git.test.example": "127.0.0.1", "ten.test.example": "10.99.0.1",
    "meta.test.example": "169.254.169.254", "six.test.example": "::1", "linklocal.test.example": "169.254.7.7"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if (self.headers.get("Transfer-Encoding") or "").lower() == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        heard = {"method": self.command, "path": self.path, "headers": [list(item) for item in self.headers.items()],
                 "body": body.decode("latin-1")}
        self.server.heard.append(heard)
        known = {"/plain": b"hello from outside\n", "/big": bytes(2_000_000)}
        text = known[self.path] if self.path in known else json.dumps(heard).encode()
        self.send_response(200)
        if self.path == "/streamed":
            return self.stream(b"streamed\n")
        if self.path == "/pieces":
            return self.stream(text, 7, b" ;x=y")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def stream(self, text, piece=1000, extension=b""):
        """As servers do that do not know the length: chunks, and until the end for HTTP/1.0, which knows none."""
        chunked = self.request_version == "HTTP/1.1"
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        pieces = [text[at:at + piece] for at in range(0, len(text), piece)] + [b""]
        self.wfile.write(b"".join(b"%x%s\r\n%s\r\n" % (len(part), extension, part) for part in pieces) if chunked else text)

    do_GET = do_POST = do_PUT = do_HEAD = do_OPTIONS = do_TRACE = answer

    def log_message(self, *unused):
        pass


class Web:
    """An HTTP or HTTPS server on a free port, or the given one."""

    def __init__(self, port=0, context=None, handler=Handler):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.server.daemon_threads = True
        self.server.heard = []
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def heard(self):
        return self.server.heard

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Tcp:
    """A raw TCP server, which counts its connections; talk() has each in a thread of its own."""

    def __init__(self, family=socket.AF_INET, address="127.0.0.1"):
        self.listener = socket.create_server((address, 0), family=family)
        self.port, self.connections = self.listener.getsockname()[1], 0
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.talk, args=(peer,), daemon=True).start()

    def close(self):
        self.listener.close()


class Echo(Tcp):
    """Sends back what it gets; `greeting` first, when given."""

    def __init__(self, greeting=b"", **listener):
        self.greeting = greeting
        super().__init__(**listener)

    def talk(self, peer):
        with peer:
            try:
                peer.sendall(self.greeting)
                while data := peer.recv(65536):
                    peer.sendall(data)
            except OSError:
                pass


class Ear(Tcp):
    """Writes down each connection's bytes and whether it ended in order; answers chunks that are complete."""

    def __init__(self):
        self.heard = []
        super().__init__()

    def talk(self, peer):
        text, in_order = b"", True
        with peer:
            try:
                while data := peer.recv(65536):
                    text += data
                    if text.endswith(b"0\r\n\r\n"):
                        peer.sendall(b"HTTP/1.1 200 OK\r\n\r\nheard")
                        peer.shutdown(socket.SHUT_WR)
            except ConnectionResetError:
                in_order = False
        self.heard.append((text, in_order))


class Sink:
    """Raw TCP: takes one connection and reads nothing until `flows` is set, then some megabytes a second."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.received = self.listener.getsockname()[1], 0
        self.flows, self.ended = threading.Event(), threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        peer, _ = self.listener.accept()
        with peer, self.listener:
            self.flows.wait()
            try:
                while data := peer.recv(65536):
                    self.received += len(data)
                    time.sleep(0.002)
            except OSError:
                pass
        self.ended.set()


class Certificates:
    """An authority of the test and a server certificate for its names."""

    def __init__(self, directory):
        self.authority = directory + "/authority.pem"
        run = lambda *words: subprocess.run(["openssl", *words], check=True, capture_output=True)
        run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=Test authority", "-keyout", directory + "/authority.key", "-out", self.authority)
        self.contexts = {}
        for name, hosts in (("right", [n for n in NAMES if not n.startswith("other.")]), ("wrong", ["wrong.example"])):
            base = f"{directory}/{name}"
            run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=server",
                "-keyout", base + ".key", "-out", base + ".csr")
            with open(base + ".ext", "w") as out:
                out.write("subjectAltName=" + ",".join("DNS:" + host for host in hosts) + "\n")
            run("x509", "-req", "-in", base + ".csr", "-CA", self.authority, "-CAkey", directory + "/authority.key",
                "-CAcreateserial", "-days", "2", "-extfile", base + ".ext", "-out", base + ".pem")
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(base + ".pem", base + ".key")
            self.contexts[name] = context
        os.chmod(self.authority, 0o644)


def wrapped_binary(binary, directory):
    """A program that starts `binary` where the test's names are in /etc/hosts, for it and its children alone."""
    hosts, script = directory + "/hosts", directory + "/sandgate"
    with open(hosts, "w") as out:
        out.write("127.0.0.1 localhost\n")
        out.writelines(f"{address} {name}\n" for name, address in NAMES.items())
    os.chmod(hosts, 0o644)
    with open(script, "w") as out:
        out.write(f"#!/bin/sh\nexec unshare -m --propagation private sh -c 'mount --bind {hosts} /etc/hosts && "
                  f"exec {binary} \"$@\"' sandgate \"$@\"\n")
    os.chmod(script, os.stat(script).st_mode | stat.S_IXUSR)
    return script


def scratch():
    directory = tempfile.mkdtemp(prefix="sandgate-egress-", dir="/tmp")
    os.chmod(directory, 0o755)
    return directory
