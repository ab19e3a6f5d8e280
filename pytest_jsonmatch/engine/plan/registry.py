"""Registries of comparators, transforms, metrics, encoders and judges by name."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Protocol, SupportsFloat, TypeAlias, cast, final

from pytest_jsonmatch.engine.comparators import BUILTIN, OPTIONAL
from pytest_jsonmatch.engine.comparators.base import batch_comparator, is_batch, make_user_comparator
from pytest_jsonmatch.engine.comparators.transforms import BUILTIN as BUILTIN_TRANSFORMS
from pytest_jsonmatch.engine.comparators.transforms import make_user_transform
from pytest_jsonmatch.engine.plan.options import ALIASES, PRESETS, SKIP, Options, merge_options
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean
from pytest_jsonmatch.engine.value.named import import_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_jsonmatch.engine.comparators.base import BatchItem, Comparator, ComparatorResult
    from pytest_jsonmatch.engine.comparators.transforms import Transform

# `Any`: only the function knows the types of its fields' values.
ScalarFunction: TypeAlias = "Callable[[Any, Any, dict[str, Any]], SupportsFloat | ComparatorResult]"
"""(expected, actual, params) -> a number (a bool is one), or a `ComparatorResult`."""
BatchFunction: TypeAlias = "Callable[[list[BatchItem]], object]"
"""A batch comparator: items -> answers, as described in docs/extend.md."""
ComparatorFunction: TypeAlias = "ScalarFunction | BatchFunction"
TransformFunction: TypeAlias = "Callable[[Any], Any] | Callable[[Any, dict[str, Any]], Any]"


class Encoder(Protocol):
    """The protocol of encoders, which return vectors of strings for the comparator `cosine`."""

    def encode(self, texts: list[str], /) -> Any:
        """Return one row of numbers for each string, as an array or anything that numpy converts to one."""


class JudgeLike(Protocol):
    """The protocol of judges for the comparator `semantic`; docs/judge.md describes its input and output."""

    # `Any`: the types of judges are defined above the engine.
    def judge(self, items: Any, /) -> Any:
        """Return a verdict for each item."""


@final
class RegisteredEncoder:
    """An encoder with its name, and a cache that lives as long as the registration."""

    __slots__ = ("cache", "encoder", "name")

    def __init__(
        self,
        name: str,
        encoder: Encoder,
        cache: dict[str, Any] | None = None,
    ) -> None:
        self.name: Final = name
        self.encoder: Final = encoder
        self.cache: Final[dict[str, Any]] = {} if cache is None else cache


_BUILTIN: Final[Mapping[str, dict[str, Any]]] = {
    "comparator": {**BUILTIN, **OPTIONAL},
    "transform": dict(BUILTIN_TRANSFORMS),
    "metric": {**PRESETS, **{alias: PRESETS[name] for alias, name in ALIASES.items()}},
    "encoder": {},
    "judge": {},
}
"""The built-ins of every registry, by kind and name."""
_FIXED: Final[Mapping[str, frozenset[str]]] = {
    "comparator": frozenset({"exact", "numeric", "oneof"}),
    "metric": frozenset(_BUILTIN["metric"]),
}
"""Names that can't be replaced: comparators that schemas rely on, and metrics, whose meaning is fixed."""


@final
class Registry:
    """Comparators, transforms, metrics, encoders and judges by name; a child falls back to its parent.

    Every registry falls back to the built-ins. `overwrite=True` can replace built-in comparators and
    transforms except `exact`, `numeric` and `oneof`; signatures then have the names of those replaced. The
    hook `pytest_jsonmatch_register(registry)` receives a registry that lasts for the session; functions such
    as `register_comparator` are methods of the registry that lasts for the process.

    >>> registry = Registry()
    >>> registry.metric("strict", {"base": "json_similarity", "leaf_threshold": 0.9})
    >>> registry.find_metric("strict")[1].leaf_threshold
    0.9
    """

    __slots__ = ("_names",)

    def __init__(self, parent: Registry | None = None) -> None:
        parent_names = None if parent is None else parent._names  # noqa: SLF001 - of the same class
        self._names: dict[str, ChainMap[str, Any]] = {
            kind: (ChainMap(known) if parent_names is None else parent_names[kind]).new_child()
            for kind, known in _BUILTIN.items()
        }

    def comparator(self, name: str, fn: ComparatorFunction, *, overwrite: bool = False) -> None:
        """Register a comparator: `fn(expected, actual, params)` -> a score in [0, 1].

        It may return a `ComparatorResult(score, reason)` instead. A function of one list of `BatchItem` is a
        batch comparator: see docs/extend.md. In a pytest suite prefer the hook
        `pytest_jsonmatch_register`, whose registrations end with the session.

        Raises:
            ConfigurationError: the name is taken and `overwrite` is not given, belongs to a built-in that
                can't be replaced, or is not a non-empty string.

        >>> from pytest_jsonmatch import compare_json, register_comparator
        >>> register_comparator("initial", lambda expected, actual, params: expected[0] == actual[0])
        >>> compare_json({"name": "Ann"}, {"name": "Al"}, fields={"name": {"compare": "initial"}}).score
        1.0
        """
        make = batch_comparator if callable(cast("object", fn)) and is_batch(fn) else make_user_comparator
        self._add("comparator", name, make(name, cast("Callable[..., Any]", fn)), overwrite)

    def transform(self, name: str, fn: TransformFunction, *, overwrite: bool = False) -> None:
        """Register a transform: `fn(value)` or `fn(value, params)` -> the value to compare.

        Raises:
            ConfigurationError: the name is taken and `overwrite` is not given, or is not a non-empty string.

        >>> from pytest_jsonmatch import compare_json, register_transform
        >>> register_transform("no_dashes", lambda value: value.replace("-", ""))
        >>> compare_json({"id": "12-34"}, {"id": "1234"}, fields={"id": {"transform": ["no_dashes"]}}).score
        1.0
        """
        self._add("transform", name, make_user_transform(name, fn), overwrite)

    def metric(self, name: str, options: Mapping[str, Any], *, overwrite: bool = False) -> None:
        """Register a metric: options under your own name.

        Args:
            name: the name for `metric=`.
            options: any options of the option table; with `base`, the name of a metric, they override the
                options of that metric.
            overwrite: whether to replace a metric of the same name.

        Raises:
            ConfigurationError: the name is taken, the base unknown, or an option invalid.

        >>> from pytest_jsonmatch import compare_json, register_metric
        >>> register_metric("lenient", {"base": "json_similarity", "leaf_threshold": 0.6})
        >>> compare_json(["apple", "orange"], ["apple", "grape"], metric="lenient").score
        0.5
        """
        if not isinstance(cast("object", options), Mapping):
            raise ConfigurationError(
                f"metric {name!r} must be a mapping of options, such as "
                f"{{'base': 'json_similarity', 'leaf_threshold': 0.9}}, got {options!r}"
            )
        given = dict(options)
        base = given.pop("base", None)
        base_options = Options() if base is None else self.find_metric(base)[1]
        self._add("metric", name, merge_options(base_options, given), overwrite)

    def encoder(self, name: str, encoder: Encoder, *, overwrite: bool = False) -> None:
        """Register an encoder, which returns the vectors for `{"cosine": {"embedding_model": name}}`.

        Args:
            name: the name for `embedding_model`.
            encoder: an object with `encode(list of strings)` that returns a row of numbers for each string.
            overwrite: whether to replace an encoder of the same name.

        Raises:
            ConfigurationError: the name is taken, or is not a non-empty string; the object has no `encode`.

        >>> from pytest_jsonmatch import compare_json, register_encoder
        >>> class Letters:
        ...     def encode(self, texts):
        ...         return [[text.count(letter) for letter in "abc"] for text in texts]
        >>> register_encoder("letters", Letters())
        >>> rule = {"compare": {"cosine": {"embedding_model": "letters"}}}
        >>> compare_json({"x": "ab"}, {"x": "abb"}, fields={"x": rule}).score
        0.9487
        """
        if isinstance(encoder, type) or not callable(getattr(encoder, "encode", None)):
            raise ConfigurationError(
                f"encoder {name!r} must be an object with encode(list of strings), got {encoder!r}"
            )
        self._add("encoder", name, RegisteredEncoder(name, encoder), overwrite)

    def judge(
        self, name: str, judge: JudgeLike | Callable[[Any], object], *, overwrite: bool = False
    ) -> None:
        """Register a judge for the comparator `semantic`.

        Args:
            name: the name for `judge=` and `{"semantic": {"judge": name}}`. Without a name there, the judge
                named "default" is asked.
            judge: an object with `judge(items)`, such as an `OpenAIJudge`, or a function of one `JudgeItem`.
            overwrite: whether to replace a judge of the same name.

        Raises:
            ConfigurationError: the name is taken, or is not a non-empty string; the object is not a judge.

        >>> from pytest_jsonmatch import compare_json, register_judge
        >>> register_judge("loose", lambda item: item.expected.lower() == item.actual.lower())
        >>> rule = {"compare": {"semantic": {"judge": "loose"}}}
        >>> compare_json({"city": "PARIS"}, {"city": "Paris"}, fields={"city": rule}).score
        1.0
        """
        if isinstance(judge, type) or not (callable(getattr(judge, "judge", None)) or callable(judge)):
            raise ConfigurationError(
                f"judge {name!r} must be an object with judge(items) or a function of one item, got {judge!r}"
            )
        self._add("judge", name, judge, overwrite)

    def find_comparator(self, name: str) -> Comparator:
        """Return a comparator by name; the ConfigurationError of an unknown name suggests the nearest one."""
        comparator = self._find("comparator", name)
        if isinstance(comparator, str):
            comparator = import_object(comparator)
        return cast("Comparator", comparator)

    def find_judge(self, name: str = "default") -> object:
        """Return a judge by name; None if the name is "default" and no such judge is registered.

        Raises:
            ConfigurationError: any other name is unknown; the message suggests the nearest one.
        """
        return None if name == "default" and name not in self._names["judge"] else self._find("judge", name)

    def find_encoder(self, name: str) -> RegisteredEncoder | None:
        """Return an encoder by name; None if there is none."""
        return self._names["encoder"].get(name)

    def find_transform(self, name: str) -> Transform:
        """Return a transform by name; the ConfigurationError of an unknown name suggests the nearest one."""
        return cast("Transform", self._find("transform", name))

    def find_metric(self, name: str) -> tuple[str, Options]:
        """Return a metric's own name (aliases resolved) and options; the error suggests the nearest name."""
        options = self._find("metric", name)
        return ALIASES.get(name, name), options

    def list_replaced(self) -> list[str]:
        """Return the names of the built-in comparators and transforms that this registry replaces.

        >>> registry = Registry()
        >>> registry.comparator("date", lambda expected, actual, params: 1.0, overwrite=True)
        >>> registry.list_replaced()
        ['comparator date']
        """
        return [
            f"{kind} {name}"
            for kind, names in self._names.items()
            for name, builtin in _BUILTIN[kind].items()
            if names[name] is not builtin
        ]

    def has_own(self, kind: str, name: str) -> bool:
        """Return whether a name was registered in this registry, not in a parent or as a built-in."""
        return name in self._names[kind].maps[0]

    def _add(self, kind: str, name: object, value: object, overwrite: bool) -> None:
        if not isinstance(name, str) or not name.strip():
            article = "an" if kind == "encoder" else "a"
            raise ConfigurationError(f"{article} {kind}'s name must be a non-empty string, got {name!r}")
        if kind == "comparator" and name == SKIP:
            raise ConfigurationError(
                "no comparator can be called 'skip': fields={PATTERN: 'skip'} leaves a field out; "
                "choose another name"
            )
        if name in _FIXED.get(kind, ()):
            raise ConfigurationError(
                f"{name!r} is a built-in {kind} and cannot be replaced; choose another name"
            )
        own = self._names[kind].maps[0]
        if name in _BUILTIN[kind] and name not in own and not overwrite:
            raise ConfigurationError(
                f"{name!r} is a built-in {kind}; choose another name, or pass overwrite=True to replace it"
            )
        if name in own and not overwrite:
            raise ConfigurationError(
                f"{kind} {name!r} is registered already; pass overwrite=True to replace it"
            )
        own[name] = value
        note_change()

    def _find(self, kind: str, name: object) -> Any:
        if not isinstance(name, str):
            raise ConfigurationError(f"a {kind} must be given by its name, got {name!r}")
        names = self._names[kind]
        if name not in names:
            hint = did_you_mean(name, [known_name for known_name in names if known_name not in ALIASES])
            for word, others in (
                ("transform", self._names["transform"]),
                ("align", ("ordered", "unordered", "sequence")),
            ):
                if kind == "comparator" and name in others:
                    hint = f"; write {{{word!r}: {name!r}}}"
            raise ConfigurationError(f"unknown {kind} {name!r}{hint}")
        return names[name]


# The only module-level state: the registrations of the program and, on top, those of a pytest session.
_layers: Final[list[Registry]] = [Registry()]
_changes: Final[list[int]] = [0]

register_comparator: Final = _layers[0].comparator
register_transform: Final = _layers[0].transform
register_metric: Final = _layers[0].metric
register_encoder: Final = _layers[0].encoder
register_judge: Final = _layers[0].judge


def register(name: str, fn: ComparatorFunction, overwrite: bool = False) -> None:
    """Register a comparator, as `register_comparator` does; this is its name in source 5.

    Built-in names that source 5 does not have, such as `date`, need no `overwrite` here.

    >>> from pytest_jsonmatch.schema import register
    >>> register("never", lambda gold, extracted, params: 0.0)
    """
    may_replace = not _layers[0].has_own("comparator", name)
    register_comparator(name, fn, overwrite=overwrite or may_replace)


def get_registry_state() -> int:
    """Return a number that changes with every registration; plans compiled earlier are then outdated."""
    return _changes[0]


def note_change() -> None:
    """Mark all plans compiled earlier as outdated."""
    _changes[0] += 1


def get_active_registry() -> Registry:
    """Return the registry in which names are currently looked up."""
    return _layers[-1]


@contextmanager
def session_registry() -> Iterator[Registry]:
    """Open a registry on top of the active one; its registrations end when the context closes.

    >>> with session_registry() as registry:
    ...     registry.metric("mine", {"base": "field_match"})
    ...     get_active_registry().find_metric("mine")[0]
    'mine'
    >>> get_active_registry().find_metric("mine")
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: unknown metric 'mine'...
    """
    layer = Registry(_layers[-1])
    _layers.append(layer)
    note_change()
    try:
        yield layer
    finally:
        _layers.remove(layer)
        note_change()
