#!/usr/bin/env python3
"""The blocks of docs/clients.md as a reader would put them together: clients by hand, generated ones, and the relay
for a terminal in a web page. Run as root; needs Node.js, npm and pip."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../faults", HERE + "/../support", HERE + "/../vendors"]
sys.dont_write_bytecode = True

from cases import main  # noqa: E402
from pages_test import World, block  # noqa: E402
from twin import npm_packages, pip_package  # noqa: E402
from websocket import Refused, Socket  # noqa: E402

PAGE = "clients.md"
programs = modules = None  # folders: of a Python with the generator and httpx, and of npm's packages


def world():
    one = World()
    for name in ("python", "packages"):
        one.shell(f"sandgate profiles apply -f docs/profiles/{name}.yaml")
    return one


def running(one):
    return one.owner.ok("GET", "/v1/sandboxes?state=running")["items"]


def run_text(one, words, suffix, text, folder=None, **more):
    """What a program prints whose source is `text`, in `folder` or one of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(folder or scratch, "page" + suffix)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        # Two pipes: into one, Node writes a line of errors amid a line of output while its reader is slow.
        done = subprocess.run([*words, path], env={**one.environment, **more}, capture_output=True, text=True,
                              timeout=120, cwd=folder or scratch)
    told = done.stdout + done.stderr
    assert done.returncode == 0, told
    return told


def test_python():
    one = world()
    text = block(PAGE, "python client") + block(PAGE, "python stream") + """
box = call("POST", "/sandboxes", json={"profile": "python"})["id"]
print("exit", follow(box, "echo a; echo b >&2; exit 3"))
call("DELETE", f"/sandboxes/{box}")
"""
    told = run_text(one, [programs + "/python", "-u"], ".py", text)
    assert told.startswith("0 42\n") and set(told.split()[2:]) == {"a", "b", "exit", "3"}, told
    assert not running(one)


def test_javascript():
    one = world()
    text = block(PAGE, "js client") + block(PAGE, "js stream") + """
{
  const { id } = await (await call('POST', '/sandboxes', { profile: 'python' })).json()
  console.log('exit', await follow(id, 'echo a; seq 20000 | wc -l; seq 20000; echo b >&2; exit 3'))
  await call('DELETE', `/sandboxes/${id}`)
}
"""
    lines = run_text(one, ["node"], ".mjs", text).splitlines()
    assert lines[:1] == ["0 42"] and "exit 3" in lines and "b" in lines and len(lines) == 20006, lines[:9]
    assert not running(one)


def test_a_generated_python_client():
    one = world()
    with tempfile.TemporaryDirectory() as folder:
        generate = block(PAGE, "sh python").splitlines()[1]
        one.shell(generate.replace("--output-path ", f"--output-path {folder}/"),
                  PATH=programs + ":" + one.environment["PATH"])
        text = block(PAGE, "python generated") + "\nprint(box.state, box.profile.name)\n"
        told = run_text(one, [programs + "/python"], ".py", text, folder)
    assert told == "running python\n" and not running(one), told


def test_generated_types():
    one = world()
    write = block(PAGE, "sh typescript").splitlines()[1].removeprefix("npx ")
    node = f"{modules}/node_modules/.bin:" + one.environment["PATH"]
    one.shell(write.replace("-o ", f"-o {modules}/"), PATH=node)
    text = "declare const process: any\n" + block(PAGE, "ts typed") + "console.log(data.state, data.profile.name)\n"
    words = [f"{modules}/node_modules/.bin/tsc", "--strict", "--target", "es2022", "--module", "esnext",
             "--moduleResolution", "bundler"]
    run_text(one, words, ".mts", text, modules)
    told = subprocess.run(["node", modules + "/page.mjs"], env=one.environment, stdout=subprocess.PIPE, text=True,
                          timeout=60, check=True).stdout
    assert told == "running python\n" and not running(one), told


def test_a_terminal_behind_ones_own_backend():
    one = world()
    box = one.owner.ok("POST", "/v1/sandboxes", {"profile": "packages"})["id"]
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/relay.mjs", "w", encoding="utf-8") as file:
            file.write(block(PAGE, "js relay"))
        # The client of the tests sends no Origin.
        for origin, refused in (({"PAGE_ORIGIN": "https://app.example.com"}, True), ({}, False)):
            relay = subprocess.Popen(["node", folder + "/relay.mjs"], stdout=subprocess.PIPE, text=True,
                                     env={**one.environment, **origin, "SANDBOX": box, "PORT": "0"})
            try:
                use(int(relay.stdout.readline()), refused)
            finally:
                relay.kill()
                relay.wait()


def use(port, refused):
    try:
        terminal = Socket("127.0.0.1", port, "/terminal", "of nobody")
    except Refused as refusal:
        assert refused and refusal.status == 403, refusal
        return
    assert not refused
    terminal.send(b"echo $((6 * 7))\n")
    terminal.until(b"\r42\r\n")
    terminal.close()


def run():
    global programs, modules
    programs = pip_package("openapi-python-client==0.29.1")
    modules = npm_packages("typescript@5.9.3", "openapi-typescript@7.13.0", "openapi-fetch@0.17.0")
    main(globals())


if __name__ == "__main__":
    run()
