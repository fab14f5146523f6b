#!/usr/bin/env python3
"""Finds temporaries that g++ 12 destroys twice, and the conditions in which it does.

In a statement with co_await, g++ 12 runs the destructor of a temporary closure or aggregate twice
(a shared_ptr captured by value loses two counts). Closures that capture only references, pointers
or nothing are harmless. The remedy is always the same: name it in a statement of its own first,

    auto work = [id](pqxx::work& tx) { ... };        // or: auto task = database.run([id]...);
    co_await database.run(std::move(work));          //     co_await std::move(task);

The same happens to what is awaited in the condition of an if or switch whose branch leaves the
function (at -O0 and -O2; a loop's condition and a declared variable are well), to what either side
of `?:` awaits, and to a value that `?:` makes for a call that is awaited. There, too, the value is
named first:

    const bool ok = co_await body.read();            // not: if (!co_await body.read()) co_return;

Usage: awaited_temporaries.py FILE...   exits 1 when it finds any.
"""
import re
import sys

MASK = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
CLOSE = {"(": ")", "[": "]", "{": "}"}


def masked(text):
    """The text with comments and literals blanked, positions kept."""
    blank = lambda m: "".join("\n" if c == "\n" else " " for c in m.group(0))
    return MASK.sub(blank, re.sub(r"(?<=\d)'(?=\d)", "_", text))


def matching(text, at):
    depth = 0
    for i in range(at, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i
    return len(text) - 1


def closure_end(text, at):
    """Position behind the body of the lambda whose '[' is at `at`, or None if it is no lambda."""
    i = matching(text, at) + 1
    rest = re.compile(r"\s*(mutable\b|noexcept\b|->\s*[\w:<>,&*\s]+?(?=\s*\{))?\s*")
    if re.match(r"\s*\(", text[i:]):
        i = matching(text, text.index("(", i)) + 1
    for _ in range(3):
        i += rest.match(text, i).end() - i
    return (matching(text, i) + 1) if i < len(text) and text[i] == "{" else None


def by_value(captures):
    """Whether a capture list holds anything with a destructor that could matter."""
    depth, item, items = 0, "", []
    for c in captures + ",":
        depth += (c in "([{<") - (c in ")]}>")
        if c == "," and depth == 0:
            items.append(item.strip())
            item = ""
        else:
            item += c
    return any(i and not i.startswith("&") and i not in ("this",) for i in items)


def statement_problems(text, begin):
    """Scans one full expression from `begin` to its ';', skipping the bodies of closures."""
    i, depth, awaits, found = begin, 0, False, []
    while i < len(text):
        c = text[i]
        if text.startswith("co_await", i):
            awaits = True
        if c == "[":
            end = closure_end(text, i)
            if end:
                if by_value(text[i + 1:matching(text, i)]):
                    found.append((i, "a closure that captures by value"))
                i = end
                continue
        if c == "{":
            before = text[begin:i].rstrip()
            inside = text[i + 1:matching(text, i)].strip()
            if depth == 0 and not before.endswith("="):
                break  # a block: if (...) {, for (...) {, a function's body
            if depth > 0 and inside and re.search(r"[\w>(,{]$", before):
                found.append((i, "a braced temporary"))
        if c == "?" and awaits and depth > 0 and re.match(r"[^,;]*?(->|\()", text[i:]):
            found.append((i, "an argument made by ?:"))
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth < 0:
                break
        elif c == ";" and depth == 0:
            break
        i += 1
    return found if awaits else []


def without_closures(text):
    i = 0
    while i < len(text):
        end = closure_end(text, i) if text[i] == "[" else None
        if end:
            text = text[:i] + re.sub(r"[^\n]", " ", text[i:end]) + text[end:]
        i += 1
    return text


def condition_problems(text):
    """Positions of conditions of if and switch that await."""
    for match in re.finditer(r"\b(?:if(?:\s+constexpr)?|switch)\s*\(", text):
        begin = match.end()
        condition = without_closures(text[begin:matching(text, begin - 1)]).split(";")[-1]
        # A declaration's value has a name.
        if "co_await" in condition and not re.match(r"\s*(?:const\s+)?[\w:<>,\s*&]+?[\w\]]\s*=[^=]", condition):
            yield match.start()


def ternary_problems(text):
    """Positions of `?` after which, within one statement, something is awaited."""
    for match in re.finditer(r"\?(?![?.])", text):
        rest = without_closures(text[match.end():match.end() + 2000])
        depth = 0
        for i, c in enumerate(rest):
            depth += (c in "([{") - (c in ")]}")
            if depth < 0 or (c == ";" and depth == 0):
                break
        if re.match(r"[^;]*\bco_await\b", rest[:i + 1]):
            yield match.start()


def check(path):
    text = masked(open(path, encoding="utf-8").read())
    count = 0
    for positions, what in ((condition_problems(text), "a condition"), (ternary_problems(text), "a side of ?:")):
        for at in positions:
            line = text.count("\n", 0, at) + 1
            print(f"{path}:{line}: {what} awaits: g++ 12 may destroy what it awaits twice; name the value first")
            count += 1
    for start in [m.end() for m in re.finditer(r"[;{}]", text)]:
        for at, what in statement_problems(text, start):
            line = text.count("\n", 0, at) + 1
            print(f"{path}:{line}: {what} in a statement that awaits: g++ 12 destroys it twice; name it first")
            count += 1
    return count


if __name__ == "__main__":
    sys.exit(1 if sum(check(path) for path in sys.argv[1:]) else 0)
