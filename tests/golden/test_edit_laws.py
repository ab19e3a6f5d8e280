"""Edits: new values into golden files, whatever these look like; nothing else in them may change."""

from __future__ import annotations

import json
import random
import re

from hypothesis import strategies as st

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.golden.edit import edit
from pytest_jsonmatch.golden.merge import merge
from pytest_jsonmatch.reading.yamlevents import load
from tests.fuzz.suites import new_suite, run_pytest
from tests.fuzz.yamlfiles import a_golden_file, a_value, chances, changed, parser_of_yaml
from tests.laws import law


def notes(data):
    return re.findall(rb"# (?:note|tail) \d+|# header", data)


def check_layout(before, after):
    """Check that what no edit may touch is as it was: comments, line ends, the end of the file."""
    assert notes(after) == notes(before)
    assert b"\r\n" not in before or not re.search(rb"[^\r]\n", after)
    assert after.endswith(b"\n") or not before.endswith(b"\n")


# A block that would be written again is left alone if comments stand in it.
REASON = r"rewriting \S.* would lose the comments in it; move them first"


@law(chances, st.booleans(), examples=100)
def test_any_golden_file_gets_any_new_values_and_nothing_else(rng, pure):
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
def test_json_written_by_python_comes_out_as_python_would_write_it(rng, indent, newline):
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
def test_merging_makes_any_value_of_any_other(rng):
    old = a_value(rng, 3)
    new = changed(rng, old)
    assert json_equal(merge(old, new, lambda trail, old, new: new), new, strict=True)
    assert json_equal(merge(old, new, lambda trail, old, new: old), old, strict=True)


# -- the option ----------------------------------------------------------------------------------------------


# (So many files take more choices than Hypothesis makes for one input.)
@law(st.integers(0, 2**40), examples=1)
def test_an_update_writes_what_came_and_nothing_else(number):
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
    with new_suite() as folder:
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
