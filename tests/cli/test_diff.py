"""`jsonmatch diff`."""

from __future__ import annotations

import pytest

GOLD = [{"id": f"r{number}", "a": number, "b": "x"} for number in range(30)]


@pytest.fixture
def saved(write, command):
    """Score answers, and save the result under a name."""
    write(gold_jsonl=GOLD)

    def call(name, answers, *more):
        write(answers_jsonl=answers)
        line = f"evaluate answers.jsonl gold.jsonl --id id --json {name}.json"
        assert command(line, *more).code == 0

    return call


@pytest.mark.parametrize(
    ("before", "keep", "title"),
    [
        ("worst", "worst", ", mean of all 30 records\n"),
        ("all", "worst", ", mean of all 30 records\n"),
        ("all", "all", ", mean of 30 cases in both\n"),
    ],
)
def test_means_and_fields_are_of_all_records_whatever_was_kept(saved, command, before, keep, title):
    saved("a", GOLD, "--keep", before)
    saved("b", [{**each, "a": 0} if each["a"] < 15 else each for each in GOLD], "--keep", keep)
    ran = command("diff a.json b.json")
    assert (ran.code, ran.err, title in ran.out) == (0, "", True)
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    at = next(place for place, line in enumerate(lines) if line.startswith("mean score"))
    assert lines[at].startswith(("mean score 1.00 0.77 -0.23", "mean score 1.00 0.77 -0.233"))
    of_field = next(line for line in lines[at + 1 :] if line.startswith("a "))
    assert of_field.startswith(("a 1.00 0.53 -0.47", "a 1.00 0.53 -0.467"))


def test_brief_and_all(saved, command):
    saved("a", GOLD, "--keep", "all")
    saved("b", [{**each, "a": -1} for each in GOLD], "--keep", "all")
    brief, everything = command("diff a.json b.json").out, command("diff a.json b.json -v").out
    assert "  … 40 more rows (-v)\n\nkinds of differences, a → b\n" in brief
    assert (everything.count("\nr"), "more" in everything) == (30, False)


def test_cases_that_come_and_go(write, command):
    for name, records in {"a": GOLD[:2], "b": GOLD[1:3]}.items():
        write(gold_jsonl=records)
        line = f"evaluate gold.jsonl gold.jsonl --id id --json {name}.json"
        command(line, "--keep", "all")
    out = command("diff a.json b.json").out
    reported = "`b`: the change from `a` is not tested: 1 of 2 cases is in both, at least 6 needed"
    assert out.startswith(reported)
    assert out.endswith("\nnew cases:\n  r2\n\ncases vanished:\n  r0\n")


def test_without_a_common_case_there_is_no_comparison(write, command, refused):
    for name in ("old", "new"):
        write(gold_jsonl=[{"id": f"{name}{number}", "a": 1} for number in range(5)])
        command(f"evaluate gold.jsonl gold.jsonl --id id --keep all --json {name}.json")
    assert refused("diff old.json new.json") == (
        "jsonmatch diff: no case is in both runs; cases are paired by their ids: "
        "old.json has 'old0', 'old1', 'old2' and 2 more, new.json has 'new0', 'new1', 'new2' and 2 more"
    )


def test_two_runs_with_one_parameter_each_have_no_common_case(refused, pytester):
    pytester.makeconftest(
        "import pytest\n\n@pytest.fixture(params=['v1', 'v2'])\ndef prompt(request):\n    return request.param\n\n"
        "@pytest.fixture\ndef jsonmatch_actual(jsonmatch_case, prompt):\n    return {'n': 1}\n"
    )
    pytester.makefile(
        ".golden.yaml", a="cases:\n- {id: one, expected: {n: 1}}\n- {id: two, expected: {n: 2}}\n"
    )
    pytester.chdir()
    for name in ("v1", "v2"):
        pytester.runpytest("-k", name, f"--jsonmatch-json={name}.jsonl")
    assert refused("diff v1.jsonl v2.jsonl").endswith(
        "v2.jsonl has 'a.golden.yaml::one[v2]', 'a.golden.yaml::two[v2]'; "
        "the ids differ only in '[v1]' and '[v2]': one run with both parameters compares them"
    )


def test_one_kept_in_part_names_nothing_new(saved, command):
    saved("a", GOLD)
    saved("b", GOLD, "--keep", "all")
    lines = command("diff a.json b.json").out.splitlines()
    assert lines[0] == (
        "only 10 of 30 records are in both files: evaluate with `--keep all` to get a verdict and intervals"
    )
    assert lines[2].endswith(", mean of all 30 records")
    assert lines[3:] == ["statistic      a     b  difference", "mean score  1.00  1.00       0.000"]


@pytest.mark.parametrize(("width", "intervals"), [(80, 4), (60, 0)])
def test_long_names_of_files_are_shortened_before_a_verdict(saved, command, monkeypatch, width, intervals):
    monkeypatch.setenv("COLUMNS", str(width))
    saved("gpt-4o-2024-08-06", GOLD, "--keep", "all")
    saved(
        "claude-haiku-4-5-20251001",
        [{**each, "a": -1, "b": each["b"] * (each["a"] % 9)} for each in GOLD],
        "--keep",
        "all",
    )
    lines = command("diff gpt-4o-2024-08-06.json claude-haiku-4-5-20251001.json").out.splitlines()
    assert max(map(len, lines)) <= width
    assert sum(line.endswith(" significantly worse") for line in lines) == 4
    assert sum(" to " in line and line.endswith(" significantly worse") for line in lines) == intervals
    headings = next(line for line in lines if line.startswith("statistic"))
    assert [heading[:3] for heading in headings.split()[1:3]] == ["gpt", "cla"]
    left_out = [line for line in lines if line.startswith("  … 1 more column: 95 % interval (")]
    assert len(left_out) == (width == 60)


def test_records_that_both_files_keep(saved, command, write):
    def save(name, wrong, value="y"):
        saved(name, [{**each, "b": value if each["a"] in wrong else "x"} for each in GOLD])

    save("before", range(10))
    for wrong, reported in (
        (range(9, 19), "only 1 of 30 records is"),
        (range(10, 20), "none of 30 records is"),
    ):
        save("after", wrong)
        assert command("diff before.json after.json").out.startswith(
            f"{reported} in both files: evaluate with "
        )
    save("after", range(10), "z")
    title = "cases that changed from before to after, among the 10 records in both files"
    save("before", range(9))
    assert title in command("diff before.json after.json").out.splitlines()
    write(more_jsonl=[*GOLD, {"id": "r30", "a": 0, "b": "x"}])
    command("evaluate more.jsonl more.jsonl --id id --json more.json")
    assert ", mean of all 31 records (30 in before)\n" in command("diff before.json more.json").out


def test_a_single_case(write, command):
    write(gold_jsonl=[{"n": 1}], wrong_jsonl=[{"n": 2}])
    for name in ("gold", "wrong"):
        assert command(f"evaluate {name}.jsonl gold.jsonl --json {name}.json").code == 0
    lines = command("diff gold.json wrong.json").out.splitlines()
    assert lines[3:] == [
        "statistic   gold  wrong  difference     95 % interval  verdict",
        "mean score  1.00   0.00      -1.000  -1.000 to +0.955  not enough cases",
        "pass rate   1.00   0.00      -1.000  -1.000 to +0.998  not enough cases",
        "n           1.00   0.00      -1.000  -1.000 to +0.998  not enough cases",
        "intervals below the mean score are corrected for their number: they are wider",
        "",
        "cases that changed from gold to wrong",
        "case  change  expected  gold  wrong",
        "1     -1.000            1.00  0.00",
        "  n           1         1     2",
        "",
        "kinds of differences, gold → wrong",
        "kind               n           cost  change  fields",
        "value differs  0 → 1  0.000 → 1.000  +1.000  n",
    ]


def test_a_run_of_pytest(command, pytester):
    pytester.makepyfile(
        "from pytest_jsonmatch import assert_json_match\ndef test():\n    assert_json_match({'a': 1}, {'a': 1})"
    )
    pytester.chdir()
    pytester.runpytest("-p", "no:cacheprovider", "--jsonmatch-json=run.json").assert_outcomes(passed=1)
    assert ", mean of 1 case in both\n" in command("diff run.json run.json").out


def test_a_page_and_markdown(saved, command, written):
    saved("a", GOLD, "--keep", "all")
    saved("b", [{**each, "a": -1} for each in GOLD], "--keep", "all")
    line = "diff a.json b.json --max-drop 0.1"
    page = written(line)
    assert "<h1>b against a</h1>" in page
    assert ">before<" in page
    # The comparison comes first, then the later run.
    shown = [
        "<strong>failed</strong> <span>1 of 1 gate failed</span> <span><code>b</code> is significantly worse",
        ">Gates, on 30 records <",
        '-title">b against a',
        ">Cases that changed from a to b <",
        "<h2>b</h2>",
        ">mean score 0.50; 0 of 30 records with score 1; 20",
        ">Records, the lowest scores first <",
        ">Fields of 30 records by leaf_f1 <",
    ]
    assert [text for text in shown if text not in page] == []
    assert sorted(shown, key=page.index) == shown
    reported = written(line, form="markdown")
    assert reported.startswith(
        "## ❌ jsonmatch: failed\n\n**1 of 1 gate failed**; **`b` is significantly worse in mean"
    )
    assert "| `--max-drop=0.1` | ❌ **failed** |" in reported
    assert written("diff a.json a.json", form="markdown").startswith("## jsonmatch: mean score 0.000\n")


@pytest.mark.parametrize("keep", ["worst", "all"])
def test_what_was_scored_in_other_ways_is_not_compared(saved, refused, keep):
    saved("a", GOLD, "--keep", keep)
    saved("b", GOLD, "--keep", keep, "--metric", "json_similarity")
    what, more = ("all records", "") if keep == "worst" else ("r0", " (and 29 more)")
    assert refused("diff a.json b.json") == (
        f"jsonmatch diff: not scored in the same way: {what}: leaf_f1, now json_similarity{more}"
    )


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("a.json no.json", "no.json can't be read: no such file or directory"),
        ("gold.jsonl a.json", "gold.jsonl is not a result file: its first line has no "),
        ("a.json half.json", "half.json is not a result file: line 1 is damaged: corpus.counts.records: "),
        ("a.json", "the following arguments are required: AFTER"),
    ],
)
def test_bad_input_is_one_line(saved, folder, refused, line, reported):
    saved("a", GOLD)
    text = (folder / "a.json").read_text()
    (folder / "half.json").write_text(text.replace('"records": 30', '"records": "thirty"'))
    assert refused(f"diff {line}").startswith(f"jsonmatch diff: {reported}")


def test_a_significant_drop(saved, command):
    saved("a", GOLD, "--keep", "all")
    saved("b", [{**each, "a": -1} for each in GOLD], "--keep", "all")
    ran = command("diff a.json b.json --max-drop 0.1")
    assert (ran.code, ran.err) == (1, "")
    assert "\nmean score  1.00  0.50      -0.500  -0.549 to -0.353  significantly worse\n" in ran.out
    assert ran.out.endswith("\nfails: significantly worse by more than 0.1\n")
    back = command("diff b.json a.json --max-drop 0.1")
    assert back.code == 0
    assert back.out.endswith("\npasses: significantly better\n")


def test_a_drop_of_records_that_were_not_kept(saved, command):
    saved("a", GOLD)
    saved("b", GOLD, "--keep", "all")
    ran = command("diff a.json b.json --max-drop 0.1")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "jsonmatch diff: single records are compared, but a.json keeps 10 of 30: save it with --keep all\n"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            "--max-drop 2",
            "jsonmatch diff: argument --max-drop: must be at least 0 and below 1, got 2 (for 2 % write 0.02)",
        ),
        (
            "--max-drop 0.1 --confidence 95",
            "jsonmatch diff: argument --confidence: must be above 0.5 and below 1, got 95 (for 95 % write 0.95)",
        ),
    ],
)
def test_settings_that_are_none(saved, command, options, message):
    saved("a", GOLD, "--keep", "all")
    ran = command(f"diff a.json a.json {options}")
    assert ran.code == 2
    assert ran.err.startswith(message)


def test_several_runs_begin_with_a_table_of_all(saved, command):
    saved("main", GOLD, "--keep", "all")
    for name, wrong in (("a", 0), ("c", 20)):
        answers = [{**each, "a": -1} if each["a"] < wrong else each for each in GOLD]
        saved(name, answers, "--keep", "all")
    lines = command("diff main.json a.json c.json").out.splitlines()
    assert lines[:6] == [
        "runs",
        "run   mean score    F1  pass rate  answered  mean score against main",
        "main        1.00  1.00       1.00       all",
        "a           1.00  1.00       1.00       all  no significant change",
        "c           0.67  0.67       0.33       all  significantly worse",
        "",
    ]


def test_several_candidates_are_judged_together(saved, command, written):
    saved("main", GOLD, "--keep", "all")
    for name, wrong in (("a", 0), ("b", 5), ("c", 20)):
        answers = [{**each, "a": -1} if each["a"] < wrong else each for each in GOLD]
        saved(name, answers, "--keep", "all")
    alone = command("diff main.json b.json").out
    assert alone.startswith("`b` is significantly worse in mean score (-0.083)")
    line = "diff main.json a.json b.json c.json"
    ran = command(line)
    assert (ran.code, ran.err) == (0, "")
    # Of three candidates one may well lose five cases by chance.
    lines = [text for text in ran.out.splitlines() if text.startswith(("`", "mean score", "statistic  "))]
    assert lines == [
        "`a`: no significant change from `main`; with 30 cases, changes of the mean score up to 0.150 could",
        "`b`: no significant change from `main`; with 30 cases, changes of the mean score up to 0.243 could",
        "`c` is significantly worse in mean score (-0.333), in pass rate (-0.667) and on `a` (-0.667), no",
        "statistic   main     a  difference   98.3 % interval  verdict",
        "mean score  1.00  1.00      +0.000  -0.150 to +0.150  no significant change",
        "statistic   main     b  difference   98.3 % interval  verdict",
        "mean score  1.00  0.92      -0.083  -0.243 to +0.092  no significant change",
        "statistic   main     c  difference   98.3 % interval  verdict",
        "mean score  1.00  0.67      -0.333  -0.465 to -0.113  significantly worse",
    ]
    gated = command(f"{line} --max-drop 0.1")
    assert gated.code == 1
    assert gated.out.splitlines()[-1] == "c fails: significantly worse by more than 0.1"
    page = written(f"{line} --max-drop 0.1").replace("<wbr>", "")
    assert "<h1>a, b, c against main</h1>" in page
    assert "<code>c</code> is significantly worse in mean score (-0.333)" in page
    assert "<code>--max-drop=0.1 of c</code>" in page


def test_a_limit_on_the_drop_makes_the_comparison_one_sided(saved, command):
    saved("main", GOLD, "--keep", "all")
    saved("b", [{**each, "a": -1} if each["a"] < 4 else each for each in GOLD], "--keep", "all")
    assert command("diff main.json b.json").out.startswith("`b`: no significant change from `main`; ")
    ran = command("diff main.json b.json --max-drop 0")
    assert (ran.code, ran.out.splitlines()[-1]) == (1, "fails: significantly worse")
    assert ran.out.startswith(
        "`b` is significantly worse in mean score (-0.067), no other significant change; 30"
    )


def test_what_several_candidates_need(saved, refused):
    saved("a", GOLD, "--keep", "all")
    saved("b", GOLD)
    saved("c", GOLD, "--keep", "all", "--metric", "json_similarity")
    saved("d", GOLD, "--keep", "all")
    assert refused("diff a.json b.json a.json") == (
        "jsonmatch diff: single records are compared, but b.json keeps 10 of 30: save it with --keep all"
    )
    assert refused("diff a.json a.json a.json") == (
        "jsonmatch diff: a.json is given twice; name each file once"
    )
    assert refused("diff a.json a.json c.json").startswith(
        "jsonmatch diff: c.json: not scored in the same way: r0: leaf_f1, now json_similarity"
    )


def test_records_of_one_document_count_as_one(write, command):
    gold = [{"id": f"r{at}", "document": f"d{at // 5}", "a": at} for at in range(40)]
    write(gold_jsonl=gold)
    for name, wrong in (("a", 0), ("b", 10)):
        write(
            answers_jsonl=[{"id": each["id"], "a": -1 if each["a"] < wrong else each["a"]} for each in gold]
        )
        line = f"evaluate answers.jsonl gold.jsonl --id id --cluster document --keep all --json {name}.json"
        assert command(line).code == 0
    assert command("diff a.json b.json").out.startswith(
        "`b`: no significant change from `a`; with 40 cases in 8 clusters, changes of the mean score"
    )
    shown = command("report b.json").out
    assert "(40 records in 8 clusters; they allow for unseen\nclusters):" in shown


def test_an_opened_record_of_a_file_shows_its_kept_differences(saved, written):
    saved("main", GOLD, "--keep", "all")
    saved("b", [{**each, "a": "odd one"} if each["a"] == 7 else each for each in GOLD], "--keep", "all")
    page = written("diff main.json b.json")
    records = page.partition("Records, the lowest scores first")[2].partition("Fields of")[0]
    assert records.count("odd one") == 1
