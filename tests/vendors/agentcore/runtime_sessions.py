"""Sessions of an agent runtime. A command for any id starts one. Commands are split into words by
quotes that cannot be joined, no shell is asked, and their output is text: what is no UTF-8 by
itself is lost, also where a letter is cut in two."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from event_messages import event, exception  # noqa: E402

ARN = "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/tools-abcdefghij"
RUNTIME = r"/runtimes/([^/]+)"
SESSION = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
WORD = re.compile(r"""'([^']*)'(?=\s|$)|"((?:[^"\\]|\\.)*)"(?=\s|$)|([^\s'"]+)(?=\s|$)""", re.S)


def words_of(command):
    """None where the quotes are not as the vendor has them."""
    words, at = [], 0
    while at < len(command):
        if command[at].isspace():
            at += 1
            continue
        found = WORD.match(command, at)
        if not found:
            return None
        single, double, plain = found.groups()
        words.append(re.sub(r'\\(["\\])', r"\1", double) if double is not None
                     else single if single is not None else plain)
        at = found.end()
    return words


def chunk(document):
    return event("chunk", document)


class RuntimeSessions:
    runtime_routes = (
        ("GET", RUNTIME + r"/", "describe_runtime"),
        ("POST", RUNTIME + r"/commands", "command"),
        ("POST", RUNTIME + r"/stopruntimesession", "stop_runtime_session"),
    )

    def __init__(self, specs=None):
        super().__init__(specs)
        self.used_tokens = set()

    def describe_runtime(self, request, runtime):
        if not ARN.endswith("/" + runtime):
            raise self.refuse(404, "no such agent runtime")
        return 200, {"agentRuntimeArn": ARN, "agentRuntimeId": runtime, "status": "READY",
                     "lifecycleConfiguration": {"idleRuntimeSessionTimeout": 28800,
                                                "maxLifetime": 28800}}

    def session_id(self, request, arn):
        if arn != ARN or request.one("qualifier", "DEFAULT") != "DEFAULT":
            raise self.refuse(404, "no such endpoint of an agent runtime")
        name = request.headers.get(SESSION, "")
        if not 33 <= len(name) <= 256:
            raise self.refuse(400, "the session's id is too short")
        return name

    def runtime_session(self, name):
        """What is started by a question alone is not counted as created: it leaves nothing."""
        with self.lock:
            if name not in self.boxes:
                self.new_box(name, counted=False)
                self.created -= 1
            return self.boxes[name]

    def count(self, box):
        with self.lock:
            if not box.counted and os.path.isdir(box.tmp) and os.listdir(box.tmp):
                box.counted = True
                self.created += 1

    def stop_runtime_session(self, request, arn):
        name, token = self.session_id(request, arn), request.json().get("clientToken")
        if token in self.used_tokens:
            return 200, {}, {SESSION: name}
        if not self.drop_box(name):
            raise self.refuse(404, "no such session")
        self.used_tokens.add(token)
        return 200, {}, {SESSION: name}

    def command(self, request, arn):
        box, body = self.runtime_session(self.session_id(request, arn)), request.json()
        limit = body.get("timeout", 300)
        if not 1 <= limit <= 3600 or not 1 <= len(body["command"]) <= 65536:
            raise self.refuse(400, "the command or its timeout is out of range")
        chunks = self.chunks(box, words_of(body["command"]), limit)
        headers = {"Content-Type": "application/vnd.amazon.eventstream", SESSION: box.id}
        if request.fault == "exception":
            list(chunks)
            return 200, exception("throttlingException"), headers
        if request.fault:
            return 200, b"".join(chunks), headers
        write = request.stream(headers)
        for piece in chunks:
            write(piece)
        write(b"")
        return None

    def chunks(self, box, words, limit):
        yield chunk({"contentStart": {}})
        try:
            child = box.run(words or ["/no/such/program"], stdin=False)
        except FileNotFoundError as error:
            yield chunk({"contentDelta": {"stderr": str(error)}})
            yield chunk({"contentStop": {"exitCode": 127, "status": "COMPLETED"}})
            return
        status, deadline = "COMPLETED", time.time() + limit
        for item in child.follow(patience=0.2):
            if time.time() > deadline and status == "COMPLETED":
                status = "TIMED_OUT"
                child.signal(9)
            if item:
                channel, data = item
                yield chunk({"contentDelta": {channel: data.decode(errors="replace")}})
        self.count(box)
        yield chunk({"contentStop": {"exitCode": child.exit_code(), "status": status}})
