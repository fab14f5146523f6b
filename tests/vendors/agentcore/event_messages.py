"""Messages of AWS's event streams."""
import json
import struct
import zlib


def message(headers, payload):
    """One message of an event stream; headers are texts."""
    block = b"".join(struct.pack(">B", len(name)) + name.encode() + b"\x07"
                     + struct.pack(">H", len(value)) + value.encode()
                     for name, value in headers.items())
    prelude = struct.pack(">II", 16 + len(block) + len(payload), len(block))
    whole = prelude + struct.pack(">I", zlib.crc32(prelude)) + block + payload
    return whole + struct.pack(">I", zlib.crc32(whole))


def event(kind, document):
    return message({":message-type": "event", ":event-type": kind,
                    ":content-type": "application/json"}, json.dumps(document).encode())


def exception(kind):
    return message({":message-type": "exception", ":exception-type": kind,
                    ":content-type": "application/json"}, json.dumps({"message": kind}).encode())
