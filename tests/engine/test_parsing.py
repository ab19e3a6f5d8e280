"""Strict JSON, and the search for JSON in a model's output."""

from __future__ import annotations

import builtins
import json
import math
import sys
import tracemalloc
from decimal import Decimal
from typing import Any

import pytest

from pytest_jsonmatch import (
    ConfigurationError,
    Extraction,
    JsonExtractionError,
    JsonParseError,
    compare_corpus,
    compare_json,
    extract_json,
)


def reason_of(text: str | bytes, **options: object) -> str:
    with pytest.raises(JsonExtractionError) as caught:
        extract_json(text, **options)
    return caught.value.reason


def parse(text: str | bytes) -> Any:
    """The value of JSON text that is expected, which is read strictly."""
    return compare_json(None, text, metric="leaf_f1").documents[0]


# --- strict JSON: numbers, strings, depth --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, true, null, "x"]}', {"a": [1, True, None, "x"]}),
        (" \t\r\n[]\n", []),
        ('"hello"', "hello"),
        (b'{"name": "\xc3\x89va"}', {"name": "Éva"}),
        (b"\xef\xbb\xbf[1]", [1]),
        ("\ufeff[1]", [1]),
        ("[9007199254740993]", [9007199254740993]),
        ("[-0]", [0]),
        ("[0.1]", [0.1]),
        ("[1e3]", [1000.0]),
        ("[1e400]", [Decimal("1e400")]),
        ("[-1e999999999]", [Decimal("-1e999999999")]),
        ('"\\ud800 and \\ud83d\\ude00"', "\ud800 and \U0001f600"),
    ],
)
def test_strict_json_is_read_exactly(text, value):
    assert parse(text) == value


def test_an_integer_literal_is_an_int_and_a_literal_with_an_exponent_a_float():
    assert [type(number) for number in parse("[1, 1.0, 1e2]")] == [int, float, float]


# --- strict JSON: limits --------------------------------------------------------------------------------------

BRACKETS = [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")]
DIGITS = "9" * 4_300


def nested(opening, closing, levels):
    number = levels // opening.count("[") if opening.count("{") == 0 else levels // (1 + opening.count("["))
    return opening * number + "1" + closing * number


@pytest.mark.parametrize(("opening", "closing"), BRACKETS)
def test_128_levels_are_read_and_deeper_text_is_an_error_with_its_place(opening, closing):
    assert nested(opening, closing, 128) == json.dumps(parse(nested(opening, closing, 128))).replace(" ", "")
    for levels in (130, 2_000, 100_000):
        with pytest.raises(
            JsonParseError, match="more than 128 levels of arrays and objects; compare its parts"
        ) as caught:
            parse("\n" + nested(opening, closing, levels))
        column = nested(opening, "", 128).rindex("1") + 1
        assert (caught.value.line, caught.value.column) == (2, column)


def test_brackets_in_strings_are_no_levels():
    text = json.dumps(["[" * 200, {"{" * 200: "]"}] * 100)
    assert json.dumps(parse(text)) == text


@pytest.mark.parametrize("string", ["", "]", "}", "[", r"\"]", r"]\\", r"\\\"]", "é}", r"\u005d"])
@pytest.mark.parametrize(("before", "after"), [("[", ', "{}"]'), ('{"{}": ', "}"), ('["{}", ', "]")])
def test_brackets_in_strings_hide_no_levels(string, before, after):
    before, after = before.replace("{}", string), after.replace("{}", string)
    for levels in (127, 128, 129, 300):
        text = f"[{before * (levels - 1)}1{after * (levels - 1)}, [], {{}}]"
        if levels <= 128:
            assert json.dumps(parse(text)) == json.dumps(json.loads(text))
        else:
            with pytest.raises(JsonParseError, match="more than 128 levels"):
                parse(text)


@pytest.mark.parametrize("limit", [0, 640, 4_300, 10_000])
def test_integers_have_up_to_4_300_digits_whatever_the_limit_of_python(limit):
    if not hasattr(sys, "set_int_max_str_digits"):
        pytest.skip("this Python has no such limit")
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(limit)
    try:
        assert parse(f"[-{DIGITS}]") == [1 - 10**4_300]
        with pytest.raises(JsonParseError, match="more than 4,300 digits; give it as a string") as caught:
            parse(f'[1,\n"{DIGITS}9", {DIGITS}9]')
    finally:
        sys.set_int_max_str_digits(before)
    assert (caught.value.line, caught.value.column) == (2, 4_306)


# --- strict JSON: errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason", "line", "column"),
    [
        ("[1,\n 2,\n]", "nothing between a comma and ']'; remove the comma", 3, 1),
        ('{"a": 1,}', "nothing between a comma and '}'; remove the comma", 1, 9),
        ('{"a":}', "expected value", 1, 6),
        ('{\n  "a": 1,\n  "a": 2\n}', "the key 'a' occurs twice in one object; keep one", 3, 3),
        ("[NaN]", "NaN is not JSON; write null, or a number", 1, 2),
        ("[-Infinity]", "-Infinity is not JSON; write null, or a number", 1, 2),
        ("[True]", "True is not JSON, which writes true, false and null in lower case", 1, 2),
        ("{'a': 1}", "strings and keys are written in double quotes, not single ones", 1, 2),
        ("{a: 1}", "expected property name enclosed in double quotes", 1, 2),
        ('{"a" 1}', "expected ':' delimiter", 1, 6),
        ("[1] // one", "JSON has no comments; remove it", 1, 5),
        ("[ # one\n1]", "JSON has no comments; remove it", 1, 3),
        ("[1] [2]", "extra data", 1, 5),
        ("[\n[1}", "expected ',' delimiter", 2, 3),
        ('{\n"a": [1, 2', "the text ends inside an object", 2, 11),
        ('{"a": 1,', "the text ends inside an object", 1, 9),
        ('{"a": "x', "unterminated string starting", 1, 7),
        ('["a\nb"]', "invalid control character", 1, 4),
        ('["\\d"]', "invalid \\escape", 1, 3),
        ("[012]", "expected ',' delimiter", 1, 3),
        ("[1.]", "expected ',' delimiter", 1, 3),
        (
            "[1e1000000000000000000]",
            "a number with an exponent of more than 18 digits; give it as a string",
            1,
            2,
        ),
        (
            "[0, -2.5E+10000000000000000000]",
            "a number with an exponent of more than 18 digits; give it as a string",
            1,
            5,
        ),
        (b"[\n\xff]", "byte 0xff is not valid UTF-8; decode the bytes, or save the text as UTF-8", 2, 1),
    ],
)
def test_an_error_says_what_is_wrong_and_where(text, reason, line, column):
    with pytest.raises(JsonParseError) as caught:
        parse(text)

    assert (caught.value.reason, caught.value.line, caught.value.column) == (reason, line, column)


def test_text_that_is_neither_str_nor_bytes_is_a_type_error():
    with pytest.raises(TypeError, match="str or bytes, got int"):
        extract_json(42)


# --- extract_json: the steps --------------------------------------------------------------------------------


def test_step_1_the_whole_text_is_json():
    assert extract_json(' {"total": 12}\n') == Extraction({"total": 12}, "whole", (1, 14))


def test_step_1_takes_any_json_value_where_no_type_is_required():
    assert extract_json('"hello"') == Extraction("hello", "whole", (0, 7))


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ('\ufeff{"a": 1}', (1, 9)),
        ('\xa0{"a": 1}\u2003', (1, 9)),
        ('<think>maybe {"a": 2}?</think>\n{"a": 1}', (31, 39)),
        ('<Thinking depth="3">hm</Thinking>{"a": 1}', (33, 41)),
        ('<think>one</think>\n<reasoning>two</reasoning>\n{"a": 1}', (46, 54)),
        ('{"a": 1}\n<reflection>fine</reflection>', (0, 8)),
        ('the template kept the opening tag: {"a": 2}\n</think>\n\n{"a": 1}', (54, 62)),
        ("<think>a <think>b</think> c</think>" + '{"a": 1}', (35, 43)),
    ],
)
def test_step_2_byte_order_mark_white_space_and_reasoning_are_stripped(text, span):
    assert extract_json(text) == Extraction({"a": 1}, "stripped", span)


def test_bytes_are_utf_8_and_the_span_counts_characters():
    found = extract_json('Voilà, Éva : {"a": 1}'.encode())

    assert found == Extraction({"a": 1}, "span", (13, 21))


@pytest.mark.parametrize(
    "text",
    [
        'Here you are:\n```json\n{"a": 1}\n```\nAnything else?',
        "~~~\n" + '{"a": 1}' + "\n~~~",
        '```\n{"a": 1}',
        '  ```JSON\r\n  {"a": 1}\r\n  ```\r\n',
        '````json\n{"a": 1}\n```\n````'.replace("\n```\n", "\n"),
        '```json\n{"a": 1}```',
        '```json {"a": 1}\n```',
        '```json\n{"a": 2}\n```\nNo, better:\n```json\n{"a": 1}\n```',
        '```json\n{"a": 1}\n```\nwhich prints\n```\n{"a": 2}\n```',
        '```json\n{"a": 1}\n```\n```json\n{"a": 2,}\n```',
        '```python\nprint({"a": 2})\n```\n```\n{"a": 1}\n```',
        '<think>\n```json\n{"a": 2}\n```\n</think>\n```json\n{"a": 1}\n```',
        'In the interval [0, 1):\n```json\n{"a": 1}\n```',
        '```json\n{"a": 1}\n``` Hope this helps!',
        '```\nHere you are: {"a": 1}\n```',
        '```python\nresult = {"a": 1}\n```\n{"far": "larger"}',
        '````markdown\n```\n{"a": 1}\n```\n````\n{"far": "larger"}',
        '```json\n{"b": 2}\n{"a": 1}\n```',
        'Take { as it is:\n```json\n{"a": 1}\n```',
    ],
)
def test_step_3_the_last_json_fence_that_parses(text):
    found = extract_json(text)

    assert (found.value, found.method, text[slice(*found.span)]) == ({"a": 1}, "fence", '{"a": 1}')


@pytest.mark.parametrize(
    "text",
    [
        'The answer is {"a": 1}, I think.',
        'First {"b": 2}, then {"a": 1}.',
        'A small {} or [] or [7] loses to {"a": 1}.',
        '{not json} {"a": 1} [nor this]',
        'Use `{}` for `{`: {"a": 1}',
        "Inline ```" + '{"a": 1}' + "``` is no fence",
        '[see note] and {"a": 1}',
        'Broken [1 2 3 4 5 6 7 8 9] and whole {"a": 1}',
        'We think aloud <think>{"draft": 1000000}</think>: {"a": 1}',
        '{"a": 1}\n```\n',
        'We <think> and <think> it is {"a": 1}',
        'After the </think> tag: {"a": 1}',
        'The tags "<think>" and "</think>" frame no {"a": 1}',
        "```" + '{"a": 1}' + "``` is a code span",
    ],
)
def test_step_4_the_largest_balanced_span_that_parses_and_the_last_of_equals(text):
    found = extract_json(text)

    assert (found.value, found.method, text[slice(*found.span)]) == ({"a": 1}, "span", '{"a": 1}')


@pytest.mark.parametrize(
    "string", ["}", "{", '\\"}', "\\\\", "]", "[[", "```", "<think>", "</think>", "\\\\" * 6000]
)
def test_step_4_knows_strings(string):
    text = f'So: {{"a": ["{string}", 1]}} it is.'

    assert extract_json(text).span == (4, len(text) - 7)


def test_step_4_takes_runs_of_brackets_apart():
    found = extract_json("So: [[[[1]], 2], [[3]]], or [[1]].")

    used = "the array at line 1, column 5 was used, not the array at line 1, column 29"
    warning = f"{used}; if there are several, the largest is used, on a tie the last"
    assert found == Extraction([[[[1]], 2], [[3]]], "span", (4, 23), (warning,))


@pytest.mark.parametrize(
    "text",
    [
        'The "{" opens. {"a": 1}',
        'The "[" opens. {"a": 1}',
        'Use {"a} and {"b" c}, then {"a": 1}',
        'Between { and } comes {"a": 1}',
        'A list ["like this\nis not closed. {"a": 1}',
        '{"a"} is wrong, {"a": 1} is right',
    ],
)
def test_brackets_of_prose_open_nothing(text):
    assert (extract_json(text).value, extract_json(text).warnings) == ({"a": 1}, ())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("So: {", "output ends inside an object opened at line 1"),
        ('So:\n{ "nam', "output ends inside an object opened at line 2"),
        ('So: {"name" ', "output ends inside an object opened at line 1"),
        ('So: {"name": ', "output ends inside an object opened at line 1"),
        ('So: ["name"', "output ends inside an array opened at line 1"),
        ('So: {"a": 1} or {', "output ends inside an object opened at line 1"),
    ],
)
def test_an_answer_may_be_cut_off_in_its_first_key(text, reason):
    assert reason_of(text) == reason


@pytest.mark.parametrize("comment", ["// c", "# c", "/* c */", "/* c\n*/ // d", "\n\n# c"])
@pytest.mark.parametrize("text", ['{%s\n"a": {"b": 1}}', '[%s\n{"b": 1}]', 'So: [%s\n"x", {"b": 1}]'])
def test_what_stands_in_json_with_comments_is_no_answer(text, comment):
    assert "JSON has no comments" in reason_of(text % comment)


@pytest.mark.parametrize(
    ("text", "want", "value", "lines"),
    [
        (
            'Form: {"name": "<name>", "x": 1}\nAnswer: {"name": "Bo"}',
            "object",
            {"name": "<name>", "x": 1},
            (1, 2),
        ),
        ('{"a": 1}\n{"b": 2}', "object", {"b": 2}, (2, 1)),
        ('{"a": 1}\n{"b": 2}', None, {"b": 2}, (2, 1)),
        ('```json\n{"a": 1}\nor\n{"a": 22}\n```', "object", {"a": 22}, (4, 2)),
        ("See [1], [2].\n[3, 4]", "array", [3, 4], (2, 1)),
    ],
)
def test_another_complete_value_that_was_left_is_a_warning(text, want, value, lines):
    found = extract_json(text, want=want)
    used, left = (f"the {'array' if type(value) is list else 'object'} at line {line}" for line in lines)
    warning = f"{used} was used, not {left}; if there are several, the largest is used, on a tie the last"
    assert (found.value, found.warnings) == (value, (warning,))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ('See [1]: {"a": 1}', "object"),
        ('{"a": 1} {"a": 1,}', None),
        ('Draft {"a": 1}, final {"a": 1.0}', None),
        ('```json\n{"a": 2}\n```\n```json\n{"a": 1}\n```', "object"),
        ('{"b": 2}\n```json\n{"a": 1}\n```', "object"),
    ],
)
def test_values_of_another_kind_and_equal_ones_are_no_warning(text, want):
    assert (extract_json(text, want=want).value, extract_json(text, want=want).warnings) == ({"a": 1}, ())


def test_a_warning_of_several_values_reaches_results_and_runs():
    answer, warning = '{"a": 2, "b": 3}\n{"a": 1}', "the object at line 1 was used, not the object at line 2"
    assert compare_json(answer, {"a": 1}).warnings[0].startswith(warning)
    assert warning in str(compare_corpus([answer], [{"a": 1}]).warnings[0])


@pytest.mark.parametrize(
    ("text", "want", "value", "method"),
    [
        ('[{"a": 1}]', "array", [{"a": 1}], "whole"),
        ('```json\n[1]\n```\n```\n{"a": 1}\n```', "object", {"a": 1}, "fence"),
        ('<think>x</think>{"a": [1, 2, 3, 4]} and [1]', "array", [1], "span"),
        ('[1, 2, 3, 4, 5, 6] and {"a": 1}', "object", {"a": 1}, "span"),
        ('12\n{"a": 1}', "object", {"a": 1}, "span"),
    ],
)
def test_a_required_type_holds_at_every_step(text, want, value, method):
    found = extract_json(text, want=want)

    assert (found.value, found.method) == (value, method)


def test_a_required_kind_that_does_not_exist_is_named():
    with pytest.raises(ConfigurationError, match="want must be 'object', 'array' or None, got 'objekt'"):
        extract_json("{}", want="objekt")


# --- extract_json: what is tolerated ------------------------------------------------------------------------


def test_of_duplicate_keys_the_last_wins_with_a_warning():
    found = extract_json('So:\n{"a": 1,\n "b": 2,\n "a": 3}')

    assert found.value == {"a": 3, "b": 2}
    assert found.warnings == ("line 4: the key 'a' occurs twice in one object; the last one counts",)


def test_nan_is_a_float_with_a_warning():
    found = extract_json('{"a": NaN,\n "b": -Infinity}')

    assert math.isnan(found.value["a"])
    assert found.value["b"] == -math.inf
    assert found.warnings == (
        "line 1: NaN is not JSON; it equals nothing",
        "line 2: -Infinity is not JSON; it equals nothing",
    )


def test_at_most_twenty_warnings_are_listed():
    assert len(extract_json("[" + ", ".join(["NaN"] * 50) + "]").warnings) == 20


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"a": 1}\nand then\n{"b": ', 3),
        ('The set {} is empty. {"a": ', 1),
        ('```json\n{"a": 1}\n```\nBetter:\n```json\n{"a": 1, "b": ', 6),
        ('```json\n{"a": 1}\n```\nBetter: {"a": 1, "b": ', 4),
        ('```json\n{"a": 1}\n``` or\n```json\n{"a": [1, 2], "b": {"c": 3}, ', 5),
    ],
)
def test_an_answer_that_was_cut_off_is_an_error_whatever_stands_before_it(text, line):
    assert reason_of(text) == f"output ends inside an object opened at line {line}"


@pytest.mark.parametrize(
    "text", ['Use { " as a sign, then\n```json\n{"a": 1}\n```', '```\n[1, 2, \n```\nor {"a": 1}']
)
def test_what_is_open_before_the_last_complete_one_cuts_nothing_off(text):
    assert extract_json(text).value == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [
        '◁think▷ Maybe {"b": 2}? ◁/think▷ {"a": 1}',
        '<|channel|>analysis<|message|>{"b": 2}<|end|><|channel|>final<|message|>{"a": 1}<|return|>',
        'analysisLet me see: {"b": [1, 2, 3]}. assistantfinal{"a": 1}',
        'assistantfinal{"b": 2}\nNo: assistantfinal{"a": 1}',
    ],
)
def test_what_stands_before_the_final_answer_is_reasoning(text):
    assert extract_json(text).value == {"a": 1}


def test_the_mark_of_a_final_answer_in_a_string_is_text():
    text = 'Here: {"a": "the assistantfinal channel", "b": 1}.'
    assert extract_json(text).value == {"a": "the assistantfinal channel", "b": 1}


@pytest.mark.parametrize(
    ("before", "after", "method"),
    [
        ("", "", "whole"),
        ("<think></think>", "", "stripped"),
        ("```\n", "\n```", "fence"),
        ("So: ", ".", "span"),
    ],
)
def test_every_step_reads_128_levels(before, after, method):
    found = extract_json(before + "[" * 128 + "]" * 128 + after)

    assert (found.method, found.span) == (method, (len(before), len(before) + 2 * 128))


# --- extract_json: reasons ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        ("", {}, "the text is empty"),
        (" \n\ufeff", {}, "the text is empty"),
        ("I cannot help with that.", {}, "there is no object or array in the text"),
        ("I cannot help with that.", {"want": "object"}, "there is no object in the text"),
        ('Here:\n\n{"a": {"b": 1}, "c": [{"d": 2}', {}, "output ends inside an object opened at line 3"),
        ('{"a": {"b": 1}, "c": "unfinished {}', {}, "output ends inside an object opened at line 1"),
        ('{"a": "ends in a backslash \\', {}, "output ends inside an object opened at line 1"),
        ('```json\n[{"a": 1}, {"a"', {}, "output ends inside an array opened at line 2"),
        (
            '```json\n{"a": NaN,}',
            {},
            "the fence at line 2 is not JSON: nothing between a comma and '}'; remove the comma (line 2, column 11)",
        ),
        ("[" * 128 + "1", {}, "output ends inside an array opened at line 1"),
        ("[" * 128 + "1\n]", {}, "output ends inside an array opened at line 1"),
        ("[0, 1) never closes: " + '{"a": 1}', {}, "output ends inside an array opened at line 1"),
        ('x\n<think>So {"a": 1}', {}, "output ends inside a <think> block opened at line 2"),
        ('<think>{"a": 1}</think>\n', {}, "the text contains only reasoning"),
        ('{"a": [1}\n{"b": 2}', {}, "the brackets of an object opened at line 1 do not match: '}' at line 1"),
        (
            '{"a": 1], "b": {"c": 2}}',
            {},
            "the brackets of an object opened at line 1 do not match: ']' at line 1",
        ),
        ("[[[1]\n}]", {}, "the brackets of an array opened at line 1 do not match: '}' at line 2"),
        ("[[[1]}]]", {}, "the brackets of an array opened at line 1 do not match: '}' at line 1"),
        ("[1, 2]", {"want": "object"}, "expected an object, got an array (line 1)"),
        (
            '{"a": 1}\n{"b": 2}\n',
            {"want": "array"},
            "expected an array, got 2 objects (from line 1 to line 2); put them into one array",
        ),
        ("[1] x\n[2]", {"want": "object"}, "expected an object, got 2 arrays (from line 1 to line 2)"),
        (
            '{"a": 1} [1, 2,]',
            {"want": "array"},
            "the array at line 1 is not JSON: nothing between a comma and ']'; remove the comma (line 1, column 16)",
        ),
        ("So:\n{}", {"want": "array"}, "expected an array, got an object (line 2)"),
        ("42", {"want": "array"}, "expected an array, got a number (line 1)"),
        (
            'So:\n {"a": 1,}',
            {},
            "the object at line 2 is not JSON: nothing between a comma and '}'; remove the comma (line 2, column 10)",
        ),
        (
            "```json\n{\n'a': 1}\n```",
            {},
            "the fence at line 2 is not JSON: strings and keys are written in double quotes, not single ones (line 3, column 1)",
        ),
        (
            '```\n{"a": [1,\n```',
            {},
            "the fence at line 2 is not JSON: the text ends inside an object (line 3, column 1)",
        ),
        (
            "{a: 1}",
            {},
            "the object at line 1 is not JSON: expected property name enclosed in double quotes (line 1, column 2)",
        ),
        (
            b"\xff",
            {},
            "byte 0xff is not valid UTF-8; decode the bytes, or save the text as UTF-8 (line 1, column 1)",
        ),
    ],
)
def test_a_failure_gives_its_reason(text, options, reason):
    assert reason_of(text, **options) == reason


def test_a_failure_shows_the_beginning_of_the_text():
    with pytest.raises(JsonExtractionError) as caught:
        extract_json("\n  I am sorry, " + "but " * 100)

    assert caught.value.excerpt == "I am sorry, but but but but but but but but but but but but…"


# --- extract_json: repair -----------------------------------------------------------------------------------

COMMENTED = [
    '{\n %s\n "a": [1, 2]}',
    'So: {"a": [ %s\n 1, 2]}.',
    '```json\n{ %s\n "a": [1, 2]}\n```',
    '{%s\n"a": [1, 2], }',
]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Sure: {"a": [1, 2', {"a": [1, 2]}),
        ('```json\n{"a": [1, 2,]}\n```', {"a": [1, 2]}),
        ("The result is {'a': [1, 2]} here.", {"a": [1, 2]}),
        ("So {a: [1, 2]} it is", {"a": [1, 2]}),
        ("```python\nprint()\n```\nSo {a: [1, 2]}", {"a": [1, 2]}),
        *((text % c, {"a": [1, 2]}) for text in COMMENTED for c in ("// c", "# c", "/* c */", "// don't {")),
        (r"{\"a\": [1, 2]}", {"a": [1, 2]}),
        (r"Sure: {\"a\": [1, 2]} Hope this helps!", {"a": [1, 2]}),
        (r"{\n \"a\": [\n1, 2]\n}", {"a": [1, 2]}),
        (r"{\'a\': [1, 2]}", {"a": [1, 2]}),
        (r"{\"a\": \"x\\ny\"", {"a": "x\ny"}),
        ("{1: [1, 2]}", {"1": [1, 2]}),
        ('{, "a": [1, 2]}', {"a": [1, 2]}),
        ('{...\n"a": [1, 2]}', {"a": [1, 2]}),
    ],
)
def test_step_5_repairs_on_request_only(text, value):
    pytest.importorskip("json_repair")
    found = extract_json(text, want="object", repair=True)

    assert (found.value, found.method) == (value, "repair")
    assert found.warnings[0] == f"repaired: {reason_of(text, want='object')}"


@pytest.mark.parametrize(
    ("text", "value", "warnings"),
    [
        ('{"a": "x, "b": [1', None, 3),
        ("{" + ", ".join(f"k{n}: 1" for n in range(50)) + "}", {f"k{n}": 1 for n in range(50)}, 21),
        ('```json\n{"a": 1}\n{"a": 1}\n```', {"a": 1}, 0),
        ('{"a": 1}', {"a": 1}, 0),
    ],
)
def test_repair_lists_up_to_twenty_fixes_and_leaves_alone_what_is_json(text, value, warnings):
    pytest.importorskip("json_repair")
    found = extract_json(text, repair=True)

    assert value is None or found.value == value
    assert len(found.warnings) == warnings or (value is None and len(found.warnings) > 1)
    assert all(warning.startswith("repaired: ") for warning in found.warnings)


@pytest.mark.parametrize(
    ("text", "want", "reason"),
    [
        ("```json\n[1, 2\n```", "object", ""),
        ("Sorry, no.", None, "there is no object or array in the text; json-repair could not repair it"),
        ('{"a": 1,}', None, ""),
    ],
)
def test_what_repair_cannot_mend_is_an_error(monkeypatch, text, want, reason):
    json_repair = pytest.importorskip("json_repair")
    if text.startswith("{"):
        # Whatever the library raises.
        monkeypatch.setattr(json_repair, "repair_json", lambda *_args, **_options: int("x"))
    message = reason_of(text, want=want, repair=True)
    assert message == reason or (not reason and message.endswith("; json-repair could not repair it"))


def test_repair_without_its_library_says_what_to_install(monkeypatch):
    real_import = builtins.__import__

    def without(name, *args):
        if name == "json_repair":
            raise ImportError(name)
        return real_import(name, *args)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(ConfigurationError) as caught:
        extract_json('{"a": 1,}', repair=True)
    assert (
        str(caught.value)
        == 'repair=True needs the json-repair library; run: pip install "pytest-jsonmatch[repair]"'
    )


# --- extract_json: hostile text -----------------------------------------------------------------------------

HOSTILE = [
    "{", "[", '"', "`", "~", "<think>", "\n<think>", "<think></think>", "</think>", "<think", "<think ",
    "```\n", "```x`\n", "```x`", "<think></think>```x`", "```json\n{\n", '{"', '["', '{"a":', '["a",',
    '[{"a":[', "[1,", "[x", "[ ", "[\n", "{ ", "[]", "{}", "[1 1]", "[NaN]", "[NaN x]", '{"a":1,"a":2 x}',
    '{"a":1,}', '"\\', '["\\', '["a\\"', '{"[`<think>', '"<think>', '{"a":"<think>"}\n', "]", "[[]", " ", "\n",
    "\ufeff", "1", "``````x", "[1]]", '{"a" ', '["a" ', '{"a"', '{"a" }', "{#", "{//", "{/*", "{/**", "{#\n", "[//\n",
    "{/**/", "{ # ", '{"\\u', '{"\\"', '{\\"', '{"\\": ', '{" : ',
]  # fmt: skip


@pytest.mark.parametrize("end", ["", "]"])
def test_hostile_text_takes_linear_time(end):
    """With quadratic time in any of these, the test would take an hour."""
    for unit in HOSTILE:
        try:
            found = extract_json(unit * (40_000 // len(unit)) + end, want="object")
        except JsonExtractionError as error:
            assert error.reason  # noqa: PT017 - most are errors
        else:
            assert type(found.value) is dict


# --- limits in a model's answer -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            "[" * 129 + "]" * 129,
            "the array at line 1 is not JSON: more than 128 levels of arrays and objects; ",
        ),
        (
            "So:\n" + '{"a":' * 100_000 + "1" + "}" * 100_000,
            "the object at line 2 is not JSON: more than 128 levels",
        ),
        (
            '```json\n{"a": ' + DIGITS + "9}\n```",
            "the fence at line 2 is not JSON: an integer of more than 4,300 digits",
        ),
        ("[" * 100_000, "output ends inside an array opened at line 1"),
    ],
)
def test_an_answer_beyond_the_limits_is_not_json(answer, reason):
    assert reason_of(answer)[: len(reason)] == reason


def test_a_run_with_such_an_answer_goes_on(pytester):
    deep = '{"a":' * 5_000 + "1" + "}" * 5_000
    pytester.makefile(
        ".golden.yaml",
        cases=f"cases:\n- {{id: deep, expected: {{a: 1}}, actual: '{deep}'}}\n"
        "- {id: fine, expected: {a: 1}, actual: '{\"a\": 1}'}\n",
    )
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=1, failed=1)
    outcome.stdout.fnmatch_lines(["*more than 128 levels of arrays and objects*"])
    assert "Traceback" not in outcome.stdout.str()
    answers = [deep, '{"a": 1}', '{"a": ' + DIGITS + "9}"]
    run = compare_corpus(answers, [{"a": 1}] * 3)
    assert [record.score for record in run.records] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("piece", ["{}", '{"a":1} x ', "[1] "])
def test_many_values_in_prose_take_little_memory(piece):
    text = piece * (40_000 // len(piece))
    tracemalloc.start()
    try:
        found = extract_json(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.span[0] == text.rindex(piece)  # the last of equally large ones
    assert peak < 5 * len(text)


def test_the_largest_value_is_found_behind_many_larger_spans_that_are_no_json():
    assert extract_json('{"a":1,} ' * 900 + '{"n":7}' + " {}" * 2000).value == {"n": 7}
