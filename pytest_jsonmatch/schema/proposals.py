"""Propose rules from gold values: formats, enumerations, keys of arrays; the reason is a `$comment`."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final
from unicodedata import category

from pytest_jsonmatch.engine.comparators.amounts import make_amount_reader
from pytest_jsonmatch.engine.comparators.codes import make_identifier_reader, make_phone_reader
from pytest_jsonmatch.engine.comparators.dates import make_date_reader
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.schema.keywords import COMPARATORS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Proposal: TypeAlias = "tuple[str, dict[str, Any]]"
"""The reason, and the rules to add to a schema."""

# With fewer distinct texts, a format may be a coincidence.
_FEWEST_TEXTS: Final = 3
# An enumeration has at most this many values; each occurs at least this often on average, in as many records.
_MOST_VALUES: Final = 20
_OCCURRENCES: Final = 5
# With fewer elements in arrays of more than one, unique values may be a coincidence.
_FEWEST_ELEMENTS: Final = 6
_DECIDED: Final = {*COMPARATORS, "x-eval-skip", "enum", "const", "anyOf", "oneOf", "$ref"}
_CODE: Final = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")
_KEY_NAME: Final = re.compile(
    r"(?:^|.*[_ -]|.*(?=[A-Z]))(?i:id|key|code|sku|no|nr|number|isbn|ean|gtin|uuid)"
)


def _names_currency(text: str) -> bool:
    """Return whether a text has a currency sign or a code of three letters; R12 need not be an amount."""
    return bool(_CODE.search(text)) or "Sc" in set(map(category, text))


def _amounts(params: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return a function that reads amounts, except those whose last digits follow the other decimal mark."""
    read = make_amount_reader(params)
    other = {".": ",", ",": "."}.get(str(params.get("decimal")), "$^")
    other_mark = re.compile(rf"[{other}]\d{{1,2}}\D*$")
    return lambda text: None if other_mark.search(text) else read(text)


@final
class _Format(NamedTuple):
    """A format that the texts of a field may have."""

    compare: str
    what: str
    reader: Callable[..., Callable[[Any], Any]]
    params: dict[str, Any]
    parameter: str = ""
    """The parameter that selects one of two readings of a text."""
    choices: tuple[str, ...] = ()
    may_be: Callable[[list[str]], bool] = bool
    """Return False for texts that can have this form with another meaning."""


_FORMATS: Final = (
    _Format(
        *("date", "dates", make_date_reader, {}, "order", ("dmy", "mdy")),
        lambda texts: not any(map(str.isdigit, texts)),
    ),
    _Format(
        *("amount", "amounts, with currencies", _amounts, {}, "decimal", (".", ",")),
        lambda texts: any(map(_names_currency, texts)),
    ),
    _Format("phone", "phone numbers with country codes", make_phone_reader, {}),
    *(
        _Format("identifier", f"valid numbers of the kind {kind}", make_identifier_reader, {"kind": kind})
        for kind in ("iban", "isbn", "issn", "isin", "lei", "eu_vat", "ean")
    ),
)


def propose_rules(node: object, numbered: Sequence[tuple[int, Any]]) -> None:
    """Add rules that fit all values, and the reason for each, to a schema, in place.

    Args:
        node: the schema.
        numbered: the values, each with the number of its record.

    A schema with a rule of its own, an `enum` or alternatives does not change.

    >>> leaf = {"type": "string"}
    >>> propose_rules(leaf, [(1, "03/04/2024"), (2, "25/04/2024"), (3, "01/05/2024")])
    >>> leaf["x-eval-compare"]
    {'date': {'order': 'dmy'}}
    >>> leaf["$comment"]
    "proposed: all 3 values are dates; '25/04/2024' can be read in only one way"
    """
    if not isinstance(node, dict) or not node.keys().isdisjoint(_DECIDED):
        return
    numbered = [(number, value) for number, value in numbered if value is not None]
    values = [value for _, value in numbered]
    properties, items = node.get("properties"), node.get("items")
    if isinstance(properties, dict):
        objects = [(number, value) for number, value in numbered if type(value) is dict]
        for name, member in properties.items():
            propose_rules(member, [(number, value[name]) for number, value in objects if name in value])
    if isinstance(items, dict):
        arrays = [(number, value) for number, value in numbered if type(value) is list]
        propose_rules(items, [(number, element) for number, array in arrays for element in array])
        if "x-eval-align" not in node:
            _add(node, _key_rule([array for _, array in arrays]))
    if set(map(type, values)) == {str}:
        records = len({number for number, _ in numbered})
        _add(node, _format_rule(values) or _enumeration(values, records, node.get("type")))


def _add(node: dict[str, Any], proposal: Proposal | None) -> None:
    if proposal is not None:
        reason, rules = proposal
        node.update(rules)
        node["$comment"] = "; ".join(filter(None, [node.get("$comment"), reason]))


def _format_rule(texts: list[str]) -> Proposal | None:
    distinct = list(dict.fromkeys(texts))
    if len(distinct) < _FEWEST_TEXTS:
        return None
    for form in _FORMATS:
        reason = f"all {len(texts)} values are {form.what}"
        default_readings = _readings(form, form.params, distinct)
        by_choice = {choice: _readings(form, {form.parameter: choice}, distinct) for choice in form.choices}
        fitting = [choice for choice, readings in by_choice.items() if None not in readings]
        if None not in default_readings:
            if form.may_be(distinct):
                spec = {form.compare: form.params} if form.params else form.compare
                return f"proposed: {reason}", {"x-eval-compare": spec}
        elif fitting and form.may_be(distinct):
            if len(fitting) == 1:
                other = next(readings for choice, readings in by_choice.items() if choice not in fitting)
                reason += f"; {distinct[other.index(None)]!r} can be read in only one way"
                return f"proposed: {reason}", {"x-eval-compare": {form.compare: {form.parameter: fitting[0]}}}
            ambiguous = distinct[default_readings.index(None)]
            reason += f", but {ambiguous!r} can be read in two ways: compare with {form.compare!r}"
            return f"{reason} once you know which {form.parameter!r} is right", {}
    return None


def _readings(form: _Format, params: dict[str, Any], texts: list[str]) -> list[Any]:
    with suppress(ConfigurationError):  # the library is an extra that is not installed
        return list(map(form.reader(params), texts))
    return [None]


def _enumeration(texts: list[str], records: int, types: object) -> Proposal | None:
    distinct = sorted(set(texts))
    limit = min(_MOST_VALUES, len(texts) / _OCCURRENCES)
    if records < _OCCURRENCES or not 2 <= len(distinct) <= limit:
        return None
    may_be_null = isinstance(types, list) and "null" in types
    reason = f"proposed: {len(texts)} values are only {len(distinct)} different ones"
    return reason, {"enum": [*distinct, *([None] if may_be_null else [])]}


def _key_rule(arrays: list[list[Any]]) -> Proposal | None:
    """Propose the member that identifies the elements of each array, or name all candidates."""
    elements = [element for array in arrays for element in array]
    several = [len(array) for array in arrays if len(array) > 1]
    if len(several) < 2 or sum(several) < _FEWEST_ELEMENTS or set(map(type, elements)) != {dict}:
        return None
    unique = [name for name in elements[0] if all(_identifies(name, array) for array in arrays)]
    keys = list(filter(_KEY_NAME.fullmatch, unique))
    reason = f"the elements of each array ({len(arrays)}) differ in {', '.join(map(repr, unique))}"
    if len(keys) == 1:
        return f"proposed: {reason}", {"x-eval-align": {"match_by": "key_field", "key": keys[0]}}
    return (f"{reason}: if one of them identifies an element, make it the key", {}) if unique else None


def _identifies(name: str, array: list[dict[str, Any]]) -> bool:
    keys = [element.get(name) for element in array]
    return {str, int}.issuperset(map(type, keys)) and len(set(keys)) == len(keys)
