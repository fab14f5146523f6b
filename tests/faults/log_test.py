#!/usr/bin/env python3
"""A log that nobody reads, and one whose reader has ended: neither may stop the service. Run as root; takes names of
single tests."""
import contextlib
import os
import signal
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/../support"]

from cases import main, wait_until  # noqa: E402
from server import Client, Server  # noqa: E402

MOST = 1 << 20  # bytes: far more than a pipe holds


class Reader:
    """Reads a log through a pipe, for as long as it is told to."""

    def __init__(self, path):
        self.pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.text = b""

    def read(self):
        with contextlib.suppress(OSError):  # nothing is there
            while self.pipe and (piece := os.read(self.pipe, 65536)):
                self.text += piece
        return self.text.decode()

    def drain(self):
        """Reads on, so that a server that waits for it can end."""
        while self.pipe:
            self.read()
            time.sleep(0.01)

    def close(self):
        pipe, self.pipe = self.pipe, None
        if pipe:
            os.close(pipe)


@contextlib.contextmanager
def logged_to_a_pipe():
    """A server that logs each answer into a pipe, a client of it, its sandbox, and the pipe's reader."""
    with tempfile.TemporaryDirectory(prefix="sandgate-log-") as directory:
        pipe = directory + "/pipe"
        os.mkfifo(pipe)
        reader = Reader(pipe)
        server = Server(settings={"log.level": "debug"})
        try:
            server.start(wrapper=["sh", "-c", f'exec "$@" 2> {pipe}', "sh"])
            server.profile("test")
            client = server.tenant("logged")[1]
            client.timeout = 10
            box = client.ok("POST", "/v1/sandboxes", {"profile": "test"})["id"]
            yield server, client, box, reader
        finally:
            threading.Thread(target=reader.drain, daemon=True).start()
            server.close()
            reader.close()


def test_a_log_that_nobody_reads_stops_nothing():
    with logged_to_a_pipe() as (server, client, box, reader):
        read = len(reader.read())
        for _ in range(1000):
            begin = time.monotonic()
            assert client.call("GET", f"/v1/sandboxes/{box}").status == 200
            assert time.monotonic() - begin < 5, "it waits for the reader of the log"
        assert Client(server.host, server.port, timeout=5).call("GET", "/healthz").status == 200
        assert client.ok("POST", f"/v1/sandboxes/{box}/exec", {"command": ["true"]})["exit_code"] == 0
        assert read < len(reader.read()) < MOST

        # As soon as it is read again, it says what is missing.
        def told():
            client.ok("GET", f"/v1/sandboxes/{box}")
            return "lines of the log were left out" in reader.read()

        wait_until(told, 10, "it is told how many lines are missing")


def test_the_end_of_a_logs_reader_is_not_the_services():
    with logged_to_a_pipe() as (server, client, box, reader):
        reader.close()
        listen = server.home + "/gateway/listen"
        os.unlink(listen)
        server.kill("worker", signal.SIGKILL)
        wait_until(lambda: os.path.exists(listen) or server.process.poll() is not None, 30, "the next one listens")
        assert server.process.poll() is None, "the service ended with who read its log"
        server.port = client.port = int(open(listen).read().rsplit(":", 1)[1])
        client.close()
        wait_until(lambda: client.call("GET", f"/v1/sandboxes/{box}").status == 200, 20, "it answers")
        assert client.ok("POST", f"/v1/sandboxes/{box}/exec", {"command": ["true"]})["exit_code"] == 0


if __name__ == "__main__":
    main(globals())
