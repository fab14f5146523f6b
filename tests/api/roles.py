#!/usr/bin/env python3
"""Every operation of docs/openapi.yaml against every role: who is let in, who is told 403, who is told
401; and every path against the methods it does not have. An operation that the document lacks, or a new
one of which no line of TABLE says whom it is for, fails here.

    tests/api/roles.py [--print]     prints the table as it is answered
"""
import fnmatch
import http.client
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "support")]
sys.dont_write_bytecode = True

try:
    import yaml
    import server as servers
except ImportError as missing:
    print(f"skipped: {missing} (Debian: python3-yaml)")
    sys.exit(77)

ROLES = ["owner", "admin", "developer", "billing", "viewer", "operator"]
EVERYBODY, READERS = "no key", "owner admin developer viewer operator"
KEYS = "owner admin developer billing viewer operator"
MAKERS, HEADS = "owner admin developer operator", "owner admin operator"
MONEY, MONEY_READERS = "owner admin billing operator", "owner admin billing viewer operator"
OPERATOR = "operator"
# The first line that fits counts. Wildcards match slashes too.
TABLE = [
    ("GET", "/", EVERYBODY), ("GET", "/healthz", EVERYBODY), ("GET", "/readyz", EVERYBODY),
    ("GET", "/version", EVERYBODY), ("GET", "/metrics", EVERYBODY), ("GET", "/openapi.json", EVERYBODY),
    # Both start or feed a program.
    ("GET", "/v1/sandboxes/{id}/processes/{pid}/attach", MAKERS), ("GET", "/v1/sandboxes/{id}/terminal", MAKERS),
    # What a tool may do is judged tool by tool.
    ("*", "/mcp", READERS),
    ("GET", "/v1/sandboxes*", READERS), ("*", "/v1/sandboxes*", MAKERS),
    ("GET", "/v1/snapshots*", READERS), ("*", "/v1/snapshots*", MAKERS),
    # Both ask and change nothing.
    ("POST", "/v1/profiles/{name}/explain", READERS), ("POST", "/v1/routing/simulate", READERS),
    ("GET", "/v1/profiles*", READERS), ("*", "/v1/profiles*", MAKERS),
    ("GET", "/v1/providers", READERS), ("GET", "/v1/descriptor", READERS),
    ("GET", "/v1/deployments*", READERS), ("*", "/v1/deployments*", HEADS),
    ("GET", "/v1/secrets*", READERS), ("*", "/v1/secrets*", MAKERS),
    # The address of a receiver is often a secret.
    ("*", "/v1/webhooks*", HEADS), ("GET", "/v1/events", KEYS),
    ("*", "/v1/keys*", HEADS), ("GET", "/v1/audit", HEADS),
    ("GET", "/v1/tenants/{id}/budgets*", MONEY_READERS), ("GET", "/v1/tenants*", KEYS), ("*", "/v1/tenants*", OPERATOR),
    ("GET", "/v1/usage*", KEYS),
    ("GET", "/v1/prices*", MONEY_READERS), ("*", "/v1/prices*", OPERATOR),
    ("POST", "/v1/invoices/{id}/issue", OPERATOR), ("POST", "/v1/invoices/{id}/credit-notes", OPERATOR),
    ("POST", "/v1/invoices", MONEY),
    ("GET", "/v1/invoices*", MONEY_READERS), ("GET", "/v1/ledger*", MONEY_READERS),
    ("POST", "/v1/reconciliations", OPERATOR), ("*", "/v1/exports*", OPERATOR),
]
# Ids that are well formed and belong to nobody.
NAMES = {"id": "sb" + "0" * 24, "pid": "pr" + "0" * 24, "name": "nobody", "channel": "stable", "book": "nobody",
         "port": "8080", "rest": "x"}


def operations():
    document = yaml.safe_load(open(os.path.join(ROOT, "docs", "openapi.yaml")))
    for path, methods in document["paths"].items():
        for method in methods:
            if method != "parameters":
                yield method.upper(), path


def filled(path):
    for name, value in NAMES.items():
        path = path.replace("{" + name + "}", value)
    return path


def status(client, method, path):
    """Of an empty request; what streams is left again at once."""
    connection = http.client.HTTPConnection(client.host, client.port, timeout=20)
    headers = {"Authorization": "Bearer " + client.key} if client.key else {}
    body = None
    if method in ("POST", "PUT", "PATCH"):
        headers["Content-Type"], body = "application/json", b"{}"
    connection.request(method, filled(path), body=body, headers=headers)
    answer = connection.getresponse().status
    connection.close()
    return answer


def expected(method, path):
    for wanted, pattern, roles in TABLE:
        if wanted in (method, "*") and fnmatch.fnmatchcase(path, pattern):
            return roles
    return None


def wrong_methods(client):
    """Every path answers 405 to what the document does not list, with exactly what it lists."""
    listed, wrong = {}, 0
    for method, path in operations():
        listed.setdefault(path, set()).add(method)
    for path, methods in listed.items():
        allowed = methods | ({"HEAD"} if "GET" in methods else set())
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "INVENTED"} - methods:
            answer = client.call(method, filled(path))
            allow = {word.strip() for word in (answer.headers["Allow"] or "").split(",")}
            if answer.status != 405 or allow != allowed:
                wrong += 1
                print(f"FAIL {method} {path}: {answer.status}, Allow: {sorted(allow)}, not {sorted(allowed)}")
    return wrong


def main():
    binary = os.environ.get("SANDGATE_BINARY", os.path.join(ROOT, "build", "gateway", "sandgate"))
    if not os.access(binary, os.X_OK):
        print(f"skipped: {binary} is not built")
        return 77
    wrong = count = 0
    with servers.Server(binary) as server:
        tenant, owner = server.tenant("roles")
        clients = {"owner": owner, "operator": server.operator(tenant)}
        for role in ("admin", "developer", "billing", "viewer"):
            clients[role] = server.key(tenant, role)
        nobody = servers.Client(server.host, server.port)
        for method, path in operations():
            answers = {role: status(clients[role], method, path) for role in ROLES}
            without = status(nobody, method, path)
            let_in = "no key" if without != 401 else " ".join(r for r in ROLES if answers[r] not in (401, 403))
            if "--print" in sys.argv:
                print(f"{method:6} {path:60} {let_in:45} {sorted(set(answers.values()))}")
            count += 1
            if let_in != expected(method, path):
                wrong += 1
                print(f"FAIL {method} {path}: for {let_in!r}, not for {expected(method, path)!r}: {without} {answers}")
            broken = [role for role in ROLES if answers[role] >= 500]
            if broken and path != "/readyz":
                wrong += 1
                print(f"FAIL {method} {path}: {answers}")
        for types, expected_status in (("", 200), ("?types=budget.*", 200), ("?types=sandbox.*,budget.*", 403)):
            found = status(clients["billing"], "GET", "/v1/events" + types)
            if found != expected_status:
                wrong += 1
                print(f"FAIL GET /v1/events{types} for billing: {found}")
        wrong += wrong_methods(owner)
    print(f"{count} operations, {len(ROLES) + 1} callers each, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
