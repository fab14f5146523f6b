# A session whose code another interpreter runs: a child that reads requests from one pipe and
# writes what comes of them to another, in lines of JSON.
import base64
import fcntl
import shlex
import subprocess

# The end of a line is what came of it.
BASH = r"""
trap : INT
while IFS=' ' read -r -u 3 SANDGATE_CODE; do
  eval "$(base64 -d <<< "$SANDGATE_CODE")"
  printf '{"exit_code":%d}\n' "$?" >&4
done
"""


def out_of_the_way(descriptor):
    """Of the places that the two get in the child."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 64)
    os.close(descriptor)
    return moved


class ChildSession(Session):
    def __init__(self, language, program):
        super().__init__()
        self.language = language
        requests, self.requests = os.pipe()
        self.events, events = os.pipe()

        requests, events = out_of_the_way(requests), out_of_the_way(events)

        def arrange():
            os.setsid()
            os.dup2(requests, 3)
            os.dup2(events, 4)

        command = ["bash", "--noprofile", "--norc", "-c", BASH] if language == "bash" \
            else ["node", "--no-warnings", "-e", program, language]
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=arrange,
                                      close_fds=False)
        os.close(requests)
        os.close(events)
        self.requests, self.lines = os.fdopen(self.requests, "wb"), os.fdopen(self.events, "rb")

    def interrupt(self, again):
        self.signal(signal.SIGINT)

    def signal(self, number):
        try:
            os.killpg(self.child.pid, number)
        except ProcessLookupError:
            pass

    def give_up(self):
        self.signal(signal.SIGKILL)
        super().give_up()

    def request_line(self, request):
        given = request.get("env_vars") or {}
        if self.language != "bash":
            return json.dumps({"code": request["code"], "env_vars": given})
        code = request["code"]
        if given:
            names = " ".join(f"{name}={shlex.quote(value)}" for name, value in given.items())
            code = f"export {names}\n{code}\nset -- $?; unset {' '.join(given)}; (exit $1)"
        return base64.b64encode(code.encode()).decode()

    def execute(self, request):
        try:
            self.requests.write(self.request_line(request).encode() + b"\n")
            self.requests.flush()
        except OSError:
            pass  # its end is noticed below
        while True:
            line = self.lines.readline(MOST_BYTES)
            if not line.endswith(b"\n"):
                break
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if self.take(event):
                return
        self.signal(signal.SIGKILL)
        self.error("SessionEnded", f"the {self.language} session ended with "
                   f"{self.child.wait()}: its variables are lost")
        self.flush(True)
        self.emit({"type": "end_of_execution"})
        os._exit(0)

    def take(self, event):
        """Whether the request is done."""
        if "exit_code" in event:
            if event["exit_code"]:
                self.error("ExitCode", str(event["exit_code"]))
            return True
        if event.get("type") == "done":
            return True
        self.flush()
        self.emit(event)
        return False


if __name__ == "__main__":
    ChildSession(sys.argv[2], sys.argv[3]).serve(int(sys.argv[1]))
