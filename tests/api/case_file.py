"""Reads the cases of a .http file.

    ### name of the case
    @as viewer                     who calls: nobody, operator, owner, admin, developer, billing,
                                   viewer, other (another tenant's developer); default developer
    @needs local                   skipped where no sandbox can be started
    @repeat A 2000000              the body is so many of this character
    @hex 7b ff 7d                  the body is these bytes
    @fresh name                    defines {{name}} as a random word
    POST /v1/sandboxes
    Header: value

    {"profile": "{{profile}}"}
    > 201                          the status, one of several with |
    > Header: text                 a header; ~ before a regular expression; - for absent
    > json {"state": "running"}    a subset of the answer; may go on over the following lines
    > text hello                   the body contains this
    > bytes 5                      the body has this length
    > absent /pointer              the answer has no such member
    > capture name /pointer        remembers a text member as {{name}}
    > header-capture name Header   remembers a header
    > events start stdout exit     the server-sent events by type, runs of one type counted once
    > output hello\\n               what the stdout and pty events of the stream add up to
"""
import re


class Case:
    def __init__(self, file, line, name):
        self.file, self.line, self.name = file, line, name
        self.caller, self.needs, self.fresh = "developer", [], []
        self.method, self.target = None, None
        self.headers, self.body, self.expect = [], None, []

    def where(self):
        return f"{self.file}:{self.line} {self.name}"


def directive(case, text):
    word, _, rest = text.partition(" ")
    if word == "as":
        case.caller = rest.strip()
    elif word == "needs":
        case.needs.append(rest.strip())
    elif word == "fresh":
        case.fresh.append(rest.strip())
    elif word == "repeat":
        character, count = rest.split()
        case.body = character.encode() * int(count)
    elif word == "hex":
        case.body = bytes.fromhex(rest)
    else:
        raise SyntaxError(f"{case.where()}: unknown directive @{word}")


def finish(case, body_lines):
    if not case.method:
        raise SyntaxError(f"{case.where()}: no request line")
    if not case.expect or not case.expect[0][0][:1].isdigit():
        raise SyntaxError(f"{case.where()}: the first expectation must be the status")
    text = "\n".join(body_lines).strip("\n")
    if case.body is None and text:
        case.body = text.encode()
    return case


def read(path, name):
    """All cases of one file, in order."""
    cases, case, body, part = [], None, [], "head"
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines, 1):
        if line.startswith("### "):
            if case:
                cases.append(finish(case, body))
            case, body, part = Case(name, number, line[4:].strip()), [], "head"
        elif case is None or (part == "head" and line.startswith("# ")):
            continue
        elif line.startswith("> "):
            part = "expect"
            word, _, rest = line[2:].partition(" ")
            case.expect.append([word, rest])
        elif part == "expect":
            if line.strip():
                case.expect[-1][1] += "\n" + line
        elif part == "body":
            body.append(line)
        elif line.startswith("@"):
            directive(case, line[1:])
        elif not line.strip():
            part = "body" if case.method else part
        elif case.method is None:
            case.method, case.target = line.split(" ", 1)
        else:
            header, value = re.match(r"([^:]+):\s*(.*)", line).groups()
            case.headers.append((header, value))
    if case:
        cases.append(finish(case, body))
    return cases
