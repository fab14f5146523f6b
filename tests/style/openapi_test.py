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


# Below: what makes the programs that write clients from the document fail or write useless ones.

def check_aliases(text):
    # A parser may refuse more than 50 aliases, and a generator writes a type for each copy.
    for event in yaml.parse(text):
        if getattr(event, "anchor", None):
            problems.append(f"line {event.start_mark.line + 1}: &{event.anchor} instead of $ref")


def types_of_choices(document, schema, kind):
    choices = schema.get(kind, [])
    return [(resolve(document, one["$ref"]) if "$ref" in one else one).get("type") for one in choices]


def check_schema(document, where, schema):
    for name, child in list(schema.get("properties", {}).items()) + [("items", schema.get("items"))]:
        if isinstance(child, bool):
            problems.append(f"{where}/{name}: a boolean where a schema belongs")
    # Generators that make an import of each choice of a oneOf have none for null, and none beside a text.
    if {"object", "array", "null"} & set(types_of_choices(document, schema, "oneOf")):
        problems.append(f"{where}: write anyOf for a choice that may be an object, a list or null")
    either = types_of_choices(document, schema, "anyOf")
    if len(either) == 2 and "null" in either and "object" not in either:
        problems.append(f"{where}: write type: [x, 'null'] for a scalar that may be null")
    if "enum" in schema and "type" not in schema:
        problems.append(f"{where}: an enum without its type")
    check_types(where, schema)


def check_types(where, schema):
    """Generators that know a type or null, and no more, end at anything else."""
    types = schema.get("type")
    if isinstance(types, list) and len(set(types) - {"null"}) > 1:
        problems.append(f"{where}: write anyOf for a choice of types")
    rest = schema.get("additionalProperties")
    if isinstance(rest, dict) and "properties" in schema and "null" in (rest.get("type") or ()):
        problems.append(f"{where}: further members beside known ones may not be declared as null")


def check_schema_names(schemas):
    owner = {}
    for name, schema in schemas.items():
        if name.startswith("New") and name[3:] in schemas:
            problems.append(f"{name} is also the name of the constructor of {name[3:]}")
        # Some languages have one name space for the words of all enums.
        for word in schema.get("enum", []):
            if owner.setdefault(word, name) != name:
                problems.append(f"{name} and {owner[word]} both have the word {word}")


def check_media(where, content):
    for media, of in content.items():
        if media in ("application/octet-stream", "application/x-tar"):
            if of["schema"].get("format") != "binary":
                problems.append(f"{where}: {media} needs format: binary, or it is taken for text")
    if "application/x-tar" in content and "application/octet-stream" not in content:
        problems.append(f"{where}: a generator that knows no application/x-tar leaves the operation out")


def check_request_body(document, where, body):
    for media in body.get("content", {}).values():
        schema = media["schema"]
        while "$ref" in schema:
            schema = resolve(document, schema["$ref"])
        if schema.get("required") and not body.get("required"):
            problems.append(f"{where}: a body with required members is itself required")
        for name, child in walk(schema):
            if isinstance(child, dict) and "type" in child and "default" in child:
                problems.append(f"{where}{name}: a default makes the member required in some languages")


# What the server takes and refuses, by operation and parameter.
PATTERNS = {
    ("usage", "group_by"): (("day", "profile,metadata.run", "tenant,profile,deployment,meter,day"),
                            ("", "profile,", ",", ",day", "day,,meter", "week", "metadata.")),
}


# By operation, a body that the server takes and some that it refuses.
BODIES = {
    "execCommand": ({"shell": "true"}, ({}, {"command": ["a"], "shell": "a"}, {"command": []})),
    "signalProcess": ({"signal": "TERM"}, ({"signal": ""}, {"signal": 0})),
    "makeDirectory": ({"path": "a"}, ({"path": ""}, {"path": "a" * 4096})),
    "moveFile": ({"from": "a", "to": "b"}, ({"from": "", "to": "b"}, {"from": "a", "to": ""})),
    "putSecret": ({"value": "a b"}, ({"value": ""}, {"value": "a\nb"}, {"value": "a "}, {"value": "\x7f"})),
    "putExport": ({"kind": "a", "settings": {}}, ({"kind": "", "settings": {}},
                                                {"kind": "a", "settings": {}, "secrets": {"a": ""}})),
    "retryDeadLetters": ({"events": ["a" * 36]}, ({"events": ["a"]}, {"events": ["a" * 37]})),
    "putBudget": ({"amount": "1", "currency": "USD", "window": "day", "applies_to": {"profile": "a"}},
                  ({"amount": "1", "currency": "USD", "window": "day", "timezone": ""},
                   {"amount": "1", "currency": "USD", "window": "day", "applies_to": {}},
                   {"amount": "1", "currency": "USD", "window": "day", "applies_to": {"profile": ""}},
                   {"amount": "1", "currency": "USD", "window": "day", "applies_to": {"key": ""}},
                   {"amount": "1", "currency": "USD", "window": "day", "applies_to": {"metadata": {}}})),
    "createSandbox": ({"profile": "a@1"}, ({"profile": "a@9999999999"},)),
}


def check_bodies(document):
    try:
        import jsonschema
    except ImportError:
        return
    for members in document["paths"].values():
        for operation in members.values():
            name = isinstance(operation, dict) and operation.get("operationId")
            if name not in BODIES:
                continue
            taken, refused = BODIES.pop(name)
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            judge = jsonschema.Draft202012Validator({**schema, "components": document["components"]})
            for body in (taken, *refused):
                if judge.is_valid(body) != (body is taken):
                    problems.append(f"{name}: the schema is wrong for {str(body)[:80]}")
    problems.extend(f"there is no {name}" for name in BODIES)


def check_patterns(document):
    schemas = {}
    for members in document["paths"].values():
        for method, operation in members.items():
            if method == "parameters":
                continue
            for parameter in operation.get("parameters", []):
                if "name" in parameter:
                    schemas[operation["operationId"], parameter["name"]] = parameter["schema"]
    for (operation, name), (taken, refused) in PATTERNS.items():
        pattern = re.compile(schemas[operation, name]["pattern"])
        for value in taken + refused:
            if bool(pattern.search(value)) != (value in taken):
                problems.append(f"{operation} {name}: the pattern is wrong for {value!r}")


def check_commas(document):
    """A comma in a text without quotes ends it, and what follows becomes a member without a value."""
    for where, node in walk(document):
        if node is None:
            problems.append(f"{where}: has no value; is a text with a comma not quoted?")


def check_for_generators(document, text):
    check_aliases(text)
    check_schema_names(document["components"]["schemas"])
    for where, node in walk(document):
        if isinstance(node, dict) and not where.endswith("/properties"):
            check_schema(document, where, node)
            if where.endswith("/content"):
                check_media(where, node)
            if where.endswith("/requestBody"):
                check_request_body(document, where, node)


def main():
    with open(PATH, encoding="utf-8") as file:
        text = file.read()
    document = yaml.safe_load(text)
    check_references(document)
    check_commas(document)
    check_for_generators(document, text)
    check_patterns(document)
    check_bodies(document)
    ids = []
    for path, members in document["paths"].items():
        for method, operation in members.items():
            if method != "parameters":
                ids.append(operation.get("operationId"))
                check_operation(document, method, path, operation, members.get("parameters", []))
    problems.extend(f"operationId {name} is used twice" for name in sorted(set(ids)) if ids.count(name) > 1)
    # Generators of clients make such types of their own for an operation.
    made = {name[:1].upper() + name[1:] + kind: name for name in ids if name
            for kind in ("Result", "Response", "Request", "Body", "Params", "Error")}
    problems.extend(f"operationId {made[name]} and the schema {name} get one name in generated clients"
                    for name in document["components"]["schemas"] if name in made)
    for problem in problems:
        print(f"docs/openapi.yaml: {problem}")
    print(f"{len(ids)} operations, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
