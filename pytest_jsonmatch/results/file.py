"""The result file: one format for all that stores results. A baseline is a result file.

JSON, in UTF-8, cases by id and fields by path, a line for each field: two files can be read side by side.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.errors import ConfigurationError
from pytest_jsonmatch.engine.records import Comparison
from pytest_jsonmatch.engine.results import FieldAggregation
from pytest_jsonmatch.results.model import FIGURES, Case, CaseRun, Corpus, ResultSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

__all__ = ["FORMAT", "VERSION", "read_results", "to_text"]

FORMAT: Final = "jsonmatch-results"
VERSION: Final = 1
"""Of the format: a file with a higher number is refused, one with a lower number is read."""

_SUMS: Final = tuple(FieldAggregation.__dataclass_fields__)
_COUNTS_OF_CORPUS: Final = ("records", "answered", "perfect", "errors", "approximate")


def to_text(results: ResultSet) -> str:
    """Return a run as the text of a result file.

    Equal results give equal texts, but for the head: time, commit and versions.

    >>> read_back = from_text(to_text(ResultSet(commit="abc")), "x.json")
    >>> read_back == ResultSet(commit="abc")
    True
    """
    signatures: dict[str, int] = {}
    if results.corpus is not None:
        signatures[results.corpus.signature] = 0
    for comparison in results.comparisons:
        signatures.setdefault(comparison.signature, len(signatures))
    head: dict[str, object] = {
        "format": FORMAT,
        "version": VERSION,
        "created": results.created,
        "commit": results.commit,
        "versions": dict(results.versions),
        "collected": results.collected,
        "narrowed": list(results.narrowed),
        "figures": {
            "cases": results.number,
            "pass_rate": results.pass_rate,
            **{str(name): results.mean(name) for name in FIGURES},
        },
        "signatures": list(signatures),
    }
    lines = [f"  {_dump(key)}: {_dump(value)}," for key, value in head.items()]
    if results.corpus is not None:
        lines += _corpus(results.corpus, signatures)
    cases = ",\n".join("\n".join(_case(case, signatures)) for case in results.cases)
    listed = f"[\n{cases}\n  ]" if cases else "[]"
    return "\n".join(["{", *lines, f'  "cases": {listed}', "}", ""])


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=True)


def _members(pairs: Mapping[str, object]) -> str:
    return ", ".join(f"{_dump(key)}: {_dump(value)}" for key, value in pairs.items())


def _corpus(corpus: Corpus, signatures: Mapping[str, int]) -> Iterator[str]:
    own: dict[str, object] = {name: getattr(corpus, name) for name in _COUNTS_OF_CORPUS}
    own.update(metric=corpus.metric, signature=signatures[corpus.signature], **corpus.means)
    yield f'  "corpus": {{{_members(own)},'
    yield '    "fields": {'
    yield from _fields(corpus.fields, "      ")
    yield "    }},"


def _fields(fields: Mapping[str, FieldAggregation], indent: str) -> Iterator[str]:
    for number, (path, figures) in enumerate(sorted(fields.items()), 1):
        sums = {name: value for name, value in zip(_SUMS, figures.to_list(), strict=True) if value}
        line = _members({"score": figures.mean_score, **sums})
        yield f"{indent}{_dump(path)}: {{{line}}}{'' if number == len(fields) else ','}"


def _case(case: Case, signatures: Mapping[str, int]) -> Iterator[str]:
    """Yield the lines of a case, but for the comma after it."""
    own: dict[str, object] = {"id": case.id, "passed": case.passed}
    own.update((name, case.figure(name)) for name in FIGURES)
    if case.of > 1:
        own.update(of=case.of, pass_rate=case.pass_rate)
    if case.min_pass_rate is not None:
        own["min_pass_rate"] = case.min_pass_rate
    yield f"    {{{_members(own)},"
    yield '      "runs": ['
    for number, run in enumerate(case.runs, 1):
        yield from _run(run, signatures, "" if number == len(case.runs) else ",")
    yield "      ]}"


def _run(run: CaseRun, signatures: Mapping[str, int], comma: str) -> Iterator[str]:
    own: dict[str, object] = {"run": run.number, "passed": run.passed}
    if run.error:
        own["error"] = run.error
    if not run.comparisons:
        yield f'        {{{_members(own)}, "comparisons": []}}{comma}'
        return
    yield f'        {{{_members(own)}, "comparisons": ['
    for number, comparison in enumerate(run.comparisons, 1):
        yield from _comparison(comparison, signatures, "" if number == len(run.comparisons) else ",")
    yield f"        ]}}{comma}"


def _comparison(comparison: Comparison, signatures: Mapping[str, int], comma: str) -> Iterator[str]:
    payload = comparison.to_payload()
    del payload["fields"]
    payload["signature"] = signatures[comparison.signature]
    for key in ("errors", "warnings", "arrays"):
        if not payload[key]:
            del payload[key]
    audits = payload.pop("audit", [])
    yield f"          {{{_members(payload)},"
    if audits:
        yield from _audits(audits)
    yield '            "fields": {'
    yield from _fields(comparison.fields, "              ")
    yield f"            }}}}{comma}"


def _audits(audits: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the pairs of unordered arrays, a line for each pair."""
    yield '            "audit": ['
    for number, audit in enumerate(audits, 1):
        own = {name: value for name, value in audit.items() if name != "pairs"}
        pairs = ",\n".join(f"                {_dump(pair)}" for pair in audit["pairs"])
        listed = f"[\n{pairs}\n              ]" if pairs else "[]"
        yield f'              {{{_members(own)}, "pairs": {listed}}}{"" if number == len(audits) else ","}'
    yield "            ],"


def read_results(path: Path) -> ResultSet:
    """Read a result file.

    Raises:
        ConfigurationError: it can't be read, or is none; the message names the file and says why.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"{path} can't be read: {(error.strerror or str(error)).lower()}"
        raise ConfigurationError(message) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _none(str(path), "it is not UTF-8 text") from None
    return from_text(text, str(path))


def from_text(text: str, name: str) -> ResultSet:
    """Return the run that a result file holds; as `read_results`, from its text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _none(name, f"it is not JSON: {error}") from None
    if type(found) is not dict or found.get("format") != FORMAT:
        raise _none(name, f'it has no "format": "{FORMAT}"')
    version = found.get("version")
    if type(version) is not int or version > VERSION:
        message = (
            f"{name} is a result file of version {version}, and this release reads up to {VERSION}; "
            "upgrade pytest-jsonmatch"
        )
        raise ConfigurationError(message)
    try:
        return _results(found)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _none(name, f"it is damaged: {type(error).__name__}: {error}") from None


def _none(name: str, reason: str) -> ConfigurationError:
    return ConfigurationError(f"{name} is no result file: {reason}")


def _results(found: dict[str, Any]) -> ResultSet:
    signatures = [_as(str, text) for text in found["signatures"]]
    return ResultSet(
        cases=tuple(_read_case(case, signatures) for case in found["cases"]),
        created=_as(str, found["created"]),
        commit=_as(str, found["commit"]),
        versions={_as(str, name): _as(str, text) for name, text in found["versions"].items()},
        collected=None if found["collected"] is None else _as(int, found["collected"]),
        narrowed=tuple(_as(str, reason) for reason in found["narrowed"]),
        corpus=_read_corpus(found["corpus"], signatures) if "corpus" in found else None,
    )


def _read_corpus(found: dict[str, Any], signatures: list[str]) -> Corpus:
    counts = {name: _as(int, found[name]) for name in _COUNTS_OF_CORPUS}
    means = {str(name): found[name] for name in FIGURES} if counts["records"] else {}
    for name, mean in means.items():
        _check_figure(name, mean, "the corpus")
    return Corpus(
        metric=_as(str, found["metric"]),
        signature=signatures[found["signature"]],
        means=means,
        fields={path: FieldAggregation.from_list(sums) for path, sums in _sums_of(found["fields"]).items()},
        **counts,
    )


def _sums_of(fields: dict[str, Any]) -> dict[str, list[float]]:
    return {_as(str, path): [sums.get(name, 0) for name in _SUMS] for path, sums in fields.items()}


def _check_figure(name: str, value: Any, of: str) -> None:
    if not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"the {name} of {of} is {value!r}")


def _read_case(found: dict[str, Any], signatures: list[str]) -> Case:
    least = found.get("min_pass_rate")
    runs = tuple(
        CaseRun(
            _as(int, run["run"]),
            _as(bool, run["passed"]),
            tuple(_read_comparison(each, signatures) for each in run["comparisons"]),
            _as(str, run.get("error", "")),
        )
        for run in found["runs"]
    )
    if not runs:
        raise ValueError(f"the case {found['id']!r} has no run")
    return Case(_as(str, found["id"]), runs, _as(int, found.get("of", 1)), least)


def _read_comparison(found: dict[str, Any], signatures: list[str]) -> Comparison:
    payload: dict[str, Any] = {"errors": [], "warnings": [], "arrays": {}, **found}
    payload["signature"] = signatures[found["signature"]]
    payload["fields"] = _sums_of(found["fields"])
    for figure in FIGURES:
        _check_figure(figure, payload[figure], repr(found["id"]))
    return Comparison.from_payload(payload)


def _as(kind: Callable[[Any], Any], value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value
