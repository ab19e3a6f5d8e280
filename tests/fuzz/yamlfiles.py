"""Golden files in any layout, and the values in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch.golden.writing import literal_lines, yaml_scalar

chances = st.randoms(use_true_random=False)

TEXTS = [
    "long " * 30 + "end", "alpha", "NO", "12", "it's", 'say "hi"', "é😀", "a: b", "# no", "x\ny\n",
    "two\nlines", "", "  lead", "trail ", "-", "null", "multi\n\npara\n", "\u2028odd", "a,b", "[x]",
    "tab\there", " a\n b", "?q", "k:",
]  # fmt: skip
NUMBERS = [None, True, False, 0, 1, 1.0, -0.5, 1e22, 12345678901234567890]
KEYS = ["a", "b", "c", "d", "total", "12", "é x", "null", "k: v", "q?"]


def a_scalar(rng):
    return rng.choice(TEXTS if rng.random() < 0.6 else NUMBERS)


def a_value(rng, depth):
    kind = rng.random()
    if depth <= 0 or kind < 0.4:
        return a_scalar(rng)
    if kind < 0.7:
        return {
            rng.choice(KEYS) + rng.choice(["", "1", "2"]): a_value(rng, depth - 1)
            for _ in range(rng.randint(0, 4))
        }
    return [a_value(rng, depth - 1) for _ in range(rng.randint(0, 4))]


def changed(rng, value):
    if rng.random() < 0.12:
        return a_value(rng, 2)
    if type(value) is dict:
        kept = {key: each for key, each in value.items() if rng.random() > 0.15}
        new = {key: changed(rng, each) if rng.random() < 0.4 else each for key, each in kept.items()}
        return {**new, rng.choice(["new", "z", "12"]): a_value(rng, 2)} if rng.random() < 0.3 else new
    if type(value) is list:
        new = []
        for each in value:
            if rng.random() < 0.15:
                new.append(a_value(rng, 2))
            if rng.random() > 0.15:
                new.append(changed(rng, each) if rng.random() < 0.4 else each)
        return new
    return value if rng.random() < 0.3 else a_scalar(rng)


class Scribe:
    """Writes a value as YAML in styles that change at random, with comments everywhere."""

    def __init__(self, rng):
        self.rng = rng
        self.step = rng.choice([2, 2, 3, 4])
        self.list_step = rng.choice([0, 2, self.step])
        self.count = 0
        self.lines = []

    def chance(self, share):
        return self.rng.random() < share

    def note(self, column):
        self.count += 1
        return " " * column + f"# note {self.count}"

    def tail(self):
        self.count += 1
        return self.rng.choice(["", "", "", "", "  ", f"  # tail {self.count}"])

    def scalar(self, value, *, flow):
        return yaml_scalar(value, self.rng.choice(["", "", "'", '"']), flow=flow)

    def key(self, name, *, flow):
        return yaml_scalar(name, self.rng.choice(["", "", "'", '"']), flow=flow or ":" in name or "?" in name)

    def flow(self, value, column):
        if type(value) not in {dict, list}:
            return self.scalar(value, flow=True)
        opening, closing = "{}" if type(value) is dict else "[]"
        entries = (
            [(f"{self.key(key, flow=True)}: ", each) for key, each in value.items()]
            if type(value) is dict
            else [("", each) for each in value]
        )
        if not entries or self.chance(0.7):
            return opening + ", ".join(head + self.flow(each, column) for head, each in entries) + closing
        text = opening + "\n"
        for index, (head, each) in enumerate(entries):
            if self.chance(0.2):
                text += self.note(column + 2) + "\n"
            comma = "," if index < len(entries) - 1 or self.chance(0.3) else ""
            text += " " * (column + 2) + head + self.flow(each, column + 2) + comma + self.tail() + "\n"
        return text + " " * (column or 1) + closing

    def entry(self, head, value, column):
        self.count += 1
        anchor = f" &n{self.count}" if self.chance(0.05) else ""
        if type(value) is str and "\n" in value and self.chance(0.7):
            block = self.text_of_lines(value, " " * (column + self.step))
            if block is not None:
                self.lines += [f"{head}{anchor} {block[0]}{self.rng.choice(['', ' # header'])}", *block[1:]]
                return
        if type(value) not in {dict, list} or not value or self.chance(0.3):
            empty = value is None and self.chance(0.5)
            self.lines.append(
                head + anchor + ("" if empty else " " + self.flow(value, column + 2)) + self.tail()
            )
        elif head.endswith("-") and self.chance(0.8):
            first = len(self.lines)
            self.block(value, column + 2, notes=False)
            self.lines[first] = f"{head} {self.lines[first].lstrip(' ')}"
        else:
            self.lines.append(head + anchor + self.tail())
            step = 2 if head.endswith("-") else self.step if type(value) is dict else self.list_step
            self.block(value, column + step)

    def text_of_lines(self, value, lead):
        """The lines of a literal or folded scalar; None if no such scalar holds the text."""
        body = value.rstrip("\n")
        block = literal_lines(body)
        if block is None:
            return None
        ending = len(value) - len(body)
        lines = [line[2:] for line in block[1:]]
        style = "|"
        if self.chance(0.5) and all(line[:1] not in {" ", "\t"} and line == line.rstrip() for line in lines):
            style = ">"
            lines = re.sub("\n+", r"\g<0>\n", "\n".join(lines)).split("\n")
        header = style + ("-", "", "+")[min(ending, 2)]
        return [header, *(lead + line if line else "" for line in lines), *[""] * (ending - 1)]

    def block(self, value, column, *, notes=True):
        for index, each in enumerate(value):
            if (notes or index) and self.chance(0.2):
                self.lines.append(self.rng.choice([self.note(column), self.note(0), ""]))
            head = f"{self.key(each, flow=False)}:" if type(value) is dict else "-"
            self.entry(" " * column + head, value[each] if type(value) is dict else each, column)


def a_golden_file(rng, cases):
    """Return the bytes of a golden file with these cases, laid out at random."""
    scribe = Scribe(rng)
    scribe.block({"metric": "leaf_f1", "cases": cases}, 0)
    text = "\n".join(scribe.lines) + rng.choice(["\n", "\n", ""])
    newline = rng.choice(["\n", "\r\n"])
    return rng.choice([b"", b"\xef\xbb\xbf"]) + text.replace("\n", newline).encode("utf-8")


@contextmanager
def parser_of_yaml(*, pure: bool) -> Iterator[None]:
    """Use PyYAML's parser in Python within the block, as where libyaml is missing."""
    with pytest.MonkeyPatch.context() as patch:
        if pure:
            patch.delattr("yaml.CSafeLoader", raising=False)
        yield
