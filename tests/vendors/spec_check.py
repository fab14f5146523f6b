"""Checks requests against a vendor's published OpenAPI description: the route exists, its query
parameters are known and complete, and a JSON body fits its schema, without members it does not name."""
import copy
import json
import re

import jsonschema
import yaml


def closed(schema):
    """JSON Schema of an OpenAPI 3.0 schema in which objects allow the members they list only."""
    if isinstance(schema, list):
        return [closed(value) for value in schema]
    if not isinstance(schema, dict):
        return copy.deepcopy(schema)
    result = {name: closed(value) for name, value in schema.items()}
    if isinstance(result.get("properties"), dict) and "additionalProperties" not in result:
        result["additionalProperties"] = False
    if result.pop("nullable", False) is True and isinstance(result.get("type"), str):
        result["type"] = [result["type"], "null"]
    return result


class SpecCheck:
    def __init__(self, path, prefix="", newer=()):
        """`prefix`: a pattern of what stands before the description's paths; only requests with it
        are checked."""
        with open(path, encoding="utf-8") as file:
            self.document = yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.components = closed(self.document.get("components", {}))
        self.prefix, self.newer = re.compile(prefix), newer
        self.routes = []
        for template in self.document["paths"]:
            pattern = re.sub(r"\\\{path\\\}$", ".+", re.escape(template))
            pattern = re.sub(r"\\\{[^/]+?\\\}", "[^/]+", pattern)
            self.routes.append((re.compile(pattern), template))
        # A literal segment wins over a parameter.
        self.routes.sort(key=lambda route: route[1].count("{"))

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            target = self.document
            for part in node["$ref"][2:].split("/"):
                target = target[part]
            node = target
        return node

    def problems(self, request):
        prefix = self.prefix.match(request.path)
        if not prefix:
            return []
        path = request.path[prefix.end():]
        name = f"{request.method} {path}"
        for pattern, template in self.routes:
            if pattern.fullmatch(path):
                item = self.document["paths"][template]
                operation = item.get(request.method.lower())
                if operation:
                    return self.unless_newer(
                        f"{name}: {wrong}" for wrong in self.wrong(request, item, operation))
        return self.unless_newer([f"{name}: no such operation"])

    def unless_newer(self, problems):
        return [problem for problem in problems
                if not any(word in problem for word in self.newer)]

    def wrong(self, request, item, operation):
        parameters = [self.resolve(parameter) for parameter in
                      item.get("parameters", []) + operation.get("parameters", [])]
        query = {parameter["name"]: parameter for parameter in parameters
                 if parameter["in"] == "query"}
        for name in request.query:
            if name not in query:
                yield f"unknown query parameter {name}"
        for name, parameter in query.items():
            if parameter.get("required") and name not in request.query:
                yield f"query parameter {name} is missing"
        body = self.resolve(operation.get("requestBody", {}))
        content = body.get("content", {})
        media = request.headers.get("Content-Type", "").split(";")[0]
        if not request.body:
            # An empty file is a body too.
            if body.get("required") and "application/octet-stream" not in content:
                yield "the body is missing"
            return
        if media not in content:
            yield f"a body of {media!r}, known are {sorted(content)}"
        elif media == "application/json":
            schema = {**closed(content[media].get("schema", {})), "components": self.components}
            for error in jsonschema.Draft202012Validator(schema).iter_errors(json.loads(request.body)):
                where = "/".join(map(str, error.absolute_path))
                yield f"{where}: {error.message[:200]}"
