#!/usr/bin/env python3
"""Starts that cannot be, each of which ends with one line that says what is wrong, and gateways that are not ready.
Run as root."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support"]

from cases import main, wait_until  # noqa: E402
from faults_test import psql  # noqa: E402
from server import Server, free_port  # noqa: E402


def ends_with_one_line(arguments, *words, environment=None, user=None):
    binary = Server().binary
    argv = [binary, *arguments]
    if user:
        argv = ["runuser", "-u", user, "--", *argv]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30,
                          env={"PATH": os.environ["PATH"], **(environment or {})})
    assert done.returncode not in (0, 124), done.stderr
    last = done.stderr.rstrip().splitlines()[-1]
    assert last.startswith("sandgate: ") and all(word in last for word in words), done.stderr
    assert not last.startswith("sandgate: error"), "other commands begin with the program's name alone"


def test_bad_starts_say_what_is_wrong():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = Server(settings={"listen": f"127.0.0.1:{taken.getsockname()[1]}"})
        try:
            server.start(timeout=40)
            raise AssertionError("started on a port in use")
        except RuntimeError as failure:
            assert "another program has the port" in str(failure).splitlines()[-1], failure
            assert not os.path.exists(server.home + "/postgres"), "a database was made for nothing"
        finally:
            server.close()
    ends_with_one_line(["serve", "--set", "log.level=loud"], "/log/level")
    ends_with_one_line(["serve", "--set", "home=/proc/nowhere"], "/proc/nowhere")
    ends_with_one_line(["serve", "--set", "run_as=nobody-of-that-name", "--set", "home=/tmp/sandgate-none"], "useradd")
    ends_with_one_line(["serve", "--set", "run_as=root", "--set", "home=/tmp/sandgate-none"], "/run_as")
    home = tempfile.mkdtemp(prefix="sandgate-", dir="/tmp")
    serve = ["serve", "--set", "home=" + home, "--set", "listen=127.0.0.1:0"]
    try:
        ends_with_one_line([*serve, "--set", "local.agent=/nonexistent"], "/local/agent")
        ends_with_one_line([*serve, "--set", "local.images=/bin/true"], "/local/images")
        ends_with_one_line([*serve, "--set", "database.url=mysql://x"], "/database/url")
        os.makedirs(home + "/elsewhere", mode=0o755)
        os.symlink(home + "/elsewhere", home + "/gateway")
        ends_with_one_line(serve, "/gateway", "symbolic link")
        assert os.stat(home + "/elsewhere").st_uid == 0, "root gave away what a link led to"
    finally:
        shutil.rmtree(home)


def test_a_log_in_json_is_json_to_its_end():
    with Server(settings={"log.format": "json"}) as server:
        second = Server(home=server.home, settings={"log.format": "json"})
        try:
            second.start(timeout=20)
            raise AssertionError("two with one home")
        except RuntimeError:
            assert second.process.returncode == 1
        server.stop()
        # The database has a log of its own.
        lines = [json.loads(line) for line in server.log().splitlines() if " UTC [" not in line]
    told = [line for line in lines if line["event"] == "cannot run"]
    assert len(told) == 1 and "another 'sandgate serve' uses" in told[0]["reasons"][0], lines


def test_programs_read_what_a_migration_did():
    with Server() as server:
        done = subprocess.run([server.binary, "migrate", "--json", "--set", "home=" + server.home],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and json.loads(done.stdout) == {"applied": []}, done
    done = subprocess.run([Server().binary, "migrate", "--json", "--set", "log.level=loud"], capture_output=True,
                          text=True, timeout=30)
    problem = json.loads(done.stderr)
    assert done.returncode == 1 and problem["fields"][0]["path"] == "/log/level", done


def test_a_command_without_its_database_says_why():
    cases = (["database.url=host=127.0.0.1 port=1"], "Connection refused; check database.url"), \
            (["home=/nonexistent"], "start the server with 'sandgate serve', which runs it")
    for settings, expected in cases:
        for command in (["migrate", "--json"], ["keys", "create", "first", "--operator", "--json"]):
            arguments = [word for setting in settings for word in ("--set", setting)]
            done = subprocess.run([Server().binary, *command, *arguments], capture_output=True, text=True, timeout=60)
            problem = json.loads(done.stderr)
            assert done.returncode == 1 and problem["code"] == "unavailable", done
            assert problem["detail"].startswith("no connection to the database: ") and expected in problem["detail"], done


def test_a_gateway_whose_database_takes_no_writes_is_not_ready():
    with Server() as server:
        _, client = server.tenant("reader")

        def ready():
            answer = server.operator().call("GET", "/readyz")
            return answer.status == 200, answer.json()["database"]

        def read_only(value):
            psql(server, f"ALTER SYSTEM SET default_transaction_read_only = {value}")  # allowed in both
            psql(server, "SELECT pg_reload_conf()")

        assert ready() == (True, True)
        read_only("on")
        wait_until(lambda: ready() == (False, False), 5, "it is seen")
        assert client.call("GET", "/v1/sandboxes").status == 200, "what only reads goes on"
        read_only("off")
        wait_until(lambda: ready() == (True, True), 5, "it comes back")


def test_what_a_killed_database_left_keeps_no_other_from_starting():
    """A process of it that does not notice for long that its server died, as one amid recovery may not."""
    with Server() as server:
        _, client = server.tenant("reader")
        dead = server.pids("postgres")[0]
        left = int(subprocess.run(["pgrep", "-P", str(dead), "-f", "checkpointer"], check=True, capture_output=True,
                                  text=True).stdout)
        os.kill(left, signal.SIGSTOP)
        os.kill(dead, signal.SIGKILL)
        wait_until(lambda: server.pids("postgres") not in ([], [dead]), 10, "another is started")
        wait_until(lambda: client.call("GET", "/v1/sandboxes").status == 200, 10, "it answers")
        assert not os.path.exists(f"/proc/{left}"), "what was left is gone"


def test_no_create_finds_deployments_missing_that_are_not_loaded_yet():
    with Server(settings={"listen": f"127.0.0.1:{free_port()}"}) as server:
        _, client = server.tenant("early")
        server.operator().ok("PUT", "/v1/deployments/away", {
            "provider": "sandgate", "enabled": True, "credentials": {"api_key": "sg_" + 40 * "0"},
            "settings": {"url": "http://127.0.0.1:1", "profile": "any"}})
        server.profile("away", placement={"only": ["away"]})

        def create():
            return client.call("POST", "/v1/sandboxes", {"profile": "away"}).status

        def waiting(since):
            return psql(server, "SELECT pid, query_start FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                        f" AND backend_start > '{since}' ORDER BY pid")

        def healthy():
            try:
                return client.call("GET", "/healthz").status == 200
            except OSError:
                return False

        assert create() == 503, "there is such a deployment, but it does not answer"
        url = f"host={server.home}/postgres user=sandgate dbname=sandgate"
        holder = subprocess.Popen(["psql", "-X", "-q", url], stdin=subprocess.PIPE, text=True)
        try:
            holder.stdin.write("BEGIN; LOCK TABLE deployment;\n")
            holder.stdin.flush()
            held = "SELECT count(*) FROM pg_locks WHERE relation = 'deployment'::regclass AND mode ~ '^AccessEx'"
            wait_until(lambda: psql(server, held) == "1", 5, "the table is locked")
            killed = psql(server, "SELECT now()")
            server.kill("worker")
            first = wait_until(lambda: waiting(killed), 20, "the next worker wants to read it")
            wait_until(healthy, 5, "it listens")
            answers = set()
            wait_until(lambda: answers.add(create()) or waiting(killed) not in ("", first), 20, "it tries again")
            assert answers == {503}, answers
        finally:
            holder.kill()
            holder.wait()
        wait_until(lambda: server.operator().call("GET", "/readyz").status == 200, 20, "it starts")
        assert create() == 503


def looks_like_postgres(directory, account, cwd):
    """A process that has only the program's name, and that is deleted meanwhile, as by an upgrade."""
    program = directory + "/postgres"
    shutil.copy("/bin/sleep", program)
    process = subprocess.Popen([program, "1000"], user=account, cwd=cwd)
    os.unlink(program)
    threading.Thread(target=process.wait, daemon=True).start()  # a zombie would keep its number
    return process


def restarted_after(server, pid):
    """Starts a server again whose database's file names this process."""
    file = server.home + "/postgres/data/postmaster.pid"
    with open(file) as before:
        lines = before.read().splitlines()
    server.kill("serve")
    wait_until(lambda: not os.path.exists(file), 20, "the database is stopped")
    owner = os.stat(server.home + "/postgres")
    with open(file, "w") as stale:
        os.fchown(stale.fileno(), owner.st_uid, owner.st_gid)
        os.fchmod(stale.fileno(), 0o600)
        stale.write("\n".join([str(pid), *lines[1:]]) + "\n")
    server.process.wait()
    server.start(timeout=40)


def test_a_number_that_others_have_got_is_not_the_databases():
    """As after a power cut: numbers are given anew from the beginning."""
    directory = tempfile.mkdtemp(prefix="sandgate-", dir="/tmp")
    os.chmod(directory, 0o755)
    fakes = []
    with Server() as server:
        try:
            account = os.stat(server.home + "/postgres").st_uid
            fakes.append(looks_like_postgres(directory, account, "/"))
            restarted_after(server, fakes[-1].pid)
            assert fakes[-1].poll() is None, "another installation's database was stopped"
            fakes.append(looks_like_postgres(directory, account, server.home + "/postgres/data"))
            restarted_after(server, fakes[-1].pid)
            assert fakes[-1].wait(5) != 0, "it is in this database's directory"
        finally:
            for fake in fakes:
                fake.kill()
                fake.wait()
            shutil.rmtree(directory)


if __name__ == "__main__":
    main(globals())
