#!/usr/bin/env python3
"""Code of the published clients of the code interpreter, unchanged, in real sandboxes; and code that
means harm."""
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

import world

PIP, NPM = "e2b-code-interpreter==2.11.5", "@e2b/code-interpreter@2.8.0"

SCRIPT = '''
import base64, os, threading, time
from e2b_code_interpreter import NotFoundException, Sandbox, TimeoutException

FIGURES = """
import sys, types
class Figure:
    def savefig(self, file, **more):
        file.write(b"PNG")
plt = types.ModuleType("matplotlib.pyplot")
plt.open = [1]
plt.get_fignums = lambda: list(plt.open)
plt.figure = lambda number: Figure()
plt.close = plt.open.remove
sys.modules["matplotlib.pyplot"] = plt
"""

box = Sandbox.create(timeout=120, envs={"FROM_CREATE": "yes"})
try:
    run = box.run_code
    seen = []
    first = run("import sys\\nx = 1\\nprint('out')\\nprint('err', file=sys.stderr)\\nx + 1",
                on_stdout=seen.append, on_stderr=seen.append, on_result=seen.append)
    assert (first.text, first.logs.stdout, first.logs.stderr) == ("2", ["out\\n"], ["err\\n"]), first
    assert first.error is None and first.execution_count == 1 and len(seen) == 3
    assert run("x += 5; x").text == "6" and run("x = 7").results == []
    assert run("'a text'").text == "a text" and run("'it\\\\'s'").text == '"it\\'s"'
    wrong = run("def f():\\n  return 1 / 0\\nf()").error
    assert (wrong.name, wrong.value) == ("ZeroDivisionError", "division by zero"), wrong
    assert "return 1 / 0" in wrong.traceback and wrong.traceback.count("File") == 2, wrong.traceback
    assert run("(").error.name == "SyntaxError" and run("raise SystemExit(3)").error.name == "SystemExit"
    assert run("x").text == "7"
    assert run("import os; os.getenv('ONCE')", envs={"ONCE": "b c"}).text == "b c"
    assert run("os.getenv('ONCE')").text is None and run("os.getenv('FROM_CREATE')").text == "yes"
    assert run("os.getenv('E2B_SANDBOX_ID')").text == box.sandbox_id
    assert run("import asyncio\\nawait asyncio.sleep(0.01)\\nawait asyncio.sleep(0, 'waited')").text == "waited"
    assert run("!echo from a shell; exit 3").logs.stdout == ["from a shell\\n"]
    assert run("os.system('echo below >&2')").logs.stderr == ["below\\n"]
    assert run("%cd /tmp\\nos.getcwd()").text == "/tmp"
    assert run("%%bash\\ncd /\\npwd").logs.stdout == ["/\\n"]
    assert "".join(run("print('\\\\0' + 'é' * 200000)").logs.stdout) == "\\0" + "é" * 200000 + "\\n"
    rich = run("class Rich:\\n  def _repr_html_(self): return '<b>'\\n  def _repr_png_(self): return b'png'\\n"
               "  def _repr_json_(self): return {'a': float('nan')}\\ndisplay('shown', 2)\\nRich()").results
    assert [one.text for one in rich[:2]] == ["shown", "2"] and rich[2].is_main_result
    assert (rich[2].html, base64.b64decode(rich[2].png), rich[2].json) == ("<b>", b"png", {"a": None}), rich[2].__dict__
    figure = run(FIGURES).results
    assert len(figure) == 1 and base64.b64decode(figure[0].png) == b"PNG" and not figure[0].is_main_result
    begin = time.time()
    try:
        run("import time\\ntime.sleep(60)", timeout=1)
        raise AssertionError("the code was not ended")
    except TimeoutException:
        pass
    assert run("x").text == "7" and time.time() - begin < 5, "the context is free again"
    context = box.create_code_context(cwd="/tmp")
    assert run("x", context=context).error.name == "NameError"
    assert run("import os; os.getcwd()", context=context).text == "/tmp"
    other = box.create_code_context(language="javascript")
    assert run("let a = {b: [1]}; a", context=other).results[0].json == {"b": [1]}
    assert {context.id, other.id} <= {one.id for one in box.list_code_contexts()}
    box.restart_code_context(context)
    assert run("os", context=context).error.name == "NameError"
    box.remove_code_context(context.id)
    for call in (lambda: run("1", context=context), lambda: box.remove_code_context(context)):
        try:
            call()
            raise AssertionError("a context that was removed is there")
        except NotFoundException:
            pass
    assert run("v=3; false", language="bash").error.value == "1" and run("echo $v", language="bash").logs.stdout == ["3\\n"]
    assert run("echo $W; true", language="bash", envs={"W": "a 'b"}).logs.stdout == ["a 'b\\n"]
    assert run("const n: number = 2; n" if os.environ.get("TYPES") else "const n = 2; n", language="ts").text == "2"
    assert run("throw new TypeError('bad')", language="js").error.name == "TypeError"
    done = []
    threads = [threading.Thread(target=lambda i=i: done.append(run(f"y{i} = {i}; y{i}").text == str(i))) for i in range(8)]
    [one.start() for one in threads]
    [one.join() for one in threads]
    assert done == [True] * 8 and run("y0 + y7").text == "7"
    assert box.pause() and box.connect().is_running()
    assert run("x").text == "7", "a pause keeps what code defined"
finally:
    box.kill()
print("the client is content")
'''


def code(here, box, text, **more):
    """The events of a run; more: other members of the request."""
    answer = here.data("POST", "/execute", box["sandboxID"], box["envdAccessToken"],
                       json.dumps({"code": text, **more}).encode(), {"Content-Type": "application/json"}, 49999)
    assert answer.status == 200, (answer.status, answer.body)
    return [json.loads(line) for line in answer.body.splitlines()]


def error_of(events):
    return next((one["name"] for one in events if one["type"] == "error"), None)


def text_of(events):
    return next((one["text"] for one in events if one["type"] == "result"), None)


def refusals(here, box):
    def status(path, body=None, token="envdAccessToken", header="X-Access-Token", method="POST", port=49999):
        return here.data(method, path, box["sandboxID"], None, json.dumps(body).encode() if body is not None else None,
                         {header: box[token], "Content-Type": "application/json"}, port).status

    traffic = {"token": "trafficAccessToken", "header": "E2B-Traffic-Access-Token"}
    assert status("/execute", {"code": "1"}, **traffic) == 401
    assert status("/files?path=x", None, **traffic, method="GET", port=49983) == 401
    assert status("/contexts", None, **traffic, method="GET") == 200
    assert status("/execute", {}) == 400 and status("/execute", {"code": 3}) == 400
    assert status("/execute", {"code": "1", "language": "r"}) == 400
    assert status("/execute", {"code": "1", "language": "python", "context_id": "python"}) == 400
    assert status("/execute", {"code": "1", "context_id": "../x"}) == 404
    assert status("/execute", {"code": "1", "env_vars": {"A": 1}}) == 400
    assert status("/contexts", {"cwd": "/nowhere"}) == 400 and status("/contexts/none", method="DELETE") == 404
    assert status("/execute", {"code": "1"}, port=49983) == 502
    assert error_of(code(here, box, "1", env_vars={"A=B": ""})) == "ValueError"


HARM = [
    "import os; os._exit(3)",
    "import os; os.kill(os.getpid(), 9)",
    "import os; os.closerange(0, 1000)",
    "import os\nos.closerange(3, 1000)\n1",
    "import sys; sys.stdout.close(); sys.stderr = None; 1",
    "import os, socket\nfor n in range(3, 64):\n  try: os.write(n, b'not json\\n{\"type\": \"other\"}\\n\\x00\\n' * 1000)\n"
    "  except OSError: pass",
    "import threading, sys\nfor t in range(200): threading.Thread(target=lambda: print('x' * 100)).start()",
    "x = [0] * (1 << 40)",
    "import os\nfor n in range(3): os.fork()\nos._exit(0)",
    "class Bad:\n  def __repr__(self): raise KeyboardInterrupt\nBad()",
    "class Worse(Exception):\n  def __str__(self): raise Worse\nraise Worse",
    "open('queue.py', 'w').write('raise SystemExit'); import os; os._exit(0)",
    "import shutil; shutil.rmtree('/tmp/.sandgate-code')",
    "import os; os.system('pkill -9 python3')",
    "import os, time\nif os.fork() == 0: time.sleep(600)\ntime.sleep(0.2)\nos._exit(0)",
]


def forks(here, box):
    told = code(here, box, "import os\npid = os.fork()\nif pid == 0: print('below', end='')\n"
                           "else: os.waitpid(pid, 0)\npid > 0")
    assert [one["text"] for one in told if one["type"] in ("stdout", "result")] == ["below", "True"], told
    pooled = code(here, box, "import multiprocessing as m\nwith m.get_context('fork').Pool(2) as p: print(p.map(abs, [-1, 2]))")
    assert pooled[1]["text"] == "[1, 2]\n", pooled


def leave(here, box, text, seconds=1):
    """Asks for a run, and leaves it while it runs."""
    connection = world.http.client.HTTPConnection(here.server.host, here.data_port, timeout=seconds)
    try:
        connection.request("POST", "/execute", json.dumps({"code": text}), {
            "E2b-Sandbox-Id": box["sandboxID"], "E2b-Sandbox-Port": "49999", "X-Access-Token": box["envdAccessToken"],
            "Content-Type": "application/json"})
        connection.getresponse().read()
        raise AssertionError("it ended")
    except TimeoutError:
        connection.close()


def large(here, box):
    assert len(text_of(code(here, box, "x = 'a' * (14 << 20); x"))) == 14 << 20
    assert error_of(code(here, box, "x * 2")) == "ResultTooLarge"
    assert error_of(code(here, box, "raise ValueError(x * 2)")) == "ResultTooLarge"
    assert text_of(code(here, box, "len(x)")) == str(14 << 20), "nothing is lost"


def states(here, box):
    def status(path, method="POST", body=b'{"code": "1"}'):
        return here.data(method, path, box["sandboxID"], box["envdAccessToken"], body,
                         {"Content-Type": "application/json"}, 49999).status

    code(here, box, "x = 1")
    snapshot = here.control("POST", f"/sandboxes/{box['sandboxID']}/snapshots", {}).json()["snapshotID"]
    copy = here.control("POST", "/v2/sandboxes", {"templateID": snapshot}).json()
    assert error_of(code(here, copy, "x")) == "NameError", "variables are no part of a snapshot"
    for way in ("POST", f"/sandboxes/{box['sandboxID']}/pause"), ("DELETE", f"/sandboxes/{box['sandboxID']}"):
        assert here.control(*way, {} if way[0] == "POST" else None).status == 204
        assert status("/execute") == status("/contexts") == status("/contexts", "GET", None) == 502


def running(here, box, command):
    found = here.client.ok("POST", f"/v1/sandboxes/{box['sandboxID']}/exec", {"command": ["sh", "-c",
        "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline; echo; done"]})["stdout"]
    return [line.strip() for line in found.splitlines()].count(command)


def interrupts(here, box):
    code(here, box, "import subprocess as s\nx = 1\nserver = s.Popen(['sleep', '701'])")
    leave(here, box, "import time; time.sleep(702)")
    assert text_of(code(here, box, "x")) == "1" and running(here, box, "sleep 701") == 1, "only the code is interrupted"
    leave(here, box, "import os; os.system('sleep 703')")
    assert text_of(code(here, box, "x")) == "1" and not running(here, box, "sleep 703"), "what waits for a program"
    code(here, box, "s.Popen('trap \"\" INT; sleep 704; true', shell=True)")
    begin = time.monotonic()
    while running(here, box, "sleep 704") != 1:
        assert time.monotonic() - begin < 20, "the shell did not start it"
    here.data("POST", "/contexts/python/restart", box["sandboxID"], box["envdAccessToken"], b"", {}, 49999)
    assert error_of(code(here, box, "x")) == "NameError"
    assert not running(here, box, "sleep 704"), "a context's programs end with it"


def harm(here, box):
    for text in HARM:
        events = code(here, box, text)
        assert all(one["type"] in ("stdout", "stderr", "result", "error", "number_of_executions", "keepalive")
                   for one in events), (text, events)
        assert text_of(code(here, box, "6 * 7")) == "42", text
    endless = subprocess.Popen(
        [sys.executable, "-c", "import http.client, sys, json\n"
         f"c = http.client.HTTPConnection('{here.server.host}', {here.data_port})\n"
         f"c.request('POST', '/execute', json.dumps({{'code': 'while True: print(\"x\" * 1000)'}}), {{'E2b-Sandbox-Id': "
         f"'{box['sandboxID']}', 'E2b-Sandbox-Port': '49999', 'X-Access-Token': '{box['envdAccessToken']}', "
         "'Content-Type': 'application/json'})\nc.getresponse().read(1)\nimport time; time.sleep(600)"])
    time.sleep(2)
    endless.kill()
    endless.wait()
    assert text_of(code(here, box, "6 * 7")) == "42", "output that nobody reads any more ends"
    stubborn = "import time\nkept = 1\nwhile True:\n  try: time.sleep(60)\n  except KeyboardInterrupt: pass"
    leave(here, box, stubborn)
    begin = time.monotonic()
    assert text_of(code(here, box, "6 * 7")) == "42" or text_of(code(here, box, "6 * 7")) == "42"
    assert time.monotonic() - begin < 20, "what cannot be interrupted is ended"


def documented():
    """The example of the page."""
    page = open(os.path.join(os.path.dirname(world.TESTS), "docs", "e2b.md")).read()
    return page.split("## Code\n")[1].split("```python\n")[1].split("```")[0]


def measure(here):
    box = here.box()
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        assert text_of(code(here, box, "1 + 1")) == "2"
        times.append((time.perf_counter() - begin) * 1000)
    print(f"code: the first {times[0]:.0f} ms, later {statistics.median(times[1:]):.0f} ms", flush=True)


def main():
    world.need_root()
    python = world.twin.pip_package(PIP) + "/python"
    folder = world.twin.npm_packages(NPM)
    script = os.path.join(folder, "code.mjs")
    shutil.copyfile(os.path.join(world.HERE, "code.mjs"), script)
    with world.World() as here:
        measure(here)
        environment = {**os.environ, **here.environment()}
        shown = subprocess.run([python, "-c", documented()], timeout=60, env=environment, capture_output=True)
        assert shown.stdout == b"42\n", shown
        for command in ([python, "-c", SCRIPT], ["node", script]):
            done = subprocess.run(command, timeout=200, env=environment)
            if done.returncode:
                print(here.server.log()[-3000:])
                return 1
        box = here.box()
        refusals(here, box)
        forks(here, box)
        interrupts(here, box)
        large(here, box)
        harm(here, box)
        states(here, box)
    return 0


if __name__ == "__main__":
    sys.exit(main())
