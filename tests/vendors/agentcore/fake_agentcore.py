#!/usr/bin/env python3
"""Amazon Bedrock AgentCore: sessions of a Code Interpreter and of an agent runtime. Every request's
signature is checked. Tools run as harshly as users found: under a terminal, both outputs in one,
and without the command's status."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fake  # noqa: E402
import model_check  # noqa: E402
import sigv4  # noqa: E402
from event_messages import event  # noqa: E402
from runtime_sessions import RuntimeSessions  # noqa: E402

KEYS = {"AKIA0001": "secret/key+0001"}
TOKEN = "session+token/0001=="
INTERPRETER = r"/code-interpreters/([^/]+)"
NAMES = {400: "ValidationException", 402: "ServiceQuotaExceededException",
         403: "AccessDeniedException", 404: "ResourceNotFoundException", 409: "ConflictException",
         424: "RuntimeClientError", 429: "ThrottlingException", 500: "InternalServerException"}


def iso8601(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class FakeAgentcore(RuntimeSessions, fake.Fake):
    routes = (
        ("PUT", INTERPRETER + r"/sessions/start", "start"),
        ("GET", INTERPRETER + r"/sessions/get", "get"),
        ("POST", INTERPRETER + r"/sessions/list", "list"),
        ("PUT", INTERPRETER + r"/sessions/stop", "stop"),
        ("POST", INTERPRETER + r"/tools/invoke", "invoke"),
        *RuntimeSessions.runtime_routes,
    )

    def __init__(self, specs=None):
        super().__init__(specs)
        self.ended, self.repeats = {}, {}

    def failure(self, status, text):
        return {"__type": NAMES.get(status, "InternalServerException"), "message": text}

    def refuse(self, status, text):
        body = self.failure(status, text)
        return fake.Refusal(status, body, {"x-amzn-ErrorType": body["__type"]})

    def authorized(self, request):
        wrong = sigv4.problem(request.method, request.handler.path, request.headers, request.body,
                              KEYS, "us-east-1", "bedrock-agentcore")
        if wrong or request.headers.get("X-Amz-Security-Token") != TOKEN:
            raise self.refuse(403, wrong or "no such session token")

    # ---- sessions

    def view(self, box):
        return {"codeInterpreterIdentifier": box.interpreter, "sessionId": box.id,
                "name": box.name, "status": "READY" if box.id in self.boxes else "TERMINATED",
                "createdAt": iso8601(box.created_at), "lastUpdatedAt": iso8601(time.time())}

    def known(self, interpreter):
        if interpreter != "aws.codeinterpreter.v1":
            raise self.refuse(404, "no such interpreter")

    def session(self, session_id, ended=False):
        box = self.boxes.get(session_id) or (self.ended.get(session_id) if ended else None)
        if not box:
            raise self.refuse(404, f"no session {session_id}")
        return box

    def start(self, request, interpreter):
        self.known(interpreter)
        body = request.json()
        token = body.get("clientToken")
        if token and self.repeats.get(token) in self.boxes:
            return 200, self.view(self.boxes[self.repeats[token]])
        if not 1 <= body.get("sessionTimeoutSeconds", 900) <= 28800:
            raise self.refuse(400, "sessionTimeoutSeconds is out of range")
        box = self.new_box(fake.new_id("01"), name=body.get("name", "session"), tasks={},
                           interpreter=interpreter,
                           timeout=body.get("sessionTimeoutSeconds", 900))
        if token:
            self.repeats[token] = box.id
        return 200, {name: self.view(box)[name] for name in
                     ("codeInterpreterIdentifier", "sessionId", "createdAt")}

    def get(self, request, interpreter):
        self.known(interpreter)
        box = self.session(request.one("sessionId"), ended=True)
        view = self.view(box)
        view.pop("lastUpdatedAt")
        return 200, {**view, "sessionTimeoutSeconds": box.timeout}

    def list(self, request, interpreter):
        self.known(interpreter)
        body = request.json()
        views = [self.view(box) for box in [*self.boxes.values(), *self.ended.values()]]
        views = [view for view in sorted(views, key=lambda view: view["sessionId"])
                 if body.get("status") in (None, view["status"])]
        start, limit = int(body.get("nextToken") or 0), body.get("maxResults", 10)
        answer = {"items": views[start:start + limit]}
        if start + limit < len(views):
            answer["nextToken"] = str(start + limit)
        return 200, answer

    def stop(self, request, interpreter):
        self.known(interpreter)
        box = self.session(request.one("sessionId"), ended=True)
        self.ended[box.id] = box
        self.drop_box(box.id)
        return 200, {"codeInterpreterIdentifier": interpreter, "sessionId": box.id,
                     "lastUpdatedAt": iso8601(time.time())}

    # ---- tools

    def invoke(self, request, interpreter):
        self.known(interpreter)
        box = self.session(request.headers.get("x-amzn-code-interpreter-session-id"))
        body = request.json()
        tool = getattr(self, "tool_" + body["name"], None)
        if not tool:
            raise self.refuse(400, "no such tool")
        write = request.stream({"Content-Type": "application/vnd.amazon.eventstream",
                                "x-amzn-code-interpreter-session-id": box.id})
        write(event("result", tool(box, body["arguments"])))
        write(b"")

    def result(self, text, failed=False, **structured):
        return {"content": [{"type": "text", "text": text}], "isError": failed,
                "structuredContent": structured}

    def begin(self, box, arguments):
        return box.run(["/bin/bash", "-c", arguments["command"]], pty=(80, 24))

    def tool_executeCommand(self, box, arguments):
        child = self.begin(box, arguments)
        with child.changed:
            while child.status is None:
                child.changed.wait(0.2)
        text = child.text().decode(errors="replace")
        return self.result(text, stdout=text, stderr="", exitCode=0, executionTime=1.5)

    def tool_startCommandExecution(self, box, arguments):
        task = fake.new_id("task")
        box.tasks[task] = self.begin(box, arguments)
        return self.result("started", taskId=task, taskStatus="submitted")

    def task(self, box, arguments):
        child = box.tasks.get(arguments.get("taskId"))
        if not child:
            return self.result("no such task", failed=True)
        text = child.text().decode(errors="replace")
        if child.status is None:
            return self.result(text, taskId=arguments["taskId"], taskStatus="working", stdout=text)
        return self.result(text, taskId=arguments["taskId"], stdout=text, stderr="",
                           taskStatus="completed" if child.status == 0 else "failed",
                           exitCode=child.exit_code())

    def tool_getTask(self, box, arguments):
        return self.task(box, arguments)

    def tool_stopTask(self, box, arguments):
        child = box.tasks.get(arguments.get("taskId"))
        if child:
            child.signal(9, group=True)
        return self.result("stopped", taskId=arguments["taskId"], taskStatus="canceled")


if __name__ == "__main__":
    control = r"/runtimes/[^/]+/$"
    fake.run(FakeAgentcore, [("bedrock-agentcore.service-2.json", f"(?!{control})"),
                             ("bedrock-agentcore-control.service-2.json", f"(?={control})")],
             checker=model_check.ModelCheck)
