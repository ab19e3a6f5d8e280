"""Read the answer of a language model: verdicts by id, or why one is missing. Nothing is guessed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.value.errors import JsonExtractionError
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.reading.extract import extract_json
from pytest_jsonmatch.semantic.judging import JudgeError, Verdict

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.value.convert import JsonValue

_LONGEST_REASON: Final = 300


def read_answer(text: str, ids: Collection[str]) -> Mapping[str, Verdict | JudgeError]:
    """Return the verdict for each id, or the error that explains why it has none.

    JSON is found in Markdown fences, after a model's reasoning and among prose, as in any model's output.

    Args:
        text: a JSON object, `{"verdicts": [{"id": ..., "reason": ..., "equivalent": true}, ...]}`.
        ids: those asked about; other ids in the answer are only named in errors.

    Raises:
        JudgeError: (of the kind `invalid`) there is no such object.

    >>> read_answer('{"verdicts": [{"id": "7c", "reason": "", "equivalent": false}]}', ["7c"])
    {'7c': Verdict(equivalent=False, reason=None)}
    >>> print(read_answer('{"verdicts": [{"id": "7c", "equivalent": 0.5}]}', ["7c"])["7c"])
    invalid: the judge's verdict is 0.5; it has to be true or false
    """
    given: dict[str, list[dict[str, JsonValue]]] = {}
    unknown: list[str] = []
    for entry in _entries(text):
        name = entry.get("id") if isinstance(entry, dict) else None
        if isinstance(name, str) and name in ids:
            given.setdefault(name, []).append(entry)
        else:
            unknown.append(render(name if isinstance(entry, dict) else entry, 40))
    beside = f"; it named ids that were not asked about: {', '.join(unknown[:3])}" if unknown else ""
    return {
        name: _verdict(given[name])
        if name in given
        else JudgeError("missing", f"the judge's answer leaves this pair out{beside}")
        for name in ids
    }


def _entries(text: str) -> list[Any]:
    try:
        found = extract_json(text, want="object").value
    except JsonExtractionError as error:
        begins = f"; it begins {error.excerpt!r}" if error.excerpt else ""
        raise JudgeError("invalid", f"the judge's answer is no JSON: {error.reason}{begins}") from None
    entries = found.get("verdicts") if isinstance(found, dict) else None
    if not isinstance(entries, list):
        raise JudgeError("invalid", f"the judge's answer has no list of verdicts: {render(found, 100)}")
    return entries


def _verdict(entries: list[dict[str, JsonValue]]) -> Verdict | JudgeError:
    values = [entry.get("equivalent") for entry in entries]
    for value in values:
        if not isinstance(value, bool):
            shown = render(value, 40)
            return JudgeError("invalid", f"the judge's verdict is {shown}; it has to be true or false")
    if len(set(values)) > 1:
        return JudgeError("invalid", "the judge's answer has two verdicts for this pair: true and false")
    reason = entries[0].get("reason")
    words = " ".join(reason.split()) if isinstance(reason, str) else ""
    if len(words) > _LONGEST_REASON:
        words = words[: _LONGEST_REASON - 1] + "…"
    return Verdict(values[0] is True, words or None)
