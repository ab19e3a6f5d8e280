"""The results of scoring a corpus: the figures of each record, and of all of them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.plan.fitting import nearest_place
from pytest_jsonmatch.engine.result.figures import RATES, FieldAggregation, short_score, together
from pytest_jsonmatch.engine.result.notebook import data_frame, field_rows, fields_html
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.engine.value.named import object_named
from pytest_jsonmatch.engine.value.paths import parse_path, parse_pattern
from pytest_jsonmatch.engine.value.sums import Figures
from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.results.record import MAX_ERRORS, worst_of
from pytest_jsonmatch.results.totals import RunSums

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from pytest_jsonmatch.engine.plan.compile import Signature
    from pytest_jsonmatch.engine.result.notebook import By, Library
    from pytest_jsonmatch.results.record import RecordResult, RunError

_OF_FIELDS: Final = ("matches", "mismatches", "omissions", "hallucinations", "skipped", "batch_errors")
_OF_RECORDS: Final = (*("records", "unanswered", "unscored", "not_validated", "errors", "warnings"),)
"""What `RunResult` counts: by field, and by record."""


@final
@dataclass(slots=True, eq=False, repr=False)
class RunResult:
    """The figures of a corpus: means over its records, figures over all leaves, and by field.

    Figures are None if there is no record, or if batch errors left nothing to count. They never depend on
    `keep`, on chunks, or on an executor.

    >>> from pytest_jsonmatch import compare_corpus
    >>> run = compare_corpus([{"a": 1, "b": 0}, {"a": 3}], [{"a": 1, "b": 2}, {"a": 3}])
    >>> run
    <RunResult leaf_f1: 2 records, mean F1 0.75>
    >>> run.micro_f1, run.per_field["b"].mismatches, run.worst[0].record_id
    (0.6666666666666666, 1, 1)
    """

    signature: Signature
    """What the scores were made with; runs are comparable, and merge, if theirs are equal."""
    _sums: RunSums
    records: tuple[RecordResult, ...] = ()
    """The records that `keep` selects, in the order of the expected ones."""
    worst: tuple[RecordResult, ...] = ()
    """The ten records with the lowest score, the worst first; those that could not be scored come last."""
    errors: tuple[RunError, ...] = ()
    """Errors that did not stop the run: the first 1,000 (`total_errors` counts all)."""
    warnings: tuple[RunError, ...] = ()
    """Warnings, such as those about repaired JSON: the first 1,000 (`total_warnings` counts all)."""
    unmatched_expected: tuple[str | int, ...] = ()
    """Ids of gold records without an answer: all of their leaves count as omissions."""
    unmatched_actual: tuple[str | int, ...] = ()
    """Ids of answers without a gold record, and of second answers to one: they were not scored.

    An answer without an id is named by its place: "answers.jsonl:4" or "actual[3]".
    """
    unmatched_rules: tuple[str, ...] = ()
    """The patterns of `fields` and `accept` that match no place in any record or in the schema."""
    counts_extra: bool = True
    """Whether the metric counts leaves that only actual has."""
    _by_tag: Mapping[str, RunSums] = field(default_factory=dict)
    mean_precision: float | None = field(init=False)
    """The mean of the records' precision."""
    mean_recall: float | None = field(init=False)
    """The mean of the records' recall."""
    mean_f1: float | None = field(init=False)
    """The mean of the records' F1."""
    mean_score: float | None = field(init=False)
    """The mean of the records' scores."""
    micro_precision: float | None = field(init=False)
    """Precision over the leaves of all records together."""
    micro_recall: float | None = field(init=False)
    """Recall over the leaves of all records together."""
    micro_f1: float | None = field(init=False)
    """F1 over the leaves of all records together."""
    valid_rate: float | None = field(init=False)
    """The share of the validated answers that the schema allows; text without JSON is not valid.

    None without `validate="report"`, or if no answer was validated.
    """
    parse_rate: float | None = field(init=False)
    """The share of the answers given as text that have JSON in them; None if none is text."""
    omission_rate: float | None = field(init=False)
    """Omissions over the leaves of expected, all with weight 1; None for 0/0."""
    hallucination_rate: float | None = field(init=False)
    """Hallucinations over the leaves of actual; None for 0/0, and if the metric does not count them."""
    all_fields: Mapping[str, FieldAggregation] = field(init=False)
    """Aggregates of every field, including those that count in no figure."""
    per_field: Mapping[str, FieldAggregation] = field(init=False)
    """Aggregates by schema path: `items[].price` is over all elements of all records.

    Fields that were always skipped, or always failed in a batch comparator, are left out, since they have
    no figures. `all_fields` includes them.
    """
    total_records: int = field(init=False)
    """The number of gold records."""
    total_perfect: int = field(init=False)
    """The number of records that score 1."""
    total_unanswered: int = field(init=False)
    """The number of gold records without an answer."""
    total_unscored: int = field(init=False)
    """The number of records without figures: batch errors left nothing to count."""
    total_not_validated: int = field(init=False)
    """The number of answers that can't be validated: over 200 levels deep, or with lone surrogates."""
    total_errors: int = field(init=False)
    """The number of errors."""
    total_warnings: int = field(init=False)
    """The number of warnings."""
    total_fields: int = field(init=False)
    """How many results were scored: matches, mismatches, omissions and hallucinations."""
    total_matches: int = field(init=False)
    """The number of results that match."""
    total_mismatches: int = field(init=False)
    """The number of results with values on both sides that score less than 1."""
    total_omissions: int = field(init=False)
    """The number of results that only expected has."""
    total_hallucinations: int = field(init=False)
    """The number of results that only the answers have."""
    total_skipped: int = field(init=False)
    """The number of results that a rule leaves out."""
    total_batch_errors: int = field(init=False)
    """The number of results for which a batch comparator failed."""

    def __post_init__(self) -> None:
        """Compute all figures from the sums."""
        sums, total = self._sums, self._sums.total
        counts = sums.counts
        scored = counts["records"] - counts["unscored"]
        for name in Figures._fields:
            mean = min(sums.figures[name].value / scored, 1.0) if scored else None
            setattr(self, f"mean_{name}", mean)
        for name in ("precision", "recall", "f1"):
            setattr(self, f"micro_{name}", getattr(total, name) if scored else None)
        self.valid_rate = counts["valid"] / counts["validated"] if counts["validated"] else None
        self.parse_rate = counts["parsed"] / counts["texts"] if counts["texts"] else None
        self.all_fields = sums.per_field()
        self.per_field = {path: each for path, each in self.all_fields.items() if each.total}
        total_of_fields = together(self.all_fields.values())
        for name in RATES:
            setattr(self, name, getattr(total_of_fields, name))
        for name in _OF_FIELDS:
            setattr(self, f"total_{name}", getattr(total_of_fields, name))
        self.total_fields = total_of_fields.total
        for name in _OF_RECORDS:
            setattr(self, f"total_{name}", counts[name])
        self.total_perfect = counts["perfect_records"]

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.signature.metric

    @property
    def answer_counts(self) -> dict[str, int]:
        """How many answers are text, contain JSON, are valid, were validated, and can't be validated."""
        names = ("texts", "parsed", "valid", "validated", "not_validated")
        return {name: self._sums.counts[name] for name in names}

    def nearest_path(self, pattern: str) -> str | None:
        """Return the schema path that an unmatched rule was likely meant for; None if none is near."""
        leaves = [parse_path(path) for path in self.all_fields if not path.endswith("…")]
        places = (path[:end] for path in leaves for end in range(len(path), 0, -1))
        return nearest_place(parse_pattern(pattern), places)

    @property
    def by_tag(self) -> dict[str, RunResult]:
        """The figures of the records with each tag, such as "source=phone"; no record is kept.

        >>> from pytest_jsonmatch import compare_corpus
        >>> gold = [{"from": "phone", "n": 1}, {"from": "scan", "n": 2}]
        >>> run = compare_corpus([gold[0], {"n": 2}], gold, tags={"source": "from"})
        >>> {tag: of.mean_recall for tag, of in run.by_tag.items()}
        {'source=phone': 1.0, 'source=scan': 0.5}
        """
        return {
            tag: RunResult(self.signature, self._by_tag[tag], counts_extra=self.counts_extra)
            for tag in sorted(self._by_tag)
        }

    def merge(self, other: RunResult) -> RunResult:
        """Return the result of both corpora together, as if they were one; the order does not matter.

        Raises:
            ConfigurationError: they were scored with different metrics, options, schemas or rules.
        """
        if self.signature != other.signature:
            message = f"runs merge only if their signatures are equal: {self.signature} and {other.signature}"
            raise ConfigurationError(message)
        sums = RunSums()
        sums.merge(self._sums)
        sums.merge(other._sums)
        tagged: dict[str, RunSums] = {}
        for tag, part in (*self._by_tag.items(), *other._by_tag.items()):
            tagged.setdefault(tag, RunSums()).merge(part)
        return RunResult(
            self.signature,
            sums,
            records=self.records + other.records,
            worst=tuple(worst_of(self.worst + other.worst)),
            errors=(self.errors + other.errors)[:MAX_ERRORS],
            warnings=(self.warnings + other.warnings)[:MAX_ERRORS],
            unmatched_expected=self.unmatched_expected + other.unmatched_expected,
            unmatched_actual=self.unmatched_actual + other.unmatched_actual,
            unmatched_rules=tuple(each for each in self.unmatched_rules if each in other.unmatched_rules),
            counts_extra=self.counts_extra,
            _by_tag=tagged,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON types."""
        computed = (each.name for each in fields(self) if not each.init)
        return {
            "metric": self.metric,
            "signature": str(self.signature),
            **{name: getattr(self, name) for name in computed if name not in {"all_fields", "per_field"}},
            "per_field": {path: each.to_dict() for path, each in self.per_field.items()},
            **({"by_tag": {tag: of.to_dict() for tag, of in self.by_tag.items()}} if self._by_tag else {}),
            "records": [each.to_dict() for each in self.records],
            "worst": [each.record_id for each in self.worst],
            "errors": [str(each) for each in self.errors],
            "warnings": [str(each) for each in self.warnings],
            "unmatched_expected": list(self.unmatched_expected),
            "unmatched_actual": list(self.unmatched_actual),
            "unmatched_rules": list(self.unmatched_rules),
        }

    def to_dataframe(self, by: By = "field", library: Library | None = None) -> Any:
        """Return a data frame of pandas or polars.

        Args:
            by: "field" for a row for each of `per_field`, "record" for one for each kept record, "leaf" for
                one for each of its field results (`keep="all"` keeps those of all records).
            library: "pandas" or "polars"; None for the one already imported, else the first installed.

        Raises:
            ConfigurationError: `by` is something else, or no such library is installed.
        """
        names = ("record_id", "index", "score", "precision", "recall", "f1", "error", "cluster")
        rows_by = {
            "record": (
                {**each.tags, **{name: getattr(each, name) for name in names}} for each in self.records
            ),
            "field": field_rows(self.per_field),
            "leaf": (
                {"record_id": each.record_id, **leaf.to_dict()}
                for each in self.records
                for leaf in each.field_results
            ),
        }
        return data_frame(rows_by, by, library)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write a page with all figures and the kept records, as `jsonmatch evaluate --html` does.

        Raises:
            ConfigurationError: jinja2 is not installed.
            OSError: the file can't be written.
        """
        # By name: this room knows none above it, but people look for a result's page at the result.
        object_named("pytest_jsonmatch.report.corpora:write_page")(self, Path(path))

    def _repr_html_(self) -> str:
        """Return the corpus as notebooks show it."""
        return fields_html(self._summary(), self.per_field)

    def __repr__(self) -> str:
        return f"<RunResult {self._summary()}>"

    def _summary(self) -> str:
        mean, failed = self.mean_f1, self.total_batch_errors
        figure = "no figures" if mean is None else f"mean F1 {short_score(mean)}"
        left_out = f", {count(failed, 'batch error')}" if failed else ""
        return f"{self.metric}: {count(self.total_records, 'record')}, {figure}{left_out}"
