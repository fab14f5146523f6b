# What the sessions of all languages share: a session is a process that keeps a context's variables,
# takes requests from a Unix socket, one after the other, and tells what comes of them in lines of
# JSON. Whoever asked and leaves interrupts its own request.
import sys
sys.path[:] = filter(None, sys.path)  # a file beside the code may be named like one of these
import codecs
import json
import os
import queue
import select
import signal
import socket
import threading
import time

MOST_REQUESTS = 64  # waiting or running
MOST_BYTES = 40 << 20  # of a request
PIECE = 48 << 10  # of output in one line
MOST_LINE = 15 << 20  # bytes; the gateway breaks off at a line of 16 MiB
PATIENCE = 5  # interrupts of a request, one a second; then it costs the whole session


class Job:
    def __init__(self, connection):
        self.connection, self.gone, self.request = connection, False, None

    def receive(self):
        """False: it left, or sent too much."""
        parts, size = [], 0
        while size <= MOST_BYTES:
            piece = self.connection.recv(1 << 20)
            parts.append(piece)
            size += len(piece)
            if not piece:
                return False
            if piece.endswith(b"\n"):
                self.request = json.loads(b"".join(parts))
                return True
        return False


class Capture:
    """A standard stream's other end, which also subprocesses write to."""

    def __init__(self, session, kind, descriptor):
        self.session, self.kind, self.lock = session, kind, threading.Lock()
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.end, inner = os.pipe()
        os.dup2(inner, descriptor)
        os.close(inner)
        os.set_blocking(self.end, False)
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        while True:
            select.select([self.end], [], [])
            self.pump()

    def pump(self, last=False):
        """Tells all that was written before the call."""
        with self.lock:
            while True:
                try:
                    text = self.decoder.decode(os.read(self.end, PIECE))
                except BlockingIOError:
                    break
                self.tell(text)
            if last:
                self.tell(self.decoder.decode(b"", True))

    def tell(self, text):
        if text:
            self.session.emit({"type": self.kind, "text": text, "timestamp": time.time_ns()})


class Session:
    def __init__(self):
        self.jobs, self.count = queue.Queue(), 0
        self.current = None  # who is told of output
        self.working, self.lock = None, threading.Lock()  # who may be interrupted
        self.places = threading.Semaphore(MOST_REQUESTS)
        self.sending = threading.Lock()
        self.captures = [Capture(self, "stdout", 1), Capture(self, "stderr", 2)]
        self.sockets, self.is_fork = set(), False
        os.register_at_fork(after_in_child=self.become_fork)

    def become_fork(self):
        """Of a process that code forks: it answers nobody, and holds nothing open that would keep
        callers waiting for a session that has ended."""
        self.is_fork, self.current, self.captures = True, None, []
        for one in self.sockets:
            try:
                one.close()
            except OSError:
                pass  # the code closed it

    def execute(self, request):
        raise NotImplementedError

    def interrupt(self, again):
        raise NotImplementedError

    def emit(self, event):
        job = self.current
        if job is None or job.gone:
            return
        line = self.line_of(event)
        if len(line) > MOST_LINE:
            line = self.line_of({"type": "error", "name": "ResultTooLarge", "traceback": "",
                                 "value": f"a result has at most {MOST_LINE >> 20} MiB"})
        with self.sending:
            try:
                job.connection.sendall(line)
            except OSError:
                job.gone = True

    @staticmethod
    def line_of(event):
        return json.dumps(event, ensure_ascii=False).encode("utf-8", "replace") + b"\n"

    def error(self, name, value, traceback=""):
        self.flush()
        self.emit({"type": "error", "name": name, "value": value, "traceback": traceback})

    def flush(self, last=False):
        for capture in self.captures:
            capture.pump(last)

    def accept(self, listener):
        while True:
            self.places.acquire()
            try:
                connection, _ = listener.accept()
            except OSError:
                os._exit(1)  # nobody could reach this session any more
            threading.Thread(target=self.attend, args=(Job(connection),), daemon=True).start()

    def attend(self, job):
        self.sockets.add(job.connection)
        try:
            if job.receive():
                if job.request.get("end"):
                    self.give_up()
                job.connection.sendall(b'{"type": "accepted"}\n')
                self.jobs.put(job)
                while job.connection.recv(4096):
                    pass
        except (OSError, ValueError, AttributeError):
            pass
        job.gone = True
        self.end(job)
        self.sockets.discard(job.connection)
        self.places.release()

    def end(self, job):
        for attempt in range(PATIENCE):
            with self.lock:
                if self.working is not job:
                    return
                self.interrupt(again=attempt > 0)
            until = time.monotonic() + 1
            while self.working is job and time.monotonic() < until:
                time.sleep(0.01)
        if self.working is job:
            self.give_up()

    def give_up(self):
        """Ends this process and what the code started: a session leads a group of its own."""
        os.killpg(0, signal.SIGKILL)

    def serve(self, descriptor):
        os.chdir(os.environ.get("PWD", "/"))
        listener = socket.socket(fileno=descriptor)
        os.set_inheritable(descriptor, False)
        self.sockets.add(listener)
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()
        while True:
            job = self.jobs.get()
            if job.gone:
                continue
            self.flush(True)  # of what runs in the background: nobody asked for it
            self.current = job
            self.count += 1
            self.emit({"type": "number_of_executions", "execution_count": self.count})
            with self.lock:
                self.working = job
            self.execute(job.request)
            if self.is_fork:
                self.flush()
                os._exit(0)
            # Its client may leave from here on, and whoever is not working is not interrupted.
            with self.lock:
                self.working = None
            self.flush(True)
            self.emit({"type": "end_of_execution"})
            self.current = None
            try:
                job.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
