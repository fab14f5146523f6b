"""Starts the real binary with a home of its own, for tests and benchmarks. Standard library only."""
import contextlib
import http.client
import json
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from leftovers import Leftovers

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Built once and shared by all test servers: an image is read-only.
IMAGES = os.environ.get("SANDGATE_TEST_IMAGES", "/var/cache/sandgate-test/images")


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Client:
    """One keep-alive connection with one key."""

    def __init__(self, host, port, key=None, tenant=None, timeout=60):
        self.host, self.port, self.key, self.tenant, self.timeout = host, port, key, tenant, timeout
        self.connection = None

    def call(self, method, path, body=None, headers=None, raw=None):
        sent = dict(headers or {})
        if self.key:
            sent.setdefault("Authorization", "Bearer " + self.key)
        if self.tenant:
            sent.setdefault("X-Sandgate-Tenant", self.tenant)
        data = raw
        if body is not None:
            data = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        for attempt in (1, 2):
            fresh = self.connection is None
            if fresh:
                self.connection = http.client.HTTPConnection(self.host, self.port, timeout=self.timeout)
            try:
                self.connection.request(method, path, body=data, headers=sent)
                answer = self.connection.getresponse()
                return Answer(answer.status, answer.headers, answer.read())
            except (http.client.HTTPException, OSError):
                self.close()
                # A kept connection may have been closed meanwhile; a fresh one says the truth.
                if fresh or attempt == 2:
                    raise

    def ok(self, method, path, body=None, **more):
        answer = self.call(method, path, body, **more)
        if answer.status >= 300:
            raise AssertionError(f"{method} {path}: {answer.status} {answer.body[:500]!r}")
        return answer.json() if answer.body else None

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


class Server:
    started = 0

    def __init__(self, binary=None, home=None, settings=None, environment=None, config=None):
        self.binary = binary or os.environ.get("SANDGATE_BINARY", SOURCE + "/build/gateway/sandgate")
        self.own_home = home is None
        self.home = home or tempfile.mkdtemp(prefix="sandgate-", dir="/tmp")
        os.chmod(self.home, 0o711)
        Server.started += 1
        # Several servers on one machine need control groups and id ranges of their own.
        slot = (os.getpid() + Server.started) % 12
        self.settings = {"listen": "127.0.0.1:0", "local.images": IMAGES, "local.name": "t" + secrets.token_hex(4),
                         # Most tests are not about money: backends of theirs need no price.
                         "billing.unpriced": "allow",
                         "local.uid_base": str(600_000_000 + slot * 4096 * 65536)}
        self.settings.update(settings or {})
        self.admin_key = "sg_" + secrets.token_hex(20)
        self.environment = {"PATH": os.environ["PATH"], "SANDGATE_ADMIN_KEY": self.admin_key, **(environment or {})}
        self.config = config  # a settings file, or none
        self.process, self.host, self.port = None, "127.0.0.1", None
        self.tenants, self.sessions = [], []
        self.log_path = self.home + "/serve.log"

    def start(self, timeout=120, wrapper=()):
        """`wrapper`: words before the program's own, which must end in an exec of them."""
        listen = self.home + "/gateway/listen"
        if os.path.exists(listen):
            os.unlink(listen)
        flags = ["--config", self.config] if self.config else []
        flags += ["--set", f"home={self.home}"]
        for name, value in self.settings.items():
            flags += ["--set", f"{name}={value}"]
        log = open(self.log_path, "ab")
        self.process = subprocess.Popen([*wrapper, self.binary, "serve", *flags], stdin=subprocess.DEVNULL, stdout=log,
                                        stderr=log, env=self.environment, start_new_session=True, cwd="/")
        self.sessions.append(self.process.pid)
        log.close()
        limit = time.monotonic() + timeout
        while time.monotonic() < limit:
            if self.process.poll() is not None:
                raise RuntimeError("serve ended:\n" + self.log()[-3000:])
            if os.path.exists(listen):
                self.port = int(open(listen).read().strip().rsplit(":", 1)[1])
                try:
                    if Client(self.host, self.port, timeout=2).call("GET", "/readyz").status == 200:
                        return self
                except OSError:
                    pass
            time.sleep(0.02)
        raise RuntimeError("serve is not ready:\n" + self.log()[-3000:])

    def log(self):
        return open(self.log_path, errors="replace").read()

    def operator(self, tenant=None):
        return Client(self.host, self.port, self.admin_key, tenant)

    def tenant(self, name, role="owner"):
        """A new tenant; returns (id, client with a key of the role)."""
        operator = self.operator()
        tenant = operator.ok("POST", "/v1/tenants", {"name": name})["id"]
        self.tenants.append(tenant)
        return tenant, self.key(tenant, role)

    def key(self, tenant, role):
        secret = self.operator().ok("POST", "/v1/keys", {"tenant": tenant, "name": role, "role": role})["secret"]
        return Client(self.host, self.port, secret)

    def profile(self, name="test", client=None, **fields):
        document = {"name": name, "image": "debian-12", **fields}
        return (client or self.operator()).ok("PUT", f"/v1/profiles/{name}", document)

    def pids(self, role):
        """Processes of this server: 'serve' (the supervisor), 'worker', 'node', 'postgres'."""
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                line = open(f"/proc/{entry}/cmdline", "rb").read().split(b"\0")
                parent = int(open(f"/proc/{entry}/stat", errors="replace").read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if role == "serve" and int(entry) == self.process.pid:
                found.append(int(entry))
            elif parent == self.process.pid:
                if role == "postgres" and line[0].endswith(b"/postgres"):
                    found.append(int(entry))
                elif role in ("worker", "node") and len(line) > 1 and line[1] == role.encode():
                    found.append(int(entry))
        return found

    def kill(self, role, number=signal.SIGKILL):
        for pid in self.pids(role):
            os.kill(pid, number)

    def stop(self, timeout=40):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def leftovers(self):
        return Leftovers(self.home, self.settings["local.name"], self.sessions)

    def close(self):
        """Ends every sandbox, then the server, then its home."""
        try:
            if self.process and self.process.poll() is None:
                for tenant in self.tenants:
                    operator = self.operator(tenant)
                    for state in ("running", "paused", "pausing", "resuming"):
                        while living := operator.ok("GET", f"/v1/sandboxes?state={state}&limit=100")["items"]:
                            for box in living:
                                operator.call("DELETE", "/v1/sandboxes/" + box["id"])
        except (OSError, AssertionError, http.client.HTTPException):
            pass  # A broken server is ended all the same.
        self.stop()
        self.leftovers().remove()
        if self.own_home:
            shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *unused):
        self.close()


def free_port(count=1):
    """The first of `count` ports that nobody listens at, out of the range that clients get theirs from: nobody
    else takes them before, or between two lives of, a server that is told to listen there."""
    while True:
        port = random.randrange(20000, 30000)
        try:
            with contextlib.ExitStack() as taken:
                for one in range(port, port + count):
                    taken.enter_context(socket.create_server(("127.0.0.1", one)))
                return port
        except OSError:
            continue


def ensure_image(binary=None, name="debian-12"):
    """Builds the test image into the shared store unless it is there."""
    binary = binary or os.environ.get("SANDGATE_BINARY", SOURCE + "/build/gateway/sandgate")
    os.makedirs(IMAGES, exist_ok=True)
    subprocess.run([binary, "image", "build", name, "--if-missing", "--set", f"local.images={IMAGES}"], check=True,
                   stdout=subprocess.DEVNULL)
