"""Edits of golden files: the characters of what changed, and no others."""

from __future__ import annotations

import pytest

from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.equality import json_equal
from pytest_jsonmatch.golden.edit.changes import merge
from pytest_jsonmatch.golden.edit.files import edit
from pytest_jsonmatch.golden.errors import GoldenFileError


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
        ("expected: 1  # one\n", 2, "expected: 2  # one\n"),
        ("expected: 1\n", 1.0, "expected: 1.0\n"),
        ("expected: 1\n", True, "expected: true\n"),
        ("expected: 'a'\n", "it's", "expected: 'it''s'\n"),
        ("expected: 'a'\n", "a\nb", 'expected: "a\\nb"\n'),
        ('expected: "a"\n', 'say "hi"', 'expected: "say \\"hi\\""\n'),
        ('expected: "a"\n', 5, "expected: 5\n"),
        ("expected: a\n", "NO", "expected: NO\n"),
        ("expected: a\n", "12", 'expected: "12"\n'),
        ("expected: a\n", "null", 'expected: "null"\n'),
        ("expected: a\n", "", 'expected: ""\n'),
        ("expected: a\n", "b: c", 'expected: "b: c"\n'),
        ("expected: a\n", "b #c", 'expected: "b #c"\n'),
        ("expected: a\n", 'a "b": c', "expected: 'a \"b\": c'\n"),
        ("expected: a\n  b\n  c\nid: x\n", "d", "expected: d\nid: x\n"),
        ("expected:\n", 1, "expected: 1\n"),
        ("expected:   # none\n", 1, "expected: 1   # none\n"),
        ("expected: &here 1\n", 2, "expected: &here 2\n"),
        ("expected: é\n", "\u2028", 'expected: "\\u2028"\n'),
        ("expected: a\n", "\x07\x85\ufeff", 'expected: "\\u0007\\u0085\\ufeff"\n'),
        ("expected: [a]\n", ["b, c"], 'expected: ["b, c"]\n'),
        ("expected: 1", 2, "expected: 2"),
    ],
)
def test_scalars(before, new, after):
    assert edited(before, new) == after


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("expected: |  # text\n  one\n  two\nid: x\n", "new\n", "expected: |  # text\n  new\nid: x\n"),
        ("expected: |\n    one\n\nid: x\n", "a\n\n  b", "expected: |-\n    a\n\n      b\n\nid: x\n"),
        ("expected: |\n  one\n", " lead\n", "expected: |2\n   lead\n"),
        ("expected: |+\n  one\n\n", "one\n\n\n", "expected: |+\n  one\n\n\n"),
        ("expected: |\n  one\n", "a\n\n", 'expected: "a\\n\\n"\n'),
        ("expected: |  # text\n  one\nid: x\n", 5, "expected: 5  # text\nid: x\n"),
        ("expected: |\n  one\n# end\n", {"a": 1}, "expected:\n  a: 1\n# end\n"),
        ("expected: >\n  one\n  two\n", "one three\n", "expected: >\n  one three\n"),
        ("expected: >-\n  one\n", "a\nb\n\nc", "expected: >-\n  a\n\n  b\n\n\n  c\n"),
        ("expected: >\n  one\n", "a\n  b\n", "expected: |\n  a\n    b\n"),
        (
            "expected: >\n  one\n",
            "word " * 20 + "end\n",
            "expected: >\n  " + " ".join(["word"] * 15) + "\n  " + " ".join(["word"] * 5) + " end\n",
        ),
        ("expected: |\n", "text\n", "expected: |\n  text\n"),
        ("expected: |\n  # no comment\n  b\n", "b", "expected: |-\n  b\n"),
    ],
)
def test_text_of_several_lines(before, new, after):
    assert edited(before, new) == after


BLOCK = """\
# the file
cases:
  # the first
  - id: one  # its name
    expected:
      # what was bought
      shop: 'Corner Bakery'   # quoted
      items:
        # bread first
        - name: bread  # fresh
          price: 4.20
        - {name: milk, price: 1}

      total: 5.20   # in euros
  - id: two
    expected: [1, 2]
"""
OLD = {
    "shop": "Corner Bakery",
    "items": [{"name": "bread", "price": 4.2}, {"name": "milk", "price": 1}],
    "total": 5.2,
}
BREAD, MILK = OLD["items"]


@pytest.mark.parametrize(
    ("new", "old_text", "new_text"),
    [
        ({**OLD, "total": 6}, "total: 5.20   #", "total: 6   #"),
        ({**OLD, "shop": "Page"}, "'Corner Bakery'", "'Page'"),
        ({**OLD, "items": [{**BREAD, "price": 5}, MILK]}, "price: 4.20", "price: 5"),
        ({**OLD, "items": [BREAD, {**MILK, "price": 2}]}, "milk, price: 1}", "milk, price: 2}"),
        # Members and elements that come.
        ({**OLD, "tip": 1}, "# in euros\n", "# in euros\n      tip: 1\n"),
        ({**OLD, "to": {"a": [1]}}, "# in euros\n", "# in euros\n      to:\n        a:\n          - 1\n"),
        ({**OLD, "items": [BREAD, MILK, 3]}, "price: 1}\n", "price: 1}\n        - 3\n"),
        ({**OLD, "items": [BREAD, 3, MILK]}, "4.20\n", "4.20\n        - 3\n"),
        ({**OLD, "items": [3, BREAD, MILK]}, "- name: bread", "- 3\n        - name: bread"),
        ({**OLD, "items": [BREAD, {**MILK, "n": 1}]}, "price: 1}", "price: 1, n: 1}"),
        ({**OLD, "items": [{**BREAD, "n": "1"}, MILK]}, "4.20\n", '4.20\n          n: "1"\n'),
        # Those that go: with their own line and nothing else.
        ({key: OLD[key] for key in ("items", "total")}, "      shop: 'Corner Bakery'   # quoted\n", ""),
        ({**OLD, "items": [BREAD]}, "        - {name: milk, price: 1}\n", ""),
        ({**OLD, "items": [MILK]}, "        - name: bread  # fresh\n          price: 4.20\n", ""),
        ({**OLD, "items": [{"price": 4.2}, MILK]}, "name: bread  # fresh\n          price", "price"),
        ({**OLD, "items": [{"name": "bread"}, MILK]}, "          price: 4.20\n", ""),
        ({**OLD, "items": [BREAD, {"price": 1}]}, "{name: milk, price: 1}", "{price: 1}"),
        ({**OLD, "items": [BREAD, {"name": "milk"}]}, "{name: milk, price: 1}", "{name: milk}"),
        ({**OLD, "items": [BREAD, {}]}, "{name: milk, price: 1}", "{}"),
        ({"shop": "Corner Bakery", "items": OLD["items"]}, "      total: 5.20   # in euros\n", ""),
        # Values of another kind.
        ({**OLD, "total": {"sum": 5}}, "total: 5.20   # in euros", "total:   # in euros\n        sum: 5"),
        ({**OLD, "total": [5]}, "total: 5.20   # in euros", "total:   # in euros\n        - 5"),
        ({**OLD, "total": []}, "5.20", "[]"),
        ({**OLD, "items": [BREAD, 1]}, "{name: milk, price: 1}", "1"),
    ],
)
def test_one_change_of_a_block(new, old_text, new_text):
    assert BLOCK.count(old_text) == 1
    assert edited(BLOCK, new, ("cases", 0, "expected")) == BLOCK.replace(old_text, new_text)


def test_a_block_that_becomes_a_scalar_leaves_its_comments():
    assert edited(BLOCK, 1, ("cases", 0, "expected")) == (
        "# the file\ncases:\n  # the first\n  - id: one  # its name\n    expected: 1\n"
        "      # what was bought\n        # bread first\n"
        "  - id: two\n    expected: [1, 2]\n"
    )


def test_a_member_that_is_not_there_is_added():
    text = "cases:\n- id: one\n  actual: 1  # recorded\n- id: two\n  expected: 1\n"
    assert edited(text, {"a": [1]}, ("cases", 0, "expected")) == text.replace(
        "# recorded\n", "# recorded\n  expected:\n    a:\n    - 1\n"
    )


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("[1, 2, 3]", [1, 3], "[1, 3]"),
        ("[1, 2, 3]", [2, 3], "[2, 3]"),
        ("[1,2,3]", [1, 2], "[1,2]"),
        ("[1,2]", [1, 2, 3], "[1,2,3]"),
        ("[1, 2, ]", [1, 2, 3], "[1, 2, 3, ]"),
        ("[1, 2]", [0, 1, 2], "[0, 1, 2]"),
        ("[1, 2]", [1, 9, 2], "[1, 9, 2]"),
        ("[1, 2]", [], "[]"),
        ("[]", [1, "a"], "[1, a]"),
        ("{}", {"a": 1}, "{a: 1}"),
        ("{}", {"a": {"b": 1}}, "\n  a:\n    b: 1"),
        ("{a, b: 1}", {"a": 2, "b": 1}, "{a: 2, b: 1}"),
        ("{a: , b: 1}", {"a": 2, "b": 1}, "{a: 2, b: 1}"),
        ('{"a": "x"}', {"a": "x", "b": "y"}, '{"a": "x", "b": "y"}'),
        ('{"a":"x"}', {"a": 5}, '{"a":5}'),
        ("{a: 1}", {"b": {"c": [2]}}, "{b: {c: [2]}}"),
        ("[a: 1, 2]", [{"a": 2}, 2], "[a: 2, 2]"),
        ("[a: 1, 2]", [{"a": 1, "b": 2}, 2], "[{a: 1, b: 2}, 2]"),
        ("[\n  1,  # one\n  2  # two\n]", [1, 2, 3], "[\n  1,  # one\n  2,  # two\n  3\n]"),
        ("[\n  1,  # one\n  2,\n]", [1, 2, 3], "[\n  1,  # one\n  2,\n  3,\n]"),
        ("[\n  1,  # one\n  2,\n]", [2], "[\n  2,\n]"),
        ("[\n  1,\n  # two\n  2\n]", [1], "[\n  1,\n  # two\n]"),
        ("[\n  1,\n  2]", [1, 2, 3], "[\n  1,\n  2,\n  3]"),
        ("{\n  a: 1,\n  b: 2\n}", {"a": 1, "c": 3}, "{\n  a: 1,\n  c: 3\n}"),
        ("{\n  a: 1,  # a\n  b: 2,  # b\n}", {"c": 3, "d": 4}, "{\n  c: 3,\n  d: 4,\n}"),
        ("{\n  a: 1,  # a\n  b: 2  # b\n}", {"a": 1, "c": 3, "d": 4}, "{\n  a: 1,  # a\n  c: 3,\n  d: 4\n}"),
    ],
)
def test_between_brackets(before, new, after):
    result = edited(f"expected: {before}  # end\n", new)
    if after.startswith("\n"):
        assert result == f"expected:  # end{after}\n"
    else:
        assert result == f"expected: {after}  # end\n"


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("# top\na: 1  # one\n# end\n", 5, "# top\n5\n# end\n"),
        ("a: 1\n", [1, 2], "- 1\n- 2\n"),
        ("5\n", {"a": [1]}, "a:\n  - 1\n"),
        ("5  # five\n", {"a": [1]}, "{a: [1]}  # five\n"),
        ("|\n  text\n", {"a": 1}, "a: 1\n"),
        ("[]\n", [{"a": 1}], "- a: 1\n"),
    ],
)
def test_a_whole_document(before, new, after):
    assert edited(before, new, ()) == after


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("expected:\n- 1  # a\n- 1  # b\n", [1, 1, 1], "expected:\n- 1  # a\n- 1  # b\n- 1\n"),
        (
            "expected:\n- {id: 1, n: 1}  # a\n- {id: 2, n: 1}  # b\n",
            [{"id": 0, "n": 2}, {"id": 1, "n": 2}, {"id": 2, "n": 2}],
            "expected:\n- {id: 0, n: 2}\n- {id: 1, n: 2}  # a\n- {id: 2, n: 2}  # b\n",
        ),
        ("expected:\n- 1\nid: x\n", {"a": 1}, "expected:\n  a: 1\nid: x\n"),
        ("expected:\n  a: 1\nid: x\n", [1], "expected:\n  - 1\nid: x\n"),
        (
            "expected:\n- 1\n- 2\n# two\nid: x\n",
            {"a": "b\nc\n"},
            "expected:\n  a: |\n    b\n    c\n# two\nid: x\n",
        ),
        ("tags:\n- t\nexpected: 1\n", {"a": [1]}, "tags:\n- t\nexpected:\n  a:\n  - 1\n"),
        ("expected:\n-\n- 1\n", [{"a": 1, "b": 2}, 1], "expected:\n- {a: 1, b: 2}\n- 1\n"),
        ("expected:\n- x  \n- 1\n", [["a", "b\nc\n"], 1], 'expected:\n- [a, "b\\nc\\n"]  \n- 1\n'),
        ("expected:\n- x  # why\n- 1\n", [["a", "b"], 1], "expected:\n- [a, b]  # why\n- 1\n"),
        ("expected:\n- &n x\n- 1\n", [["a", "b"], 1], "expected:\n- &n [a, b]\n- 1\n"),
        ("expected:\n- |\n  text\n- 1\n", [{"a": 1}, 1], "expected:\n- {a: 1}\n- 1\n"),
        ("expected:\n- a: 1\n  b: 2\n- 1\n", [5, 1], "expected:\n- 5\n- 1\n"),
        ("expected:\n- a: 1\n  # two\n  b: 2\n", [[1, 2]], "expected:\n- [1, 2]\n  # two\n"),
        ("expected:\n- a: 1\n  # two\n  b: 2\n", [{"b": 2}], "expected:\n- \n  # two\n  b: 2\n"),
        ("expected: &n\n  a: 1\n", 5, "expected: &n 5\n"),
        ("expected: &n 5  # five\n", {"a": 1}, "expected: &n  # five\n  a: 1\n"),
        ("expected: [\n  1, 2,\n  3, 4]\n", [1, 2, 3, 5, 6], "expected: [\n  1, 2,\n  3, 5, 6]\n"),
        ("expected: {\n  a: 1,\n  b: 2}\n", {"a": 1, "c": 3}, "expected: {\n  a: 1,\n  c: 3}\n"),
    ],
)
def test_values_of_another_kind_in_odd_places(before, new, after):
    assert edited(before, new) == after


@pytest.mark.parametrize(
    ("text", "new", "reason"),
    [
        (
            "actual: &x {a: 1}\nexpected: *x\n",
            {"a": 2},
            "expected is an alias, *x: a change would also change the other places; write the value itself there first",
        ),
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
            "expected[1] holds &x, and aliases refer to it; write their values themselves there first",
        ),
        (
            "expected: {b: &x 1}\nactual: *x\n",
            2,
            "expected holds &x, and aliases refer to it; write their values themselves there first",
        ),
        ("expected: 1\n", "\ud800", "the new value holds half of a character, which YAML can't express"),
        (
            "expected:\n  a: |\n    x\n  b:\n      # of c\n      c: 1\n",
            {"a": "x\n"},
            "the text around the value can't be edited so that nothing else changes; write the value by hand",
        ),
        (
            "expected:\n- 1\n- 2\n    # two\nid: x\n",
            {"a": "b\nc\n"},
            "the text around the value can't be edited so that nothing else changes; write the value by hand",
        ),
        (
            "expected: [\n  1, # one\n  2]\n",
            3,
            "a comment is inside the text to remove; move it first",
        ),
    ],
)
def test_what_is_refused(text, new, reason):
    assert refusal(text, new) == reason


def test_what_is_too_deep_is_refused():
    new = 1
    for _ in range(2500):
        new = [new]
    assert refusal("expected: 1\n", new) == "the value is nested too deeply to be written; write it by hand"


def test_an_alias_that_stays_as_it_is_does_no_harm():
    text = "actual: &x {a: 1}\nexpected: {b: *x, c: 1}\n"
    assert edited(text, {"b": {"a": 1}, "c": 2}) == text.replace("c: 1", "c: 2")


def test_what_stands_behind_a_question_mark_is_edited():
    text = "expected:\n  ? a\n  : 1\n"
    assert edited(text, {"a": 2}) == "expected:\n  ? a\n  : 2\n"
    assert edited(text, {"a": 1, "b": 2}) == f"{text}  b: 2\n"
    assert edited(f"{text}  b: 2\n", {"b": 2}) == "expected:\n  b: 2\n"


def test_a_refused_change_leaves_the_others_alone():
    text = "cases:\n- &x {id: a, expected: 1}\n- {id: b, expected: 1}\nsame: *x\n"
    trails = [("cases", 0, "expected"), ("cases", 1, "expected")]
    result = edit(text.encode(), "x.yaml", dict.fromkeys(trails, 2))
    assert list(result.refused) == [trails[0]]
    assert result.data.decode() == text.replace("id: b, expected: 1", "id: b, expected: 2")


def test_a_change_that_changes_something_else_is_refused_alone(monkeypatch):
    from pytest_jsonmatch.golden.edit.planner import Planner

    right = Planner.replace

    def wrong(self, node, new):
        right(self, node, new)
        if new == "bad":
            self.put(len(self.text), len(self.text), "more: 1\n")

    monkeypatch.setattr(Planner, "replace", wrong)
    trails = [("a",), ("b",), ("c",)]
    result = edit(b"a: 1\nb: 1\nc: 1\n", "x.yaml", dict(zip(trails, ["good", "bad", "fine"], strict=True)))
    assert result.data == b"a: good\nb: 1\nc: fine\n"
    assert result.refused == {
        (
            "b",
        ): "the text around the value can't be edited so that nothing else changes; write the value by hand"
    }


def test_one_bad_change_of_hundreds_is_found_in_few_readings(monkeypatch):
    from pytest_jsonmatch.golden.edit.source import Source

    bad = "- expected:\n    a: |\n      x\n    b:\n        # of c\n        c: 1\n"
    cases = ["- expected: {a: 1}\n"] * 300
    cases[77] = bad
    text = "cases:\n" + "".join(cases)
    changes = {("cases", at, "expected"): {"a": "x\n" if at == 77 else 2} for at in range(300)}
    read, parse = [], Source.parse
    monkeypatch.setattr(Source, "parse", lambda self, data: (read.append(1), parse(self, data))[1])
    result = edit(text.encode(), "x.yaml", changes)
    assert list(result.refused) == [("cases", 77, "expected")]
    assert result.data.decode() == text.replace("{a: 1}", "{a: 2}")
    assert len(read) < 30


def test_nothing_to_change_gives_the_very_same_bytes():
    data = b"\xef\xbb\xbfexpected: {b: 1, a: 2.50}\r\n"
    result = edit(data, "x.yaml", {("expected",): {"a": 2.5, "b": 1}})
    assert result.data is data
    assert result.refused == {}


def test_a_byte_order_mark_and_windows_line_ends_stay():
    data = b"\xef\xbb\xbf# \xc3\xa9\r\nexpected:\r\n  a: 1  # x\r\n  b: |\r\n    t\r\n"
    result = edit(data, "x.yaml", {("expected",): {"a": 2, "b": "t\nu\n", "c": [1]}})
    assert result.data == data.replace(b"a: 1", b"a: 2").replace(
        b"    t\r\n", b"    t\r\n    u\r\n  c:\r\n    - 1\r\n"
    )


def test_a_file_that_is_not_valid_is_an_error():
    with pytest.raises(GoldenFileError):
        edit(b"a: [\n", "x.yaml", {("a",): 1})
    with pytest.raises(GoldenFileError, match=r"x\.json:1:"):
        edit(b"[1,]", "x.json", {(): 1})
    with pytest.raises(GoldenFileError, match=r"x\.json:1:1: not UTF-8"):
        edit(b'"\xff"', "x.json", {(): 1})


def test_a_place_that_is_not_there_is_refused():
    for trail in [("cases", 1), ("cases", 5, "expected"), ("none", "expected"), ("cases", 0, "a", "b")]:
        assert refusal("cases: [{a: 1}]\n", 1, trail).endswith(" is not in the file")


def test_a_long_list_keeps_what_it_begins_and_ends_with():
    old = [0] * 2000 + ["a"] + [0] * 3000
    text = "expected:\n" + "".join(f"- {each}\n" for each in old)
    assert edited(text, [each for each in old if each != "a"]) == text.replace("- a\n", "")
    assert edited(text, [*old[:2000], 1, 2, 3, *old[2001:]]) == text.replace("- a\n", "- 1\n- 2\n- 3\n")
    assert edited(text, [1] * 1500) == "expected:\n" + "- 1\n" * 1500


def test_old_line_breaks():
    assert edited("expected:\r  a: 1  # one\rid: x\r", {"a": 2, "b": 3}) == (
        "expected:\r  a: 2  # one\r  b: 3\rid: x\r"
    )


# -- JSON files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ('{"b": 1, "a": 2}\n', {"a": 3, "b": 1}, '{"b": 1, "a": 3}\n'),
        ('{"b":1,"a":2}', {"a": 2, "b": 1, "c": [1, {"d": 2}]}, '{"b":1,"a":2,"c":[1,{"d":2}]}'),
        ('{\n\t"a": 1\n}\n', {"a": 1, "b": {"c": 1}}, '{\n\t"a": 1,\n\t"b": {\n\t\t"c": 1\n\t}\n}\n'),
        ('{\n  "a": [1, 2],\n  "b": 2\n}', {"a": [1, 2, 3]}, '{\n  "a": [1, 2, 3]\n}'),
        ('{\r\n  "a": []\r\n}\r\n', {"a": [1]}, '{\r\n  "a": [\r\n    1\r\n  ]\r\n}\r\n'),
        (
            '{\n "a": {\n    "b": 1\n }\n}',
            {"a": {"b": 1}, "c": [2]},
            '{\n "a": {\n    "b": 1\n },\n "c": [\n  2\n ]\n}',
        ),
        ("[\n  1,\n  2\n]\n", [2], "[\n  2\n]\n"),
        ("[\n  1,\n  2\n]\n", [1], "[\n  1\n]\n"),
        ("[\n  1,\n  2\n]\n", [3, 4, 1, 2], "[\n  3,\n  4,\n  1,\n  2\n]\n"),
        ("[1.50, 1e2]", [1.5, 100], "[1.50, 100]"),
        ('["\\u00e9"]', ["é", "ü"], '["\\u00e9", "\\u00fc"]'),
        ('["é"]', ["é", "ü\ud800"], '["é", "ü\\ud800"]'),
        ("{}", {"a": 1}, '{\n  "a": 1\n}'),
        (" 1 ", "x", ' "x" '),
        ('{\n  "a": 1,\n  "b": 2\n}', {"a": 1, "c": 3}, '{\n  "a": 1,\n  "c": 3\n}'),
        ('{\n  "a": 1\n}', {"c": 3}, '{\n  "c": 3\n}'),
        ('{\n  "a": 1, "b": 2,\n  "c": 3\n}', {"a": 1, "b": 2}, '{\n  "a": 1, "b": 2\n}'),
    ],
)
def test_json_keeps_its_format(before, new, after):
    result = edit(before.encode(), "x.json", {(): new})
    assert (result.refused, result.data.decode()) == ({}, after)


# -- one by one --------------------------------------------------------------------------------------------


def test_merge_asks_about_each_difference():
    asked = []

    def note(trail, old, new):
        asked.append((trail, old, new))
        return False

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
    assert json_equal(merge(old, new, lambda *_: True), new, strict=True)
