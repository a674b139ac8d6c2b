"""Checks that jitk-opt reads one module of the corpus and prints what the reference compiler printed.

    check_corpus.py JITK_OPT FILE

A dump (.ttgir) is its own expectation; `ops/NAME.mlir` is compared with `ops/NAME.printed.mlir`. The comparison knows
neither locations, nor the names of values and aliases, nor white space. What jitk-opt prints must also be a fixed point.
"""

import itertools
import pathlib
import re
import subprocess
import sys

REFUSED = {
    "30_bad_cta_keys.mlir": "unexpected key: CTAOrder",
    "31_bad_tmem_unpacked.mlir": "duplicate or unknown struct parameter name: unpacked",
}


def run(jitk_opt, text):
    return subprocess.run([jitk_opt, "-"], input=text, capture_output=True, text=True)


def strip_locations(text):
    """Drops `loc(...)`, whose parentheses may nest."""
    kept = []
    position = 0
    for match in re.finditer(r" ?\bloc\(", text):
        if match.start() < position:
            continue
        kept.append(text[position:match.start()])
        depth = 1
        position = match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            position += 1
    return "".join(kept) + text[position:]


class Values:
    """Numbers values in the order of their definitions. A brace opens a scope, as regions do."""

    NAME = r"%[\w$.-]+"

    def __init__(self):
        self.count = 0
        self.scopes = [{}]

    def define(self, scope, name):
        scope[name] = "%%%d" % self.count
        self.count += 1

    def rename(self, line):
        results = re.match(r"(%s(:\d+)?(, )?)+ = " % self.NAME, line)
        start = results.end() if results else 0
        for name in re.findall(self.NAME, line[:start]):
            self.define(self.scopes[-1], name)
        # Arguments of regions and blocks: `%x: type`, or `%x = init` of a loop. They belong to what the line opens.
        arguments = {}
        for name in re.findall(r"(%s)(?:: | = )" % self.NAME, line[start:]):
            self.define(arguments, name)
        if not line.endswith("{"):
            self.scopes[-1].update(arguments)
        return re.sub(self.NAME + r"(?:: | = )?|[{}]", lambda match: self.step(match.group(0), arguments), line)

    def step(self, token, arguments):
        if token == "{":
            self.scopes.append({**self.scopes[-1], **arguments})
        elif token == "}":
            self.scopes.pop()
        else:
            name, *tail = re.split(r"(: | = )", token)
            scope = arguments if tail and name in arguments else self.scopes[-1]
            return scope.get(name, name) + (tail[0] if tail else "")
        return token


def normalize(text):
    """One line an op, aliases expanded, values numbered."""
    text = re.sub(r"^#loc.*\n", "", text, flags=re.MULTILINE)
    lines = strip_locations(text).splitlines()
    aliases = {}
    values = Values()
    body = []
    for line in lines:
        alias = re.match(r"(#[a-z_]+\d*) = (.*)", line)
        line = re.sub(r"#[a-z_]+\d*\b(?!\.)", lambda m: aliases.get(m.group(0), m.group(0)),
                      alias.group(2) if alias else line.strip())
        if alias:
            aliases[alias.group(1)] = line
        elif line:
            body.append(values.rename(line))
    return body


def first_difference(expected, found):
    for number, (left, right) in enumerate(itertools.zip_longest(expected, found)):
        if left != right:
            return "line %d without locations and aliases\nreference: %s\njitk-opt:  %s" % (number + 1, left, right)
    return ""


def check(jitk_opt, path):
    result = run(jitk_opt, path.read_text())
    if path.name in REFUSED:
        if result.returncode == 0 or REFUSED[path.name] not in result.stderr:
            return "expected to be refused with: %s\n%s" % (REFUSED[path.name], result.stderr)
        return ""
    if result.returncode != 0:
        return result.stderr
    again = run(jitk_opt, result.stdout)
    if again.stdout != result.stdout:
        return "printing is not a fixed point\n" + again.stderr
    expected = path.with_suffix(".printed.mlir") if path.suffix == ".mlir" else path
    if not expected.exists():
        return ""
    return first_difference(normalize(expected.read_text()), normalize(result.stdout))


problem = check(sys.argv[1], pathlib.Path(sys.argv[2]))
if problem:
    sys.exit(problem)
