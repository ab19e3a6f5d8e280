"""The golden case: what a YAML file says about it, as tests, fixtures and hooks see it."""

from __future__ import annotations

import ast
import linecache
import os.path
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final, NoReturn, final

from pytest_jsonmatch.engine.value.convert import MISSING, get_value, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, UnsupportedValueError
from pytest_jsonmatch.golden.errors import GoldenFileError, InvalidValueError, Position
from pytest_jsonmatch.golden.files import is_json_file, outside, read_limited
from pytest_jsonmatch.golden.marks import marks_of
from pytest_jsonmatch.golden.matchers import check_places, matchers_in, with_matchers
from pytest_jsonmatch.golden.yamlevents import load, parse
from pytest_jsonmatch.results.tags import read_tags
from pytest_jsonmatch.running import WrittenRule

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.plan.compile import Plan
    from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
    from pytest_jsonmatch.engine.value.convert import JsonValue, Side
    from pytest_jsonmatch.golden.errors import Steps
    from pytest_jsonmatch.golden.marks import Mark
    from pytest_jsonmatch.golden.tables import TableRow
    from pytest_jsonmatch.golden.yamlevents import Document

_YAML_SUFFIXES: Final = frozenset({".yaml", ".yml"})
_DATA_SUFFIXES: Final = _YAML_SUFFIXES | {".json"}


@final
@dataclass(frozen=True, slots=True, eq=False)
class GoldenCase:
    r"""One golden case, as the fixture `jsonmatch_case` hands it to tests, fixtures and hooks.

    Args:
        id: the case's name in node ids.
        path: the file it is in: the YAML file, or the table of `cases_from`.
        line: its first line there, counted from 1.

    Files that a case names are read when their content is needed, and again each time. Every value is a copy,
    which callers may change.

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
    """Which of its runs this is, counted from 1."""
    runs: int = 1
    """How often the case runs: `repeat`, or what the command line says."""
    row: TableRow | None = field(default=None, repr=False)
    """Its row in a table; None if the case is in the golden file."""

    @property
    def base_id(self) -> str:
        """The id without the `@2` of a run: what all runs of a case have in common."""
        return self.id if self.runs == 1 else self.id.rpartition("@")[0]

    @property
    def min_pass_rate(self) -> float | None:
        """The share of its runs that must pass; None if each of them must."""
        return self._given.get("min_pass_rate")

    @property
    def cluster(self) -> str:
        """What the case belongs to, such as its document; empty if it does not say."""
        cluster: str = self._given.get("cluster", "")
        return cluster

    @property
    def tags(self) -> dict[str, Any]:
        """The tags of the case by name: its own and those of its file."""
        given = self._given.get("tags")
        return read_tags(given) if given else {}

    @property
    def shared_input(self) -> str:
        """The file with the input, as a person would name it; empty without one, or with a cluster."""
        return "" if self.cluster or "input_file" not in self._given else self.name_of("input_file")

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of this case if it comes from `parametrize`; else empty."""
        params: dict[str, Any] = to_json_value(dict(self._params))
        return params

    @property
    def fault(self) -> GoldenFileError | None:
        """What in the case is beyond our limits, or why its row can't be a case; None if nothing is wrong."""
        of_row = None if self.row is None else self.row.fault
        return of_row or self._document.fault(self._where)

    def _own(self, key: str, side: Side = "actual") -> JsonValue:
        """Return a copy of a value that is written in the case."""
        if (fault := self.fault) is not None:
            raise fault
        return to_json_value(self._given.get(key), side=side)

    @property
    def title(self) -> str | None:
        """What the case is about, in prose; None if it does not say."""
        return self._given.get("title")

    @property
    def metric(self) -> str | None:
        """The metric that the case sets; None leaves it to mark and configuration."""
        return self._given.get("metric")

    @property
    def threshold(self) -> float | dict[str, Any] | None:
        """The threshold that the case sets, number or mapping; None leaves it to mark and configuration."""
        threshold: float | dict[str, Any] | None = to_json_value(self._given.get("threshold"))
        return threshold

    @property
    def options(self) -> dict[str, Any]:
        """The metric's options, and the case's other settings for the comparison, as arguments.

        The others are `fields`, `accept`, `skip`, `validate` and `schema`.
        """
        options: dict[str, Any] = to_json_value(self._given.get("options") or {})
        for key in ("fields", "accept", "skip", "validate"):
            if key in self._given:
                options[key] = to_json_value(self._given[key])
        node = self.schema_node
        return options if node is None else {**options, "schema": node}

    @property
    def schema(self) -> Path | dict[str, Any] | None:
        """The eval schema: the path of its file, or the schema itself if it is written out; else None."""
        given = self._given.get("schema")
        if given is None:
            return None
        schema: Path | dict[str, Any] = (
            self.named_file("schema") if type(given) is str else to_json_value(given)
        )
        return schema

    @property
    def schema_node(self) -> SchemaNode | None:
        """The eval schema, read and checked; None if there is none.

        Raises GoldenFileError if it is not valid, or refers to a file that is out of bounds.
        """
        schema = self.schema
        if schema is None:
            return None
        from pytest_jsonmatch.schema.parsing import parse_eval_schema

        try:
            return parse_eval_schema(schema, folders=self._within)
        except ConfigurationError as error:
            message = str(error)
            lead = "" if message.startswith("schema") else "schema: "
            raise self.error(f"{lead}{message}", "schema") from None

    @property
    def producer(self) -> str | None:
        """The function that makes the actual value, as "module:function"; None if there is none."""
        return self._given.get("producer")

    @property
    def has_input(self) -> bool:
        """Whether the case has an input."""
        return "input" in self._given or "input_file" in self._given

    @property
    def input(self) -> JsonValue | bytes:
        """The input for what is tested; None if the case has none.

        From `input_file`: the value of a .json, .yaml or .yml file; the text of any other; its bytes if they
        are not UTF-8 text. From a row of a function: what has no JSON form, such as an image, as it is.
        Raises GoldenFileError if the file can't be read.
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
        """The recorded answer: a value, or a model's output as text; None if there is none.

        From `actual_file`: the value of a .yaml or .yml file, the text of any other. Raises GoldenFileError
        if the file can't be read.
        """
        if "actual_file" not in self._given:
            return self._own("actual")
        actual = self._content("actual_file", _YAML_SUFFIXES)
        if isinstance(actual, bytes):
            raise self.error(f"actual_file {self.name_of('actual_file')!r} is not UTF-8 text", "actual_file")
        return actual

    @property
    def has_expected(self) -> bool:
        """Whether there is an expected value; it may be missing only while expected values are written."""
        if "expected_file" in self._given:
            return os.path.exists(Path(self._folder, self._given["expected_file"]))  # noqa: PTH110 - no OSError
        return "expected" in self._given

    @property
    def expected(self) -> JsonValue:
        """The expected value; from `expected_file`, the value of that .json, .yaml or .yml file.

        Raises GoldenFileError if the file can't be read.
        """
        if "expected_file" not in self._given:
            expected = self._own("expected", side="expected")
            return expected if self.row is not None else with_matchers(expected)
        return self._data("expected_file")

    @property
    def expected_file(self) -> Path | None:
        """The file that holds the expected value; None if the value is in the case itself.

        Raises GoldenFileError if it is out of bounds.
        """
        return None if "expected_file" not in self._given else self.named_file("expected_file")

    @property
    def expected_file_name(self) -> str:
        """The file that holds the expected value, as a person would name it."""
        return self.name_of("expected_file") if "expected_file" in self._given else self.name_of_file

    @property
    def name_of_file(self) -> str:
        """The file that the case is in, as a person would name it."""
        return self._document.name if self.row is None else self.row.table.name

    @property
    def golden_line(self) -> int:
        """The line of the golden file that it comes from: its own, or that of `cases_from`."""
        return self.line if self.row is None else self.line_of(self._where)

    @property
    def expected_trail(self) -> Steps:
        """Where the expected value is in the file that holds it."""
        return () if "expected_file" in self._given else (*self._where, "expected")

    def position(self, *keys: str | int) -> Position:
        """Return where a key of the case is, or a value inside it: `case.position("expected", "total")`.

        A key that the case inherits from its file is beside `cases`; for a missing key it is the position of
        the case.
        """
        if self._is_in_row(keys):
            return Position(self.line, 1)
        return self._document.position(self._trail_of(keys))

    def _is_in_row(self, keys: Sequence[str | int]) -> bool:
        return self.row is not None and (not keys or keys[0] in self.row.table.keys)

    def _trail_of(self, keys: Steps) -> Steps:
        """Return where a key of the case is, or a value inside it: in the case, or beside `cases`."""
        own, top = (*self._where, *keys), self._document.value
        is_above = keys and self._where and keys[0] in top and get_value(top, own) is MISSING
        return keys if is_above else own

    def _trail_of_rule(self, kind: str, pattern: str) -> Steps:
        """Return where a pattern of `fields`, `accept`, `skip` or `threshold` is: in the case or its file."""
        for trail in ((*self._where, kind), (kind,)) if kind == "skip" else ():
            listed = get_value(self._document.value, trail)
            if type(listed) is list and pattern in listed:
                return (*trail, listed.index(pattern))
        return self._trail_of((kind, "fields", pattern) if kind == "threshold" else (kind, pattern))

    def rules(self, file: str) -> Iterator[WrittenRule]:
        """Yield each pattern of `fields`, `accept`, `skip` and `threshold`; `file` is the golden file."""
        threshold = self._given.get("threshold")
        limits = threshold.get("fields") if type(threshold) is dict else None
        own = ((kind, self._given.get(kind)) for kind in ("fields", "accept", "skip"))
        for kind, patterns in (*own, ("threshold", limits)):
            for pattern in patterns or ():
                yield WrittenRule(file, self.line_of(self._trail_of_rule(kind, pattern)), kind, pattern)

    def line_of(self, trail: Steps) -> int:
        """Return the line of an entry of the YAML file, or of the nearest one around it."""
        return self._document.position(trail).line

    def error(self, reason: str, *keys: str | int) -> GoldenFileError:
        """Return the error that says `reason` about a key of the case, or about the case."""
        line, column = self.position(*keys)
        name = self.name_of_file if self._is_in_row(keys) else self._document.name
        return GoldenFileError(name, line, column, reason)

    def fail(self, message: str, at: Position | None = None, cause: BaseException | None = None) -> NoReturn:
        """Raise `AssertionError(message)` from a place in the golden file, or from the case's first line."""
        __tracebackhide__ = True
        first, lines = Position(self.line, 1), None
        if self.row is not None:
            at, lines = first, self.row.lines()  # other places are in the golden file
        raise_at(
            message,
            path=str(self.path),
            at=at or first,
            first=self.line,
            name=self.id,
            cause=cause,
            lines=lines,
        )

    def gives(self, key: str) -> bool:
        """Tell whether the case has a key, its own or its file's."""
        return key in self._given

    def locate_expected(self, trail: Sequence[Any] = ()) -> tuple[Position, str]:
        """Return the place of an entry of the expected value, or the nearest around it.

        Returns:
            The place in the YAML file that gives it, and "file:line" in the file that holds it.
        """
        if "expected_file" not in self._given:
            at = self.position("expected", *trail)
            return at, f"{self.name_of_file}:{at.line}"
        at, name = self.position("expected_file"), self.name_of("expected_file")
        try:
            data = self._read("expected_file")
            return at, f"{name}:{load(data, name).position(trail).line}"
        except GoldenFileError:
            return at, name

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The case's own marks; those of its file apply as well."""
        at = (*self._where, "marks")
        own = get_value(self._document.value, at)
        return () if own is MISSING else tuple(marks_of(own, at))

    @property
    def _folder(self) -> Path:
        """The folder of the golden file."""
        return self.path.parent if self.row is None else self.row.table.folder

    def _suffix(self, key: str) -> str:
        return Path(self._given[key]).suffix.lower()

    def name_of(self, key: str) -> str:
        """Return the name of a file that the case names, as a person would write it."""
        folder = os.path.dirname(self._document.name)  # noqa: PTH120 - a display name, "/" everywhere
        return os.path.normpath(os.path.join(folder, self._given[key])).replace("\\", "/")  # noqa: PTH118

    def named_file(self, key: str) -> Path:
        """Return the path of a file that the case names, if it is within bounds."""
        path = Path(self._folder, self._given[key])
        within, real = self._within, self.outside(path)
        if within is None or real is None:
            return path
        leads = "lies" if real == os.path.abspath(path) else f"leads to {real},"  # noqa: PTH100 - no links followed
        raise self.error(
            f"`{key}` {self._given[key]!r} {leads} outside of {within[0]}, pytest's rootdir; "
            "move the file into it",
            key,
        )

    def outside(self, path: Path) -> str | None:
        """Return the real path of a file that is not in the rootdir or near the golden file; else None."""
        return outside(path, self._within)

    @property
    def _within(self) -> tuple[str, ...] | None:
        """Real paths of the folders in or below which the case may name files; None for anywhere."""
        folders = self._document.folders
        return None if folders is None else (*folders, os.path.realpath(self._folder))

    def check_files(self, *, may_lack_expected: bool) -> None:
        """Raise GoldenFileError for what can be known to be wrong with the files that the case names.

        Args:
            may_lack_expected: whether there need be no `expected_file`, because it is about to be written.
        """
        for key in ("input_file", "actual_file", "expected_file"):
            if key in self._given and not (
                os.path.exists(self.named_file(key))  # noqa: PTH110 - Path.exists() raises for long names
                or (may_lack_expected and key == "expected_file")
            ):
                self._read(key)  # says why it can't
        if not self.has_actual:  # an answer costs something
            _ = self.input, self.has_expected and self.expected

    def check_matchers(self, plan: Plan) -> None:
        """Raise GoldenFileError for a matcher of `expected` where the plan needs a value."""
        if self.row is not None or "expected" not in self._given:
            return  # plain data
        expected = self.expected
        if any(matchers_in(expected)):
            try:
                check_places(plan, expected)
            except InvalidValueError as error:
                raise self.error(f"`expected`{error.reason}", "expected", *error.at) from None

    def _read(self, key: str) -> bytes:
        path = self.named_file(key)
        is_yaml = self._suffix(key) in _YAML_SUFFIXES
        reason = "it is a pipe or a device, not a file"
        if not os.path.exists(path) or path.is_file() or path.is_dir():  # noqa: PTH110 - as above
            try:
                return read_limited(path) if is_yaml else path.read_bytes()
            except (OSError, ValueError) as error:
                reason = (getattr(error, "strerror", None) or str(error)).lower()
        message = f"{key} {self.name_of(key)!r} can't be read: {reason}"
        raise self.error(f"{message}; the path is relative to the YAML file", key)

    def _data(self, key: str) -> JsonValue:
        """Return the value that a JSON or YAML file holds."""
        data, name = self._read(key), self.name_of(key)
        try:
            return parse(data, name)
        except GoldenFileError as error:
            what = "JSON" if is_json_file(name) else "valid"
            raise self.error(f"{key} is not {what}: {error}", key) from None

    def _content(self, key: str, suffixes: Collection[str]) -> JsonValue | bytes:
        """Return the value of a file with one of these suffixes; of any other its text, or bytes."""
        if self._suffix(key) in suffixes:
            return self._data(key)
        data = self._read(key)
        try:
            return data.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError:
            return data


# -- failures at lines that are not Python -----------------------------------------------------------------

_CONTEXT: Final = 5
"""At most this many lines are shown above the failing one in a traceback."""
_WIDTH: Final = 200
"""At most this many characters of a line are shown in a traceback."""


def raise_at(
    message: str,
    *,
    path: str,
    at: Position,
    first: int = 1,
    name: str = "case",
    cause: BaseException | None = None,
    lines: Sequence[str] | None = None,
) -> NoReturn:
    """Raise `AssertionError(message)` from a line of a file, by code that is compiled as if it were there.

    The error is a plain AssertionError: editors show others as an error of the test, not as a failure.

    Args:
        message: the error's text.
        path: the file.
        at: the line in it, and the column around which a long line is shown.
        first: no line above this one is shown, unless it is the one that fails.
        name: what tracebacks call the function.
        cause: the cause of the error, if it should be shown too.
        lines: the lines that tracebacks show as the file's; None to read them.

    >>> try:
    ...     raise_at("no good", path="a.yaml", at=Position(3, 1), first=2)
    ... except AssertionError as error:
    ...     print(error, error.__traceback__.tb_next.tb_next.tb_lineno)
    no good 3
    """
    __tracebackhide__ = True
    start = max(min(first, at.line), at.line - _CONTEXT)
    shown = _quotable(linecache.updatecache(path) if lines is None else lines, start, at)
    # Without a modification time, an entry is never looked up on disk.
    linecache.cache[path] = (sum(map(len, shown)), None, shown, path)
    function = ast.parse("def case():\n    raise AssertionError(message) from cause").body[0]
    for node in ast.walk(function):
        # Without columns: those of the statement above would put carets in wrong places below the YAML.
        place = {"lineno": at.line, "end_lineno": at.line, "col_offset": -1, "end_col_offset": -1}
        vars(node).update(place)
    vars(function).update(lineno=start)
    module = compile(ast.Module(body=[function], type_ignores=[]), path, "exec")
    code = next(constant for constant in module.co_consts if isinstance(constant, CodeType))
    # The message is a global, not an argument: pytest shows the arguments and locals of a frame.
    names = {"AssertionError": AssertionError, "message": message, "cause": cause}
    run: Callable[[], NoReturn] = FunctionType(code.replace(co_name=name), names)
    run()


def _quotable(lines: Sequence[str], start: int, at: Position) -> list[str]:
    """Return the lines of a file so that pytest can quote those from `start` to that of `at`.

    Long lines are cut. pytest reads what it quotes as Python: it does not survive NUL characters, nor
    (Python's parser itself) some 100 brackets inside each other, and quotes whole statements. So NUL
    characters are replaced, and all lines to quote, and the first one, begin with a blank, which is wrong in
    Python: it reads no further.
    """
    shown = [line.replace("\0", "\N{SYMBOL FOR NULL}") for line in lines]
    first = next((index for index, line in enumerate(shown) if line.strip() and line.lstrip()[0] != "#"), 0)
    for index in {first, *range(start - 1, at.line)} & {*range(len(shown))}:
        text = shown[index].rstrip("\r\n")
        begin = max(0, min(at.column - 1 if index == at.line - 1 else 0, len(text)) - _WIDTH // 2)
        part = text[begin : begin + _WIDTH]
        shown[index] = f" {'… ' if begin else ''}{part}{' …' if begin + _WIDTH < len(text) else ''}\n"
    return shown
