# Runs once for each call: finds the session of a context, or starts it, and passes on what it
# tells. `request` was read by who runs this. The first line of the output is the status, as of
# HTTP, with a message or the answer.
import fcntl
import json
import os
import socket
import stat
import sys
import time

HOME = "/tmp/.sandgate-code"
LANGUAGES = {"python": "python3", "javascript": "node", "typescript": "node", "bash": "bash"}
NAMES = {"": "python", "py": "python", "js": "javascript", "ts": "typescript", "sh": "bash"}
MOST_CONTEXTS = 32
TRIES = 60  # in three seconds


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def say(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def is_installed(program):
    return any(os.access(os.path.join(place, program), os.X_OK) for place in os.get_exec_path())


def new_identity():
    digits = os.urandom(16).hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def enter_home():
    try:
        os.mkdir(HOME, 0o700)
    except FileExistsError:
        found = os.lstat(HOME)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise Refused(500, f"{HOME} belongs to somebody else")
    # Relative, as a socket's path has at most 107 bytes.
    return os.open(HOME, os.O_DIRECTORY | os.O_CLOEXEC)


def language_of(name):
    name = (name or "").strip().lower()
    name = NAMES.get(name, name)
    if name not in LANGUAGES:
        raise Refused(400, f"'{name}' is not run here: {', '.join(LANGUAGES)} are")
    if not is_installed(LANGUAGES[name]):
        raise Refused(400, f"the image has no {LANGUAGES[name]}, which runs {name}")
    return name


class Contexts:
    def __init__(self, request):
        self.request, self.home = request, enter_home()

    def path(self, name):
        return f"/proc/self/fd/{self.home}/{name}"

    def all(self):
        found = []
        for name in sorted(os.listdir(self.home)):
            if name.endswith(".json"):
                found.append(self.find(name[:-5]))
        return [one for one in found if one]

    def find(self, identity):
        try:
            with open(self.path(identity + ".json")) as file:
                known = json.load(file)
            fine = known["id"] == identity and known["language"] in LANGUAGES
            return known if fine and isinstance(known["cwd"], str) else None
        except (OSError, ValueError, TypeError, KeyError):
            return None  # not there, or not ours

    def named(self, identity):
        known = self.find(identity) if identity and "/" not in identity else None
        if not known:
            raise Refused(404, f"there is no context '{identity}'")
        return known

    def add(self, identity, language, cwd):
        cwd = os.path.expanduser(cwd or "~")
        if not os.path.isdir(cwd):
            raise Refused(400, f"cwd: there is no directory '{cwd}'")
        if len(self.all()) >= MOST_CONTEXTS:
            raise Refused(429, f"there are {MOST_CONTEXTS} contexts: remove one")
        context = {"id": identity, "language": language, "cwd": os.path.abspath(cwd)}
        draft = self.path(f"{identity}.{os.getpid()}")
        with open(draft, "w") as file:
            json.dump(context, file)
        os.rename(draft, self.path(identity + ".json"))
        return context

    def asked(self):
        """The context of a request to execute; the language's own if it names none."""
        identity, language = self.request.get("context_id"), self.request.get("language")
        if identity and language:
            raise Refused(400, "give a context or a language, not both")
        if identity:
            return self.named(identity)
        language = language_of(language)
        return self.find(language) or self.add(language, language, "")

    def lock(self, identity):
        file = open(self.path(identity + ".lock"), "w")
        fcntl.flock(file, fcntl.LOCK_EX)
        return file

    def connect(self, identity):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(self.path(identity + ".sock"))
            return connection
        except OSError:
            connection.close()
            return None

    def session(self, context):
        """A connection to it. The listener exists before its process does, so nobody waits."""
        connection = self.connect(context["id"])
        if connection:
            return connection
        with self.lock(context["id"]):
            connection = self.connect(context["id"])
            if connection:
                return connection
            self.unlink(context["id"] + ".sock")
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(self.path(context["id"] + ".sock"))
                listener.listen(64)
                self.start(context, listener)
            return self.connect(context["id"])

    def start(self, context, listener):
        programs, language = self.request["programs"], context["language"]
        kind = "python_session" if language == "python" else "child_session"
        cwd = context["cwd"] if os.path.isdir(context["cwd"]) else "/"
        source = os.memfd_create("session")
        os.write(source, (programs["session"] + programs[kind]).encode())
        os.lseek(source, 0, os.SEEK_SET)
        null = [(os.POSIX_SPAWN_OPEN, place, "/dev/null", os.O_RDWR, 0) for place in range(3)]
        process = os.posix_spawnp(
            "python3", ["python3", "-c", "exec(open(4).read())", "3", language,
                        programs["node_session"] if LANGUAGES[language] == "node" else ""],
            {**os.environ, "PWD": cwd}, setsid=True,
            file_actions=[*null, (os.POSIX_SPAWN_DUP2, listener.fileno(), 3),
                          (os.POSIX_SPAWN_DUP2, source, 4)])
        os.close(source)
        with open(self.path(context["id"] + ".pid"), "w") as file:
            file.write(str(process))

    def unlink(self, name):
        try:
            os.unlink(self.path(name))
        except FileNotFoundError:
            pass

    def end(self, context):
        connection = self.connect(context["id"])
        if connection:
            with connection:
                connection.settimeout(2)
                try:
                    connection.sendall(b'{"end": true}\n')
                    while connection.recv(4096):
                        pass
                except OSError:
                    self.kill(context)
        self.unlink(context["id"] + ".sock")
        self.unlink(context["id"] + ".pid")

    def kill(self, context):
        try:
            with open(self.path(context["id"] + ".pid")) as file:
                os.killpg(int(file.read()), 9)
        except (OSError, ValueError):
            pass  # it has ended

    def begin(self, context, line):
        """A connection to a session that has accepted the request, and what it said first. One
        that is ending takes connections until it is gone."""
        for _ in range(TRIES):
            connection = self.session(context)
            piece = self.first_of(connection, line) if connection else b""
            if piece:
                return connection, piece
            time.sleep(0.05)
        raise Refused(500, "the session could not be started")

    @staticmethod
    def first_of(connection, line):
        try:
            connection.sendall(line)
            return connection.recv(1 << 16)
        except OSError:
            return b""

    # ---- the calls

    def execute(self):
        request = {"code": self.request["code"], "env_vars": self.request.get("env_vars")}
        connection, piece = self.begin(self.asked(), json.dumps(request).encode() + b"\n")
        say(status=200)
        tail = b""
        while piece:
            tail = (tail + piece)[-64:]
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
            piece = connection.recv(1 << 16)
        if b'"end_of_execution"' not in tail:
            gap = "" if not tail or tail.endswith(b"\n") else "\n"
            sys.stdout.write(gap)
            say(type="error", name="SessionEnded", traceback="",
                value="the session ended while it ran this: its variables are lost")

    def create(self):
        language = language_of(self.request.get("language"))
        answer = self.add(new_identity(), language, self.request.get("cwd"))
        self.session(answer).close()  # starts meanwhile
        return answer

    def list(self):
        return self.all()

    def remove(self):
        context = self.named(self.request["context_id"])
        self.unlink(context["id"] + ".json")
        self.end(context)
        self.unlink(context["id"] + ".lock")

    def restart(self):
        context = self.named(self.request["context_id"])
        with self.lock(context["id"]):
            self.end(context)
        self.session(context).close()


def main(request):
    try:
        contexts = Contexts(request)
        if request["call"] == "execute":
            return contexts.execute()
        say(status=200, answer=getattr(contexts, request["call"])())
    except Refused as refusal:
        say(status=refusal.status, message=str(refusal))
    except (OSError, ValueError) as problem:
        say(status=500, message=f"{type(problem).__name__}: {problem}")


main(request)
