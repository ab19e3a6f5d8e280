"""Every built-in comparator, most with several sets of parameters: what `compare` knows is under the laws."""

from __future__ import annotations

from tests.conftest import built_in_comparators

VARIANTS = {
    "exact": {},
    "exact strict": {"strict_number_type": True},
    "binary": {},
    "numeric": {},
    "numeric rel": {"tolerance": {"rel": 0.1}},
    "numeric abs": {"tolerance": {"abs": 0.5}},
    "numeric both": {"tolerance": {"rel": 0.5, "abs": 2}},
    "relative": {},
    "threshold": {"threshold": 10},
    "threshold steep": {"threshold": 3, "difference_penalty_weighting": 0.1},
    "threshold step": {"threshold": 2.5, "difference_penalty_weighting": 0},
    "levenshtein": {},
    "jaccard": {},
    "oneof": {"values": ["a", 1, None, [True]]},
    "oneof groups": {"groups": [["a", "b", 1], [None, "n/a"], [1, 2.5]]},
    "normalized_text": {},
    "date": {},
    "date formats": {"formats": ["%d/%m/%Y", "%Y"]},
    "date order": {"order": "dmy"},
    "date month": {"precision": "month"},
    "date languages": {"languages": ["de", "en"]},
    "amount": {},
    "amount abs": {"decimal": ",", "tolerance": {"abs": 0.5}},
    "amount rel": {"tolerance": {"rel": 0.1}},
    "phone": {},
    "phone region": {"region": "DE"},
    "identifier": {"kind": "isbn"},
    "contains": {},
    "iou": {},
    "token_f1": {},
    "partial_ratio": {},
    "token_sort_ratio": {},
    "token_set_ratio": {},
}
# What needs a model or a judge, or whose expected value is no value but a pattern.
OTHERS = {"regex", "cosine", "semantic"}
# Which side is expected makes no difference with these: a claim of their own.
SYMMETRIC = VARIANTS.keys() - {
    *("numeric rel", "numeric both", "relative", "oneof", "amount rel", "contains", "partial_ratio"),
}
KNOWN = built_in_comparators()
VARIANTS |= {name: {} for name in KNOWN if name not in OTHERS | {key.split()[0] for key in VARIANTS}}
REFLEXIVE = [key for key in VARIANTS if key != "oneof"]
"""Those that give two equal values 1."""


def as_rule(key: str) -> object:
    """A variant as rules name it."""
    name, params = key.split(maxsplit=1)[0], VARIANTS[key]
    return {name: params} if params else name
