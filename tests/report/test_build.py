"""One report of a run: what its renderers must agree on, its baseline, its tables."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from pytest_jsonmatch import RunResult, Spent, compare_corpus
from pytest_jsonmatch.gate.expressions import parse_gate
from pytest_jsonmatch.gate.gates import check_gate
from pytest_jsonmatch.gate.headlines import contest
from pytest_jsonmatch.report.baseline_report import contest_blocks
from pytest_jsonmatch.report.blocks import Statistics
from pytest_jsonmatch.report.build import ReportRequest, build
from pytest_jsonmatch.report.cases_page import PageExtra
from pytest_jsonmatch.report.formatting import score_text
from pytest_jsonmatch.report.html import html_page
from pytest_jsonmatch.report.markdown import markdown
from pytest_jsonmatch.report.styled import line_text, line_width
from pytest_jsonmatch.report.terminal import block_lines, blocks_lines, joined_blocks
from pytest_jsonmatch.report.terminal_style import TerminalStyle
from pytest_jsonmatch.results.file import to_text
from pytest_jsonmatch.support.frozen import replace
from tests.conftest import case_of, main

GOLD = {"shop": "Corner Bakery", "total": 12.5, "items": [{"n": "bun", "p": 1}, {"n": "rye", "p": 2}]}
WRONG = {"shop": "Corner Bakery", "total": 13, "items": [{"n": "rye", "p": 2}, {"n": "bun", "p": 3, "q": 1}]}
MODELS = ("small", "large", "huge")


def case(name, actual, *, expected=GOLD, metric="pairwise_f1", limit=0.9, spent=None, model=None, tags=()):
    tags = {**({} if model is None else {"model": model}), **dict(tags)}
    return case_of(name, actual, expected=expected, metric=metric, limit=limit, spent=spent, tags=tags)


def run(*cases, **more):
    return RunResult.of_cases(cases, collected=len(cases), **more)


def texts(blocks, **look):
    return [line_text(line) for line in joined_blocks(blocks, TerminalStyle(**look))]


# -- one value for a name with a scope ---------------------------------------------------------------------


class Page(HTMLParser):
    """What stands in a page: the statistics below each heading, and the cells of tables."""

    def __init__(self, html):
        super().__init__()
        self.found, self.rows, self.path = {}, [], []
        self.scope = self.name = self.cell = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.path.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        while self.path and self.path.pop() != tag:
            pass

    def handle_data(self, text):
        tag = self.path[-1] if self.path else ""
        if tag == "h3":
            self.scope = text.partition(",")[0].strip().lower()
        elif tag == "dt":
            self.name = text.strip()
        elif tag == "strong" and self.name:
            self.found[self.scope, self.name] = text.strip()
            self.name = ""
        elif {"td", "th"} & set(self.path):
            self.rows[-1][-1] += text.strip()


SHORT = {"score": "score", "precision": "precision", "recall": "recall", "F1": "f1"}


def statistics_of(report):
    return [block for block in report.blocks if isinstance(block, Statistics)]


def of_terminal(report):
    """The statistics of a run by scope and name, and those of its fields in a terminal."""
    found, columns = {}, []
    for block in statistics_of(report):
        scope = block.title.partition(",")[0]
        found |= {(scope, each.name): each.value for each in block.statistics}
    for line in map(line_text, blocks_lines(report, TerminalStyle(width=200, mode="all"))):
        cells = re.split(r" {2,}", line.strip())
        if cells[0] == "field":
            columns = cells[1:]
        elif cells[0] in {"shop", "total", "all fields"} and len(cells) == len(columns) + 1:
            found |= {(f"field {cells[0]}", name): cell for name, cell in zip(columns, cells[1:])}
    return found


def of_markdown(report):
    found, header, scope = {}, [], ""
    for line in markdown(report, 10**6).splitlines():
        cells = [cell.strip(" `*") for cell in line.strip("|").split("|")]
        if line.startswith("### "):
            title, scope = line[4:].partition(",")[0], ""
            scope = title[0].lower() + title[1:]
        elif not line:
            header = []
        elif line.startswith("| ") and not line.startswith("| ---"):
            if not header:
                header = cells
            elif header[0] == "field":
                found |= {(f"field {cells[0]}", name): cell for name, cell in zip(header[1:], cells[1:])}
            else:
                found |= {(scope, name): cell for name, cell in zip(header, cells) if " to " not in cell}
    return {key: cell for key, cell in found.items() if key[0].removeprefix("field ") in WANTED}


WANTED = {"mean over cases", "all fields", "shop", "total"}


def of_page(report):
    page = Page(html_page(report))
    header = next(row for row in page.rows if row[0] == "field")
    fields = [
        row for row in page.rows if row[0] in {"shop", "total", "all fields"} and len(row) == len(header)
    ]
    found = {(f"field {row[0]}", name): cell for row in fields for name, cell in zip(header[1:], row[1:])}
    return {**page.found, **found}


def test_a_name_with_a_scope_has_one_value_wherever_it_is_shown():
    answers = (GOLD, WRONG, {**GOLD, "total": 13}, {"shop": "x"}, GOLD)
    results = run(*(case(f"t.py::{at}", answer) for at, answer in enumerate(answers)))
    report = build(results, ReportRequest(has_intervals=True))
    known = {}
    for found in (of_terminal(report), of_markdown(report), of_page(report)):
        assert {scope for scope, _ in found} >= {"mean over cases", "all fields", "field shop", "field total"}
        for (scope, name), value in found.items():
            known.setdefault((scope.replace("field all fields", "all fields"), name), set()).add(value)
    assert {key: values for key, values in known.items() if len(values) > 1} == {}
    # And it is what gates call so.
    prefixes = {"mean over cases": "", "all fields": "micro."}
    prefixes |= {f"field {path}": f'fields["{path}"].' for path in ("shop", "total")}
    shares = {**SHORT, "pass rate": "pass_rate"}
    compared = 0
    for (scope, name), values in known.items():
        if name in shares and scope in prefixes:
            gate = check_gate(parse_gate(f"{prefixes[scope]}{shares[name]} >= 0"), results)
            assert values == {score_text(gate.value)}, (scope, name)
            compared += 1
    assert compared == 4 + 4 + 8


def test_all_statistics_of_a_run_have_the_same_number_of_decimals():
    near = {"actual": {"t": "a" * 999 + "b"}, "expected": {"t": "a" * 1000}}
    results = run(
        *(
            case(f"t.py::{at}", **near, metric="json_similarity", limit=limit)
            for at, limit in enumerate((0.9, 1))
        )
    )
    means, _ = statistics_of(build(results))
    assert {each.name: each.value for each in means.statistics} == {"score": "0.999", "pass rate": "0.500"}


def test_a_record_without_a_threshold_has_no_verdict():
    corpus = compare_corpus([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 1}], keep="all")
    report = build(corpus, ReportRequest(page=PageExtra()))
    assert (report.verdict, report.headline) == ("", "mean score 0.50")
    assert not re.search(r">(passed|failed)<", html_page(report))


def test_equal_scores_are_sorted_by_the_numbers_in_names():
    names = ["104498", "4498", "77", "t[10]", "t[9]"]
    answers = [{"id": name, "a": 2, "b": 1} for name in names]
    gold = [{**answer, "a": 1} for answer in answers]
    corpus = compare_corpus(answers, gold, id="id", keep="all")
    for run in (corpus, RunResult.of_cases(corpus.cases)):
        lines = [line_text(line) for line in blocks_lines(build(run), TerminalStyle(), is_brief=False)]
        assert [name for line in lines if (name := line.partition(" ")[0]) in names] == sorted(
            names, key=lambda name: (name.startswith("t"), int(re.sub(r"\D", "", name)))
        )
        page = html_page(build(run, ReportRequest(page=PageExtra())))
        assert page.index(">t[9]<") < page.index(">t[10]<")


def test_a_failed_score_is_never_shown_as_its_limit():
    sides = {"actual": {"t": "a" * 947}, "expected": {"t": "a" * 1000}}
    results = run(case("t.py::a", **sides, metric="json_similarity", limit=0.95))
    gates = [check_gate(parse_gate("score >= 0.95"), results)]
    report = build(results, ReportRequest(gates=gates))
    drawn = [line_text(line) for line in blocks_lines(report, TerminalStyle())]
    assert "t.py::a  0.947 < 0.95  t 0.95" in drawn
    assert "| `t.py::a` | `0.947 < 0.95` | `t 0.95` |" in markdown(report, 10**6)
    html = html_page(report)
    assert "</svg> 0.947 &lt; 0.95</td>" in html_page(build(results, ReportRequest(page=PageExtra())))
    assert re.findall(r'<td class="number "[^>]*>([^<]*)</td>', html)[:2] == ["0.947", "0.95"]


# -- the baseline ------------------------------------------------------------------------------------------


def many(number, wrong=()):
    gold = {"a": 1, "b": "x"}
    answers = ({**gold, "a": 2} if at in wrong else gold for at in range(number))
    numbered = ((f"f.yaml::c{at:03}", answer) for at, answer in enumerate(answers))
    cases = (case(name, answer, expected=gold, metric="field_match") for name, answer in numbered)
    return run(*cases, created="2026-11-20T12:00:00+00:00", commit="0123456789abcdef")


def against(before, after, **look):
    return texts(contest_blocks([contest(("main", before), ("this run", after))]), **look)


def test_what_is_shown_of_a_baseline():
    assert against(many(8), many(9, wrong=range(6)))[:8] == [
        "this run is significantly worse in mean score (-0.375), in pass rate (-0.750)",
        "and on `a` (-0.750), no other significant change; 8 of 9 cases are in both",
        "",
        "this run against main, mean of 8 cases in both",
        "statistic   main  this run  difference      90 % interval  verdict",
        "mean score  1.00      0.62      -0.375  -0.598 to below 0  significantly worse",
        "pass rate   1.00      0.25      -0.750   -0.974 to -0.005  significantly worse",
        "a           1.00      0.25      -0.750   -0.974 to -0.005  significantly worse",
    ]


def test_what_did_not_run_has_not_vanished():
    shown = against(many(3), replace(many(2), narrowed=("-k",)))
    assert shown[-2:] == ["cases not run:", "  f.yaml::c002"]
    assert against(many(3), many(2))[-2] == "cases vanished:"


def test_long_lists_are_cut_unless_all_is_asked_for():
    runs = many(30), many(45, wrong=range(30))
    cut = [line for line in against(*runs) if "more" in line]
    assert cut == ["  … 40 more rows (-v)", "  … 5 more cases (-v)"]
    assert sum("f.yaml::" in line for line in against(*runs, mode="all")) == 45


def test_a_refusal_spells_the_difference_out():
    gold = {"a": 1, "b": "x"}
    after = run(*(case(f"f.yaml::c{at:03}", gold, expected=gold) for at in range(5)))
    assert against(many(5), after)[:4] == [
        "5 cases scored differently in `main`: no comparison is made",
        "",
        "scored differently  then, and now",
        "f.yaml::c000        field_match, now pairwise_f1",
    ]


@pytest.mark.parametrize("unicode", [True, False])
def test_statistics_with_their_intervals(unicode):
    results = many(40, wrong=range(20))
    report = build(results, ReportRequest(has_intervals=True))
    means, leaves = (
        [line_text(line) for line in block_lines(each, TerminalStyle(unicode=unicode))]
        for each in statistics_of(report)
    )
    assert means[0] == "mean over cases, with 95 % confidence intervals (40 cases):"
    assert means[1].startswith("  score      0.75  0.6")
    assert means[2] == "  pass rate  0.50  0.34 to 0.66"
    assert leaves[0] == "all fields, with 95 % confidence intervals (40 cases):"
    for block in statistics_of(report):
        assert all(line_width(line) <= 40 for line in block_lines(block, TerminalStyle(width=40)))


# -- tables ------------------------------------------------------------------------------------------------


def shown(*cases, width=80, **more):
    report = build(run(*cases), ReportRequest(**more))
    start = next(
        at for at, block in enumerate(report.blocks) if getattr(block, "title", "").startswith("fields of")
    )
    blocks = report.blocks[start + 1 :]
    rest = [
        each
        for each in blocks
        if not isinstance(each, Statistics)
        and "rows found" not in str(each)
        and not str(getattr(each, "title", "")).startswith("kinds of differences")
    ]
    return texts(rest, width=width)


def test_statistics_by_the_parameters_of_a_fixture():
    both = [case(f"a[{model}]", answer, model=model) for model, answer in zip(MODELS, (WRONG, GOLD))][::-1]
    assert shown(both[0]) == []
    # Runs of a case count as one.
    often = replace(both[1], runs=tuple(replace(both[1].runs[0], number=at) for at in (1, 2, 3)), of=3)
    assert "total        1.00   0.50" in shown(both[0], often, case("b[small]", GOLD, model="small"))


def test_columns_without_room_are_left_out_the_last_first():
    models = [case(f"a[{model}]", WRONG, model=model) for model in MODELS]
    for width, there in ((20, {"huge"}), (24, {"huge", "large"}), (40, {*MODELS})):
        lines = shown(*models, width=width)
        header = next(line for line in lines if line.startswith("field"))
        assert all(len(line) <= width for line in lines)
        assert {*header.split()[1:]} == there


def test_statistics_by_a_tag_name_their_scope():
    scan, phone = ({"source": name} for name in ("scan", "phone"))
    cases = [case("a", GOLD, tags=scan), case("b", WRONG, tags=phone), case("c", GOLD)]
    assert shown(*cases, by=["source"])[:5:4] == ["by source, mean over cases", "1 case without this tag"]
    assert shown(*cases, by=["sauce"]) == ["no case has a tag 'sauce'; did you mean 'source'?"]
    assert shown(cases[2], by=["sauce"]) == ["no case has any tag, not even 'sauce'"]


def test_cost_and_latency_by_model():
    spent = {"a": (WRONG, Spent("b", cost=0.5)), "b": (GOLD, Spent("a")), "c": (GOLD, Spent())}
    cases = [case(name, answer, spent=each) for name, (answer, each) in spent.items()]
    assert shown(*cases) == [
        "answers by model, means and totals",
        "model       answers  mean score        cost  total cost",
        "a                 1        1.00           –           –",
        "b                 1        0.62         0.5         0.5",
        "all models        2        0.81  0.5 (of 1)  0.5 (of 1)",
    ]
    assert shown(cases[2]) == []


# -- commands of CI services -------------------------------------------------------------------------------

COMMANDS = ("::stop-commands::abc", "  ::warning::y", "##[error]x", "##vso[task.complete]")


@pytest.mark.parametrize("data", COMMANDS)
def test_no_line_begins_as_a_command_of_a_ci_service(data, pytester, capfd):
    """A line of a log that begins so is carried out by GitHub Actions or Azure Pipelines."""
    more = {"expected": {data: ["x"]}, "spent": Spent(data), "model": data}
    made = (case(f"{data}{at}", {data: [at]}, **more) for at in range(2))
    cases = [replace(each, tags={"t": data}) for each in made]
    failed = replace(cases[0].runs[0], comparisons=(), passed=False, error=data)
    bad = replace(cases[0], id=f"{data}9", runs=(failed,))
    for name, results in {"now": run(*cases, bad), "then": run(cases[0], narrowed=(data,))}.items():
        (pytester.path / f"{name}.json").write_text(to_text(results), encoding="utf-8")
    for name, text in {"gold": "x", "answers": "y"}.items():
        (pytester.path / f"{name}.jsonl").write_text(json.dumps({"id": data, "t": data, data: text}) + "\n")
        (pytester.path / f"{name}.json").write_text(json.dumps({data: text}))
    for line in (
        "report now.json", "report now.json -v", "report now.json --by t --markdown out.md", "diff then.json now.json",
        "diff then.json now.json -v --markdown diff.md", "compare answers.json gold.json -v",
        "evaluate answers.jsonl gold.jsonl --id id --by t -v",
    ):  # fmt: skip
        main(line.split())
    for name in ("out.md", "diff.md"):
        print((pytester.path / name).read_text(encoding="utf-8"))  # noqa: T201 - as `cat` does in CI
    pytester.makepyfile(
        f"""
        import pytest
        @pytest.mark.parametrize("model", [{data!r}, "b"])
        @pytest.mark.jsonmatch(tags={{"t": {data!r}}}, threshold=0)
        def test_it(assert_json_match, model):
            assert_json_match({{{data!r}: 1}}, {{{data!r}: 2}}, name={data!r})
        """
    )
    pytester.runpytest("-v", "--jsonmatch-by=t", "--jsonmatch-by=model", "--jsonmatch-gate=f1 >= 1")
    out, err = capfd.readouterr()
    lines = (out + err).splitlines()
    assert any(data.strip()[2:] in line for line in lines)
    assert [line for line in lines if line.lstrip().startswith(("::", "##[", "##vso["))] == []
