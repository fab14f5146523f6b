"""Every link of a page leads to a file of the tree, and to a heading where it names one."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A long page begins with a way through it: a reader who looks for one answer does not read all.
MAX_LINES_WITHOUT_CONTENTS = 180


def text_of(page):
    """A page without its blocks of code, whose # are comments and whose brackets are no links."""
    return re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page):
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *$", text_of(page), re.M):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 0
        while (anchor if number == 0 else f"{anchor}-{number}") in found:
            number += 1
        found.add(anchor if number == 0 else f"{anchor}-{number}")
    return found


def problem_of(page, link):
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return "leads nowhere"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return "names no heading"
    return None


def lost_readers(pages):
    for page in pages:
        lines = page.read_text(encoding="utf-8").splitlines()
        start = text_of(page).partition("\n## ")[0]
        if len(lines) > MAX_LINES_WITHOUT_CONTENTS and start.count("](#") < 5:
            yield f"{page.relative_to(ROOT)}: has {len(lines)} lines and no contents at its start"


def main():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    links = [(page, link) for page in pages for link in LINK.findall(text_of(page)) if "://" not in link]
    problems = [f"{page.relative_to(ROOT)}: {link} {problem}" for page, link in links
                if (problem := problem_of(page, link))]
    problems += lost_readers(pages)
    if len(links) < 400:
        problems.append("links_test.py: does not find the links")
    for problem in problems:
        print(problem)
    print(f"{len(links)} links, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
