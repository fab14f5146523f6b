"""A program for the inside of a sandbox: every way to answer that a relay must get right.

Prints "ready" when it listens. Usage: app.py PORT [ADDRESS]
"""
import base64
import ctypes
import hashlib
import http.server
import json
import os
import socket
import struct
import sys
import threading
import time
import urllib.parse

WEBSOCKET = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
stuck = {"bytes": 0, "left": 0}  # of /never and /endless


class App(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 0

    def log_message(self, *unused):
        pass

    def answer(self, status, body=b"", **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            whole = b""
            while size := int(self.rfile.readline(), 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return whole
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def serve(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        action = getattr(self, "on_" + url.path.strip("/").split("/")[0], self.on_echo)
        action(query)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_PROPFIND = do_X_OWN = serve

    def on_echo(self, query):
        body = self.body()
        told = {"method": self.command, "target": self.path, "headers": self.headers.items(),
                "length": len(body), "digest": hashlib.sha256(body).hexdigest()}
        self.answer(200, json.dumps(told).encode(), Content_Type="application/json")

    def on_status(self, query):
        self.body()
        self.answer(int(query["code"]), b"" if query["code"] in ("204", "304") else b"text")

    def on_fields(self, query):
        """Answers with the header fields that the query gives."""
        self.answer(200, b"ok", **query)

    def on_large(self, query):
        self.answer(200, b"0123456789abcdef" * (int(query["bytes"]) // 16))

    def on_chunked(self, query):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for i in range(int(query["chunks"])):
            part = (b"%d," % i) * int(query.get("repeat", 1))
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.write(b"0\r\nTrailer: x\r\n\r\n")

    def on_unsized(self, query):
        self.close_connection = True
        self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        self.wfile.write(b"until the end " * 5000)

    def on_events(self, query):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for i in range(3):
            self.wfile.write(b"9\r\ndata: %d\n\n\r\n" % i)
            time.sleep(0.3)
        self.wfile.write(b"0\r\n\r\n")

    def on_late(self, query):
        time.sleep(float(query["seconds"]))
        self.answer(200, b"late")

    def on_hush(self, query):
        """Begins an answer and says no more."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
        time.sleep(3600)

    def on_informed(self, query):
        self.body()
        self.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
        self.answer(200, b"informed")

    def on_early(self, query):
        """Answers without reading the body, and leaves."""
        self.close_connection = True
        self.answer(413, b"no thanks", Connection="close")

    def on_duplex(self, query):
        """Sends each chunk back as it comes."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while size := int(self.rfile.readline(), 16):
            part = self.rfile.read(size)
            self.rfile.readline()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.rfile.readline()
        self.wfile.write(b"0\r\n\r\n")

    def on_never(self, query):
        """Reads nothing of the body and says nothing."""
        time.sleep(3600)

    def on_endless(self, query):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        part = b"x" * 65536
        try:
            while True:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                stuck["bytes"] += len(part)
        except OSError:
            stuck["left"] += 1
            self.close_connection = True

    def on_never_final(self, query):
        try:
            while True:
                self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 2000)
        except OSError:
            stuck["left"] += 1
            self.close_connection = True

    def on_interim(self, query):
        self.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 3)
        self.answer(200, b"final")

    def on_stuck(self, query):
        self.answer(200, json.dumps({**stuck, "threads": threading.active_count()}).encode())

    def on_cut(self, query):
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")

    def on_broken(self, query):
        """Ends by a reset what only the connection's end delimits."""
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf")
        # To connect it to nothing resets it. SO_LINGER has no effect in a sandbox.
        nothing = struct.pack("16x")
        ctypes.CDLL(None).connect(self.connection.fileno(), nothing, len(nothing))
        os.close(self.connection.detach())

    def on_raw(self, query):
        self.close_connection = True
        filler = b"y" * int(query.get("filler", "0"))
        self.wfile.write(base64.b64decode(query["bytes"]).replace(b"{filler}", filler))

    def on_leave(self, query):
        self.close_connection = True

    def on_ws(self, query):
        key = self.headers.get("Sec-WebSocket-Key", "").encode()
        accept = base64.b64encode(hashlib.sha1(key + WEBSOCKET).digest()).decode()
        self.wfile.write(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Accept: {accept}\r\n\r\n").encode())
        self.close_connection = True
        while True:
            head = self.rfile.read(2)
            if len(head) < 2 or head[0] & 15 == 8:
                return
            size = head[1] & 127
            if size == 126:
                size = struct.unpack(">H", self.rfile.read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.rfile.read(8))[0]
            mask = self.rfile.read(4)
            data = bytes(b ^ mask[i % 4] for i, b in enumerate(self.rfile.read(size)))
            if size < 126:
                frame = bytes([head[0], size])
            elif size < 65536:
                frame = bytes([head[0], 126]) + struct.pack(">H", size)
            else:
                frame = bytes([head[0], 127]) + struct.pack(">Q", size)
            self.wfile.write(frame + data)


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


if __name__ == "__main__":
    address = sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1"
    if ":" in address:
        import socket
        Listener.address_family = socket.AF_INET6
    server = Listener((address, int(sys.argv[1])), App)
    print("ready", flush=True)
    server.serve_forever()
