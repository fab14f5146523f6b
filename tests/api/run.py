#!/usr/bin/env python3
"""Runs the .http cases beside this file against the real program.

    SANDGATE_BINARY=build/gateway/sandgate tests/api/run.py [files or words of case names]

Starts a server of its own, makes tenants and keys of every role, sends each case and compares the
answer with the case and with docs/openapi.yaml. Ends with "N passed, N failed, N skipped"; exit code
0, 1 for failures, 77 when nothing could run.
"""
import glob
import os
import re
import secrets
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "support")]
sys.dont_write_bytecode = True

try:
    import case_file
    import matching
    import server as servers
    from contract import Contract
except ImportError as missing:
    print(f"skipped: {missing} (Debian: python3-yaml python3-jsonschema)")
    sys.exit(77)

ROLES = ["owner", "admin", "developer", "billing", "viewer"]
PROFILE = {"isolation": "process", "image": "debian-12", "ttl_seconds": 300,
           "resources": {"vcpu": 0.5, "memory_mib": 128, "disk_gib": 1, "processes": 64},
           "limits": {"max_vcpu": 1, "max_memory_mib": 256, "max_ttl_seconds": 600},
           "network": {"default": "deny"}}


class Session:
    """A running server, who calls it, and what cases remembered."""

    def __init__(self, server):
        self.contract = Contract(os.path.join(ROOT, "docs", "openapi.yaml"))
        self.clients = {"operator": server.operator(), "nobody": servers.Client(server.host, server.port)}
        tenant, self.clients["owner"] = server.tenant("cases")
        for role in ROLES[1:]:
            self.clients[role] = server.key(tenant, role)
        other, self.clients["other"] = server.tenant("others", "developer")
        server.profile("case", **PROFILE)
        self.names = {"tenant": tenant, "other_tenant": other, "profile": "case",
                      "developer_key": self.clients["developer"].key,
                      "operator_key": self.clients["operator"].key}
        self.local = self.can_create()

    def can_create(self):
        client = self.clients["developer"]
        answer = client.call("POST", "/v1/sandboxes", {"profile": "case"})
        if answer.status != 201:
            print(f"no sandbox can be started here: {answer.body[:500].decode(errors='replace')}")
            return False
        box = answer.json()["id"]
        self.names["box"] = box
        return True

    def fill(self, text):
        def value(match):
            if match.group(1) not in self.names:
                raise KeyError("{{" + match.group(1) + "}} was not captured")
            return self.names[match.group(1)]
        return re.sub(r"\{\{(\w+)\}\}", value, text)

    def send(self, case):
        body = case.body
        if body is not None and b"{{" in body:
            body = self.fill(body.decode()).encode()
        headers = {name: self.fill(value) for name, value in case.headers}
        if body is not None and "Content-Type" not in headers:
            headers["Content-Type"] = "application/json"
        return self.clients[case.caller].call(case.method, self.fill(case.target), raw=body,
                                              headers=headers)

    def remember(self, word, rest, answer):
        name, source = rest.split()
        self.names[name] = (answer.headers[source] if word == "header-capture"
                            else str(matching.at(answer.json(), source)))

    def end_sandboxes(self):
        for caller in ("owner", "other"):
            client = self.clients[caller]
            for state in ("creating", "running", "paused", "stopping"):
                for box in client.ok("GET", f"/v1/sandboxes?limit=100&state={state}")["items"]:
                    client.call("DELETE", "/v1/sandboxes/" + box["id"])

    def run(self, case):
        """The list of what is wrong."""
        for name in case.fresh:
            self.names[name] = "n" + secrets.token_hex(5)
        answer = self.send(case)
        statuses = case.expect[0][0].split("|")
        if str(answer.status) not in statuses:
            return [f"status {answer.status} instead of {case.expect[0][0]}: {answer.body[:600]!r}"]
        path = self.fill(case.target).split("?")[0]
        wrong = self.contract.problems(case.method, path, answer.status, answer.headers, answer.body)
        for word, rest in case.expect[1:]:
            if word.endswith("capture"):
                self.remember(word, rest, answer)
            else:
                wrong += matching.check(word, self.fill(rest), answer)
        return wrong


def all_cases(words):
    for path in sorted(glob.glob(os.path.join(HERE, "*.http"))):
        name = os.path.basename(path)
        cases = case_file.read(path, name)
        # A file's cases build on each other, so a file is run whole or not at all.
        if not words or any(word in name or any(word in case.name for case in cases) for word in words):
            yield from cases


def attempt(session, case):
    try:
        return session.run(case)
    except Exception as failure:  # a case that cannot even be sent is a failed case
        return [f"{type(failure).__name__}: {failure}"]


def run_all(session, cases):
    passed = failed = skipped = 0
    for case in cases:
        if "local" in case.needs and not session.local:
            skipped += 1
            print(f"SKIP {case.where()}: no sandbox can be started here")
            continue
        wrong = attempt(session, case)
        if wrong:
            failed += 1
            print(f"FAIL {case.where()}\n     {case.method} {case.target}")
            for line in wrong:
                print(f"     {line}")
        else:
            passed += 1
    built = {operation["operationId"] for path in session.contract.document["paths"].values()
             for method, operation in path.items() if method != "parameters"}
    missed = sorted(built - session.contract.used)
    if missed:
        print("operations that no case calls: " + ", ".join(missed))
    return passed, failed, skipped


def main():
    cases = list(all_cases(sys.argv[1:]))
    binary = os.environ.get("SANDGATE_BINARY", os.path.join(ROOT, "build", "gateway", "sandgate"))
    if not os.access(binary, os.X_OK):
        print(f"skipped: {binary} is not built")
        return 77
    servers.ensure_image(binary)
    server = servers.Server(binary)
    try:
        server.start()
        session = Session(server)
        passed, failed, skipped = run_all(session, cases)
        session.end_sandboxes()
        if failed:
            print("the server's last lines:\n" + server.log()[-3000:])
    finally:
        server.close()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
