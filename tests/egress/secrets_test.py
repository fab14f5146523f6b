#!/usr/bin/env python3
"""Secrets in real sandboxes: where the value arrives, and every place where it must not. Run as root; takes the
names of single tests."""
import base64
import glob
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../faults"]

from cases import wait_until  # noqa: E402
from upstreams import Handler, Web  # noqa: E402
from world import World, require_port_443, require_root  # noqa: E402

world = web = None
VALUE = "real-value-7f3a91c4d2"
HOST = "api.test.example"
SECRET = {"name": "TOKEN", "host": HOST, "header": "Authorization"}
RULES = (f"{HOST}:443", "other.test.example:443", f"{HOST}:80", "git.test.example:443")


class Echoing(Handler):
    """Shows the Authorization header in its answer, as a careless server would; for /git speaks as a git server."""

    def answer(self):
        if "/info/refs" in self.path:
            self.server.heard.append({"path": self.path, "headers": [list(i) for i in self.headers.items()]})
            body, kind = b"001e# service=git-upload-pack\n00000000", "application/x-git-upload-pack-advertisement"
            if not self.headers.get("Authorization"):
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                body = b""
            else:
                self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        super().answer()

    do_GET = do_POST = do_PUT = do_OPTIONS = do_TRACE = do_TRACK = answer


def box(*allow, **fields):
    return world.box(*(allow or RULES), secrets=fields.pop("secrets", [SECRET]), **fields)


def placeholder(sandbox):
    return world.run(sandbox, "printenv", "TOKEN")["stdout"].strip()


def heard_header(name="Authorization"):
    return [value for key, value in web.heard[-1]["headers"] if key.lower() == name.lower()]


def curl(sandbox, *words):
    return world.run(sandbox, "sh", "-c", "exec curl -sS --max-time 10 " + " ".join(words))


def test_the_value_arrives_and_is_not_inside():
    sandbox = box()
    shown = placeholder(sandbox)
    assert shown.startswith("sgs_") and VALUE not in world.run(sandbox, "env")["stdout"]
    for direct in ("", "--noproxy '*'"):
        done = curl(sandbox, direct, '-H "Authorization: Bearer $TOKEN"', f"https://{HOST}/a")
        assert heard_header() == [f"Bearer {VALUE}"], (done, web.heard[-1])
        # The server shows the header: the sandbox sees it masked.
        assert VALUE not in done["stdout"] and "*" * len(VALUE) in done["stdout"], done
        done = curl(sandbox, direct, '-H "Authorization: Bearer $TOKEN"', f"https://{HOST}/pieces")
        assert VALUE not in done["stdout"] and "*" * len(VALUE) in done["stdout"], done
    # A part of an answer could hold a part of the value.
    done = curl(sandbox, "-r 0-3 -H 'If-Range: \"x\"'", '-H "Authorization: Bearer $TOKEN"', f"https://{HOST}/part")
    asked = {name.lower() for name, _ in web.heard[-1]["headers"]}
    assert done["exit_code"] == 0 and "authorization" in asked and not asked & {"range", "if-range"}, (done, asked)
    python = ("import os,urllib.request as u\n"
              f"r=u.Request('https://{HOST}/py',headers={{'Authorization':'Bearer '+os.environ['TOKEN']}})\n"
              "print(u.urlopen(r,timeout=10).status)")
    assert world.python(sandbox, python)["stdout"] == "200\n"
    assert heard_header() == [f"Bearer {VALUE}"]
    node = (f"fetch('https://{HOST}/node',{{headers:{{authorization:'Bearer '+process.env.TOKEN}}}})"
            ".then(r=>console.log(r.status),e=>console.log(e.cause||e))")
    done = world.run(sandbox, "node", "-e", node)
    assert done["stdout"] == "200\n" and heard_header() == [f"Bearer {VALUE}"], done
    world.end(sandbox)


def test_git_over_https():
    sandbox = box(secrets=[{**SECRET, "host": "git.test.example"}])
    done = world.run(sandbox, "sh", "-c", "git ls-remote https://user:$TOKEN@git.test.example/repo.git; echo $?")
    assert done["stdout"].endswith("0\n"), done
    assert heard_header() == ["Basic " + base64.b64encode(f"user:{VALUE}".encode()).decode()], web.heard[-1]
    world.end(sandbox)


def test_every_other_place_keeps_the_placeholder():
    sandbox = box()
    word = placeholder(sandbox)
    control = curl(sandbox, '-H "Authorization: $TOKEN"', f"https://{HOST}/control")
    assert heard_header() == [VALUE], control
    for header in ("X-Api-Key", "Cookie", "User-Agent", "Referer", "X-Forwarded-For", "Proxy-Connection-Id"):
        curl(sandbox, f'-H "{header}: $TOKEN"', f"https://{HOST}/header")
        assert heard_header(header) == [word], header
    curl(sandbox, '-d "key=$TOKEN"', f"'https://{HOST}/body?q='$TOKEN")
    assert web.heard[-1]["body"] == "key=" + word and web.heard[-1]["path"].endswith(word)
    curl(sandbox, '-H "Transfer-Encoding: chunked"', '-d "$TOKEN"', f"https://{HOST}/chunked")
    assert web.heard[-1]["body"] == word
    for method in ("TRACE", "TRACK", "OPTIONS"):
        curl(sandbox, "-X", method, '-H "Authorization: $TOKEN"', f"https://{HOST}/method")
        assert heard_header() == [word], method
    world.end(sandbox)


def test_a_request_line_may_name_the_host_and_no_other():
    sandbox = box()
    authorized = '-H "Authorization: $TOKEN"'
    done = curl(sandbox, authorized, f"--request-target https://{HOST}/named", f"https://{HOST}/")
    assert heard_header() == [VALUE] and web.heard[-1]["path"] == "/named", (done, web.heard[-1])
    before = len(web.heard)
    for other in ("https://other.example/named", f"http://{HOST}/named", f"https://{HOST}:444/named"):
        done = curl(sandbox, authorized, f"--request-target {other}", f"https://{HOST}/")
        assert "other_host" in done["stdout"], (other, done)
    assert len(web.heard) == before
    world.end(sandbox)


def test_words_like_placeholders_go_nowhere():
    sandbox, other = box(), box()
    before = len(web.heard)
    # Half of it, that of another sandbox, and more of them than a request needs.
    for word, reason in ((placeholder(sandbox)[:-1], "unknown_placeholder"), (placeholder(other), "unknown_placeholder"),
                         (" ".join(["$TOKEN"] * 9), "too_many_placeholders")):
        done = curl(sandbox, f'-H "Authorization: {word}"', f"https://{HOST}/half")
        assert reason in done["stdout"] and VALUE not in done["stdout"], done
    assert len(web.heard) == before
    curl(sandbox, '-H "Authorization: $TOKEN"', f"https://{HOST}/control")
    assert heard_header() == [VALUE]
    for each in (sandbox, other):
        world.end(each)


def test_no_other_host_gets_it():
    sandbox = box()
    before = len(web.heard)
    # TLS to a host without a secret is not ended by us: its certificate is its own, and not trusted inside.
    curl(sandbox, "-k", '-H "Authorization: $TOKEN"', "https://other.test.example/x")
    assert len(web.heard) == before + 1 and heard_header() == [placeholder(sandbox)]
    # In clear, to the right host: nothing is put in.
    plain = Web(port=80)
    try:
        curl(sandbox, '-H "Authorization: $TOKEN"', f"http://{HOST}/clear")
        assert [v for k, v in plain.heard[-1]["headers"] if k == "Authorization"] == [placeholder(sandbox)]
    finally:
        plain.close()
    # The right connection and hello, another Host.
    before = len(web.heard)
    for words in (f'-H "Host: other.test.example"', f"--request-target http://other.test.example/"):
        done = curl(sandbox, words, '-H "Authorization: $TOKEN"', f"https://{HOST}/front")
        assert "other_host" in done["stdout"], done
    # The right connection, another hello or none.
    for name in ("other.test.example", ""):
        code = ("import socket,ssl,sys\n"
                f"s=socket.create_connection(('{HOST}',443),5)\n"
                "c=ssl._create_unverified_context()\n"
                "try: c.wrap_socket(s,server_hostname=sys.argv[1] or None); print('shaken')\n"
                "except OSError as e: print('refused')")
        assert world.python(sandbox, code, name)["stdout"] == "refused\n", name
        assert world.python(sandbox, code, HOST)["stdout"] == "shaken\n"
    assert len(web.heard) == before
    world.end(sandbox)


def test_an_upstream_must_prove_its_name():
    sandbox = box(f"{HOST}:443")
    web.server.socket._context = world.certificates.contexts["wrong"]
    before = len(web.heard)
    try:
        done = curl(sandbox, '-H "Authorization: $TOKEN"', f"https://{HOST}/")
        assert '"upstream_not_trusted"' in done["stdout"] and len(web.heard) == before, done
    finally:
        web.server.socket._context = world.certificates.contexts["right"]
    curl(sandbox, '-H "Authorization: $TOKEN"', f"https://{HOST}/control")
    assert heard_header() == [VALUE]
    world.end(sandbox)


def test_a_secret_that_does_not_exist():
    world.server.profile("missing", secrets=[{**SECRET, "name": "NOBODY"}],
                         network={"default": "deny", "allow": [f"{HOST}:443"]})
    answer = world.client.call("POST", "/v1/sandboxes", {"profile": "missing"})
    assert answer.status == 400 and answer.json()["fields"][0]["path"] == "/profile", answer.body


def test_secrets_wait_while_nothing_may_leave():
    """Every way to a sandbox with secrets that nothing lets out; a rule that comes later finds them in force."""
    closed, wide = {"default": "deny", "allow": []}, {"default": "deny", "allow": list(RULES)}
    never = world.client.ok("POST", "/v1/sandboxes", {"profile": profile_without_rules()})["id"]
    narrowed = box(create={"network": closed})
    opened = box()
    snapshot = world.client.ok("POST", f"/v1/sandboxes/{opened}/snapshots", {})["id"]
    world.client.ok("PUT", f"/v1/sandboxes/{opened}/network", closed)
    copies = [world.client.ok("POST", f"/v1/sandboxes/{each}/fork", {"count": 1})["items"][0]
              for each in (opened, narrowed)]
    assert all("sandbox" in copy for copy in copies), copies
    restored = world.client.ok("POST", "/v1/sandboxes", {"profile": world.last_profile, "snapshot": snapshot,
                                                         "network": closed})["id"]
    boxes = [narrowed, opened, restored] + [copy["sandbox"]["id"] for copy in copies]
    before = len(web.heard)
    send = lambda sandbox: curl(sandbox, '-H "Authorization: $TOKEN"', f"https://{HOST}/w")
    for sandbox in [never] + boxes:
        assert placeholder(sandbox).startswith("sgs_") and send(sandbox)["exit_code"] != 0
    for sandbox in boxes:
        world.client.ok("PUT", f"/v1/sandboxes/{sandbox}/network", wide)
        done = send(sandbox)
        assert heard_header() == [VALUE], (done, sandbox)
        world.client.ok("PUT", f"/v1/sandboxes/{sandbox}/network", closed)
    assert len(web.heard) == before + len(boxes)
    restart("node")
    through_proxy = f"curl -sS http://{HOST}/ -x http://127.0.0.1:3128 -o /dev/null -w '%{{http_code}}'"
    for sandbox in boxes:
        # Refused, as before, not merely without an answer.
        wait_until(lambda: world.run(sandbox, "sh", "-c", through_proxy)["stdout"] == "403", 20, "a refusal")
        # The way out is there before the node takes requests.
        wait_until(lambda: world.client.call("PUT", f"/v1/sandboxes/{sandbox}/network", wide).status == 200, 20,
                   "the new network")
        wait_until(lambda: send(sandbox) and heard_header() == [VALUE], 20, "secrets after a restart of the node")
    for sandbox in [never] + boxes:
        world.end(sandbox)


def profile_without_rules():
    world.server.profile("closed", secrets=[SECRET])
    return "closed"


def test_rotation_and_removal_reach_running_sandboxes():
    sandbox = box()
    send = lambda: curl(sandbox, '-H "Authorization: $TOKEN"', f"https://{HOST}/r") and heard_header()
    assert send() == [VALUE]
    world.client.ok("PUT", "/v1/secrets/TOKEN", {"value": "second"})
    wait_until(lambda: send() == ["second"], 10, "the new value is sent")
    assert world.client.call("DELETE", "/v1/secrets/TOKEN").status == 204
    word = placeholder(sandbox)
    # Without a secret TLS is not ended any more; the upstream's own authority is unknown inside.
    wait_until(lambda: curl(sandbox, "-k", '-H "Authorization: $TOKEN"', f"https://{HOST}/r") and
               heard_header() == [word], 10, "the value is gone")
    world.client.ok("PUT", "/v1/secrets/TOKEN", {"value": VALUE})
    wait_until(lambda: send() == [VALUE], 10, "the value is back")
    world.end(sandbox)


def test_a_value_replaced_while_its_host_is_dialled_stays_here():
    sandbox = box()
    held, go, finish = threading.Event(), threading.Event(), web.server.finish_request

    def hold_the_first(*connection):
        if not held.is_set():
            held.set()
            go.wait(30)
        finish(*connection)

    ask = lambda path: f'curl -s -m 30 -H "Authorization: $TOKEN" https://{HOST}/{path}'
    heard = lambda path: [v for h in web.heard if h["path"] == path for k, v in h["headers"] if k == "Authorization"]
    web.server.finish_request = hold_the_first
    try:
        world.run(sandbox, "sh", "-c", ask("dialled"), background=True)
        wait_until(held.is_set, 10, "the host is dialled")
        world.client.ok("PUT", "/v1/secrets/TOKEN", {"value": "second"})
        wait_until(lambda: world.run(sandbox, "sh", "-c", ask("control")) and heard("/control")[-1:] == ["second"], 10,
                   "the new value is sent")
        go.set()
        wait_until(lambda: heard("/dialled"), 10, "the first request arrives")
        assert heard("/dialled") == ["second"]
    finally:
        go.set()
        web.server.finish_request = finish
        world.client.ok("PUT", "/v1/secrets/TOKEN", {"value": VALUE})
    world.end(sandbox)


def test_restarts_bring_secrets_back():
    sandbox = box()
    send = lambda: curl(sandbox, '-H "Authorization: $TOKEN"', f"https://{HOST}/r") and heard_header()
    assert send() == [VALUE]
    old = world.egress_pid()
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: world.egress_pid() not in (None, old), 10, "a new egress process")
    wait_until(lambda: send() == [VALUE], 15, "secrets after an egress restart")
    for role in ("node", "worker"):
        restart(role)
        wait_until(lambda: send() == [VALUE], 20, "secrets after a restart of " + role)
    world.end(sandbox)


def test_paused_sandboxes_keep_nobody_waiting():
    asleep, awake = [box() for _ in range(4)], box()
    for sandbox in asleep:
        world.client.ok("POST", f"/v1/sandboxes/{sandbox}/pause", {"keep": "memory"})
    send = lambda sandbox: curl(sandbox, '-H "Authorization: $TOKEN"', f"https://{HOST}/p") and heard_header()
    assert send(awake) == [VALUE]
    world.client.ok("PUT", "/v1/secrets/TOKEN", {"value": "third"})
    wait_until(lambda: send(awake) == ["third"], 4, "the new value is sent")
    world.client.ok("PUT", "/v1/secrets/TOKEN", {"value": VALUE})
    wait_until(lambda: send(awake) == [VALUE], 4, "the value is back")
    old = world.egress_pid()
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: world.egress_pid() not in (None, old), 10, "a new egress process")
    wait_until(lambda: send(awake) == [VALUE], 10, "secrets after an egress restart")
    for sandbox in asleep:
        world.client.ok("POST", f"/v1/sandboxes/{sandbox}/resume")
        wait_until(lambda: send(sandbox) == [VALUE], 10, "secrets of one that was paused meanwhile")
    for sandbox in asleep + [awake]:
        world.end(sandbox)


def restart(role):
    before = world.server.pids(role)
    world.server.kill(role)
    wait_until(lambda: world.server.pids(role) not in ([], before), 20, "a new " + role)
    world.client.close()
    if role == "worker":
        wait_until(lambda: alive(), 20, "the API is back")


def alive():
    listen = world.server.home + "/gateway/listen"
    try:
        world.server.port = world.client.port = int(open(listen).read().strip().rsplit(":", 1)[1])
        return world.client.call("GET", "/readyz").status == 200
    except (OSError, ValueError):
        world.client.close()
        return False


def test_the_value_is_nowhere_it_should_not_be():
    sandbox = box()
    curl(sandbox, '-H "Authorization: $TOKEN"', f"https://{HOST}/x")
    assert heard_header() == [VALUE]
    found = subprocess.run(["grep", "-rlF", VALUE, world.server.home], capture_output=True, text=True).stdout
    assert not found, found
    inside = world.run(sandbox, "sh", "-c", f"grep -rlsF '{VALUE[:10]}''{VALUE[10:]}' /tmp /home /etc /var /proc/[0-9]*/environ; true")
    assert inside["stdout"] == "", inside
    # The control: the egress process has it, and only it.
    assert VALUE.encode() in memory_of(world.egress_pid())
    assert VALUE.encode() not in memory_of(world.server.pids("node")[0])
    for path in ("/v1/secrets", "/v1/audit", f"/v1/sandboxes/{sandbox}/network", "/v1/profiles"):
        assert VALUE.encode() not in world.client.call("GET", path).body, path
    # The authority's key is not inside either.
    bundle = world.run(sandbox, "cat", "/tmp/.sandgate/authorities.pem")["stdout"]
    assert "BEGIN CERTIFICATE" in bundle and "PRIVATE" not in bundle
    world.end(sandbox)


def memory_of(pid):
    out = bytearray()
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            span, access = line.split()[:2]
            begin, end = (int(part, 16) for part in span.split("-"))
            if "rw" not in access or end - begin > 64 << 20:
                continue
            try:
                memory.seek(begin)
                out += memory.read(end - begin)
            except (OSError, ValueError):
                pass
    return bytes(out)


def test_roles_and_tenants():
    viewer, developer = world.server.key(world.tenant, "viewer"), world.server.key(world.tenant, "developer")
    assert viewer.call("PUT", "/v1/secrets/X", {"value": "v"}).status == 403
    assert developer.call("PUT", "/v1/secrets/X", {"value": "v"}).status == 204
    _, stranger = world.server.tenant("stranger")
    assert stranger.ok("GET", "/v1/secrets")["items"] == []
    answer = stranger.call("POST", "/v1/sandboxes", {"profile": world.last_profile})
    assert answer.status == 400 and answer.json()["fields"][0]["path"] == "/profile", answer.body


if __name__ == "__main__":
    require_root()
    require_port_443()
    world = World()
    web = Web(443, world.certificates.contexts["right"], Echoing)
    world.run_tests(globals(), lambda: world.client.ok("PUT", "/v1/secrets/TOKEN", {"value": VALUE}))
