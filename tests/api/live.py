#!/usr/bin/env python3
"""Terminals and attached processes over WebSockets, against the real program. Run as root; takes the
names of single tests."""
import atexit
import json
import os
import signal
import socket
import sys
import time
from urllib.parse import quote

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [ROOT + "/tests/support", ROOT + "/tests/faults"]
sys.dont_write_bytecode = True

from cases import main, wait_until  # noqa: E402
from server import Server  # noqa: E402
from websocket import Refused, Socket  # noqa: E402

WANTED_MIB = 48


class Place:
    """One server for all tests, with one sandbox each."""
    server = client = None

    def __init__(self):
        if not Place.server:
            Place.server = Server().start()
            atexit.register(Place.server.close)
            Place.tenant, Place.client = Place.server.tenant("live")
            Place.server.profile("test", limits={"max_ttl_seconds": 3600})
        self.box = self.client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.client.ok("DELETE", f"/v1/sandboxes/{self.box}")

    def open(self, path, key=None, **options):
        return Socket(self.server.host, self.server.port, f"/v1/sandboxes/{self.box}{path}", key or self.client.key,
                      **options)

    def terminal(self, query="", **options):
        return self.open("/terminal" + query, **options)

    def background(self, *command, **fields):
        return self.client.ok("POST", f"/v1/sandboxes/{self.box}/exec",
                              {"command": list(command), "background": True, **fields})["process_id"]

    def attach(self, pid, start="0", **options):
        return self.open(f"/processes/{pid}/attach?from={start}", **options)

    def process(self, pid):
        return self.client.ok("GET", f"/v1/sandboxes/{self.box}/processes/{pid}")

    def worker_mib(self):
        status = open(f"/proc/{self.server.pids('worker')[0]}/status").read()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


def started(socket):
    first = socket.next()
    assert first["type"] == "start" and first["process_id"].startswith("pr"), first
    return first["process_id"]


def ended(socket, code, name=None):
    output, last = socket.rest()
    assert last and last["type"] == "exit" and (last["exit_code"], last["signal"]) == (code, name), last
    assert socket.closed == 1000, f"closed with {socket.closed}"
    return output


def test_a_terminal_has_a_size_and_can_be_resized():
    with Place() as place:
        resized = "until stty size | grep -q '^21 77$'; do sleep 0.05; done"  # nothing else tells us
        line = f"read a; stty size; {resized}; stty size; exit 3"
        socket = place.terminal("?cols=120&rows=40&command=" + quote(line))
        started(socket)
        socket.send(b"\n")
        socket.until(b"40 120")
        socket.control(type="resize", cols=77, rows=21)
        socket.until(b"21 77")
        ended(socket, 3)


def test_what_a_revoked_key_opened_ends():
    with Place() as place:
        made = place.server.operator().ok("POST", "/v1/keys", {"tenant": place.tenant, "name": "gone", "role": "developer"})
        doomed = place.terminal("?command=" + quote("sleep 60"), key=made["secret"])
        kept = place.terminal("?command=" + quote("sleep 60"))
        for socket in (doomed, kept):
            started(socket)
        place.server.operator().ok("DELETE", "/v1/keys/" + made["id"])
        begin = time.monotonic()
        try:
            assert doomed.next() is None
        except OSError:
            pass  # Broken off is as good.
        assert time.monotonic() - begin < 5, "the terminal outlived its key"
        suspended = place.server.operator()
        suspended.ok("PATCH", "/v1/tenants/" + place.tenant, {"suspended": True})
        try:
            assert kept.next() is None
        except OSError:
            pass
        finally:
            suspended.ok("PATCH", "/v1/tenants/" + place.tenant, {"suspended": False})


def test_input_of_a_revoked_key_is_taken_no_longer():
    with Place() as place:
        made = place.server.operator().ok("POST", "/v1/keys", {"tenant": place.tenant, "name": "gone", "role": "developer"})
        pid = place.background("sh", "-c", "while read line; do echo $line >> lines; done")
        head = (f"POST /v1/sandboxes/{place.box}/processes/{pid}/stdin HTTP/1.1\r\nHost: here\r\n"
                f"Authorization: Bearer {made['secret']}\r\nTransfer-Encoding: chunked\r\n\r\n")
        with socket.create_connection((place.server.host, place.server.port)) as stream:
            stream.settimeout(10)
            stream.sendall(head.encode() + b"7\r\nbefore\n\r\n")
            path = f"/v1/sandboxes/{place.box}/files?path=lines"
            wait_until(lambda: place.client.call("GET", path).status == 200, 10, "the first line is taken")
            place.server.operator().ok("DELETE", "/v1/keys/" + made["id"])
            assert b" 401 " in stream.recv(4096).split(b"\r\n")[0], "the upload outlived its key"
            try:
                stream.sendall(b"6\r\nafter\n\r\n")
            except OSError:
                pass  # Broken off is as good.
        time.sleep(0.5)
        assert place.client.call("GET", path).body == b"before\n"


def test_a_login_shell_talks():
    with Place() as place:
        socket = place.terminal()
        started(socket)
        socket.send(b"echo $((6*7))$TERM; exit\n")
        socket.until(b"42xterm-256color")
        ended(socket, 0)


def test_signals_reach_the_group():
    with Place() as place:
        # Who is waited for says it: a shell that is signalled before it has a child goes on to wait for one.
        child = "sh -c 'echo ready; exec sleep 600'"
        socket = place.terminal("?command=" + quote(f"trap 'echo caught' INT; {child}; echo after"))
        started(socket)
        socket.until(b"ready")
        socket.control(type="signal", signal="INT")
        assert b"caught" in socket.until(b"after")
        ended(socket, 0)
        socket = place.terminal("?command=" + quote("echo ready; exec sleep 600"))
        started(socket)
        socket.until(b"ready")
        socket.control(type="signal", signal=15)
        output, last = socket.rest()
        assert last["type"] == "exit" and last["signal"] == "SIGTERM", last


def test_stdin_can_be_closed():
    with Place() as place:
        socket = place.attach(place.background("sh", "-c", "cat; echo bye >&2"))
        started(socket)
        socket.send(b"hello\x00\xff")
        assert socket.next() == (1, b"hello\x00\xff")
        socket.control(type="close_stdin")
        assert socket.next() == (2, b"bye\n")
        ended(socket, 0)


def test_replay_begins_where_it_is_asked_to():
    with Place() as place:
        pid = place.background("sh", "-c", "echo one; cat")
        first = place.attach(pid)
        started(first)
        first.until(b"one\n")
        late = place.attach(pid, "now")
        started(late)
        middle = place.attach(pid, "2")
        started(middle)
        assert middle.until(b"e\n") == b"e\n"
        first.send(b"two\n")
        # Everybody sees what comes; only what came before depends on `from`.
        assert late.until(b"two\n") == b"two\n"
        assert first.until(b"two\n") == b"two\n"
        assert middle.until(b"two\n") == b"two\n"
        first.control(type="close_stdin")
        for socket in (first, late, middle):
            ended(socket, 0)
        again = place.attach(pid)
        started(again)
        assert ended(again, 0) == b"one\ntwo\n"


def test_who_asks_for_what_is_gone_is_told_where_the_rest_begins():
    with Place() as place:
        total = 3 << 20
        pid = place.background("head", "-c", str(total), "/dev/zero")
        wait_until(lambda: place.process(pid)["state"] == "exited", 10, "it wrote all")
        socket = place.attach(pid, "100")
        started(socket)
        gap = socket.next()
        assert gap["type"] == "gap" and gap["offset"] > 100, gap
        assert len(ended(socket, 0)) == total - gap["offset"]
        whole = place.attach(pid, str(gap["offset"]))
        started(whole)
        assert len(ended(whole, 0)) == total - gap["offset"], "the control: what is there has no gap before it"


def test_a_reader_that_pauses_blocks_the_process_and_costs_no_memory():
    with Place() as place:
        before = place.worker_mib()
        socket = place.terminal("?command=" + quote(f"stty raw; head -c {WANTED_MIB << 20} /dev/zero; touch done"),
                                receive_buffer=65536)
        started(socket)
        time.sleep(3)
        grown = place.worker_mib() - before
        assert grown < 16, f"the gateway grew by {grown:.0f} MiB"
        state = place.client.ok("POST", f"/v1/sandboxes/{place.box}/exec", {"command": ["test", "-e", "done"]})
        assert state["exit_code"] == 1, "the program ran on although nobody reads"
        output, last = socket.rest()
        assert last["type"] == "exit" and len(output) == WANTED_MIB << 20, (last, len(output))
        assert socket.closed == 1000


def test_an_onlooker_that_does_not_read_holds_nobody_up():
    with Place() as place:
        pid = place.background("sh", "-c", f"sleep 1; head -c {WANTED_MIB << 20} /dev/zero; touch done")
        viewer = place.server.key(place.tenant, "viewer")
        with socket.socket() as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            link.connect((place.server.host, place.server.port))
            link.sendall(f"GET /v1/sandboxes/{place.box}/processes/{pid}/output HTTP/1.1\r\nHost: x\r\n"
                         f"Authorization: Bearer {viewer.key}\r\n\r\n".encode())
            wait_until(lambda: place.process(pid)["state"] == "exited", 15, "the program goes on")


def test_input_is_taken_as_fast_as_the_process_reads():
    with Place() as place:
        pid = place.background("sh", "-c", "sleep 2; wc -c")
        socket = place.attach(pid)
        started(socket)
        before = place.worker_mib()
        piece = b"x" * 65536
        for _ in range(128):
            socket.send(piece)
        grown = place.worker_mib() - before
        assert grown < 16, f"the gateway grew by {grown:.0f} MiB"
        socket.control(type="close_stdin")
        assert ended(socket, 0).strip() == str(128 * 65536).encode()


def test_a_dead_sandbox_is_an_error_and_a_close_frame():
    place = Place()
    socket = place.terminal("?command=" + quote("echo ready; sleep 600"))
    started(socket)
    socket.until(b"ready")
    journal = json.load(open(f"{place.server.home}/run/sandboxes/{place.box}/sandbox.json"))
    os.kill(journal["pid"], signal.SIGKILL)
    _, last = socket.rest()
    assert last and (last["type"], last["code"], last["state"]) == ("error", "conflict", "failed"), last
    assert last["request_id"].startswith("rq"), last
    assert socket.closed == 1011, f"closed with {socket.closed}"
    assert place.client.ok("GET", f"/v1/sandboxes/{place.box}")["state"] == "failed"


def test_a_killed_sandbox_ends_its_sockets():
    place = Place()
    socket = place.terminal("?command=" + quote("echo ready; sleep 600"))
    started(socket)
    socket.until(b"ready")
    place.client.ok("DELETE", f"/v1/sandboxes/{place.box}")
    _, last = socket.rest()
    assert last and last["type"] in ("exit", "error"), last
    assert socket.closed in (1000, 1011), f"closed with {socket.closed}"


def test_wrong_frames_are_told_and_end_the_socket():
    with Place() as place:
        pid = place.background("sleep", "600")
        for frame in ((2, b"\x05x"), (2, b""), (1, b"{"), (1, b"[]"), (1, b'{"type":"dance"}'), (1, b'{"type":7}'),
                      (1, b'{"type":"resize","cols":0,"rows":1}'), (1, b'{"type":"signal","signal":"SIGNAL"}')):
            socket = place.attach(pid)
            started(socket)
            socket.write(*frame)
            _, last = socket.rest()
            assert last["type"] == "error" and last["code"] == "invalid", (frame, last)
            assert socket.closed == 1008, (frame, socket.closed)
        assert place.process(pid)["state"] == "running", "a bad client ends its socket only"


def test_whoever_leaves_a_terminal_ends_it_and_a_background_process_stays():
    with Place() as place:
        pid = place.background("sleep", "600")
        attached, terminal = place.attach(pid), place.terminal("?command=" + quote("sleep 601"))
        started(attached)
        shell = started(terminal)
        attached.close()
        terminal.close()

        def gone():
            listed = place.client.ok("GET", f"/v1/sandboxes/{place.box}/processes")["items"]
            return all(one["state"] == "exited" for one in listed if one["id"] == shell)

        wait_until(gone, 10, "the terminal's process is gone")
        assert place.process(pid)["state"] == "running"


def test_refusals_before_the_upgrade():
    with Place() as place:
        pid = place.background("sleep", "600")
        viewer = place.server.key(place.tenant, "viewer").key
        _, other = place.server.tenant("somebody")
        for path, key, status in ((f"/processes/{pid}/attach?from=abc", None, 400), ("/terminal?cols=0", None, 400),
                                  (f"/processes/{pid}/attach?from=-1", None, 400), ("/terminal?rows=1001", None, 400),
                                  ("/terminal?command=", None, 400), ("/terminal?cwd=", None, 400),
                                  ("/terminal?user=", None, 400), ("/terminal?user=" + 33 * "u", None, 400),
                                  ("/processes/pr000000000000000000000000/attach", None, 404),
                                  ("/terminal", viewer, 403), ("/terminal", other.key, 404),
                                  ("/terminal", "sg_" + "0" * 40, 401)):
            try:
                place.open(path, key)
                raise AssertionError(f"{path} was upgraded")
            except Refused as refused:
                assert refused.status == status, (path, str(refused))
                assert json.loads(refused.body)["status"] == status
        plain = place.client.call("GET", f"/v1/sandboxes/{place.box}/terminal")
        assert plain.status == 400, plain.body


def test_a_problem_with_a_parameter_names_it():
    with Place() as place:
        try:
            place.terminal("?cwd=/nowhere")
            raise AssertionError("a terminal started in a directory that does not exist")
        except Refused as refused:
            assert refused.status == 400, str(refused)
            assert [field["path"] for field in json.loads(refused.body)["fields"]] == ["/cwd"], refused.body


if __name__ == "__main__":
    main(globals())
