"""Read and check the options of a metric; and the built-in metrics as data.

Functions named `read_*` take the location of a value and the value; their errors begin with the location.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch.engine.comparators.numbers import read_tolerance
from pytest_jsonmatch.engine.comparators.parameters import read_flag, read_json_list
from pytest_jsonmatch.engine.plan.accept import read_accept
from pytest_jsonmatch.engine.plan.schemanode import SchemaNode
from pytest_jsonmatch.engine.value.errors import (
    ConfigurationError,
    did_you_mean,
    find_closest,
    write_argument,
)
from pytest_jsonmatch.engine.value.paths import parse_pattern
from pytest_jsonmatch.engine.value.text import suggest_share
from pytest_jsonmatch.support.frozen import Frozen, list_fields, replace

if TYPE_CHECKING:
    from collections.abc import Callable


Spec: TypeAlias = "str | Mapping[str, Mapping[str, Any]]"
"""A comparator or transform as written: "name" or {"name": {parameters}}."""

LARGEST_WEIGHT: Final = 1_000_000


@final
class NamedSpec(NamedTuple):
    """The name and parameters of a comparator or transform."""

    name: str
    params: Mapping[str, Any]


@final
class ByKey(NamedTuple):
    """Pair elements that are equal in one member: `when` is "key" or, for arrays of objects, "if_objects"."""

    when: str
    key: str


@final
class ByMembers(NamedTuple):
    """Pair objects by the similarity of some members only."""

    members: tuple[str, ...]
    threshold: float | None = None
    """Pair only rows with a greater similarity; None for the option `array_threshold`."""


Alignment: TypeAlias = "str | ByKey | ByMembers"
"""How elements are paired: "ordered", "unordered", "sequence", by a key or by the similarity of members."""


def read_spec(where: str, value: Any, kind: str = "comparator") -> NamedSpec:
    """Read a comparator or transform, without looking up its name.

    >>> read_spec("fields['total'].compare", {"numeric": {"tolerance": {"abs": 1}}})
    NamedSpec(name='numeric', params={'tolerance': {'abs': 1}})
    """
    name, params = value, None
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, params),) = value.items()
    if isinstance(name, str) and (params is None or isinstance(params, Mapping)):
        return NamedSpec(name, params or {})
    raise ConfigurationError(f"{where} must be a {kind}'s name, or {{name: {{parameters}}}}, got {value!r}")


def read_transforms(where: str, value: Any) -> tuple[Spec, ...]:
    """Check transforms and return them as written; a single transform needs no list."""
    specs = (value,) if isinstance(value, (str, Mapping)) else value
    if not isinstance(specs, (list, tuple)):
        raise ConfigurationError(f"{where} must be a list of transforms, got {value!r}")
    for spec in specs:
        read_spec(where, spec, "transform")
    return tuple(specs)


def read_evaluation(where: str, value: Any) -> Spec:
    """Return the comparator in source 4's form `{"evaluation_type": …, "evaluation_params": …}`.

    >>> read_evaluation("x", {"evaluation_type": "threshold", "evaluation_params": {"threshold": 10}})
    {'threshold': {'threshold': 10}}
    """
    known = ("evaluation_type", "evaluation_params")
    if isinstance(value, Mapping):
        for key in (key for key in value if key not in known):
            raise ConfigurationError(f"{where}: unknown key {key!r}{did_you_mean(str(key), known)}")
        kind, params = map(value.get, known)
        if isinstance(kind, str) and (params is None or isinstance(params, Mapping)):
            return {kind: params} if params else kind
    example = '{"evaluation_type": NAME, "evaluation_params": {parameters}}'
    raise ConfigurationError(f"{where} must be {example}, got {value!r}")


def read_numeric(where: str, tolerance: Any) -> Spec:
    """Return the comparator for a tolerance without a comparator.

    >>> read_numeric("fields['total'].tolerance", 0.01)
    {'numeric': {'tolerance': {'abs': 0.01}}}
    """
    given = zip(("rel", "abs"), read_tolerance(where, tolerance))
    return {"numeric": {"tolerance": {name: limit for name, limit in given if limit is not None}}}


def read_share(where: str, value: Any) -> float:
    """Read a number from 0 to 1."""
    return _read_number(where, value, 1)


def read_match_threshold(where: str, value: Any) -> float | None:
    """Read the lowest score of a match; None if only a score of 1 is a match."""
    if value is None:
        return None
    threshold = read_share(where, value)
    if threshold == 0.0:
        raise ConfigurationError(
            f"{where} must be greater than 0 and at most 1, got 0, which every leaf reaches"
        )
    return threshold


def refuse_two_thresholds(words: Mapping[str, Any], prefix: str = "") -> None:
    """Raise a ConfigurationError if both `leaf_threshold` and `match_threshold` are given.

    The message begins with `prefix`.
    """
    leaf, match = words.get("leaf_threshold"), words.get("match_threshold")
    if leaf is not None and match is not None:
        raise ConfigurationError(
            f"{prefix}leaf_threshold is {leaf!r} and {prefix}match_threshold is {match!r}; give one of them: "
            "under match_threshold no leaf has a partial score"
        )


def read_weight(where: str, value: Any) -> float:
    """Read a weight.

    >>> read_weight("x-eval-weight", 2_000_000)
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: x-eval-weight must be a number from 0 to 1,000,000, got 2000000
    """
    return _read_number(where, value, LARGEST_WEIGHT)


def _read_number(where: str, value: Any, largest: float) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= largest:
        return float(value)
    hint = suggest_share(value) if largest == 1 else ""
    raise ConfigurationError(f"{where} must be a number from 0 to {largest:,.0f}, got {value!r}{hint}")


def read_alignment(where: str, value: Any) -> Alignment:
    """Read how arrays are aligned, in the form of the option `arrays` or of source 5's `x-eval-align`.

    >>> read_alignment("arrays", {"key": "id"}), read_alignment("x-eval-align", {"match_by": "hungarian"})
    (ByKey(when='key', key='id'), 'unordered')
    """
    known = ("key_field", "hungarian", "sequence", "ordered")
    match value:
        case "ordered" | "unordered" | "sequence":
            return str(value)
        case {"ordered": True, **others} if others in ({}, {"match_by": "ordered"}):
            return "ordered"
        case {"ordered": False, **others} if others and others.get("match_by") != "ordered":
            return read_alignment(where, others)
        case {"ordered": False}:
            hint = 'add "match_by": "hungarian" or "sequence", or "key_field" and a "key"'
            raise ConfigurationError(f"{where} does not say how elements are paired; {hint}")
        case {"match_by": "ordered" | "hungarian" | "sequence" as by, **others} if not others:
            return "unordered" if by == "hungarian" else str(by)
        case {"key": str(key), **others} if others in ({}, {"match_by": "key_field"}):
            return ByKey("key", key)
        case {"by": by, **others} if others.keys() <= {"threshold"}:
            return _read_members(where, by, others.get("threshold"))
        case {"match_by": str(by)} if by not in known:
            raise ConfigurationError(f"{where}: match_by is {by!r}{did_you_mean(by, known)}")
    words = ("key", "by", "threshold", "match_by", "ordered")
    for word in value if isinstance(value, Mapping) else ():
        if word not in words:
            raise ConfigurationError(f"{where}: unknown key {word!r}{did_you_mean(str(word), words)}")
    raise ConfigurationError(
        f"{where} must be 'ordered', 'unordered', 'sequence', {{'key': NAME}} or "
        f"{{'by': [NAME, ...], 'threshold': NUMBER}}, got {value!r}"
    )


def _read_members(where: str, by: Any, threshold: Any) -> ByMembers:
    """Read the members by which rows are paired, and the threshold of their similarity."""
    names = [by] if isinstance(by, str) else by
    if not (isinstance(names, (list, tuple)) and names and all(isinstance(name, str) for name in names)):
        raise ConfigurationError(f"{where}: by must be a list of names of members, got {by!r}")
    if threshold is not None:
        threshold = _read_number(f"{where}: threshold", threshold, 1.0)
    return ByMembers(tuple(dict.fromkeys(names)), threshold)


@final
class Options(Frozen):
    """All options of a metric; the defaults are those of the option table in docs/options.md."""

    __slots__ = (
        "absent",
        "accept",
        "array_threshold",
        "arrays",
        "compare",
        "cross_types",
        "empties",
        "extra",
        "fields",
        "granularity",
        "leaf_threshold",
        "match_threshold",
        "nulls",
        "reduce",
        "root",
        "schema",
        "skip",
        "target_key",
        "transform",
        "unlisted",
    )

    def __init__(
        self,
        root: str = "any",
        granularity: str = "leaves",
        extra: str = "count",
        unlisted: str = "extra",
        arrays: Alignment = "ordered",
        array_threshold: float = 0.0,
        empties: str = "leaf",
        nulls: str = "value",
        absent: tuple[Any, ...] = (),
        reduce: str = "f1",
        leaf_threshold: float | None = None,
        match_threshold: float | None = None,
        target_key: str = "*",
        compare: Mapping[str, Spec] | None = None,
        transform: tuple[Spec, ...] = (),
        fields: Mapping[str, Mapping[str, Any]] | None = None,
        skip: tuple[str, ...] = (),
        accept: Mapping[str, Any] | None = None,
        schema: SchemaNode | None = None,
        cross_types: tuple[str, ...] = (),
    ) -> None:
        self.root: Final = root
        self.granularity: Final = granularity
        self.extra: Final = extra
        self.unlisted: Final = unlisted
        self.arrays: Final = arrays
        self.array_threshold: Final = array_threshold
        self.empties: Final = empties
        self.nulls: Final = nulls
        self.absent: Final = absent
        self.reduce: Final = reduce
        self.leaf_threshold: Final = leaf_threshold
        self.match_threshold: Final = match_threshold
        self.target_key: Final = target_key
        self.compare: Final[Mapping[str, Spec]] = {} if compare is None else compare
        self.transform: Final = transform
        self.fields: Final[Mapping[str, Mapping[str, Any]]] = {} if fields is None else fields
        self.skip: Final = skip
        self.accept: Final[Mapping[str, Any]] = {} if accept is None else accept
        self.schema: Final = schema
        self.cross_types: Final = cross_types
        """Set by `compare`: the types of expected scalars whose comparators get any scalar."""


CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "root": ("any", "object"),
    "granularity": ("leaves", "fields"),
    "extra": ("count", "ignore", "elements"),
    "unlisted": ("extra", "reject"),
    "empties": ("leaf", "if_absent", "never"),
    "nulls": ("value", "absent"),
    "reduce": ("f1", "ratio"),
}
OPTION_NAMES: Final = tuple(name for name in list_fields(Options) if name != "cross_types")
OPTION_ALIASES: Final = {"target_output_key": "target_key", "array_matching_threshold": "array_threshold"}
# Source 4's words for `compare`. Its "float" applies to pairs of numbers if at least one has a fraction.
EVALUATION_TYPES: Final[Mapping[str, str]] = {
    f"{kind}_evaluation_type": kind for kind in ("string", "boolean", "integer", "float", "number")
}
COMPARED_TYPES: Final = ("string", "number", "integer", "boolean", "null")
"""The JSON types that can have a default comparator; `number` includes integers without their own."""
FIELD_WORDS: Final[Mapping[str, Callable[[str, Any], object]]] = {
    "compare": read_spec,
    "transform": read_transforms,
    "skip": read_flag,
    "weight": read_weight,
    "align": read_alignment,
    "accept": read_accept,
    "leaf_threshold": lambda where, value: None if value is None else read_share(where, value),
    "match_threshold": read_match_threshold,
    "tolerance": read_numeric,
}
"""The words of a rule, in `fields` or in a schema, and the functions that read them."""
THRESHOLDS: Final = ("leaf_threshold", "match_threshold")
SKIP: Final = "skip"
"""The rule, in place of a comparator's name, that skips a field."""

_THRESHOLD: Final = "assert result.score >= 0.9, or assert_json_match(actual, expected, threshold=0.9)"
_BY_KEY: Final = {"arrays": {"key": "NAME"}, "fields": {"PATTERN": {"align": {"key": "NAME"}}}}
_SKIPPED: Final = {"skip": ["PATTERN"]}
_REPLACEMENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "tolerance": {"fields": {"PATTERN": {"tolerance": 0.01}}},
    "weights": {"fields": {"PATTERN": {"weight": 2}}},
    "ignore_order": {"arrays": "unordered"},
    **dict.fromkeys(("id", "key"), _BY_KEY),
    **dict.fromkeys(("ignore", "exclude"), _SKIPPED),
}
"""The options to write, each alone, instead of words from other tools."""

_FIELD_MATCH: Final = Options(root="object", granularity="fields", extra="ignore", reduce="ratio")
PRESETS: Final[Mapping[str, Options]] = {
    "field_match": _FIELD_MATCH,
    "field_match_normalized": replace(_FIELD_MATCH, transform=("strip_accents", "casefold")),
    "json_similarity": Options(
        extra="ignore",
        empties="if_absent",
        reduce="ratio",
        compare={"string": "levenshtein", "number": "relative"},
    ),
    "pairwise_f1": Options(
        unlisted="reject",
        arrays="unordered",
        array_threshold=0.3,
        empties="never",
        compare={
            "string": "jaccard",
            "integer": "binary",
            "number": {"threshold": {"threshold": 0.001, "difference_penalty_weighting": 0.1}},
            "boolean": "binary",
        },
    ),
    "leaf_f1": Options(compare={"number": "numeric"}),
}
ALIASES: Final[Mapping[str, str]] = {
    "json-field-match": "field_match",
    "json-field-match-normalized": "field_match_normalized",
    "json-similarity": "json_similarity",
    "structeval": "pairwise_f1",
    "schema_f1": "leaf_f1",
    "extract-eval": "leaf_f1",
}


def merge_options(base: Options, given: Mapping[str, Any]) -> Options:
    """Return `base` updated with the options of a call.

    `compare` is merged with the preset's mapping, and `skip` is added to the preset's; others are replaced.

    Raises:
        ConfigurationError: an option is unknown or its value is invalid; names of comparators and transforms
            are not looked up here.

    >>> merge_options(Options(), {"extra": "ignore"}).extra
    'ignore'
    """
    changes: dict[str, Any] = {}
    for written, value in given.items():
        name = OPTION_ALIASES.get(written, written)
        if name in EVALUATION_TYPES or (value is None and written in OPTION_ALIASES):
            continue  # source 4's configurations have null for unset options
        if name not in OPTION_NAMES:
            raise ConfigurationError(f"unknown option {written!r}{_suggest_option(written)}")
        if name in changes:
            raise ConfigurationError(f"{written!r} and {name!r} are the same option; give one")
        changes[name] = _CHECKS.get(name, _read_choice)(name, value)
    changes |= _infer_extras(base, changes)
    refuse_two_thresholds(changes)
    if not changes.keys().isdisjoint(THRESHOLDS):
        changes = dict.fromkeys(THRESHOLDS) | changes  # one threshold replaces the other
    if "skip" in changes:
        changes["skip"] = (*base.skip, *changes["skip"])
    comparators = read_comparators(given)
    if comparators:
        changes["compare"] = merge_comparators(base.compare, comparators)
    if "compare" in given:
        cross_types = _read_compare("compare", given["compare"])
        integer = ("integer",) if "number" in cross_types else ()
        changes["cross_types"] = tuple(sorted({*base.cross_types, *cross_types, *integer}))
    return replace(base, **changes)


def _infer_extras(base: Options, changes: Mapping[str, Any]) -> dict[str, str]:
    """Return the values that `extra` and `reduce` imply for each other, since extras can't change a ratio."""
    extra, reduce = changes.get("extra"), changes.get("reduce")
    counts = extra in {"count", "elements"}
    if counts and reduce == "ratio":
        raise ConfigurationError(
            f"extra is {extra!r} and reduce is 'ratio', a share of expected that extras could not change; "
            f"leave out reduce, or give {write_argument('extra', 'ignore')}"
        )
    if counts and reduce is None and base.reduce == "ratio":
        return {"reduce": "f1"}
    return {"extra": "ignore"} if reduce == "ratio" and extra is None else {}


def _suggest_option(written: str) -> str:
    """Return the end of the message about an unknown option."""
    known = (*OPTION_NAMES, "repair", "validate", "judge")
    # The list of known words has one name for each option; source 4's words are suggested only if near.
    suggestion = find_closest(written, (*known, *EVALUATION_TYPES))
    if written == "threshold":
        return f"; write {_THRESHOLD}"
    if written in _REPLACEMENTS:
        ways = (write_argument(name, value) for name, value in _REPLACEMENTS[written].items())
        return f"; write {', or '.join(ways)}"
    return did_you_mean(written, known) if suggestion is None else f"; did you mean {suggestion!r}?"


def read_comparators(given: Mapping[str, Any]) -> dict[str, Spec]:
    """Return the comparators by JSON type in options, from `compare` or source 4's words.

    "float" applies to pairs of numbers if at least one has a fraction, and does not affect integers.

    Raises:
        ConfigurationError: a comparator is given twice or is invalid.

    >>> read_comparators({"string_evaluation_type": {"evaluation_type": "levenshtein"}})
    {'string': 'levenshtein'}
    """
    comparators: dict[str, Spec] = (
        dict(_read_compare("compare", given["compare"])) if "compare" in given else {}
    )
    for written, kind in EVALUATION_TYPES.items():
        if given.get(written) is not None:
            if kind in comparators or (kind == "float" and "compare" in given and "number" in comparators):
                raise ConfigurationError(
                    f"compare and {written} both name a comparator for {kind} values; give one"
                )
            comparators[kind] = read_evaluation(written, given[written])
    return comparators


def merge_comparators(base: Mapping[str, Spec], comparators: Mapping[str, Spec]) -> dict[str, Spec]:
    """Return `base` updated with comparators by type; one for numbers also applies to integers.

    >>> merge_comparators({"number": "relative", "integer": "binary"}, {"number": "numeric"})
    {'number': 'numeric'}
    """
    merged = {**base, **comparators}
    if "number" in comparators and "integer" not in comparators:
        merged.pop("integer", None)
    if "float" in comparators:
        merged.setdefault("integer", merged.get("number", "exact"))
        merged["number"] = merged.pop("float")
    return merged


def _read_choice(name: str, value: Any) -> str:
    if isinstance(value, str) and value in CHOICES[name]:
        return value
    raise ConfigurationError(f"{name} must be {' or '.join(map(repr, CHOICES[name]))}, got {value!r}")


def _read_arrays(name: str, value: Any) -> Alignment:
    alignment = read_alignment(name, value)
    if isinstance(alignment, ByMembers):
        raise ConfigurationError(
            f"{name}: 'by' names members of one array: "
            f"{write_argument('fields', {'PATTERN': {'align': {'by': list(alignment.members)}}})}"
        )
    # A key for all arrays applies only to arrays of objects.
    return alignment if isinstance(alignment, str) else ByKey("if_objects", alignment.key)


def _read_absent(name: str, value: Any) -> tuple[Any, ...]:
    if value in ((), []):
        return ()
    if isinstance(value, (list, tuple)):
        return tuple(read_json_list(name, value))
    raise ConfigurationError(
        f"{name} must be a list of values that mean 'not there', such as [null, '', 'N/A'], got {value!r}"
    )


def _read_target_key(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ConfigurationError(
        f"{name} must be an instance path such as 'result.items[0]', or '*' for all, got {value!r}"
    )


def _read_compare(name: str, value: Any) -> Mapping[str, Spec]:
    if not isinstance(value, (str, Mapping)):
        kinds = ", ".join(COMPARED_TYPES)
        raise ConfigurationError(
            f"{name} must be a comparator, or a mapping of {kinds} to comparators, got {value!r}"
        )
    unknown = [] if isinstance(value, str) else [kind for kind in value if kind not in COMPARED_TYPES]
    if isinstance(value, str) or (unknown and len(value) == 1 and isinstance(value[unknown[0]], Mapping)):
        value = dict.fromkeys(COMPARED_TYPES, value)
    elif unknown:
        raise ConfigurationError(
            f"{name}: unknown key {unknown[0]!r}{did_you_mean(str(unknown[0]), COMPARED_TYPES)}"
        )
    for kind, spec in value.items():
        read_spec(f"{name}[{kind!r}]", spec)
    return dict(value)


def _read_schema(name: str, value: Any) -> SchemaNode | None:
    if value is None or isinstance(value, SchemaNode):
        return value
    raise ConfigurationError(f"{name} is given with each comparison, not with a metric")


def _read_field_rules(name: str, value: Any) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(value, Mapping):
        words = ", ".join(FIELD_WORDS)
        raise ConfigurationError(f"{name} is {value!r}; it must map path patterns to rules ({words})")
    return {pattern: read_rule(f"{name}[{pattern!r}]", rule) for pattern, rule in value.items()}


def read_rule(where: str, value: Any) -> dict[str, Any]:
    """Check a rule of `fields`, and return it without short forms.

    >>> read_rule("fields['id']", "skip"), read_rule("fields['total']", {"tolerance": 0.01})
    ({'skip': True}, {'compare': {'numeric': {'tolerance': {'abs': 0.01}}}})
    """
    if isinstance(value, str):
        return {"skip": True} if value == SKIP else {"compare": value}
    if not isinstance(value, Mapping):
        words = ", ".join(FIELD_WORDS)
        raise ConfigurationError(
            f"{where} must be 'skip', a comparator's name, or a mapping of {words}, got {value!r}"
        )
    if "tolerance" in value and "compare" in value:
        raise ConfigurationError(
            f"{where} has both compare and tolerance; a tolerance alone compares by `numeric`, and other "
            "comparators have it as a parameter, such as {'compare': {'amount': {'tolerance': 0.01}}}"
        )
    refuse_two_thresholds(value, f"{where}.")
    rule: dict[str, Any] = {}
    for word, given in value.items():
        if word not in FIELD_WORDS:
            hint = did_you_mean(str(word), FIELD_WORDS)
            if isinstance(given, Mapping) and find_closest(str(word), FIELD_WORDS) is None:
                hint = f"; a comparator with parameters is written {{'compare': {{{word!r}: {given!r}}}}}"
            raise ConfigurationError(f"{where} has the rule {word!r}{hint}")
        result = FIELD_WORDS[word](f"{where}.{word}", given)
        rule |= {"compare": result} if word == "tolerance" else {word: given}
    return rule


def extend_rule(given: Any, added: Any) -> dict[str, Any]:
    """Return a rule of `fields` with the words of another in addition; of a word in both, that of `added`.

    >>> extend_rule({"weight": 2, "tolerance": 1}, "amount"), extend_rule("amount", {"tolerance": 1})
    ({'weight': 2, 'compare': 'amount'}, {'tolerance': 1})
    """
    words = _list_words(added)
    extended = {**_list_words(given), **words}
    for word, other in (("compare", "tolerance"), ("tolerance", "compare")):
        if word in words:
            extended.pop(other, None)
    return extended


def _list_words(rule: Any) -> dict[str, Any]:
    """Return a rule as a mapping."""
    if isinstance(rule, str):
        return {"skip": True} if rule == SKIP else {"compare": rule}
    return dict(rule)


def _read_skip(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
        raise ConfigurationError(
            f"{name} must be a list of path patterns such as ['**.created_at'], got {value!r}"
        )
    for text in value:
        parse_pattern(text)
    return tuple(value)


def _read_accept_option(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{name} is {value!r}; it must map path patterns to accepted values")
    for pattern, given in value.items():
        read_accept(f"{name}[{pattern!r}]", given)
    return dict(value)


_CHECKS: Final[Mapping[str, Callable[[str, Any], object]]] = {
    "arrays": _read_arrays,
    "absent": _read_absent,
    "array_threshold": read_share,
    "leaf_threshold": FIELD_WORDS["leaf_threshold"],
    "match_threshold": FIELD_WORDS["match_threshold"],
    "target_key": _read_target_key,
    "compare": _read_compare,
    "transform": read_transforms,
    "fields": _read_field_rules,
    "skip": _read_skip,
    "accept": _read_accept_option,
    "schema": _read_schema,
}
