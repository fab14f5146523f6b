"""The server's side of a WebSocket (RFC 6455) over a request of fake.py."""
import base64
import hashlib
import struct
import threading

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUED, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


class WebSocket:
    def __init__(self, request):
        self.handler = request.handler
        request.streaming = True
        key = request.headers["Sec-WebSocket-Key"].encode()
        accept = base64.b64encode(hashlib.sha1(key + GUID).digest()).decode()
        self.handler.wfile.write((
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\n\r\n").encode())
        self.handler.close_connection = True
        self.sending = threading.Lock()

    def send(self, data, kind=BINARY):
        size = len(data)
        if size < 126:
            head = struct.pack(">BB", 0x80 | kind, size)
        elif size < 65536:
            head = struct.pack(">BBH", 0x80 | kind, 126, size)
        else:
            head = struct.pack(">BBQ", 0x80 | kind, 127, size)
        with self.sending:
            self.handler.wfile.write(head + data)

    def close(self, code=1000):
        self.send(struct.pack(">H", code), CLOSE)

    def receive(self):
        """(kind, data), None when the other side closed."""
        read, parts, begun = self.handler.rfile.read, [], None
        while True:
            head = read(2)
            if len(head) < 2:
                return None
            kind, size = head[0] & 15, head[1] & 127
            if size == 126:
                size = struct.unpack(">H", read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", read(8))[0]
            mask = read(4)
            data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(read(size)))
            if kind == CLOSE:
                return None
            if kind == PING:
                self.send(data, PONG)
            elif kind in (CONTINUED, TEXT, BINARY):
                begun = begun or kind
                parts.append(data)
                if head[0] & 0x80:
                    return begun, b"".join(parts)
