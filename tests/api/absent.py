#!/usr/bin/env python3
"""Every operation of docs/openapi.yaml whose path has {id}, asked for what is not there or belongs to
another tenant, by requests that are wrong in every other way: the answer is 404 each time.
"""
import http.client
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "support")]
sys.dont_write_bytecode = True

import server as servers  # noqa: E402
from roles import NAMES, OPERATOR, expected, operations  # noqa: E402

KINDS = {"sandboxes": "sb", "snapshots": "sn", "tenants": "tn", "keys": "ky", "invoices": "in"}
# An operator changes every tenant, whomever it acts for.
EVERY_TENANTS = ("/v1/tenants/{id}", "/v1/tenants/{id}/limits")
WRITES = ("POST", "PUT", "PATCH")
BODIES = {"no JSON": b"{", "no object": b"[1]", "an unknown member": b'{"no_such_member": 1}', "empty": b"{}",
          "too large": b'"' + b"x" * (25 << 20) + b'"'}
QUERY = ("?limit=x&cursor=!&from=x&refresh=maybe&recursive=maybe&depth=x&path=&mode=x&cols=x&no_such=1", {})
HEADERS = ("", {"Idempotency-Key": "", "Last-Event-ID": "x", "Content-Range": "x", "Range": "x", "If-Match": "x"})


def filled(path, name):
    for parameter, value in {**NAMES, "id": name}.items():
        path = path.replace("{" + parameter + "}", value)
    return path


def ask(client, method, path, body, headers):
    """The status; what was refused before its body had gone is an answer like any other."""
    connection = http.client.HTTPConnection(client.host, client.port, timeout=20)
    sent = {"Authorization": "Bearer " + client.key, **headers}
    if client.tenant:
        sent["X-Sandgate-Tenant"] = client.tenant
    if body is not None:
        sent["Content-Type"] = "application/json"
    try:
        connection.request(method, path, body=body, headers=sent)
    except OSError:
        pass
    try:
        return connection.getresponse().status
    finally:
        connection.close()


def wrongs(method):
    """What is wrong, its query and headers, its body."""
    bodies = BODIES if method in WRITES else {"a body": b"x", "none": None}
    for what, body in bodies.items():
        yield what, "", {}, body
    first = next(iter(bodies.values())) if method in WRITES else None
    for what, (query, headers) in {"its query": QUERY, "its headers": HEADERS}.items():
        yield what, query, headers, first


def others_of(server):
    """What another tenant has, by the word of its path."""
    tenant, owner = server.tenant("others")
    operator = server.operator(tenant)
    server.profile("test", resources={"memory_mib": 128})
    box = owner.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
    key = operator.ok("POST", "/v1/keys", {"tenant": tenant, "name": "one", "role": "viewer"})["id"]
    month = {"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}
    invoice = operator.ok("POST", "/v1/invoices", month)["id"]
    snapshot = owner.ok("POST", f"/v1/sandboxes/{box}/snapshots", {"keep": "disk"})["id"]
    return owner, {"sandboxes": box, "snapshots": snapshot, "tenants": tenant, "keys": key, "invoices": invoice}


def judged(callers, method, path, others):
    """One line for each answer that is not 404."""
    word = path.split("/")[2]
    for who, client in callers.items():
        if who not in expected(method, path).split():
            continue
        names = {"nobody's": KINDS[word] + "0" * 24, "no id": "nonsense"}
        if who != OPERATOR or path not in EVERY_TENANTS:
            names["another's"] = others[word]
        for whose, name in names.items():
            for what, query, headers, body in wrongs(method):
                status = ask(client, method, filled(path, name) + query, body, headers)
                if status != 404:
                    yield f"{method} {path} of {whose} for {who}, wrong by {what}: {status}"


def main():
    binary = os.environ.get("SANDGATE_BINARY", os.path.join(ROOT, "build", "gateway", "sandgate"))
    if not os.access(binary, os.X_OK):
        print(f"skipped: {binary} is not built")
        return 77
    if os.geteuid() != 0:
        print("skipped: another's sandbox needs root")
        return 77
    servers.ensure_image(binary)
    failures, count = [], 0
    with servers.Server(binary) as server:
        tenant, owner = server.tenant("absent")
        callers = {"owner": owner, OPERATOR: server.operator(tenant)}
        other, others = others_of(server)
        for method, path in operations():
            if "{id}" not in path:
                continue
            count += 1
            failures += judged(callers, method, path, others)
            # What is wrong is wrong: where the sandbox is there, that is what is told. Input is any bytes.
            if method in WRITES and path.startswith("/v1/sandboxes/") and not path.endswith("/stdin"):
                status = ask(other, method, filled(path, others["sandboxes"]), BODIES["no JSON"], {})
                if status != 400:
                    failures.append(f"{method} {path} with a body that is no JSON: {status}")
    for failure in failures:
        print("FAIL", failure)
    print(f"{count} operations, {len(failures)} wrong")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
