#!/usr/bin/env python3
"""The protocol's npm client on the real program: every tool, sessions and their sandboxes, who may do
what, and what a client is told when something is refused. Run as root; takes names of single tests."""
import base64
import json
import os
import sys
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../../support", HERE + "/../../faults"]
sys.dont_write_bytecode = True

from cases import main, wait_until  # noqa: E402
from client import Failed, World  # noqa: E402

TOOLS = {"run_command", "run_code", "read_file", "write_file", "list_files", "expose_port", "sandbox_create",
         "sandbox_list", "sandbox_kill"}


def test_a_session_begins_and_lists_its_tools():
    world = World()
    session = world.session()
    assert session.told["server"]["name"] == "sandgate"
    assert session.told["capabilities"] == {"tools": {}}
    assert "sandbox" in session.told["instructions"]
    tools = session.do("list")["tools"]
    assert {tool["name"] for tool in tools} == TOOLS
    for tool in tools:
        assert tool["inputSchema"]["type"] == tool["outputSchema"]["type"] == "object"
        assert isinstance(tool["annotations"]["readOnlyHint"], bool) and tool["description"]
    session.do("ping")
    assert not world.living(), "nothing is made before it is needed"


def test_programs_run_in_the_sessions_own_sandbox():
    world = World()
    session = world.session()
    first = session.call("run_command", command="echo one | tr a-z A-Z; echo two >&2; exit 3")
    assert (first["stdout"], first["stderr"], first["exit_code"]) == ("ONE\n", "two\n", 3)
    assert first["new_sandbox"] is True and world.living() == {first["sandbox_id"]}
    code = session.call("run_code", language="python", code="import sys\nprint(6 * 7, sys.argv)")
    assert code["stdout"] == "42 ['-c']\n" and "new_sandbox" not in code
    assert session.call("run_code", language="bash", code="[[ $((1+1)) == 2 ]] && echo yes")["stdout"] == "yes\n"
    assert session.call("run_code", language="javascript", code="1")["exit_code"] in (0, 127)
    late = session.call("run_command", command="sleep 60", timeout_ms=300)
    assert late["timed_out"] is True and late["exit_code"] == 124
    assert world.living() == {first["sandbox_id"]}


def test_files_are_written_read_and_listed():
    session = World().session()
    text = "grün\n\u0000end\n"
    written = session.call("write_file", path="notes/a.txt", content=text)["file"]
    assert written["size"] == len(text.encode()) and written["path"].endswith("/notes/a.txt")
    read = session.call("read_file", path="notes/a.txt")
    assert read["text"] == text and read["truncated"] is False and read["size"] == written["size"]
    data = bytes(range(256))
    session.call("write_file", path="notes/b", content=base64.b64encode(data).decode(), encoding="base64")
    assert base64.b64decode(session.call("read_file", path="notes/b")["base64"]) == data
    session.call("write_file", path="empty", content="")
    assert session.call("read_file", path="empty")["text"] == ""
    names = [entry["name"] for entry in session.call("list_files", path="notes")["entries"]]
    assert names == ["a.txt", "b"]
    assert "notes" in [entry["name"] for entry in session.call("list_files")["entries"]]
    assert session.call("read_file", path="/proc/self/status")["text"].startswith("Name:")


def test_large_files_are_read_in_pieces():
    session = World().session()
    session.call("run_command", command="for i in $(seq 60000); do echo grün $i; done > big")
    pieces, offset = [], 0
    while offset is not None:
        piece = session.call("read_file", path="big", offset=offset)
        assert piece["offset"] == offset and piece["truncated"] == ("next_offset" in piece)
        pieces.append(piece["text"])
        offset = piece.get("next_offset")
    assert len(pieces) > 4
    assert "".join(pieces) == "".join(f"grün {i}\n" for i in range(1, 60001))
    assert session.refused("read_file", path="big", offset=1 << 40)["code"] == "invalid"


def test_long_output_is_cut_and_says_so():
    cut = World().session().call("run_command", command="yes | head -c 1000000; yes no | head -c 100 >&2")
    assert len(cut["stdout"]) == 65536 and len(cut["stderr"]) == 100
    assert cut["truncated"] is True and "65536" in cut["notice"]


def test_a_large_file_fits_into_one_message():
    session = World().session()
    session.call("write_file", path="big", content="x" * 5_000_000)
    assert session.call("run_command", command="wc -c < big")["stdout"].strip() == "5000000"


def test_many_entries_are_listed_in_pages():
    session = World().session()
    session.call("run_command", command="mkdir many; cd many; touch $(seq 250)")
    names, more = [], {}
    while more is not None:
        page = session.call("list_files", path="many", **more)
        names += [entry["name"] for entry in page["entries"]]
        more = {"cursor": page["next_cursor"]} if page["next_cursor"] else None
    assert sorted(names, key=int) == [str(i) for i in range(1, 251)]


def test_a_port_is_exposed():
    session = World().session()
    server = "mkdir site; echo hello > site/index.html; cd site; python3 -m http.server 8000 >/dev/null 2>&1 &"
    session.call("run_command", command=server + " sleep 1; echo up")
    port = session.call("expose_port", port=8000)
    assert port["port"] == 8000 and port["expires_at"] is None

    def answers():
        try:
            asked = urllib.request.Request(port["url"], headers={"X-Sandgate-Token": port["token"]})
            return urllib.request.urlopen(asked, timeout=5).read() == b"hello\n"
        except OSError:
            return False

    wait_until(answers, 20, "the server inside is reached")
    assert urllib.request.urlopen(port["open_url"], timeout=5).read() == b"hello\n"


def test_further_sandboxes_are_made_listed_used_and_ended():
    world = World()
    session = world.session()
    own = session.call("run_command", command="echo own > who")["sandbox_id"]
    made = session.call("sandbox_create", profile="test")
    other = made["sandbox_id"]
    assert made["state"] == "running" and made["profile"] == "test@1" and other != own
    assert session.call("sandbox_create")["sandbox_id"] not in (own, other)
    assert session.call("run_command", command="cat who", sandbox_id=other)["exit_code"] != 0
    assert session.call("read_file", path="who", sandbox_id=own)["text"] == "own\n"
    listed = session.call("sandbox_list")
    assert len(listed["sandboxes"]) == 3 and listed["next_cursor"] is None
    assert session.call("sandbox_kill", sandbox_id=other) == {"state": "stopped", "sandbox_id": other}
    assert session.call("sandbox_kill")["sandbox_id"] == own
    assert session.refused("sandbox_kill")["code"] == "not_found"
    assert session.call("sandbox_list", state="stopped")["sandboxes"][0]["ended_reason"] == "killed"
    again = session.call("run_command", command="ls")
    assert again["new_sandbox"] is True and again["sandbox_id"] != own and "who" not in again["stdout"]


def test_two_sessions_share_nothing():
    world = World()
    one, two = world.session(), world.session()
    assert one.id != two.id
    first = one.call("run_command", command="echo secret > file")["sandbox_id"]
    second = two.call("run_command", command="cat file")
    assert second["exit_code"] != 0 and second["sandbox_id"] != first
    assert world.living() == {first, second["sandbox_id"]}


def test_calls_at_once_make_one_sandbox():
    world = World()
    session = world.session()
    step = {"name": session.name, "do": "call", "tool": "run_command", "args": {"command": "echo $RANDOM"}}
    answers = world.driver.steps(*[step] * 8)
    results = [answer["ok"]["structuredContent"] for answer in answers]
    assert len({result["sandbox_id"] for result in results}) == 1, results
    assert sum(result.get("new_sandbox", False) for result in results) == 1
    assert len(world.living()) == 1


def test_the_end_of_a_session_ends_its_sandbox():
    world = World()
    session = world.session()
    session.call("run_command", command="true")
    kept = session.call("sandbox_create")["sandbox_id"]
    session.do("terminate")
    assert world.living() == {kept}


def test_who_has_no_key_is_refused():
    world = World()
    try:
        world.session(type("Nobody", (), {"key": "sg_" + "0" * 40}))
    except Failed as failure:
        assert failure.code == 401 or "401" in failure.message or failure.name == "UnauthorizedError", str(failure)
    else:
        raise AssertionError("a session began without a key")


def test_a_viewer_looks_and_does_nothing():
    world = World()
    box = world.owner.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
    world.owner.ok("PUT", f"/v1/sandboxes/{box}/files?path=a", headers={"Content-Length": "0"})
    session = world.session(world.server.key(world.tenant, "viewer"))
    assert session.do("list")["tools"]
    assert [one["sandbox_id"] for one in session.call("sandbox_list")["sandboxes"]] == [box]
    assert session.call("read_file", path="a", sandbox_id=box)["text"] == ""
    for tool, args in (("run_command", {"command": "true"}), ("sandbox_create", {"profile": "test"}),
                       ("run_command", {"command": "true", "sandbox_id": box}), ("list_files", {}),
                       ("write_file", {"path": "b", "content": "", "sandbox_id": box}),
                       ("expose_port", {"port": 80, "sandbox_id": box}), ("sandbox_kill", {"sandbox_id": box})):
        assert session.refused(tool, **args)["code"] == "forbidden", tool
    assert world.living() == {box}


def kill_gateway(world, meanwhile=None):
    """Returns when it is back, and what went on `meanwhile` has failed."""
    [worker] = world.server.pids("worker")
    world.server.kill("worker")
    if meanwhile:
        meanwhile.join()

    def back():
        fresh = [pid for pid in world.server.pids("worker") if pid != worker]
        try:
            return fresh and world.server.operator().call("GET", "/readyz").status == 200
        except OSError:
            return False

    wait_until(back, 60, "the gateway is back")


def test_a_session_goes_on_after_its_gateway_was_killed():
    world = World()
    session = world.session()
    before = session.call("run_command", command="echo kept > file")["sandbox_id"]
    kill_gateway(world)
    after = session.call("read_file", path="file")
    assert after["text"] == "kept\n" and after["sandbox_id"] == before
    assert world.living() == {before}


def test_a_gateway_killed_while_it_makes_the_sandbox_leaves_one():
    for delay in (0.004, 0.02):
        world = World()
        session = world.session()
        step = {"name": session.name, "do": "call", "tool": "run_command", "args": {"command": "true"}}
        first = threading.Thread(target=world.driver.steps, args=(step,))
        first.start()
        time.sleep(delay)  # What is hit does not matter: one sandbox is left wherever it was.
        kill_gateway(world, meanwhile=first)
        # What was begun is given up after a while; until then it is waited for.
        ran = wait_until(lambda: session.result("run_command", {"command": "true"}).get("structuredContent"), 90,
                         "the session has a sandbox")
        assert world.living() == {ran["sandbox_id"]}


def test_refusals_have_codes_to_act_on():
    world = World()
    session = world.session()
    unknown = "sb" + "0" * 24
    for code, tool, args in (
            ("not_found", "run_command", {"command": "true", "sandbox_id": unknown}),
            ("not_found", "run_command", {"command": "true", "sandbox_id": "../keys"}),
            ("not_found", "sandbox_create", {"profile": "nobody"}),
            ("not_found", "read_file", {"path": "nothing"}),
            ("invalid", "read_file", {"path": "."}),
            ("invalid", "run_command", {}),
            ("invalid", "run_command", {"command": "true", "tiemout": 1}),
            ("invalid", "run_command", {"command": "x" * 200_000}),
            ("invalid", "run_code", {"language": "cobol", "code": "x"}),
            ("invalid", "list_files", {"cursor": "x"}),
            ("invalid", "expose_port", {"port": 0})):
        problem = session.refused(tool, **args)
        assert problem["code"] == code and problem["detail"] and problem["request_id"], (tool, args, problem)
    assert "bash" in json.dumps(session.refused("run_code", language="cobol", code="x"))
    assert session.refused("run_command", command=7)["fields"] == [{"path": "/command", "message": "must be a string"}]


def test_what_is_not_there_is_an_error_of_the_protocol():
    session = World().session()
    for deed, code in ((lambda: session.result("rm", {}), -32602), (lambda: session.do("resources"), -32601)):
        try:
            deed()
        except Failed as failure:
            assert failure.code == code or str(code) in failure.message, str(failure)
        else:
            raise AssertionError("it was answered")


def test_limits_hold():
    world = World()
    session = world.session()
    world.server.operator().ok("PUT", f"/v1/tenants/{world.tenant}/limits", {"max_running": 1})
    session.call("run_command", command="true")
    assert session.refused("sandbox_create")["code"] == "quota_exceeded"
    assert len(world.living()) == 1


def test_a_suspended_tenant_only_looks():
    world = World()
    session = world.session()
    own = session.call("run_command", command="true")["sandbox_id"]
    world.server.operator().ok("PATCH", f"/v1/tenants/{world.tenant}", {"suspended": True})
    wait_until(lambda: session.result("run_command", {"command": "true"})["isError"], 10, "it is refused")
    assert session.refused("sandbox_create")["code"] == "forbidden"
    assert [one["sandbox_id"] for one in session.call("sandbox_list")["sandboxes"]] == [own]
    assert session.call("sandbox_kill")["state"] == "stopped"


def test_a_sandbox_that_died_is_told_and_followed_by_another():
    world = World()
    session = world.session()
    own = session.call("run_command", command="echo here")["sandbox_id"]
    journal = json.load(open(f"{world.server.home}/run/sandboxes/{own}/sandbox.json"))
    os.kill(journal["pid"], 9)
    wait_until(lambda: not world.living(), 30, "it is known to be gone")
    again = session.call("run_command", command="echo again")
    assert again["stdout"] == "again\n" and again["new_sandbox"] is True and again["sandbox_id"] != own


def test_a_long_call_gives_signs_of_life():
    session = World().session()
    result = session.result("run_command", {"command": "sleep 12; echo done"}, progress=True, timeout=9000)
    assert result["structuredContent"]["stdout"] == "done\n" and result["signs"] == 2, result
    failed = session.result("run_command", {}, progress=True)
    assert failed["isError"] and json.loads(failed["content"][0]["text"])["code"] == "invalid"


def test_who_gives_up_ends_the_program():
    world = World()
    session = world.session()
    own = session.call("run_command", command="true")["sandbox_id"]
    processes = f"/v1/sandboxes/{own}/processes"
    for progress in (False, True):
        try:
            session.result("run_command", {"command": "sleep 600"}, progress=progress, timeout=1500)
            raise AssertionError("it was answered")
        except Failed as failure:
            assert failure.code == -32001, failure
        wait_until(lambda: all(one["state"] == "exited" for one in world.owner.ok("GET", processes)["items"]), 20,
                   "the program has ended")
    assert session.call("run_command", command="echo on")["stdout"] == "on\n"


if __name__ == "__main__":
    main(globals())
