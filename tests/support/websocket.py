"""A WebSocket client for tests (RFC 6455), as plain as it gets. Standard library only."""
import base64
import json
import os
import socket
import struct


class Refused(Exception):
    """The server answered the handshake with something else than 101."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body[:300]!r}")
        self.status, self.body = status, body


class Socket:
    """One connection. `closed` is the code of the close frame once it came, 0 when there was none."""

    def __init__(self, host, port, path, key, timeout=30, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect((host, port))
        self.buffer, self.closed = b"", None
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {key}\r\n"
                             "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                             f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.take(1)
        status = int(head.split()[1])
        if status != 101:
            length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
            raise Refused(status, self.take(int(length[0].split(b":")[1])) if length else b"")

    def take(self, count):
        while len(self.buffer) < count:
            more = self.socket.recv(1 << 16)
            if not more:
                raise ConnectionError("the connection ended")
            self.buffer += more
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def frame(self):
        """(opcode, payload) of one whole message; control frames stand alone."""
        opcode, payload = None, b""
        while True:
            first, second = self.take(2)
            length = second & 0x7F
            if length == 126:
                length = struct.unpack(">H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self.take(8))[0]
            part = self.take(length)
            kind = first & 0x0F
            if kind >= 8:
                return kind, part
            opcode = opcode or kind
            payload += part
            if first & 0x80:
                return opcode, payload

    def next(self):
        """A dict for a control frame, (channel, bytes) for a binary one, None at the end."""
        while True:
            try:
                kind, payload = self.frame()
            except (ConnectionError, OSError):
                if self.closed is None:
                    self.closed = 0
                return None
            if kind == 1:
                return json.loads(payload)
            if kind == 2:
                return payload[0], payload[1:]
            if kind == 8:
                self.closed = struct.unpack(">H", payload[:2])[0] if payload else 1005
                self.write(8, payload)
                return None
            if kind == 9:
                self.write(10, payload)

    def write(self, kind, payload):
        mask = os.urandom(4)
        length = len(payload)
        head = bytes([0x80 | kind]) + (bytes([0x80 | length]) if length < 126 else
                                       bytes([0x80 | 126]) + struct.pack(">H", length) if length < 65536 else
                                       bytes([0x80 | 127]) + struct.pack(">Q", length))
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        try:
            self.socket.sendall(head + mask + masked)
        except OSError:
            pass  # What it was is seen by the next read.

    def send(self, data):
        self.write(2, b"\0" + data)

    def control(self, **frame):
        self.write(1, json.dumps(frame).encode())

    def until(self, text):
        """Output up to and with `text`; fails when the end comes first."""
        seen = b""
        while text not in seen:
            message = self.next()
            assert message is not None, f"ended with {self.closed} after {seen[-300:]!r}"
            if isinstance(message, tuple):
                seen += message[1]
            else:
                assert message["type"] not in ("exit", "error"), (message, seen[-300:])
        return seen

    def rest(self):
        """(output, last control frame) up to the end."""
        output, last = [], None
        while (message := self.next()) is not None:
            if isinstance(message, tuple):
                output.append(message[1])
            else:
                last = message
        return b"".join(output), last

    def close(self):
        self.socket.close()
