#!/usr/bin/env python3
"""What no published client sends: other tenants' tokens, hostile messages, hosts, keys of every role."""
import base64
import hashlib
import json
import threading
import time
import unittest
import urllib.parse

import world
from world import envelope, messages

STREAM = {"Content-Type": "application/connect+json"}


class Wire(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.here = world.World()
        cls.addClassCleanup(cls.here.server.close)
        cls.box = cls.here.box(timeout=600)
        cls.id, cls.token = cls.box["sandboxID"], cls.box["envdAccessToken"]
        made = cls.here.control("POST", "/v2/sandboxes", {"templateID": "base", "timeout": 600}, cls.here.stranger)
        cls.foreign = made.json()

    def stream(self, method, body, headers=None):
        return self.here.data("POST", "/process.Process/" + method, self.id, self.token, body, {**STREAM, **(headers or {})})

    def run_line(self, line):
        answer = self.stream("Start", envelope({"process": {"cmd": "/bin/sh", "args": ["-c", line]}, "stdin": False}))
        found = messages(answer.body)
        text = b"".join(base64.b64decode(part) for _, one in found
                        for part in one.get("event", {}).get("data", {}).values())
        return text.decode(), found

    def test_a_stream_begins_with_its_start_and_ends_with_its_end(self):
        text, found = self.run_line("echo hi; exit 2")
        self.assertEqual(text, "hi\n")
        self.assertIn("start", found[0][1]["event"])
        self.assertEqual(found[-2][1]["event"]["end"]["exitCode"], 2)
        self.assertEqual(found[-1], (2, {}))

    def test_nobody_else_gets_in(self):
        call = lambda token, box: self.here.rpc("filesystem.Filesystem/Stat", {"path": "."}, box, token)
        self.assertEqual(call(self.token, self.id).status, 200)
        foreign_id, foreign_token = self.foreign["sandboxID"], self.foreign["envdAccessToken"]
        for token, box in ((None, self.id), ("", self.id), (foreign_token, self.id), (self.token, foreign_id),
                           ("0" * 64, self.id), (self.token, "sb" + "0" * 24), (self.token, "nonsense"),
                           ("0" * 64, None), ("nonsense", None), (None, None), (self.here.client.key, self.id), (self.token.upper(), self.id)):
            answer = call(token, box)
            self.assertEqual((answer.status, answer.json()["code"]), (401, "unauthenticated"), (token, box))
            files = self.here.data("GET", "/files?path=x", box, token)
            self.assertEqual((files.status, files.json()["code"]), (401, 401), (token, box))
        # A key is for the control plane, a token for one data plane.
        self.assertEqual(self.here.data("GET", "/v1/sandboxes", self.id, self.token).status, 404)
        keyed = self.here.data("GET", "/files?path=x", self.id, headers={"X-API-Key": self.here.client.key})
        self.assertEqual(keyed.status, 401)
        told = self.here.control("GET", "/sandboxes", headers={"X-API-Key": self.token, "X-Access-Token": self.token})
        self.assertEqual((told.status, told.json()["code"]), (401, 401))

    def test_a_token_alone_names_its_sandbox(self):
        """As older clients send it."""
        self.here.rpc("filesystem.Filesystem/MakeDir", {"path": "/home/user/of-the-first"}, self.id, self.token)
        stat = lambda token: self.here.rpc("filesystem.Filesystem/Stat", {"path": "/home/user/of-the-first"}, None, token)
        self.assertEqual((stat(self.token).status, stat(self.foreign["envdAccessToken"]).status), (200, 404))
        write = self.here.data("POST", "/files?path=alone", None, self.token, b"alone", {"Content-Type": "application/octet-stream"})
        self.assertEqual(write.status, 200, write.body)
        self.assertEqual(self.here.data("GET", "/files?path=alone", self.id, self.token).body, b"alone")
        made = self.here.box(timeout=60)
        health = lambda token: self.here.data("GET", "/health", None, token).status
        self.assertEqual((health(made["envdAccessToken"]), health("0" * 64), health(None)), (204, 502, 400))
        self.assertEqual(self.here.control("DELETE", "/sandboxes/" + made["sandboxID"]).status, 204)
        self.assertEqual(health(made["envdAccessToken"]), 502)

    def test_what_the_profile_says_is_that_of_the_version_which_is_taken(self):
        operator = self.here.server.operator()
        for action in ("kill", "pause"):
            self.here.server.profile("turning", on_expiry=action)
        operator.ok("PUT", "/v1/profiles/turning/channels/stable",
                    {"version": 1, "canary": {"version": 2, "percent": 50}})
        bucket = lambda session: int(hashlib.sha256(session.encode()).hexdigest()[:8], 16) % 100
        stable = next(f"s{i}" for i in range(100) if bucket(f"s{i}") >= 50)
        canary = next(f"s{i}" for i in range(100) if bucket(f"s{i}") < 50)
        create = lambda session, pauses: self.here.control(
            "POST", "/v2/sandboxes", {"templateID": "turning", "autoPause": pauses, "metadata": {"session": session}})
        for _ in range(8):
            for session, pauses in ((stable, True), (canary, False)):
                answer = create(session, pauses)
                self.assertEqual(answer.status, 400, answer.body)
                self.assertIn("autoPause", answer.json()["message"])
        made = create(stable, False)
        self.assertEqual(made.status, 201, made.body)
        self.here.control("DELETE", "/sandboxes/" + made.json()["sandboxID"])

    def test_what_is_no_message_is_refused(self):
        good = {"process": {"cmd": "true"}}
        for body, code in ((envelope(good, flags=1), "unimplemented"), (envelope(good, flags=2), "invalid_argument"),
                           (envelope(good, flags=128), "invalid_argument"),
                           (envelope(good, length=0xFFFFFFFF), "invalid_argument"),
                           (envelope(good, length=3), "invalid_argument"), (b"", "invalid_argument"),
                           (envelope(good)[:4], "invalid_argument"), (envelope(good) * 2, "invalid_argument"),
                           (envelope(b"[1]"), "invalid_argument"), (envelope(b"\xff"), "invalid_argument"),
                           (envelope({}), "invalid_argument"),
                           (envelope(b"[" * 100_000), "invalid_argument")):
            answer = self.stream("Start", body)
            self.assertEqual(answer.status, 200, body[:40])
            (flags, told), = messages(answer.body)
            self.assertEqual((flags, told["error"]["code"]), (2, code), body[:40])
        compressed = self.stream("Start", envelope(good), {"Connect-Content-Encoding": "gzip"})
        self.assertEqual(messages(compressed.body)[0][1]["error"]["code"], "unimplemented")
        large = self.stream("Start", envelope({"process": {"cmd": "x" * (25 << 20)}}))
        self.assertEqual(messages(large.body)[0][1]["error"]["code"], "invalid_argument")
        binary = self.here.data("POST", "/process.Process/List", self.id, self.token, b"\x0a\x01a",
                                {"Content-Type": "application/proto"})
        self.assertEqual((binary.status, binary.json()["code"]), (501, "unimplemented"))
        self.assertEqual(self.here.rpc("process.Process/StreamInput", {}, self.id, self.token).status, 501)
        for body in (envelope({"data": {}}), envelope({"start": {}}), envelope({"start": {}})[:7],
                     envelope(b"", length=(4 << 20) + 1)):
            answer = self.stream("StreamInput", body)
            self.assertEqual(messages(answer.body)[0][1]["error"]["code"], "invalid_argument", body)

    def test_a_path_with_a_nul_is_refused_in_the_clients_format(self):
        for path in ("/files?path=a%00b", "/files?path=%zz", "/%zz"):
            answer = self.here.data("GET", path, self.id, self.token)
            self.assertEqual((answer.status, answer.json()["code"]), (400, 400), answer.body)
            self.assertIn("message", answer.json())
        other = self.here.data("BREW", "/files?path=x", self.id, self.token)
        self.assertEqual((other.status, other.json()["code"]), (405, 405))

    def test_a_move_says_which_of_its_paths_is_wrong(self):
        for message in ({"destination": "b"}, {"source": "a\0", "destination": "b"}):
            answer = self.here.rpc("filesystem.Filesystem/Move", message, self.id, self.token)
            self.assertEqual(answer.json()["code"], "invalid_argument")
            self.assertTrue(answer.json()["message"].startswith("/source: "), answer.body)

    def test_uploads_that_are_not_whole_leave_nothing(self):
        send = lambda body, kind: self.here.data("POST", "/files", self.id, self.token, body, {"Content-Type": kind})
        kind = "multipart/form-data; boundary=XX"
        head = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="cut"\r\n\r\n'
        for body in (b"", head + b"abc", b"--XX\r\nX: " + b"x" * 100_000, b"--XX\r\n\r\nabc\r\n--XX--"):
            answer = send(body, kind)
            self.assertEqual((answer.status, answer.json()["code"]), (400, 400), body[:60])
        self.assertEqual(send(head + b"abc", "multipart/form-data").status, 400)
        self.assertEqual(send(b"abc", "application/octet-stream").status, 400)
        self.assertEqual(self.here.data("GET", "/files?path=cut", self.id, self.token).status, 404)
        twice = self.here.data("POST", "/files?path=one", self.id, self.token, (head + b"abc\r\n") * 2 + b"--XX--\r\n",
                               {"Content-Type": kind})
        self.assertEqual((twice.status, twice.json()["message"].split(":")[0]), (400, "/path"))
        whole = send(head + b"abc\r\n--XX--\r\n", kind)
        self.assertEqual(whole.json(), [{"name": "cut", "path": "/home/user/cut", "type": "file"}])
        precious = self.here.data("POST", '/files?path=' + urllib.parse.quote('a"b'), self.id, self.token, b"precious",
                                  {"Content-Type": "application/octet-stream"})
        self.assertEqual(precious.status, 200)
        named = send(head.replace(b"cut", b"a%22b") + b"new\r\n--XX--\r\n", kind)
        self.assertEqual(named.json()[0]["path"], "/home/user/a%22b")
        kept = self.here.data("GET", "/files?path=" + urllib.parse.quote('a"b'), self.id, self.token)
        self.assertEqual(kept.body, b"precious")
        part = self.here.data("GET", "/files?path=cut", self.id, self.token, headers={"Range": "bytes=1-"})
        self.assertEqual((part.status, part.body), (206, b"bc"))

    def test_a_tag_names_a_process(self):
        start = envelope({"process": {"cmd": "/bin/sh", "args": ["-c", "read a; echo got $a"]}, "tag": "mine"})
        heard = []
        follow = threading.Thread(target=lambda: heard.append(self.stream("Start", start)))
        follow.start()
        send = {"process": {"tag": "mine"}, "input": {"stdin": base64.b64encode(b"it\n").decode()}}
        limit = time.monotonic() + 20
        while (answer := self.here.rpc("process.Process/SendInput", send, self.id, self.token)).status == 404:
            self.assertLess(time.monotonic(), limit, [one.body for one in heard])
            time.sleep(0.02)
        self.assertEqual(answer.status, 200, answer.body)
        follow.join(20)
        self.assertIn(base64.b64encode(b"got it\n").decode(), heard[0].body.decode("latin1"))

    def test_a_deadline_ends_the_command(self):
        answer = self.stream("Start", envelope({"process": {"cmd": "sleep", "args": ["600"]}}), {"Connect-Timeout-Ms": "300"})
        self.assertEqual(messages(answer.body)[-1][1]["error"]["code"], "deadline_exceeded")
        listed = self.here.rpc("process.Process/List", {}, self.id, self.token).json()["processes"]
        self.assertEqual([one for one in listed if one["config"]["cmd"] == "sleep"], [])

    def test_silence_is_filled(self):
        answer = self.stream("Start", envelope({"process": {"cmd": "sleep", "args": ["2.5"]}}), {"Keepalive-Ping-Interval": "1"})
        self.assertTrue(any("keepalive" in one.get("event", {}) for _, one in messages(answer.body)))

    def test_watchers_wait_to_be_asked(self):
        call = lambda method, message: self.here.rpc("filesystem.Filesystem/" + method, message, self.id, self.token)
        call("MakeDir", {"path": "watched"})
        watcher = call("CreateWatcher", {"path": "watched"}).json()["watcherId"]
        self.run_line("echo x > watched/new")
        limit, seen = time.monotonic() + 20, []
        while not any(one["type"] == "EVENT_TYPE_CREATE" and one["name"] == "new" for one in seen):
            self.assertLess(time.monotonic(), limit, seen)
            seen += call("GetWatcherEvents", {"watcherId": watcher}).json()["events"]
        foreign = self.here.rpc("filesystem.Filesystem/GetWatcherEvents", {"watcherId": watcher},
                                self.foreign["sandboxID"], self.foreign["envdAccessToken"])
        self.assertEqual(foreign.status, 404)
        self.assertEqual(call("RemoveWatcher", {"watcherId": watcher}).status, 200)
        self.assertEqual(call("GetWatcherEvents", {"watcherId": watcher}).status, 404)
        made = [call("CreateWatcher", {"path": "watched"}) for _ in range(17)]
        self.assertEqual((made[15].status, made[16].status), (200, 429))

    def test_hosts_lead_to_the_data_plane_and_to_ports(self):
        client = self.here.server.operator()
        client.key = None
        host = lambda port: {"Host": f"{port}-{self.id}.{world.DOMAIN}"}
        self.assertEqual(client.call("GET", "/health", headers=host(49983)).status, 204)
        self.assertEqual(client.call("GET", "/files?path=x", headers=host(49983)).status, 401)
        there = client.call("GET", "/files?path=/etc/hostname", headers={**host(49983), "X-Access-Token": self.token})
        self.assertEqual(there.status, 200)
        self.stream("Start", envelope({"process": {"cmd": "/bin/sh", "args": [
            "-c", "echo page > index.html; python3 -m http.server 8123 >/dev/null 2>&1 &"]}, "stdin": False}))
        limit = time.monotonic() + 30
        while (page := client.call("GET", "/index.html", headers=host(8123))).status != 200:
            self.assertLess(time.monotonic(), limit, page.body)
            time.sleep(0.1)
        self.assertEqual(page.body, b"page\n")
        closed = self.here.box(timeout=60, network={"allowPublicTraffic": False})["sandboxID"]
        answer = client.call("GET", "/", headers={"Host": f"8123-{closed}.{world.DOMAIN}"})
        self.assertEqual(answer.status, 404)
        older = {"Host": f"49983-{self.id}-{self.box['clientID']}.{world.DOMAIN}", "X-Access-Token": self.token}
        self.assertEqual(client.call("GET", "/files?path=/etc/hostname", headers=older).status, 200)
        other = self.here.data("GET", "/", self.id, self.token, headers={"E2b-Sandbox-Port": "49999"})
        self.assertIn(other.status, (401, 404, 502))

    def test_a_domain_has_its_control_plane(self):
        client = self.here.server.operator()
        client.key = None
        headers = {"Host": f"api.{world.DOMAIN}", "X-API-Key": world.World.spelled(self.here.client)}
        listed = client.call("GET", "/v2/sandboxes?limit=100", headers=headers)
        self.assertEqual(listed.status, 200)
        self.assertIn(self.id, [one["sandboxID"] for one in listed.json()])
        for query, told in (("limit=1", True), ("limit=1&state=running", True), ("state=paused", False)):
            total = client.call("GET", "/v2/sandboxes?" + query, headers=headers).headers["X-Total-Running"]
            self.assertEqual(total is not None and int(total) >= 1, told, query)
        gone = client.call("GET", "/sandboxes/nothing", headers=headers)
        self.assertEqual((gone.status, gone.json()["code"]), (404, 404))
        self.assertEqual(client.call("GET", "/v1/sandboxes", headers=headers).status, 422)
        self.assertEqual(client.call("GET", "/sandboxes", headers={"Host": headers["Host"]}).status, 401)

    def test_older_clients_append_the_clients_id(self):
        made = self.here.box(timeout=60)
        one = f"/sandboxes/{made['sandboxID']}-{made['clientID']}"
        self.assertEqual(self.here.control("GET", one).json()["sandboxID"], made["sandboxID"])
        self.assertEqual(self.here.control("POST", one + "/timeout", {"timeout": 90}).status, 204)
        self.assertEqual(self.here.control("POST", one + "/refreshes", {"duration": 30}).status, 204)
        self.assertEqual(self.here.control("DELETE", one).status, 204)
        self.assertEqual(self.here.control("DELETE", one).status, 404)

    def test_what_is_not_offered_is_not_missing(self):
        for method, path in (("POST", "/v3/templates"), ("POST", "/templates/tags"), ("DELETE", "/templates/tags"),
                             ("GET", "/templates/base/tags"), ("PATCH", "/v2/templates/base"), ("GET", "/volumes"),
                             ("PUT", "/volumecontent/x/file?path=y"), ("GET", "/secrets"), ("GET", "/sandboxes/metrics"),
                             ("GET", f"/v2/sandboxes/{self.id}/logs")):
            answer = self.here.control(method, path, {} if method in ("POST", "PUT", "PATCH") else None)
            self.assertEqual((answer.status, answer.json()["code"]), (422, 422), path)
            self.assertIn("not offered here", answer.json()["message"])
        self.assertEqual(self.here.control("GET", "/templates/aliases/base").json(), {"templateID": "base", "public": True})
        for name in ("nothing", "base:nothing", "no%20reference"):
            self.assertEqual(self.here.control("GET", "/templates/aliases/" + name).status, 404, name)

    def test_v1_shows_that_a_paused_one_waits_no_longer_once_resumed(self):
        made = self.here.box(timeout=600)
        path = "/v1/sandboxes/" + made["sandboxID"]
        self.assertEqual(self.here.control("POST", f"/sandboxes/{made['sandboxID']}/pause", {}).status, 204)
        self.assertEqual(self.here.control("POST", f"/sandboxes/{made['sandboxID']}/pause", {}).status, 409)
        detail = self.here.control("GET", "/sandboxes/" + made["sandboxID"]).json()
        self.assertEqual((detail["state"], detail["lifecycle"]["onTimeout"]), ("paused", "kill"))
        # Older clients' connect sets the time, and resumes what answers 404 to that.
        for call, body in (("timeout", {"timeout": 300}), ("refreshes", {"duration": 300})):
            told = self.here.control("POST", f"/sandboxes/{made['sandboxID']}/{call}", body)
            self.assertEqual((told.status, told.json()["code"]), (404, 404), call)
        self.assertEqual(self.here.client.ok("POST", path + "/resume", {})["state"], "running")
        self.here.client.ok("POST", path + "/extend", {"ttl_seconds": 1})
        limit = time.monotonic() + 20
        while self.here.client.ok("GET", path)["state"] != "stopped":
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.2)

    def test_a_signature_is_for_one_path_and_way(self):
        def sign(path, way, expiration="", token=self.token):
            text = f"{path}:{way}::{token}" + (f":{expiration}" if expiration else "")
            return "v1_" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")

        def get(path, signature, expiration="", method="GET"):
            query = {"path": path, "signature": signature} | ({"signature_expiration": expiration} if expiration else {})
            return self.here.data(method, "/files?" + urllib.parse.urlencode(query))
        self.run_line("echo signed > signed")
        later = str(int(time.time()) + 60)
        self.assertEqual(get("signed", sign("signed", "read")).body, b"signed\n")
        self.assertEqual(get("signed", sign("signed", "read", later), later).status, 200)
        for answer in (get("other", sign("signed", "read")), get("signed", sign("signed", "write")),
                       get("signed", sign("signed", "read", later), str(int(later) + 1)),
                       get("signed", sign("signed", "read", later)), get("signed", sign("signed", "read", "1"), "1"),
                       get("signed", sign("signed", "read", "x"), "x"),
                       get("signed", sign("signed", "read", token="0" * 64)), get("signed", "")):
            self.assertEqual((answer.status, answer.json()["code"]), (401, 401))

    def test_pages_use_signed_addresses_and_nothing_else(self):
        def sign(way):
            text = f"page:{way}::{self.token}"
            return "v1_" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")

        def ask(method, query, body=None, headers=None):
            sent = {"Origin": "https://app.example.com", **(headers or {})}
            return self.here.data(method, "/files?" + urllib.parse.urlencode(query), body=body, headers=sent)

        preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
        write, read = ({"path": "page", "signature": sign(way)} for way in ("write", "read"))
        wrong = {"path": "page", "signature": "wrong"}
        for query in (write, wrong):
            allowed = ask("OPTIONS", query, headers=preflight)
            self.assertEqual((allowed.status, allowed.headers["Access-Control-Allow-Origin"]), (204, "*"))
            self.assertIn("POST", allowed.headers["Access-Control-Allow-Methods"])
            self.assertEqual(allowed.headers["Access-Control-Allow-Headers"], "*")
        form = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nabc\r\n--XX--\r\n'
        kind = {"Content-Type": "multipart/form-data; boundary=XX"}
        for answer, status in ((ask("POST", write, form, kind), 200), (ask("GET", read), 200), (ask("GET", wrong), 401)):
            self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (status, "*"))
            self.assertIsNone(answer.headers["Access-Control-Allow-Credentials"])
        unsigned = ask("OPTIONS", {"path": "page"}, headers=preflight)
        tokened = ask("GET", {"path": "page"}, headers={"E2b-Sandbox-Id": self.id, "X-Access-Token": self.token})
        control = self.here.control("OPTIONS", "/sandboxes", headers={"Origin": "https://app.example.com", **preflight})
        self.assertEqual((unsigned.status, tokened.status), (405, 200))
        for answer in (unsigned, tokened, control):
            self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])

    def test_looking_shows_no_way_in(self):
        viewer = self.here.server.key(self.here.tenant, "viewer")
        seen = self.here.control("GET", "/sandboxes/" + self.id, client=viewer)
        self.assertEqual(seen.status, 200)
        self.assertNotIn("envdAccessToken", seen.json())
        for method, path in (("POST", f"/sandboxes/{self.id}/connect"), ("DELETE", f"/sandboxes/{self.id}"),
                             ("POST", f"/sandboxes/{self.id}/pause"), ("POST", "/sandboxes")):
            answer = self.here.control(method, path, {} if method == "POST" else None, client=viewer)
            self.assertEqual((answer.status, answer.json()["code"]), (403, 403), path)

    def test_a_repeated_create_is_answered_once_more(self):
        key = {"Idempotency-Key": "again-" + str(time.time())}
        body = {"templateID": "base", "timeout": 60}
        first = self.here.control("POST", "/sandboxes", body, headers=key)
        second = self.here.control("POST", "/sandboxes", body, headers=key)
        self.assertEqual((first.status, first.json()), (second.status, second.json()))
        self.assertEqual(self.here.control("DELETE", "/sandboxes/" + first.json()["sandboxID"]).status, 204)

    def test_a_token_of_an_account_beside_the_key_is_ignored(self):
        """Older clients send what E2B_ACCESS_TOKEN holds."""
        listed = lambda token: self.here.control("GET", "/v2/sandboxes", headers={"Authorization": "Bearer " + token})
        self.assertIn(self.id, [one["sandboxID"] for one in listed("sk_e2b_" + "0" * 40).json()])
        self.assertEqual(listed("sg_" + "0" * 40).status, 401)

    def test_the_suspended_start_nothing(self):
        tenant, client = self.here.server.tenant("held", "developer")
        made = self.here.control("POST", "/sandboxes", {"templateID": "base", "timeout": 60}, client).json()
        operator = self.here.server.operator()
        operator.ok("PATCH", "/v1/tenants/" + tenant, {"suspended": True})
        answer = self.here.rpc("process.Process/List", {}, made["sandboxID"], made["envdAccessToken"])
        self.assertEqual((answer.status, answer.json()["code"]), (403, "permission_denied"))
        operator.ok("PATCH", "/v1/tenants/" + tenant, {"suspended": False})

    def test_what_ended_answers_as_a_proxy_would(self):
        made = self.here.box(timeout=60)
        box, token = made["sandboxID"], made["envdAccessToken"]
        self.assertEqual(self.here.control("DELETE", "/sandboxes/" + box).status, 204)
        gone = self.here.control("DELETE", "/sandboxes/" + box)
        self.assertEqual((gone.status, gone.json()["code"]), (404, 404))
        for verb in ("snapshots", "fork", "pause", "timeout", "connect"):
            gone = self.here.control("POST", f"/sandboxes/{box}/{verb}", {})
            self.assertEqual((verb, gone.status, gone.json()["code"]), (verb, 404, 404))
        for answer in (self.here.data("GET", "/health", box), self.here.rpc("process.Process/List", {}, box, token),
                       self.here.data("GET", "/files?path=x", box, token),
                       self.here.data("POST", "/process.Process/Start", box, token, envelope({"process": {"cmd": "a"}}), STREAM)):
            self.assertEqual((answer.status, answer.json()["message"]), (502, "The sandbox was not found"))

    def test_v1_sees_the_same_sandbox(self):
        seen = self.here.client.ok("GET", "/v1/sandboxes/" + self.id)
        self.assertEqual((seen["state"], seen["profile"]["name"]), ("running", "base"))

    def test_v1_sees_that_every_port_is_open_and_closes_it(self):
        box = self.here.box(timeout=60)["sandboxID"]
        ports = f"/v1/sandboxes/{box}/ports"
        (every,) = self.here.client.ok("GET", ports)["items"]
        self.assertEqual((every["port"], every["access"], every["token"]), (0, "public", None))
        self.assertIn(f"://{{port}}-{box}.{world.DOMAIN}", every["url"])
        outside = self.here.server.operator()
        outside.key = None
        ask = lambda: outside.call("GET", "/", headers={"Host": f"8123-{box}.{world.DOMAIN}"}).status
        self.assertEqual(ask(), 503)
        self.assertEqual(self.here.client.call("DELETE", ports + "/0").status, 204)
        self.assertEqual(self.here.client.call("DELETE", ports + "/0").status, 404)
        self.assertEqual((ask(), self.here.client.ok("GET", ports)["items"]), (404, []))


if __name__ == "__main__":
    world.need_root()
    unittest.main(warnings="ignore")
