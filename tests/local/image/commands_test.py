"""`sandgate image`: import, pull from a registry made here, list, verify, remove, gc."""

import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from oci_layout import MANIFEST, Layout

SANDGATE = sys.argv[1]
if os.geteuid() != 0:
    print("skipped: needs root")
    sys.exit(77)


def registry(layout):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            found, kind = b"{}", "application/json"
            if "/manifests/" in self.path:
                found, kind = layout.manifest, MANIFEST
            elif "/blobs/" in self.path:
                found, kind = layout.blobs.get(self.path.rsplit("/", 1)[1]), "application/octet-stream"
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Type", kind)
            self.send_header("Docker-Distribution-Api-Version", "registry/2.0")
            if kind == MANIFEST:
                self.send_header("Docker-Content-Digest", layout.descriptor["digest"])
            self.send_header("Content-Length", str(len(found or b"")))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(found or b"")

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main(home):
    def image(*words, code=0, path=None):
        environment = dict(os.environ, PATH=path or os.environ["PATH"])
        done = subprocess.run([SANDGATE, "image", words[0], *words[1:], "--set", "home=" + home],
                              capture_output=True, text=True, env=environment, timeout=60)
        assert done.returncode == code, (words, done)
        return done.stdout if code == 0 else done.stderr

    first = Layout({"hello": b"one"})
    first.write(home + "/layout")
    made = json.loads(image("import", home + "/layout", "first", "--json"))
    assert made["env"]["A"] == "1" and made["source"] == first.descriptor["digest"], made
    with tarfile.open(home + "/first.tar", "w") as tar:
        tar.add(home + "/layout", arcname=".")
    again = json.loads(image("import", home + "/first.tar", "same", "--json"))
    assert again["digest"] == made["digest"], "the same content is kept once"
    assert "not an OCI image" in image("import", home, "bad", code=1)
    assert "image name" in image("import", home + "/layout", "../bad", code=1)
    Layout({"a\x1b[31m": b"", "a\x1b[31m/b": b""}).write(home + "/hostile")
    assert not any(char in image("import", home + "/hostile", "hostile", code=1) for char in "\x1b\x07\r")
    Layout({"Windows": b""}, system="windows").write(home + "/windows")
    assert "for windows" in image("import", home + "/windows", "bad", code=1)
    for mode, reason in (("w", "docker-archive:"), ("w:xz", "gzip or zstd")):
        with tarfile.open(home + "/saved.tar", mode) as tar:
            tar.addfile(tarfile.TarInfo("manifest.json"))
        assert reason in image("import", home + "/saved.tar", "bad", code=1), mode
    names = [one["name"] for one in json.loads(image("list", "--json"))["items"]]
    assert names == ["first", "same"], names
    trees = home + "/local/images/trees"
    image("remove", "first")
    assert len(os.listdir(trees)) == 1, "another name has it"
    image("remove", "same")
    assert os.listdir(trees) == [] and os.listdir(home + "/local/images/drafts") == []
    assert "no image" in image("remove", "same", code=1)

    image("import", home + "/layout", "first")
    assert "intact" in image("verify", "first")
    assert json.loads(image("verify", "first", "--json")) == {"name": "first", "intact": True}
    for name in ("debian-13", "debian13-slim", "debian-120", "trixie", "debian-sid", "ubuntu-24.04", "ubuntu",
                 "alpine", "alpine-3.20", "fedora41", "archlinux", "almalinux-9"):
        assert "Debian 12" in image("build", name, code=1), name
    assert "is there" in image("build", "first", "--if-missing")
    assert json.loads(image("build", "first", "--if-missing", "--json"))["digest"] == made["digest"]
    tree = trees + "/" + os.listdir(trees)[0]
    with open(tree + "/hello", "w") as out:
        out.write("two")
    image("verify", "first", code=1)
    Layout({"hello": b"three"}).write(home + "/other")
    image("import", home + "/other", "first")
    gone = json.loads(image("gc", "--json"))["removed"]
    assert gone == [made["digest"]], gone

    os.mkdir(home + "/bin")
    for program in ("prlimit", "setpriv"):
        os.symlink(shutil.which(program), home + "/bin/" + program)
    missing = image("pull", "127.0.0.1:1/x:y", "pulled", code=1, path=home + "/bin")
    assert "apt-get install skopeo" in missing, missing
    if shutil.which("skopeo") is None:
        print("pull is not tried: skopeo is not installed")
        return
    second = Layout({"hello": b"from afar"})
    server = registry(second)
    reference = f"127.0.0.1:{server.server_address[1]}/some/image:latest"
    pulled = json.loads(image("pull", reference, "pulled", "--plain-http", "--json"))
    assert pulled["source"] == second.descriptor["digest"], pulled
    second.blobs = {digest: b"changed" + data for digest, data in second.blobs.items()}
    assert "skopeo failed" in image("pull", reference, "changed", "--plain-http", code=1)
    assert "reference" in image("pull", "docker://x --evil", "pulled", code=1)
    server.shutdown()
    assert os.listdir(home + "/local/images/drafts") == []
    interrupted(home)


# A registry that never answers: neither the program that asks it nor what it has fetched is left.
def interrupted(home):
    silent = socket.create_server(("127.0.0.1", 0))
    silent.settimeout(30)
    reference = f"127.0.0.1:{silent.getsockname()[1]}/some/image:latest"
    pull = subprocess.Popen([SANDGATE, "image", "pull", reference, "pulled", "--set", "home=" + home],
                            stderr=subprocess.PIPE, text=True)
    asks, _ = silent.accept()
    asks.settimeout(30)
    pull.send_signal(signal.SIGINT)
    said = pull.communicate(timeout=30)[1]
    assert pull.returncode == 128 + signal.SIGINT and "interrupted" in said, (pull.returncode, said)
    while asks.recv(1 << 16):
        pass
    silent.close()
    assert os.listdir(home + "/local/images/drafts") == []


ACCOUNT = 54321


def ordinary(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=60, user=ACCOUNT, group=ACCOUNT, extra_groups=[])


# Images have files that only root may read, and directories that only root may change.
def as_an_ordinary_account(home):
    if ordinary("unshare", "--user", "true").returncode != 0:
        print("an ordinary account's images are not tried: this kernel gives user namespaces to root only")
        return
    os.chmod(home, 0o711)
    program = shutil.copy(SANDGATE, home)  # it may be built where only root gets to
    store = home + "/own"
    os.mkdir(store)
    os.chown(store, ACCOUNT, ACCOUNT)
    closed = Layout({"etc/shadow": b"s", "usr/sudo": b"s"}, mode=0, directories={"etc": 0o555, "usr": 0o555})
    closed.write(home + "/closed")
    for words in (("import", home + "/closed", "closed"), ("verify", "closed"), ("remove", "closed")):
        done = ordinary(program, "image", *words, "--set", "home=" + store)
        assert done.returncode == 0, (words, done)
    for place in ("trees", "drafts"):
        assert os.listdir(f"{store}/local/images/{place}") == [], place


with tempfile.TemporaryDirectory() as directory:
    main(directory)
with tempfile.TemporaryDirectory() as directory:
    as_an_ordinary_account(directory)
print("ok")
