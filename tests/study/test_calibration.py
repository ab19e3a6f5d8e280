"""Numbers of confidences against plain formulas, and promises against simulation."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import beta, binom, mannwhitneyu, t

from pytest_jsonmatch import ConfigurationError
from pytest_jsonmatch.study.calibration import (
    GROUPS,
    GroupedOutcomes,
    Tally,
    auroc,
    brier,
    calibration,
    choose_threshold,
    required_values,
)
from pytest_jsonmatch.study.confidence import make_splitter
from tests.laws import share


def counted(confidences, right, clusters=None):
    """The outcomes of values, counted one by one; each stands alone unless clusters are given."""
    return GroupedOutcomes.of(tally_of(confidences, right, clusters))


def tally_of(confidences, right, clusters=None):
    clusters = range(len(right)) if clusters is None else clusters
    right, clusters = (
        np.asarray(right).astype(np.int8).tobytes(),
        np.asarray(clusters).astype(np.int64).tobytes(),
    )
    return Tally(array("d", confidences), array("b", right), array("q", clusters))


def drawn(confidences, wrong, clusters, random):
    """The same of many values at once, clusters dealt out to groups."""
    number = clusters.max() + 1
    groups = np.concatenate([random.permutation(GROUPS) for _ in range(0, number, GROUPS)])[:number]
    values, places = np.unique(confidences, return_inverse=True)
    counts = np.zeros((2, GROUPS, len(values)))
    np.add.at(counts, (wrong.astype(int), groups[clusters], places), 1)
    sizes = np.bincount(clusters).astype(float)
    return GroupedOutcomes(values, values, counts[1], counts[0], sizes.sum() ** 2 / (sizes**2).sum())


@pytest.fixture
def sample():
    random = np.random.default_rng(5)
    confidences = random.beta(5, 1, 300).round(2)
    return confidences, random.random(300) < confidences


def test_auroc_is_mann_whitneys_u(sample):
    confidences, right = sample
    u = mannwhitneyu(confidences[right], confidences[~right]).statistic
    assert auroc(counted(*sample)).value == pytest.approx(u / (right.sum() * (~right).sum()))


def test_brier_is_the_mean_squared_difference(sample):
    confidences, right = sample
    assert brier(counted(*sample)).value == pytest.approx(((confidences - right) ** 2).mean())


def test_the_interval_of_brier_is_the_jackknifes_on_the_logit_scale(sample):
    confidences, right = (each[:20] for each in sample)
    squares = (confidences - right) ** 2
    without_each = logit((squares.sum() - squares) / 19)
    ends = t.interval(0.95, 19, logit(squares.mean()), (19 * without_each.var()) ** 0.5)
    found = brier(counted(confidences, right))
    assert (found.low, found.high) == pytest.approx(tuple(expit(ends)))


def test_ece_of_bins_of_equal_mass():
    confidences = np.repeat(np.linspace(0.05, 0.95, 10), 10)
    right = np.tile(np.arange(10) < 5, 10)
    found, bins = calibration(counted(confidences, right))
    assert found.value == pytest.approx(np.abs(np.linspace(0.05, 0.95, 10) - 0.5).mean())
    assert [each.number for each in bins] == [10] * 10
    assert [each.right for each in bins] == [0.5] * 10
    assert [each.confidence for each in bins] == pytest.approx(np.linspace(0.05, 0.95, 10))


def test_a_confidence_stands_in_one_bin():
    found, bins = calibration(counted([0.9] * 95 + [0.1] * 5, [True] * 95 + [False] * 5))
    assert [(each.number, each.right) for each in bins] == [(5, 0.0), (95, 1.0)]
    assert found.value == pytest.approx(0.1)


def test_perfectly_apart_is_not_perfectly_sure():
    found = auroc(counted([0.9] * 20 + [0.1] * 5, [True] * 20 + [False] * 5))
    assert (found.value, found.low, found.high) == (1.0, pytest.approx(0.025 ** (1 / 5)), 1.0)


def test_all_right_is_not_surely_right():
    of = counted([0.9] * 50, [True] * 50)
    most = 1 - 0.025 ** (1 / 50)
    assert brier(of) == (pytest.approx(0.01), pytest.approx(0.01), pytest.approx(0.01 + most))
    assert calibration(of)[0] == (pytest.approx(0.1), pytest.approx(0.1 - most), pytest.approx(0.1 + most))


def test_no_auroc_if_all_are_right_and_no_interval_of_one_cluster():
    assert auroc(counted([0.9, 0.8], [True, True])) is None
    of = counted([0.9, 0.8], [True, False], clusters=[0, 0])
    assert (auroc(of)[1:], brier(of)[1:], calibration(of)[0][1:]) == ((None, None),) * 3


def test_many_confidences_are_cut_downwards_and_statistics_hardly_change():
    random = np.random.default_rng(1)
    confidences = random.beta(5, 1, 20_000)
    right = random.random(20_000) < confidences
    of = counted(confidences, right)
    assert len(of.values) <= 1_000
    assert (of.means >= of.values - 1e-12).all()
    u = mannwhitneyu(confidences[right], confidences[~right]).statistic
    assert auroc(of).value == pytest.approx(u / (right.sum() * (~right).sum()), abs=0.002)
    assert brier(of).value == pytest.approx(((confidences - right) ** 2).mean(), abs=1e-5)


def test_a_promise_of_values_that_stand_alone_is_clopper_and_pearsons():
    found = choose_threshold(tally_of([0.9] * 800, [True] * 800), 0.01)
    assert found == (found.__class__)(0.9, 1.0, 400, 0, pytest.approx(beta.ppf(0.95, 1, 400)))
    assert required_values(0.01) == 299


def test_no_promise_of_too_few():
    assert choose_threshold(tally_of([0.9] * 400, [True] * 400), 0.01).threshold is None


# In all of these exactly the promised share is wrong, whatever the confidence: each promise is one too many.
LOWEST = {
    "values stand alone": (400, 1, 0.1, None),
    "few errors": (2_000, 1, 0.02, None),
    "a cluster is right or wrong as a whole": (200, 10, 0.1, 0.0),
    "clusters differ": (100, 10, 0.1, 2.0),
    "few clusters": (50, 10, 0.1, 2.0),
    "some clusters are much larger": (60, 5, 0.1, 2.0),
    "a few large clusters, right or wrong as a whole": (1_000, 1, 0.05, 0.0),
}


@pytest.mark.parametrize("case", LOWEST)
def test_promises_are_broken_in_at_most_5_percent_of_runs(case):
    clusters, size, most, spread = LOWEST[case]
    random = np.random.default_rng(11)
    broken, runs = 0, share(500)
    sizes = np.full(clusters, size)
    for _ in range(runs):
        if "larger" in case:
            sizes = np.maximum(1, np.round(random.lognormal(0, 1.2, clusters) * size)).astype(int)
        if "few large" in case:
            sizes = np.ceil(random.pareto(1.5, clusters)).clip(1, 300).astype(int)
        member = np.repeat(np.arange(clusters), sizes)
        number = len(member)
        confidences = random.random(number).round(2)
        chance = most + 1e-9
        if spread is None:
            wrong = random.random(number) < chance
        else:
            # (Some releases of numpy take for ever to draw from a beta distribution of almost nothing.)
            alike = random.random(clusters) < chance
            if spread:
                alike = random.beta(chance * spread, (1 - chance) * spread, clusters)
            wrong = random.random(number) < alike[member]
        broken += choose_threshold(tally_of(confidences, ~wrong, member), most).threshold is not None
    # At 10 %, the double, more of 500 would be broken in 98 of 100 such tests.
    assert broken <= binom.ppf(0.95, runs, 0.05), broken / runs


@pytest.mark.parametrize(
    ("clusters", "size", "alike", "power"), [(400, 1, 0.5, 2), (100, 5, 0.5, 2), (50, 10, 1, 1)]
)
def test_intervals_hold_in_about_95_percent_of_runs(clusters, size, alike, power):
    """Also where a cluster is right or wrong as a whole, and has one confidence."""
    random = np.random.default_rng(3)
    number = clusters * size
    member = np.repeat(np.arange(clusters), size)

    def draw(number, member):
        confidences = random.beta(6, 1, number)
        if alike == 1:
            confidences = confidences[member]
        shared = np.repeat(random.random(member.max() + 1), size)
        noise = np.where(random.random(number) < alike, shared, random.random(number))
        return confidences, noise >= confidences**power

    many = 100_000
    confidences, wrong = draw(many, np.repeat(np.arange(many // size), size))
    truth = drawn(confidences.round(3), wrong, np.repeat(np.arange(many // size), size), random)
    true = auroc(truth).value, brier(truth).value, calibration(truth)[0].value
    missed = np.zeros(3)
    runs = share(400)
    for _ in range(runs):
        of = drawn(*draw(number, member), member, random)
        found = auroc(of), brier(of), calibration(of)[0]
        missed += [not each.low <= value <= each.high for each, value in zip(found, true, strict=True)]
    # With 95 %, more are missed in 2 of 100 such tests.
    assert (missed <= binom.ppf(0.98, runs, 0.05)).all(), missed / runs


# -- confidences found in answers ----------------------------------------------------------------------------

V = {"value": 1, "confidence": 0.5}


@pytest.mark.parametrize(
    ("answer", "plain", "sure"),
    [
        ({"a": V, "b": 2}, {"a": 1, "b": 2}, {"a": 0.5}),
        ([V, 2], [1, 2], {"[0]": 0.5}),
        (V, 1, {"$": 0.5}),
        (
            {"a": {"value": {"b": 1, "c": V}, "confidence": 0.9}},
            {"a": {"b": 1, "c": 1}},
            {"a": 0.9, "a.b": 0.9, "a.c": 0.5},
        ),
        ({"a": {"value": [1], "confidence": 1}}, {"a": [1]}, {"a": 1.0, "a[0]": 1.0}),
        # Without a confidence, or with other members, it is an object like any other, or says nothing.
        ({"a": {"value": 1, "confidence": None}}, {"a": 1}, {}),
        (
            {"a": {"value": 1, "confidence": 0.5, "page": 2}},
            {"a": {"value": 1, "confidence": 0.5, "page": 2}},
            {},
        ),
        ({"odd key": V}, {"odd key": 1}, {'["odd key"]': 0.5}),
    ],
)
def test_inline(answer, plain, sure):
    assert make_splitter("inline")(answer) == (plain, sure)


@pytest.mark.parametrize(
    ("where", "answer", "plain", "sure"),
    [
        ("c.{path}", {"a": 1, "c": {"a": 0.5}}, {"a": 1}, {"a": 0.5}),
        (
            "c.x.{path}.p",
            {"a": [{"b": 1}], "c": {"x": {"a": [{"b": {"p": 0.5}}]}}},
            {"a": [{"b": 1}]},
            {"a[0].b": 0.5},
        ),
        ("c[0].{path}", {"a": 1, "c": [{"a": 0.5}]}, {"a": 1}, {"a": 0.5}),
        # One of an object is that of all below it.
        (
            "c.{path}",
            {"a": {"b": 1, "d": 2}, "c": {"a": 0.5}},
            {"a": {"b": 1, "d": 2}},
            {"a": 0.5, "a.b": 0.5, "a.d": 0.5},
        ),
        ("c.{path}", {"a": [1, 2], "c": {"a": [0.5, 0.25]}}, {"a": [1, 2]}, {"a[0]": 0.5, "a[1]": 0.25}),
        ("c.{path}", {"a": 1, "c": {}}, {"a": 1}, {}),
        ("c.{path}", [1], [1], {}),
    ],
)
def test_confidences_next_to_the_values(where, answer, plain, sure):
    found = make_splitter(where)(answer)
    assert found == (plain, sure)


@pytest.mark.parametrize("given", [1.5, -0.1, "high", True, float("nan"), 93])
def test_what_is_no_confidence(given):
    with pytest.raises(ConfigurationError) as error:
        make_splitter("inline")({"a": [{"value": 1, "confidence": given}]})
    assert str(error.value) == f"the confidence of a[0] must be a number from 0 to 1, got {given!r}"


@pytest.mark.parametrize("where", ["score", "{path}", "c.{path}.{path}", "{path}.confidence", "c.{path}_c"])
def test_what_is_no_place_of_confidences(where):
    with pytest.raises(ConfigurationError, match="confidence must be 'inline'"):
        make_splitter(where)


def test_the_answer_is_not_changed():
    answer = {"a": {"b": 1}, "c": V}
    for where in ("inline", "c.{path}"):
        make_splitter(where)(answer)
    assert answer == {"a": {"b": 1}, "c": V}
