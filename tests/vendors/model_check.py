"""Checks requests against an AWS service model (botocore's service-2.json): the operation exists,
its query parameters and members are known and complete, and values are what their shapes allow."""
import base64
import json
import re


class ModelCheck:
    """Of the form of spec_check.SpecCheck."""

    def __init__(self, path, prefix="", newer=()):
        with open(path, encoding="utf-8") as file:
            model = json.load(file)
        self.shapes, self.prefix, self.newer = model["shapes"], re.compile(prefix), newer
        self.routes = []
        for name, operation in model["operations"].items():
            http = operation["http"]
            pattern = re.sub(r"\\\{\w+(\\\+)?\\\}", "[^/]+", re.escape(http["requestUri"]))
            self.routes.append((http["method"], re.compile(pattern), operation, name))

    def problems(self, request):
        prefix = self.prefix.match(request.path)
        if not prefix:
            return []
        path = request.path[prefix.end():]
        for method, pattern, operation, name in self.routes:
            if method == request.method and pattern.fullmatch(path):
                found = [f"{name}: {wrong}" for wrong in self.wrong(request, operation)]
                break
        else:
            found = [f"{request.method} {path}: no such operation"]
        return [problem for problem in found if not any(word in problem for word in self.newer)]

    def wrong(self, request, operation):
        shape = self.shapes[operation["input"]["shape"]] if "input" in operation else {}
        members, required = shape.get("members", {}), set(shape.get("required", []))
        places = {place: {name: member for name, member in members.items()
                          if member.get("location") == place}
                  for place in ("querystring", "header", None)}
        query = {member["locationName"]: name for name, member in places["querystring"].items()}
        for name, values in request.query.items():
            if name not in query:
                yield f"unknown query parameter {name}"
            else:
                yield from self.wrong_value(members[query[name]]["shape"], values[0], name)
        for name, member in {**places["querystring"], **places["header"]}.items():
            sent = member["locationName"] in (request.query if member["location"] == "querystring"
                                              else request.headers)
            if name in required and not sent:
                yield f"{member['locationName']} is missing"
        body = shape.get("payload")
        if body:
            yield from self.wrong_value(members[body]["shape"], request.json(), "")
        elif request.body or places[None]:
            whole = {"type": "structure", "members": places[None],
                     "required": sorted(required & set(places[None]))}
            yield from self.wrong_structure(whole, request.json(), "")

    def wrong_structure(self, shape, value, where):
        if not isinstance(value, dict):
            yield f"{where}: no object"
            return
        for name in shape.get("required", []):
            if name not in value:
                yield f"{where}/{name} is missing"
        for name, inner in value.items():
            if name not in shape["members"]:
                yield f"{where}/{name} is unknown"
            else:
                yield from self.wrong_value(shape["members"][name]["shape"], inner, f"{where}/{name}")

    def wrong_value(self, name, value, where):
        shape = self.shapes[name]
        kind = shape["type"]
        if kind == "structure":
            yield from self.wrong_structure(shape, value, where)
        elif kind == "list":
            for index, item in enumerate(value if isinstance(value, list) else []):
                yield from self.wrong_value(shape["member"]["shape"], item, f"{where}/{index}")
        types = {"string": str, "blob": str, "integer": int, "long": int, "boolean": bool,
                 "list": list, "structure": dict, "map": dict}
        if not isinstance(value, types.get(kind, object)):
            yield f"{where}: no {kind}"
        elif kind in ("integer", "long"):
            if not shape.get("min", value) <= value <= shape.get("max", value):
                yield f"{where}: {value} is out of range"
        elif kind in ("string", "blob", "list"):
            size = len(base64.b64decode(value) if kind == "blob" else value)
            if not shape.get("min", 0) <= size <= shape.get("max", size):
                yield f"{where}: {size} is no length for {name}"
            if kind == "string" and "enum" in shape and value not in shape["enum"]:
                yield f"{where}: {value!r} is none of {shape['enum']}"
            if kind == "string" and not re.fullmatch(shape.get("pattern", ".*"), value, re.S):
                yield f"{where}: {value!r} does not fit {name}"
