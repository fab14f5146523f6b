#!/usr/bin/env python3
"""docs/openapi.yaml is well formed: references resolve, requests are closed, operations have what
clients need. What the server really answers is compared with it by tests/api/run.py."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATH = os.path.join(ROOT, "docs", "openapi.yaml")

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is missing")
    sys.exit(0)

problems = []


def walk(node, where=""):
    yield where, node
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, child in items:
        yield from walk(child, f"{where}/{name}")


def resolve(document, reference):
    node = document
    for part in reference[2:].split("/"):
        node = node[part] if isinstance(node, dict) and part in node else None
    return node


def check_references(document):
    used = set()
    for where, node in walk(document):
        if isinstance(node, dict) and isinstance(node.get("$ref"), str):
            used.add(node["$ref"])
            if resolve(document, node["$ref"]) is None:
                problems.append(f"{where}: {node['$ref']} leads nowhere")
    for kind, members in document["components"].items():
        for name in members:
            if kind != "securitySchemes" and f"#/components/{kind}/{name}" not in used:
                problems.append(f"components/{kind}/{name} is never used")


def check_closed(document, where, schema, seen):
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        if schema["$ref"] not in seen:
            seen.add(schema["$ref"])
            check_closed(document, schema["$ref"], resolve(document, schema["$ref"]), seen)
        return
    if schema.get("type") == "object" and "additionalProperties" not in schema:
        problems.append(f"{where}: a request's object must say additionalProperties")
    for name, child in walk(schema):
        if name and isinstance(child, dict) and name.count("/") < 4:
            if "$ref" in child or child.get("type") == "object":
                check_closed(document, where + name, child, seen)


def check_operation(document, method, path, operation, shared):
    where = f"{method.upper()} {path}"
    for member in ("operationId", "summary", "tags", "responses"):
        if member not in operation:
            problems.append(f"{where}: no {member}")
    if "default" not in operation["responses"]:
        problems.append(f"{where}: no default answer")
    for media in operation.get("requestBody", {}).get("content", {}).values():
        check_closed(document, where, media["schema"], set())
    parameters = [resolve(document, p["$ref"]) if "$ref" in p else p
                  for p in shared + operation.get("parameters", [])]
    declared = {p["name"] for p in parameters if p["in"] == "path"}
    if declared != set(re.findall(r"\{(\w+)\}", path)):
        problems.append(f"{where}: path parameters {sorted(declared)}")
    for status, answer in operation["responses"].items():
        if str(status).startswith("2") and "X-Request-Id" not in answer.get("headers", {}):
            problems.append(f"{where} {status}: no X-Request-Id")


def main():
    with open(PATH, encoding="utf-8") as file:
        document = yaml.safe_load(file)
    check_references(document)
    ids = []
    for path, members in document["paths"].items():
        for method, operation in members.items():
            if method != "parameters":
                ids.append(operation.get("operationId"))
                check_operation(document, method, path, operation, members.get("parameters", []))
    problems.extend(f"operationId {name} is used twice" for name in sorted(set(ids)) if ids.count(name) > 1)
    for problem in problems:
        print(f"docs/openapi.yaml: {problem}")
    print(f"{len(ids)} operations, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
