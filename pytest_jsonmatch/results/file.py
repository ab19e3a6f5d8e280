"""The result file: one format for all that stores results. A baseline is a result file.

JSON, in UTF-8, cases by id and fields by path, a line for each field: two files can be read side by side.
"""

from __future__ import annotations

import json
import re
from functools import reduce
from importlib import resources
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.answer import Spent
from pytest_jsonmatch.corpus.tags import wrong_tag
from pytest_jsonmatch.engine.result.absence import Presence
from pytest_jsonmatch.engine.result.figures import COUNTED, RATES, FieldAggregation
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.paths import parse_pattern
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.results.comparison import Comparison
from pytest_jsonmatch.results.model import (
    FIGURES,
    Answers,
    Case,
    CaseRun,
    Corpus,
    ResultSet,
    merged_fields,
    segments_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from pytest_jsonmatch.engine.align.audited import ArrayAudit
    from pytest_jsonmatch.engine.result.containers import ContainerResult
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult

FORMAT: Final = "jsonmatch-results"
VERSION: Final = 1
"""Of the format: a file with a higher number is refused, one with a lower number is read."""

SCHEMA: Final = "results.schema.json"
"""The file beside this one that is the JSON Schema of the format."""

_SUMS: Final = tuple(FieldAggregation.__dataclass_fields__)
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_PLACES: Final = {name: place for place, name in enumerate(_SUMS)}
_MOST: Final = 2**53
_LARGEST: Final = 1e200
"""How large numbers may be: sums over any number of cases are numbers still."""
_COUNTS_OF_CORPUS: Final = ("records", "answered", "perfect", "errors", "approximate")
_UNSCORED: Final = "unscored"
"""Of a corpus too, but only where there are such records."""


def to_text(results: ResultSet, found: Mapping[str, MatchResult] | None = None) -> str:
    """Return a run as the text of a result file.

    Equal results give equal texts, but for the head: time, commit and versions.

    Args:
        results: the run.
        found: by id, comparisons whose values are written too, and the figures of objects and elements.

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
            **({"batch_errors": results.batch_errors} if results.batch_errors else {}),
            **({_UNSCORED: results.unscored} if results.unscored else {}),
            **results.answers.rates,
            **_rates(results),
        },
        "signatures": list(signatures),
    }
    lines = [f"  {_dump(key)}: {_dump(value)}," for key, value in head.items()]
    if results.corpus is not None:
        lines += _corpus(results.corpus, signatures)
    cases = ",\n".join("\n".join(_case(case, signatures, found or {})) for case in results.cases)
    listed = f"[\n{cases}\n  ]" if cases else "[]"
    return "\n".join(["{", *lines, f'  "cases": {listed}', "}", ""])


def _rates(results: ResultSet) -> dict[str, float]:
    """Return what is missing or made up, as far as there is anything to divide by."""
    fields = merged_fields(results.cases) if results.corpus is None else results.corpus.fields
    total = reduce(FieldAggregation.merge, fields.values(), FieldAggregation())
    return {name: rate for name in RATES if (rate := getattr(total, name)) is not None}


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=True)


def _members(pairs: Mapping[str, object]) -> str:
    return ", ".join(f"{_dump(key)}: {_dump(value)}" for key, value in pairs.items())


def _corpus(corpus: Corpus, signatures: Mapping[str, int]) -> Iterator[str]:
    yield f'  "corpus": {{{_figures_of(corpus, signatures)},'
    if corpus.by_tag:
        yield '    "by_tag": {'
        for number, (tag, part) in enumerate(sorted(corpus.by_tag.items()), 1):
            yield f"      {_dump(tag)}: {{{_figures_of(part, signatures)},"
            yield '        "fields": {'
            yield from _fields(part.fields, "          ")
            yield f"        }}}}{'' if number == len(corpus.by_tag) else ','}"
        yield "    },"
    yield '    "fields": {'
    yield from _fields(corpus.fields, "      ")
    yield "    }},"


def _figures_of(corpus: Corpus, signatures: Mapping[str, int]) -> str:
    own: dict[str, object] = {name: getattr(corpus, name) for name in _COUNTS_OF_CORPUS}
    if corpus.unscored:
        own[_UNSCORED] = corpus.unscored
    own.update((name, number) for name, number in corpus.answers._asdict().items() if number)
    own.update(metric=corpus.metric, signature=signatures[corpus.signature])
    if corpus.records:
        own.update((name, corpus.means.get(name)) for name in FIGURES)
    return _members(own)


def _fields(fields: Mapping[str, FieldAggregation], indent: str) -> Iterator[str]:
    for number, (path, figures) in enumerate(sorted(fields.items()), 1):
        sums = {name: value for name, value in zip(_SUMS, figures.to_list(), strict=True) if value}
        line = _members({"score": figures.mean_score, **sums})
        yield f"{indent}{_dump(path)}: {{{line}}}{'' if number == len(fields) else ','}"


def _case(case: Case, signatures: Mapping[str, int], found: Mapping[str, MatchResult]) -> Iterator[str]:
    """Yield the lines of a case, but for the comma after it."""
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
    yield f"    {{{_members(own)},"
    yield '      "runs": ['
    for number, run in enumerate(case.runs, 1):
        yield from _run(run, signatures, found, "" if number == len(case.runs) else ",")
    yield "      ]}"


def _run(
    run: CaseRun, signatures: Mapping[str, int], found: Mapping[str, MatchResult], comma: str
) -> Iterator[str]:
    own: dict[str, object] = {"run": run.number, "passed": run.passed}
    if run.error:
        own["error"] = run.error
    if not run.comparisons:
        yield f'        {{{_members(own)}, "comparisons": []}}{comma}'
        return
    yield f'        {{{_members(own)}, "comparisons": ['
    for number, comparison in enumerate(run.comparisons, 1):
        end = "" if number == len(run.comparisons) else ","
        yield from _comparison(comparison, signatures, found.get(comparison.id), end)
    yield f"        ]}}{comma}"


def _comparison(
    comparison: Comparison, signatures: Mapping[str, int], result: MatchResult | None, comma: str
) -> Iterator[str]:
    payload = comparison.to_payload()
    del payload["fields"]
    payload["signature"] = signatures[comparison.signature]
    for key in ("errors", "warnings", "arrays"):
        if not payload[key]:
            del payload[key]
    audits = payload.pop("audit", [])
    payload.pop("presence", None)
    yield f"          {{{_members(payload)},"
    if audits:
        yield from _audits(audits)
    if result is not None:
        yield from _listed("field_results", result.field_results)
        yield from _listed("containers", result.containers)
    if comparison.presence:
        rows = [
            f"              {_dump(path)}: {{{_members(each.to_dict())}}}"
            for path, each in sorted(comparison.presence.items())
        ]
        yield "\n".join(['            "presence": {', ",\n".join(rows), "            },"])
    yield '            "fields": {'
    yield from _fields(comparison.fields, "              ")
    yield f"            }}}}{comma}"


def _listed(key: str, items: Iterable[FieldResult | ContainerResult]) -> Iterator[str]:
    """Yield a list, a line for each item; values may be of any depth and hold any character."""
    rows = [f"              {_NOT_ASCII.sub(_escaped, render(each.to_dict()))}" for each in items]
    yield "\n".join([f'            "{key}": [', ",\n".join(rows), "            ],"])


def _escaped(found: re.Match[str]) -> str:
    return _dump(found[0])[1:-1]


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
            f"{name} is a result file of version {short(version)}, and this release reads up to {VERSION}; "
            "upgrade pytest-jsonmatch"
        )
        raise ConfigurationError(message)
    try:
        return _Reader(found).results()
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _none(name, f"it is damaged: {type(error).__name__}: {error}") from None


def _none(name: str, reason: str) -> ConfigurationError:
    return ConfigurationError(f"{name} is no result file: {reason}")


def schema_text() -> str:
    """Return the JSON Schema of result files, as it is shipped.

    >>> json.loads(schema_text())["title"]
    'jsonmatch results'
    """
    return resources.files("pytest_jsonmatch.results").joinpath(SCHEMA).read_text(encoding="utf-8")


@final
class _Reader:
    """Reads one file, and takes nothing in it on trust: all that the schema says is checked here too."""

    __slots__ = ("_found", "_known", "_signatures")

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        self._known: set[str] = set()  # paths that have been understood: cases share most of theirs
        self._signatures = [_as(str, text) for text in _as(list, found["signatures"])]

    def results(self) -> ResultSet:
        found = self._found
        if found["version"] < 1:
            raise ValueError(f"there is no version {short(found['version'])}")
        _check_head(_as(dict, found["figures"]))
        results = ResultSet(
            cases=tuple(self._case(_as(dict, case)) for case in _as(list, found["cases"])),
            created=_as(str, found["created"]),
            commit=_as(str, found["commit"]),
            versions={name: _as(str, text) for name, text in _as(dict, found["versions"]).items()},
            collected=None if found["collected"] is None else _count(found["collected"]),
            narrowed=_texts(found["narrowed"]),
            corpus=self._corpus(_as(dict, found["corpus"])) if "corpus" in found else None,
        )
        _check_records(results)
        return results

    def _signature(self, index: Any) -> str:
        return str(self._signatures[_count(index)])

    def _corpus(self, found: dict[str, Any]) -> Corpus:
        counts = {name: _count(found[name]) for name in _COUNTS_OF_CORPUS}
        by_tag = _as(dict, found.get("by_tag", {}))
        figures = {str(name): found[name] for name in FIGURES} if counts["records"] else {}
        means = {name: _figure(name, value) for name, value in figures.items() if value is not None}
        return Corpus(
            metric=_as(str, found["metric"]),
            signature=self._signature(found["signature"]),
            means=means,
            fields=self._fields(found["fields"]),
            unscored=_count(found.get(_UNSCORED, 0)),
            answers=Answers(*(_count(found.get(name, 0)) for name in Answers._fields)),
            by_tag={tag: self._corpus(_as(dict, part)) for tag, part in by_tag.items()},
            **counts,
        )

    def _fields(self, found: Any) -> dict[str, FieldAggregation]:
        return {self._path(path): _aggregation(_as(dict, sums)) for path, sums in _as(dict, found).items()}

    def _path(self, path: str) -> str:
        if path not in self._known:
            segments_of(path)
            self._known.add(path)
        return path

    def _case(self, found: dict[str, Any]) -> Case:
        name = _as(str, found["id"])
        for figure in FIGURES:
            if found[figure] is not None:
                _figure(figure, found[figure])
        if "pass_rate" in found:
            _figure("pass_rate", found["pass_rate"])
        _as(bool, found["passed"])
        runs = tuple(self._run(_as(dict, run)) for run in _as(list, found["runs"]))
        if not runs:
            raise ValueError(f"the case {name!r} has no run")
        least = _figure("min_pass_rate", found["min_pass_rate"]) if "min_pass_rate" in found else None
        cluster, tags = _as(str, found.get("cluster", "")), _tags(found)
        return Case(name, runs, _count(found.get("of", 1), least=1), least, cluster, tags)

    def _run(self, found: dict[str, Any]) -> CaseRun:
        return CaseRun(
            _count(found["run"], least=1),
            _as(bool, found["passed"]),
            tuple(self._comparison(_as(dict, each)) for each in _as(list, found["comparisons"])),
            _as(str, found.get("error", "")),
        )

    def _comparison(self, found: dict[str, Any]) -> Comparison:
        name = _as(str, found["id"])
        figures = {str(figure): found[figure] for figure in FIGURES}
        return Comparison(
            id=name,
            nodeid=_as(str, found["nodeid"]),
            metric=_as(str, found["metric"]),
            signature=self._signature(found["signature"]),
            passed=_as(bool, found["passed"]),
            threshold=_threshold(_as(dict, found["threshold"])),
            fields=self._fields(found["fields"]),
            presence={
                self._path(path): _presence(_as(dict, numbers))
                for path, numbers in _as(dict, found.get("presence", {})).items()
            },
            counts={status: _count(number) for status, number in _as(dict, found["counts"]).items()},
            errors=_texts(found.get("errors", [])),
            warnings=_texts(found.get("warnings", [])),
            arrays={path: _array(counts) for path, counts in _as(dict, found.get("arrays", {})).items()},
            approximate=_as(bool, found.get("approximate", False)),
            case=_as(str, found.get("case", "")),
            params={each: _label(label) for each, label in _as(dict, found.get("params", {})).items()},
            audit=_read_audits(_as(list, found.get("audit", []))),
            tags=_tags(found),
            parsed=_as(bool, found["parsed"]) if "parsed" in found else None,
            validity=_validity(found.get("validity", "")),
            violations=_texts(found.get("violations", [])),
            spent=Spent.from_dict(_as(dict, found["spent"])) if "spent" in found else None,
            has_figures=figures["score"] is not None,
            **{each: 0.0 if value is None else _figure(each, value, name) for each, value in figures.items()},
        )


def _check_records(results: ResultSet) -> None:
    corpus = results.corpus
    if corpus is None:
        return
    if len(results.cases) > corpus.records:
        raise ValueError(f"there are {len(results.cases)} cases of {corpus.records} records")
    for each in results.comparisons:
        if (each.metric, each.signature) != (corpus.metric, corpus.signature):
            raise ValueError(f"{short(each.id)} is not scored as the corpus is")


def _check_head(figures: dict[str, Any]) -> None:
    """Check the figures that follow from the cases: they are there for people and other programs."""
    _count(figures["cases"])
    _count(figures.get("batch_errors", 0))
    _count(figures.get(_UNSCORED, 0))
    for name in ("parse_rate", "valid_rate", *RATES):
        if name in figures:
            _figure(name, figures[name])
    for name in ("pass_rate", *FIGURES):
        if figures[name] is not None:
            _figure(name, figures[name])


def _aggregation(sums: dict[str, Any]) -> FieldAggregation:
    if sums["score"] is not None:
        _figure("score", sums["score"])
    numbers: list[float] = [0] * COUNTED + [0.0] * (len(_SUMS) - COUNTED)
    for name, value in sums.items():
        place = _PLACES.get(name)
        if place is not None:
            numbers[place] = _count(value) if place < COUNTED else _sum(value)
    return FieldAggregation.from_list(numbers)


def _presence(numbers: dict[str, Any]) -> Presence:
    known = _as(bool, numbers.get("known", False))
    counts = {name: _count(numbers.get(name, 0)) for name in Presence._fields if name != "known"}
    return Presence(known=known, **counts)


def _threshold(found: dict[str, Any]) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    for name, limit in found.items():
        if name != "fields":
            limits[name] = _figure(name, limit)
            continue
        limits[name] = by_pattern = {}
        for pattern, least in _as(dict, limit).items():
            parse_pattern(pattern)
            by_pattern[pattern] = _figure(pattern, least)
    return limits


def _array(counts: Any) -> tuple[int, int, int]:
    pairs, only_expected, only_actual = map(_count, _as(list, counts))
    return pairs, only_expected, only_actual


def _label(found: Any) -> tuple[str, int]:
    label, place = _as(list, found)
    return _as(str, label), _count(place)


def _tags(found: dict[str, Any]) -> dict[str, Any]:
    tags: dict[str, Any] = _as(dict, found.get("tags", {}))
    for name, value in tags.items():
        if reason := wrong_tag(name, value):
            raise ValueError(reason)
    return tags


def _read_audits(found: list[Any]) -> tuple[ArrayAudit, ...]:
    if not found:
        return ()
    from pytest_jsonmatch.engine.align.audited import ArrayAudit  # most comparisons have none

    for each in found:
        for name in ("pairs", "unmatched_expected", "unmatched_actual"):
            _as(list, _as(dict, each)[name])
    return tuple(map(ArrayAudit.from_dict, found))


def _validity(found: Any) -> str:
    if found not in {"", "valid", "invalid", "not validated"}:
        raise ValueError(f"{short(found)} is no validity")
    return str(found)


def _texts(found: Any) -> tuple[str, ...]:
    return tuple(_as(str, text) for text in _as(list, found))


def _figure(name: str, value: Any, of: str = "") -> float:
    if type(value) not in {int, float} or not 0 <= value <= 1:
        raise ValueError(f"the {name}{f' of {of!r}' if of else ''} is {short(value)}, no number from 0 to 1")
    return value  # type: ignore[no-any-return]


def _count(value: Any, *, least: int = 0) -> int:
    if type(value) is not int:
        raise TypeError(f"{short(value)} is no int")
    if not least <= value <= _MOST:
        raise ValueError(f"{short(value)} is no number from {least} to {_MOST}")
    return value


def _sum(value: Any) -> float:
    if type(value) not in {int, float}:
        raise TypeError(f"{short(value)} is no number")
    if not 0 <= value <= _LARGEST:
        raise ValueError(f"{short(value)} is no sum")
    return value  # type: ignore[no-any-return]


def _as(kind: Callable[[Any], Any], value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{short(value)} is no {kind.__name__}")
    return value
