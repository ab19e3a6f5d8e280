"""Text: what models write, read as JSON."""

from __future__ import annotations

import json

from hypothesis import assume
from hypothesis import strategies as st

from pytest_jsonmatch import Extraction, JsonExtractionError, JsonParseError, assert_json_match, extract_json
from pytest_jsonmatch.reading.strict import parse_json
from tests.laws import law

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters())
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
containers = values.filter(lambda value: isinstance(value, (dict, list)))
# Pieces of what models write, in any order.
shards = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", '"', "\\", "`", "```", "```json\n", "~~~", "\n", "<think>", "</think>", ":", ",", " ", "a", "1",
         "-", "NaN", "null", '{"a": 1}', "[1, 2]", "\ufeff", "\ud800", "\0", "1e999", "'"]
    )
).map("".join)  # fmt: skip
deep = st.sampled_from(["[", '{"a":', "[[]", "{", '"', "```", "1", "<think>"]).map(
    lambda piece: piece * 3_000
)
prose = st.text(st.characters(exclude_characters='{}[]"`~<>◁▷'))


def outcome(text, **options):
    try:
        return extract_json(text, **options)
    except JsonExtractionError as error:
        return error


def strict_outcome(text):
    try:
        return parse_json(text)
    except JsonParseError as error:
        return error


@st.composite
def answers(draw):
    """What a model writes: reasoning, prose, JSON in a fence or bare, more prose; now and then cut off."""
    body = json.dumps(draw(values), indent=draw(st.sampled_from([None, 2])))
    mark = draw(st.sampled_from(["", "```", "````json", "~~~JSON", "```python"]))
    parts = [
        draw(
            st.sampled_from(["", "<think>{hm}</think>", "◁think▷[1]◁/think▷", "<|channel|>final<|message|>"])
        ),
        draw(
            st.sampled_from(["", "Here it is: ", "The set {} is empty.\n", "assistantfinal", "\ufeff"])
            | prose
        ),
        f"\n{mark}\n{body}\n{mark[:3]}" if mark else body,
        draw(st.sampled_from(["", " Hope this helps!", '\n\nOr else {"b": [2]}', ","]) | prose),
    ]
    text = "".join(draw(st.permutations(parts)) if draw(st.integers(0, 9)) == 0 else parts)
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


@law(
    st.text() | shards | answers() | deep | st.binary(),
    st.sampled_from([None, "object", "array"]),
    examples=250,
)
def test_any_text_gives_an_extraction_or_a_documented_error(text, want):
    found = outcome(text, want=want)
    if isinstance(found, JsonExtractionError):
        assert found.reason
        return
    assert want is None or type(found.value) is {"object": dict, "array": list}[want]
    start, end = found.span
    assert 0 <= start < end <= len(text)
    if isinstance(text, str):  # (As text: NaN equals nothing.)
        assert repr(extract_json(text[start:end], want=want).value) == repr(found.value)


@law(shards | answers())
def test_any_text_is_survived_with_repair_too(text):
    found = outcome(text, repair=True)
    assert isinstance(found, Extraction) or found.reason


@law(shards | answers())
def test_bytes_are_read_as_their_text_is(text):
    assume(text.isprintable() or text.isascii())
    found, again = outcome(text), outcome(text.encode())
    assert repr(found) == repr(again)


@law(st.text() | shards | st.binary() | deep)
def test_any_text_is_strict_json_or_an_error_with_a_place(text):
    found = strict_outcome(text)
    if isinstance(found, JsonParseError):
        assert min(found.line, found.column) >= 1
    else:
        assert not isinstance(outcome(text), JsonExtractionError)


@law(shards)
def test_strict_json_takes_what_the_standard_library_takes_but_for_nan(text):
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    found = strict_outcome(text)
    if isinstance(found, JsonParseError):
        assert value is None or "NaN" in text
    else:
        assert found == value or "1e999" in text or text.startswith("\ufeff")


@law(values)
def test_a_dumped_value_is_the_whole_text(value):
    text = json.dumps(value)
    assert extract_json(text) == Extraction(value, "whole", (0, len(text)))
    assert parse_json(text) == value


@law(prose, containers, prose, st.sampled_from([None, 2]))
def test_a_container_in_prose_is_found_where_it_stands(before, value, after, indent):
    body = json.dumps(value, indent=indent)
    found = extract_json(f"{before} {body} {after}")
    assert found.value == value
    assert f"{before} {body} {after}"[slice(*found.span)] == body


@law(prose, values, prose, st.sampled_from(["```", "````", "~~~"]), st.sampled_from(["json", "", "JSON"]))
def test_a_value_in_a_fence_is_found(before, value, after, mark, tag):
    body = json.dumps(value, indent=1)
    found = extract_json(f"Here{before}:\n{mark}{tag}\n{body}\n{mark}\n{after}")
    assert (found.value, found.method) == (value, "fence")


@law(st.text(st.characters(exclude_characters="<>")), containers)
def test_reasoning_is_never_the_answer(reasoning, value):
    text = json.dumps(value)
    found = extract_json(f'<think>{reasoning}{{"draft": true}}</think>\n{text}')
    assert (found.value, found.method) == (value, "stripped")


@law(containers.filter(bool), st.data())
def test_a_truncated_answer_is_an_error_and_never_a_fragment(value, data):
    text = json.dumps(value, indent=1)
    cut = data.draw(st.integers(min_value=1, max_value=len(text) - 1))
    assert isinstance(outcome(text[:cut]), JsonExtractionError)


@law(containers, containers)
def test_the_largest_wins_and_the_last_among_equals(first, second):
    texts = [json.dumps(first), json.dumps(second)]
    found = extract_json(f"a {texts[0]} b {texts[1]} c")
    assert found.value == (first if len(texts[0]) > len(texts[1]) else second)


@law(st.text() | shards | answers() | prose, examples=250)
def test_any_text_equals_itself(text):
    begins_like_json = text.removeprefix("\ufeff").lstrip(" \t\r\n")[:1] in {"{", "["}
    if not begins_like_json or not isinstance(strict_outcome(text), JsonParseError):
        assert assert_json_match(text, text).score == 1.0
    assert assert_json_match(text, json.dumps(text)).score == 1.0
