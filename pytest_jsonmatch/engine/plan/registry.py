"""The names that comparators, transforms and metrics go by; a plan takes a snapshot when it is compiled."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, SupportsFloat, TypeAlias, cast, final

from pytest_jsonmatch.engine.plan.options import ALIASES, PRESETS, Options, merge_options
from pytest_jsonmatch.engine.value.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pytest_jsonmatch.engine.compare.base import Comparator, ComparatorResult
    from pytest_jsonmatch.engine.compare.batched import BatchItem
    from pytest_jsonmatch.engine.compare.transforms import Transform
    from pytest_jsonmatch.semantic.judging import Judge, JudgeItem

__all__ = [
    "AnyJudge",
    "ComparatorFunction",
    "Encoder",
    "RegisteredEncoder",
    "Registry",
    "TransformFunction",
    "active_registry",
    "register_comparator",
    "register_encoder",
    "register_judge",
    "register_metric",
    "register_transform",
    "registry_state",
    "session_registry",
]

# `Any`: what the values of its fields are, the function knows.
ScalarFunction: TypeAlias = "Callable[[Any, Any, dict[str, Any]], SupportsFloat | ComparatorResult]"
"""(expected, actual, params) -> a number (a bool is one), or a `ComparatorResult`."""
BatchFunction: TypeAlias = "Callable[[list[BatchItem]], object]"
"""A batch comparator: items -> their answers, as docs/batch-comparators.md says."""
ComparatorFunction: TypeAlias = "ScalarFunction | BatchFunction"
TransformFunction: TypeAlias = "Callable[[Any], Any] | Callable[[Any, dict[str, Any]], Any]"
AnyJudge: TypeAlias = "Judge | Callable[[JudgeItem], object]"
"""A judge, or a function of one item that returns a bool or a `Verdict`."""


class Encoder(Protocol):
    """What makes vectors of strings, for the comparator `cosine`."""

    def encode(self, texts: list[str], /) -> Any:
        """Return one row of numbers for each string: an array, or anything that numpy makes one of."""


@final
class RegisteredEncoder:
    """An encoder under its name, and what was made for it: kept as long as the registration is."""

    __slots__ = ("encoder", "made", "name")

    def __init__(self, name: str, encoder: Encoder) -> None:
        self.name = name
        self.encoder = encoder
        self.made: dict[str, Any] = {}


@final
class Registry:
    """Comparators, transforms, metrics, encoders and judges by name; a child falls back on its parent.

    The built-in names stand under every registry and cannot be replaced. The hook
    `pytest_jsonmatch_register(registry)` is given one whose names last as long as the session.

    >>> registry = Registry()
    >>> registry.metric("strict", base="json_similarity", leaf_threshold=0.9)
    >>> "strict" in registry.metric_names()
    True
    """

    __slots__ = ("_comparators", "_encoders", "_judges", "_metrics", "_parent", "_transforms")

    def __init__(self, parent: Registry | None = None) -> None:
        self._parent = parent
        self._comparators: dict[str, Comparator] = {}
        self._transforms: dict[str, Transform] = {}
        self._metrics: dict[str, Options] = {}
        self._encoders: dict[str, RegisteredEncoder] = {}
        self._judges: dict[str, object] = {}

    def comparator(self, name: str, fn: ComparatorFunction, *, overwrite: bool = False) -> None:
        """Register a comparator: `fn(expected, actual, params)` -> a score in [0, 1] or a `ComparatorResult`.

        What takes one list of `BatchItem` instead is a batch comparator: docs/batch-comparators.md.

        Raises:
            ConfigurationError: the name is taken (`overwrite` replaces all but built-ins), or is no name.

        >>> Registry().comparator("same_size", lambda expected, actual, params: len(expected) == len(actual))
        """
        from pytest_jsonmatch.engine.compare import BUILTIN, OPTIONAL, user_comparator
        from pytest_jsonmatch.engine.compare.batched import batch_comparator, is_batch

        builtin = {**BUILTIN, **OPTIONAL}
        _check_free("comparator", name, fn, builtin, self._comparators, overwrite=overwrite)
        self._comparators[name] = (
            batch_comparator(name, cast("BatchFunction", fn)) if is_batch(fn) else user_comparator(name, fn)
        )
        _note_change()

    def transform(self, name: str, fn: TransformFunction, *, overwrite: bool = False) -> None:
        """Register a transform: `fn(value)` or `fn(value, params)` -> the value to compare.

        Raises:
            ConfigurationError: the name is taken (`overwrite` replaces all but built-ins), or is no name.

        >>> Registry().transform("drop_dashes", lambda value: value.replace("-", ""))
        """
        from pytest_jsonmatch.engine.compare.transforms import BUILTIN, user_transform

        _check_free("transform", name, fn, BUILTIN, self._transforms, overwrite=overwrite)
        self._transforms[name] = user_transform(name, fn)
        _note_change()

    def metric(self, name: str, *, base: str | None = None, overwrite: bool = False, **options: Any) -> None:
        """Register a metric: any options of the option table under a name of one's own, over those of `base`.

        Raises:
            ConfigurationError: the name is taken, the base unknown, or an option not what it can be.

        >>> registry = Registry()
        >>> registry.metric("strict_similarity", base="json_similarity", leaf_threshold=0.8)
        >>> registry.find_metric("strict_similarity")[1].leaf_threshold
        0.8
        """
        _check_free("metric", name, None, {**PRESETS, **ALIASES}, self._metrics, overwrite=overwrite)
        start = Options() if base is None else self.find_metric(base)[1]
        self._metrics[name] = merge_options(start, options)
        _note_change()

    def encoder(self, name: str, encoder: Encoder, *, overwrite: bool = False) -> None:
        """Register an encoder: `encode(list of strings)` -> an array with a row for each, for `cosine`.

        Raises:
            ConfigurationError: the name is taken (and no `overwrite`), or is no name; it has no `encode`.

        >>> class Lengths:
        ...     def encode(self, texts):
        ...         return [[len(text), 1.0] for text in texts]
        >>> Registry().encoder("lengths", Lengths())
        """
        if isinstance(encoder, type):
            message = f"encoder {name!r} is the class {encoder.__name__}; register an object of it"
            raise ConfigurationError(message)
        if not callable(getattr(encoder, "encode", None)):
            message = f"encoder {name!r} is {encoder!r}, which has no method encode(list of strings)"
            raise ConfigurationError(message)
        _check_free("encoder", name, None, {}, self._encoders, overwrite=overwrite)
        self._encoders[name] = RegisteredEncoder(name, encoder)
        _note_change()

    def find_comparator(self, name: str) -> Comparator:
        """Return a comparator by name; ConfigurationError names the nearest one."""
        from pytest_jsonmatch.engine.compare import BUILTIN, OPTIONAL

        builtin = {**BUILTIN, **OPTIONAL}
        found: Comparator | str = _find("comparator", name, builtin, self._layers_of("_comparators"))
        if isinstance(found, str):
            module, _, attribute = found.partition(":")
            comparator: Comparator = getattr(import_module(module), attribute)
            return comparator
        return found

    def is_batch(self, name: str) -> bool:
        """Tell whether a name is that of a batch comparator."""
        found = self._special_comparator(name)
        return found is not None and found.batch is not None

    def preloads(self, name: str) -> bool:
        """Tell whether a name is that of a comparator with `preload`."""
        found = self._special_comparator(name)
        return found is not None and found.preload is not None

    def _special_comparator(self, name: str) -> Comparator | None:
        """Return the comparator of a name; None if there is none, or it is one of the engine's own."""
        from pytest_jsonmatch.engine.compare import OPTIONAL

        if name in OPTIONAL:
            return self.find_comparator(name)
        return next((layer[name] for layer in self._layers_of("_comparators") if name in layer), None)

    def judge(self, judge: AnyJudge, name: str = "default", *, overwrite: bool = False) -> None:
        """Register a judge for the comparator `semantic`: an object with `judge(items)`, or a function.

        Args:
            judge: see docs/judge.md.
            name: what `judge=` and `{"semantic": {"judge": name}}` call it. The one that has no other name is
                asked where nothing is said.
            overwrite: replace the one of this name.

        Raises:
            ConfigurationError: the name is taken (and no `overwrite`), or is no name; it is no judge.

        >>> Registry().judge(lambda item: item.expected.lower() == item.actual.lower())
        """
        if isinstance(judge, type) or not (callable(getattr(judge, "judge", None)) or callable(judge)):
            message = (
                f"judge {name!r} is {judge!r}; it is an object with judge(items), or a function of one item"
            )
            raise ConfigurationError(message)
        _check_free("judge", name, None, {}, self._judges, overwrite=overwrite)
        self._judges[name] = judge

    def find_judge(self, name: str = "default") -> object:
        """Return a judge by name; None if there is none of the name "default".

        Raises:
            ConfigurationError: there is no judge of any other name; the message names the nearest one.
        """
        layers = self._layers_of("_judges")
        if name == "default" and not any(name in layer for layer in layers):
            return None
        return _find("judge", name, {}, layers)

    def find_encoder(self, name: str) -> RegisteredEncoder | None:
        """Return what is registered under a name; None if nothing is."""
        found: RegisteredEncoder | None = next(
            (layer[name] for layer in self._layers_of("_encoders") if name in layer), None
        )
        return found

    def find_transform(self, name: str) -> Transform:
        """Return a transform by name; ConfigurationError names the nearest one."""
        from pytest_jsonmatch.engine.compare.transforms import BUILTIN

        found: Transform = _find("transform", name, BUILTIN, self._layers_of("_transforms"))
        return found

    def find_metric(self, name: str) -> tuple[str, Options]:
        """Return a metric's own name (aliases resolved) and its options; the error names the nearest one."""
        plain = ALIASES.get(name, name) if isinstance(cast("object", name), str) else name
        return plain, _find("metric", plain, PRESETS, self._layers_of("_metrics"))

    def metric_names(self) -> list[str]:
        """Return the names of all metrics, without aliases."""
        return sorted({*PRESETS, *(name for layer in self._layers_of("_metrics") for name in layer)})

    def _layers_of(self, table: str) -> list[Mapping[str, Any]]:
        """Return one of the tables of this registry and of those below it."""
        layers: list[Mapping[str, Any]] = []
        registry: Registry | None = self
        while registry is not None:
            layers.append(getattr(registry, table))
            registry = registry._parent  # noqa: SLF001 - of the same class
        return layers


def _check_free(
    kind: str,
    name: object,
    fn: object,
    builtin: Mapping[str, object],
    registered: Mapping[str, object],
    *,
    overwrite: bool,
) -> None:
    if not isinstance(name, str) or not name.strip():
        article = "an" if kind[0] in "aeiou" else "a"
        message = f"{article} {kind}'s name is a non-empty string, not {name!r}"
        raise ConfigurationError(message)
    if fn is not None and not callable(fn):
        message = f"{kind} {name!r} is {fn!r}, which cannot be called"
        raise ConfigurationError(message)
    if name in builtin:
        message = f"{name!r} is a built-in {kind} and cannot be replaced; choose another name"
        raise ConfigurationError(message)
    if name in registered and not overwrite:
        message = f"{kind} {name!r} is registered already; pass overwrite=True to replace it"
        raise ConfigurationError(message)


def _find(kind: str, name: Any, builtin: Mapping[str, Any], layers: list[Mapping[str, Any]]) -> Any:
    for layer in (*layers, builtin):
        if isinstance(name, str) and name in layer:
            return layer[name]
    if not isinstance(name, str):
        message = f"a {kind} is given by its name, not {name!r}"
        raise ConfigurationError(message)
    known = {known for layer in (*layers, builtin) for known in layer}
    message = f"unknown {kind} {name!r}{did_you_mean(name, known)}"
    raise ConfigurationError(message)


# The one piece of module-level state: what programs register, and on top what a pytest session does.
_layers: Final[list[Registry]] = [Registry()]
_changes: Final[list[int]] = [0]


def _note_change() -> None:
    _changes[0] += 1


def registry_state() -> int:
    """Return a number that changes whenever a look-up might: plans compiled before are then out of date."""
    return _changes[0]


def active_registry() -> Registry:
    """Return the registry that names are looked up in now."""
    return _layers[-1]


@contextmanager
def session_registry() -> Iterator[Registry]:
    """Open a registry on top of the active one; what is registered in it is gone when it closes.

    >>> with session_registry() as registry:
    ...     registry.metric("mine", base="field_match")
    ...     "mine" in active_registry().metric_names()
    True
    >>> "mine" in active_registry().metric_names()
    False
    """
    layer = Registry(_layers[-1])
    _layers.append(layer)
    _note_change()
    try:
        yield layer
    finally:
        _layers.remove(layer)
        _note_change()


def register_comparator(name: str, fn: ComparatorFunction, overwrite: bool = False) -> None:
    """Register a comparator for this process: `fn(expected, actual, params)` -> a score in [0, 1].

    It may return a `ComparatorResult(score, reason)` instead. What takes one list of `BatchItem` is a batch
    comparator: docs/batch-comparators.md. In a pytest suite prefer the hook
    `pytest_jsonmatch_register`, whose registrations end with the session.

    Raises:
        ConfigurationError: the name is taken (`overwrite` replaces all but built-ins), or is no name.

    >>> from pytest_jsonmatch import compare_json
    >>> register_comparator("initial", lambda expected, actual, params: expected[0] == actual[0])
    >>> compare_json({"name": "Ann"}, {"name": "Alice"}, fields={"name": {"compare": "initial"}}).score
    1.0
    """
    _layers[0].comparator(name, fn, overwrite=overwrite)


def register_transform(name: str, fn: TransformFunction, overwrite: bool = False) -> None:
    """Register a transform for this process: `fn(value)` or `fn(value, params)` -> the value to compare.

    Raises:
        ConfigurationError: the name is taken (`overwrite` replaces all but built-ins), or is no name.

    >>> from pytest_jsonmatch import compare_json
    >>> register_transform("no_dashes", lambda value: value.replace("-", ""))
    >>> compare_json({"id": "12-34"}, {"id": "1234"}, fields={"id": {"transform": ["no_dashes"]}}).score
    1.0
    """
    _layers[0].transform(name, fn, overwrite=overwrite)


def register_metric(name: str, *, base: str | None = None, overwrite: bool = False, **options: Any) -> None:
    """Register a metric for this process: options under a name of one's own, over those of `base`.

    Raises:
        ConfigurationError: the name is taken, the base unknown, or an option not what it can be.

    >>> from pytest_jsonmatch import compare_json
    >>> register_metric("lenient", base="json_similarity", leaf_threshold=0.5)
    >>> compare_json(["apple", "orange"], ["apple", "grape"], metric="lenient").score
    0.5
    """
    _layers[0].metric(name, base=base, overwrite=overwrite, **options)


def register_encoder(name: str, encoder: Encoder, overwrite: bool = False) -> None:
    """Register an encoder for this process: what `{"cosine": {"embedding_model": name}}` makes vectors with.

    Args:
        name: what `embedding_model` calls it.
        encoder: an object with `encode(list of strings)` that returns a row of numbers for each. If it has a
            `revision` (a string that changes when its vectors do), they are kept in the cache folder.
        overwrite: replace the one of this name.

    Raises:
        ConfigurationError: the name is taken, or is no name; the object has no `encode`.

    >>> from pytest_jsonmatch import compare_json
    >>> class Letters:
    ...     def encode(self, texts):
    ...         return [[text.count(letter) for letter in "abc"] for text in texts]
    >>> register_encoder("letters", Letters())
    >>> rule = {"compare": {"cosine": {"embedding_model": "letters"}}}
    >>> compare_json({"x": "ab"}, {"x": "abb"}, fields={"x": rule}).score
    0.9487
    """
    _layers[0].encoder(name, encoder, overwrite=overwrite)


def register_judge(judge: AnyJudge, name: str = "default", overwrite: bool = False) -> None:
    """Register a judge for this process: whom the comparator `semantic` asks.

    Args:
        judge: an object with `judge(items)`, such as an `OpenAIJudge`, or a function of one `JudgeItem`.
        name: what `judge=` and `{"semantic": {"judge": name}}` call it. The one that has no other name is
            asked where nothing is said.
        overwrite: replace the one of this name.

    Raises:
        ConfigurationError: the name is taken, or is no name; it is no judge.

    >>> from pytest_jsonmatch import compare_json
    >>> register_judge(lambda item: item.expected.lower() == item.actual.lower(), "loose")
    >>> rule = {"compare": {"semantic": {"judge": "loose"}}}
    >>> compare_json({"city": "PARIS"}, {"city": "Paris"}, fields={"city": rule}).score
    1.0
    """
    _layers[0].judge(judge, name, overwrite=overwrite)
