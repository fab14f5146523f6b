"""Messages of a .proto file as dictionaries. The part of the language that our files use: messages,
enums, oneof, map<string, string>, repeated, services; names are flat, whatever their package."""
import re
import struct

VARINTS = {"int32", "int64", "uint32", "uint64", "bool"}


class Schema:
    def __init__(self, *paths):
        self.messages, self.enums, self.methods = {}, set(), {}
        for path in paths:
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"//[^\n]*", "", file.read())
            package = re.search(r"package ([\w.]+);", text).group(1)
            for kind, name, body in blocks(text):
                if kind == "enum":
                    self.enums.add(name)
                elif kind == "message":
                    self.messages[name] = dict(fields(body))
                else:
                    self.add_service(f"/{package}.{name}/", body)

    def add_service(self, prefix, body):
        for name, streams_in, asks, streams_out, answers in re.findall(
                r"rpc (\w+)\((stream )?([\w.]+)\)\s*returns \((stream )?([\w.]+)\)", body):
            self.methods[prefix + name] = (name, flat(asks), flat(answers), bool(streams_in),
                                           bool(streams_out))

    def decode(self, message, data, unknown):
        """Absent fields are absent, or [] and {}. Numbers of fields that the file does not have are
        added to `unknown`."""
        known, value = self.messages[message], {}
        for label, kind, name in known.values():
            if label:
                value[name] = {} if label == "map" else []
        at = 0
        while at < len(data):
            key, at = varint(data, at)
            number, wire = key >> 3, key & 7
            if wire == 0:
                raw, at = varint(data, at)
            elif wire == 2:
                size, at = varint(data, at)
                raw, at = data[at:at + size], at + size
            else:
                size = {1: 8, 5: 4}[wire]
                raw, at = data[at:at + size], at + size
            if at > len(data):
                raise ValueError("a field is longer than its message")
            if number not in known:
                unknown.append(f"{message} has no field {number}")
                continue
            label, kind, name = known[number]
            if label == "map":
                entry = {}
                for part_number, part in pairs(raw):
                    entry[part_number] = part.decode()
                value[name][entry.get(1, "")] = entry.get(2, "")
            elif label == "repeated":
                value[name].append(self.scalar(kind, raw, unknown))
            else:
                value[name] = self.scalar(kind, raw, unknown)
        return value

    def scalar(self, kind, raw, unknown):
        if kind == "string":
            return raw.decode()
        if kind == "bytes":
            return bytes(raw)
        if kind == "bool":
            return bool(raw)
        if kind == "float":
            return struct.unpack("<f", raw)[0]
        if kind == "double":
            return struct.unpack("<d", raw)[0]
        if kind in ("int32", "int64"):
            return raw - (1 << 64) if raw >> 63 else raw
        if kind in VARINTS or kind in self.enums:
            return raw
        return self.decode(kind, raw, unknown)

    def encode(self, message, value):
        numbers = {name: (number, label, kind)
                   for number, (label, kind, name) in self.messages[message].items()}
        data = b""
        for name, item in value.items():
            number, label, kind = numbers[name]
            if label == "map":
                for key, text in item.items():
                    data += piece(number, piece(1, key.encode()) + piece(2, text.encode()))
                continue
            for one in item if label == "repeated" else [item]:
                data += self.encode_one(number, kind, one)
        return data

    def encode_one(self, number, kind, value):
        if kind == "string":
            return piece(number, value.encode())
        if kind == "bytes":
            return piece(number, value)
        if kind == "float":
            return number_bytes(number << 3 | 5) + struct.pack("<f", value)
        if kind == "double":
            return number_bytes(number << 3 | 1) + struct.pack("<d", value)
        if kind in VARINTS or kind in self.enums:
            return number_bytes(number << 3) + number_bytes(int(value) & (1 << 64) - 1)
        return piece(number, self.encode(kind, value))


def blocks(text):
    for match in re.finditer(r"^(message|enum|service) (\w+) \{", text, re.M):
        depth, at = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield match.group(1), match.group(2), text[match.end():at - 1]


def fields(body):
    for label, kind, name, number in re.findall(
            r"(repeated |optional )?(map<string, string>|[\w.]+) (\w+) = (\d+);", body):
        label = "map" if kind.startswith("map") else "repeated" if label == "repeated " else ""
        yield int(number), (label, flat(kind), name)


def flat(name):
    return name.rpartition(".")[2]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def pairs(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        size, at = varint(data, at)
        yield key >> 3, data[at:at + size]
        at += size


def number_bytes(value):
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    data.append(value)
    return bytes(data)


def piece(number, data):
    return number_bytes(number << 3 | 2) + number_bytes(len(data)) + data
