"""The golden case of a YAML file, as tests, fixtures and hooks see it."""

from __future__ import annotations

import os.path
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, final

from pytest_jsonmatch.comparing.raising import raise_at
from pytest_jsonmatch.comparing.running import WrittenRule
from pytest_jsonmatch.engine.value.convert import MISSING, get_value, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, UnsupportedValueError
from pytest_jsonmatch.engine.value.named import PATH_HINT, import_object, names_object
from pytest_jsonmatch.engine.value.text import render
from pytest_jsonmatch.golden.marks import marks_of
from pytest_jsonmatch.reading.datafiles import YAML_SUFFIXES, outside, read_value_file
from pytest_jsonmatch.reading.errors import GoldenFileError, InvalidValueError, Position
from pytest_jsonmatch.reading.matchers import check_matcher_places, iter_matchers, with_matchers
from pytest_jsonmatch.reading.yamlevents import find_position, parse_value
from pytest_jsonmatch.results.answer import Answer
from pytest_jsonmatch.results.tags import read_tags

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side
    from pytest_jsonmatch.golden.marks import Mark
    from pytest_jsonmatch.golden.rows import TableRow
    from pytest_jsonmatch.reading.errors import Steps
    from pytest_jsonmatch.reading.yamlevents import Document

_MAX_PARAM: Final = 60
_DATA_SUFFIXES: Final = YAML_SUFFIXES | {".json"}


@final
class ExpectedLocation(NamedTuple):
    """The location of an expected value."""

    position: Position
    """The position in the golden file: of the value, or of `expected_file`."""
    text: str
    """ "file:line" in the file with the value."""
    inner: tuple[str, Position] | None = None
    """The path of `expected_file`, and the position of the value in it; None without such a file."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class GoldenCase:
    r"""A golden case: the value of the fixture `jsonmatch_case`, and an argument of hooks.

    Args:
        id: the name of the case in node ids.
        path: the file of the case: the YAML file, or the table of `cases_from`.
        line: the first line of the case in the file, from 1.

    The files that a case names are read each time their content is needed. Every value is a copy, which
    callers may change.

    >>> from pytest_jsonmatch.golden.loader import load_cases
    >>> (case,) = load_cases(b"id: a\nexpected: {n: 1}\n", Path("x.yaml"), "x.yaml").by_id.values()
    >>> case.id, case.expected, case.has_actual, case.position("expected", "n").line
    ('a', {'n': 1}, False, 2)
    """

    id: str
    path: Path
    line: int
    _given: Mapping[str, Any] = field(repr=False)
    _document: Document = field(repr=False)
    _where: Steps = field(repr=False)
    _params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    run: int = 1
    """The number of this run of the case, from 1."""
    runs: int = 1
    """How often the case runs: `repeat`, or the number from the command line."""
    row: TableRow | None = field(default=None, repr=False)
    """The row of the case in a table; None if the case is in the golden file."""

    @property
    def base_id(self) -> str:
        """The id without the `@2` of a run: all runs of a case share it."""
        return self.id if self.runs == 1 else self.id.rpartition("@")[0]

    @property
    def min_pass_rate(self) -> float | None:
        """The share of the runs that must pass; None if all must pass."""
        return self._given.get("min_pass_rate")

    @property
    def cluster(self) -> str:
        """The cluster of the case, such as its document; empty if it has none."""
        cluster: str = self._given.get("cluster", "")
        return cluster

    @property
    def tags(self) -> dict[str, Any]:
        """The tags of the case, by name: its own and those of its file."""
        given = self._given.get("tags")
        return read_tags(given) if given else {}

    @property
    def shared_input(self) -> str:
        """The display name of the file with the input; empty without a file, or with a cluster."""
        return "" if self.cluster or "input_file" not in self._given else self.name_of("input_file")

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the case from `parametrize`, by name; empty without `parametrize`."""
        params: dict[str, Any] = to_json_value(dict(self._params))
        return params

    @property
    def fault(self) -> GoldenFileError | None:
        """The error of a value beyond our limits, or of a row that can't be a case; None without an error."""
        row_fault = None if self.row is None else self.row.fault
        return row_fault or self._document.fault(self._where)

    def _own(self, key: str, side: Side = "actual") -> JsonValue:
        """Return a copy of a value that the case itself contains."""
        if (fault := self.fault) is not None:
            raise fault
        return to_json_value(self._given.get(key), side=side)

    @property
    def title(self) -> str | None:
        """The description of the case, in prose; None without one."""
        return self._given.get("title")

    @property
    def metric(self) -> str | None:
        """The metric that the case sets; None for that of the mark or the configuration."""
        return self._given.get("metric")

    @property
    def threshold(self) -> float | dict[str, Any] | None:
        """The threshold that the case sets, number or mapping; None for that of mark or configuration."""
        threshold: float | dict[str, Any] | None = to_json_value(self._given.get("threshold"))
        return threshold

    @property
    def options(self) -> dict[str, Any]:
        """The options of the metric, and other settings of the comparison, as arguments.

        The other settings are `fields`, `accept`, `skip`, `validate` and `schema`.
        """
        options: dict[str, Any] = to_json_value(self._given.get("options") or {})
        for key in ("fields", "accept", "skip", "validate"):
            if key in self._given:
                options[key] = to_json_value(self._given[key])
        node = self.schema_node
        return options if node is None else {**options, "schema": node}

    def written(self, key: str) -> dict[str, Any]:
        """Return the mapping of a key in the case itself, without that of its file; of a row, in the file."""
        where = () if self.row is not None else self._where
        value = get_value(self._document.value, (*where, key))
        return value if type(value) is dict else {}

    @property
    def schema(self) -> Path | str | dict[str, Any] | None:
        """The eval schema: the path of its file, a model's `module:Model`, or the schema itself."""
        given = self._given.get("schema")
        if given is None:
            return None
        if type(given) is str and names_object(given, str(self._folder)):
            return given
        schema: Path | dict[str, Any] = (
            self.named_file("schema") if type(given) is str else to_json_value(given)
        )
        return schema

    @property
    def schema_node(self) -> SchemaNode | None:
        """The parsed eval schema; None if there is none.

        Raises GoldenFileError if the schema is not valid, or refers to a file outside the allowed folders.
        """
        schema: Any = self.schema
        if schema is None:
            return None
        from pytest_jsonmatch.schema.parsing import parse_eval_schema

        try:
            # A module is imported at run time, when pytest's `pythonpath` has changed sys.path.
            model = import_object(schema) if type(schema) is str else schema
            return parse_eval_schema(model, folders=self._within)
        except ConfigurationError as error:
            message = str(error)
            if isinstance(error.__cause__, ModuleNotFoundError):
                message += f"; {PATH_HINT}"
            lead = "" if message.startswith("schema") else "schema: "
            raise self.error(f"{lead}{message}", "schema") from None

    @property
    def producer(self) -> str | None:
        """The function that produces the answer, as "module:function"; None if there is none."""
        return self._given.get("producer")

    @property
    def has_input(self) -> bool:
        """Whether the case has an input."""
        return "input" in self._given or "input_file" in self._given

    @property
    def input(self) -> JsonValue | bytes:
        """The input of the system under test; None if the case has none.

        From `input_file`: the value of a .json, .yaml or .yml file; the text of any other file, or its bytes
        if they are not UTF-8 text. From a row of a function: a value without a JSON form, such as an image,
        is returned unchanged. Raises GoldenFileError if the file can't be read.
        """
        if "input_file" not in self._given:
            try:
                return self._own("input")
            except UnsupportedValueError:
                return self._given["input"]
        return self._content("input_file", _DATA_SUFFIXES)

    @property
    def has_actual(self) -> bool:
        """Whether the case has a recorded answer."""
        return "actual" in self._given or "actual_file" in self._given

    @property
    def actual(self) -> JsonValue:
        """The recorded answer: a value, or the output of a model as text; None if there is none.

        From a second file with cost and latency: an `Answer`.

        From `actual_file`: the value of a .yaml or .yml file, the text of any other file. Raises
        GoldenFileError if the file can't be read.
        """
        if "actual_file" not in self._given:
            given = self._given.get("actual")
            if isinstance(given, Answer) and self.fault is None:
                return given
            return self._own("actual")
        actual = self._content("actual_file", YAML_SUFFIXES)
        if isinstance(actual, bytes):
            raise self.error(f"actual_file {self.name_of('actual_file')!r} is not UTF-8 text", "actual_file")
        return actual

    @property
    def has_expected(self) -> bool:
        """Whether there is an expected value; it can be missing only while expected values are written."""
        if "expected_file" in self._given:
            return os.path.exists(Path(self._folder, self._given["expected_file"]))  # noqa: PTH110 - no OSError
        return "expected" in self._given

    @property
    def expected(self) -> JsonValue:
        """The expected value; from `expected_file`, that of the file: YAML with .yaml or .yml, else JSON.

        Raises GoldenFileError if the file can't be read.
        """
        if "expected_file" not in self._given:
            expected = self._own("expected", side="expected")
            return expected if self.row is not None else with_matchers(expected)
        return self._data("expected_file")

    @property
    def expected_file(self) -> Path | None:
        """The file with the expected value; None if the value is in the case itself.

        Raises GoldenFileError if the file is outside the allowed folders.
        """
        return None if "expected_file" not in self._given else self.named_file("expected_file")

    @property
    def expected_file_name(self) -> str:
        """The display name of the file with the expected value."""
        return self.name_of("expected_file") if "expected_file" in self._given else self.name_of_file

    @property
    def name_of_file(self) -> str:
        """The display name of the file of the case."""
        return self._document.name if self.row is None else self.row.table.name

    @property
    def golden_line(self) -> int:
        """The line of the case in the golden file; for a row, the line of `cases_from`."""
        return self.line if self.row is None else self.line_of(self._where)

    @property
    def expected_steps(self) -> Steps:
        """The steps to the expected value in its file."""
        return () if "expected_file" in self._given else (*self._where, "expected")

    def position(self, *keys: str | int) -> Position:
        """Return the position of a key, or of a value in it: `case.position("expected", "total")`.

        A key that the case inherits from its file is at the top of the file; for a missing key it is the
        position of the case.
        """
        if self._is_in_row(keys):
            return Position(self.line, 1)
        return self._document.position(self._find_key(keys))

    def _is_in_row(self, keys: Sequence[str | int]) -> bool:
        return self.row is not None and (not keys or keys[0] in self.row.table.keys)

    def _find_key(self, keys: Steps) -> Steps:
        """Return the steps to a key, or to a value in it: in the case, or at the top of the file."""
        own, top = (*self._where, *keys), self._document.value
        is_inherited = keys and self._where and keys[0] in top and get_value(top, own) is MISSING
        return keys if is_inherited else own

    def _find_rule(self, kind: str, pattern: str) -> Steps:
        """Return the steps to a pattern of a rule, such as `fields`, in the case or its file."""
        for steps in ((*self._where, kind), (kind,)) if kind == "skip" else ():
            listed = get_value(self._document.value, steps)
            if type(listed) is list and pattern in listed:
                return (*steps, listed.index(pattern))
        return self._find_key((kind, "fields", pattern) if kind == "threshold" else (kind, pattern))

    def rules(self, file: str) -> Iterator[WrittenRule]:
        """Yield each pattern of `fields`, `accept`, `skip` and `threshold`; `file` is the golden file."""
        threshold = self._given.get("threshold")
        limits = threshold.get("fields") if type(threshold) is dict else None
        own = ((kind, self._given.get(kind)) for kind in ("fields", "accept", "skip"))
        for kind, patterns in (*own, ("threshold", limits)):
            for pattern in patterns or ():
                yield WrittenRule(file, self.line_of(self._find_rule(kind, pattern)), kind, pattern)

    def line_of(self, steps: Steps) -> int:
        """Return the line of an entry of the YAML file, or of the nearest entry that contains it."""
        return self._document.position(steps).line

    def error(self, reason: str, *keys: str | int) -> GoldenFileError:
        """Return an error with a reason, at a key of the case or at the case."""
        line, column = self.position(*keys)
        name = self.name_of_file if self._is_in_row(keys) else self._document.name
        return GoldenFileError(name, line, column, reason)

    def fail(
        self,
        message: str,
        position: Position | None = None,
        cause: BaseException | None = None,
        inner: tuple[str, Position] | None = None,
    ) -> NoReturn:
        """Raise `AssertionError(message)` from a position in the golden file, by default that of the case.

        The parameters of the case are added to the message.

        Args:
            message: the text of the error.
            position: the position in the golden file.
            cause: the cause of the error, if it should be shown, too.
            inner: a path, and a position in the file there, which tracebacks show below the golden file.
        """
        __tracebackhide__ = True
        first, lines = Position(self.line, 1), None
        if self.row is not None:
            position, lines = first, self.row.lines()  # other positions are in the golden file
        params = ", ".join(
            f"${{{name}}} is {render(value, _MAX_PARAM)}" for name, value in self.params.items()
        )
        raise_at(
            f"{message}\n{params}" if params else message,
            path=str(self.path),
            position=position or first,
            first=self.line,
            name=self.id,
            cause=cause,
            lines=lines,
            inner=inner,
        )

    def has_key(self, key: str) -> bool:
        """Return whether the case has a key, its own or one of its file."""
        return key in self._given

    def locate_expected(self, steps: Sequence[Any] = ()) -> ExpectedLocation:
        """Return the location of an entry of the expected value, or of the nearest entry that contains it."""
        if "expected_file" not in self._given:
            position = self.position("expected", *steps)
            return ExpectedLocation(position, f"{self.name_of_file}:{position.line}")
        position, name = self.position("expected_file"), self.name_of("expected_file")
        try:
            inner = find_position(self._read("expected_file"), name, steps)
        except GoldenFileError:
            return ExpectedLocation(position, name)
        path = str(self.named_file("expected_file"))
        return ExpectedLocation(position, f"{name}:{inner.line}", None if self.row else (path, inner))

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks of the case itself; those of its file apply, too."""
        steps = (*self._where, "marks")
        own = get_value(self._document.value, steps)
        return () if own is MISSING else tuple(marks_of(own, steps))

    @property
    def _folder(self) -> Path:
        """The folder of the golden file."""
        return self.path.parent if self.row is None else self.row.table.folder

    def _suffix(self, key: str) -> str:
        return Path(self._given[key]).suffix.lower()

    def name_of(self, key: str) -> str:
        """Return the display name of a file that the case names."""
        folder = os.path.dirname(self._document.name)  # noqa: PTH120 - a display name, "/" everywhere
        return os.path.normpath(os.path.join(folder, self._given[key])).replace("\\", "/")  # noqa: PTH118

    def named_file(self, key: str) -> Path:
        """Return the path of a file that the case names; raise an error if it may not name the file."""
        path = Path(self._folder, self._given[key])
        within, real = self._within, self.outside(path)
        if within is None or real is None:
            return path
        verb = "lies" if real == os.path.abspath(path) else f"leads to {real},"  # noqa: PTH100 - no links followed
        raise self.error(
            f"`{key}` {self._given[key]!r} {verb} outside of {within[0]}, pytest's rootdir; "
            "move the file into it",
            key,
        )

    def outside(self, path: Path) -> str | None:
        """Return the real path of a file that the case may not name; None if it may."""
        return outside(path, self._within)

    @property
    def _within(self) -> tuple[str, ...] | None:
        """Real paths of the folders whose files, at any depth, the case may name; None for no limit."""
        folders = self._document.folders
        return None if folders is None else (*folders, os.path.realpath(self._folder))

    def check_files(self, *, may_lack_expected: bool) -> None:
        """Raise GoldenFileError if a file that the case names is missing or not valid.

        Args:
            may_lack_expected: whether `expected_file` may be missing, because it is about to be written.
        """
        for key in ("input_file", "actual_file", "expected_file"):
            if key in self._given and not (
                os.path.exists(self.named_file(key))  # noqa: PTH110 - Path.exists() raises for long names
                or (may_lack_expected and key == "expected_file")
            ):
                self._read(key)  # raises the error
        if not self.has_actual:  # read before an answer is paid for
            _ = self.input, self.has_expected and self.expected

    def check_matchers(self, plan: Plan) -> None:
        """Raise GoldenFileError for a matcher in `expected` where the plan needs a value."""
        if self.row is not None or "expected" not in self._given:
            return  # plain data
        expected = self.expected
        if any(iter_matchers(expected)):
            try:
                check_matcher_places(plan, expected)
            except InvalidValueError as error:
                raise self.error(f"`expected`{error.reason}", "expected", *error.steps) from None

    def _read(self, key: str) -> bytes:
        path = self.named_file(key)
        remedy = ""
        try:
            return read_value_file(path)
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            if isinstance(error, FileNotFoundError) and key == "expected_file":
                remedy = "; --jsonmatch-update=new writes it"
        message = f"{key} {self.name_of(key)!r} can't be read: {reason}"
        raise self.error(f"{message}; the path is relative to the YAML file{remedy}", key)

    def _data(self, key: str) -> JsonValue:
        """Return the value of a JSON or YAML file."""
        data, name, is_yaml = self._read(key), self.name_of(key), self._suffix(key) in YAML_SUFFIXES
        try:
            return parse_value(data, name, is_yaml=is_yaml)
        except GoldenFileError as error:
            kind = "valid" if is_yaml else "JSON"
            raise self.error(f"{key} is not {kind}: {error}", key) from None

    def _content(self, key: str, suffixes: Collection[str]) -> JsonValue | bytes:
        """Return the value of a file with one of the suffixes; of any other file the text, or the bytes."""
        if self._suffix(key) in suffixes:
            return self._data(key)
        data = self._read(key)
        try:
            return data.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError:
            return data
