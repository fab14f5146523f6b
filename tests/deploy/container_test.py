#!/usr/bin/env python3
"""The last stage of docs/deploy/Dockerfile without an engine: its packages in a root of their own, its
commands, files and account, and the gateway started there as the Dockerfile says. Run as root."""
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../faults")
sys.dont_write_bytecode = True

from cases import wait_until  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.dirname(os.path.dirname(os.environ.get("SANDGATE_BINARY", ROOT + "/build/gateway/sandgate")))
MOUNTS = ('mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mkdir -p "$0/database" && '
          'mount --bind "$1" "$0/database" && shift && exec chroot --userspec="$1" "$0" env -i "${@:2}"')


def instructions():
    """Of the last stage: (word, arguments)."""
    text = re.sub(r"^#.*\n", "", open(ROOT + "/docs/deploy/Dockerfile").read(), flags=re.M).replace("\\\n", " ")
    stage = text[text.rindex("\nFROM ") + 1:]
    return [tuple(line.split(None, 1)) for line in stage.splitlines() if line.strip()]


def of(word):
    return [arguments for found, arguments in instructions() if found == word]


def make_root(folder):
    """The packages come by mmdebstrap instead of apt-get; everything else runs as written."""
    commands = [command.strip() for command in of("RUN")[0].split("&&")]
    install = next(command for command in commands if command.startswith("apt-get install"))
    packages = [word for word in shlex.split(install)[2:] if not word.startswith("-")]
    subprocess.run(["mmdebstrap", "--variant=minbase", "--quiet", "--include=" + ",".join(packages), "bookworm", folder],
                   check=True)
    for command in commands:
        if not command.startswith("apt-get"):
            subprocess.run(["chroot", folder, "sh", "-c", command], check=True)
    for arguments in of("COPY"):
        *sources, place = arguments.split()
        from_build = sources[0] == "--from=build"
        os.makedirs(folder + place, exist_ok=True)
        for source in sources[1:] if from_build else sources:
            path = source.replace("/src/build", BUILD) if from_build else f"{ROOT}/{source}"
            if os.path.isdir(path):
                shutil.copytree(path, folder + place, dirs_exist_ok=True)
            else:
                shutil.copy(path, folder + place)


class Database:
    """A cluster that trusts whoever reaches its socket."""

    def __init__(self, folder):
        self.folder = folder
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        os.mkdir(folder)
        os.chmod(folder, 0o755)
        shutil.chown(folder, "postgres")

    def run(self, program, *words):
        subprocess.run(["runuser", "-u", "postgres", "--", f"{self.programs}/{program}", *words], check=True,
                       stdout=subprocess.DEVNULL, cwd="/")

    def __enter__(self):
        self.run("initdb", "-D", self.folder + "/data", "-A", "trust", "-U", "sandgate", "-N")
        self.run("pg_ctl", "-D", self.folder + "/data", "-w", "-l", self.folder + "/log", "-o",
                 f"-c listen_addresses= -k {self.folder}", "start")
        self.run("createdb", "-h", self.folder, "-U", "sandgate", "sandgate")
        return self

    def __exit__(self, *unused):
        self.run("pg_ctl", "-D", self.folder + "/data", "-m", "immediate", "-w", "stop")


def start(root, database, log):
    environment = dict(pair.split("=", 1) for line in of("ENV") for pair in shlex.split(line))
    # What `docker run` would be given; port 0 where the container has a network of its own.
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin", "SANDGATE_LISTEN": "127.0.0.1:0",
                    "SANDGATE_DATABASE_URL": "host=/database user=sandgate dbname=sandgate",
                    "SANDGATE_MASTER_KEY": "5" * 64, "SANDGATE_ADMIN_KEY": "sg_" + "a" * 40}
    program = json.loads(of("ENTRYPOINT")[0]) + json.loads(of("CMD")[0])
    return subprocess.Popen(["unshare", "--mount", "--propagation", "private", "bash", "-c", MOUNTS, root,
                             database.folder, of("USER")[0], *(f"{name}={value}" for name, value in environment.items()),
                             *program], stdout=log, stderr=log)


def get(url):
    with urllib.request.urlopen(url, timeout=5) as answer:
        return answer.status, answer.read()


def check(folder):
    root = folder + "/root"
    make_root(root)
    with Database(folder + "/database") as database, open(folder + "/log", "w") as log:
        server = start(root, database, log)
        try:
            listening = root + of("VOLUME")[0] + "/gateway/listen"
            wait_until(lambda: os.path.exists(listening) or server.poll() is not None, 60, "a listener")
            assert server.poll() is None, "the gateway ended"
            url = "http://" + open(listening).read().strip()
            assert get(url + "/healthz")[0] == 200
            wait_until(lambda: get(url + "/version")[0] == 200, 30, "an answer")
            owner = os.stat(f"/proc/{server.pid}").st_uid
            assert owner == int(re.search(r"--uid (\d+)", of("RUN")[0])[1]), owner
            server.send_signal(getattr(signal, of("STOPSIGNAL")[0]))
            assert server.wait(45) == 0
        except BaseException:
            server.kill()
            server.wait()
            log.flush()
            print(open(folder + "/log").read()[-3000:])
            raise


def main():
    if os.geteuid() != 0:
        print("skipped: needs root")
        return 77
    if 'VERSION_ID="12"' not in open("/etc/os-release").read():
        print("skipped: the program is linked with this machine's libraries, the container's are Debian 12's")
        return 77
    for arguments in of("COPY"):
        assert arguments.startswith("--from=build") or os.path.exists(f"{ROOT}/{arguments.split()[0]}"), arguments
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sandgate-container-") as folder:
        os.chmod(folder, 0o755)
        check(folder)
    print(f"ok ({time.monotonic() - begin:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
