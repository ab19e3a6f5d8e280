"""Eval schemas, and documents that hold nothing outside of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

# Few values, so that many are equal and many arrays hold twins.
SCALARS = st.sampled_from([0, 1, 1.0, 2.5, "a", "a b", "B a", " b", "", None, True, False, 10**400])
PLAIN_RULES = {
    "x-eval-weight": st.sampled_from([0, 0.5, 2]),
    "x-eval-skip": st.sampled_from([True, False, False]),
    "x-eval-transform": st.sampled_from([["lowercase"], ["strip", "sort_tokens"]]),
}
# An empty array is a leaf, and one full of what is skipped or weighs nothing has none: there junk takes a leaf away.
COUNTED = {"x-eval-weight": st.sampled_from([0.5, 2]), "x-eval-transform": PLAIN_RULES["x-eval-transform"]}
ENUM = {"enum": st.just(["a", "a b", 1, None])}
COMPARE = {
    "x-eval-compare": st.sampled_from(["exact", "levenshtein", "jaccard", {"threshold": {"threshold": 2}}])
}
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "x", "y z"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def schemas(draw, depth=3, plain=PLAIN_RULES, **more) -> dict[str, Any]:
    """A schema that lists members and elements; at the root of a document there is an object or an array."""
    kind = (
        draw(st.sampled_from(["object", "array", "object", "leaf", "open"][: 3 if depth == 3 else 5]))
        if depth
        else "leaf"
    )
    if kind == "leaf":
        types = st.sampled_from(
            ["string", "number", "integer", ["string", "null"], ["number", "string", "boolean"]]
        )
        return {"type": draw(types), **draw(st.fixed_dictionaries({}, optional={**plain, **ENUM, **more}))}
    rules = draw(st.fixed_dictionaries({}, optional=plain))
    if kind == "open":
        return {"type": ["object", "array"], **rules}
    below = schemas(depth=depth - 1, plain=plain, **more)
    if kind == "array":
        return {"type": "array", "items": draw(below), **rules}
    keys = draw(st.lists(st.sampled_from(["a", "b", "c.d", "e f"]), min_size=1, unique=True))
    return {"type": "object", "properties": {key: draw(below) for key in keys}, **rules}


@st.composite
def documents(draw, schema, *, loose=True):
    """A value that holds nothing outside the schema, now and then of another type than it says."""
    if "properties" in schema and not (loose and draw(st.integers(0, 9)) == 0):
        keys = [key for key in schema["properties"] if draw(st.integers(0, 4))]
        return {key: draw(documents(schema["properties"][key])) for key in keys}
    if "items" in schema and not (loose and draw(st.integers(0, 9)) == 0):
        return [draw(documents(schema["items"])) for _ in range(draw(st.integers(0, 4)))]
    return draw(JSON if schema["type"] == ["object", "array"] else SCALARS)
