"""Golden files for pytest: each is a module whose test functions are its cases."""

from __future__ import annotations

import inspect
import linecache
import os
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final, NoReturn, final

import pytest

from pytest_jsonmatch.comparing.raising import raise_at
from pytest_jsonmatch.comparing.running import Repetition, plain_nodeid
from pytest_jsonmatch.engine.score.field import get_expected_keys
from pytest_jsonmatch.engine.value.convert import MISSING
from pytest_jsonmatch.engine.value.errors import (
    ComparatorError,
    ConfigurationError,
    GoldValidationError,
    InvalidExpectedError,
    JsonExtractionError,
    JsonMatchError,
    RootTypeError,
    TargetPathError,
    UnlistedFieldError,
)
from pytest_jsonmatch.golden.cases import ExpectedLocation, GoldenCase
from pytest_jsonmatch.golden.loader import load_cases
from pytest_jsonmatch.golden.producers import find_producer
from pytest_jsonmatch.reading.datafiles import display_name, read_limited, relative
from pytest_jsonmatch.reading.errors import GoldenFileError
from pytest_jsonmatch.results.answer import unwrap_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from types import CodeType

    from pytest_jsonmatch.comparing.comparer import Comparer
    from pytest_jsonmatch.comparing.running import WrittenRule
    from pytest_jsonmatch.engine.result.match import MatchResult
    from pytest_jsonmatch.engine.score.field import FieldResult
    from pytest_jsonmatch.golden.loader import GoldenCases
    from pytest_jsonmatch.golden.marks import Mark
    from pytest_jsonmatch.golden.outputs import Outputs
    from pytest_jsonmatch.golden.update import CaseUpdater
    from pytest_jsonmatch.reading.errors import Position
    from pytest_jsonmatch.reading.yamlevents import Document

FILE_ERROR: Final = "(file error)"
"""The name of the one test of a file that is not valid."""

# A global of each file's module, under a name that no case can have.
_RUN: Final = "__jsonmatch_run__"
_FIXTURES: Final = ("jsonmatch_case", "jsonmatch_actual")


@final
@dataclass(frozen=True, slots=True)
class CaseRules:
    """The rules by which the golden cases of a pytest run are run.

    Args:
        check: compares the expected value of a case with the answer; returns the result and, if the case
            fails, the error and the field that the error is about. Its arguments are the case, the answer, a
            function that returns the location of a field, and the patterns of the case. It raises
            JsonMatchError if the two values can't be compared.
        comparer_of: returns the comparer of a case; raises JsonMatchError if the configuration is not valid.
        folders: real paths of the folders in which cases may name files; None for no limit.
        repeat: how often each case without a recorded answer runs; None for the number in its file.
        updater: writes answers as expected values.
        keep: saves each answer; gets a function that returns the digest of the input.
        outputs: saved answers, used instead of new ones.
        has_only_gates: whether only gates decide, so that a case passes whatever its score.
        has_own_fixtures: returns whether the fixtures of cases are not overridden, and no option shows their
            setup: then answers in the file bypass the fixtures.
    """

    check: Callable[
        [GoldenCase, object, Callable[[FieldResult], str | None], Sequence[WrittenRule]],
        tuple[MatchResult, Exception | None, FieldResult | None],
    ]
    comparer_of: Callable[[GoldenCase], Comparer]
    folders: tuple[str, ...] | None
    repeat: int | None = None
    updater: CaseUpdater | None = None
    keep: Callable[[GoldenCase, object, Callable[[], str | None]], None] | None = None
    outputs: Outputs | None = None
    has_only_gates: bool = False
    has_own_fixtures: Callable[[], bool] = lambda: True


def collect_file(file_path: Path, parent: pytest.Collector, rules: CaseRules) -> GoldenFile:
    """Return the collector of a golden file."""
    collector: GoldenFile = GoldenFile.from_parent(parent, path=file_path)
    collector.rules = rules
    return collector


def case_of(request: pytest.FixtureRequest) -> GoldenCase:
    """Return the running golden case: the value of the fixture `jsonmatch_case`."""
    file = request.node.getparent(GoldenFile)
    if file is None:
        pytest.fail(
            "jsonmatch_case and jsonmatch_actual belong to golden YAML cases; "
            f"{request.node.nodeid} is not one and can't use them",
            pytrace=False,
        )
    case: GoldenCase = file.cases[request.node.originalname]
    return case


def check_override(fixture: pytest.FixtureDef[object], request: pytest.FixtureRequest) -> None:
    """Raise an error for a fixture `jsonmatch_actual` that would answer a case instead of its producer."""
    __tracebackhide__ = True
    file, code = request.node.getparent(GoldenFile), getattr(fixture.func, "__code__", None)
    # A fixture that requests the one it overrides gets the producer's answer.
    if file is None or code is None or "jsonmatch_actual" in {*fixture.argnames, *code.co_consts}:
        return
    case = file.cases[request.node.originalname]
    if case.producer is None or case.has_actual:
        return
    place = display_name(Path(code.co_filename), request.config.invocation_params.dir)
    reason = (
        f"the producer {case.producer!r} would never be called: the fixture jsonmatch_actual at "
        f"{place}:{code.co_firstlineno} answers instead; remove one of the two, or give the fixture "
        "the argument jsonmatch_actual, which is the producer's answer"
    )
    try:
        _fail(case, case.error(reason, "producer"))
    except AssertionError as error:
        # pytest does this if the fixture itself raises; without it, pytest would not finish the fixture.
        fixture.cached_result = (None, request, (error, None))
        raise


def _is_left_out(item: pytest.Item) -> bool:
    """Return whether marks of a test take precedence over errors in its case."""
    return any(item.get_closest_marker(name) for name in ("skip", "skipif", "xfail"))


@final
class GoldenFile(pytest.Module):
    """A golden file as a test module.

    pytest makes its own Function items from it, so fixtures, marks, -k, --lf, xdist and editors treat the
    cases like tests written in Python.
    """

    compares: Final = True
    """Whether each test of the file is meant to compare; read from the parent of an item."""
    rules: CaseRules
    cases: Mapping[str, GoldenCase]
    _module: ModuleType | None = None
    _error: GoldenFileError | None = None
    """The error of the file, if it is not valid."""
    _names: dict[str, Any]
    """The namespace of the module."""
    _faults: dict[str, JsonMatchError]
    """The errors of tests that are known before the first one runs, by name."""
    _digests: dict[str, str | None]
    """The digests of inputs that were computed so far, by case."""
    _reported: dict[str, str]
    """The first case with each error that was reported so far, by message."""

    def _getobj(self) -> ModuleType:
        # A private name of pytest, but its docstring says that subclasses may override it. With
        # `collect_imported_tests = false` pytest calls it for each name of the module; we read the file once.
        if self._module is None:
            self._module = ModuleType(self.nodeid, f"The golden cases of {self.path.name}.")
            self._module.__file__ = str(self.path)
            self._names = vars(self._module)
            self._names[_RUN] = self._run
            try:
                self.cases = self._load(self._module)
            except GoldenFileError as error:
                self._refuse(error)
        return self._module

    def istestfunction(self, obj: object, name: str) -> bool:  # noqa: ARG002 - pytest's signature
        """Return whether a name is that of a case: nothing else in the module is a test."""
        return self.funcnamefilter(name)

    def funcnamefilter(self, name: str) -> bool:
        """Return whether a name is that of a case; `python_functions` does not apply to cases."""
        return name in self.cases or name == FILE_ERROR

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Return the items, each with the location that pytest would otherwise look up on disk."""
        self._faults, self._reported, self._digests = {}, {}, {}
        items = list(super().collect())
        path = relative(self.path, self.config.rootpath)
        for item in items:
            if isinstance(item, pytest.Function):
                # In pytest's form: a path relative to rootdir, the line from 0, the name. Under -v
                # pytest mistakes dots in a name that ends the node id for separators of classes.
                shown = f"{item.name} " if "." in item.name else item.name
                item.location = (path, item.function.__code__.co_firstlineno - 1, shown)
        return items

    def is_valid(self, item: pytest.Function) -> bool:
        """Check a case as far as possible before any answer is produced; `refuse` raises the error."""
        case = self.cases.get(item.originalname)
        if case is None or _is_left_out(item):
            return self._error is None
        updater = self.rules.updater
        try:
            if (fault := case.fault) is not None:
                raise fault
            plan = self.rules.comparer_of(case).plan
            case.check_files(may_lack_expected=updater is not None and updater.writes_new)
            case.check_matchers(plan)
            if case.producer is not None and not case.has_actual and self.needs_answer(item):
                find_producer(case)
        except JsonMatchError as error:
            self._faults[item.name] = error
        return item.name not in self._faults

    def needs_answer(self, item: pytest.Item) -> bool:
        """Return whether a case gets a new answer, not a saved one."""
        outputs, case = self.rules.outputs, golden_case_of(item)
        if outputs is None or case is None:
            return True
        return outputs.adds_missing and not outputs.has(plain_nodeid(item), partial(self.digest, case))

    def digest(self, case: GoldenCase) -> str | None:
        """Return the digest of the input of a case, computed once."""
        from pytest_jsonmatch.golden.outputs import digest_input

        if case.base_id not in self._digests:
            self._digests[case.base_id] = digest_input(case)
        return self._digests[case.base_id]

    def find_produced(self, item: pytest.Item) -> object:
        """Return the saved answer of a producer that fixtures have not received yet; MISSING without one."""
        outputs, case = self.rules.outputs, golden_case_of(item)
        if outputs is None or case is None:
            return MISSING
        return outputs.find_produced(plain_nodeid(item), partial(self.digest, case))

    def is_known_valid(self, item: pytest.Item) -> bool:
        """Return whether `is_valid` has found no error in a test."""
        return item.name not in self._faults

    def refuse(self, item: pytest.Function) -> None:
        """Raise the error of the file, or the one that `is_valid` has found, from its line."""
        __tracebackhide__ = True
        if self._error is not None:
            raise_at(str(self._error), path=str(self.path), position=self._error.position, name=FILE_ERROR)
        if item.name in self._faults and not _is_left_out(item):
            _fail(self.cases[item.originalname], self._faults[item.name], reported=self._reported)

    def replay(self, item: pytest.Function) -> None:
        """Use the saved answer of a case, if answers are replayed; fixtures that produce one are not set up.

        Raises:
            AssertionError: there is no saved answer. It is raised from the line of the case.
        """
        __tracebackhide__ = True
        outputs, case = self.rules.outputs, self.cases.get(item.originalname)
        if case is not None and case.row is not None and case.row.unanswered:
            case.fail(case.row.unanswered)
        if outputs is None or case is None:
            return
        try:
            if self.needs_answer(item):
                return
            actual = outputs.find(plain_nodeid(item), partial(self.digest, case))
        except GoldenFileError as error:  # the input can't be read
            _fail(case, error)
        except LookupError as error:
            name = display_name(outputs.path, self.config.invocation_params.dir)
            reason = f"{error}; to produce and add it, use --jsonmatch-replay={name},missing"
            more = f" (this is repeat {case.run} of {case.runs})" if case.runs > 1 else ""
            case.fail(f"{reason}{more}")
        # Fixtures of marks and `autouse` are set up as usual. Those that already have a value are not.
        needed = self._fixtures_without_answer(item)
        item.funcargs.update((name, None) for name in item.fixturenames if name not in needed)
        item.funcargs["jsonmatch_actual"] = actual

    def _fixtures_without_answer(self, item: pytest.Function) -> Collection[str]:
        """Return the fixtures that pytest finds for a case, except those that only its answer needs."""
        function = FunctionType(_run_case.__code__, self._names)
        vars(function).update(vars(item.function), __signature__=_WITHOUT_ANSWER)  # with its marks
        items = self.ihook.pytest_pycollect_makeitem(collector=self, name=item.originalname, obj=function)
        return next(created.fixturenames for created in items)

    def _load(self, module: ModuleType) -> Mapping[str, GoldenCase]:
        """Return the cases of the file, and add the function of each to the module, where pytest finds it."""
        name, updater = display_name(self.path, self.config.invocation_params.dir), self.rules.updater
        try:
            data = read_limited(self.path)
        except OSError as error:
            raise GoldenFileError(name, 1, 1, f"the file can't be read: {error.strerror}") from None
        loaded = load_cases(
            data,
            self.path,
            name,
            may_lack_expected=updater is not None and updater.writes_new,
            repeat=self.rules.repeat,
            folders=self.rules.folders,
        )
        if updater is not None:
            updater.note_file(self.path, data)
        functions = dict(self._functions(loaded))
        _add_marks(module, loaded.marks, loaded.document, self.path)
        self._names.update(functions)
        return loaded.by_id

    def _functions(self, loaded: GoldenCases) -> Iterator[tuple[str, FunctionType]]:
        """Yield the function of each case, by its name."""
        last = max(case.golden_line for case in loaded.by_id.values())
        asking_code, recorded_code = (
            _code_at_line(function_of.__code__, self.path, last) for function_of in (_run_case, _run_recorded)
        )
        has_own_fixtures = self.rules.has_own_fixtures()
        for case in loaded.by_id.values():
            is_recorded = has_own_fixtures and case.row is None and case.has_key("actual")
            code = recorded_code if is_recorded else asking_code
            code = code.replace(co_name=case.id, co_firstlineno=case.golden_line)
            # With the module's namespace as its globals, the function has the module's name, too.
            # pytest ignores arguments that have a default.
            function = FunctionType(code, self._names, None, (case,) if is_recorded else None)
            vars(function)["__signature__"] = _NO_FIXTURES if is_recorded else _BOTH_FIXTURES  # computed once
            _add_marks(function, case.marks, loaded.document, self.path)
            yield case.id, function

    def _refuse(self, error: GoldenFileError) -> None:
        """Replace the cases with one test, which fails with the error of the file."""
        self._error, self.cases = error, {}
        code = _code_at_line(_run_case.__code__, self.path, error.line)
        code = code.replace(co_name=FILE_ERROR, co_firstlineno=error.line)
        self._names[FILE_ERROR] = function = FunctionType(code, self._names)
        vars(function)["__signature__"] = _NO_FIXTURES

    def _run(self, case: GoldenCase, actual: object) -> None:
        """Check a case; raise failures from the YAML line that they are about."""
        __tracebackhide__ = True
        if self.rules.keep is not None:
            self.rules.keep(case, actual, partial(self.digest, case))
        updater = self.rules.updater

        def locate(field: FieldResult) -> str:
            location = _locate_field(case, field).text
            # The message is shown below the name of the case's file; a row is in another file.
            return location if case.row is not None else location.removeprefix(case.name_of_file)

        try:
            if updater is not None and updater.writes_new and not case.has_expected:
                if (note := updater.request_first(case, actual)) is not None:
                    case.fail(note)
                return
            result, failure, field = self.rules.check(case, actual, locate, [*case.rules(str(self.path))])
        except JsonMatchError as error:
            _fail(case, error)
        located = None if field is None else _locate_field(case, field)
        is_recorded = self.rules.has_only_gates and not isinstance(failure, ComparatorError)
        if isinstance(failure, JsonMatchError):
            if not is_recorded:
                _fail(case, failure, None if located is None else located.position)
        elif failure is not None:
            if unwrap_answer(actual) is None and not (case.has_actual or is_recorded):
                producer = case.producer
                subject = f"the producer {producer!r}" if producer else "the fixture jsonmatch_actual"
                case.fail(f"{subject} returned None")
            note = "" if updater is None else updater.request_after_failure(case, actual, result)
            if note is not None and not is_recorded:
                located = located or case.locate_expected()
                message = f"{failure}\n{note}" if note else str(failure)
                case.fail(message, located.position, inner=located.inner)
        elif updater is not None:
            updater.request_after_pass(case, actual, result)


def golden_case_of(item: pytest.Item) -> GoldenCase | None:
    """Return the golden case that a test is, or has as a parameter; None without one."""
    if isinstance(item.parent, GoldenFile):
        return item.parent.cases.get(getattr(item, "originalname", item.name))
    params = getattr(getattr(item, "callspec", None), "params", {})
    return next((value for value in params.values() if type(value) is GoldenCase), None)


def case_to_answer(item: pytest.Item, *, is_fixture: bool) -> GoldenCase | None:
    """Return the golden case of a test that will be answered as soon as it runs; None for other tests.

    With `is_fixture` by the user's fixture `jsonmatch_actual`, otherwise by the producer of the case.
    """
    case, file = golden_case_of(item), item.parent
    if case is None or not isinstance(file, GoldenFile):
        return None
    if (case.producer is None) != is_fixture or (case.has_actual and not is_fixture):
        return None
    may_be_skipped = item.get_closest_marker("skip") or item.get_closest_marker("skipif")
    is_run = all(mark.kwargs.get("run", True) for mark in item.iter_markers("xfail"))
    is_asked = is_run and not may_be_skipped and file.is_known_valid(item) and file.needs_answer(item)
    return case if is_asked and file.find_produced(item) is MISSING else None


def _locate_field(case: GoldenCase, field: FieldResult) -> ExpectedLocation:
    """Return the location of the expected value of a field."""
    return case.locate_expected(get_expected_keys(field))


def repetition_of(item: pytest.Item) -> Repetition | None:
    """Return the repetition of a case that a test is; None if it is not repeated."""
    case, parent = golden_case_of(item), item.parent
    if case is None or parent is None or case.runs == 1:
        return None
    # The node id that the case would have if it ran only once.
    nodeid = f"{parent.nodeid}::{item.name.replace(case.id, case.base_id, 1)}"
    # Under --runxfail no failure is expected: each run is judged separately.
    rate = None if item.config.getoption("runxfail", default=False) else case.min_pass_rate
    return Repetition(nodeid, case.run, case.runs, rate)


# -- the functions that are the tests ----------------------------------------------------------------------


# pytest finds the fixtures of a case by the names of the arguments; all cases have the same body. It runs as
# a copy that belongs to a YAML file, where coverage tools do not see it.
def _run_case(jsonmatch_case: GoldenCase, jsonmatch_actual: object) -> None:  # pragma: no cover - see above
    __tracebackhide__ = True
    __jsonmatch_run__(jsonmatch_case, jsonmatch_actual)  # type: ignore[name-defined]  # noqa: F821 - _RUN


def _run_recorded(case: GoldenCase) -> None:  # pragma: no cover - see above
    __tracebackhide__ = True
    __jsonmatch_run__(case, case.actual)  # type: ignore[name-defined]  # noqa: F821 - _RUN


_BOTH_FIXTURES: Final = inspect.Signature.from_callable(_run_case)
_WITHOUT_ANSWER: Final = _BOTH_FIXTURES.replace(parameters=[_BOTH_FIXTURES.parameters["jsonmatch_case"]])
_NO_FIXTURES: Final = inspect.Signature()


def _code_at_line(code: CodeType, path: Path, lines: int) -> CodeType:
    """Return the code as code of a YAML file with at least this many lines.

    If a fixture is missing, pytest quotes the source of the test. It would parse YAML as Python, and since
    Python 3.12 an apostrophe in it ends the whole run with an internal error. So the code gets an unusual
    spelling of the same path, for which Python's cache of sources has lines that pytest can quote: the
    signature of a case with both fixtures, whatever the code.
    """
    spelling = os.path.join(path.parent, os.curdir, path.name)  # noqa: PTH118 - Path would tidy it up
    quoted = f"def golden_case({', '.join(_FIXTURES)}): ...\n"
    # Without a modification time, an entry is never looked up on disk.
    linecache.cache[spelling] = (len(quoted) * lines, None, [quoted] * lines, spelling)
    return code.replace(co_filename=spelling)


# -- marks -------------------------------------------------------------------------------------------------


def _add_marks(
    target: ModuleType | FunctionType, marks: Iterable[Mark], document: Document, path: Path
) -> None:
    decorators = [mark_decorator(mark, document, path) for mark in marks]
    if decorators:
        # Like `pytestmark = [...]` in a module; decorators keep a function's marks in the same place.
        setattr(target, "pytestmark", decorators)  # noqa: B010 - neither type declares it


def mark_decorator(mark: Mark, document: Document, path: Path) -> pytest.MarkDecorator:
    """Return a mark as pytest's decorator; pytest itself checks whether the mark is registered."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            decorator: pytest.MarkDecorator = getattr(pytest.mark, mark.name)
        except (pytest.fail.Exception, AttributeError) as error:
            raise document.error(mark.steps, f"the mark {mark.name!r}: {error}") from None
    for warning in caught:
        try:
            line = document.position(mark.steps).line
            warnings.warn_explicit(warning.message, warning.category, str(path), line)
        except Warning as error:  # under -W error
            raise document.error(mark.steps, str(error)) from None
    return decorator.with_args(*mark.args, **mark.kwargs) if mark.args or mark.kwargs else decorator


# -- our own errors, at their positions in the YAML --------------------------------------------------------

# The most likely position of an error: the first of these keys that the case has.
_LIKELY_CAUSES: Final[tuple[tuple[type[JsonMatchError], tuple[str, ...]], ...]] = (
    (JsonExtractionError, ("actual", "actual_file")),
    (InvalidExpectedError, ("expected", "expected_file")),
    (UnlistedFieldError, ("actual", "actual_file")),
    (RootTypeError, ("metric", "expected", "expected_file")),
    (TargetPathError, ("options",)),
)


def _fail(
    case: GoldenCase,
    error: JsonMatchError,
    position: Position | None = None,
    reported: dict[str, str] | None = None,
) -> NoReturn:
    """Raise one of our own errors from the line of the case that it is about.

    `reported` has the first case with each error that was reported before, by message.
    """
    __tracebackhide__ = True
    message, inner = str(error), None
    if isinstance(error, GoldenFileError):
        position = error.position
    elif isinstance(error, GoldValidationError):
        position, location, inner = case.locate_expected(error.keys)
        message = f"{location}: {message}"
    elif position is None:
        keys = _find_cause(case, error)
        located = case.error(message, *keys)
        message, position = str(located), located.position
    first = case.id if reported is None else reported.setdefault(message, case.id)
    if first != case.id:
        message = f"{message.partition(': ')[0]}: the same error as in the case {first!r}"
    case.fail(message, position, error.__cause__, inner)


def _find_cause(case: GoldenCase, error: JsonMatchError) -> tuple[str, ...]:
    """Return the keys of the case that caused an error; empty if the cause is unknown."""
    if not isinstance(error, ConfigurationError):
        keys = next((keys for kind, keys in _LIKELY_CAUSES if isinstance(error, kind)), ())
        return next(((key,) for key in keys if case.has_key(key)), ())
    message = str(error)
    if case.metric is not None and message.startswith("unknown metric"):
        return ("metric",)
    for name, value in case.options.items():
        if name not in {"fields", "accept"}:
            if message.startswith(name):
                return (name,) if case.has_key(name) else ("options", name)
        elif found := next(
            (pattern for pattern in value if message.startswith(f"{name}[{pattern!r}]")), None
        ):
            return (name, found)
    return ()
