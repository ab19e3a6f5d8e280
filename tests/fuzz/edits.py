"""Edits: new values into golden files, whatever these look like; nothing else in them may change."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st
from laws import law, parser_of_yaml

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.golden.edit import edit
from pytest_jsonmatch.golden.merge import merge
from pytest_jsonmatch.golden.writing import literal_lines, yaml_scalar
from pytest_jsonmatch.reading.yamlevents import load

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


def notes(data):
    return re.findall(rb"# (?:note|tail) \d+|# header", data)


def a_golden_file(rng, cases):
    """Return the bytes of a golden file with these cases, laid out at random."""
    scribe = Scribe(rng)
    scribe.block({"metric": "leaf_f1", "cases": cases}, 0)
    text = "\n".join(scribe.lines) + rng.choice(["\n", "\n", ""])
    newline = rng.choice(["\n", "\r\n"])
    return rng.choice([b"", b"\xef\xbb\xbf"]) + text.replace("\n", newline).encode("utf-8")


def check_layout(before, after):
    """Check that what no edit may touch is as it was: comments, line ends, the end of the file."""
    assert notes(after) == notes(before)
    assert b"\r\n" not in before or not re.search(rb"[^\r]\n", after)
    assert after.endswith(b"\n") or not before.endswith(b"\n")


# A block that would be written again is left alone if comments stand in it.
REASON = r"rewriting \S.* would lose the comments in it; move them first"


@law(chances, st.booleans(), examples=100)
def any_golden_file_gets_any_new_values_and_nothing_else(rng, pure):
    cases = [
        {"id": f"c{index}", "actual": 1, "expected": a_value(rng, 3)} for index in range(rng.randint(1, 3))
    ]
    data = a_golden_file(rng, cases)
    with parser_of_yaml(pure=pure):
        document = load(data, "x").value
        wanted = {
            ("cases", index, "expected"): changed(rng, case["expected"])
            for index, case in enumerate(document["cases"])
        }
        result = edit(data, "x.yaml", wanted)
        assert all(re.fullmatch(REASON, reason) for reason in result.refused.values()), result.refused
        assert b"#" in data or not result.refused
        for trail, value in wanted.items():
            if trail not in result.refused:
                document["cases"][trail[1]]["expected"] = value
        assert json_equal(load(result.data, "x").value, document, strict=True)
        check_layout(data, result.data)
        made = {trail: value for trail, value in wanted.items() if trail not in result.refused}
        again = edit(result.data, "x.yaml", made)
        assert again.data == result.data


@law(chances, st.sampled_from([2, 4, "\t", None]), st.sampled_from(["\n", "\r\n"]))
def json_written_by_python_comes_out_as_python_would_write_it(rng, indent, newline):
    def written(value):
        text = json.dumps(value, indent=indent, ensure_ascii=False) + "\n"
        return text.replace("\n", newline).encode("utf-8")

    old = {"first": a_value(rng, 3), "then": a_value(rng, 2)}
    new = {key: changed(rng, value) for key, value in old.items() if rng.random() < 0.9} | {"last": [1]}
    result = edit(written(old), "x.json", {(): new})
    assert result.refused == {}
    found = json.loads(result.data)
    assert found == new
    assert result.data == written(found)


@law(chances)
def merging_makes_any_value_of_any_other(rng):
    old = a_value(rng, 3)
    new = changed(rng, old)
    assert json_equal(merge(old, new, lambda trail, old, new: new), new, strict=True)
    assert json_equal(merge(old, new, lambda trail, old, new: old), old, strict=True)


# -- the option ----------------------------------------------------------------------------------------------


def run_pytest(folder, *arguments):
    """Run pytest on a folder, with this plugin alone and outside of CI; return its exit status and what it prints."""
    settings = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": os.pathsep.join(sys.path), "CI": ""}
    options = "-m pytest -q --tb=short -p no:cacheprovider -p pytest_jsonmatch.plugin"
    command = [sys.executable, *options.split(), *arguments]
    environment = {**os.environ, **settings, "BUILD_NUMBER": "", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
    )
    return done.returncode, done.stdout + done.stderr


# (So many files take more choices than Hypothesis makes for one input.)
@law(st.integers(0, 2**40), examples=1)
def an_update_writes_what_came_and_nothing_else(number):
    rng = random.Random(number)
    before = {}
    for index in range(8):
        values = [a_value(rng, 3) for _ in range(rng.randint(1, 3))]
        # (A text would be searched for JSON.)
        cases = [
            {"id": f"c{number}", "actual": [changed(rng, value)], "expected": [value]}
            for number, value in enumerate(values)
        ]
        before[f"f{index}.golden.yaml"] = a_golden_file(rng, cases)
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n")
        for file, data in before.items():
            (folder / file).write_bytes(data)
        _, said = run_pytest(folder, "--jsonmatch-update=all")
        after = {file: (folder / file).read_bytes() for file in before}
        assert "INTERNALERROR" not in said, said
        refused = set(re.findall(rf"^not updated: (\S+): {REASON}$", said, re.MULTILINE))
        for file, data in after.items():
            old, new = load(before[file], file).value, load(data, file).value
            for one, other in zip(old["cases"], new["cases"], strict=True):
                if f"{file}::{one['id']}" not in refused:
                    assert compare_json(other["actual"], other["expected"]).score == 1.0, said
                    one["expected"] = other["expected"]
            assert json_equal(old, new, strict=True)
            check_layout(before[file], data)
        status, said = run_pytest(folder, "--jsonmatch-update=all")
        assert status == bool(refused), said
        assert after == {file: (folder / file).read_bytes() for file in before}
