"""Compares an answer with what a case expects."""
import base64
import json
import re


def subset(expected, actual, path=""):
    """The differences; "~…" is a regular expression, "*" anything, {"$has": x} an array with x."""
    if expected == "*":
        return []
    if isinstance(expected, str) and expected.startswith("~"):
        good = isinstance(actual, str) and re.search(expected[1:], actual)
        return [] if good else [f"{path or '/'}: {actual!r} does not match {expected[1:]!r}"]
    if isinstance(expected, dict) and "$has" in expected:
        found = isinstance(actual, list) and any(not subset(expected["$has"], x) for x in actual)
        return [] if found else [f"{path or '/'}: nothing in {short(actual)} is {expected['$has']}"]
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return [f"{path or '/'}: {short(actual)} is no object"]
        differences = []
        for name, value in expected.items():
            if name not in actual:
                differences.append(f"{path}/{name}: missing in {short(actual)}")
            else:
                differences += subset(value, actual[name], f"{path}/{name}")
        return differences
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return [f"{path or '/'}: {short(actual)} instead of {expected}"]
        return [line for i, value in enumerate(expected)
                for line in subset(value, actual[i], f"{path}/{i}")]
    same = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)
    return [] if same else [f"{path or '/'}: {short(actual)} instead of {expected!r}"]


def short(value):
    return json.dumps(value)[:300]


def at(document, pointer):
    for part in pointer.split("/")[1:]:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def has(document, pointer):
    try:
        at(document, pointer)
        return True
    except (KeyError, IndexError, TypeError, ValueError):
        return False


def events(body):
    """[(type, data)] of a stream of server-sent events."""
    found = []
    for block in body.decode("utf-8", "replace").replace("\r\n", "\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "data" in fields:
            found.append((fields.get("event", "message"), json.loads(fields["data"])))
    return found


def event_types(body):
    types = []
    for kind, _ in events(body):
        if not types or types[-1] != kind:
            types.append(kind)
    return types


def event_output(body):
    return b"".join(base64.b64decode(data["data"]) for kind, data in events(body)
                    if kind in ("stdout", "pty"))


def check(word, rest, answer):
    """The differences between an answer and one expectation."""
    if word == "json":
        return subset(json.loads(rest), answer.json())
    if word == "text":
        wanted = rest.encode().decode("unicode_escape").encode()
        return [] if wanted in answer.body else [f"{answer.body[:300]!r} has no {wanted!r}"]
    if word == "bytes":
        return [] if len(answer.body) == int(rest) else [f"{len(answer.body)} bytes, not {rest}"]
    if word == "absent":
        return [f"{rest} is there"] if has(answer.json(), rest.strip()) else []
    if word == "events":
        types = event_types(answer.body)
        return [] if types == rest.split() else [f"events {types} instead of {rest.split()}"]
    if word == "output":
        wanted = rest.encode().decode("unicode_escape").encode()
        actual = event_output(answer.body)
        return [] if actual == wanted else [f"output {actual[:300]!r} instead of {wanted!r}"]
    if word.endswith(":"):
        return check_header(word[:-1], rest.strip(), answer)
    raise SyntaxError(f"unknown expectation '{word}'")


def check_header(name, wanted, answer):
    value = answer.headers.get(name)
    if wanted == "-":
        return [] if value is None else [f"{name}: {value} is there"]
    good = value is not None and (re.search(wanted[1:], value) if wanted.startswith("~")
                                  else value == wanted)
    return [] if good else [f"{name}: {value!r} instead of {wanted!r}"]
