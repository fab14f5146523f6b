#!/usr/bin/env python3
"""Answers of a secret's host that are compressed although nobody asked for it, as programs in real sandboxes get
them. Run as root; takes the names of single tests."""
import base64
import gzip
import json
import os
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../faults"]

from upstreams import Handler, Web  # noqa: E402
from world import World, require_port_443, require_root  # noqa: E402

world = None
VALUE = "real-value-7f3a91c4d2"
HOST = "api.test.example"
SECRET = {"name": "TOKEN", "host": HOST, "header": "Authorization"}
ZEROS = bytes(100_000)
MASKED = b"You sent " + b"*" * len(VALUE) + ZEROS


class Coding(Handler):
    """Shows the Authorization header, in the coding that the path names."""

    def answer(self):
        coding = self.path.strip("/")
        body = b"You sent " + (self.headers.get("Authorization") or "nothing").encode() + ZEROS
        coded = {"gzip": gzip.compress, "deflate": zlib.compress}.get(coding, lambda text: text)(body)
        self.send_response(200)
        self.send_header("Content-Encoding", coding)
        self.send_header("Content-Length", str(len(coded)))
        self.end_headers()
        if self.command != "HEAD":
            self.send(coded)

    def send(self, coded):
        try:
            self.wfile.write(coded)
        except OSError:  # the answer was refused by its head
            self.close_connection = True

    do_GET = do_HEAD = answer


def ask(sandbox, coding, method="GET"):
    """The status, the names of the fields and the body, as they arrive."""
    code = ("import base64,http.client,json,os,sys\n"
            f"c=http.client.HTTPSConnection('{HOST}',timeout=10)\n"
            "c.request(sys.argv[1],'/'+sys.argv[2],headers={'Authorization':os.environ['TOKEN']})\n"
            "r=c.getresponse()\n"
            "print(json.dumps([r.status,dict(r.getheaders()),base64.b64encode(r.read()).decode()]))")
    done = world.python(sandbox, code, method, coding)
    assert done["exit_code"] == 0, done
    status, fields, body = json.loads(done["stdout"])
    return status, {name.lower() for name in fields}, base64.b64decode(body)


def test_what_is_compressed_is_decoded_and_masked():
    sandbox = world.box(f"{HOST}:443", secrets=[SECRET])
    for coding in ("gzip", "deflate"):
        status, fields, body = ask(sandbox, coding)
        assert (status, body) == (200, MASKED), (coding, status, body[:99])
        assert not fields & {"content-encoding", "content-length"}, fields
    # A client of HTTP/1.0, which knows no chunks, and one that would decode.
    done = world.run(sandbox, "sh", "-c", "curl -sS --http1.0 --compressed --max-time 10 "
                                          f"-H \"Authorization: $TOKEN\" https://{HOST}/gzip | tr -d '\\0'")
    assert done["stdout"] == MASKED.rstrip(b"\0").decode(), done
    world.end(sandbox)


def test_what_cannot_be_decoded_is_refused():
    sandbox = world.box(f"{HOST}:443", secrets=[SECRET])
    for coding in ("br", "zstd", "x-gzip"):  # the last is not what it says
        status, _, body = ask(sandbox, coding)
        assert status == 502 and json.loads(body)["reason"] == "encoded_answer", (coding, status, body[:99])
    verdicts = world.client.ok("GET", f"/v1/sandboxes/{sandbox}/network")
    assert "encoded_answer" in json.dumps(verdicts), verdicts
    # There is nothing to decode.
    status, fields, body = ask(sandbox, "gzip", "HEAD")
    assert (status, body) == (200, b"") and {"content-encoding", "content-length"} <= fields, (status, fields, body)
    world.end(sandbox)


if __name__ == "__main__":
    require_root()
    require_port_443()
    world = World()
    web = Web(443, world.certificates.contexts["right"], Coding)
    world.run_tests(globals(), lambda: world.client.ok("PUT", "/v1/secrets/TOKEN", {"value": VALUE}))
