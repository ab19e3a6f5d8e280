"""The golden case: what a YAML file may say about it, checked, and what it gives to the test that runs it."""

from __future__ import annotations

import os.path
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.plan.options import Options, merge_options
from pytest_jsonmatch.engine.value.convert import json_type, to_json_value
from pytest_jsonmatch.engine.value.errors import ConfigurationError, JsonParseError, did_you_mean
from pytest_jsonmatch.engine.value.paths import parse_pattern
from pytest_jsonmatch.golden.bounds import Bounds, size_text
from pytest_jsonmatch.golden.conditions import bad_condition, condition
from pytest_jsonmatch.golden.errors import GoldenFileError
from pytest_jsonmatch.golden.expansion import bad_rows, expansions, filled, written_size
from pytest_jsonmatch.golden.raising import raiser
from pytest_jsonmatch.golden.yamlevents import EMPTY, load
from pytest_jsonmatch.results.limits import MAX_REPEATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.engine.value.convert import JsonValue
    from pytest_jsonmatch.golden.yamlevents import Document, Position

__all__ = [
    "CASE_KEYS",
    "FIGURES",
    "FILE_KEYS",
    "KEYS",
    "MARK_KEYWORDS",
    "NOT_FILLED",
    "NO_MARKS",
    "PAIRS",
    "XUNIT_NAMES",
    "GoldenCase",
    "Key",
    "Mark",
    "default_actual",
    "load_cases",
]

Trail: TypeAlias = "tuple[str | int, ...]"


class Problem(NamedTuple):
    """What is wrong with a value, and where inside it."""

    reason: str
    at: Trail = ()


Check: TypeAlias = "Callable[[JsonValue], Problem | None]"


@final
@dataclass(frozen=True, slots=True)
class Mark:
    """A pytest mark as a case names it: `name`, and the arguments of `pytest.mark.NAME(*args, **kwargs)`."""

    name: str
    args: tuple[JsonValue, ...] = ()
    kwargs: Mapping[str, JsonValue] = field(default_factory=dict)
    at: Trail = ()


@final
@dataclass(frozen=True, slots=True, eq=False)
class GoldenCase:
    r"""One golden case, as the fixture `jsonmatch_case` hands it to tests, fixtures and hooks.

    Args:
        id: the case's name in node ids.
        path: the YAML file it stands in.
        line: its first line there, counted from 1.

    Files that a case names are read when what they hold is asked for, and each time anew. Every value is a
    copy: whoever gets it may change it.

    >>> (case,) = load_cases(b"id: a\nexpected: {n: 1}\n", Path("x.yaml"), "x.yaml").by_id.values()
    >>> case.id, case.expected, case.has_actual, case.position("expected", "n").line
    ('a', {'n': 1}, False, 2)
    """

    id: str
    path: Path
    line: int
    _given: Mapping[str, Any] = field(repr=False)
    _document: Document = field(repr=False)
    _where: Trail = field(repr=False)
    _params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    run: int = 1
    """Which of its runs this is, counted from 1."""
    runs: int = 1
    """How often the case runs: `repeat`, or what the command line says."""

    @property
    def base_id(self) -> str:
        """The id without the `@2` of a run: what all runs of a case have in common."""
        return self.id if self.runs == 1 else self.id.rpartition("@")[0]

    @property
    def min_pass_rate(self) -> float | None:
        """The share of its runs that have to pass; None if each of them has to."""
        rate: float | None = self._given.get("min_pass_rate")
        return rate

    @property
    def params(self) -> dict[str, Any]:
        """The parameters that make this case of one with `parametrize`; none of any other."""
        params: dict[str, Any] = to_json_value(dict(self._params))
        return params

    @property
    def title(self) -> str | None:
        """What the case is about, in prose; None if it does not say."""
        return self._given.get("title")

    @property
    def metric(self) -> str | None:
        """The metric the case asks for; None leaves it to mark and configuration."""
        return self._given.get("metric")

    @property
    def threshold(self) -> float | dict[str, Any] | None:
        """The threshold the case asks for, number or mapping; None leaves it to mark and configuration."""
        threshold: float | dict[str, Any] | None = to_json_value(self._given.get("threshold"))
        return threshold

    @property
    def judge_triage(self) -> bool | None:
        """Whether a judge is asked only what can change whether the case passes; None if it does not say."""
        triage: bool | None = self._given.get("judge_triage")
        return triage

    @property
    def options(self) -> dict[str, Any]:
        """The metric's options, with the rules of `fields` and the `schema` among them."""
        options = self._given.get("options")
        fields = self._given.get("fields")
        schema = self.schema
        if not options and not fields and schema is None:
            return {}
        merged: dict[str, Any] = to_json_value(options or {})
        if fields:
            merged["fields"] = to_json_value(fields)
        if schema is not None:
            merged["schema"] = schema
        return merged

    @property
    def schema(self) -> Path | dict[str, Any] | None:
        """The eval schema: the path of its file, or itself if it is written out; None without."""
        given = self._given.get("schema")
        if given is None:
            return None
        schema: Path | dict[str, Any] = self._file("schema") if type(given) is str else to_json_value(given)
        return schema

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
        """What the case feeds to whatever is tested; None if it has none.

        From `input_file`: the value of a .json, .yaml or .yml file; the text of any other; its bytes if they
        are no UTF-8 text. Raises GoldenFileError if the file can't be read.
        """
        if "input_file" not in self._given:
            return to_json_value(self._given.get("input"))
        if self._suffix("input_file") in _DATA_SUFFIXES:
            return self._data("input_file")
        data = self._read("input_file")
        try:
            return _text(data)
        except UnicodeDecodeError:
            return data

    @property
    def has_actual(self) -> bool:
        """Whether the case has a recorded answer."""
        return "actual" in self._given or "actual_file" in self._given

    @property
    def has_value(self) -> bool:
        """Whether the recorded answer is written in the case itself."""
        return "actual" in self._given and "actual_file" not in self._given

    @property
    def actual(self) -> JsonValue:
        """The recorded answer: a value, or a model's output as text; None if there is none.

        From `actual_file`: the value of a .yaml or .yml file, the text of any other. Raises GoldenFileError
        if the file can't be read.
        """
        if "actual_file" not in self._given:
            return to_json_value(self._given.get("actual"))
        if self._suffix("actual_file") in _YAML_SUFFIXES:
            return self._data("actual_file")
        try:
            return _text(self._read("actual_file"))
        except UnicodeDecodeError as error:
            reason = f"actual_file {self._file_name('actual_file')!r} is not UTF-8 text: {error}"
            raise self.error(reason, "actual_file") from None

    @property
    def has_expected(self) -> bool:
        """Whether there is an expected value: only while expected values are written may there be none."""
        if "expected_file" in self._given:
            return Path(self.path.parent, self._given["expected_file"]).exists()
        return "expected" in self._given

    @property
    def expected(self) -> JsonValue:
        """The expected value. From `expected_file`: the value of that .json, .yaml or .yml file.

        Raises GoldenFileError if the file can't be read.
        """
        if "expected_file" not in self._given:
            return to_json_value(self._given.get("expected"), side="expected")
        return self._data("expected_file")

    @property
    def expected_file(self) -> Path | None:
        """The file that holds the expected value; None if it stands in the case itself.

        Raises GoldenFileError if it is out of bounds.
        """
        return None if "expected_file" not in self._given else self._file("expected_file")

    @property
    def expected_file_name(self) -> str:
        """The file that holds the expected value, as a person would name it."""
        return self._file_name("expected_file") if "expected_file" in self._given else self._document.name

    @property
    def name_of_file(self) -> str:
        """The YAML file, as a person would name it."""
        return self._document.name

    @property
    def expected_trail(self) -> Trail:
        """Where the expected value stands in the file that holds it."""
        return () if "expected_file" in self._given else (*self._where, "expected")

    def position(self, *keys: str | int) -> Position:
        """Return where a key of the case stands, or a value inside it: `case.position("expected", "total")`.

        A key that the case takes over from its file stands beside `cases`; for one that stands nowhere it is
        the place of the case.
        """
        where = self._where
        if where and keys and keys[0] not in self._own():
            where = () if keys[0] in self._document.value else where
        return self._document.position((*where, *keys))

    def error(self, reason: str, *keys: str | int) -> GoldenFileError:
        """Return the error that says `reason` about a key of the case, or about the case."""
        line, column = self.position(*keys)
        return GoldenFileError(self._document.name, line, column, reason)

    def gives(self, key: str) -> bool:
        """Tell whether the case has a key, its own or its file's."""
        return key in self._given

    def given(self, key: str) -> JsonValue:
        """Return what is written at a key of the case, its own or its file's; None if nothing is."""
        return to_json_value(self._given.get(key))

    def expected_position(self, trail: Sequence[Any]) -> Position:
        """Return where an entry of the expected value begins in the YAML file, or the nearest around it."""
        if "expected_file" in self._given:
            return self.position("expected_file")
        return self.position("expected", *trail)

    def locate_expected(self, trail: Sequence[Any]) -> str:
        """Return the "file:line" of an entry of the expected value, in the file that holds it."""
        if "expected_file" not in self._given:
            return f"{self._document.name}:{self.position('expected', *trail).line}"
        name = self._file_name("expected_file")
        try:
            # JSON is YAML, nearly always: good enough to find a line in it.
            data = self._read("expected_file")
            return f"{name}:{load(data, name, limit=self._document.bounds.size).position(trail).line}"
        except GoldenFileError:
            return name

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The case's own marks; those of its file hold as well."""
        own = self._own()
        return tuple(_marks(own["marks"], (*self._where, "marks"))) if "marks" in own else ()

    def _own(self) -> Mapping[str, Any]:
        value = self._document.value
        for step in self._where:
            value = value[step]
        own: Mapping[str, Any] = value
        return own

    def _suffix(self, key: str) -> str:
        name: str = self._given[key]
        return os.path.splitext(name)[1].lower()  # noqa: PTH122 - a name in a document, not yet a path

    def _file_name(self, key: str) -> str:
        folder = os.path.dirname(self._document.name)  # noqa: PTH120 - a display name, "/" everywhere
        return os.path.normpath(os.path.join(folder, self._given[key])).replace("\\", "/")  # noqa: PTH118

    def _file(self, key: str) -> Path:
        """Return the path of a file that the case names, if it is within bounds."""
        path = Path(self.path.parent, self._given[key])
        bounds = self._document.bounds
        if bounds.folders is None:
            return path
        real = bounds.outside(str(path), str(self.path.parent))
        if real is None:
            return path
        leads = "lies" if real == os.path.abspath(path) else f"leads to {real},"  # noqa: PTH100 - no links followed
        raise self.error(
            f"`{key}` {self._given[key]!r} {leads} outside of {bounds.folders[0]}, pytest's rootdir; "
            "move the file into it, or name its folder in the ini option jsonmatch_allowed_paths",
            key,
        )

    def _read(self, key: str) -> bytes:
        path = self._file(key)
        is_yaml = self._suffix(key) in _YAML_SUFFIXES
        try:
            return self._document.bounds.read(path) if is_yaml else path.read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            message = f"{key} {self._file_name(key)!r} can't be read: {reason.lower()}"
            raise self.error(f"{message}; the path is relative to the YAML file", key) from None

    def _data(self, key: str) -> JsonValue:
        """Return the value that a JSON or YAML file holds."""
        data, name = self._read(key), self._file_name(key)
        if self._suffix(key) in _YAML_SUFFIXES:
            try:
                return load(data, name, limit=self._document.bounds.size).value
            except GoldenFileError as error:
                raise self.error(f"{key} is not valid: {error}", key) from None
        from pytest_jsonmatch.reading.strict import parse_json

        try:
            return parse_json(_text(data))
        except JsonParseError as error:
            message = f"{name}:{error.line}:{error.column}: {error.reason}"
            raise self.error(f"{key} is not JSON: {message}", key) from None
        except UnicodeDecodeError as error:
            raise self.error(f"{key} {name!r} is not UTF-8 text: {error}", key) from None


def _text(data: bytes) -> str:
    return data.decode("utf-8").removeprefix("\ufeff")


def default_actual(case: GoldenCase, ask: Callable[[GoldenCase], object] | None = None) -> object:
    """Return what a case is compared with: its recorded answer, else its producer's, else what `ask` says.

    Args:
        case: the case.
        ask: asked last; None as its answer means that it has none.

    Raises:
        AssertionError: there is no answer, or a file or producer that the case names can't be had. It is
            raised from the line of the YAML file that it is about. What a producer raises passes through.
    """
    __tracebackhide__ = True
    try:
        return _answer(case, ask)
    except GoldenFileError as error:
        cause = error.__cause__
        fail = raiser(
            str(error), path=str(case.path), line=error.line, first=case.line, name=case.id, cause=cause
        )
    return fail()


def _answer(case: GoldenCase, ask: Callable[[GoldenCase], object] | None) -> object:
    __tracebackhide__ = True
    if case.has_actual:
        return case.actual
    if case.producer is not None:
        from pytest_jsonmatch.golden.producers import produce

        return produce(case)
    answer = None if ask is None else ask(case)
    if answer is None:
        raise case.error(
            f"the case {case.id!r} has nothing to compare: give it `actual`, `actual_file` or `producer`, "
            "override the fixture jsonmatch_actual, or implement the hook pytest_jsonmatch_actual"
        )
    return answer


# -- what a file may say -----------------------------------------------------------------------------------

_YAML_SUFFIXES: Final = frozenset({".yaml", ".yml"})
_DATA_SUFFIXES: Final = _YAML_SUFFIXES | {".json"}

_ID: Final = re.compile(r"[\w.@+-]+")
# Names that pytest gives a meaning of its own when it finds them in a module.
XUNIT_NAMES: Final = frozenset(
    f"{when}{what}"
    for when in ("setup", "teardown")
    for what in ("", "_module", "_function", "_class", "_method")
) | {"setUpModule", "tearDownModule"}
_PRODUCER: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_MARK_NAME: Final = re.compile(r"[^\W\d]\w*")
FIGURES: Final = ("score", "precision", "recall", "f1")
_DEFAULT_OPTIONS: Final = Options()


def _is(kind: str) -> Check:
    """Return the check that a value is of a JSON type."""

    def check(value: JsonValue) -> Problem | None:
        found = json_type(value)
        if found == kind:
            return None
        hint = ""
        if kind == "string":
            hint = "; put it in quotes" if found in {"number", "boolean"} else "; it has to be a string"
        return Problem(f"is {_article(found)}, not {_article(kind)}{hint}")

    return check


def _article(kind: str) -> str:
    return kind if kind == "null" else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


_is_string: Final = _is("string")
_is_object: Final = _is("object")


def _check_id(value: JsonValue) -> Problem | None:
    if type(value) is not str:
        return _is_string(value)
    reason = _bad_id(value)
    return Problem(reason) if reason else None


def _bad_id(value: str) -> str | None:
    if _ID.fullmatch(value) is None:
        return f"{value!r} can't name a test: use letters, digits and _ . @ + -, and put prose into `title`"
    if value in XUNIT_NAMES or value.startswith("pytest_") or value == "pytestmark":
        return f"{value!r} is a name that pytest keeps for itself; choose another"
    if value.startswith("__"):
        return f"{value!r} begins with two underscores, as Python's own names do; choose another"
    return None


def _check_file(value: JsonValue) -> Problem | None:
    return Problem("is empty; give a path, relative to this file") if value == "" else _is_string(value)


def _check_expected_file(value: JsonValue) -> Problem | None:
    problem = _check_file(value)
    if problem is None and not value.lower().endswith((".json", ".yaml", ".yml")):
        return Problem(f"{value!r} has to be a .json, .yaml or .yml file")
    return problem


def _check_metric(value: JsonValue) -> Problem | None:
    return Problem("is empty; name a metric") if value == "" else _is_string(value)


def _check_limit(value: JsonValue) -> Problem | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return None
    return Problem("has to be a number from 0 to 1")


def _check_repeat(value: JsonValue) -> Problem | None:
    if type(value) in {int, float} and 1 <= value <= MAX_REPEATS and value == int(value):
        return None
    return Problem(f"has to be a whole number from 1 to {MAX_REPEATS:,}")


def _check_threshold(value: JsonValue) -> Problem | None:
    if type(value) is not dict:
        if _check_limit(value) is None:
            return None
        return Problem(f"has to be a number from 0 to 1, or a mapping of {', '.join(FIGURES)} and fields")
    for name, limit in value.items():
        if name == "fields":
            if type(limit) is not dict:
                return Problem("`fields` has to map path patterns to numbers from 0 to 1", (name,))
            for pattern, below in limit.items():
                at = (name, pattern)
                problem = _check_pattern(pattern, at) or _inside(_check_limit(below), *at)
                if problem is not None:
                    return problem
        elif name not in FIGURES:
            hint = did_you_mean(name, (*FIGURES, "fields"))
            return Problem(f"has no figure {name!r}{hint}", (name,))
        elif (problem := _check_limit(limit)) is not None:
            return _inside(problem, name)
    return None


def _check_pattern(pattern: str, at: Trail) -> Problem | None:
    try:
        parse_pattern(pattern)
    except ConfigurationError as error:
        return Problem(f": {error}", at)
    return None


def _inside(problem: Problem | None, *at: str | int) -> Problem | None:
    return None if problem is None else Problem(problem.reason, (*at, *problem.at))


def _check_schema(value: JsonValue) -> Problem | None:
    if type(value) is dict:
        return None
    if type(value) is not str:
        return Problem("is neither the path of a JSON file nor a schema")
    return _check_file(value)


def _check_options(value: JsonValue) -> Problem | None:
    if type(value) is not dict:
        return _is_object(value)
    for name, option in value.items():
        if name == "fields":
            return Problem("hold no `fields`; they stand beside `options`", (name,))
        if name in {"metric", "threshold", "schema"}:
            return Problem(f"hold no `{name}`; it stands beside `options`", (name,))
        if name == "repair":
            if type(option) is not bool:
                return Problem("`repair` has to be true or false", (name,))
            continue
        try:
            merge_options(_DEFAULT_OPTIONS, {name: option})
        except ConfigurationError as error:
            return Problem(f": {error}", (name,))
    return None


def _check_fields(value: JsonValue) -> Problem | None:
    if type(value) is not dict:
        return _is_object(value)
    for pattern, rule in value.items():
        try:
            merge_options(_DEFAULT_OPTIONS, {"fields": {pattern: rule}})
        except ConfigurationError as error:
            return Problem(f": {error}", (pattern,))
        if (problem := _check_pattern(pattern, (pattern,))) is not None:
            return problem
    return None


def _check_triage(value: JsonValue) -> Problem | None:
    return None if type(value) is bool else Problem("has to be true or false")


def _check_producer(value: JsonValue) -> Problem | None:
    if type(value) is not str or _PRODUCER.fullmatch(value) is None:
        return Problem('has to be "module:function", such as "myproject.extract:receipt"')
    return None


def _check_parametrize(value: JsonValue) -> Problem | None:
    for reason, at in bad_rows(value):
        return Problem(reason if not at else f": {reason}", at)
    for number, row in enumerate(value if type(value) is list else ()):
        if "id" in row and (
            reason_of_id := _bad_id(row["id"]) if type(row["id"]) is str else "an id is text"
        ):
            return Problem(f": {reason_of_id}", (number, "id"))
    return None


def _check_marks(value: JsonValue) -> Problem | None:
    if type(value) is not list:
        return Problem("has to be a list, such as [slow] or [{skip: the reason}]")
    for index, entry in enumerate(value):
        reason = _bad_mark(entry)
        if reason is not None:
            return Problem(f": {reason}", (index,))
    return None


def _bad_mark(entry: JsonValue) -> str | None:
    if type(entry) is dict and len(entry) == 1:
        ((name, value),) = entry.items()
    elif type(entry) is str:
        name, value = entry, None
    else:
        return "a mark is a name, or a mapping of one name to its arguments"
    if _MARK_NAME.fullmatch(name) is None:
        return f"{name!r} can't be the name of a mark; list marks one by one, arguments as {{name: argument}}"
    if name in NO_MARKS:
        return f"`{name}` {NO_MARKS[name]}"
    if name == "usefixtures":
        names = value if type(value) is list else [value]
        if not names or not all(type(each) is str and each for each in names):
            return "`usefixtures` takes names of fixtures: {usefixtures: [db]}"
    if name == "skipif":
        return bad_condition(value)
    known = MARK_KEYWORDS.get(name)
    if known is not None and value is not None:
        if type(value) is str:
            return None
        if type(value) is not dict:
            return f"`{name}` takes a reason: {{{name}: the reason}}"
        for word, argument in value.items():
            if word not in known:
                return f"`{name}` has no argument {word!r} here{did_you_mean(word, known)}"
            if type(argument) is not known[word]:
                kind = "true or false" if known[word] is bool else "a string"
                return f"`{word}` of `{name}` has to be {kind}"
    return None


MARK_KEYWORDS: Final[Mapping[str, Mapping[str, type]]] = {
    "skip": {"reason": str},
    "xfail": {"reason": str, "strict": bool, "run": bool},
}
NO_MARKS: Final[Mapping[str, str]] = {
    "parametrize": "is a key of its own, beside `marks`",
}


def _marks(entries: Sequence[JsonValue], at: Trail) -> Iterator[Mark]:
    """Yield the marks of a checked list."""
    for index, entry in enumerate(entries):
        name, value = (entry, None) if type(entry) is str else next(iter(entry.items()))
        place = (*at, index)
        if value is None:
            yield Mark(name, at=place)
        elif name == "skipif":
            holds, reason = condition(value)
            yield Mark(name, args=(holds,), kwargs={"reason": reason}, at=place)
        elif type(value) is dict:
            yield Mark(name, kwargs=to_json_value(value), at=place)
        elif type(value) is str and name in MARK_KEYWORDS:
            yield Mark(name, kwargs={"reason": value}, at=place)
        else:
            yield Mark(name, args=tuple(to_json_value(value)) if type(value) is list else (value,), at=place)


_TEXT: Final[Mapping[str, Any]] = MappingProxyType({"type": "string"})
_NAME: Final[Mapping[str, Any]] = MappingProxyType({"type": "string", "minLength": 1})
_ANYTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@final
@dataclass(frozen=True, slots=True)
class Key:
    """One key of the format: all that is to be said of it, for the loader and for editors.

    Args:
        check: what is wrong with a value, if anything; None where every value will do.
        form: the same rule as JSON Schema; a name stands for one of `FORMS` in `golden.editor`. A test holds
            the two to each other.
        text: what the key is for, as editors show it.
        file_wide: whether it may stand beside `cases`.
    """

    check: Check | None
    form: Mapping[str, Any] | str
    text: str
    file_wide: bool = False


# A new key is a row here, and a row in docs/golden-keys.md.
KEYS: Final[Mapping[str, Key]] = MappingProxyType(
    {
        "id": Key(
            _check_id, "id", "The name of the test: letters, digits and _ . @ + -, unique in the file."
        ),
        "title": Key(_is_string, _TEXT, "What the case is about, in prose.", file_wide=True),
        "input": Key(
            None, _ANYTHING, "What to ask: any value. The producer is called with it.", file_wide=True
        ),
        "input_file": Key(
            _check_file,
            _NAME,
            "A file with the input, relative to this one: the value of a .json, .yaml or .yml file, "
            "the text of any other.",
            file_wide=True,
        ),
        "actual": Key(
            None,
            _ANYTHING,
            "A recorded answer. A value is compared as it is; a string is a model's output, "
            "in which JSON is looked for.",
        ),
        "actual_file": Key(
            _check_file,
            _NAME,
            "A file with a recorded answer, relative to this one: a model's output; "
            "a .yaml or .yml file is taken for a value.",
        ),
        "expected": Key(None, _ANYTHING, "What the answer should be: any value."),
        "expected_file": Key(
            _check_expected_file,
            "data_file",
            "A .json, .yaml or .yml file with what the answer should be, relative to this one.",
        ),
        "metric": Key(
            _check_metric, "metric", "How to score: a built-in metric, or a registered one.", file_wide=True
        ),
        "threshold": Key(
            _check_threshold,
            "threshold",
            "How well it has to go: a score from 0 to 1, or limits for several figures and fields.",
            file_wide=True,
        ),
        "judge_triage": Key(
            _check_triage,
            MappingProxyType({"type": "boolean"}),
            "true: a judge is asked only what can change whether the case passes.",
            file_wide=True,
        ),
        "options": Key(
            _check_options, "options", "The metric's options, over those of the metric.", file_wide=True
        ),
        "fields": Key(
            _check_fields,
            "fields",
            "Rules for fields, by path pattern: items[].price, **.id, items[].*",
            file_wide=True,
        ),
        "schema": Key(
            _check_schema,
            "schema",
            "An eval schema: the path of a JSON file, relative to this one, or the schema itself.",
            file_wide=True,
        ),
        "producer": Key(
            _check_producer,
            "producer",
            "The function that answers, module:function. It is called with the input.",
            file_wide=True,
        ),
        "repeat": Key(
            _check_repeat,
            MappingProxyType({"type": "integer", "minimum": 1, "maximum": MAX_REPEATS}),
            "How often to run the case: `case@1`, `case@2` and so on, each with an answer of its own.",
            file_wide=True,
        ),
        "min_pass_rate": Key(
            _check_limit,
            MappingProxyType({"type": "number", "minimum": 0, "maximum": 1}),
            "The share of the runs of a repeated case that have to pass. Without it all have to.",
            file_wide=True,
        ),
        "marks": Key(
            _check_marks,
            "marks",
            "pytest marks: a list of names, or of {name: arguments}.",
            file_wide=True,
        ),
        "parametrize": Key(
            _check_parametrize,
            "parametrize",
            "Parameters: names with lists of values, or rows. The case stands for several, "
            "which fill its places ${name}.",
        ),
    }
)
"""The keys of the format, in the order in which people write them."""
CASE_KEYS: Final = frozenset(KEYS)
FILE_KEYS: Final = frozenset(name for name, key in KEYS.items() if key.file_wide) | {"cases"}
_CHECKS: Final = {name: key.check for name, key in KEYS.items() if key.check is not None}
NOT_FILLED: Final = frozenset({"id", "parametrize", "marks"})
"""What `${name}` is plain text in."""
PAIRS: Final = ("input", "actual", "expected")
"""Each of these is given as a value, or as a file: `input` or `input_file`, never both."""
_MAX_ERRORS: Final = 10
_UNBOUNDED: Final = Bounds()


@final
@dataclass(frozen=True, slots=True)
class GoldenCases:
    """The cases of one file by id, in their order, and the marks that hold for all of them."""

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
    bounds: Bounds = _UNBOUNDED,
) -> GoldenCases:
    r"""Read the cases of one YAML file.

    Args:
        data: the file's content.
        path: the file; what its cases name is relative to its folder.
        name: what errors call the file.
        may_lack_expected: whether cases without `expected` are fine, because they are about to get it.
        repeat: how often to run each case, whatever the file says; not those with a recorded answer, but for
            cases that say `repeat` themselves.
        bounds: how large it may be, and where the files may lie that its cases name.

    Raises:
        GoldenFileError: the file is not valid. The error stands at the first thing that is wrong; its message
            lists up to ten.

    >>> from pathlib import Path
    >>> loaded = load_cases(b"cases:\n- {id: a, expected: 1}\n- {expected: 2}\n", Path("x.yaml"), "x.yaml")
    >>> [(case.id, case.line, case.expected) for case in loaded.by_id.values()]
    [('a', 2, 1), ('case-2', 3, 2)]
    """
    document = load(data, name, limit=bounds.size)
    document.bounds = bounds
    return _Reader(document, path, may_lack_expected=may_lack_expected, repeat=repeat).read()


@final
class _Reader:
    """One reading of one document: collects errors, so that a person sees them at once."""

    def __init__(
        self, document: Document, path: Path, *, may_lack_expected: bool, repeat: int | None
    ) -> None:
        self.document = document
        self.repeat = repeat
        self.may_lack_expected = may_lack_expected
        self.path = path
        self.errors: list[GoldenFileError] = []
        self.written = 0

    def read(self) -> GoldenCases:
        top = self.document.value
        if top is None:
            raise GoldenFileError(self.document.name, 1, 1, EMPTY)
        if type(top) is list:
            raise self.document.error((), "the file is a list; write it below `cases:`")
        if type(top) is not dict:
            raise self.document.error((), f"the file is {_article(json_type(top))}, not a case or `cases:`")
        several = "cases" in top
        cases = self._many(top) if several else self._one(top)
        if self.errors:
            raise self._all_errors()
        marks = tuple(_marks(top.get("marks", ()), ("marks",))) if several else ()
        return GoldenCases(cases, marks, self.document)

    def _all_errors(self) -> GoldenFileError:
        first, *others = sorted(self.errors, key=lambda error: (error.line, error.column))
        if not others:
            return first
        lines = [first.reason, *map(str, others[: _MAX_ERRORS - 1])]
        if len(others) >= _MAX_ERRORS:
            lines.append(f"and {len(others) - _MAX_ERRORS + 1} more")
        return GoldenFileError(first.name, first.line, first.column, "\n".join(lines))

    def _report(self, at: Trail, reason: str) -> None:
        self.errors.append(self.document.error(at, reason))

    def _one(self, top: dict[str, Any]) -> dict[str, GoldenCase]:
        case_id = top["id"] if "id" in top else _id_of_file(self.path)
        line = self.document.position().line
        cases: dict[str, GoldenCase] = {}
        self._add(cases, case_id, line, top, (), also=("cases",))
        return cases

    def _many(self, top: dict[str, Any]) -> dict[str, GoldenCase]:
        self._check(top, (), FILE_KEYS)
        listed = top["cases"]
        if type(listed) is not list:
            reason = f"`cases` is {_article(json_type(listed))}, not a list of cases"
            raise self.document.error(("cases",), reason)
        if not listed:
            raise self.document.error(("cases",), "`cases` is empty; a file without cases tests nothing")
        defaults = {key: value for key, value in top.items() if key not in {"cases", "title", "marks"}}
        positions = self.document.item_positions("cases")
        cases: dict[str, GoldenCase] = {}
        for index, (case, position) in enumerate(zip(listed, positions)):
            where = ("cases", index)
            if type(case) is not dict:
                self._report(where, f"the case is {_article(json_type(case))}, not a mapping")
                continue
            case_id = case["id"] if "id" in case else f"case-{index + 1}"
            self._add(cases, case_id, position.line, case, where, defaults=defaults)
        return cases

    def _add(
        self,
        cases: dict[str, GoldenCase],
        case_id: Any,
        line: int,
        case: dict[str, Any],
        where: Trail,
        *,
        defaults: dict[str, Any] | None = None,
        also: Sequence[str] = (),
    ) -> None:
        """Add a case, or those that it stands for."""
        if "parametrize" not in case:
            self._check(case, where, CASE_KEYS, also)
            if type(case_id) is str:
                given = _over(defaults, case) if defaults else case
                runs = 1 if self.repeat is None and "repeat" not in given else self._runs(case, given)
                for run in range(1, runs + 1):
                    name = case_id if runs == 1 else f"{case_id}@{run}"
                    if name in cases:
                        self._taken(name, where, cases[name].line, given="id" in case)
                    cases[name] = GoldenCase(
                        name, self.path, line, given, self.document, where, run=run, runs=runs
                    )
            return
        before = len(self.errors)
        fixed = {key: value for key, value in case.items() if key in NOT_FILLED}
        open_keys = {key: value for key, value in case.items() if key not in NOT_FILLED}
        self._check(fixed, where, CASE_KEYS, also, whole=False)
        if len(self.errors) > before or type(case_id) is not str:
            return
        for suffix, values in expansions(case["parametrize"]):
            own = self._filled(open_keys, values, where)
            self._check({**fixed, **own}, where, CASE_KEYS, also)
            given = {**fixed, **own}
            if defaults:
                given = _over(self._filled(defaults, values, ()), given)
            self._count_written(given, where)
            runs = self._runs(own, given)
            for run in range(1, runs + 1):
                name = f"{case_id}-{suffix}" + ("" if runs == 1 else f"@{run}")
                if name in cases:
                    self._taken(name, where, cases[name].line, given=True)
                cases[name] = GoldenCase(
                    name, self.path, line, given, self.document, where, values, run, runs
                )
            if len(self.errors) > before:
                return

    def _filled(self, given: Mapping[str, Any], values: Mapping[str, Any], where: Trail) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in given.items():
            found[key] = filled(value, values, self._report, (*where, key))
        return found

    def _runs(self, own: Mapping[str, Any], given: Mapping[str, Any]) -> int:
        """Return how often a case runs: a recorded answer is the same each time, unless the case asks."""
        if "repeat" not in own and ("actual" in given or "actual_file" in given):
            return 1
        runs = given.get("repeat", 1) if self.repeat is None else self.repeat
        return 1 if _check_repeat(runs) else int(runs)

    def _count_written(self, given: Mapping[str, Any], where: Trail) -> None:
        """Count what rows of parameters come to; it is to be no more than a file may say by itself."""
        self.written += written_size(given)
        limit = self.document.bounds.size
        if self.written > limit:
            raise self.document.error(
                (*where, "parametrize"),
                f"written out, the cases of `parametrize` come to more than {size_text(limit)}; "
                "make fewer of them, or raise the ini option jsonmatch_yaml_limit",
            )

    def _taken(self, case_id: str, where: Trail, first: int, *, given: bool) -> None:
        what = f"the id {case_id!r}"
        if not given:
            what += ", which a case without one gets by its place,"
        self._report((*where, "id"), f"{what} is already taken by the case at line {first}; choose another")

    def _check(
        self,
        given: dict[str, Any],
        where: Trail,
        keys: frozenset[str],
        also: Sequence[str] = (),
        *,
        whole: bool = True,
    ) -> None:
        """Report what is wrong with one mapping of the format: a case or a part of it, or defaults."""
        before = len(self.errors)
        for key, value in given.items():
            if key not in keys:
                self._unknown(key, where, (*keys, *also))
            elif (check := _CHECKS.get(key)) is not None and (problem := check(value)) is not None:
                subject = f"`{key}`" if problem.reason.startswith(":") else f"`{key}` "
                self._report((*where, key, *problem.at), subject + problem.reason)
        for pair in PAIRS:
            if pair in given and f"{pair}_file" in given:
                self._report((*where, f"{pair}_file"), f"both `{pair}` and `{pair}_file`; keep one")
        wants_expected = (
            whole and "cases" not in keys and "expected" not in given and "expected_file" not in given
        )
        if wants_expected and not self.may_lack_expected and len(self.errors) == before:
            several = "" if where else "; a file of several cases lists them below `cases:`"
            self._report(where, f"the case has no `expected` and no `expected_file`{several}")

    def _unknown(self, key: str, where: Trail, keys: Sequence[str]) -> None:
        if key in CASE_KEYS:
            reason = f"`{key}` belongs to a case and can't stand beside `cases`"
        elif key == "cases":
            reason = "`cases` can't stand inside a case"
        else:
            reason = f"unknown key {key!r}{did_you_mean(key, keys)}"
        self._report((*where, key), reason)


def _over(defaults: Mapping[str, Any], case: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case with its file's defaults: `options` and `fields` key by key, all else as a whole."""
    merged = dict(defaults)
    if "input" in case or "input_file" in case:
        merged.pop("input", None)
        merged.pop("input_file", None)
    merged.update(case)
    for key in ("options", "fields"):
        if key in defaults and key in case and type(defaults[key]) is type(case[key]) is dict:
            # The case's own come last: of two patterns that fit equally well, the last one holds.
            inherited = {name: value for name, value in defaults[key].items() if name not in case[key]}
            merged[key] = {**inherited, **case[key]}
    return merged


def _id_of_file(path: Path) -> str:
    """Return a file's name as the id of its one case: `Blue Café (1).golden.yaml` gives `Blue-Café-1`."""
    stem = re.sub(r"(\.golden)?\.(yaml|yml)$", "", path.name, flags=re.IGNORECASE)
    case_id = re.sub(r"[^\w.@+-]+", "-", stem).strip("-.")
    return case_id if case_id and _bad_id(case_id) is None else f"case-{case_id.strip('_')}".rstrip("-")
