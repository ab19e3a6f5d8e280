"""Golden files for pytest: each is a module whose test functions are its cases."""

from __future__ import annotations

import linecache
import os
import warnings
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final, Protocol, final

import pytest

from pytest_jsonmatch.engine.errors import (
    ConfigurationError,
    GoldValidationError,
    InvalidExpectedError,
    JsonExtractionError,
    JsonMatchError,
    RootTypeError,
    TargetPathError,
    UnlistedFieldError,
)
from pytest_jsonmatch.engine.paths import parse_path
from pytest_jsonmatch.golden.cases import load_cases
from pytest_jsonmatch.golden.errors import GoldenFileError
from pytest_jsonmatch.golden.raising import raiser
from pytest_jsonmatch.golden.yamlevents import paused_collection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from types import CodeType

    from pytest_jsonmatch.engine.results import FieldResult
    from pytest_jsonmatch.golden.cases import GoldenCase, GoldenCases, Mark
    from pytest_jsonmatch.golden.yamlevents import Document

__all__ = ["FILE_ERROR", "GoldenFile", "Judge", "case_of", "collect_file"]

FILE_ERROR: Final = "(file error)"
"""The name of the one test of a file that is not valid."""

# A global of each file's module, under a name that no case can have.
_RUN: Final = "__jsonmatch_run__"
_PLUGIN: Final = "pytest_jsonmatch.plugin"
_FIXTURES: Final = ("jsonmatch_case", "jsonmatch_actual")
# Plugins whose hook gives parameters to tests with a certain mark only, by the module that has the hook.
_HARMLESS: Final = {"pytest_asyncio.plugin": "asyncio"}


class Judge(Protocol):
    """Compares what a case expects with what came, and raises if that is not good enough."""

    def __call__(
        self, case: GoldenCase, actual: object, *, locate: Callable[[FieldResult], str | None]
    ) -> object:
        """Raise AssertionError or JsonMatchError; ask `locate` for the places of fields, the worst first."""


def collect_file(file_path: Path, parent: pytest.Collector, *, judge: Judge) -> GoldenFile:
    """Return the collector of a golden file, whose cases `judge` will judge."""
    collector: GoldenFile = GoldenFile.from_parent(parent, path=file_path)
    collector.judge = judge
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
    judge: Judge
    cases: Mapping[str, GoldenCase]
    _module: ModuleType | None = None
    _alike: bool | None = None
    """Whether each case makes one test, whatever its name; None until the first was made."""
    _own_fixtures: bool = False
    """Whether the two fixtures are the plugin's own, and nobody watches fixtures being set up."""
    _fixtures: Any = None
    _fixtures_of_recorded: Any = None

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
            items = list(super().collect())
        # As pytest's own: relative to rootdir, the line counted from 0, the item's name.
        path = _relative(self.path, self.config.rootpath)
        for item in items:
            if isinstance(item, pytest.Function):
                item.__dict__["location"] = (path, item.function.__code__.co_firstlineno - 1, item.name)
        return items

    # Cases without marks of their own differ in their names only, so what pytest finds out about the fixtures
    # of the first holds for them all, as it does for the rows of a parametrized function. To find it out for
    # each takes longer than everything else together, and there is no public way to pass it on. Should a
    # pytest to come have no `_genfunctions` or `_fixtureinfo`, then this costs time again and nothing else.
    def _genfunctions(self, name: str, funcobj: Any) -> Iterator[pytest.Function]:
        if name not in self.cases or hasattr(funcobj, "pytestmark"):
            yield from super()._genfunctions(name, funcobj)
            return
        if self._alike is None:
            self._look_around(name)
        if self._own_fixtures and funcobj.__defaults__:
            fixtures = self._fixtures_of_recorded
        elif funcobj.__defaults__:
            funcobj, fixtures = self._with_fixtures(name), self._fixtures
        else:
            fixtures = self._fixtures
        if self._alike:
            yield pytest.Function.from_parent(self, name=name, callobj=funcobj, fixtureinfo=fixtures)
        else:
            yield from super()._genfunctions(name, funcobj)

    def _look_around(self, name: str) -> None:
        """Find out, by one case without marks, what holds for all such."""
        recorded, asking = self.obj.__dict__[name], self._with_fixtures(name)
        functions: list[pytest.Function] = list(super()._genfunctions(name, asking))
        self._fixtures = getattr(functions[0], "_fixtureinfo", None) if functions else None
        # A fixture with parameters, or a plugin that looks at each test, makes several of one.
        self._alike = not (
            len(functions) != 1
            or self._fixtures is None
            or hasattr(functions[0], "callspec")
            or self._varied()
        )
        if self._alike and recorded.__defaults__ and self._finds_own_fixtures():
            self.obj.__dict__[name] = recorded
            (function,) = super()._genfunctions(name, recorded)
            self._fixtures_of_recorded = getattr(function, "_fixtureinfo", None)
            self._own_fixtures = self._fixtures_of_recorded is not None

    def _with_fixtures(self, name: str) -> FunctionType:
        """Put in a case's place in the module the function that asks for the fixtures, and return it."""
        names = self.obj.__dict__
        line = self.cases[name].line
        found: FunctionType = names[name]
        if found.__defaults__:
            found = names[name] = FunctionType(_named(self._code(_run_case), name, line), names)
        return found

    def _code(self, function: Any) -> CodeType:
        code = self._codes.get(function)
        if code is None:
            last = max(case.line for case in self.cases.values())
            code = self._codes[function] = _standing_in(function.__code__, self.path, last)
        return code

    def _finds_own_fixtures(self) -> bool:
        options = self.config.option
        watched = ("setupshow", "setuponly", "setupplan", "show_fixtures_per_test")
        if any(getattr(options, option, False) for option in watched):
            return False
        found = getattr(self._fixtures, "name2fixturedefs", {})
        return all(
            [getattr(each.func, "__module__", None) for each in found.get(name, ())] == [_PLUGIN]
            for name in _FIXTURES
        )

    def _varied(self) -> bool:
        """Tell whether anyone but pytest itself may parametrize tests, perhaps by their names."""
        return not all(
            each.function.__module__.startswith("_pytest.") or self._leaves_alone(each.function.__module__)
            for each in self.ihook.pytest_generate_tests.get_hookimpls()
        )

    def _leaves_alone(self, module: str) -> bool:
        mark = _HARMLESS.get(module)
        return mark is not None and self.get_closest_marker(mark) is None

    def _make_module(self) -> ModuleType:
        name = _display_name(self.path, self.config.invocation_params.dir)
        module = self._empty_module()
        try:
            loaded = load_cases(self._read(name), self.path, name)
            _add_marks(module, loaded.marks, loaded.document, self.path)
            self.cases = loaded.by_id
            self._add_cases(module, loaded)
        except GoldenFileError as error:
            self.cases = {}
            return self._failing_module(error)
        return module

    def _failing_module(self, error: GoldenFileError) -> ModuleType:
        """Return the module of a file that is not valid: its one test fails and says why."""
        module = self._empty_module()
        names = module.__dict__
        names[_RUN] = raiser(str(error), path=str(self.path), line=error.line, name=FILE_ERROR)
        code = _standing_in(_run_nothing.__code__, self.path, error.line)
        names[FILE_ERROR] = FunctionType(_named(code, FILE_ERROR, error.line), names)
        return module

    def _empty_module(self) -> ModuleType:
        module = ModuleType(self.nodeid, f"The golden cases of {self.path.name}.")
        module.__file__ = str(self.path)
        return module

    def _read(self, name: str) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise GoldenFileError(name, 1, 1, f"the file can't be read: {error.strerror}") from None

    def _add_cases(self, module: ModuleType, loaded: GoldenCases) -> None:
        """Give the module a function for each case: one code object, with the case's own name and line."""
        names = module.__dict__
        names[_RUN] = self._check
        self._codes: dict[object, CodeType] = {}
        for case in loaded.by_id.values():
            # With the module's namespace for its globals, the function has the module's name too.
            if case.has_value and not case.marks:
                # The fixtures would hand over what is written in the file: unless overridden, they can rest.
                # (pytest takes an argument that has a default for none of its business.)
                code = _named(self._code(_run_recorded), case.id, case.line)
                names[case.id] = FunctionType(code, names, None, (case,))
                continue
            function = FunctionType(_named(self._code(_run_case), case.id, case.line), names)
            if case.marks:
                _add_marks(function, case.marks, loaded.document, self.path)
            names[case.id] = function

    def _check(self, case: GoldenCase, actual: object) -> None:
        """Judge a case; what fails is raised from the YAML line that it is about."""
        __tracebackhide__ = True
        lines: list[int] = []

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
            # The message shows the worst field first, so that is the first one it asked a place for.
            line = lines[0] if lines else case.expected_position(()).line
            failing = raiser(str(error), path=str(case.path), line=line, first=case.line, name=case.id)
        except JsonMatchError as error:
            failing = _failing(case, error, lines[0] if lines else None)
        else:
            return
        failing()


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
    spelt as nobody else spells it, and Python's cache of sources has for it a line that can be quoted.
    """
    spelt = os.path.join(path.parent, os.curdir, path.name)  # noqa: PTH118 - Path would tidy it up
    quoted = f"def golden_case({', '.join(code.co_varnames[: code.co_argcount])}): ...\n"
    # No time of change: such an entry is never looked up on disk.
    linecache.cache[spelt] = (len(quoted) * lines, None, [quoted] * lines, spelt)
    return code.replace(co_filename=spelt)


def _named(code: CodeType, name: str, line: int) -> CodeType:
    changes: dict[str, Any] = dict.fromkeys(_NAMES_OF_CODE, name)
    return code.replace(co_firstlineno=line, **changes)


# The second exists since Python 3.11.
_NAMES_OF_CODE: Final = [name for name in ("co_name", "co_qualname") if hasattr(_run_nothing.__code__, name)]


def _display_name(path: Path, invoked_in: Path) -> str:
    """Return a file's name as a person in `invoked_in` would write it, with "/" everywhere."""
    return _relative(path, invoked_in).replace(os.sep, "/")


def _relative(path: Path, folder: Path) -> str:
    try:
        return os.path.relpath(path, folder)
    except ValueError:  # another drive
        return str(path)


# -- marks -------------------------------------------------------------------------------------------------


def _add_marks(
    target: ModuleType | FunctionType, marks: Iterable[Mark], document: Document, path: Path
) -> None:
    decorators = [_decorator(mark, document, path) for mark in marks]
    if decorators:
        # What `pytestmark = [...]` is to a module; a decorator keeps a function's marks in the same place.
        setattr(target, "pytestmark", decorators)  # noqa: B010 - neither type declares it


def _decorator(mark: Mark, document: Document, path: Path) -> pytest.MarkDecorator:
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
