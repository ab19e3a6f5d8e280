"""Golden files for pytest: each is a module whose test functions are its cases."""

from __future__ import annotations

import itertools
import linecache
import os
import warnings
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, final

import pytest

from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    GoldValidationError,
    InvalidExpectedError,
    JsonExtractionError,
    JsonMatchError,
    RootTypeError,
    TargetPathError,
    UnlistedFieldError,
)
from pytest_jsonmatch.engine.value.paths import parse_path
from pytest_jsonmatch.golden.bounds import Bounds
from pytest_jsonmatch.golden.cases import GoldenCase, load_cases
from pytest_jsonmatch.golden.errors import GoldenFileError
from pytest_jsonmatch.golden.naming import display_name, relative
from pytest_jsonmatch.golden.raising import raiser
from pytest_jsonmatch.golden.yamlevents import paused_collection
from pytest_jsonmatch.session.recorder import Run, parameters
from pytest_jsonmatch.session.session import current_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import CodeType

    from pytest_jsonmatch.engine.result.field import FieldResult
    from pytest_jsonmatch.golden.cases import GoldenCases, Mark
    from pytest_jsonmatch.golden.outputs import Outputs
    from pytest_jsonmatch.golden.update import Updater
    from pytest_jsonmatch.golden.yamlevents import Document
    from pytest_jsonmatch.session.options import Settings
    from pytest_jsonmatch.session.recorder import Recorder

_Collected: TypeAlias = "pytest.Item | pytest.Collector"

__all__ = [
    "FILE_ERROR",
    "GoldenFile",
    "Judge",
    "case_of",
    "collect_file",
    "mark_decorator",
    "prepare",
    "replay",
]

FILE_ERROR: Final = "(file error)"
"""The name of the one test of a file that is not valid."""

# A global of each file's module, under a name that no case can have.
_RUN: Final = "__jsonmatch_run__"
_PLUGIN: Final = "pytest_jsonmatch.plugin"
_FIXTURES: Final = ("jsonmatch_case", "jsonmatch_actual")
# Plugins whose hooks see to tests with a certain mark only, by the module that has the hooks.
_HARMLESS: Final = {"pytest_asyncio.plugin": "asyncio", "anyio.pytest_plugin": "anyio"}


class Judge(Protocol):
    """Compares what a case expects with what came, and raises if that is not good enough."""

    def __call__(
        self, case: GoldenCase, actual: object, *, locate: Callable[[FieldResult], str | None]
    ) -> object:
        """Raise AssertionError or JsonMatchError; ask `locate` for the places of fields, the worst first."""


def collect_file(
    file_path: Path,
    parent: pytest.Collector,
    *,
    settings: Settings,
    judge: Judge,
    updater: Updater | None = None,
) -> GoldenFile:
    """Return the collector of a golden file, whose cases `judge` will judge.

    With an `updater`, what comes is written down as what is expected.
    """
    collector: GoldenFile = GoldenFile.from_parent(parent, path=file_path)
    collector.settings = settings
    collector.judge = judge
    collector.bounds = Bounds.of(settings)
    collector.updater = updater
    return collector


def case_of(request: pytest.FixtureRequest) -> GoldenCase:
    """Return the golden case that runs: what the fixture `jsonmatch_case` is."""
    file = request.node.getparent(GoldenFile)
    if file is None:
        pytest.fail(
            "jsonmatch_case and jsonmatch_actual belong to golden YAML cases; "
            f"{request.node.nodeid} is none and can't use them",
            pytrace=False,
        )
    case: GoldenCase = file.cases[request.node.originalname]
    return case


@final
class GoldenFile(pytest.Module):
    """A golden file, as the module that pytest takes it for.

    pytest makes its own Function items from it, so fixtures, marks, -k, --lf, xdist and editors treat the
    cases as they treat tests written in Python.
    """

    compares: Final = True
    """What `recording` asks of an item's parent: whether each of its tests is there to compare."""
    settings: Settings
    judge: Judge
    bounds: Bounds
    updater: Updater | None = None
    cases: Mapping[str, GoldenCase]
    _module: ModuleType | None = None
    _names: dict[str, Any]
    """The module's namespace."""

    def _getobj(self) -> ModuleType:
        # A private name of pytest, but its docstring says that subclasses may override it. With
        # `collect_imported_tests = false` pytest calls it for each name of the module; we read the file once.
        if self._module is None:
            self._module = self._make_module()
        return self._module

    def istestfunction(self, obj: object, name: str) -> bool:  # noqa: ARG002 - pytest's signature
        """Tell pytest that the cases are tests, and that nothing else in the module is."""
        return self.funcnamefilter(name)

    def funcnamefilter(self, name: str) -> bool:
        """Tell plugins the same: `python_functions` has no say in the names of cases."""
        return name in self.cases or name == FILE_ERROR

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Return the items, each with the location that pytest would otherwise look up on disk for it."""
        # All of the many objects made here stay.
        with paused_collection():
            items = list(super().collect())  # of what is in the module by now: marked cases, or a file error
            path = relative(self.path, self.config.rootpath)
            for item in items:
                if isinstance(item, pytest.Function):
                    # As pytest's own: relative to rootdir, the line counted from 0, the item's name.
                    item.location = (path, item.function.__code__.co_firstlineno - 1, item.name)
            return self._with_unmarked(items, path) if self.cases else items

    # Cases without marks of their own differ in their names only, so what pytest finds out about the fixtures
    # of the first holds for them all, as it does for the rows of a parametrized function. To find it out for
    # each takes longer than everything else together, and there is no public way to pass it on. Should a
    # pytest to come have no `_fixtureinfo`, then this costs time again and nothing else.
    def _with_unmarked(self, items: list[_Collected], path: str) -> list[_Collected]:
        """Return items with those of the cases without marks of their own, in the order of the file."""
        marked: dict[str, list[_Collected]] = {}
        for item in items:
            marked.setdefault(getattr(item, "originalname", item.name), []).append(item)
        asking, recorded = self._shared_fixtures()
        collected: list[_Collected] = []
        for name, case in self.cases.items():
            if case.gives("marks"):
                collected += marked.pop(name, ())
                continue
            at_rest = recorded is not None and case.has_value
            fixtures = recorded if at_rest else asking
            function = self._names[name] = self._function(case, at_rest=at_rest)
            if fixtures is None:
                made = self._ask_pytest(name)
            else:
                made = [pytest.Function.from_parent(self, name=name, callobj=function, fixtureinfo=fixtures)]
            for item in made:
                if isinstance(item, pytest.Function):
                    item.location = (path, case.line - 1, item.name)
            collected += made
        return [*itertools.chain(*marked.values()), *collected]

    def _shared_fixtures(self) -> tuple[Any, Any]:
        """Return what pytest knows about the fixtures of all cases without marks, and of those with answers.

        None for the first: each case has to be looked at by itself. None for the second: the answers that are
        written in the file have to go through the fixtures too.
        """
        unmarked = [case for case in self.cases.values() if not case.gives("marks")]
        if not unmarked or self._varied():
            return None, None
        asking = self._fixtures_of(unmarked[0], at_rest=False)
        with_answers = next((case for case in unmarked if case.has_value), None)
        if asking is None or with_answers is None or not self._are_own(asking):
            return asking, None
        return asking, self._fixtures_of(with_answers, at_rest=True)

    def _fixtures_of(self, case: GoldenCase, *, at_rest: bool) -> Any:
        """Return what pytest finds out about the fixtures of a case; None if it makes several tests of it."""
        self._names[case.id] = self._function(case, at_rest=at_rest)
        made = self._ask_pytest(case.id)
        if len(made) != 1 or hasattr(made[0], "callspec"):  # parameters of a fixture
            return None
        return getattr(made[0], "_fixtureinfo", None)

    def _ask_pytest(self, name: str) -> Sequence[_Collected]:
        """Return what pytest and its plugins make of a function in the module, as if they had found it."""
        made = self.ihook.pytest_pycollect_makeitem(collector=self, name=name, obj=self._names[name])
        if made is None:
            return ()
        return made if isinstance(made, list) else (made,)

    def _function(self, case: GoldenCase, *, at_rest: bool) -> FunctionType:
        """Return the function that runs a case: with the two fixtures, or while they are at rest."""
        template = _run_recorded if at_rest else _run_case
        code = self._codes.get(template)
        if code is None:
            last = max(case.line for case in self.cases.values())
            code = self._codes[template] = _standing_in(template.__code__, self.path, last)
        code = _named(code, case.id, case.line)
        # With the module's namespace for its globals, the function has the module's name too.
        # (pytest takes an argument that has a default for none of its business.)
        return FunctionType(code, self._names, None, (case,) if at_rest else None)

    def _are_own(self, fixtures: Any) -> bool:
        """Tell whether the two fixtures are the plugin's own, and nobody watches fixtures being set up."""
        options = self.config.option
        watched = ("setupshow", "setuponly", "setupplan", "show_fixtures_per_test")
        if self.settings.replay is not None or any(getattr(options, option, False) for option in watched):
            return False
        found = getattr(fixtures, "name2fixturedefs", {})
        return all(
            [getattr(each.func, "__module__", None) for each in found.get(name, ())] == [_PLUGIN]
            for name in _FIXTURES
        )

    def _varied(self) -> bool:
        """Tell whether anyone but pytest itself may make of a function what he likes, perhaps by its name."""
        return not all(
            each.function.__module__.startswith("_pytest.") or self._leaves_alone(each.function.__module__)
            for hook in (self.ihook.pytest_generate_tests, self.ihook.pytest_pycollect_makeitem)
            for each in hook.get_hookimpls()
        )

    def _leaves_alone(self, module: str) -> bool:
        mark = _HARMLESS.get(module)
        return mark is not None and self.get_closest_marker(mark) is None

    def _make_module(self) -> ModuleType:
        name = display_name(self.path, self.config.invocation_params.dir)
        module = self._empty_module()
        try:
            data = self._read(name)
            lacking = self.updater is not None and self.updater.writes_new
            loaded = load_cases(
                data,
                self.path,
                name,
                may_lack_expected=lacking,
                repeat=self.settings.repeat,
                bounds=self.bounds,
            )
            if self.updater is not None:
                self.updater.take_file(self.path, data)
            _add_marks(module, loaded.marks, loaded.document, self.path)
            self.cases = loaded.by_id
            self._add_marked(loaded)
        except GoldenFileError as error:
            self.cases = {}
            return self._failing_module(error)
        return module

    def _failing_module(self, error: GoldenFileError) -> ModuleType:
        """Return the module of a file that is not valid: its one test fails and says why."""
        _hide_nul(self.path)
        module = self._empty_module()
        names = self._names
        names[_RUN] = raiser(str(error), path=str(self.path), line=error.line, name=FILE_ERROR)
        code = _standing_in(_run_nothing.__code__, self.path, error.line)
        names[FILE_ERROR] = FunctionType(_named(code, FILE_ERROR, error.line), names)
        return module

    def _empty_module(self) -> ModuleType:
        module = ModuleType(self.nodeid, f"The golden cases of {self.path.name}.")
        module.__file__ = str(self.path)
        self._names = module.__dict__
        self._names[_RUN] = self._check
        self._codes: dict[object, CodeType] = {}
        return module

    def _read(self, name: str) -> bytes:
        try:
            return self.bounds.read(self.path)
        except OSError as error:
            raise GoldenFileError(name, 1, 1, f"the file can't be read: {error.strerror}") from None

    def _add_marked(self, loaded: GoldenCases) -> None:
        """Put the functions of cases with marks of their own into the module, where pytest will find them."""
        for case in self.cases.values():
            if case.gives("marks"):
                function = self._names[case.id] = self._function(case, at_rest=False)
                _add_marks(function, case.marks, loaded.document, self.path)

    def _check(self, case: GoldenCase, actual: object) -> None:
        """Judge a case; what fails is raised from the YAML line that it is about."""
        __tracebackhide__ = True
        lines: list[int] = []
        if self.settings.record is not None:
            _keep_output(case, actual)
        updater = self.updater
        if updater is not None and updater.writes_new and not case.has_expected:
            self._write_new(updater, case, actual)
            return

        def locate(field: FieldResult) -> str | None:
            path = field.expected_path or field.actual_path
            trail = parse_path(path) if path is not None else ()
            lines.append(case.expected_position(trail).line)
            return case.locate_expected(trail)

        try:
            self.judge(case, actual, locate=locate)
        except AssertionError as error:
            if not _is_ours(error):
                raise
            message = str(error)
            if updater is not None:
                note = updater.failed(case, actual)
                if note is None:
                    return
                message += note and f"\n{note}"
            # The message shows the worst field first, so that is the first one it asked a place for.
            line = lines[0] if lines else case.expected_position(()).line
            failing = raiser(message, path=str(case.path), line=line, first=case.line, name=case.id)
        except JsonMatchError as error:
            failing = _failing(case, error, lines[0] if lines else None)
        else:
            if updater is not None:
                updater.passed(case, actual)
            return
        failing()

    def _write_new(self, updater: Updater, case: GoldenCase, actual: object) -> None:
        """Write down what is expected of a case that does not say it yet."""
        __tracebackhide__ = True
        try:
            note = updater.fresh(case, actual)
        except JsonMatchError as error:
            failing = _failing(case, error, None)
        else:
            if note is None:
                return
            failing = raiser(note, path=str(case.path), line=case.line, first=case.line, name=case.id)
        failing()


def prepare(item: pytest.Item, recorder: Recorder) -> None:
    """Let the recorder of a test know which run of a case it is, and by which parameters of fixtures."""
    recorder.run = run_of(item, recorder.nodeid)
    if isinstance(item.parent, GoldenFile) and hasattr(item, "callspec"):
        recorder.params = parameters(item)


def run_of(item: pytest.Item, nodeid: str) -> Run | None:
    """Return which run of a repeated case a test is; None if it is none."""
    file = item.parent
    if isinstance(file, GoldenFile):
        name = getattr(item, "originalname", item.name)
        case = file.cases.get(name)
        if case is None or case.runs == 1:
            return None
        # What would be the node id of the case if it ran only once.
        whole = f"{file.nodeid}::{case.base_id}{item.name.removeprefix(name)}"
    else:
        params = getattr(getattr(item, "callspec", None), "params", {})
        case = next((value for value in params.values() if type(value) is GoldenCase), None)
        if case is None or case.runs == 1:
            return None
        head, _, tail = nodeid.rpartition(case.id)
        whole = f"{head}{case.base_id}{tail}"
    # Under --runxfail no failure is expected: each run stands for itself.
    rate = None if item.config.getoption("runxfail", default=False) else case.min_pass_rate
    return Run(whole, case.run, case.runs, rate)


def _keep_output(case: GoldenCase, actual: object) -> None:
    """Give the running test's next report a line for the file of outputs."""
    session = current_session()
    recorder = None if session is None else session.running
    if recorder is None:
        return
    from pytest_jsonmatch.golden.outputs import output_line

    params = getattr(getattr(recorder.item, "callspec", None), "params", {})
    recorder.outputs.append(
        output_line(recorder.nodeid, case, actual, seconds=recorder.setup_seconds, params=params)
    )


def replay(item: pytest.Item, outputs: Outputs, nodeid: str) -> None:
    """Let a case be judged by the answer that was kept of it; the fixtures that would make one stay away.

    Raises:
        AssertionError: none was kept. It is raised from the line of the case.
    """
    __tracebackhide__ = True
    file = item.parent
    if not isinstance(item, pytest.Function) or not isinstance(file, GoldenFile):
        return
    case = file.cases.get(item.originalname)
    if case is None:
        return
    try:
        actual = outputs.find(nodeid)
    except LookupError as error:
        fail = raiser(str(error), path=str(case.path), line=case.line, first=case.line, name=case.id)
    else:
        # What a mark or `autouse` asks for is set up as ever; what only the answer needs is not. (A new list:
        # cases share theirs.)
        info = getattr(item, "_fixtureinfo", None)
        wanted = set(getattr(info, "initialnames", item.fixturenames)) - {"jsonmatch_actual"}
        item.fixturenames = [name for name in item.fixturenames if name in wanted]
        item.funcargs["jsonmatch_actual"] = actual
        return
    fail()


# -- the functions that are the tests ----------------------------------------------------------------------


# pytest learns from the names of the arguments which fixtures a case uses; the body is the same for all. Both
# functions run as copies that belong to a YAML file, where no coverage tool sees them.
def _run_case(jsonmatch_case: GoldenCase, jsonmatch_actual: object) -> None:  # pragma: no cover - see above
    __tracebackhide__ = True
    __jsonmatch_run__(jsonmatch_case, jsonmatch_actual)  # type: ignore[name-defined]  # noqa: F821 - _RUN


def _run_recorded(case: GoldenCase) -> None:  # pragma: no cover - see above
    __tracebackhide__ = True
    __jsonmatch_run__(case, case.actual)  # type: ignore[name-defined]  # noqa: F821 - _RUN


def _run_nothing() -> None:  # pragma: no cover - see above
    __tracebackhide__ = True
    __jsonmatch_run__()  # type: ignore[name-defined]  # noqa: F821 - _RUN


def _standing_in(code: CodeType, path: Path, lines: int) -> CodeType:
    """Return the code as code of a YAML file of so many lines at least.

    Where a fixture is missing, pytest quotes the source of the test. It would read YAML as Python, and from
    Python 3.12 on an apostrophe in it ends the whole run with an internal error. So this is the same file,
    spelt as nobody else spells it, and Python's cache of sources has for it a line that can be quoted: that
    of a case with both fixtures, whatever the code at hand.
    """
    spelt = os.path.join(path.parent, os.curdir, path.name)  # noqa: PTH118 - Path would tidy it up
    quoted = f"def golden_case({', '.join(_FIXTURES)}): ...\n"
    # No time of change: such an entry is never looked up on disk.
    linecache.cache[spelt] = (len(quoted) * lines, None, [quoted] * lines, spelt)
    return code.replace(co_filename=spelt)


def _hide_nul(path: Path) -> None:
    """Let a file with NUL be quoted without it: else an older Python ends the whole run."""
    lines = linecache.getlines(str(path))
    if any("\0" in line for line in lines):
        shown = [line.replace("\0", "\N{SYMBOL FOR NULL}") for line in lines]
        linecache.cache[str(path)] = (sum(map(len, shown)), None, shown, str(path))


def _named(code: CodeType, name: str, line: int) -> CodeType:
    changes: dict[str, Any] = dict.fromkeys(_NAMES_OF_CODE, name)
    return code.replace(co_firstlineno=line, **changes)


# The second exists since Python 3.11.
_NAMES_OF_CODE: Final = [name for name in ("co_name", "co_qualname") if hasattr(_run_nothing.__code__, name)]


# -- marks -------------------------------------------------------------------------------------------------


def _add_marks(
    target: ModuleType | FunctionType, marks: Iterable[Mark], document: Document, path: Path
) -> None:
    decorators = [mark_decorator(mark, document, path) for mark in marks]
    if decorators:
        # What `pytestmark = [...]` is to a module; a decorator keeps a function's marks in the same place.
        setattr(target, "pytestmark", decorators)  # noqa: B010 - neither type declares it


def mark_decorator(mark: Mark, document: Document, path: Path) -> pytest.MarkDecorator:
    """Return pytest's mark; pytest itself knows which are registered and how strict it is to be."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            decorator: pytest.MarkDecorator = getattr(pytest.mark, mark.name)
        except (pytest.fail.Exception, AttributeError) as error:
            raise document.error(mark.at, f"the mark {mark.name!r}: {error}") from None
    for warning in caught:
        try:
            line = document.position(mark.at).line
            warnings.warn_explicit(warning.message, warning.category, str(path), line)
        except Warning as error:  # under -W error
            raise document.error(mark.at, str(error)) from None
    return decorator.with_args(*mark.args, **mark.kwargs) if mark.args or mark.kwargs else decorator


# -- errors of ours, at their place in the YAML ------------------------------------------------------------

# Where the blame for an error most likely lies: the first of these keys that the case has.
_TO_BLAME: Final[tuple[tuple[type[JsonMatchError], tuple[str, ...]], ...]] = (
    (JsonExtractionError, ("actual", "actual_file", "producer")),
    (InvalidExpectedError, ("expected", "expected_file")),
    (UnlistedFieldError, ("actual", "actual_file", "producer")),
    (RootTypeError, ("metric", "expected", "expected_file")),
    (TargetPathError, ("options",)),
)


def _failing(case: GoldenCase, error: JsonMatchError, line: int | None) -> FunctionType:
    """Return the function that raises one of our own errors from the line of the case that it is about."""
    message = str(error)
    if isinstance(error, GoldenFileError):
        line = error.line
    elif isinstance(error, GoldValidationError):
        line = case.expected_position(parse_path(error.path)).line
        message = f"{case.locate_expected(parse_path(error.path))}: {message}"
    elif line is None:
        blamed = _blamed(case, error)
        if blamed == ("schema",) and not message.startswith("schema"):
            message = f"schema: {message}"
        placed = case.error(message, *blamed)
        message, line = str(placed), placed.line
    cause = error.__cause__
    return raiser(message, path=str(case.path), line=line, first=case.line, name=case.id, cause=cause)


def _blamed(case: GoldenCase, error: JsonMatchError) -> tuple[str, ...]:
    """Return the keys that lead to what an error is about; none of them if it is not to be told."""
    if isinstance(error, ConfigurationError):
        return _misconfigured(case, str(error))
    for kind, keys in _TO_BLAME:
        if isinstance(error, kind):
            return next(((key,) for key in keys if case.gives(key)), ())
    return ()


def _misconfigured(case: GoldenCase, message: str) -> tuple[str, ...]:
    if case.metric is not None and message.startswith("unknown metric"):
        return ("metric",)
    if case.schema is not None and _is_of_schema(case.schema, message):
        return ("schema",)
    for name, value in case.options.items():
        if name == "fields":
            for pattern in value:
                if message.startswith(f"fields[{pattern!r}]"):
                    return ("fields", pattern)
        elif message.startswith(name):
            return ("options", name)
    return ()


def _is_of_schema(schema: Path | dict[str, Any], message: str) -> bool:
    """Tell whether a message is about the schema itself."""
    from pytest_jsonmatch.schema.parsing import load_schema

    try:
        load_schema(schema)
    except ConfigurationError as error:
        return str(error) == message
    return False


def _is_ours(error: AssertionError) -> bool:
    """Tell whether an error comes from the plugin, not from a hook or comparator called on the way."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    name = "" if traceback is None else str(traceback.tb_frame.f_globals.get("__name__"))
    return name.partition(".")[0] == __name__.partition(".")[0]
