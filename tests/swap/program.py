#!/usr/bin/env python3
"""A program of somebody who uses Sandgate and knows no backend: makes a sandbox of a profile, runs something,
writes and reads files, keeps a snapshot where there are any, and ends it all. Prints what it saw as JSON.

    SANDGATE_URL=… SANDGATE_API_KEY=… program.py PROFILE
"""
import hashlib
import http.client
import json
import os
import sys
import urllib.parse

ADDRESS = urllib.parse.urlsplit(os.environ["SANDGATE_URL"]).netloc
KEY = os.environ["SANDGATE_API_KEY"]
BYTES = bytes(range(256)) * 64


def call(method, path, body=None):
    connection = http.client.HTTPConnection(ADDRESS, timeout=60)
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
    connection.request(method, "/v1/" + path, data, {"Authorization": "Bearer " + KEY, "Content-Type": kind})
    answer = connection.getresponse()
    return answer.status, answer.read()


def ask(method, path, body=None):
    status, answer = call(method, path, body)
    if status >= 300:
        sys.exit(f"{method} {path}: {status} {answer.decode(errors='replace')}")
    return json.loads(answer) if answer else None


def create(**more):
    return ask("POST", "sandboxes", {"profile": sys.argv[1], "env": {"GREETING": "hello"}, **more})["id"]


def restored(box):
    """What the file holds in a sandbox made from a snapshot; none where the backend has none."""
    status, answer = call("POST", f"sandboxes/{box}/snapshots", {"name": "kept"})
    if status == 422:
        return None
    snapshot = json.loads(answer)["id"]
    ask("PUT", f"sandboxes/{box}/files?path=work/data.bin", b"changed since")
    copy = create(snapshot=snapshot)
    data = call("GET", f"sandboxes/{copy}/files?path=work/data.bin")[1]
    ask("DELETE", f"sandboxes/{copy}")
    ask("DELETE", f"snapshots/{snapshot}")
    return data == BYTES


def main():
    box = create()
    seen = {"sandbox": box}
    done = ask("POST", f"sandboxes/{box}/exec", {"shell": "echo $GREETING $((6 * 7)); echo no >&2; exit 3"})
    seen["exec"] = [done["exit_code"], done["stdout"], done["stderr"]]
    written = ask("PUT", f"sandboxes/{box}/files?path=work/data.bin", BYTES)
    seen["written"] = [written["name"], written["size"]]
    seen["read"] = hashlib.sha256(call("GET", f"sandboxes/{box}/files?path=work/data.bin")[1]).hexdigest()
    counted = ask("POST", f"sandboxes/{box}/exec", {"shell": "wc -c < work/data.bin"})
    seen["counted"] = counted["stdout"].strip()
    seen["listed"] = [entry["name"] for entry in ask("GET", f"sandboxes/{box}/files/list?path=work")["items"]]
    seen["missing"] = call("GET", f"sandboxes/{box}/files?path=work/nothing")[0]
    seen["restored"] = restored(box)
    ask("DELETE", f"sandboxes/{box}")
    seen["after"] = [ask("GET", f"sandboxes/{box}")["state"], call("POST", f"sandboxes/{box}/exec", {"shell": ":"})[0]]
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
