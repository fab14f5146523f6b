#!/usr/bin/env python3
"""The published Python client, unchanged, against the real program with real sandboxes."""
import os
import subprocess
import sys

import world

PACKAGE, OLDER = "e2b==2.63.0", "e2b==2.25.0"

SCRIPT = '''
import os
from e2b import (AuthenticationException, CommandExitException, NotFoundException, Sandbox, SandboxException,
                 TimeoutException)

def refused(kind, call, *args, **more):
    try:
        call(*args, **more)
    except kind:
        return
    raise AssertionError(f"{call} was not refused as {kind}")

box = Sandbox.create(timeout=120, metadata={"run": "b c"}, envs={"FROM_CREATE": "yes"})
try:
    assert box.is_running() and box.get_info().metadata == {"run": "b c"}
    assert [one.sandbox_id for one in Sandbox.list().next_items()] == [box.sandbox_id]
    done = box.commands.run("echo $FROM_CREATE; echo err >&2")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "yes\\n", "err\\n"), done
    refused(CommandExitException, box.commands.run, "exit 7")
    refused(TimeoutException, box.commands.run, "sleep 600", timeout=0.5)
    cat = box.commands.run("cat", background=True, stdin=True)
    box.commands.send_stdin(cat.pid, "typed\\n")
    box.commands.close_stdin(cat.pid)
    assert cat.wait().stdout == "typed\\n"
    count = box.commands.run("wc -c", background=True, stdin=True)
    box.commands.stream_input(count.pid, (b"x" * 70_000 for _ in range(10)))
    box.commands.close_stdin(count.pid)
    assert count.wait().stdout.strip() == "700000"
    sleeper = box.commands.run("sleep 600", background=True, timeout=0)
    assert any(one.pid == sleeper.pid for one in box.commands.list())
    assert box.commands.kill(sleeper.pid)
    refused(CommandExitException, sleeper.wait)
    assert not box.commands.kill(sleeper.pid)
    assert box.files.write("deep/note", "text").path == "/home/user/deep/note"
    assert box.files.read("deep/note") == "text" and bytes(box.files.read("deep/note", format="bytes")) == b"text"
    written = box.files.write_files([{"path": "a", "data": "A"}, {"path": "b", "data": b"B"}])
    assert [one.path for one in written] == ["/home/user/a", "/home/user/b"]
    assert box.files.exists("a") and box.files.make_dir("folder") and not box.files.make_dir("folder")
    watch = box.files.watch_dir("folder")
    box.files.rename("a", "folder/a")
    seen = []
    while not any(one.name == "a" for one in seen):
        seen += watch.get_new_events()
    watch.stop()
    assert [one.name for one in box.files.list("folder")] == ["a"]
    assert box.files.get_info("folder/a").size == 1
    box.files.remove("folder")
    refused(NotFoundException, box.files.read, "missing")
    terminal = box.pty.create(size=__import__("e2b").PtySize(rows=24, cols=80), timeout=0)
    box.pty.send_stdin(terminal.pid, b"stty size; exit\\n")
    text = b""
    terminal.wait(on_pty=lambda data: globals().update(text=text + data))
    assert b"24 80" in text, text
    box.set_timeout(200)
    again = Sandbox.connect(box.sandbox_id)
    assert again.commands.run("echo again").stdout == "again\\n"
    for mode in ("filesystem", "full"):
        kept = box.create_snapshot(name=mode, mode=mode)
        assert kept.names == [mode] and Sandbox.delete_snapshot(kept.snapshot_id)
    refused(SandboxException, box.pause, strict=True)
    assert box.is_running() and box.pause(mode="filesystem")
    refused(SandboxException, box.connect, on_resume="reboot")
    assert not box.is_running() and box.connect(on_resume="restore").is_running()
    refused(NotFoundException, Sandbox.connect, box.sandbox_id, api_key=os.environ["OTHER_KEY"])
    refused(AuthenticationException, Sandbox.create, api_key="e2b_" + "0" * 40)
finally:
    assert box.kill()
assert not box.is_running() and not Sandbox.kill(box.sandbox_id)
print("the client is content")
'''

# This version counts the time itself as well, and fails with httpcore.ReadTimeout when it is first.
OLDER_SCRIPT = '''
from e2b import Sandbox, TimeoutException

box = Sandbox.create(timeout=120)
try:
    for _ in range(12):
        try:
            box.commands.run("sleep 600", timeout=1)
        except TimeoutException:
            continue
        raise AssertionError("the command was not ended")
finally:
    box.kill()
print("the older client is content")
'''


def main():
    world.need_root()
    clients = [(world.twin.pip_package(package) + "/python", script)
               for package, script in ((PACKAGE, SCRIPT), (OLDER, OLDER_SCRIPT))]
    with world.World() as here:
        environment = {**os.environ, **here.environment()}
        for python, script in clients:
            done = subprocess.run([python, "-c", script], timeout=200, env=environment)
            if done.returncode:
                print(here.server.log()[-3000:])
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
