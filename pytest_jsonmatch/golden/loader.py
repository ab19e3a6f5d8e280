"""Load and check golden files: every case with its defaults, its parameters and its runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, final

from pytest_jsonmatch.engine.plan.options import FIELD_WORDS, OPTION_NAMES
from pytest_jsonmatch.engine.value.convert import json_type
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonMatchError, did_you_mean
from pytest_jsonmatch.engine.value.text import add_article
from pytest_jsonmatch.golden.cases import GoldenCase
from pytest_jsonmatch.golden.expansion import expansions, fill_placeholders
from pytest_jsonmatch.golden.keys import (
    CASE_KEYS,
    FILE_KEYS,
    JOINED,
    KEYS,
    NOT_FILLED,
    PAIRS,
    SEVERAL,
    bad_id,
    id_of_file,
    ids_of_runs,
    is_repeat,
)
from pytest_jsonmatch.golden.marks import marks_of
from pytest_jsonmatch.golden.rows import SETTINGS, CaseTable, check_cases_from, is_answer_file
from pytest_jsonmatch.reading.datafiles import is_json_file
from pytest_jsonmatch.reading.errors import GoldenFileError, InvalidValueError
from pytest_jsonmatch.reading.yamlevents import EMPTY, load
from pytest_jsonmatch.records.sources import DELIMITERS
from pytest_jsonmatch.support.atomic import open_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.golden.expansion import Expansion
    from pytest_jsonmatch.golden.marks import Mark
    from pytest_jsonmatch.golden.rows import TableRow
    from pytest_jsonmatch.reading.errors import Steps
    from pytest_jsonmatch.reading.yamlevents import Document
    from pytest_jsonmatch.records.answers import AnswerFile

_MAX_ERRORS: Final = 10
_CHECKS: Final = {
    **{name: key.check for name, key in KEYS.items()},
    "cases_from": check_cases_from,
    "parametrize": expansions,
}


@final
@dataclass(frozen=True, slots=True)
class GoldenCases:
    """The cases of one file, by id, in file order, and the marks of all of them."""

    by_id: Mapping[str, GoldenCase]
    marks: tuple[Mark, ...]
    document: Document


def load_cases(
    data: bytes,
    path: Path,
    name: str,
    *,
    may_lack_expected: bool = False,
    repeat: int | None = None,
    folders: tuple[str, ...] | None = None,
) -> GoldenCases:
    r"""Read the cases of one YAML file.

    Args:
        data: the content of the file.
        path: the file; paths in its cases are relative to its folder.
        name: the name of the file in errors.
        may_lack_expected: whether cases without `expected` are valid, because it is about to be written.
        repeat: how often to run each case; None for the number in the file. Cases with a recorded answer run
            once, unless they set `repeat` themselves.
        folders: real paths of the folders in which its cases may name files; None for no limit.

    Raises:
        GoldenFileError: the file is not valid. The position is that of the first error; the message lists up
            to ten.

    >>> from pathlib import Path
    >>> loaded = load_cases(b"cases:\n- {id: a, expected: 1}\n- {expected: 2}\n", Path("x.yaml"), "x.yaml")
    >>> [(case.id, case.line, case.expected) for case in loaded.by_id.values()]
    [('a', 2, 1), ('case-2', 3, 2)]
    """
    document = load(data, name, holds_cases=True)
    document.folders = folders
    return _Reader(document, path, may_lack_expected, repeat).read()


@final
@dataclass(slots=True)
class _Reader:
    """Reads one document, and collects its errors, to report all of them at once."""

    document: Document
    path: Path
    may_lack_expected: bool
    repeat: int | None
    cases: dict[str, GoldenCase] = field(default_factory=dict)
    errors: list[GoldenFileError] = field(default_factory=list)

    def read(self) -> GoldenCases:
        top = self.document.value
        if top is None:
            raise GoldenFileError(self.document.name, 1, 1, EMPTY)
        if type(top) is not dict:
            hint = ""
            if type(top) is list:
                is_json = is_json_file(self.document.name)
                hint = '; write {"cases": …} around it' if is_json else "; write `cases:` above it"
            kind = add_article(json_type(top))
            raise self.document.error((), f"the file is {kind}, not a case or `cases:`{hint}")
        several = not SEVERAL.isdisjoint(top)
        if several:
            self._several(top)
        else:
            case_id = top["id"] if "id" in top else id_of_file(self.path)
            self._add(case_id, self.document.position().line, top, ())
        if self.errors:
            raise self._all_errors()
        marks = tuple(marks_of(top["marks"], ("marks",))) if several and "marks" in top else ()
        return GoldenCases(self.cases, marks, self.document)

    def _all_errors(self) -> GoldenFileError:
        first, *others = sorted(self.errors, key=lambda error: (error.line, error.column))
        lines = [first.reason, *map(str, others[: _MAX_ERRORS - 1])]
        if len(others) >= _MAX_ERRORS:
            lines.append(f"and {len(others) - _MAX_ERRORS + 1} more")
        return GoldenFileError(first.name, first.line, first.column, "\n".join(lines))

    def _report(self, steps: Steps, reason: str) -> None:
        self.errors.append(self.document.error(steps, reason))

    def _several(self, top: dict[str, Any]) -> None:
        self._check(top, (), FILE_KEYS)
        # In a case, a value beyond our limits is a failure of that case.
        self.errors += filter(None, (self.document.fault((key,)) for key in top if key != "cases"))
        defaults = {key: value for key, value in top.items() if key not in {*SEVERAL, "title", "marks"}}
        if "cases_from" in top:
            if "cases" in top:
                self._report(("cases_from",), "both `cases` and `cases_from`; keep one")
            if not self.errors:
                self._rows(top["cases_from"], defaults)
            return
        listed = top["cases"]
        if type(listed) is not list:
            reason = f"`cases` is {add_article(json_type(listed))}, not a list of cases"
            raise self.document.error(("cases",), reason)
        if not listed:
            raise self.document.error(("cases",), "`cases` is empty; a file without cases tests nothing")
        for index, case in enumerate(listed):
            where = ("cases", index)
            if type(case) is not dict:
                self._report(where, f"the case is {add_article(json_type(case))}, not a mapping")
                continue
            case_id = case["id"] if "id" in case else f"case-{index + 1}"
            self._add(case_id, self.document.position(where).line, case, where, defaults)

    def _rows(self, columns: dict[str, Any], defaults: dict[str, Any]) -> None:
        """Add the cases of a table."""
        where = ("cases_from",)
        # The keys of the golden file for every case, and the location of its table. Columns are not settings.
        named = {key: value for key, value in columns.items() if key not in SETTINGS}
        common = GoldenCase(
            "", self.path, self.document.position(where).line, {**defaults, **named}, self.document, where
        )
        inherited = {
            key: value for key, value in defaults.items() if key not in columns or key in {"tags", *SETTINGS}
        }
        if not {"input", "input_file"}.isdisjoint(columns):
            inherited = {key: inherited[key] for key in inherited.keys() - {"input", "input_file"}}
        source = next(key for key in ("rows", "files", "file") if key in columns)
        steps = (*where, source)
        if source != "file":
            path, name, position = self.path, self.document.name, self.document.position(steps)
        else:
            path, name, position = common.named_file("file"), common.name_of("file"), None
        schema = _schema_of_cells(common, path)
        answers = self._open_answers(columns, where)
        table = CaseTable(path, name, self.path.parent, columns, inherited, schema, position, answers)
        try:
            for row in table.rows():
                self._add_row(row)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise self.document.error(steps, f"{table.name} can't be read: {reason}") from None
        except InvalidValueError as error:
            raise self.document.error(
                (*where, *error.steps), f"`cases_from`{error.reason}"
            ) from error.__cause__
        if not self.cases:
            lacks = "matches no files" if source == "files" else "has no rows"
            found = columns[source] if source != "file" else name
            raise self.document.error(steps, f"{found} {lacks}; a file without cases tests nothing")

    def _open_answers(self, columns: dict[str, Any], where: Steps) -> AnswerFile | None:
        """Return the answers of a second file; None if `actual` does not name one."""
        actual: Any = columns.get("actual")
        if not is_answer_file(actual):
            return None
        from pytest_jsonmatch.records.answers import AnswerFile

        case = GoldenCase("", self.path, 1, {"file": actual["file"]}, self.document, (*where, "actual"))
        path, name = case.named_file("file"), case.name_of("file")
        try:
            open_file(path).close()
            return AnswerFile(path, name, actual.get("id"), actual.get("column"))
        except OSError as error:
            reason = f"{name} can't be read: {(error.strerror or str(error)).lower()}"
            raise self.document.error((*where, "actual", "file"), f"`cases_from`: {reason}") from None
        except ConfigurationError as error:
            reason = str(error).replace(str(path), name)
            raise self.document.error((*where, "actual", "file"), f"`cases_from`: {reason}") from None

    def _add_row(self, row: TableRow) -> None:
        """Add the case of a row; for an invalid row, a case that fails."""
        if (reason := bad_id(row.name)) is not None:
            row.refuse(reason)
        runs = self._runs({}, row.given) if row.fault is None else 1
        first = next(
            (self.cases[name].row for name in ids_of_runs(row.name, runs) if name in self.cases), None
        )
        if first is not None:
            holder = first.place if "files" in row.table.columns else f"the row at {first.place}"
            row.refuse(f"the id {row.name!r} is already taken by {holder}")
            runs = 1
            while row.name in self.cases:
                row.name += "+"
        for run, name in enumerate(ids_of_runs(row.name, runs), 1):
            self.cases[name] = GoldenCase(
                name, row.table.path, row.line, row.given, self.document, ("cases_from",), {}, run, runs, row
            )

    def _add(
        self,
        case_id: Any,
        line: int,
        case: dict[str, Any],
        where: Steps,
        defaults: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Add a case, or one case for each row of its parameters and each repeat."""
        before = len(self.errors)
        rows: Sequence[Expansion | None] = (None,)
        if "parametrize" in case:
            fixed = {key: value for key, value in case.items() if key in NOT_FILLED}
            self._check(fixed, where, CASE_KEYS)
            if len(self.errors) > before:
                return
            rows = expansions(case["parametrize"])
        for row in rows:
            own, inherited, name, unchecked = case, defaults, case_id, case
            if row is not None:
                own, inherited = self._fill(case, row.values, where), self._fill(defaults, row.values, ())
                name = f"{case_id}-{row.suffix}"
                unchecked = {key: value for key, value in own.items() if key not in NOT_FILLED}
            self._check(unchecked, where, CASE_KEYS)
            is_lacking = unchecked.keys().isdisjoint({"expected", "expected_file"})
            if is_lacking and not self.may_lack_expected and len(self.errors) == before:
                remedy = "pytest --jsonmatch-update=new writes the answer as `expected`"
                if not where:
                    remedy = "a file of several cases lists them below `cases:`"
                self._report(where, f"the case has no `expected` and no `expected_file`; {remedy}")
            if type(case_id) is not str:
                return
            given = _apply_defaults(inherited, own) if inherited else own
            runs, params = self._runs(own, given), {} if row is None else row.values
            for run, run_id in enumerate(ids_of_runs(name, runs), 1):
                if run_id in self.cases:
                    first = self.cases[run_id].line
                    reason = f"the id {run_id!r} is already taken by the case at line {first}; choose another"
                    self._report((*where, "id"), reason)
                self.cases[run_id] = GoldenCase(
                    run_id, self.path, line, given, self.document, where, params, run, runs
                )
            if row is not None and len(self.errors) > before:
                return

    def _fill(self, given: Mapping[str, Any], values: Mapping[str, Any], where: Steps) -> dict[str, Any]:
        return {
            key: value if key in NOT_FILLED else fill_placeholders(value, values, self._report, (*where, key))
            for key, value in given.items()
        }

    def _runs(self, own: Mapping[str, Any], given: Mapping[str, Any]) -> int:
        """Return how often a case runs: once with a recorded answer, unless the case itself sets `repeat`."""
        if "repeat" not in own and ("actual" in given or "actual_file" in given):
            return 1
        runs = given.get("repeat", 1) if self.repeat is None else self.repeat
        return int(runs) if is_repeat(runs) else 1

    def _check(self, given: dict[str, Any], where: Steps, keys: frozenset[str]) -> None:
        """Report the errors of a mapping: of a case, a part of it, or defaults."""
        for key, value in given.items():
            if key not in keys:
                self._unknown(key, where, keys)
            elif (check := _CHECKS.get(key)) is not None:
                try:
                    check(value)
                except InvalidValueError as error:
                    subject = f"`{key}`" if error.reason.startswith(":") else f"`{key}` "
                    self._report((*where, key, *error.steps), subject + error.reason)
        for pair in PAIRS:
            if pair in given and f"{pair}_file" in given:
                self._report((*where, f"{pair}_file"), f"both `{pair}` and `{pair}_file`; keep one")

    def _unknown(self, key: str, where: Steps, keys: frozenset[str]) -> None:
        if key in CASE_KEYS:
            reason = f"`{key}` belongs to a case and is not allowed next to `cases`"
        elif key in FIELD_WORDS:
            reason = f"unknown key {key!r}; write fields: {{ PATTERN: {{ {key}: ... }} }}"
        elif key in OPTION_NAMES and "options" in keys:
            reason = f"unknown key {key!r}; write options: {{ {key}: ... }}"
        elif key in SEVERAL:
            reason = f"`{key}` is not allowed inside a case"
        else:
            known = keys if where else keys | SEVERAL
            reason = f"unknown key {key!r}{did_you_mean(key, sorted(known))}"
        self._report((*where, key), reason)


def _schema_of_cells(case: GoldenCase, path: Path) -> SchemaNode | None:
    """Return the eval schema that gives cells of a CSV file their types; None without a valid one."""
    if path.suffix.lower() not in DELIMITERS:
        return None
    try:
        return case.schema_node
    except JsonMatchError:  # reported when each case is set up
        return None


def _apply_defaults(defaults: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case with the defaults of its file: some keys are merged by member, all others replaced."""
    merged = dict(defaults)
    if "input" in case or "input_file" in case:
        merged.pop("input", None)
        merged.pop("input_file", None)
    merged.update(case)
    for key in JOINED:
        kinds = {type(given.get(key)) for given in (defaults, case)}
        if kinds == {list}:
            merged[key] = [*defaults[key], *case[key]]
        elif kinds == {dict}:
            # The case's own members come last: if two patterns match equally well, the last one applies.
            inherited = {name: value for name, value in defaults[key].items() if name not in case[key]}
            merged[key] = {**inherited, **case[key]}
    return merged
