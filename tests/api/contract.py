"""Checks an answer against docs/openapi.yaml."""
import copy
import json
import re

import jsonschema
import yaml


def closed(schema):
    """A copy in which objects with listed members allow no others, so that undocumented ones show."""
    if isinstance(schema, dict):
        copied = {name: closed(value) for name, value in schema.items()}
        listed = isinstance(copied.get("properties"), dict) and copied.get("type") == "object"
        if listed and "additionalProperties" not in copied:
            copied["additionalProperties"] = False
        return copied
    if isinstance(schema, list):
        return [closed(value) for value in schema]
    return copy.deepcopy(schema)


# Of HTTP itself, and for browsers and proxies; what is left is for clients, and documented.
COMMON = {"connection", "content-length", "content-type", "date", "server", "transfer-encoding",
          "cache-control", "content-security-policy", "referrer-policy", "x-accel-buffering", "x-content-type-options"}


class Contract:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.document = yaml.safe_load(file)
        self.components = closed(self.document["components"])
        self.routes = []
        for template in self.document["paths"]:
            pattern = re.escape(template).replace(r"\{", "{").replace(r"\}", "}")
            pattern = re.sub(r"\{\w+\}", "[^/]+", pattern)
            self.routes.append((re.compile(pattern + r"\Z"), template))
        # A literal segment wins over a parameter, and one that is literal in part over one that is not.
        self.routes.sort(key=lambda route: (route[1].count("{"), -len(route[1])))
        self.used = set()

    def operation(self, method, path):
        for pattern, template in self.routes:
            if pattern.match(path):
                operation = self.document["paths"][template].get(method.lower())
                if operation:
                    return operation
        return None

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            target = self.document
            for part in node["$ref"][2:].split("/"):
                target = target[part]
            node = target
        return node

    def problems(self, method, path, status, headers, body):
        """What is wrong with an answer; empty when all is as documented."""
        operation = self.operation("GET" if method == "HEAD" else method, path)
        wrong = []
        if not re.fullmatch(r"rq[a-z0-9]{24}", headers.get("X-Request-Id", "")):
            wrong.append(f"X-Request-Id is {headers.get('X-Request-Id')!r}")
        if method == "HEAD":
            return wrong
        if operation:
            self.used.add(operation["operationId"])
            responses = operation["responses"]
            response = self.resolve(responses.get(str(status), responses.get("default")))
            if status < 400 and str(status) not in responses:
                wrong.append(f"{operation['operationId']} documents no {status}")
            if headers.get("Idempotent-Replayed") and not self.takes_key(operation):
                wrong.append(f"{operation['operationId']} documents no Idempotency-Key")
        else:
            response = self.resolve({"$ref": "#/components/responses/Problem"})
        known = COMMON | {name.lower() for name in response.get("headers", {})}
        wrong += [f"the field {name} is documented for no such answer" for name in headers if name.lower() not in known]
        return wrong + self.body_problems(response.get("content", {}), headers, body)

    def takes_key(self, operation):
        return any(self.resolve(one)["name"] == "Idempotency-Key" for one in operation.get("parameters", []))

    def body_problems(self, content, headers, body):
        media = headers.get("Content-Type", "").split(";")[0].strip()
        if not content:
            return [f"a body where none is documented: {body[:100]!r}"] if body else []
        if media not in content:
            return [f"Content-Type {media!r}, documented are {', '.join(content)}"]
        if not media.endswith("json") or media == "application/x-ndjson":
            return []
        try:
            value = json.loads(body)
        except ValueError as failure:
            return [f"not JSON: {failure}"]
        schema = {**closed(content[media].get("schema", {})), "components": self.components}
        validator = jsonschema.Draft202012Validator(schema)
        return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"
                for error in validator.iter_errors(value)]
