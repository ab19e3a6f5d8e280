"""Laws of pairing: bounds are bounds, both bodies of a grid agree, and a cell is what the walk makes of it."""

from __future__ import annotations

import copy
import random
from collections import Counter
from contextlib import contextmanager
from itertools import permutations
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, reject
from hypothesis import strategies as st

from pytest_jsonmatch import ConfigurationError, JsonMatchError, compare_json
from pytest_jsonmatch.comparing.comparer import get_plan
from pytest_jsonmatch.engine.align.arrays import Aligner
from pytest_jsonmatch.engine.align.columns import GridBuilder
from pytest_jsonmatch.engine.align.context import PairScore
from pytest_jsonmatch.engine.align.grid import Grid
from pytest_jsonmatch.engine.align.large import ArrayGrid
from pytest_jsonmatch.engine.align.small import ListGrid
from pytest_jsonmatch.engine.align.solve import assign_lists
from pytest_jsonmatch.engine.plan.compile import Plan
from pytest_jsonmatch.engine.result.aggregation import count_plain_matches
from pytest_jsonmatch.engine.score.documents import score, write_all
from pytest_jsonmatch.engine.score.field import ROOT
from pytest_jsonmatch.engine.score.walk import make_measure
from pytest_jsonmatch.engine.score.walkstate import WalkState
from pytest_jsonmatch.engine.value.paths import ELEMENT
from pytest_jsonmatch.engine.value.sums import add_sums
from tests.conftest import session_registry
from tests.fuzz import arrays
from tests.laws import law

STATUSES = ("match", "mismatch", "omission", "hallucination", "skipped", "batch_error")
BODIES = {"lists": ListGrid, "arrays": ArrayGrid}


@pytest.fixture
def known():
    with arrays.comparators():
        yield


# -- grids ---------------------------------------------------------------------------------------------------


class Elements(NamedTuple):
    """The elements of two arrays, and what pairs them."""

    plan: Plan
    expected: list[Any]
    actual: list[Any]

    def grid(self, body: type[Grid]) -> Grid:
        options = self.plan.options
        aligner = Aligner(self.plan, two_sided=(options.extra, options.reduce) == ("count", "f1"))
        element = self.plan.root.undecided[ELEMENT]
        grid = GridBuilder(aligner, element, body).build_grid(element, self.expected, self.actual)
        grid.walk = self.walked, range(10**6), range(10**6)
        grid.compute_worths(aligner.make_leaf_counts(element, self.expected, self.actual))
        return grid

    def walked(self, at: int, to: int) -> PairScore:
        return make_measure(WalkState(self.plan, {}), self.plan.root, ROOT, self.expected, self.actual)(
            at, to
        )

    def cells(self) -> list[tuple[int, int]]:
        return [(at, to) for at in range(len(self.expected)) for to in range(len(self.actual))]


@contextmanager
def possible():
    """Leave out what is refused: a matcher in a key, or in a value that a comparator takes whole."""
    try:
        yield
    except ConfigurationError:
        reject()


def bounds_of(grid: Grid, case: Elements) -> Any:
    return copy.deepcopy(grid.select_worths(range(len(case.expected)), range(len(case.actual))))


def check_grid(grid: Grid, case: Elements) -> None:
    bounds = bounds_of(grid, case)
    for at, to in case.cells():
        measured = grid.measure(at, to)
        assert measured[:2] == pytest.approx(case.walked(at, to)[:2], abs=1e-9), (at, to)
        assert grid.get_worth(measured) <= bounds[at][to] + 1e-12, (at, to)


SPECIAL = [
    # Only the walk scores what may be accepted under several alternatives.
    (
        {
            "schema": {"type": "array", "items": {"anyOf": [arrays.HEAVY_TEXTS, {}]}, **arrays.PAIRED},
            "accept": {"[]": ["tea"]},
        },
        [["a", "b"]],
        [["a", "b"]],
    ),
    # What is optional in an object counts as long as there is any counterpart, even an array.
    (
        {"arrays": "unordered", "accept": {"[].c.a": {"optional": True}}},
        [{"a": 1, "c": {"a": 1}}],
        [{"a": 1, "c": [1]}, {"a": 1, "c": {"a": 1}}, {"a": 1}],
    ),
    (
        {"arrays": "unordered", "accept": {"[].c[].a": {"optional": True}}},
        [{"a": 1, "c": [{"a": 1}, {"a": 2}]}, {"a": 1, "c": [{"a": 1}]}],
        [{"a": 1, "c": [{"a": 1}]}, {"a": 1, "c": [{"a": 1}, {"a": 2}]}],
    ),
]


@law(
    arrays.options(),
    arrays.EXPECTED,
    arrays.ACTUAL,
    each=BODIES,
    also=SPECIAL,
    examples=400,
    within=arrays.comparators,
)
def test_a_cell_is_what_the_walk_of_its_pair_finds_and_never_above_its_bound(body, given, expected, actual):
    case = Elements(get_plan("leaf_f1", given), expected, actual)
    with possible():
        check_grid(case.grid(BODIES[body]), case)


def is_only_optimum(worths: list[list[float]], pairs: list[tuple[int, int]]) -> bool:
    """Whether every other pairing is worth less, and by more than rounding."""
    total = sum(worths[at][to] for at, to in pairs)
    for at, to in pairs:
        others = [list(line) for line in worths]
        others[at][to] = 0.0
        if sum(others[i][j] for i, j in enumerate(assign_lists(others)) if j >= 0) > total - 1e-9:
            return False
    return True


@law(arrays.options(), arrays.EXPECTED, arrays.ACTUAL, examples=300, within=arrays.comparators)
def test_both_bodies_find_the_same(given, expected, actual):
    case = Elements(get_plan("leaf_f1", given), expected, actual)
    with possible():
        sides = range(len(expected)), range(len(actual))
        small, large = case.grid(ListGrid), case.grid(ArrayGrid)
        one, other = small.find_best_pairs(*sides), large.find_best_pairs(*sides)
        worth = [
            sum(grid.measure(*pair).similarity for pair in best.pairs)
            for grid, best in ((small, one), (large, other))
        ]
        assert (worth[0], one.total_score) == pytest.approx((worth[1], other.total_score), abs=1e-7)
        cells = [[small.get_worth(small.measure(at, to)) for to in sides[1]] for at in sides[0]]
        if is_only_optimum(cells, one.pairs):
            assert one.pairs == other.pairs


@pytest.mark.parametrize("size", [20, 60], ids=["lists", "arrays"])
@pytest.mark.parametrize(
    ("more", "walks"),
    [
        ({}, 0),
        ({"reduce": "ratio", "empties": "if_absent"}, 0),
        ({"extra": "ignore"}, 0),
        ({"fields": {"[].a": {"align": {"key": "n"}}}}, 0),
        ({"accept": {"[].a[].n": {"optional": True}, "[].c": {"optional": True}}}, 0),
        ({"accept": {"[].b": [None, "none"]}}, 0),
        ({"compare": {"string": "levenshtein"}}, 0),
        ({"accept": {"[].b": [[{"n": 1}, {"n": 2}]]}}, 3),
    ],
    ids=[
        " ",
        "ratio",
        "extras ignored",
        "key",
        "optional",
        "null for an array",
        "long texts",
        "an array is accepted",
    ],
)
def test_few_pairs_are_walked(size, more, walks, monkeypatch):
    made = []
    for body in BODIES.values():

        def counting(grid, *cell, measure=body.measure):
            made.append(grid.needs_walk)
            return measure(grid, *cell)

        monkeypatch.setattr(body, "measure", counting)
    rng = random.Random(size)
    expected = [{**order, "d": long_text(rng)} for order in orders(rng, size)]
    actual = [{**order, "d": order["d"][:-1], "e": 1} for order in expected]
    actual[0]["b"] = None
    rng.shuffle(actual)
    assert compare_json(actual, expected, arrays="unordered", **more).recall > 0.5
    assert sum(made) <= walks * size


def test_members_that_few_elements_have_cost_little(monkeypatch):
    cells = []
    add_column = ArrayGrid.add_column

    def adding(grid, *column):
        cells.append(grid.shape[0] * grid.shape[1])
        add_column(grid, *column)

    monkeypatch.setattr(ArrayGrid, "add_column", adding)
    size = 60
    expected = [{"kind": at % 7, **{f"{at}.{n}": n for n in range(5)}} for at in range(size)]
    actual = [{**record, "kind": None} for record in reversed(expected)]
    result = compare_json(actual, expected, arrays="unordered")
    assert pairs(result) == [(at, size - 1 - at) for at in range(size)]
    assert sum(cells) < 3 * size * size


def pairs(result):
    return [(at, to) for at, to, _ in result.alignments[0].pairs]


def test_the_larger_sum_wins_also_where_nothing_is_known_before_the_walk():
    expected, actual = [{"a": [1]}, {"a": [2, 3, 4, 5, 6, 7]}], [{"a": [9, 1, 2, 3, 4, 5, 6, 7]}]
    result = compare_json(actual, expected, metric="leaf_f1", arrays="unordered", extra="ignore")
    assert (pairs(result), result.recall) == ([(1, 0)], 6 / 7)


_SKIPPING = {
    "a rule": {"fields": {"$": {"align": "unordered"}, "[].id": {"skip": True}}},
    "an alternative": {
        "schema": {
            "x-eval-align": {"match_by": "hungarian"},
            "items": {
                "anyOf": [
                    {"properties": {"other": {}}, "required": ["other"]},
                    {"properties": {"n": {}, "inside": {}, "id": {"x-eval-skip": True}}},
                ]
            },
        }
    },
}


@pytest.mark.parametrize("inside", [0, [0]], ids=["scalars", "containers"])
@pytest.mark.parametrize("skipping", _SKIPPING)
def test_what_is_skipped_decides_no_tie(skipping, inside):
    expected = [{"n": 1, "inside": inside}, {"n": 2, "inside": inside}]
    for ids in ((1, 2), (2, 1)):
        actual = [{"n": n, "inside": inside, "id": number} for n, number in zip((3, 4), ids, strict=True)]
        result = compare_json(actual, expected, **_SKIPPING[skipping])
        met = [(each.expected, each.actual) for each in result.field_results if each.path == "[].n"]
        assert met == [(1, 3), (2, 4)]


@pytest.mark.parametrize(
    ("expected", "actual", "options"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, {"fields": {"[].b": {"skip": True}}}),
        ({"a": 1, "b": "x"}, {"a": 1, "b": "X"}, {"fields": {"[].b": {"transform": ["lowercase"]}}}),
        ({"a": [1, 2]}, {"a": [2, 1]}, {}),
        ({"a": 1, "b": None}, {"a": 1}, {"nulls": "absent"}),
    ],
    ids=["skipped", "transformed", "unordered", "null"],
)
def test_elements_equal_under_the_plan_are_partners_whatever_the_threshold(expected, actual, options):
    given_options = {"arrays": "unordered", "array_threshold": 1.0, **options}
    assert compare_json([actual], [expected], **given_options).score == 1.0
    result = compare_json([{"a": True, "b": 1}], [{"a": 1, "b": 1}], **given_options)
    assert "match" not in result.counts


@pytest.mark.parametrize("order", list(permutations([0, 0.10001, float("nan"), 0.1]))[::5])
def test_nan_equals_nothing_wherever_it_stands(order):
    assert compare_json([list(order)], [[0, 0.1, 0.1, 0.1]], metric="pairwise_f1").score == 0.75


def test_an_array_full_of_what_weighs_nothing_is_not_empty():
    expected, actual = [{"a": [7], "b": 1}, {"b": 1, "c": 5, "d": 4}], [{"b": 1, "c": 5, "x": 3}]
    rules = {"[].a[]": {"weight": 0}}
    result = compare_json(actual, expected, metric="json_similarity", arrays="unordered", fields=rules)
    # All that weighs anything in the first is right, and two thirds of the second.
    assert (pairs(result), result.recall) == ([(0, 0)], 1 / 4)


def test_ordered_arrays_in_elements_count_to_their_ends():
    expected, actual = [{"a": [1, 2], "b": 1}], [{"a": [1, 2, 3, 4, 5, 6], "b": 1}, {"a": [1, 2], "b": 2}]
    for one, other in ((expected, actual), (actual, expected)):
        result = compare_json(other, one, fields={"$": {"align": "unordered"}})
        ((*_, f1),) = result.alignments[0].pairs
        assert f1 == 4 / 6


@pytest.mark.parametrize("actual", [{}, {"a": [[]]}], ids=["absent", "there"])
def test_an_empty_array_weighs_what_its_alternative_says(actual):
    kinds = [{"x-eval-weight": 0.5}, {"type": "object"}]
    schema = {"properties": {"a": {"items": {"oneOf": kinds}}}}
    assert compare_json(actual, {"a": [[]]}, metric="leaf_f1", schema=schema).total_leaves == 0.5


# -- larger grids ----------------------------------------------------------------------------------------------

WORDS = [one + other for one in ("ba", "ko", "lu", "mi", "ne") for other in ("da", "fe", "gi", "ro")]


def long_text(rng):
    """More than 64 letters, where edit distances are bounded before they are measured."""
    return " ".join(rng.choices(WORDS, k=rng.randint(14, 20)))


def lines(rng, size):
    return [
        {"name": rng.choice(WORDS), "n": rng.randint(0, 3), "tags": rng.choices(WORDS, k=rng.randint(0, 4))}
        for _ in range(size)
    ]


def orders(rng, size):
    """Objects in which nearly anything may be missing or empty, at two levels.

    No two lines have the same name: which of tied pairings inside is taken would change what a pair is worth.
    """

    def some(record):
        return {key: value for key, value in record.items() if rng.random() < 0.8}

    def named(line):
        return {**line, "name": f"{rng.choice(WORDS)} {rng.randrange(10**6)} {rng.choice(WORDS)}"}

    return [
        some(
            {
                "a": list(map(named, lines(rng, 2))),
                "b": [some({"n": rng.randint(0, 9)})],
                "c": some({"n": 1, "t": [[]]}),
            }
        )
        for _ in range(size)
    ]


LARGE = {
    "long texts": (lambda rng, size: [long_text(rng) for _ in range(size)], {}),
    "long texts in arrays": (lambda rng, size: [[long_text(rng), long_text(rng)] for _ in range(size)], {}),
    "tags": (lines, {}),
    "tags, extras ignored": (lines, {"extra": "ignore"}),
    "orders": (orders, {}),
    "orders, as ratio": (orders, {"reduce": "ratio", "empties": "if_absent"}),
    "orders, extras ignored": (orders, {"extra": "ignore", "empties": "if_absent"}),
    "orders by key": (orders, {"fields": {"[].a": {"align": {"key": "n"}}}}),
    "orders by key, where they have one": (
        lambda rng, size: [
            {**each, "a": ["x", "y"]} if rng.random() < 0.2 else each for each in orders(rng, size)
        ],
        {"arrays": {"key": "n"}, "fields": {"$": {"align": "unordered"}}},
    ),
    "orders with what is optional": (
        orders,
        {"accept": {"[].a[].n": {"optional": True}, "[].c": {"optional": True}}},
    ),
    "orders where an array is accepted": (orders, {"accept": {"[].b": [[{"n": 1}, {"n": 2}]]}}),
    "tags of one word": (lines, {"fields": {"[].tags[]": {"compare": "exact"}}}),
    "tags, as ratio": (lines, {"reduce": "ratio", "empties": "if_absent"}),
    "tags with matchers": (lines, {}),
    "tags scored by a user's comparator": (lines, {"fields": {"[].tags[]": {"compare": "letters"}}}),
}


def large(kind, seed, size):
    rng = random.Random(seed)
    make, more = LARGE[kind]
    plan = get_plan("leaf_f1", {"arrays": "unordered", "compare": "levenshtein", **more})
    expected = make(rng, size)
    if kind == "tags with matchers":
        for line in expected:
            line["n"], line["name"] = rng.choice(arrays.MATCHERS), rng.choice(arrays.MATCHERS)
    return Elements(plan, expected, make(rng, size))


@law(st.integers(0, 999), each=LARGE, examples=5, within=arrays.comparators)
def test_bounds_of_larger_grids_lead_to_the_optimum_of_exact_cells(kind, seed):
    size = 20
    case = large(kind, seed, size)
    grid = case.grid(ArrayGrid)
    bounds = bounds_of(grid, case)
    best = grid.find_best_pairs(range(size), range(size))
    cells = [[0.0] * size for _ in range(size)]
    for at, to in case.cells():
        measured = grid.measure(at, to)
        cells[at][to] = grid.get_worth(measured)
        assert measured[:2] == pytest.approx(case.walked(at, to)[:2], abs=1e-9), (at, to)
        assert cells[at][to] <= bounds[at][to] + 1e-12, (at, to)
    optimum = sum(cells[at][to] for at, to in enumerate(assign_lists(cells)) if to >= 0)
    assert sum(cells[at][to] for at, to in best.pairs) == pytest.approx(optimum, abs=1e-11)


# -- counts and rows -------------------------------------------------------------------------------------------


@law(
    arrays.METRICS,
    arrays.ARRAYS,
    arrays.options(),
    arrays.DOCUMENTS,
    arrays.ANSWERS,
    examples=400,
    within=arrays.comparators,
)
def test_rows_add_up_to_what_was_counted(metric, how, given, expected, actual):
    plan = get_plan(metric, {**given, "arrays": how})
    try:
        outcome = score(plan, expected, actual)
    except JsonMatchError:
        assume(False)
    whole = write_all(plan, outcome, expected, actual)
    rows = Counter((each.node.place.path, each.status) for each in whole.findings)
    counted = Counter((each.node.place.path, each.status) for each in outcome.findings)
    plain = count_plain_matches(outcome.visited, outcome.findings)
    assert rows == counted + Counter({(node.path, "match"): number for node, number in plain.items()})
    assert sum(plain.values()) == outcome.matches
    assert add_sums(each.sums for each in whole.findings) == pytest.approx(outcome.sums, abs=1e-9)
    assert whole.alignments == outcome.alignments


# -- order -----------------------------------------------------------------------------------------------------


def headline(result):
    return pytest.approx((result.score, result.precision, result.recall, result.f1), abs=1e-9)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("kind", [kind for kind in LARGE if "by key" not in kind])
def test_order_changes_no_score_of_larger_arrays(shuffled, kind):
    rng = random.Random(kind)
    case = large(kind, 1, 36)
    more = {"metric": "leaf_f1", "arrays": "unordered", "compare": "levenshtein", **LARGE[kind][1]}
    before = compare_json(case.actual, case.expected, **more)
    after = compare_json(shuffled(case.actual, rng), shuffled(case.expected, rng), **more)
    assert (after.score, after.precision, after.recall, after.f1) == headline(before)


# -- a user's comparator -----------------------------------------------------------------------------------------


def notes(rng, size, kind):
    """Objects with a note that is its own everywhere, and answers of which most have several mistakes."""
    expected, actual = [], []
    for number in range(size):
        few = kind == "few values"
        record = {
            "code": rng.randint(0, 3 * size) if few else number,
            "name": rng.choice(WORDS) if few else f"{rng.choice(WORDS)} {rng.choice(WORDS)} {number}",
            "n": rng.choice([1, 2, 3, None]) if few else rng.randint(1, 5_000),
            "ok": rng.random() < 0.5,
            "price": rng.randint(1, 80) / 4,
            "note": f"{rng.choice(WORDS)} {rng.choice(WORDS)} e{number}",
        }
        if kind == "tags":
            record["tags"] = [f"{rng.choice(WORDS)}{rng.randint(0, 99)}" for _ in range(3)]
        answer = {**record, "note": f"{record['note'].rsplit(' ', 1)[0]} a{number}"}
        for key in rng.sample(["name", "n", "ok", "price"], rng.randint(1, 2)):
            answer[key] = rng.choice([record[key], None, "other", 7])
        if rng.random() < 0.1:
            del answer[rng.choice(["name", "n", "price"])]
        if kind == "tags":
            answer["tags"] = rng.sample([*record["tags"][1:], "new"], 3)
        expected.append(record)
        actual.append(answer)
    return expected, rng.sample(actual, size)


@pytest.mark.parametrize("size", [20, 60, 200, 500])
@pytest.mark.parametrize("kind", ["mistakes", "few values", "tags"])
def test_a_users_comparator_sees_few_pairs_and_none_twice(kind, size):
    calls = Counter()

    def similar(expected, actual, params):
        calls[expected, actual] += 1
        return arrays.letters(expected[:9], actual[:9])

    expected, actual = notes(random.Random(f"{kind} {size}"), size, kind)
    with session_registry() as registry:
        registry.comparator("similar", similar)
        rules = {"[].note": {"compare": "similar"}}
        result = compare_json(actual, expected, metric="pairwise_f1", fields=rules)
        rows = [(row.expected, row.actual) for row in result.field_results if row.path == "[].note"]
        assert len(result.containers) > size
        assert len(result.alignments[0].pairs) <= size
        assert result.to_dict()["score"] == result.score
    assert sum(calls.values()) <= 5 * size
    assert set(calls.values()) == {1}
    assert {pair for pair in rows if all(isinstance(note, str) for note in pair)} <= set(calls)


@pytest.mark.parametrize(
    ("kind", "more"),
    [("tags", {}), ("tags", {"leaf_threshold": 1.0}), ("tags", {"match_threshold": 0.3}), ("objects", {})],
)
def test_very_many_nested_elements_pair_as_they_do_alone(kind, more):
    rng = random.Random(5)

    def element(at):
        text = f"{rng.randrange(10**6)} {rng.randrange(10**6)}"
        return text if kind == "tags" else {"text": text, "at": at}

    # So many that the table of all elements would be large: 2,100 on each side.
    expected = [{"id": at, "tags": [element(at) for _ in range(10)]} for at in range(210)]
    actual = [{"id": at["id"], "tags": [*at["tags"][3:], *(element(0) for _ in range(3))]} for at in expected]
    rng.shuffle(actual)
    result = compare_json(actual, expected, metric="pairwise_f1", **more)
    alone = [
        compare_json(other, one, metric="pairwise_f1", **more)
        for one in expected
        for other in actual
        if one["id"] == other["id"]
    ]
    assert result.matched_leaves == pytest.approx(sum(one.matched_leaves for one in alone))
    assert len(result.alignments[0].pairs) == 210


TYING = ([], [9], 2, {}, {"x": 9}, [[9], []])


@pytest.mark.parametrize("metric", ["leaf_f1", "pairwise_f1"])
@pytest.mark.parametrize(("size", "rounds"), [(2, 60), (3, 60), (6, 40), (40, 4), (140, 1)])
def test_swapping_the_sides_takes_the_same_of_pairings_that_tie(metric, size, rounds):
    # An empty array counts as a leaf unless its partner is an array: such pairings have other leaves.
    def make(rng, number):
        members = (
            {key: rng.choice(TYING) for key in rng.sample("acd", rng.randrange(3))} for _ in range(number)
        )
        return [{"b": [9], **more} for more in members]

    for seed in range(rounds):
        rng = random.Random(seed)
        one, other = make(rng, size), make(rng, size - (seed % 3 == 0))
        forth = compare_json(one, other, metric=metric, arrays="unordered", empties="leaf")
        back = compare_json(other, one, metric=metric, arrays="unordered", empties="leaf")
        assert (back.precision, back.recall) == pytest.approx((forth.recall, forth.precision), abs=1e-12)


def test_a_tie_with_other_numbers_of_leaves_is_the_same_in_both_directions():
    one = [{"b": [9], "a": [9], "c": [9]}, {"b": [9]}]
    other = [{"a": [], "b": [9]}, {"a": 2, "b": [9]}]
    forth, back = (compare_json(*sides, arrays="unordered") for sides in ((one, other), (other, one)))
    assert (forth.precision, forth.recall) == (back.recall, back.precision)
