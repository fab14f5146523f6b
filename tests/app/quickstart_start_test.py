#!/usr/bin/env python3
"""quickstart from its first start on, with a program that is built already. Run as root, with its packages there."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE + "/../faults", HERE + "/../support"]

from cases import main  # noqa: E402
from server import IMAGES, SOURCE, free_port  # noqa: E402

BINARY = os.environ.get("SANDGATE_BINARY", SOURCE + "/build/gateway/sandgate")
NOBODY = 65534


def free_listen():
    """An address whose port and the next one are free."""
    return f"127.0.0.1:{free_port(2)}"


class Checkout:
    """A copy of what quickstart needs, in a folder with a space, where nothing is left to build."""

    def __init__(self, folder, account):
        self.folder, self.account = folder / "a checkout", account
        self.home = folder / "a home"
        for one in (".ci", "docs/profiles"):
            shutil.copytree(SOURCE + "/" + one, self.folder / one)
        for one in ("quickstart", "README.md"):
            shutil.copy(SOURCE + "/" + one, self.folder)
        (self.folder / "build/gateway").mkdir(parents=True)
        (self.folder / "build/build.ninja").write_text("build sandgate: phony\nbuild sandgate-agent: phony\n")
        (self.folder / "build/gateway/sandgate").symlink_to(BINARY)
        for one in (folder, *folder.rglob("*")):
            os.chown(one, account, account, follow_symlinks=False)

    def run(self, *words, listen="127.0.0.1:1", check=True):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "SANDGATE_HOME": str(self.home),
                       "SANDGATE_LISTEN": listen}
        if self.account == 0:
            environment["SANDGATE_LOCAL_IMAGES"] = IMAGES
        done = subprocess.run(words, env=environment, cwd=self.folder, user=self.account, group=self.account,
                              extra_groups=[], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        assert done.returncode == 0 or not check, done.stdout
        return done.stdout

    def start(self, listen):
        return self.run("./quickstart", listen=listen)

    def settings(self):
        lines = (self.home / "quickstart.env").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


@contextmanager
def checkout(account=0):
    folder = Path(tempfile.mkdtemp(prefix="sandgate-quick-", dir="/tmp"))
    folder.chmod(0o711)
    try:
        one = Checkout(folder, account)
        try:
            yield one
        finally:
            one.run("./quickstart", "--stop")
    finally:
        shutil.rmtree(folder)


def proposed(told):
    return told.split("Try next:\n")[1]


def test_what_is_proposed_works():
    with checkout() as one:
        told = one.start(free_listen())
        assert "Hello from Python" in told, told
        assert "42\n" in one.run("bash", "-euc", proposed(told))


def readme():
    """The commands of the five minutes, in order, and the lines that README.md shows as their output."""
    section = Path(SOURCE, "README.md").read_text(encoding="utf-8").split("## Five minutes\n")[1].split("\n## ")[0]
    lines = "".join(re.findall(r"^```\n(\$.*?)^```$", section, re.M | re.S)).replace("\\\n", " ").splitlines()
    commands = [line[2:] for line in lines if line.startswith("$ ") and "sandgate shell" not in line]
    return commands, [line for line in lines if not line.startswith("$ ") and "…" not in line]


def test_the_readme_runs_as_it_stands():
    commands, shown = readme()
    with checkout() as one:
        told = one.start(free_listen())
        told = one.run("bash", "-uc", "\n".join([proposed(told).splitlines()[0], *commands]), check=False)
        lines = told.splitlines()
        assert len(commands) > 15 and len(shown) > 4, (commands, shown)
        assert not [line for line in shown if line not in lines], told
        assert "?sandgate_token=" in told and "event: exit" in told, told


def test_another_address():
    with checkout() as one:
        listen = free_listen()
        one.start(listen)
        before, log = one.settings(), (one.home / "serve.log").read_text()
        one.run("./quickstart", "--stop")
        listen = free_listen()
        told = one.start(listen)
        after = one.settings()
        assert after["SANDGATE_URL"] == f"http://{listen}" and after["E2B_API_URL"] == f"http://{listen}/e2b", after
        assert after["E2B_SANDBOX_URL"] not in before.values(), after
        database = f"\"host='{one.home}/postgres' user=sandgate dbname=sandgate\""
        assert after["SANDGATE_DATABASE_URL"] == database, after
        assert after.keys() == before.keys() and after["SANDGATE_API_KEY"] == before["SANDGATE_API_KEY"], after
        assert "42\n" in one.run("bash", "-euc", proposed(told))
        assert (one.home / "serve.log.1").read_text().startswith(log), "the log of the first start is lost"


def test_without_root():
    with checkout(NOBODY) as one:
        told = one.start(free_listen())
        assert "without root no sandbox runs on this machine" in told, told
        next_steps = proposed(told)
        assert "sandgate run" not in next_steps and "sandgate deployments set" in next_steps, next_steps
        shown = one.run("bash", "-uc", next_steps, check=False)
        assert "--credential-env" in shown and "local" in shown, told + shown


def test_root_of_a_container_without_privileges():
    with checkout() as one:
        told = one.run("setpriv", "--bounding-set=-sys_admin,-sys_ptrace", "./quickstart", listen=free_listen())
        assert "run --privileged" in told.split("Sandgate quickstart")[0], "told before the build, which takes minutes"
        next_steps = proposed(told)
        assert "sandgate run" not in next_steps and "sandgate deployments set" in next_steps, next_steps
        shown = one.run("bash", "-uc", next_steps, check=False)
        assert "--credential-env" in shown and "chosen: none" in shown, told + shown


def test_a_home_that_cannot_be_is_told_before_the_build():
    with checkout() as one:
        one.home.write_text("a file")
        told = one.run("./quickstart", listen=free_listen(), check=False)
        assert "set SANDGATE_HOME to another" in told and "build" not in told, told
        one.home.unlink()


if __name__ == "__main__":
    main(globals())
