"""The table of controls in docs/threat-model.md has all 43 rows, and every test it names exists."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS = 43


def tests():
    found = set()
    for path in (ROOT / "tests").rglob("*.cpp"):
        found.update(re.findall(r"TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", path.read_text()))
    return found


def main():
    problems = []
    rows = re.findall(r"^\| (\d+) \|(.*)$", (ROOT / "docs/threat-model.md").read_text(), re.M)
    if [int(number) for number, _ in rows] != list(range(1, ROWS + 1)):
        problems.append("the table does not have its rows in order")
    known = tests()
    suites = {suite for suite, _ in known}
    for number, row in rows:
        suite = None
        for named, name in re.findall(r"(?:\b(\w+Test)\.)(\w+|\*)", row):
            suite = named
            if name == "*" and suite not in suites:
                problems.append(f"row {number}: no suite {suite}")
            if name != "*" and (suite, name) not in known:
                problems.append(f"row {number}: no test {suite}.{name}")
        for path in re.findall(r"\btests/[\w/.]+\w", row):
            if not (ROOT / path).exists():
                problems.append(f"row {number}: no file {path}")
    for problem in problems:
        print(f"docs/threat-model.md: {problem}")
    print(f"{len(rows)} controls, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
