"""Agreement of a judge with people, against published tables, the definition and its symmetries."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pytest_jsonmatch.gate.agreement import Agreement
from pytest_jsonmatch.gate.intervals import wilson

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
TABLES = st.builds(Agreement, *[st.integers(0, 60)] * 4)
WITH_KAPPA = TABLES.filter(lambda table: table.has_both_labels)


def by_definition(table: Agreement) -> Fraction:
    """Kappa from the two raters' lists, as Cohen defines it."""
    pairs = (
        [(True, True)] * table.true_same
        + [(False, True)] * table.false_same
        + [(True, False)] * table.false_different
        + [(False, False)] * table.true_different
    )
    number = len(pairs)
    observed = Fraction(sum(people == judge for people, judge in pairs), number)
    chance = sum(
        Fraction(sum(people is word for people, _ in pairs), number)
        * Fraction(sum(judge is word for _, judge in pairs), number)
        for word in (True, False)
    )
    return (observed - chance) / (1 - chance)


@pytest.mark.parametrize(
    ("cells", "kappa"),
    [
        # Sim & Wright 2005, The kappa statistic in reliability studies, table 1.
        ((22, 2, 4, 11), 0.67),
        # Feinstein & Cicchetti 1990, High agreement but low kappa: the same accuracy, two kappas.
        ((40, 9, 6, 45), 0.70),
        ((80, 10, 5, 5), 0.32),
    ],
)
def test_kappa_as_it_is_published(cells, kappa):
    assert round(Agreement(*cells).kappa, 2) == kappa


def test_figures_by_hand():
    table = Agreement(true_same=20, false_same=10, false_different=5, true_different=15)
    # Chance: 0.5 x 0.6 + 0.5 x 0.4 = 0.5; (0.7 - 0.5) / (1 - 0.5).
    assert (table.number, table.agreed, table.accuracy, table.kappa) == (50, 35, 0.7, 0.4)
    assert (table.precision, table.recall) == (2 / 3, 0.8)


def test_pairs_are_counted():
    pairs = [(True, True)] * 4 + [(False, True)] * 3 + [(True, False)] * 2 + [(False, False)]
    assert Agreement.of(pairs) == Agreement(4, 3, 2, 1)


@given(WITH_KAPPA)
def test_kappa_is_what_its_definition_says(table):
    assert table.kappa == pytest.approx(float(by_definition(table)), abs=1e-12)


@given(WITH_KAPPA.filter(lambda table: 0 < table.true_same + table.false_same < table.number))
def test_judge_and_people_may_change_places_and_so_may_the_words(table):
    a, b, c, d = table.true_same, table.false_same, table.false_different, table.true_different
    wanted = Agreement.kappa_interval(table)
    assert [
        Agreement.kappa_interval(Agreement(a, c, b, d)),
        Agreement.kappa_interval(Agreement(d, c, b, a)),
    ] == [wanted] * 2


@given(WITH_KAPPA)
def test_an_interval_holds_its_figure(table):
    found = Agreement.kappa_interval(table)
    assert -1.0 <= found.low <= found.estimate <= found.high <= 1.0
    assert found.low < found.high
    assert (found.estimate, found.cases) == (table.kappa, table.number)


@given(WITH_KAPPA)
def test_only_full_agreement_is_1_and_a_judge_with_one_word_is_0(table):
    assert (table.kappa == 1.0) == (table.agreed == table.number)
    people = table.true_same + table.false_different
    assert Agreement(people, table.number - people, 0, 0).kappa == 0.0


def test_full_agreement_is_not_certain():
    found = Agreement.kappa_interval(Agreement(30, 0, 0, 10))
    assert (found.estimate, found.high, 0.5 < found.low < 0.9) == (1.0, 1.0, True)


def test_more_pairs_and_less_confidence_make_it_narrower():
    def width(table, confidence=0.95):
        found = Agreement.kappa_interval(table, confidence)
        return found.high - found.low

    small, large = Agreement(20, 10, 5, 15), Agreement(200, 100, 50, 150)
    assert width(small) > 2 * width(large)
    assert width(small, 0.8) < width(small)


@pytest.mark.parametrize("cells", [(0, 0, 0, 0), (3, 0, 2, 0), (0, 4, 0, 1)])
def test_without_both_labels_there_is_no_kappa(cells):
    table = Agreement(*cells)
    assert (table.kappa, table.kappa_interval()) == (None, None)


def test_without_pairs_there_is_no_figure():
    table = Agreement()
    assert (table.accuracy, table.precision, table.recall, table.accuracy_interval()) == (None,) * 4


def test_accuracy_has_wilsons_interval():
    assert Agreement(20, 10, 5, 15).accuracy_interval(0.9) == wilson(35, 50, 0.9)


# The sources that are published as a package come without the benchmarks.
NEEDS_BENCHMARKS = pytest.mark.skipif(
    not (FOLDER / "gates.py").exists(), reason="no benchmarks/gates.py in this tree"
)


@NEEDS_BENCHMARKS
@pytest.mark.parametrize("at", range(5))
@pytest.mark.parametrize("n", [50, 100])
def test_the_interval_covers(gates, at, n):
    judge = list(gates.JUDGES)[at]
    chances = gates.cells(judge)
    true = gates.kappa_of(chances)
    drawn = gates.source("short kappa", judge, n).multinomial(n, chances, size=100)
    found = [Agreement.kappa_interval(Agreement(*map(int, counts))) for counts in drawn]
    kept = [interval for interval in found if interval is not None]
    hits = sum(interval.low <= true <= interval.high for interval in kept)
    # What 93 % falls short of once in a thousand times.
    assert hits >= binom.ppf(0.001, len(kept), 0.93)


@NEEDS_BENCHMARKS
def test_with_many_pairs_it_is_the_usual_interval(gates):
    table = Agreement(2000, 300, 200, 1500)
    found = Agreement.kappa_interval(table)
    assert (found.low, found.high) == pytest.approx(gates.by_standard_error(table), abs=0.002)
