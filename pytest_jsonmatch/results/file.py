"""The result file: the one format in which results are stored. A baseline is a result file.

UTF-8 JSON, with cases by id, fields by path and a line for each field, so that a diff of two files is useful.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from importlib import resources
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.result.figures import RATES, FieldAggregation, together
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import format_path, parse_pattern
from pytest_jsonmatch.engine.value.text import parse_number, render, shortened
from pytest_jsonmatch.limits import FIGURES
from pytest_jsonmatch.results.comparison import Case, CaseRun, Comparison
from pytest_jsonmatch.results.model import Answers, Corpus, ResultSet, segments_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

FORMAT: Final = "jsonmatch-results"
VERSION: Final = 1
"""The version of the format: files of higher versions are refused, those of lower versions are read."""

SCHEMA: Final = "results.schema.json"
"""The file beside this one that is the JSON Schema of the format."""

_SUMS: Final = tuple(FieldAggregation.__dataclass_fields__)
_CASE: Final = "    {"
"""The beginning of the first line of a case, and of no other line."""
_CASES_OF_A_PART: Final = 1_000
_LONGEST: Final = 200
"""A message about an invalid file is cut after this many characters."""
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_COUNTS_OF_CORPUS: Final = ("records", "answered", "perfect", "errors")
_SPREAD: Final = frozenset(
    {"by_tag", "runs", "comparisons", "audit", "pairs", "field_results", "containers", "presence", "fields"}
)
"""Members whose own members get a line each; all others are on the line of their object."""


def to_text(results: ResultSet) -> str:
    """Return a run as the text of a result file.

    Equal results give equal texts, except for the head: time, commit and versions.

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
        **({"judged": True} if results.judged else {}),
        "figures": {
            "cases": results.number,
            "pass_rate": results.pass_rate,
            **{name: results.mean(name) for name in FIGURES},
            **({"batch_errors": results.batch_errors} if results.batch_errors else {}),
            **({"unscored": results.unscored} if results.unscored else {}),
            **results.answers.rates,
            **_rates(results),
        },
        "signatures": list(signatures),
    }
    if results.corpus is not None:
        head["corpus"] = _corpus(results.corpus, signatures)
    lines = [f"  {_dump(key)}: {_laid_out(value, '  ')}," for key, value in head.items()]
    cases = _spread([_case(case, signatures) for case in results.cases], "  ")
    return "\n".join(["{", *lines, f'  "cases": {cases}', "}", ""])


def _laid_out(value: object, indent: str) -> str:
    """Return a value as JSON text, split into lines according to `_SPREAD`; `indent` is its line's."""
    if type(value) is not dict or _SPREAD.isdisjoint(value):
        return _dump(value)
    own = ", ".join(f"{_dump(key)}: {_dump(item)}" for key, item in value.items() if key not in _SPREAD)
    parts = [own] if own else []
    for key, items in value.items():
        if key in _SPREAD:
            parts.append(f"\n{indent}  {_dump(key)}: {_spread(items, indent + '  ')}")
    return f"{{{','.join(parts)}}}"


def _spread(items: Any, indent: str) -> str:
    """Return an array or object as JSON text, one or more lines for each element or member."""
    inner = f"{indent}  "
    if type(items) is dict:
        opening, closing = "{}"
        lines = [f"{inner}{_dump(key)}: {_laid_out(item, inner)}" for key, item in items.items()]
    else:
        opening, closing = "[]"
        lines = [inner + _laid_out(item, inner) for item in items]
    body = ",\n".join(lines)
    return f"{opening}\n{body}\n{indent}{closing}" if lines else opening + closing


def _dump(value: object) -> str:
    try:
        return json.dumps(value)
    except (RecursionError, TypeError):
        # Values of documents may have any depth, and numbers larger than doubles.
        return _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], render(value))


def _rates(results: ResultSet) -> dict[str, float]:
    """Return the rates of omissions, hallucinations and fabrications; one that would be 0/0 is left out."""
    total = together(results.fields.values())
    return {name: rate for name in RATES if (rate := getattr(total, name)) is not None}


def _corpus(corpus: Corpus, signatures: Mapping[str, int]) -> dict[str, object]:
    own: dict[str, object] = {name: getattr(corpus, name) for name in _COUNTS_OF_CORPUS}
    others = {"unscored": corpus.unscored, **corpus.answers._asdict()}
    own.update((name, number) for name, number in others.items() if number)
    own.update(metric=corpus.metric, signature=signatures[corpus.signature])
    if corpus.records:
        own.update((name, corpus.means.get(name)) for name in FIGURES)
    if corpus.by_tag:
        own["by_tag"] = {tag: _corpus(part, signatures) for tag, part in sorted(corpus.by_tag.items())}
    own["fields"] = _fields(corpus.fields)
    return own


def _fields(fields: Mapping[str, FieldAggregation]) -> dict[str, object]:
    return {
        path: {
            "score": figures.mean_score,
            **{name: value for name, value in zip(_SUMS, figures.to_list(), strict=True) if value},
        }
        for path, figures in sorted(fields.items())
    }


def _case(case: Case, signatures: Mapping[str, int]) -> dict[str, object]:
    own: dict[str, object] = {"id": case.id, "passed": case.passed}
    own.update((name, case.figure(name) if case.has_figures else None) for name in FIGURES)
    if case.of > 1:
        own.update(of=case.of, pass_rate=case.pass_rate)
    if case.min_pass_rate is not None:
        own["min_pass_rate"] = case.min_pass_rate
    if case.cluster:
        own["cluster"] = case.cluster
    if case.tags:
        own["tags"] = dict(case.tags)
    own["runs"] = [
        {
            "run": run.number,
            "passed": run.passed,
            **({"error": run.error} if run.error else {}),
            "comparisons": [_comparison(each, signatures) for each in run.comparisons],
        }
        for run in case.runs
    ]
    return own


def _comparison(comparison: Comparison, signatures: Mapping[str, int]) -> dict[str, object]:
    payload = comparison.to_payload()
    payload.update(signature=signatures[comparison.signature], fields=_fields(comparison.fields))
    return payload


def read_results(path: Path) -> ResultSet:
    """Read a result file.

    Raises:
        ConfigurationError: it can't be read, or is not a result file; the message names it and says why.
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


def read_in_parts(path: Path) -> Iterator[ResultSet]:
    """Read a result file of any size in parts: yield its run repeatedly, each time with up to 1,000 cases.

    A file in another layout than that of `to_text` is read as a whole.

    Raises:
        ConfigurationError: as `read_results`.
    """
    part: ResultSet | None = None
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for text in _parts(lines):
                part = from_text(text, str(path))
                yield part
    except (OSError, UnicodeDecodeError, ConfigurationError):
        # Read as a whole, the file may be fine; if not, the error says where in the file the fault is.
        whole = read_results(path)
        if part is not None:
            raise
        yield whole


def number_of_cases(path: Path) -> int:
    """Return the number of cases of a file in the layout of `to_text`; for any other, a guess."""
    with path.open("rb") as lines:
        return sum(line.startswith(_CASE.encode()) for line in lines)


def _parts(lines: Iterable[str]) -> Iterator[str]:
    """Yield texts of result files that together have all cases of a file."""
    head, part, number = "", "", 0
    for line in lines:
        if line.startswith(_CASE):
            if not number:
                head = part
            elif number % _CASES_OF_A_PART == 0:
                yield f"{part.rstrip().removesuffix(',')}]}}"
                part = head
            number += 1
        part += line
    yield part


def from_text(text: str, name: str) -> ResultSet:
    """Read the text of a result file, as `read_results` does."""
    try:
        # Only values of documents may be numbers larger than doubles; figures never are.
        found = json.loads(text, parse_float=parse_number if '"field_results"' in text else None)
    except (ValueError, RecursionError) as error:
        raise _none(name, f"it is not JSON: {error}") from None
    if type(found) is not dict or found.get("format") != FORMAT:
        raise _none(name, f'it has no "format": "{FORMAT}"')
    version = found.get("version")
    if type(version) is not int or version > VERSION:
        message = (
            f"{name} is a result file of version {short(version)}, and this release reads up to {VERSION}; "
            "upgrade pytest-jsonmatch"
        )
        raise ConfigurationError(message)
    try:
        _check(found, text)
        return _results(found)
    except IndexError:
        message = "it is damaged: a `signature` is a place beyond the end of `signatures`"
        raise _none(name, message) from None
    except ValueError as error:
        raise _none(name, f"it is damaged: {error}") from None


def _none(name: str, reason: str) -> ConfigurationError:
    return ConfigurationError(f"{name} is no result file: {reason}")


def schema_text() -> str:
    """Return the JSON Schema of result files, as shipped with the package.

    >>> json.loads(schema_text())["title"]
    'jsonmatch results'
    """
    return resources.files("pytest_jsonmatch.results").joinpath(SCHEMA).read_text(encoding="utf-8")


def _check(found: dict[str, Any], text: str) -> None:
    """Check the content of a text against the schema.

    Raises:
        ValueError: the schema does not allow it; the message names the first invalid place.
    """
    try:
        error = next(_validator().iter_errors(found), None)
    except UnicodeEncodeError:  # a key with a lone surrogate, which the validator can't handle
        error = next(_validator().iter_errors(json.loads(text, object_pairs_hook=_with_whole_keys)), None)
    if error is not None:
        raise ValueError(f"{format_path(error.instance_path)}: {shortened(error.message, _LONGEST)}")


@cache
def _validator() -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(json.loads(schema_text()))


def _with_whole_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key.encode("utf-8", "backslashreplace").decode(): value for key, value in pairs}


def _results(found: dict[str, Any]) -> ResultSet:
    """Return the run in a file that is valid by the schema; check here what a schema can't express.

    Raises:
        IndexError: a signature is missing.
        ValueError: a path or pattern is invalid, or a case is not a record of the corpus.
    """
    signatures = found["signatures"]
    corpus = found.get("corpus")
    results = ResultSet(
        cases=tuple(_read_case(case, signatures) for case in found["cases"]),
        **{name: found[name] for name in ("created", "commit", "versions", "collected")},
        narrowed=tuple(found["narrowed"]),
        judged=found.get("judged", False),
        corpus=None if corpus is None else _read_corpus(corpus, signatures),
    )
    if results.corpus is not None:
        _check_records(results, results.corpus)
    return results


def _read_corpus(found: dict[str, Any], signatures: list[str]) -> Corpus:
    return Corpus(
        **{name: found[name] for name in ("metric", *_COUNTS_OF_CORPUS)},
        signature=signatures[found["signature"]],
        means={name: found[name] for name in FIGURES if found.get(name) is not None},
        fields=_read_fields(found["fields"]),
        unscored=found.get("unscored", 0),
        answers=Answers(*(found.get(name, 0) for name in Answers._fields)),
        by_tag={tag: _read_corpus(part, signatures) for tag, part in found.get("by_tag", {}).items()},
    )


def _read_fields(found: dict[str, Any]) -> dict[str, FieldAggregation]:
    for path in found:
        _check_path(path)
    return {
        path: FieldAggregation(**{name: number for name, number in sums.items() if name in _SUMS})
        for path, sums in found.items()
    }


@lru_cache(maxsize=10_000)
def _check_path(path: str) -> None:
    segments_of(path)


def _read_case(found: dict[str, Any], signatures: list[str]) -> Case:
    runs = tuple(_read_run(run, signatures) for run in found["runs"])
    names = ("of", "min_pass_rate", "cluster", "tags")
    return Case(found["id"], runs, **{name: found[name] for name in names if name in found})


def _read_run(found: dict[str, Any], signatures: list[str]) -> CaseRun:
    comparisons = tuple(_read_comparison(each, signatures) for each in found["comparisons"])
    return CaseRun(found["run"], found["passed"], comparisons, found.get("error", ""))


def _read_comparison(found: dict[str, Any], signatures: list[str]) -> Comparison:
    for pattern in found["threshold"].get("fields", ()):
        parse_pattern(pattern)
    for path in found.get("presence", ()):
        _check_path(path)
    own = {**found, "signature": signatures[found["signature"]]}
    return Comparison.from_payload(own, _read_fields(found["fields"]))


def _check_records(results: ResultSet, corpus: Corpus) -> None:
    if len(results.cases) > corpus.records:
        raise ValueError(f"there are {len(results.cases)} cases of {corpus.records} records")
    for each in results.comparisons:
        if (each.metric, each.signature) != (corpus.metric, corpus.signature):
            raise ValueError(f"{short(each.id)} is not scored as the corpus is")
