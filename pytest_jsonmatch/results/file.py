"""Read and write result files, the format of all stored results. A baseline is a result file.

The format is JSON Lines: a head with the data of the run, then a line for each case, sorted by id.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from functools import cache
from importlib import resources
from pathlib import Path
from reprlib import repr as short
from typing import TYPE_CHECKING, Any, Final

from pytest_jsonmatch.engine.plan.compile import Signature
from pytest_jsonmatch.engine.result.aggregation import RATES, FieldAggregation, FieldSums
from pytest_jsonmatch.engine.result.rows import RowCounts
from pytest_jsonmatch.engine.value.errors import ConfigurationError, hide_secrets
from pytest_jsonmatch.engine.value.paths import format_path
from pytest_jsonmatch.engine.value.sums import Scores
from pytest_jsonmatch.engine.value.text import count, shorten
from pytest_jsonmatch.results.comparison import Case
from pytest_jsonmatch.results.costs import CostTotals
from pytest_jsonmatch.results.idkeys import read_keys
from pytest_jsonmatch.results.kindtotals import KindTotals
from pytest_jsonmatch.results.limits import SCORES
from pytest_jsonmatch.results.origin import with_origin
from pytest_jsonmatch.results.plain import from_plain, to_plain
from pytest_jsonmatch.results.record import RecordResult, RunError
from pytest_jsonmatch.results.run import RunResult
from pytest_jsonmatch.results.totals import Totals
from pytest_jsonmatch.support.atomic import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

FORMAT: Final = "jsonmatch-results"
VERSION: Final = 3
"""The version of the format; files of other versions are rejected."""

SCHEMA: Final = "results.schema.json"
"""The file, in the folder of this module, that has the JSON Schema of a line."""

_LONGEST: Final = 200
"""A message about an invalid file is cut after this many characters."""
_REMEDY: Final = "write it again with pytest --jsonmatch-json or jsonmatch evaluate --json"


# -- writing -----------------------------------------------------------------------------------------------


def to_text(results: RunResult) -> str:
    """Return a run as the text of a result file.

    Equal results have equal texts, except for time, commit and versions in the head.

    >>> read_back = from_text(to_text(RunResult.of_cases(commit="abc")), "x.jsonl")
    >>> read_back == RunResult.of_cases(commit="abc")
    True
    """
    lines = [_head(results), *map(_case, results.cases)]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def to_document(results: RunResult) -> dict[str, Any]:
    """Return a run as a single JSON object: the members of the head, then the cases."""
    return {**_head(results), "cases": [*map(_case, results.cases)]}


_RUN_MEMBERS: Final = (
    "noun",
    "created",
    "commit",
    "versions",
    "collected",
    "narrowed",
    "judged",
    "has_only_gates",
)
"""The members of a head that are fields of a run; those with their default value are left out."""
_EMPTY: Final = RunResult()


def _head(results: RunResult) -> dict[str, Any]:
    total = results.totals.over().read()
    statistics = {
        "cases": results.total_records,
        "pass_rate": results.pass_rate,
        **{name: results.mean(name) for name in SCORES},
        **({"batch_errors": results.total_batch_errors} if results.total_batch_errors else {}),
        **({"unscored": results.total_unscored} if results.total_unscored else {}),
        **results.answers.rates,
        # An undefined rate (0/0) is left out.
        **{name: rate for name in RATES if (rate := getattr(total, name)) is not None},
    }
    given = ((name, getattr(results, name)) for name in _RUN_MEMBERS)
    known = {name: value for name, value in given if value != getattr(_EMPTY, name)}
    head = {"format": FORMAT, "version": VERSION, "figures": statistics, **to_plain(known)}
    return {**head, "corpus": _corpus(results)} if results.is_counted else head


def _corpus(results: RunResult) -> dict[str, Any]:
    by_tag = {tag: _totals(part) for tag, part in (results.counted_tags or {}).items()}
    kept = [record for record in results.records if record.match is not None or results.kept_cases]
    kept.sort(key=lambda record: record.index)
    lists = {
        "records": [[record.record_id, record.index] for record in kept],
        "worst": [kept.index(record) for record in results.worst if record in kept],
        "errors": [_plain_error(error) for error in results.errors],
        "warnings": [_plain_error(warning) for warning in results.warnings],
        **{name: [*getattr(results, name)] for name in _UNMATCHED},
    }
    return {
        "signature": str(results.signature),
        **_totals(results.totals),
        **({"by_tag": by_tag} if by_tag else {}),
        **{name: entries for name, entries in lists.items() if entries},
        **({"id_keys": b64encode(results.id_keys).decode()} if results.id_keys else {}),
    }


_UNMATCHED: Final = ("unmatched_expected", "unmatched_actual", "unmatched_rules")


def _plain_error(error: RunError) -> list[Any]:
    return [error.record_id, error.path, error.comparator, hide_secrets(error.reason)]


def _totals(totals: Totals) -> dict[str, Any]:
    return {
        "counts": dict(+totals.counts),
        "sums": {name: totals.sums[name].value for name in (*Scores._fields, "answered")},
        "fields": to_plain(totals.per_field()),
        "first": {path: [*sums.first] for path, sums in totals.fields.items()},
        **({"rows": to_plain(totals.per_array())} if totals.rows else {}),
        "kinds": totals.kinds.to_plain(),
        **({"costs": costs} if (costs := totals.costs.to_plain()) else {}),
    }


def _case(case: Case) -> dict[str, Any]:
    plain = to_plain(case)
    runs = plain.pop("runs")
    for run in runs:
        for comparison in run.get("comparisons", ()):
            comparison.pop("detail", None)
    scores = {name: case.mean(name) if case.has_figures else None for name in SCORES}
    rate = {"pass_rate": case.pass_rate} if case.of > 1 else {}
    return {"id": plain.pop("id"), "passed": case.passed, **scores, **rate, **plain, "runs": runs}


# -- reading -----------------------------------------------------------------------------------------------


def write_results(results: RunResult, path: Path) -> None:
    """Write the result file of a run, for `RunResult.save`."""
    kept = results if results.created else with_origin(results, Path.cwd())
    write_file(path, to_text(kept).encode("utf-8", "backslashreplace"))


def read_results(path: str | PathLike[str]) -> RunResult:
    """Read a result file, as written by `--jsonmatch-json` and `jsonmatch evaluate --json`.

    Raises:
        ConfigurationError: the file can't be read, or is not a result file; the message names the file and
            the reason.

    >>> read_results("results.jsonl").to_dataframe(by="record")  # doctest: +SKIP
                                id  passed  score  ...
    0  receipts.golden.yaml::bakery    True    1.0  ...
    """
    try:
        with Path(path).open(encoding="utf-8-sig") as lines:
            return _read(lines, str(path))
    except OSError as error:
        message = f"{path} can't be read: {(error.strerror or str(error)).lower()}"
        raise ConfigurationError(message) from None
    except UnicodeDecodeError:
        raise _invalid_file(str(path), "it is not UTF-8 text") from None


def from_text(text: str, name: str) -> RunResult:
    """Read the text of a result file; `name` is the file's name in errors."""
    return _read(text.split("\n"), name)


def _read(lines: Iterable[str], name: str) -> RunResult:
    head, cases = None, []
    for number, line in enumerate(lines, 1):
        try:
            if head is None:
                head = _read_head(line)
                _check("head", head)
            elif line.strip():
                cases.append(_read_case(line))
        except ValueError as error:
            where = "" if head is None else f"line {number} is damaged: "
            raise _invalid_file(name, f"{where}{error}") from None
    if head is None:
        raise _invalid_file(name, "it is empty")
    more: dict[str, Any] = {name: head[name] for name in _RUN_MEMBERS if name in head}
    more["narrowed"] = tuple(more.get("narrowed", ()))
    if "corpus" in head:
        try:
            more["id_keys"] = b64decode(head["corpus"].get("id_keys", ""), validate=True)
            read_keys(more["id_keys"])
        except ValueError:
            raise _invalid_file(name, "its id_keys are damaged") from None
        return _read_corpus(head["corpus"], cases, more)
    number = head["figures"]["cases"]
    if len(cases) != number:
        raise _invalid_file(name, f"it has {len(cases)} of {count(number, 'case')}")
    return RunResult.of_cases(cases, **more)


def _read_corpus(corpus: Mapping[str, Any], cases: Iterable[Case], more: dict[str, Any]) -> RunResult:
    signature = corpus["signature"]
    by_tag = {tag: _read_totals(part, signature) for tag, part in corpus.get("by_tag", {}).items()}
    listed = tuple(cases)
    records = tuple(
        _read_record(case, record_id, index)
        for case, (record_id, index) in zip(listed, corpus.get("records", ()))
    )
    more |= {name: tuple(corpus.get(name, ())) for name in _UNMATCHED}
    for name in ("errors", "warnings"):
        more[name] = tuple(RunError(*entry) for entry in corpus.get(name, ()))
    return RunResult(
        listed,
        _read_totals(corpus, signature),
        by_tag,
        records=records,
        worst=tuple(records[at] for at in corpus.get("worst", ()) if at < len(records)),
        **more,
    )


def _read_record(case: Case, record_id: str | int, index: int) -> RecordResult:
    """Return a record of a corpus, without its comparison."""
    (comparison,) = case.runs[0].comparisons[:1] or (None,)
    if comparison is None:
        return RecordResult(record_id, index, None, None, None, None, cluster=case.cluster, tags=case.tags)
    scores = {name: getattr(comparison, name) if comparison.has_figures else None for name in SCORES}
    return RecordResult(
        record_id,
        index,
        **scores,
        counts=comparison.counts,
        error=comparison.unreadable or case.runs[0].error or None,
        warnings=comparison.warnings,
        violations=comparison.violations,
        cluster=case.cluster,
        tags=case.tags,
    )


def _read_totals(found: Mapping[str, Any], signature: str) -> Totals:
    made = Totals()
    made.counts.update(found["counts"])
    made.metrics[signature] = Signature.parse(signature).metric
    for name, number in found["sums"].items():
        made.sums[name].extend((number,))
    for path, plain in found["fields"].items():
        case, at = found["first"].get(path, ("", 0))
        made.fields[path] = FieldSums.of(from_plain(FieldAggregation, plain), (case, at))
        made.fields[path].ignores_extra = made.counts["ignores_extra"] > 0
    made.rows.update((path, from_plain(RowCounts, plain)) for path, plain in found.get("rows", {}).items())
    made.kinds.merge(KindTotals.from_plain(found.get("kinds", {})))
    made.costs.merge(CostTotals.from_plain(found.get("costs", {})))
    return made


def _invalid_file(name: str, reason: str) -> ConfigurationError:
    return ConfigurationError(f"{name} is not a result file: {reason}; {_REMEDY}")


def _parse_line(line: str) -> Any:
    try:
        return json.loads(line)
    except (RecursionError, ValueError) as error:  # including Python's limit for the digits of integers
        raise ValueError(f"it is not JSON: {error}") from None


def _read_head(line: str) -> dict[str, Any]:
    if line.strip() == "{":
        raise ValueError("a result file has a line for its head and one for each case")
    head = _parse_line(line)
    if type(head) is not dict or head.get("format") != FORMAT:
        raise ValueError(f'its first line has no "format": "{FORMAT}"')
    version = head.get("version")
    if version != VERSION:
        message = f"its version is {short(version)}, and this release reads version {VERSION}"
        is_later = type(version) is int and version > VERSION
        raise ValueError(f"{message}: upgrade pytest-jsonmatch" if is_later else message)
    return dict(head)


def _read_case(line: str) -> Case:
    found = _parse_line(line)
    _check("case", found)
    return from_plain(Case, found)


# -- the schema --------------------------------------------------------------------------------------------


def schema_text() -> str:
    """Return the JSON Schema of a line of a result file, as shipped with the package.

    >>> json.loads(schema_text())["title"]
    'jsonmatch results'
    """
    return resources.files("pytest_jsonmatch.results").joinpath(SCHEMA).read_text(encoding="utf-8")


def _check(kind: str, line: object) -> None:
    """Check a line against the schema of a head or a case.

    Raises:
        ValueError: the line is invalid; the message names the first invalid path.
    """
    try:
        error = next(_validator(kind).iter_errors(line), None)
    except UnicodeEncodeError:  # a lone surrogate, which the validator can't handle
        text = json.dumps(line, ensure_ascii=False).encode("utf-8", "xmlcharrefreplace")
        error = next(_validator(kind).iter_errors(json.loads(text)), None)
    if error is not None:
        raise ValueError(f"{format_path(error.instance_path)}: {shorten(error.message, _LONGEST)}")


@cache
def _validator(kind: str) -> Any:
    import jsonschema_rs

    definitions: Mapping[str, Any] = json.loads(schema_text())["$defs"]
    return jsonschema_rs.validator_for({"$defs": definitions, "$ref": f"#/$defs/{kind}"})
