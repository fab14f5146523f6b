"""Checks creates against a published CustomResourceDefinition: an object of its kind fits its schema
without members it does not name, and so does a bare pod where the resource has a pod template."""
import json
import re

import jsonschema
import yaml

from spec_check import closed


class CrdCheck:
    def __init__(self, path, prefix="", newer=()):
        with open(path, encoding="utf-8") as file:
            document = yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))["spec"]
        stored = next(version for version in document["versions"] if version["storage"])
        schema = closed(stored["schema"]["openAPIV3Schema"])
        self.prefix = re.compile(prefix)
        pod = schema["properties"]["spec"]["properties"]["podTemplate"]["properties"]["spec"]
        bare = {**schema, "properties": {**schema["properties"], "spec": pod}}
        group = f"/apis/{document['group']}/{stored['name']}"
        plural = document["names"]["plural"]
        self.schemas = [(re.compile(rf"{group}/namespaces/[^/]+/{plural}"), schema),
                        (re.compile(r"/api/v1/namespaces/[^/]+/pods"), bare)]

    def problems(self, request):
        found = []
        for pattern, schema in self.schemas:
            if request.method == "POST" and pattern.fullmatch(request.path):
                for error in jsonschema.Draft202012Validator(schema).iter_errors(
                        json.loads(request.body)):
                    where = "/".join(map(str, error.absolute_path))
                    found.append(f"POST {request.path}: {where}: {error.message[:200]}")
        return found
