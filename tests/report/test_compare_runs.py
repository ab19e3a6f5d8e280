"""`compare_runs`, `run.interval` and `run.save`: what the command gives, from Python."""

from __future__ import annotations

import pytest

from pytest_jsonmatch import ConfigurationError, compare_corpus, compare_runs, read_results

GOLD = [{"id": f"r{number}", "n": number, "m": number % 3} for number in range(30)]


def answers(wrong):
    return [{**record, "n": -1} if at < wrong else record for at, record in enumerate(GOLD)]


def run(wrong, **options):
    return compare_corpus(answers(wrong), GOLD, id="id", **options)


def test_a_comparison_has_verdicts_intervals_and_cases():
    compared = compare_runs(run(0), run(12), max_drop=0.02)
    assert (compared.verdict, compared.pass_rate.kind, compared.passed) == ("worse", "worse", False)
    assert compared.scores.delta == pytest.approx(-0.2)
    assert compared.scores.interval.low < -0.2 < compared.scores.interval.high < 0
    assert (compared.fields["n"].kind, compared.fields["m"].kind) == ("worse", "not significant")
    assert [(case.name, case.change) for case in compared.cases[:2]] == [("r0", -0.5), ("r1", -0.5)]
    assert (len(compared.cases), compared.new, compared.vanished) == (12, (), ())
    assert str(compared).startswith("`after` is significantly worse")
    assert repr(compared) == "<RunComparison after against before: worse>"


def test_frames_and_pages(tmp_path):
    compared = compare_runs(run(3), run(12), names=["old", "new"])
    assert compared.passed is None
    frame = compared.to_dataframe(library="pandas")
    assert (list(frame.columns), len(frame)) == (["case", "before", "after", "change"], 30)
    fields = compared.to_dataframe("field").set_index("path")
    assert fields.loc["n", "verdict"] == compared.fields["n"].kind
    with pytest.raises(ConfigurationError, match=r"^by must be one of case, field, got 'row'$"):
        compared.to_dataframe("row")
    compared.to_html(tmp_path / "page.html")
    assert "new against old" in (tmp_path / "page.html").read_text()
    assert "significantly" in compared._repr_html_()


def test_the_text_is_that_of_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")  # the width of the text, as of output to a file
    from tests.conftest import main

    run(0).save(tmp_path / "main.jsonl")
    run(12).save(tmp_path / "today.jsonl")
    paths = str(tmp_path / "main.jsonl"), str(tmp_path / "today.jsonl")
    assert main(["diff", *paths]) == 0
    assert capsys.readouterr().out.rstrip() == str(compare_runs(*paths))


def test_a_saved_run_is_read_back(tmp_path):
    one = run(5, tags={"third": "m"})
    one.save(tmp_path / "deep" / "r.jsonl")
    read = read_results(tmp_path / "deep" / "r.jsonl")
    assert (read.mean_f1, read.per_field, read.total_records) == (one.mean_f1, one.per_field, 30)
    assert read.created
    assert read.interval("f1") == one.interval("f1")


def test_intervals():
    one = run(6, tags={"third": "m"})
    interval = one.interval("f1")
    assert interval.estimate == pytest.approx(0.9)
    assert interval.low < 0.9 < interval.high
    assert one.interval("recall", "m").estimate == 1.0
    assert one.interval("pass_rate", fields="n").estimate == pytest.approx(0.8)
    assert one.interval("micro.f1", confidence=0.5).low > one.interval("micro.f1").low
    assert one.interval('tags["third=0"].f1').cases == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("f2",), "unknown statistic 'f2'"),
        (("errors",), "errors has no interval: name a score, a rate or a share, such as 'f1'"),
        (("latency.p95",), "latency.p95 has no interval: name a score"),
        (("f1", "o"), 'fields["o"].f1: no compared field matches; known: m, n'),
    ],
)
def test_what_has_no_interval(arguments, message):
    with pytest.raises(ConfigurationError) as caught:
        run(1).interval(*arguments)
    assert str(caught.value).startswith(message)


def test_partial_runs_have_no_intervals():
    partial = run(1, keep="worst")
    with pytest.raises(ConfigurationError, match=r"an interval needs all records: use keep='all'$"):
        partial.interval("f1")
    with pytest.raises(ConfigurationError, match="before keeps 10 of 30: save it with keep='all'"):
        compare_runs(partial, run(2), max_drop=0.1)
    assert compare_runs(partial, run(2)).scores is None


def test_runs_that_cannot_be_compared():
    other = compare_corpus([{"id": "x", "n": 1}], [{"id": "x", "n": 1}], id="id")
    with pytest.raises(
        ConfigurationError, match=r"^no case is in both runs; cases are paired by their ids: before has"
    ):
        compare_runs(run(1), other)
    with pytest.raises(ConfigurationError, match=r"^not scored in the same way: r0: "):
        compare_runs(run(1), run(1, metric="json_similarity"))
    with pytest.raises(ConfigurationError, match=r"^names must be two different names, got \['a', 'a'\]$"):
        compare_runs(run(1), run(1), names=["a", "a"])


def test_a_run_that_is_none():
    run = compare_corpus([{"n": 1}], [{"n": 1}])
    with pytest.raises(ConfigurationError) as caught:
        compare_runs(run, {"f1": 0.9})
    assert str(caught.value) == "after must be a RunResult or the path of a result file, got {'f1': 0.9}"
