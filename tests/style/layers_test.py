#!/usr/bin/env python3
"""The rules of the tree that a compiler does not know, checked by reading the sources.

Prints each violation as file:line: what; ends with 1 when there is one.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 40

TOP_LEVEL = {
    "CMakeLists.txt", "README.md", "LICENSE", "quickstart",
    "check", "gateway", "providers", "local", "billing", "registry", "migrations", "tests", "docs"}

# The words of sandboxes and backends: values without behaviour, which billing and registry share.
VALUES = ["providers/sandbox.hpp", "providers/descriptor.hpp"]
# What a folder may include besides itself: folders and single files. The longest prefix counts.
MAY_INCLUDE = {
    "gateway/core": [],
    "billing": ["gateway/core", *VALUES],
    "registry": ["gateway/core", *VALUES],
    "providers": ["gateway/core"],
    "local": ["gateway/core", "providers/provider.hpp", "providers/address_rules.hpp", *VALUES],
    "gateway/config": ["gateway/core"],
    "gateway/supervisor": ["gateway/core", "gateway/config"],
    "gateway/cli": ["gateway/core", "registry", "providers"],
    "gateway/http": ["gateway/core", "registry", "providers"],
    "gateway/events": ["gateway/core", "registry", "providers"],
    "gateway/exports": ["gateway/core", "billing", "registry", "providers"],
    "gateway/placement": ["gateway/core", "billing", "registry", "providers"],
    "gateway/sandboxes": ["gateway/core", "gateway/events", "gateway/http", "gateway/placement", "billing", "registry",
                          "providers"],
    "gateway/ports": ["gateway/core", "gateway/http", "gateway/sandboxes", "registry", "providers"],
    "gateway/api": ["gateway/core", "gateway/events", "gateway/exports", "gateway/http", "gateway/placement",
                    "gateway/ports", "gateway/sandboxes", "billing", "registry", "providers"],
    "gateway/compat": ["gateway/core", "gateway/api", "gateway/http", "gateway/ports", "gateway/sandboxes", "registry",
                       "providers"],
    # The rest of gateway/ puts everything together.
    "gateway": ["gateway", "billing", "registry", "providers", "local"],
    "tests": ["gateway", "billing", "registry", "providers", "local", "tests"],
}

# What stands in providers/ beside the vendors' folders.
NO_VENDORS = {"sandgate", "shell", "transport"}
VENDORS = sorted(entry.name for entry in os.scandir(os.path.join(ROOT, "providers"))
                 if entry.is_dir() and entry.name not in NO_VENDORS)
# Files where a vendor's name is at home: its own files, the list of all, and its API's imitation.
VENDOR_HOME = r"^(providers/(catalog\.cpp|VENDOR/)|gateway/compat/VENDOR/)"

# The API accepts every key under this vendor's prefix too, so the key's parser must know it.
VENDOR_ALLOWED = {("registry/api_secret.cpp", "e2b")} | {
    # Where a compatibility surface is configured and put together.
    (f"gateway/{name}", "e2b") for name in (
        "app/api.cpp", "app/api.hpp", "app/listeners.cpp", "app/listeners.hpp", "config/config.hpp",
        "config/options.cpp")}

FLOAT = re.compile(r"\b(float|double|long double|std::sto[df]|strto[df]|std::atof)\b"
                   r"|\b\d+\.\d+(?!\.)[fFlL]?\b")
# What may stand before a brace that opens a function body, after its parameter list.
FUNCTION_HEAD = re.compile(r"\)\s*(const|noexcept|override|final|mutable|&|&&|->[\w:<>,&*\s]+|"
                           r":\s*\w[\s\S]*)*\s*$")
# What an unnamed namespace declares: a constant, a type, or a function with its parameters.
UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.M | re.S)
DECLARED = re.compile(
    r"^(?:(?P<constants>constexpr [^;]*;)|(?:struct|class|enum(?: class)?) (?P<type>\w+)\b[^;]*?\{|"
    r"(?! )[\w:<>,&* \[\]]+?[ &*](?P<function>\w+\([^;{}]*?\))(?: const| noexcept)* \{)", re.M)
CONSTANT = re.compile(r"\b(k[A-Z]\w*)(?=\s*[\[{=(])")
NAMED_TYPE = re.compile(r"(?:class|struct|enum(?: class)?) (\w+)(?: final)?\s*(?::(?!:)|\{)")
NOT_A_FUNCTION = re.compile(r"^\s*(if|for|while|switch|catch|else|do|namespace|class|struct|enum|"
                            r"union|return|extern|using|case)\b|=\s*$")

violations = []


def report(path, line, what):
    violations.append(f"{path}:{line}: {what}")


def sources(endings=(".cpp", ".hpp", ".c", ".h")):
    """Sources of ours, of C++ unless other endings are given, relative to the root."""
    for top in ("gateway", "providers", "local", "billing", "registry", "tests"):
        for folder, folders, files in os.walk(os.path.join(ROOT, top)):
            folders[:] = sorted(f for f in folders if f not in ("node_modules", "build"))
            for name in sorted(files):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(folder, name), ROOT)


def blanked(text):
    """The text with comments, strings and characters replaced by spaces, lines kept."""
    pattern = re.compile(
        r'//[^\n]*|/\*[\s\S]*?\*/|R"(?P<tag>[^(\s]*)\([\s\S]*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'")
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def without_comments(text):
    pattern = re.compile(r'//[^\n]*|/\*[\s\S]*?\*/|"(?:\\.|[^"\\\n])*"')
    keep = lambda m: m.group() if m.group()[0] == '"' else re.sub(r"[^\n]", " ", m.group())
    return pattern.sub(keep, text)


def layer_of(path):
    matches = [layer for layer in MAY_INCLUDE if path.startswith(layer + "/")]
    return max(matches, key=len) if matches else None


def check_includes(path, text):
    layer = layer_of(path)
    for match in re.finditer(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
        line, target = text.count("\n", 0, match.start()) + 1, match.group(1)
        generated = target.endswith(".pb.h") or target.startswith("generated/")
        if not generated and not os.path.isfile(os.path.join(ROOT, target)):
            report(path, line, f'include "{target}" does not resolve from the root')
            continue
        target_layer = layer_of(target)
        if layer is None or target_layer is None or target_layer == layer:
            continue
        if not any(target == allowed or target.startswith(allowed + "/")
                   for allowed in MAY_INCLUDE[layer]):
            report(path, line, f"{layer} must not include {target}")


def check_header(path, text):
    if path.endswith(".hpp") and "#pragma once" not in text:
        report(path, 1, "no #pragma once")


def check_size(path, text):
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        report(path, lines, f"{lines} lines, at most {MAX_FILE_LINES}")


def head_before(code, brace):
    """What stands between the end of the statement before and an opening brace."""
    start, depth = brace - 1, 0
    while start >= 0:
        c = code[start]
        if c == ")":
            depth += 1
        elif c == "(":
            depth -= 1
        elif c in ";{}" and depth <= 0:
            break
        start -= 1
    return code[start + 1:brace]


def opens_function(code, brace):
    head = re.sub(r"^\s*(#[^\n]*\n|public:|private:|protected:)\s*", "", head_before(code, brace))
    if "(" not in head or NOT_A_FUNCTION.search(head):
        return False
    return bool(FUNCTION_HEAD.search(head)) and not re.search(r"\]\s*(\([^()]*\))?[^()]*$", head)


def check_functions(path, text):
    code = blanked(text)
    stack = []
    for i, c in enumerate(code):
        if c == "{":
            inside = any(is_function for is_function, _ in stack)
            stack.append((not inside and opens_function(code, i), i))
        elif c == "}" and stack:
            is_function, start = stack.pop()
            length = code.count("\n", start, i) + 1
            if is_function and length > MAX_FUNCTION_LINES:
                line = code.count("\n", 0, start) + 1
                report(path, line, f"a function of {length} lines, at most {MAX_FUNCTION_LINES}")


def check_vendors(path, text):
    if path.startswith("tests/"):
        return
    code = without_comments(text)
    for vendor in VENDORS:
        if re.match(VENDOR_HOME.replace("VENDOR", vendor), path):
            continue
        if (path, vendor) in VENDOR_ALLOWED:
            continue
        # OpenSandbox is also a type of ours; the vendor appears in lower case.
        ignore_case = 0 if vendor == "opensandbox" else re.I
        pattern = re.compile(rf"(?<![a-z]){vendor}(?![a-z])", ignore_case)
        for match in pattern.finditer(code):
            line = code.count("\n", 0, match.start()) + 1
            report(path, line, f"the vendor '{vendor}' is named outside its own files")


def check_money(path, text):
    if not path.startswith(("billing/", "gateway/core/decimal.")):
        return
    code = blanked(text)
    for match in FLOAT.finditer(code):
        report(path, code.count("\n", 0, match.start()) + 1, f"floating point: {match.group()}")


def check_answers(path, text):
    """What a server sends may be nested so deep that copying it exhausts the stack."""
    if not path.startswith("providers/") or path == "providers/vendor_json.cpp":
        return
    code = without_comments(text)
    for match in re.finditer(r"\bJson::parse\(", code):
        report(path, code.count("\n", 0, match.start()) + 1, "use parse_answer(), which bounds the nesting")


def check_ranges(path, text):
    """A loop over `*call()` or `call()[i]` goes on after what the call returned is gone."""
    code = blanked(text)
    for match in re.finditer(r"\bfor \([^;{]*?[^:]: (\*[\w.>:-]+\(|[\w.>:-]+\([^;{]*\)\[)", code):
        report(path, code.count("\n", 0, match.start()) + 1, "a loop over a part of a temporary: name it first")


def check_names(path, _):
    stem = os.path.splitext(os.path.basename(path))[0]
    if re.search(r"(^|_)(utils?|helpers?|common|manager|impl|misc|base)($|_)", stem):
        report(path, 1, "a name that says nothing about what is inside")
    if not re.fullmatch(r"[a-z0-9_]+(\.pb)?", stem):
        report(path, 1, "file names are snake_case")


def check_limits(path, text):
    """Limits are named kMax and kMin."""
    for match in re.finditer(r"\bk(Most|Least)(?![a-z])\w*", text):
        report(path, text.count("\n", 0, match.start()) + 1, f"{match.group()}: limits are kMax… and kMin…")


def unnamed_names(text):
    """Each name that the file's unnamed namespaces declare, with its line."""
    for block in UNNAMED.finditer(text):
        for match in DECLARED.finditer(block.group(1)):
            line = text.count("\n", 0, block.start(1) + match.start()) + 1
            if match["constants"]:
                yield from ((name, line) for name in CONSTANT.findall(match["constants"]))
            else:
                yield match["type"] or re.sub(r"\s+", " ", match["function"]), line


def library_of(path):
    """The folder whose CMakeLists.txt names the file."""
    folder = os.path.dirname(path)
    while not os.path.isfile(os.path.join(ROOT, folder, "CMakeLists.txt")):
        folder = os.path.dirname(folder)
    return folder


def check_unnamed(seen, path, text):
    """Files of one library may be compiled as one, where what is private to each must differ."""
    if not path.endswith(".cpp"):
        return
    named = tuple(re.findall(r"^namespace ([\w:]+) \{$", text, re.M))
    for name, line in unnamed_names(text):
        first = seen.setdefault((library_of(path), named, name), path)
        if first != path:
            report(path, line, f"{name} is also in the unnamed namespace of {first}")


def named_types(text):
    """The full name of each type that the file defines in a named namespace, with its line."""
    namespaces = []
    for number, line in enumerate(text.split("\n"), 1):
        if opened := re.match(r"namespace(?: ([\w:]+))? \{$", line):
            namespaces.append(opened[1])
        elif line.startswith("}  // namespace") and namespaces:
            namespaces.pop()
        elif None not in namespaces and (match := NAMED_TYPE.match(line)):
            yield "::".join([*namespaces, match[1]]), number


def check_types(seen, path, text):
    """Two types of one name in one program: the linker keeps one copy of their inline members."""
    if path.startswith("tests/"):
        return
    for name, line in named_types(text):
        first = seen.setdefault(name, path)
        if first != path:
            report(path, line, f"{name} is also defined in {first}")


def check_top_level():
    for name in sorted(os.listdir(ROOT)):
        if not name.startswith(".") and name not in TOP_LEVEL and not name.startswith("build"):
            report(name, 1, "is not one of the fixed names at the top level")


def check_migrations():
    folder = os.path.join(ROOT, "migrations")
    numbers = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        match = re.fullmatch(r"(\d{4})_[a-z0-9_]+\.sql", name)
        if not match:
            report(f"migrations/{name}", 1, "is not NNNN_name.sql")
        elif match.group(1) in numbers:
            report(f"migrations/{name}", 1, f"has the number of {numbers[match.group(1)]}")
        else:
            numbers[match.group(1)] = name


def main():
    check_top_level()
    check_migrations()
    count, seen, types = 0, {}, {}
    for path in sources():
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        count += 1
        for check in (check_includes, check_header, check_size, check_functions, check_vendors,
                      check_money, check_answers, check_ranges, check_names, check_limits):
            check(path, text)
        check_unnamed(seen, path, text)
        check_types(types, path, text)
    for path in sources((".py",)):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            check_size(path, file.read())
    for violation in violations:
        print(violation)
    print(f"{count} sources, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
