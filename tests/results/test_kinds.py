"""Kinds of differences over a run: they merge, and their costs add up to 1 - mean score."""

from __future__ import annotations

import html
import json
import random
import re
import tempfile
from pathlib import Path

import pytest

from pytest_jsonmatch import RunResult, compare_corpus, read_results
from tests.conftest import main

pytest_plugins = ["pytester"]


def loss(run):
    return sum(kind.cost for kind in run.kinds.values())


def some_records(rng, size):
    gold, answers = [], []
    for at in range(size):
        lines = [
            {"sku": f"{rng.choice('ABC')}{rng.randint(10, 99)}", "n": rng.randint(1, 9)}
            for _ in range(rng.randint(0, 4))
        ]
        record = {"id": at, "name": rng.choice(["Ann Lee", "Bo", "Zoë"]), "tip": None, "lines": lines}
        answer = json.loads(json.dumps(record))
        answer["name"] = rng.choice([record["name"], record["name"].upper(), record["name"] + " ", "Someone"])
        answer["tip"] = rng.choice([None, None, "", 0])
        if lines:
            answer["lines"] = rng.choice([lines, lines[1:], lines[::-1], [*lines, {"sku": "new", "n": 1}]])
        gold.append(record)
        answers.append(answer)
    return gold, answers


@pytest.mark.parametrize("metric", ["leaf_f1", "json_similarity", "field_match", "pairwise_f1"])
@pytest.mark.parametrize("seed", range(4))
def test_costs_add_up_and_merge(metric, seed, tmp_path):
    gold, answers = some_records(random.Random(seed), 12)
    answers = [answer for answer in answers if answer["id"] != 3]  # one gold record has no answer
    options = {"metric": metric, "id": "id", "keep": "all"}
    run = compare_corpus(answers, gold, **options)
    assert loss(run) == pytest.approx(1 - run.mean("score"), abs=1e-12)
    assert run.kinds["no answer"].n == run.kinds["no answer"].cases == 1
    parts = [
        compare_corpus([each for each in answers if each["id"] in ids], gold[ids.start : ids.stop], **options)
        for ids in (range(5), range(5, 12))
    ]
    for merged in (parts[0].merge(parts[1]), parts[1].merge(parts[0])):
        assert merged.kinds == run.kinds
    assert compare_corpus(answers, gold, **options, chunk_size=2).kinds == run.kinds


def test_a_record_that_scores_0_without_leaves_has_no_answer():
    run = compare_corpus([], [{"id": 1}], id="id", skip=["id"])
    assert run.mean("score") == 0.0
    assert {name: (kind.n, kind.cost) for name, kind in run.kinds.items()} == {"no answer": (1, 1.0)}


TESTS = """
    import pytest
    from pytest_jsonmatch import assert_json_match

    @pytest.mark.parametrize("n", [1, 2])
    def test_order(n):
        assert_json_match({"name": "ANN", "n": n, "rows": [1, 2, 3]}, {"name": "Ann", "n": 1, "rows": [1, 2, 3]})

    def test_two():
        try:
            assert_json_match({"a": " x"}, {"a": "x"})
        except AssertionError:
            pass
        assert_json_match({"a": 1, "b": 2}, {"a": 1, "b": 3})
"""


def test_a_run_of_pytest(pytester):
    pytester.makepyfile(TESTS)
    out = pytester.runpytest("-v", "--jsonmatch-json=run.jsonl")
    run = read_results(pytester.path / "run.jsonl")
    assert isinstance(run, RunResult)
    assert loss(run) == pytest.approx(1 - run.mean("score"))
    assert {name: (kind.n, kind.cases) for name, kind in run.kinds.items()} == {
        "white space": (1, 1),
        "value differs": (2, 2),
        "case or accents": (2, 2),
    }
    assert run.kinds["white space"].cost == pytest.approx(1 / 2 / 3)
    out.stdout.fnmatch_lines(["kinds of differences*", "kind * n  cases   cost  share  fields"])
    quiet = pytester.runpytest("--jsonmatch-html=page.html")
    assert "kinds of differences" not in quiet.stdout.str()
    assert "Kinds of differences" in (pytester.path / "page.html").read_text(encoding="utf-8")


def test_runs_of_a_case_count_as_one(pytester):
    pytester.makeconftest(
        """
        from itertools import count
        numbers = count()

        def pytest_jsonmatch_actual(case):
            at = next(numbers)
            if at == 2:
                raise TimeoutError
            return {"a": "x" if at else "X"}
        """
    )
    pytester.path.joinpath("cases.golden.yaml").write_text("id: one\nrepeat: 4\nexpected: {a: x}\n")
    pytester.runpytest("--jsonmatch-json=run.jsonl")
    run = read_results(pytester.path / "run.jsonl")
    assert run.mean("score") == 0.5
    assert {name: (kind.n, kind.cases, kind.cost) for name, kind in run.kinds.items()} == {
        "case or accents": (1, 1, 0.25),
        "no answer": (1, 1, 0.25),
    }


def test_data_frames_and_plain_data():
    pandas = pytest.importorskip("pandas")
    run = compare_corpus([{"a": "x ", "b": 1}], [{"a": "x", "b": 2}])
    frame = run.to_dataframe(by="kind", library="pandas")
    assert isinstance(frame, pandas.DataFrame)
    assert frame.to_dict("records") == [
        {"kind": "value differs", "path": "b", "n": 1, "cases": 1, "cost": 0.5},
        {"kind": "white space", "path": "a", "n": 1, "cases": 1, "cost": 0.5},
    ]
    assert run.to_dict()["kinds"]["white space"] == {
        "n": 1,
        "cases": 1,
        "cost": 0.5,
        "fields": {"a": {"n": 1, "cases": 1, "cost": 0.5}},
    }


def test_the_difference_of_two_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gold = [{"id": at, "a": "x", "b": "Ann", "c": 1} for at in range(4)]
    answers = {
        "before": [{**each, "a": "x "} for each in gold],
        "after": [gold[0], *({**each, "b": "ANN", "c": 2} for each in gold[1:])],
    }
    for name, records in {"gold": gold, **answers}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records))
    for name in answers:
        arguments = ["evaluate", f"{name}.jsonl", "gold.jsonl", "--id", "id"]
        main([*arguments, "--keep", "all", "--json", f"{name}.run.jsonl"])
    capsys.readouterr()
    main(["diff", "before.run.jsonl", "after.run.jsonl"])
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("kinds of differences, before.run → after.run")
    assert [" ".join(line.split()) for line in lines[at + 1 : at + 5]] == [
        "kind n cost change fields",
        "white space 4 → 0 0.333 → 0.000 -0.333 a",
        "case or accents 0 → 3 0.000 → 0.250 +0.250 b",
        "value differs 0 → 3 0.000 → 0.250 +0.250 c",
    ]
    main(["diff", "before.run.jsonl", "after.run.jsonl", "before.run.jsonl"])
    assert "case or accents" in capsys.readouterr().out


# -- if acceptable -----------------------------------------------------------------------------------------------

GOLD = [
    {"id": 1, "a": "Main St. 4", "b": "x y", "c": "12.50", "d": [1, 20, 30]},
    {"id": 2, "a": "A-B", "b": "Zoë", "c": "2026-03-04", "d": [10]},
]
ANSWERS = [
    {"id": 1, "a": "Main St 4", "b": "xy", "c": "12.5", "d": [20, 30, 1], "e": None},
    {"id": 2, "a": "A-B", "b": "ZOE", "c": "4 March 2026", "d": [10], "e": "new"},
]


def accepted_kinds(run: RunResult) -> dict[str, tuple[float, str]]:
    """The score and the rule of each kind in the table of a page, to all digits."""
    with tempfile.TemporaryDirectory() as folder:
        run.to_html(Path(folder, "run.html"))
        page = Path(folder, "run.html").read_text(encoding="utf-8")
    table = page.partition("If acceptable, with a rule")[2].partition("</table>")[0]
    row = r'<code>(.*?)</code></th><td [^>]*data-value="(.*?)"[^>]*>.*?data-label="rule">(.*?)</td>'
    rows = re.findall(row, table)
    assert len(rows) == table.count('<tr class="row">')
    return {kind: (float(score), html.unescape(rule.replace("<wbr>", ""))) for kind, score, rule in rows}


def test_scores_with_rules_that_accept_a_kind():
    run = compare_corpus(ANSWERS, GOLD, id="id", keep="imperfect")
    accepted = accepted_kinds(run)
    # Nothing is offered for values that may be wrong, nor a rule with which the score stays.
    assert set(accepted) == {
        "white space",
        "case or accents",
        "amount in another form",
        "date in another form",
        "punctuation",
        "order of elements",
    }
    mean = run.mean("score")
    for kind in ("white space", "case or accents", "punctuation", "order of elements"):
        # What a rule brings is what the kind costs.
        assert accepted[kind][0] - mean == pytest.approx(run.kinds[kind].cost), kind
    run = compare_corpus([{"a": 1, "e": None}], [{"a": 1}], keep="imperfect")
    assert accepted_kinds(run) == {"null, empty or absent": (1.0, "absent: [null, '', …]")}


def test_rules_are_for_the_fields_that_have_the_kind_and_add_to_those_that_exist():
    gold = [{"a": "x  Y", "b": "pq"}]
    rules = {"a": {"transform": ["lowercase"]}}
    run = compare_corpus([{"a": "xy", "b": "PQ"}], gold, keep="all", fields=rules)
    assert {kind: score for kind, (score, _) in accepted_kinds(run).items()} == {
        "case or accents": 0.5,
        "white space": 0.5,
    }


def test_a_score_with_a_rule_is_that_of_a_run_with_the_rule():
    gold, answers = [{"a": "x  Y", "b": 1}, {"a": "m", "b": 1}], [{"a": "xy", "b": "1"}, {"a": "M", "b": 1}]
    space = {"replace": {"pattern": r"\s+", "with": ""}}
    for rules, changed in (
        (
            {"**.a": {"transform": ["lowercase"], "weight": 3}, "b": {"tolerance": 1}},
            {"a": {"transform": ["lowercase", space]}},
        ),
        (
            {"a": {"transform": "lowercase", "weight": 3}},
            {"a": {"transform": ["lowercase", space], "weight": 3}},
        ),
    ):
        run = compare_corpus(answers, gold, keep="all", fields=rules)
        again = compare_corpus(answers, gold, keep="all", fields={**rules, **changed})
        assert accepted_kinds(run)["white space"][0] == pytest.approx(again.mean("score"))


def test_a_rule_that_lowers_the_score_is_not_shown():
    run = compare_corpus(
        [{"a": None, "b": None, "c": 9, "e": None}], [{"a": None, "b": None, "c": 1}], keep="all"
    )
    assert "null, empty or absent" in run.kinds
    assert accepted_kinds(run) == {}


def test_nothing_is_tried_where_values_are_not_kept():
    for keep in ("none", "worst"):
        run = compare_corpus(ANSWERS * 8, GOLD * 8, keep=keep)
        assert accepted_kinds(run) == {}
    assert accepted_kinds(RunResult.of_cases()) == {}
