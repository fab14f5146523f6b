"""gRPC over HTTP/2 without TLS for the fakes, beside HTTP/1.1 on the same port. Faults are those of
fake.py; statuses of HTTP become what a gRPC server says in their place."""
import base64
import struct
import sys
import threading
import traceback
import urllib.parse

# The packages of the distribution, also for a Python that came another way.
sys.path.append("/usr/lib/python3/dist-packages")
import h2.config  # noqa: E402
import h2.connection  # noqa: E402
import h2.events  # noqa: E402
import h2.exceptions  # noqa: E402
import h2.settings  # noqa: E402

import fake  # noqa: E402

PREFACE = b"PRI * HTTP/2.0"
OK, CANCELLED, UNKNOWN, INVALID, DEADLINE, NOT_FOUND, EXISTS, DENIED = range(8)
EXHAUSTED, PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE = range(8, 15)
UNAUTHENTICATED = 16
OF_STATUS = {400: INVALID, 401: UNAUTHENTICATED, 402: EXHAUSTED, 403: DENIED, 404: NOT_FOUND,
             409: EXISTS, 429: EXHAUSTED, 500: INTERNAL, 503: UNAVAILABLE}


class Failure(Exception):
    """A call's end other than success. `details`: bytes of grpc-status-details-bin."""

    def __init__(self, code, message, details=b""):
        super().__init__(f"{code} {message}")
        self.code, self.message, self.details = code, message, details


class GrpcFake(fake.Fake):
    """Derived classes have a `schema` and a method for each of its calls, called with the request's
    message and a Call; one whose answers are streamed is a generator."""
    schema = None

    def checked(self, call):
        """Raises Failure; every vendor has its own credentials."""

    def throttled(self, seconds):
        """The details of a status that says when to come again."""
        return b""


class Call(fake.Request):
    """One call: a stream of a connection."""

    def __init__(self, connection, stream_id, headers):
        super().__init__(None, "POST", headers[":path"], {}, headers, b"")
        self.connection, self.stream_id = connection, stream_id
        self.gone = threading.Event()

    def messages(self):
        at, found = 0, []
        while at < len(self.body):
            packed, size = struct.unpack(">BI", self.body[at:at + 5])
            if packed:
                raise Failure(UNIMPLEMENTED, "no compression here")
            found.append(self.body[at + 5:at + 5 + size])
            at += 5 + size
        return found


class Connection:
    """Reads frames on the handler's thread; each call runs on one of its own."""

    def __init__(self, handler):
        self.handler, self.fake, self.socket = handler, handler.fake, handler.connection
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(
            client_side=False, header_encoding="utf-8"))
        self.changed, self.calls, self.open = threading.Condition(), {}, True

    def flush(self):
        data = self.h2.data_to_send()
        if data:
            self.socket.sendall(data)

    def run(self):
        with self.changed:
            self.h2.initiate_connection()
            self.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 1 << 20})
            self.flush()
        try:
            while self.open:
                data = self.socket.recv(65536)
                if not data:
                    break
                with self.changed:
                    for event in self.h2.receive_data(data):
                        self.take(event)
                    self.flush()
                    self.changed.notify_all()
        except (OSError, h2.exceptions.ProtocolError):
            pass
        self.close()

    def close(self):
        with self.changed:
            self.open = False
            for call in self.calls.values():
                call.gone.set()
            self.changed.notify_all()

    def reset(self):
        """Breaks the whole connection off."""
        self.close()
        try:
            self.socket.setsockopt(fake.socket.SOL_SOCKET, fake.socket.SO_LINGER,
                                   struct.pack("ii", 1, 0))
            self.socket.shutdown(fake.socket.SHUT_RD)
        except OSError:
            pass

    def take(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.calls[event.stream_id] = Call(self, event.stream_id, dict(event.headers))
        elif isinstance(event, h2.events.DataReceived):
            self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if event.stream_id in self.calls:
                self.calls[event.stream_id].body += event.data
        elif isinstance(event, h2.events.StreamEnded):
            call = self.calls.get(event.stream_id)
            if call:
                threading.Thread(target=self.serve, args=(call,), daemon=True).start()
        elif isinstance(event, h2.events.StreamReset):
            call = self.calls.pop(event.stream_id, None)
            if call:
                call.gone.set()
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.open = False

    # ---- answers; each raises ConnectionError when nobody waits for it any more

    def headers(self, call, fields, end=False):
        with self.changed:
            self.check(call)
            self.h2.send_headers(call.stream_id, fields, end_stream=end)
            self.flush()

    def data(self, call, data):
        while data:
            with self.changed:
                while self.h2.local_flow_control_window(call.stream_id) < 1:
                    self.changed.wait(1)
                    self.check(call)
                self.check(call)
                size = min(len(data), self.h2.local_flow_control_window(call.stream_id),
                           self.h2.max_outbound_frame_size)
                self.h2.send_data(call.stream_id, data[:size])
                self.flush()
            data = data[size:]

    def check(self, call):
        if call.gone.is_set() or not self.open:
            raise ConnectionError("nobody waits")

    def begin(self, call):
        self.headers(call, [(":status", "200"), ("content-type", "application/grpc+proto")])

    def end(self, call, failure=None, begun=True):
        fields = [("grpc-status", str(failure.code if failure else OK))]
        if failure:
            fields.append(("grpc-message", urllib.parse.quote(failure.message, safe=" /:,.'")))
            if failure.details:
                text = base64.b64encode(failure.details).decode().rstrip("=")
                fields.append(("grpc-status-details-bin", text))
        if not begun:
            fields = [(":status", "200"), ("content-type", "application/grpc+proto")] + fields
        self.headers(call, fields, end=True)
        with self.changed:
            self.calls.pop(call.stream_id, None)

    # ---- one call

    def serve(self, call):
        try:
            fault = self.fake.fault_of(call) or {"kind": ""}
            kind = fault["kind"]
            if kind == "hang":
                while not (self.fake.stopped.is_set() or call.gone.wait(0.05)):
                    pass
            if kind in ("hang", "reset"):
                return self.reset()
            if kind == "status":
                wait = fault.get("headers", {}).get("Retry-After")
                raise Failure(OF_STATUS[fault["status"]], "switched on",
                              self.fake.throttled(int(wait)) if wait else b"")
            self.dispatch(call, kind)
        except Failure as failure:
            self.give_up(call, failure)
        except (OSError, h2.exceptions.ProtocolError):
            pass
        except Exception:
            traceback.print_exc()
            self.give_up(call, Failure(INTERNAL, "the fake failed"))
        return None

    def give_up(self, call, failure):
        try:
            self.end(call, failure, begun=call.streaming)
        except (OSError, h2.exceptions.ProtocolError):
            pass

    def dispatch(self, call, kind):
        if call.path not in self.fake.schema.methods:
            raise Failure(UNIMPLEMENTED, "no such call")
        name, asks, answers, streams_in, streams_out = self.fake.schema.methods[call.path]
        unknown = []
        received = [self.fake.schema.decode(asks, data, unknown) for data in call.messages()]
        for field, value in (("te", "trailers"), ("content-type", "application/grpc")):
            if not call.headers.get(field, "").startswith(value):
                unknown.append(f"{call.path}: {field} is {call.headers.get(field)}")
        with self.fake.lock:
            self.fake.violations += unknown
        self.fake.checked(call)
        if not streams_in and len(received) != 1:
            raise Failure(INVALID, "one message is asked for")
        result = getattr(self.fake, name)(received if streams_in else received[0], call)
        if streams_out:
            return self.stream(call, answers, result)
        data = frame(self.fake.schema.encode(answers, result))
        if kind == "lost_reply":
            return self.reset()
        return self.answer(call, data, kind)

    def stream(self, call, answers, items):
        call.streaming = True
        self.begin(call)
        for item in items:
            self.check(call)
            if item is not None:
                self.data(call, frame(self.fake.schema.encode(answers, item)))
        self.end(call)

    def answer(self, call, data, kind):
        call.streaming = True
        self.begin(call)
        if kind == "half_body":
            self.data(call, data[:len(data) // 2])
            return self.reset()
        step = 1 if kind == "trickle" else len(data)
        for at in range(0, len(data), step):
            self.data(call, data[at:at + step])
        return self.end(call)


class Handler(fake.Handler):
    def handle(self):
        start = self.connection.recv(len(PREFACE), fake.socket.MSG_PEEK)
        if start == PREFACE:
            Connection(self).run()
        else:
            super().handle()


GrpcFake.handler = Handler


def frame(message):
    return struct.pack(">BI", 0, len(message)) + message
