"""What YAML becomes: JSON's types and nothing else, with and without libyaml."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
import yaml
from hypothesis import strategies as st

from pytest_jsonmatch.reading import yamlevents
from pytest_jsonmatch.reading.yamlevents import load
from tests.conftest import GoldenFileError
from tests.laws import law


@pytest.fixture(params=["libyaml", "pure"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test runs on both of PyYAML's parsers."""
    if request.param == "pure":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("this PyYAML was built without libyaml")
    return str(request.param)


def value_of(text: str | bytes) -> object:
    return load(text, "x.yaml").value


def error_of(text: str | bytes) -> str:
    with pytest.raises(GoldenFileError) as caught:
        load(text, "x.yaml")
    return str(caught.value)


WORDS = """
NO no on off yes y 2024-01-31 2024-01-31T10:00:00Z 012 0o17 0x1F 12:30 1_000 = +1 .5 1. 1e --1 True
TRUE False Null NULL .nan .inf -.inf nan 1.2.3 ١
"""


@pytest.mark.parametrize("text", [*WORDS.split(), "1 000"])
def test_text_that_is_not_a_json_scalar_is_a_string(text: str) -> None:
    assert value_of(f"a: {text}") == {"a": text}


SCALARS = [
    *(("1e3", 1000.0), ("1E+2", 100.0), ("-0", 0), ("0", 0), ("-1.5", -1.5), ("1e400", Decimal("1e400"))),
    *(("true", True), ("false", False), ("null", None), ("~", None), ("", None), ("# nothing", None)),
    ("9007199254740993", 9007199254740993),
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_json_scalars(text: str, value: object) -> None:
    got = value_of(f"a: {text}")["a"]  # type: ignore[index]
    assert (type(got), got) == (type(value), value)


def test_quoted_and_block_scalars_are_strings() -> None:
    assert value_of("['1', \"true\", 'null', \"\", '~']") == ["1", "true", "null", "", "~"]
    assert value_of("a: |\n  1\n  2\nb: >-\n  1\n  2\n") == {"a": "1\n2\n", "b": "1 2"}


def test_an_integer_is_exact_or_an_error() -> None:
    assert value_of(f"a: {'9' * 4_299}") == {"a": 10**4_299 - 1}
    assert error_of("a: 1" + "0" * 4_300).startswith("x.yaml:1:4: an integer of more than 4,300 digits")


def test_json_is_yaml() -> None:
    document = {"a": [1, 2.5, None, True, 'x\ny\t"z"', {"é": "😀"}, [], {}], "b c": "#no comment"}
    assert value_of(json.dumps(document, ensure_ascii=False)) == document


@law(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(min_codepoint=32, max_codepoint=0x2FFF, blacklist_characters="\x7f")),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text("abc<=~ 1", max_size=4), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_whatever_json_says_comes_back(document: object) -> None:
    # ensure_ascii=False: YAML has no surrogate pairs; C1 controls are what neither YAML version takes raw.
    text = json.dumps(document, ensure_ascii=False)
    if any(0x80 <= ord(character) < 0xA0 and character != "\x85" for character in text):
        return
    assert value_of(text) == document


def test_line_breaks_of_yaml_1_1_are_ordinary_characters() -> None:
    text = 'a: "x\u2028y \u2029 z\x85"\nb: one\u2028two\nc: [\ue000]\n'
    document = load(text, "x.yaml")
    assert document.value == {"a": "x\u2028y \u2029 z\x85", "b": "one\u2028two", "c": ["\ue000"]}
    assert document.position(["c"]) == (3, 1)


def test_a_byte_order_mark_and_crlf_are_fine() -> None:
    document = load(b"\xef\xbb\xbfa: 1\r\nb:\r\n  - x\r\n", "x.yaml")
    assert document.value == {"a": 1, "b": ["x"]}
    assert document.position(["b", 0]) == (3, 5)


def test_aliases_stand_for_the_value() -> None:
    assert value_of("a: &x {k: [1, 2]}\nb: *x\nc: [*x]\nd: &y 3\ne: *y\n") == {
        "a": {"k": [1, 2]},
        "b": {"k": [1, 2]},
        "c": [{"k": [1, 2]}],
        "d": 3,
        "e": 3,
    }


def test_an_anchor_may_be_set_again_and_an_alias_may_be_a_key() -> None:
    assert value_of("[&x 1, *x, &x [2], *x]") == [1, 1, [2], [2]]
    assert value_of("- &k name\n- *k : 1\n") == ["name", {"name": 1}]


ERRORS = r"""
# only a comment\n => 1:1: the file is empty; it must contain a value, such as `total: 12`, `[]` or `null`
a: 1\nb: 2\na: 3\n => 3:1: the key 'a' is already at line 1; keep one of them
a:\n  - {k: [1, {z: 2}], b: 1,\n     k: 2}\n => 3:6: the key 'k' is already at line 2; keep one of them
a:\n  1: x\n => 2:3: the key 1 is not a string, as JSON's keys are; write "1"
true: x\n => 1:1: the key true is not a string, as JSON's keys are; write "true"
~: x\n => 1:1: the key null is not a string, as JSON's keys are; write "null"
? [a]\n: x\n => 1:3: a key is an array; JSON's keys are strings
? {a: 1}\n: x\n => 1:3: a key is an object; JSON's keys are strings
- &a [1]\n- *a : 1\n => 2:3: a key is an array; JSON's keys are strings
a: !!str 1\n => 1:4: the tag '!!str': values have JSON's types only; leave it out, and put strings in quotes
a: !mine {b: 1}\n => 1:4: the tag '!mine': values have JSON's types only; leave it out, and put strings in quotes
b:\n  <<: {a: 1}\n => 2:3: YAML 1.2 has no merge keys; repeat the keys, or write "<<" in quotes to mean the name
a: &x [1, *x]\n => 1:11: *x is inside the value it names; JSON has no cycles
total: &total 1\nb: *totol\n => 2:4: there is no anchor &totol before this alias; did you mean *total?
b: *q\n => 1:4: there is no anchor &q before this alias
a: 1\n---\nb: 2\n => 2:1: a second document begins here; keep one document per file, and list several cases below `cases:`
"""


@pytest.mark.parametrize("line", ERRORS.strip().splitlines())
def test_messages(line: str) -> None:
    text, message = line.split(" => ")
    assert error_of(text.replace("\\n", "\n")) == f"x.yaml:{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.yaml:1:1: the file is empty; it must contain a value, such as `total: 12`, `[]` or `null`"),
        ("a: x\x00y\n", "x.yaml:1:5: a NUL character; the file is damaged, or is not text"),
        (
            "a: 1\nb: \x07\n",
            "x.yaml:2:4: the character U+0007 is not allowed in YAML; write it as an escape in double quotes",
        ),
        (b"a: 1\nb: x\xff\n", "x.yaml:2:5: the byte 0xff is not UTF-8; save the file as UTF-8"),
        (
            'a: "\\ud83d\\ude00"\n',
            "x.yaml:1:7: an escape is not a character, or is a lone surrogate (YAML has no surrogate pairs); write the character itself, or keep the JSON in a file of its own",
        ),
        ("\ufeff\ufeffa: 1\n", "x.yaml:1:1: a byte order mark in the middle of the file; remove it"),
        ("---\n\ufeff", "x.yaml:2:1: a byte order mark in the middle of the file; remove it"),
        (
            "[" * 129 + "]" * 129,
            "x.yaml:1:129: more than 128 levels of arrays and objects; give its parts cases of their own",
        ),
    ],
)
def test_errors_say_where_and_what(text: str | bytes, message: str, parser: str) -> None:
    if parser == "pure" and "surrogate" in message:
        message = message.replace("1:7", "1:4")  # only libyaml looks at escapes one by one
    assert error_of(text) == message


def test_syntax_errors_have_their_place_and_what_is_never_closed_where_it_opens() -> None:
    message = error_of("a: 1\nb: [1,\n  2\n")
    assert message.startswith("x.yaml:4:1: not YAML: ")
    assert message.endswith("(while parsing a flow sequence that begins at line 2)")
    assert error_of("a: b\n  c: d\n").startswith("x.yaml:2:4: not YAML: mapping values are not allowed")


def test_an_alias_bomb_of_numbers_or_strings_is_an_error() -> None:
    levels = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert error_of("\n".join(levels)) == (
        "x.yaml:7:25: written out, the aliases up to here take more than 16 MiB; use fewer of them"
    )
    levels = [f"- &a0 {'x' * 500}"]
    levels += [f"- &a{n} {{k: *a{n - 1} , l: *a{n - 1} }}" for n in range(1, 20)]
    assert error_of("\n".join(levels)).startswith("x.yaml:15:22: written out, the aliases up to here")


def test_what_aliases_stand_for_is_counted_as_if_it_were_written(monkeypatch) -> None:
    text = "[&a " + "x" * 96 + ", *a, *a]"  # of 109 characters; each alias stands for 99, its anchor too
    assert value_of(text) == ["x" * 96] * 3
    monkeypatch.setattr(yamlevents, "MAX_SIZE", 109 + 2 * 99)
    assert value_of(text) == ["x" * 96] * 3
    monkeypatch.setattr(yamlevents, "MAX_SIZE", 109 + 2 * 99 - 1)
    assert error_of(text).startswith("x.yaml:1:107: written out")


@pytest.mark.parametrize("text", [b"a: 1\n", "a: 1\n"])
def test_a_document_over_the_limit_is_an_error(text: bytes | str, monkeypatch) -> None:
    monkeypatch.setattr(yamlevents, "MAX_SIZE", 5)
    assert value_of(text) == {"a": 1}
    monkeypatch.setattr(yamlevents, "MAX_SIZE", 4)
    assert error_of(text) == (
        "x.yaml:1:1: the file is larger than 16 MiB; split it, or keep large values in JSON files (`expected_file`)"
    )


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-be"])
def test_other_encodings_are_reported(mark: str, encoding: str) -> None:
    data = f"{mark}a: 1\n".encode(encoding)
    assert error_of(data) == "x.yaml:1:1: the file seems to be UTF-16 or UTF-32; save it as UTF-8"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a:\n\tb: 1\n", "2:1"),
        ("a:\n  b: 1\n\tc: 2\n", "3:1"),
        ("a: |\n\tx\n", "2:1"),
        ("a:\n  b:\n  \tc: 1\n", "3:3"),
        ("a:\r\n\tb: 1\r\n", "2:1"),
        ("\ufeffa:\n\tb: 1\n", "2:1"),
    ],
)
def test_a_tab_for_an_indent_is_reported_as_one(text: str, place: str) -> None:
    assert error_of(text) == f"x.yaml:{place}: a tab can't indent in YAML; use spaces"


@pytest.mark.parametrize("escape", ["\\ud83d", "\\U00110000", "\\UFFFFFFFF"])
def test_an_escape_that_names_no_character(escape: str) -> None:
    message = error_of(f'a: 1\nb: "xy{escape}"\n')
    assert message.startswith("x.yaml:2:")
    assert ": an escape is not a character, or is a lone surrogate (YAML has no surrogate pairs); " in message


def test_tags_by_a_handle_are_tags_too() -> None:
    reason = "values have JSON's types only"
    assert error_of("%TAG !e! x\n---\na: !e!y 1\n").startswith(f"x.yaml:3:4: the tag 'xy': {reason}")
    assert value_of("# %TAG\n%YAML 1.2\n---\na: '%TAG'\n") == {"a": "%TAG"}


def test_of_a_long_name_an_error_shows_both_ends() -> None:
    name = "a" + "b" * 100_000
    message = error_of(f"? {name}\n: 1\n? {name}\n: 2\n")
    assert len(message) < 1_100
    assert message.startswith("x.yaml:3:3: the key 'abbb")
    assert message.endswith("bbb' is already at line 1; keep one of them")


def test_a_hundred_cases_may_share_a_large_value() -> None:
    text = f"big: &big [{', '.join('1' * 1000)}]\nuses:\n" + "  - *big\n" * 100
    assert len(value_of(text)["uses"]) == 100  # type: ignore[index]


def test_positions_of_entries() -> None:
    document = load("# x\na: 1\nb:\n  - k: [1, {z: 2}]\n    l: &l\n      m: 3\n  - *l\nc: *l\n", "x.yaml")
    required = {
        (): (2, 1),
        ("a",): (2, 1),
        ("b",): (3, 1),
        ("b", 0): (4, 5),
        ("b", 0, "k", 1, "z"): (4, 13),
        ("b", 0, "l", "m"): (6, 7),
        ("b", 1): (7, 5),
        ("c",): (8, 1),
    }
    assert {path: tuple(document.position(path)) for path in required} == required


def test_below_an_alias_positions_are_those_of_its_value() -> None:
    document = load("a: &a\n  k: 1\nb: *a\n", "x.yaml")
    assert document.position(["b", "k"]) == (2, 3)


def test_a_place_that_is_not_there_is_the_nearest_around_it() -> None:
    document = load("a:\n  b:\n    c: 1\n", "x.yaml")
    assert [document.position(["a", "b", "x", 0]), document.position(["x"])] == [(2, 3), (1, 1)]
