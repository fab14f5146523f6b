"""docs/operating.md names every metric that the gateway has, and no other."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = r"sandgate_[a-z_]+"


def documented(text):
    found = set()
    for line in re.findall(r"^  \| (`.*?) \|", text, re.M):
        names = re.findall(r"`([^`]+)`", line)
        for name in names:
            # A shortened one goes on from the first word group that it does not repeat.
            found.add(name if name[0] != "…" else names[0].rsplit("_", 1)[0] + name[1:])
    return found


def main():
    sources = "".join(path.read_text() for path in (ROOT / "gateway").rglob("*.cpp"))
    has = set(re.findall(rf'(?:gauge|counter|begin)\(\s*"({NAME})"', sources))
    has |= set(re.findall(rf'constexpr (?:const char\*|std::string_view) k\w+ = "({NAME})"', sources))
    told = documented((ROOT / "docs/operating.md").read_text())
    for name in sorted(has ^ told):
        print(f"docs/operating.md: {name} is {'not in the table' if name in has else 'no metric'}")
    print(f"{len(has)} metrics, {len(has ^ told)} problems")
    return 0 if has and has == told else 1


if __name__ == "__main__":
    sys.exit(main())
