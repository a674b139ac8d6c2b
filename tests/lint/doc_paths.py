#!/usr/bin/env python3
"""Finds paths in documents that lead nowhere: in backticks, and in links.

Only what looks like a path of this tree is checked: it begins with a folder of the root, or ends with a source's suffix
and has a slash. `<...>`, `*`, `...` and NNNN stand for parts that a reader fills in. Exit status 1 if a path is dead.
"""
import argparse
import pathlib
import re
import sys

FOLDERS = ("include", "src", "backends", "integrations", "tests", "perf", "docs", "cmake", ".ci")
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def paths_in(text):
    for span in CODE.findall(text):
        for word in span.split():
            word = word.rstrip(".,:;")
            if word.split("/")[0] in FOLDERS and "/" in word:
                yield word, False
    for link in LINK.findall(text):
        if "://" not in link and not link.startswith("mailto:"):
            yield link, True


def is_dead(root, document, path, relative):
    if re.search(r"[<>*{}$]|\.\.\.|NNNN", path):
        return False
    base = document.parent if relative else root
    path = re.sub(r":\d+$", "", path)
    # An include of the public headers is written as a user writes it.
    return not any((folder / path).exists() for folder in (base, root, root / "include"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    root = parser.parse_args().root
    documents = sorted(root.glob("*.md")) + [
        document for folder in FOLDERS for document in sorted((root / folder).rglob("*.md"))
    ]
    dead = 0
    for document in documents:
        for path, relative in paths_in(document.read_text(encoding="utf-8")):
            if is_dead(root, document, path, relative):
                print(f"{document.relative_to(root)}: leads nowhere: {path}", file=sys.stderr)
                dead += 1
    sys.exit(1 if dead else 0)


if __name__ == "__main__":
    main()
