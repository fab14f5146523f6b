#!/usr/bin/env python3
"""Machines that lack something: a full disk, no root, no database, no control groups, no user namespaces. Each is
told in one line with what to do, and leaves nothing behind. Run as root; takes names of single tests."""
import ctypes
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, HERE + "/../support"]

from cases import main, wait_until  # noqa: E402
from server import Client, Server, free_port  # noqa: E402

# Runs its arguments where the control groups cannot be seen, and says so itself.
WITHOUT_CGROUPS = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                   'mount -t tmpfs none /sys/fs/cgroup && exec "$@"', "sh"]
# Where the kernel's own limit says that there are no user namespaces.
WITHOUT_USER_NAMESPACES = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
                           'echo 0 > "$0" && mount --bind "$0" /proc/sys/user/max_user_namespaces && exec "$@"']


# The account that the gateway runs as is there on every test machine.
AS_USER = ["setpriv", "--reuid", "sandgate", "--regid", "sandgate", "--clear-groups"]


class Failed:
    """A serve that must not come up."""

    def __init__(self, server, wrapper=()):
        self.server = server
        try:
            server.start(timeout=60, wrapper=wrapper)
        except RuntimeError as failure:
            self.text = str(failure)
        else:
            server.close()
            raise AssertionError("serve started")
        self.code = server.process.poll()

    def says(self, *words):
        lines = [line for line in self.text.splitlines() if re.search(r"\berror\b|^sandgate: ", line)]
        assert any(all(word in line for word in words) for line in lines), self.text
        assert self.code not in (0, None), f"exit code {self.code}"

    def left_nothing(self):
        self.server.stop()
        found = self.server.leftovers().found()
        assert not found, found
        self.server.close()


def test_a_full_disk_is_named():
    home = tempfile.mkdtemp(prefix="sandgate-full-", dir="/tmp")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", home], check=True)
    try:
        failed = Failed(Server(home=home))
        failed.says("No space left", home)
        failed.left_nothing()
    finally:
        subprocess.run(["umount", home], check=True)
        os.rmdir(home)


def test_a_disk_that_fills_up_refuses_creates_and_recovers():
    home = tempfile.mkdtemp(prefix="sandgate-full-", dir="/tmp")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=220m", "none", home], check=True)
    server = Server(home=home)
    try:
        server.start()
        _, client = server.tenant("full")
        server.profile("test", limits={"max_ttl_seconds": 3600})
        box = client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
        # Unbuffered: what did not fit would be tried again when it is closed.
        with open(home + "/ballast", "wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(b"x" * 65536)
            except OSError:
                pass
        answer = client.call("POST", "/v1/sandboxes", {"profile": "test"})
        assert answer.status == 503, answer.body
        answer = client.call("GET", f"/v1/sandboxes/{box}")
        assert answer.status in (200, 503), answer.body
        os.unlink(home + "/ballast")

        def works():
            answer = client.call("POST", "/v1/sandboxes", {"profile": "test"})
            return answer.status == 201 and client.call("POST", f"/v1/sandboxes/{box}/exec",
                                                        {"command": ["true"]}).status == 200

        wait_until(works, 60, "everything works again")
    finally:
        server.close()
        subprocess.run(["umount", "-l", home], check=True)
        os.rmdir(home)


def test_a_port_in_use_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        failed = Failed(Server(settings={"listen": f"127.0.0.1:{port}"}))
        failed.says("another program has the port", str(port))
        failed.left_nothing()


def test_servers_with_the_same_settings_leave_each_other_alone():
    first = Server()
    shared = {name: first.settings[name] for name in ("local.name", "local.uid_base")}
    second = Server(settings=shared)
    try:
        boxes = []
        for server in (first, second):
            server.start()
            _, client = server.tenant("neighbour")
            server.profile("test")
            boxes.append((client, client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]))
        for server in (first, second, first):
            server.kill("node")
            for client, box in boxes:
                wait_until(lambda: client.call("POST", f"/v1/sandboxes/{box}/exec", {"command": ["true"]}).status == 200,
                           20, "a command in each sandbox")
        for client, box in boxes:
            client.ok("DELETE", f"/v1/sandboxes/{box}")
            wait_until(lambda: client.ok("GET", f"/v1/sandboxes/{box}")["state"] == "stopped", 30, "the end of each sandbox")
    finally:
        second.stop()
        first.close()
        shutil.rmtree(second.home, ignore_errors=True)


def test_without_user_namespaces_the_fix_is_named():
    with tempfile.NamedTemporaryFile() as zero:
        failed = Failed(Server(), wrapper=[*WITHOUT_USER_NAMESPACES, zero.name])
    failed.says("user namespaces", "sysctl -w user.max_user_namespaces", "local.enabled")
    failed.left_nothing()


def test_a_kernel_that_refuses_new_namespaces_is_told():
    failed = Failed(Server(), wrapper=[sys.executable, os.path.abspath(__file__), "--refuse-namespaces"])
    failed.says("cannot run sandboxes", "sandgate doctor")
    failed.left_nothing()


def test_root_of_a_container_without_privileges_is_told_what_it_lacks():
    confined = ["setpriv", "--bounding-set=-sys_admin,-sys_ptrace"]
    failed = Failed(Server(), wrapper=confined)
    failed.says("root lacks CAP_SYS_PTRACE, CAP_SYS_ADMIN", "docker run --privileged", "local.enabled")
    failed.left_nothing()
    doctor = subprocess.run([*confined, failed.server.binary, "doctor"], capture_output=True, text=True)
    assert re.search(r"MISSING  root: .*CAP_SYS_ADMIN\n +fix: .*--privileged", doctor.stdout), doctor.stdout
    assert doctor.returncode == 1 and "this machine cannot run sandboxes yet" in doctor.stdout, doctor.stdout


def test_each_right_that_the_node_needs_is_named():
    """Else it ends on a step that tells an operator nothing."""
    server = Server()
    try:
        for right in ("chown", "fowner", "kill", "setgid", "setuid", "sys_ptrace", "mknod", "sys_admin", "net_admin",
                      "setpcap"):
            doctor = subprocess.run(["setpriv", f"--bounding-set=-{right}", server.binary, "doctor"],
                                    capture_output=True, text=True)
            assert f"this root lacks CAP_{right.upper()}" in doctor.stdout and doctor.returncode == 1, doctor.stdout
    finally:
        server.close()


def test_without_control_groups_limits_are_not_promised():
    server = Server()
    try:
        server.start(wrapper=WITHOUT_CGROUPS)
        doctor = subprocess.run([*WITHOUT_CGROUPS, server.binary, "doctor"], capture_output=True, text=True)
        for line in ("MISSING  control groups", "limited  disk speed limits"):
            assert re.search(line + r": .*\n +fix: .*delegated cgroup", doctor.stdout), doctor.stdout
        _, client = server.tenant("unlimited")
        server.profile("test", limits={"max_ttl_seconds": 3600})
        answer = client.call("POST", "/v1/sandboxes", {"profile": "test"})
        assert answer.status == 422 and answer.json()["code"] == "unsupported", answer.body
        assert b"control_missing:memory_limit" in answer.body, answer.body
    finally:
        server.close()


def test_without_root_it_is_said_what_is_lost():
    home = tempfile.mkdtemp(prefix="sandgate-user-", dir="/tmp")
    shutil.chown(home, "sandgate", "sandgate")
    server = Server(home=home, settings={"local.images": home + "/images"})
    try:
        try:
            server.start(timeout=20, wrapper=AS_USER)
        except RuntimeError:
            pass  # not ready where the kernel refuses namespaces to ordinary accounts
        lines = [line for line in server.log().splitlines() if "not started by root" in line]
        assert len(lines) == 1 and "no limits" in lines[0], server.log()
    finally:
        server.close()
        shutil.rmtree(home, ignore_errors=True)


def refuse_namespaces():
    """A seccomp filter that answers clone3 with ENOSYS, as old container engines do, and unshare with EPERM."""
    def step(code, jump_true, jump_false, value):
        return struct.pack("HBBI", code, jump_true, jump_false, value)

    load, equal, answer = 0x20, 0x15, 0x06
    errno_answer, allow = 0x00050000, 0x7FFF0000
    program = (step(load, 0, 0, 0) + step(equal, 0, 1, 435) + step(answer, 0, 0, errno_answer | 38)
               + step(equal, 0, 1, 272) + step(answer, 0, 0, errno_answer | 1) + step(answer, 0, 0, allow))
    kept = ctypes.create_string_buffer(program, len(program))
    filter_program = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter_program, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def test_a_start_that_is_given_up_leaves_nothing():
    for delay in (0.0, 0.1, 0.3):
        server = Server()

        def give_up():
            wait_until(lambda: server.process and server.pids("node"), 30, "the node starts")
            time.sleep(delay)
            server.process.terminate()

        thread = threading.Thread(target=give_up)
        thread.start()
        try:
            Failed(server).left_nothing()
        except AssertionError as failure:
            assert "serve started" in str(failure), (delay, failure)
        thread.join()


def test_a_first_start_after_one_that_was_killed():
    for delay in (0.2, 0.5, 0.9):
        server = Server()

        def crash():
            wait_until(lambda: server.process, 30, "serve is started")
            time.sleep(delay)
            server.process.kill()

        thread = threading.Thread(target=crash)
        thread.start()
        try:
            server.start()
        except (RuntimeError, OSError):
            pass  # killed before it was ready
        thread.join()
        server.process.wait()
        try:
            server.start()  # at once, while what makes the database may still run
            server.operator().ok("GET", "/v1/tenants")
        finally:
            server.close()


def test_a_second_serve_of_one_home_is_refused():
    with Server() as server:
        postgres = server.pids("postgres")
        second = Server(home=server.home)
        refused = Failed(second)
        refused.says(server.home, "another 'sandgate serve'")
        assert server.pids("postgres") == postgres
        assert server.operator().call("GET", "/v1/tenants").status == 200


def test_a_workspace_below_another_leads_nowhere_else():
    base = tempfile.mkdtemp(prefix="sandgate-workspaces-", dir="/tmp")
    inner, secret = base + "/outer/project", base + "/secret"
    for path in (base + "/outer", inner, secret):
        os.mkdir(path)
        os.chown(path, 1000, 1000)
    os.chmod(base, 0o755)
    try:
        with Server(settings={"local.workspaces": f"{inner}:{base}/outer"}) as server:
            _, client = server.tenant("links")
            server.profile("outer", workspace="read_write", workspace_path=base + "/outer")
            server.profile("inner", workspace="read_only", workspace_path=inner)
            box = client.ok("POST", "/v1/sandboxes", {"profile": "outer"})["id"]
            assert client.call("POST", "/v1/sandboxes", {"profile": "inner"}).status == 201
            swap = f"cd /workspace && mv project old && ln -s {secret} project"
            assert client.ok("POST", f"/v1/sandboxes/{box}/exec", {"shell": swap})["exit_code"] == 0
            refused = client.call("POST", "/v1/sandboxes", {"profile": "inner"})
            assert (refused.status, refused.json()["code"]) == (422, "unsupported"), refused.body
            assert "the workspace is not a directory below an allowed one" in server.log()
    finally:
        shutil.rmtree(base)


def ends_before_it_starts(server):
    try:
        server.start()
        raise AssertionError("started without its database")
    except RuntimeError as ended:
        assert "serve ended" in str(ended), ended


def test_a_gateway_without_its_database_listens_and_comes_to_life():
    directory = tempfile.mkdtemp(prefix="sandgate-db-", dir="/tmp")
    os.chmod(directory, 0o755)
    port = free_port()
    with Server() as first:
        late = Server(settings={"database.url": f"host={directory} user=sandgate dbname=sandgate",
                                "listen": f"127.0.0.1:{port}", "ports.domain": "boxes.example.com"},
                      environment={"SANDGATE_MASTER_KEY": open(first.home + "/master.key").read().strip()})
        starting = threading.Thread(target=late.start)
        starting.start()
        try:
            asked = Client("127.0.0.1", port, late.admin_key)

            def status(path):
                try:
                    return asked.call("GET", path).status
                except OSError:
                    return 0

            wait_until(lambda: status("/healthz") == 200, 20, "the gateway listens")
            assert status("/readyz") == 503 and status("/metrics") == 200
            for method, path in (("GET", "/v1/tenants"), ("POST", "/v1/sandboxes"), ("GET", "/nowhere"),
                                 ("DELETE", "/v1/sandboxes/sb" + "0" * 24), ("GET", "/p/sb" + "0" * 24 + "/80/")):
                took = []
                for _ in range(3):  # a machine may stall
                    begin = time.monotonic()
                    answer = asked.call(method, path)
                    took.append(time.monotonic() - begin)
                assert answer.status == 503 and answer.json()["code"] == "unavailable", (method, path, answer.body)
                assert answer.headers["Content-Type"] == "application/problem+json" and answer.headers["Retry-After"]
                assert min(took) < 2, (method, path, took)
            host = {"Host": "49983-sb" + "0" * 24 + ".boxes.example.com"}
            for path in ("/health", "/files?path=x", "/files?path=x&signature=v1_" + "A" * 43):
                answer = asked.call("GET", path, headers=host)
                assert answer.status == 503 and "starting" in answer.json()["message"], (path, answer.body)
            name = "/.s.PGSQL.5432"
            os.symlink(first.home + "/postgres" + name, directory + name)
            starting.join(60)
            assert status("/readyz") == 200 and status("/v1/tenants") == 200
            assert 'route="/readyz"' not in late.log(), "whoever waits for a start fills the log"
            os.unlink(directory + name)
            late.stop()
            os.unlink(late.home + "/gateway/listen")
            again = threading.Thread(target=ends_before_it_starts, args=(late,))
            again.start()
            wait_until(lambda: status("/healthz") == 200, 20, "it listens again")
            late.process.terminate()
            again.join(10)
            assert not again.is_alive(), "a start that waits cannot be stopped"
        finally:
            late.close()
            shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--refuse-namespaces"]:
        refuse_namespaces()
        os.execvp(sys.argv[2], sys.argv[2:])
    main(globals())
