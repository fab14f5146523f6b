"""What an operator may meet is in a table: metrics in docs/operating.md, reasons of rejection in docs/routing.md."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
METRIC = re.compile(r'"(sandgate_[a-z_]+)"')
# reject(x) where a deployment is judged; what becomes of a candidate afterwards.
REASON = re.compile(r'\b(?:reject|reject_now|rejected_because\.push_back)\(\s*"([a-z_]+)')


def rows(page):
    """The names in the first columns of a page's tables."""
    columns = re.findall(r"^ *\| (`[^|]*) \|", (ROOT / page).read_text(encoding="utf-8"), re.M)
    return {name for column in columns for name in re.findall(r"`([a-z_]+)", column)}


def in_sources(pattern, folders):
    return {name for folder in folders for path in (ROOT / folder).rglob("*.cpp")
            for name in pattern.findall(path.read_text(encoding="utf-8"))}


def main():
    metrics = in_sources(METRIC, ["gateway"])
    reasons = in_sources(REASON, ["gateway/placement", "gateway/sandboxes"])
    told = {name for name in rows("docs/operating.md") if name.startswith("sandgate_")}
    problems = [f"docs/operating.md: no row for {name}" for name in sorted(metrics - told)]
    problems += [f"docs/operating.md: {name} is no metric" for name in sorted(told - metrics)]
    problems += [f"docs/routing.md: no row for {name}" for name in sorted(reasons - rows("docs/routing.md"))]
    if len(metrics) < 15 or len(reasons) < 20:
        problems.append("tables_test.py: does not find the names in the sources")
    for problem in problems:
        print(problem)
    print(f"{len(metrics)} metrics and {len(reasons)} reasons, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
