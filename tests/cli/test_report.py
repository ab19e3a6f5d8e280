"""`jsonmatch report`."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from pytest_jsonmatch import RunResult, compare_corpus
from tests.conftest import broken_case, case_of, corpus_of, gates_in, replace, text_of

GOLD = [{"id": "r1", "shop": "Mill", "total": 3}, {"id": "r2", "shop": "Hill", "total": 7}]
ANSWERS = [{"id": "r1", "shop": "Mill", "total": 3}, {"id": "r2", "shop": "Hill", "total": 8}]


def results_of(**answers: tuple[object, object]) -> RunResult:
    found = [
        case_of(name, actual, expected=expected, limit=0.9) for name, (actual, expected) in answers.items()
    ]
    return RunResult.of_cases(tuple(found), collected=len(found))


@pytest.fixture
def files(write):
    results = results_of(a=({"x": 1}, {"x": 1}), b=({"x": 1, "y": "no"}, {"x": 1, "y": "yes"}))
    write(run_json=text_of(results), before_json=text_of(results_of(a=({"x": 1}, {"x": 1}))))
    return results


def test_the_forms(files, command, written):
    assert command("report run.json").out.startswith("2 cases\nfailed: 1 of 2 cases failed\n\nfailed cases\n")
    assert written("report run.json").startswith("<!doctype html>")
    assert written("report run.json", form="markdown").startswith("## ❌ jsonmatch: failed\n")


def test_all_that_is_shown_with_v(write, command):
    wide = {f"k{number:02}": number for number in range(40)}
    write(run_json=text_of(results_of(a=(dict.fromkeys(wide, -1), wide))))
    brief, everything = command("report run.json").out, command("report run.json -v").out
    assert "… 10 more fields (-v)" in brief
    assert [name for name in wide if name not in everything] == []


def test_a_run_that_compared_nothing(write, command, written):
    write(run_json=text_of(RunResult.of_cases(collected=0)))
    assert command("report run.json") == (0, "0 cases\nnothing was compared\n", "")
    assert written("report run.json", form="markdown").startswith("## jsonmatch: nothing was compared\n")
    assert written("report run.json").startswith("<!doctype html>")
    assert command("report run.json --gate f1>=0.1").code == 1


def test_runs_that_failed_before_they_compared(write, command):
    errors = [f"Error{number}" for number in range(1, 13)]
    write(run_json=text_of(RunResult.of_cases((broken_case("a", *errors),))))
    lines = command("report run.json").out.splitlines()
    assert "a (run 1 of 12)   0.00  Error1" in lines


def test_gates_decide_the_exit_code(files, command):
    ran = command("report run.json --gate f1>=0.5 --gate pass_rate>=0.5")
    assert (ran.code, gates_in(ran.out.splitlines())) == (
        0,
        [
            "passed f1>=0.5: 0.75, margin +0.25 (mean of 2 cases)",
            "passed pass_rate>=0.5: 0.50, margin 0.00 (1 of 2 cases)",
        ],
    )
    assert command("report run.json --markdown r.md --gate f1>=0.9").code == 1


def test_shards_are_judged_as_one_run(write, command, folder):
    right, wrong = ({"x": 1}, {"x": 1}), ({"x": 2}, {"x": 1})
    write(one_json=text_of(results_of(a=right, b=right)), two_json=text_of(results_of(c=right, d=wrong)))
    ran = command("report two.json one.json --gate f1>=0.8 --html page.html")
    assert ran.code == 1
    assert gates_in(ran.out.splitlines()) == ["failed f1>=0.8: 0.75, margin -0.05 (mean of 4 cases)"]
    assert "fields of 4 cases" in ran.out.lower()
    assert "4 cases" in (folder / "page.html").read_text("utf-8")
    ran = command("report two.json one.json --gate f1>=0.7")
    assert (ran.code, ran.err) == (0, "")


def test_how_many_cases_shards_had_is_unknown(write, command):
    write(one_json=text_of(results_of(a=(1, 1))), two_json=text_of(results_of(c=(1, 1))))
    ran = command("report one.json two.json --gate completeness==1")
    assert ran.code == 1
    assert "the number of cases is unknown (merged)" in ran.out


@pytest.mark.parametrize("form", ["json", "html", "markdown"])
def test_a_file_of_the_users_own_is_not_replaced(files, write, folder, refused, form):
    write(gold_jsonl=GOLD)
    before = (folder / "gold.jsonl").read_bytes()
    line = f"diff before.json run.json --{form} gold.jsonl"
    if form == "json":
        line = "evaluate gold.jsonl gold.jsonl --json gold.jsonl"
    assert "gold.jsonl: has other content than " in refused(line)
    assert (folder / "gold.jsonl").read_bytes() == before


def test_a_shard_that_was_interrupted_is_not_judged(write, command):
    right = ({"x": 1}, {"x": 1})
    cut = replace(results_of(a=right), collected=6, narrowed=("interrupted",))
    write(one_json=text_of(results_of(b=right)), two_json=text_of(cut))
    for line in ("report one.json two.json", "report two.json one.json", "report two.json"):
        ran = command(f"{line} --gate f1>=0.5")
        assert ran.code == 1
        assert "gates are not checked: the run was interrupted (two.json: 1 of 6 cases)" in ran.out
        assert gates_in(ran.out.splitlines())[0].startswith("not decided f1>=0.5: 1.00")
        assert command(line).code == 1
    write(old_json=text_of(results_of(a=right)))
    for line in ("diff old.json two.json", "diff two.json old.json"):
        assert command(line).code == 0
        ran = command(f"{line} --max-drop=0.1")
        assert ran.code == 1
        assert "--max-drop is not checked: the run was interrupted (two)" in ran.out


def test_shards_of_another_run_are_refused(write, refused):
    one = results_of(a=(1, 1), b=(1, 1))
    other = replace(results_of(c=(1, 1)), commit="1234")
    write(
        one_json=text_of(one),
        two_json=text_of(results_of(b=(1, 1))),
        three_json=text_of(other),
        corpus_json=text_of(compare_corpus(ANSWERS, GOLD, id="id")),
    )
    printed = refused("report one.json two.json")
    assert "two.json: can't be merged with the file before it: " in printed
    assert "runs without common cases, but both have 'b'" in printed
    assert "merging needs runs of one commit, got no commit and 1234" in refused("report one.json three.json")
    assert "corpus.json: can't be merged" in refused("report one.json corpus.json")


def test_batch_errors_fail_a_gated_run_unless_a_gate_allows_them(write, command):
    gold = {"x": "bad", "y": 1}
    failed = corpus_of([(gold, gold)], fields={"x": {"compare": "unreachable"}})
    write(run_json=text_of(RunResult.of_cases(failed.cases, collected=1)))
    ran = command("report run.json --gate f1>=0.5")
    assert (ran.code, "the gate 'batch_errors <= 1' would allow it" in ran.out) == (1, True)
    assert command("report run.json --gate f1>=0.5 --gate batch_errors<=1").code == 0
    assert command("report run.json").code == 0


def test_the_file_of_evaluate(write, command):
    write(gold_jsonl=GOLD, answers_jsonl=ANSWERS)
    line = "evaluate answers.jsonl gold.jsonl --id id --json run.json"
    printed = command(line).out
    shown = command("report run.json").out
    # All that evaluate prints is printed again, except for the names of its inputs.
    assert printed == f"answers.jsonl against gold.jsonl\n{shown}"


def test_a_corpus_of_which_some_records_are_kept(write, command, written):
    many = [{"id": str(number), "n": number} for number in range(40)]
    write(gold_jsonl=many, answers_jsonl=[{**each, "n": each["n"] // 2} for each in many])
    line = "evaluate answers.jsonl gold.jsonl --id id --json run.json"
    assert command(line).code == 0
    text, page = command("report run.json").out, written("report run.json")
    message = written("report run.json", form="markdown")
    assert "\nmean score 0.03: 1 of 40 records with score 1\n" in text
    assert "\nmean over records: score 0.03, " in text
    assert "confidence intervals" not in text + page
    assert "statistics and fields are of all 40 records, but only 10 are listed" in page
    assert message.startswith("## jsonmatch: mean score 0.03\n\n1 of 40 records with score 1.\n")
    assert "| `n` | 40 | 1 | 39 |" in message


def with_batch_errors(*, of_corpus: bool) -> RunResult:
    rules: Any = {"fields": {"x[]": {"compare": "unreachable"}}}
    gold = {"x": ["bad"] * 7, "y": 1}
    corpus = corpus_of([(gold, gold)], **rules)
    return corpus if of_corpus else RunResult.of_cases(corpus.cases)


@pytest.mark.parametrize("of_corpus", [False, True])
def test_batch_errors_are_reported_next_to_the_statistics(write, command, written, of_corpus):
    write(run_json=text_of(with_batch_errors(of_corpus=of_corpus)))
    forms = (written("report run.json", form=form) for form in ("html", "markdown"))
    for shown in (command("report run.json").out, *forms):
        assert shown.count("7 results left out of the statistics: the batch comparator failed") == 1


def test_the_json_of_compare_is_not_a_result_file(write, refused):
    write(run_json='{\n  "format": "jsonmatch-results"}')
    assert refused("report run.json").startswith(
        "jsonmatch report: run.json is not a result file: a result file has a line for its head and one for each case"
    )


GOLDEN = """\
metric: json_similarity
threshold: 0.9
cases:
  - id: bakery
    repeat: 3
    actual: { shop: Corner Bakery, total: 12.5 }
    expected: { shop: Corner Bakery, total: 12 }
  - id: bookshop
    actual: { shop: Boks & Co, total: 2 }
    expected: { shop: Books & Co, total: 20 }
"""


@pytest.mark.parametrize("shows_all", [False, True])
def test_a_run_of_pytest_is_shown_as_pytest_has_shown_it(pytester, command, folder, monkeypatch, shows_all):
    (folder / "cases.golden.yaml").write_text(GOLDEN)
    monkeypatch.setenv("COLUMNS", "80")
    options = ["--jsonmatch-summary=all"] if shows_all else []
    ran = pytester.runpytest("--jsonmatch-json=run.json", "--tb=no", *options)
    printed = ran.outlines[
        ran.outlines.index(next(line for line in ran.outlines if " jsonmatch =" in line)) + 1 :
    ]
    printed = printed[: printed.index("results written to run.json")]
    shown = command(f"report run.json{' -v' if shows_all else ''}").out.splitlines()
    shown = shown[shown.index("failed cases") :]
    kinds = shown.index("kinds of differences by cost, their part of 1 - mean score")
    if not shows_all:  # pytest shows the kinds only with --jsonmatch-summary=all
        del shown[kinds : shown.index("", kinds) + 1]
    assert shown == [line.replace("--jsonmatch-summary=all", "-v") for line in printed[:-1]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "the following arguments are required: RESULT (see jsonmatch report --help)"),
        ("none.json", "none.json can't be read: no such file or directory"),
        ("cut.json", "cut.json is not a result file: it is not JSON: "),
        (
            "other.json",
            'other.json is not a result file: its first line has no "format": "jsonmatch-results"',
        ),
        (
            "late.json",
            "late.json is not a result file: its version is 4, and this release reads version 3: upgrade",
        ),
        ("bad.json", "bad.json is not a result file: line 2 is damaged: "),
        ("binary.json", "binary.json is not a result file: it is not UTF-8 text"),
        ("run.json --gate f2>=1", "--gate 'f2>=1': "),
        ("run.json --by shop", "--by: nothing has any tag"),
    ],
)
def test_bad_input_is_one_line(files, write, refused, folder, line, message):
    text = text_of(files)
    write(
        cut_json=text[:100],
        other_json={"a": 1},
        late_json=text.replace('"version": 3', '"version": 4'),
        bad_json=text.replace('"matches": 1', '"matches": "1"'),
        binary_json=b"\xff\xfe",
    )
    before = {path: path.read_bytes() for path in folder.iterdir()}
    printed = refused(f"report {line}")
    assert printed.startswith(f"jsonmatch report: {message}")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


# -- files that someone has made to do harm -----------------------------------------------------------------

EVIL = "\x1b[2J\x1b]0;x\x07\u202e</script><img src=x onerror=alert(1)>`|\n\ud800"


def strings_replaced(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: strings_replaced(value) for key, value in found.items()}
    if isinstance(found, list):
        return [strings_replaced(each) for each in found]
    return EVIL if isinstance(found, str) and found not in {"jsonmatch-results", "record"} else found


@pytest.mark.parametrize("with_corpus", [False, True])
def test_every_string_may_be_hostile(files, write, folder, command, with_corpus):
    results = files
    if with_corpus:
        results = compare_corpus(ANSWERS, GOLD, id="id", tags={"shop": "shop"})
    head, *cases = [strings_replaced(json.loads(line)) for line in text_of(results).splitlines()]
    head |= {"narrowed": [EVIL], "versions": {EVIL: EVIL}}
    evil = "\n".join(map(json.dumps, [head, *cases]))
    write(evil_json=evil, before_json=evil)
    lines = "report evil.json --gate f1>=0", "report evil.json -v", "diff before.json evil.json"
    for line in lines:
        ran = command(f"{line} --html page.html --markdown page.md")
        assert (ran.code, ran.err) == (0, "")
        page, message = ((folder / f"page.{end}").read_text(encoding="utf-8") for end in ("html", "md"))
        for shown in (ran.out, page, message):
            text = shown.replace("\n", "").replace("\ufe0f", "")
            assert [each for each in text if not each.isprintable()] == []
        assert "<img" not in page


EXTREME = [0, 2**53, 1e200, 5e-324]


def numbers_in(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(found, (dict, list)):
        items = found.items() if isinstance(found, dict) else enumerate(found)
        return [each for key, value in items for each in numbers_in(value, (*path, key))]
    return [path] if type(found) in {int, float} else []


def test_no_number_ends_in_a_traceback(write, command):
    text = text_of(results_of(a=({"x": 1, "y": "no"}, {"x": 1, "y": "yes"})))
    written = [*map(json.loads, text.splitlines())]
    codes = set()
    for at, path in enumerate(numbers_in(written)):
        number = EXTREME[at % 4]
        found = copy.deepcopy(written)
        inner = found
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = number
        write(evil_json="\n".join(map(json.dumps, found)))
        ran = command("report evil.json -v --html page.html --markdown page.md")
        assert (ran.code, ran.err.count("\n")) in {(0, 0), (2, 1)}, (path, number)
        codes.add(ran.code)
    assert codes == {0, 2}
