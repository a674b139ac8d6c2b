#!/usr/bin/env python3
"""Writes docs/ops.md from the op schemas, or checks that it is fresh.

usage: ops_page.py <jitk> <docs/ops.md> [--check]

Exit status 1 if --check finds that the page differs from what the program says.
"""
import json
import pathlib
import subprocess
import sys

LARGEST = 2**31 - 256  # Dimension::kLargest

HEAD = f"""# Ops

<!-- Written by tests/lint/ops_page.py from `jitk ops --json`: change the schemas in src/ops, then build `jitk-ops-page`. -->

What a description may ask for. On the command line an attribute is written `name=value`, in a plan file as a member of
`attributes`. A dimension is a number, or known at launch only: `*`, `*%16` (a multiple of 16), `*<=4096` (at most 4096),
`*%16<=4096`. No size and no bound is above {LARGEST}. Tensors are row major, and are given to a launch in the order of their table. Rows lie side by
side unless a stride says otherwise: elements from the beginning of a row to that of the next, no fewer than a row has. Caches
consist of pages of rows, which follow one another unless a page stride says otherwise: elements from the beginning of a page to
that of the next. What lies between rows and between pages is neither read nor written.

A size in a description is 1 or more: it is what a kernel is compiled for, and one that never has an element is no kernel. A
size that may be 0 is known at launch only, and 0 is legal there but where a rule below says 1 or more. Then nothing is launched,
or results are written that have no terms: a product with `k` 0 is what its epilogue makes of zero, attention of no keys is zero
with a log-sum-exp of minus infinity. Of a tensor without elements any aligned address will do.
"""


def resolved(text):
    return f"as `{text[1:]}`" if text.startswith("@") else f"`{text}`"


def allowed(attribute):
    if "allowed" in attribute:
        return ", ".join(f"`{word}`" for word in attribute["allowed"])
    if attribute["kind"] == "flag":
        return "`true`, `false`"
    if attribute["kind"] == "text":
        return "any text"
    if attribute["kind"] == "number":
        return f"above 0, at most {attribute['maximum']}"
    least, most = attribute["minimum"], attribute["maximum"]
    text = f"{least} or more" if most == LARGEST else f"{least} to {most}"
    return text + (", or `*`" if attribute["kind"] == "dimension" else "")


def default(attribute):
    if "default" in attribute:
        return resolved(attribute["default"])
    named = {"text": "empty", "stride": "a row's length", "page stride": "a page's length"}
    return named.get(attribute["kind"], "required")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def condition(item):
    flag = item.get("present_if", "")
    if flag.startswith("!"):
        return f"not with `{flag[1:]}`"
    return f"only with `{flag}`" if flag else ""


def rules(op):
    """What must hold between dimensions, an item each."""
    lines = [f"- `{m['dimension']}` is a multiple of `{m['of']}`." for m in op.get("multiples", [])]
    for product in op.get("products", []):
        text = f"- {' x '.join(f'`{factor}`' for factor in product['factors'])} is at most {product['maximum']}"
        lines.append(", ".join(filter(None, [text, condition(product)])) + ".")
    return "Of static sizes, and of all sizes at each launch:\n\n" + "\n".join(lines) + "\n" if lines else ""


def section(op):
    attributes = [
        (f"`{a['name']}`", a["kind"], default(a), allowed(a), a["meaning"])
        for a in op["attributes"]
    ]
    tensors = [
        (
            f"`{t['name']}`",
            resolved(t["type"]),
            "[" + ", ".join(t["shape"]) + "]",
            t["access"],
            "; ".join(filter(None, [t["meaning"], condition(t)])),
        )
        for t in op["tensors"]
    ]
    scalars = [(f"`{s['name']}`", f"`{s['default']}`", s["meaning"]) for s in op["scalars"]]
    parts = [
        f"## {op['op']}\n\n{op['summary']}\n",
        table(("attribute", "type", "default", "allowed", "meaning"), attributes),
    ]
    if rules(op):
        parts.append(rules(op))
    if tensors:
        parts.append(table(("tensor", "dtype", "shape", "access", "meaning"), tensors))
    if op.get("own_dimensions"):
        parts.append("Any other attribute is a dimension.\n")
    return "\n".join(parts + ([table(("scalar", "default", "meaning"), scalars)] if scalars else []))


def main():
    program, page = sys.argv[1], pathlib.Path(sys.argv[2])
    said = subprocess.run([program, "ops", "--json"], check=True, capture_output=True, text=True).stdout
    text = "\n".join([HEAD] + [section(op) for op in json.loads(said)])
    if "--check" not in sys.argv:
        page.write_text(text, encoding="utf-8")
    elif not page.exists() or page.read_text(encoding="utf-8") != text:
        print(f"{page} is stale: build the target jitk-ops-page and commit it", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
