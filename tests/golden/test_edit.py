"""Edits of golden files: scalars in their place, whole blocks written again, and no comment lost."""

from __future__ import annotations

import json
import random
import re

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import MISSING, compare_json
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.golden.edit import edit
from pytest_jsonmatch.golden.merge import merge
from pytest_jsonmatch.reading.yamlevents import load
from tests.conftest import GoldenFileError
from tests.fuzz.suites import new_suite, run_pytest
from tests.fuzz.yamlfiles import a_golden_file, a_value, chances, changed, parser_of_yaml
from tests.laws import law

COMMENTS = "rewriting expected would lose the comments in it; move them first"


def edited(text, new, trail=("expected",)):
    result = edit(text.encode("utf-8"), "x.yaml", {trail: new})
    assert result.refused == {}
    return result.data.decode("utf-8")


def refusal(text, new, trail=("expected",)):
    result = edit(text.encode("utf-8"), "x.yaml", {trail: new})
    assert result.data.decode("utf-8") == text
    return result.refused[trail]


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("1  # one", 2, "2  # one"),
        ("1", 1.0, "1.0"),
        ("'a'", "it's", "'it''s'"),
        ("'a'", "a\nb", '"a\\nb"'),
        ('"a"', 'say "hi"', '"say \\"hi\\""'),
        ('"a"', True, "true"),
        ("a", "NO", "NO"),
        ("a", "12", '"12"'),
        ("a", "null", '"null"'),
        ("a", "", '""'),
        ("a", "b: c", '"b: c"'),
        ("a", "b #c", '"b #c"'),
        ("a", 'a "b": c', "'a \"b\": c'"),
        ("a\n  b\n  c", "d", "d"),
        ("", 1, "1 "),
        ("  # none", 1, "1   # none"),
        ("&here 1", 2, "&here 2"),
        ("é", "\u2028", '"\\u2028"'),
        ("a", "\x07\x85\ufeff", '"\\u0007\\u0085\\ufeff"'),
        ("[a]", ["b, c"], '["b, c"]'),
        ("{a, b: 1}", {"a": 2, "b": 1}, "{a: 2, b: 1}"),
        ("{a: , b: 1}", {"a": 2, "b": 1}, "{a: 2, b: 1}"),
        ('{"a":}', {"a": 5}, '{"a": 5}'),
        ("[a: 1, 2]", [{"a": 2}, 2], "[a: 2, 2]"),
        ("[\n  1,  # one\n  2  # two\n]", [1, 3], "[\n  1,  # one\n  3  # two\n]"),
        ("\n  ? a\n  : 1", {"a": 2}, "\n  ? a\n  : 2"),
        # Text of several lines.
        ("|\n  one\n  two", "a\n\n  b", "|-\n  a\n\n    b"),
        (">-\n  one\n  two", "a\nb\n", "|\n  a\n  b"),
        ("|\n  one", "a\n\n", '"a\\n\\n"'),
        ("|\n  one", " lead\n", '" lead\\n"'),
        ("|\n  # no comment\n  b", "b", "b"),
        ("|", "text\n\nmore\n", "|\n  text\n\n  more"),
        ("|\n    one\n  # below", "a\nb\n", '"a\\nb\\n"\n  # below'),
    ],
)
def test_scalars_are_replaced_in_their_place(before, new, after):
    assert edited(f"expected: {before}\nid: x\n", new) == f"expected: {after}\nid: x\n"


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        (" [1, 2, 3]  # end", [1, 3], " [1, 3]  # end"),
        (" [\n  1,\n  2]", [], " []"),
        (" {a: 1}", {"b": {"c": [2]}}, " {b: {c: [2]}}"),
        (" [a: 1, 2]", [{"a": 1, "b": 2}, 2], " [{a: 1, b: 2}, 2]"),
        (" {}  # end", {"a": 1}, " {a: 1}  # end"),
        (" {}", {"a": {"b": 1}}, "\n  a:\n    b: 1"),
        (" 1  # one", {"a": [1]}, " {a: [1]}  # one"),
        (" 1  ", {"a": [1]}, "\n  a:\n    - 1"),
        (" &n 1", [1, 2], " &n\n  - 1\n  - 2"),
        (" |\n  one", {"a": 1}, "\n  a: 1"),
        ("  # the list\n- 1\n- 2", {"a": "b\nc\n"}, "  # the list\n  a: |\n    b\n    c"),
        ("\n    a: 1", [1], "\n  - 1"),
        (" &n\n  a: 1", [], " &n []"),
        ("\n- x  \n- 1", [["a", "b\nc\n"], 1], "\n- - a\n  - |\n    b\n    c\n- 1"),
        ("\n- a: 1\n  b: 2\n- 1", [{"a": 1}, 1], "\n- a: 1\n- 1"),
        ("\n- a: 1\n  b: 2\n- 1", [5, 1], "\n- 5\n- 1"),
        ("\n-\n  a: 1\n- 1", [[2], 1], "\n-\n  - 2\n- 1"),
        ("\n- x  # why\n- 1", [["a", "b"], 1], "\n- [a, b]  # why\n- 1"),
        ("\n  ? a\n  : 1", {"b": 2}, "\n  b: 2"),
        ("\n- 1\n# two", {"a": "b\nc\n"}, '\n  a: "b\\nc\\n"\n# two'),
        (" {b: *x, c: 1}", {"b": {"k": 1}}, " {b: {k: 1}}"),
    ],
)
def test_a_block_whose_structure_changes_is_written_again(before, new, after):
    text = "x: &x {k: 1}\nexpected:%s\nid: x  # x\n"
    assert edited(text % before, new) == text % after


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("# top\na: 1\n# end\n", 5, "# top\n5\n# end\n"),
        ("a: 1\n", [1, 2], "- 1\n- 2\n"),
        ("5\n", {"a": [1]}, "a:\n  - 1\n"),
        ("5  # five\n", {"a": [1]}, "{a: [1]}  # five\n"),
        ("|\n  text\n", {"a": 1}, "a: 1\n"),
        ("--- 5\n", [{"a": 1}], "--- [{a: 1}]\n"),
    ],
)
def test_a_whole_document(before, new, after):
    assert edited(before, new, ()) == after


BLOCK = """\
cases:
  # the first
  - id: one  # its name
    expected:
      # what was bought
      shop: 'Corner Bakery'   # quoted
      items:  # bread and milk
        - name: bread
          price: 4.20

      total: 5.20   # in euros
  - id: two
    actual: 1  # recorded
"""
OLD = {"shop": "Corner Bakery", "items": [{"name": "bread", "price": 4.2}], "total": 5.2}


@pytest.mark.parametrize(
    ("new", "old_text", "new_text"),
    [
        ({**OLD, "total": 6, "shop": "Page"}, None, None),
        ({**OLD, "items": [{"name": "bread"}]}, "\n          price: 4.20", ""),
        (
            {**OLD, "items": [{"name": "bread", "price": 5}, {"name": "milk"}]},
            "4.20\n",
            "5\n        - name: milk\n",
        ),
        ({**OLD, "total": {"sum": 5}}, "5.20", "{sum: 5}"),
        ({**OLD, "tip": 1}, "euros\n", "euros\n      tip: 1\n"),
    ],
)
def test_one_change_of_a_block(new, old_text, new_text):
    required = (
        BLOCK.replace(old_text, new_text)
        if old_text
        else BLOCK.replace("5.20", "6").replace("Corner Bakery", "Page")
    )
    assert edited(BLOCK, new, ("cases", 0, "expected")) == required


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        (" [1,2]", [1, 2, {"a": [3]}], " [1,2, {a: [3]}]"),
        (" [1, 2,]  # two", [1, 5, 3], " [1, 5, 3,]  # two"),
        (" {a: 1,\n  b: 2}", {"a": 1, "b": 2, "c": {"d": 1}}, " {a: 1,\n  b: 2, c: {d: 1}}"),
        (
            "\n  # first\n  a: 1  # one\n  b:\n    c: |\n      text",
            {"a": 2, "b": {"c": "text\n", "d": "e\nf\n"}, "g": [{"h": 1}]},
            (
                "\n  # first\n  a: 2  # one\n  b:\n    c: |\n      text\n"
                "    d: |\n      e\n      f\n  g:\n    - h: 1"
            ),
        ),
        (
            "\n- name: bread  # fresh\n  price: 4",
            [{"name": "bread", "price": 4, "unit": "kg"}, {"name": "milk"}],
            "\n- name: bread  # fresh\n  price: 4\n  unit: kg\n- name: milk",
        ),
        (
            "\n    - - 1\n      - 2  # two",
            [[1, 2, 3], []],
            "\n    - - 1\n      - 2  # two\n      - 3\n    - []",
        ),
        ("\n  'a': 1\n\n  # below", {"a": 1, "b": None}, "\n  'a': 1\n  b: null\n\n  # below"),
    ],
)
def test_members_and_elements_are_inserted_behind_the_last(before, new, after):
    text = "expected:%s\nid: x  # x\n"
    assert edited(text % before, new) == text % after


def test_elements_that_have_moved_are_not_edited_in_place():
    """A comment would stay with another element."""
    text = "expected:\n- 1{}\n- 2\nid: x\n"
    assert edited(text.format(""), [2, 3, 4]) == "expected:\n  - 2\n  - 3\n  - 4\nid: x\n"
    assert refusal(text.format("  # one"), [2, 3, 4]) == COMMENTS


@pytest.mark.parametrize("new", [{"shop": "Page"}, 1, [OLD]])
def test_a_block_with_comments_is_not_written_again(new):
    assert refusal(BLOCK, new, ("cases", 0, "expected")) == COMMENTS


def test_a_member_that_is_not_there_is_added():
    assert (
        edited(BLOCK, {"a": [1]}, ("cases", 1, "expected"))
        == f"{BLOCK}    expected:\n      a:\n        - 1\n"
    )
    assert edited("{id: a}", [1]) == "{id: a, expected: [1]}"
    assert edited("{}\n", [1]) == "expected:\n  - 1\n"
    text = '{\n\t"id": "a"\n}\n'
    result = edit(text.encode(), "x.json", {("expected",): [1]})
    assert result.data.decode() == '{\n\t"id": "a",\n\t"expected": [\n\t\t1\n\t]\n}\n'


@pytest.mark.parametrize(
    ("text", "new", "reason"),
    [
        (
            "actual: &x {a: 1}\nexpected: {b: *x}\n",
            {"b": {"a": 2}},
            "expected.b is an alias, *x: a change would also change the other places; write the value itself there first",
        ),
        (
            "expected: {b: &x 1}\nactual: *x\n",
            {"b": 2},
            "expected.b is anchored as &x, and aliases refer to it: a change would change them too; write the value itself there first",
        ),
        (
            "expected:\n- 1\n- b: &x 1\nactual: *x\n",
            [1],
            "expected holds &x, and aliases refer to it; write their values themselves there first",
        ),
        ("expected: |  # text\n  one\n", 5, COMMENTS),
        ("expected:  # all\n  a: 1\n  b: 2\n", 5, COMMENTS),
        ("expected: 1\n", "\ud800", "the new value contains a lone surrogate, which YAML can't express"),
        ("expected: [\n  1, # one\n  2]\n", 3, COMMENTS),
        ("expected:\n- |  # one\n  text\n", 3, COMMENTS),
    ],
)
def test_what_is_refused(text, new, reason):
    assert refusal(text, new) == reason


def test_an_alias_that_stays_as_it_is_does_no_harm():
    text = "actual: &x {a: 1}\nexpected: {b: *x, c: 1}\n"
    assert edited(text, {"b": {"a": 1}, "c": 2}) == text.replace("c: 1", "c: 2")


def test_a_refused_change_leaves_the_others_alone():
    text = "cases:\n- &x {id: a, expected: 1}\n- {id: b, expected: 1}\nsame: *x\n"
    trails = [("cases", 0, "expected"), ("cases", 1, "expected")]
    result = edit(text.encode(), "x.yaml", dict.fromkeys(trails, 2))
    assert list(result.refused) == [trails[0]]
    assert result.data.decode() == text.replace("id: b, expected: 1", "id: b, expected: 2")


def test_an_edit_that_would_change_something_else_is_refused():
    # Without a line break at its end, the text of `a` has none either; with a key below, it would get one.
    reason = "the text around the value can't be edited so that nothing else changes; write the value by hand"
    assert refusal("a: |\n  x", 1) == reason


def test_nothing_to_change_gives_the_very_same_bytes():
    data = b"\xef\xbb\xbfexpected: {b: 1, a: 2.50}\r\n"
    result = edit(data, "x.yaml", {("expected",): {"a": 2.5, "b": 1}})
    assert result.data is data
    assert result.refused == {}


@pytest.mark.parametrize("newline", [b"\r\n", b"\r"])
def test_a_byte_order_mark_and_line_ends_stay(newline):
    data = b"\xef\xbb\xbf# \xc3\xa9\nexpected:\n  a: 1\n  b: |\n    t\n".replace(b"\n", newline)
    result = edit(data, "x.yaml", {("expected",): {"a": 2, "b": "t\nu\n", "c": [1]}})
    new = b"a: 2\n  b: |\n    t\n    u\n  c:\n    - 1\n".replace(b"\n", newline)
    assert result.data == data[: data.index(b"a: 1")] + new


def test_a_file_that_is_not_valid_is_an_error():
    with pytest.raises(GoldenFileError):
        edit(b"a: [\n", "x.yaml", {("a",): 1})
    with pytest.raises(GoldenFileError, match=r"x\.json:1:"):
        edit(b"[1,]", "x.json", {(): 1})
    with pytest.raises(GoldenFileError, match=r"x\.json:1:2: .* is not UTF-8"):
        edit(b'"\xff"', "x.json", {(): 1})


def test_a_place_that_is_not_there_is_refused():
    for trail in [("cases", 1), ("cases", 5, "expected"), ("none", "expected"), ("cases", 0, "a", "b")]:
        assert refusal("cases: [{a: 1}]\n", 1, trail).endswith(" is not in the file")


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ('{"b": 1,"a": 2}\n', {"a": 3, "b": 1}, '{"b": 1,"a": 3}\n'),
        ('{"b":1}', {"b": 1, "c": [1, {"d": 2}]}, '{"b":1, "c": [1, {"d": 2}]}'),
        ('{\n\t"a": 1\n}\n', {"a": 1, "b": {"c": 1}}, '{\n\t"a": 1,\n\t"b": {\n\t\t"c": 1\n\t}\n}\n'),
        ('{\r\n  "a": []\r\n}\r\n', {"a": [1]}, '{\r\n  "a": [\r\n    1\r\n  ]\r\n}\r\n'),
        ("[1.50, 1e2, 3]", [1.5, 100, 4], "[1.50, 100, 4]"),
        ('["\\u00e9", "x"]', ["é", "ü\ud800"], '["\\u00e9", "ü\\ud800"]'),
        ("{}\n", {"a": 1}, '{\n  "a": 1\n}\n'),
        ("{}", {"a": [1]}, '{"a": [1]}'),
        (" 1 ", "x", ' "x" '),
    ],
)
def test_json(before, new, after):
    result = edit(before.encode(), "x.json", {(): new})
    assert (result.refused, result.data.decode()) == ({}, after)


def test_merge_asks_about_each_difference():
    asked = []

    def note(trail, old, new):
        asked.append((trail, old, new))
        return old

    old = {"a": 1, "b": [1, 2, {"c": 1}], "d": 4, "same": {"x": [1.0]}}
    new = {"a": 1.0, "b": [2, {"c": [1]}, 3], "e": 5, "same": {"x": [1.0]}}
    assert merge(old, new, note) == old
    assert asked == [
        (("a",), 1, 1.0),
        (("b", 0), 1, MISSING),
        (("b", 2, "c"), 1, [1]),
        (("b", 3), MISSING, 3),
        (("d",), 4, MISSING),
        (("e",), MISSING, 5),
    ]
    assert json_equal(merge(old, new, lambda trail, old, new: new), new, strict=True)


# -- laws: whatever the values look like, nothing else may change -------------------------------------------------


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
        required = {
            ("cases", index, "expected"): changed(rng, case["expected"])
            for index, case in enumerate(document["cases"])
        }
        result = edit(data, "x.yaml", required)
        assert all(re.fullmatch(REASON, reason) for reason in result.refused.values()), result.refused
        assert b"#" in data or not result.refused
        for trail, value in required.items():
            if trail not in result.refused:
                document["cases"][trail[1]]["expected"] = value
        assert json_equal(load(result.data, "x").value, document, strict=True)
        check_layout(data, result.data)
        made = {trail: value for trail, value in required.items() if trail not in result.refused}
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
        _, printed = run_pytest(folder, "--jsonmatch-update=all")
        after = {file: (folder / file).read_bytes() for file in before}
        assert "INTERNALERROR" not in printed, printed
        refused = set(re.findall(rf"^not updated: (\S+): {REASON}$", printed, re.MULTILINE))
        for file, data in after.items():
            old, new = load(before[file], file).value, load(data, file).value
            for one, other in zip(old["cases"], new["cases"], strict=True):
                if f"{file}::{one['id']}" not in refused:
                    assert compare_json(other["actual"], other["expected"]).score == 1.0, printed
                    one["expected"] = other["expected"]
            assert json_equal(old, new, strict=True)
            check_layout(before[file], data)
        status, printed = run_pytest(folder, "--jsonmatch-update=all")
        assert status == bool(refused), printed
        assert after == {file: (folder / file).read_bytes() for file in before}
