"""The HTML report as one uses it: in Debian's Chromium, which `.ci/run` installs; without one this is skipped."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_jsonmatch import Comparison, FieldAggregation, RunResult, compare_json
from pytest_jsonmatch.gate.expressions import parse_gate
from pytest_jsonmatch.gate.gates import check_gate
from pytest_jsonmatch.gate.headlines import contest
from pytest_jsonmatch.report.blocks import Column, Report, Row, Table
from pytest_jsonmatch.report.build import ReportRequest, build
from pytest_jsonmatch.report.cases_page import CaseText, PageExtra
from pytest_jsonmatch.report.html import html_page
from pytest_jsonmatch.results.comparison import Case, CaseRun
from pytest_jsonmatch.support.frozen import replace
from tests.conftest import main, page_of, run_of

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
HOSTILE = (
    "</script><script>window.stolen=1;alert(1)</script>"
    "<img src=http://127.0.0.1:9/x onerror=window.stolen=2>\u202e\x1b[31m{{ 7 * 7 }}\u2028"
)

pytestmark = pytest.mark.skipif(
    not CHROMIUM or not DRIVER, reason="no chromium and chromedriver here: apt-get install chromium-driver"
)


class Browser:
    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self.folder = folder

    def open(self, html: str, **look: Any) -> None:
        path = self.folder / "report.html"
        path.write_text(html, encoding="utf-8")
        self.open_file(path, **look)

    def open_file(self, path: Path, *, width: int = 1280, height: int = 900, scheme: str = "light") -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.command(
            "Emulation.setEmulatedMedia",
            media="",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.driver.get(path.as_uri())
        self.settle()

    def command(self, name: str, **arguments: Any) -> Any:
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def do(self, script: str, *arguments: Any) -> None:
        self.run(script, *arguments)
        self.settle()

    def settle(self) -> None:
        """Wait until what was asked for is drawn: two frames."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
        )

    def find(self, selector: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> Any:
        each = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"
        return self.run(each, selector)

    def click(self, selector: str) -> None:
        node = self.find(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", node)
        node.click()
        self.settle()

    def type(self, selector: str, text: str) -> None:
        self.find(selector).send_keys(text)
        self.settle()

    def press(self, *keys: str) -> None:
        self.driver.switch_to.active_element.send_keys(*keys)
        self.settle()

    def names(self, role: str) -> list[str]:
        """The names of what has a role in the accessibility tree."""
        nodes = self.command("Accessibility.getFullAXTree")["nodes"]
        return [
            node.get("name", {}).get("value", "")
            for node in nodes
            if not node["ignored"] and node["role"]["value"] == role
        ]

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.binary_location = str(CHROMIUM)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # (The driver's path is given: Selenium would look for one in the network.)
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield found
    found.quit()


@pytest.fixture
def browser(driver: Any, tmp_path: Path) -> Iterator[Browser]:
    found = Browser(driver, tmp_path)
    found.complaints()  # of the test before
    yield found
    assert found.complaints() == []
    assert found.run("return performance.getEntriesByType('resource').map((entry) => entry.name)") == []
    assert found.run("return typeof window.stolen") == "undefined"


ANSWERS: dict[str, tuple[object, object]] = {
    "t.py::right": ({"shop": "Bakery", "total": 1}, {"shop": "Bakery", "total": 1}),
    "t.py::spelling": ({"shop": "Bakkery", "total": 1}, {"shop": "Bakery", "total": 1}),
    "t.py::wrong": ({"total": 2, "phone": "1"}, {"shop": "Bakery", "total": 1}),
    **{f"t.py::more{at}": ({"shop": "Bakery"}, {"shop": "Bakery", "total": 1}) for at in range(8)},
}


def page(**more: Any) -> str:
    """The page of cases with two tags, a gate that fails and one that passes."""
    results, extra = run_of(ANSWERS, limit=0.9, options={"extra": "count"})
    cases = [
        replace(case, tags={"source": "scan" if at % 2 else "<b>phone</b>"})
        for at, case in enumerate(results.cases)
    ]
    results = results.with_cases(cases)
    gates = [check_gate(parse_gate(text), results) for text in ("score >= 0.5", "pass_rate == 1")]
    return html_page(build(results, ReportRequest(gates=gates, page=extra, has_intervals=True, **more)))


def many(number: int) -> str:
    """The page of many cases with ten fields each; what differs is drawn by lot, with a seed."""
    lot = random.Random(6)
    right = FieldAggregation(1, score_sum=1.0, weighted_score=1.0, expected_weight=1.0, actual_weight=1.0)
    wrong = FieldAggregation(mismatches=1, expected_weight=1.0, actual_weight=1.0)
    paths = [f"customer.field_{place}" for place in range(10)]
    cases, details = [], {}
    for place in range(number):
        fields = {path: right if lot.random() < 0.9 else wrong for path in paths}
        score = sum(each.score_sum for each in fields.values()) / len(fields)
        name = f"cases.golden.yaml::case-{place:05}"
        compared = Comparison(
            f"{name}#1", name, "json_similarity", "s", score, score, score, score, score >= 0.9, fields=fields
        )
        cases.append(Case(name, (CaseRun(1, score >= 0.9, (compared,)),)))
        details[name, f"{name}#1"] = '{"leaves": [["a", "mismatch", "1", "2"]]}\n["1", "2"]'
    return html_page(build(RunResult.of_cases(tuple(cases)), ReportRequest(page=PageExtra(details))))


ROWS = "table:has(th button):nth-of-type(1)"
CASES = "form.filter + .wide tr.row:not([hidden]) th code"
COUNT = "section:has(form.filter) h2 small"


def cases(browser: Browser) -> list[str]:
    """The cases that are shown, from top to bottom."""
    return [text.partition("::")[2] for text in browser.texts(CASES) if "::" in text]


def header(browser: Browser, name: str) -> Any:
    script = "return [...document.querySelectorAll('table.opens thead th')].find((each) => each.textContent === arguments[0])"
    return browser.run(script, name)


def sort(browser: Browser, name: str) -> str:
    found = header(browser, name)
    browser.do("arguments[0].querySelector('button').click()", found)
    return str(found.get_attribute("aria-sort"))


def test_sort(browser: Browser) -> None:
    browser.open(page())
    more = [f"more{at}" for at in range(8)]
    assert cases(browser) == ["wrong", *more, "spelling", "right"]
    assert sort(browser, "score") == "ascending"
    assert cases(browser)[0] == "wrong"
    assert sort(browser, "score") == "descending"
    assert cases(browser) == ["right", "spelling", *more, "wrong"]
    sort(browser, "case")
    assert cases(browser) == [*more, "right", "spelling", "wrong"]
    # What was added up stays below the rows.
    assert browser.texts("tfoot th") == ["all fields", "all"]


def test_search_and_filter(browser: Browser) -> None:
    browser.open(page())
    browser.type("form.filter [name=text]", "RIGHT")
    assert cases(browser) == ["right"]
    assert browser.texts(COUNT)[0] == "1 of 11 cases"
    browser.click("form.filter [type=reset]")
    assert len(cases(browser)) == 11
    browser.type("form.filter select", "passed")
    assert cases(browser) == ["spelling", "right"]
    browser.click("form.filter [type=reset]")
    browser.type("form.filter label:nth-of-type(3) select", "source=scan")
    assert cases(browser) == ["more0", "more2", "more4", "more6", "spelling"]
    browser.type("form.filter [name=text]", "no such case")
    assert cases(browser) == []
    assert browser.texts(".nothing") == ["nothing matches the filter"]


def test_details_are_made_when_a_row_is_opened(browser: Browser) -> None:
    browser.open(page())
    assert browser.texts(".detail") == []
    browser.type("form.filter [name=text]", "spelling")
    browser.click("tr.row:not([hidden]) .toggle")
    assert browser.find("tr.row:not([hidden]) .toggle").get_attribute("aria-expanded") == "true"
    assert browser.texts(".detail .leaf code") == ["shop", '"Bakery"', '"Bakkery"']
    assert browser.texts(".detail ins") == ["k"]
    fold = browser.find(".detail summary")
    assert fold.text == "Whole documents, side by side"
    fold.send_keys(Keys.ENTER)
    browser.settle()
    assert browser.texts(".detail pre") == [
        '{\n  "shop": "Bakery",\n  "total": 1\n}',
        '{\n  "shop": "Bakkery",\n  "total": 1\n}',
    ]
    # What is open stays open, and follows its row.
    sort(browser, "case")
    assert len(browser.texts(".detail")) == 1
    browser.press(Keys.TAB)
    browser.click("tr.row:not([hidden]) .toggle")
    assert browser.texts(".detail") == []


def test_a_field_opens_to_what_was_wrong_in_it(browser: Browser) -> None:
    browser.open(page())
    rows = "table.opens:has(tfoot) tr.row"
    assert browser.texts(f"{rows} th code")[0] == "total"
    browser.click(f"{rows} .toggle")
    assert browser.texts(".detail .chip") == ["missing", "mismatch"]
    assert browser.texts(".detail .leaf-head .faint")[0] == "8 times"


def test_pictures_of_scores(browser: Browser) -> None:
    browser.open(page())
    assert browser.texts("svg.chart text.mark") == ["threshold 0.9"]
    assert [each for each in browser.texts("svg.chart rect title") if not each.endswith(": 0")] == [
        "0 to 0.05: 1", "0.65 to 0.7: 8", "0.9 to 0.95: 1", "0.95 to 1: 1",
    ]  # fmt: skip
    labels = browser.texts("svg.heat rect title")
    assert "phone, t.py::wrong: 0.00" in labels
    assert "shop, t.py::more0: 1.00" in labels
    assert not any("t.py::right" in each for each in labels)


def test_input_and_raw_answer(browser: Browser, pytester: pytest.Pytester) -> None:
    pytester.makefile(
        ".golden.yaml",
        cases="""
metric: json_similarity
threshold: 0.7
cases:
  - id: wrong
    input: { page: 7 }
    actual: 'Sure: {"shop": "Bakkery", "total": 1, "tip": {"n": 2}}'
    expected: { shop: Bakery, total: 1, date: today }
""",
    )
    pytester.runpytest_inprocess("--jsonmatch-html=report.html", "--jsonmatch-gate=pass_rate >= 0.5")
    browser.open_file(pytester.path / "report.html", height=1600)
    assert browser.texts(".banner") == ["failed 1 of 1 gate failed 1 of 1 case failed"]
    assert browser.texts("table.opens tr.row td:last-of-type")[0] == "cases.golden.yaml:7"
    browser.click("table.opens .toggle")
    assert browser.texts(".detail .leaf-head code") == ["shop", "date"]
    assert browser.texts(".detail summary") == ["input", "answer", "Whole documents, side by side"]
    answer = 'Sure: {"shop": "Bakkery", "total": 1, "tip": {"n": 2}}'
    assert browser.texts(".detail details > pre") == ['{"page": 7}', answer]


def test_runs_and_cases_that_failed_before_comparing(browser: Browser) -> None:
    results, _ = run_of({"a": ({"n": 1}, {"n": 2})})
    (compared,) = results.comparisons
    found = (
        Case("g.yaml::fails", (CaseRun(1, False, error="failed before comparing"),)),
        Case("g.yaml::often", (CaseRun(1, True, (compared,)), CaseRun(2, False, (compared,))), 3, 0.6),
    )
    browser.open(html_page(build(RunResult.of_cases(found), ReportRequest(page=PageExtra()))))
    assert browser.texts("table.opens tr.row .chip") == ["failed", "undecided"]
    browser.click("table.opens tr.row:nth-child(2) .toggle")
    assert browser.texts(".part-title") == ["run 1 of 3: passed", "run 2 of 3: failed"]


def test_what_a_screen_reader_reads(browser: Browser) -> None:
    browser.open(page())
    assert [name.strip() for name in browser.names("heading")] == [
        "jsonmatch",
        "Gates, on 11 cases",
        "Cases: 9 of 11 failed",
        "Fields of 11 cases by json_similarity",
        "Kinds of differences by cost, their part of 1 - mean score",
        "Mean over cases, with 95 % confidence intervals (11 cases)",
        "All fields, with 95 % confidence intervals (11 cases)",
        "Scores of cases",
        "Fields × cases the 10 lowest-scoring cases, from left to right",
    ]
    images = [name for role in ("image", "img") for name in browser.names(role)]
    assert {"Scores of cases", "Fields × cases"} <= {*images}
    for role in ("button", "combobox", "searchbox"):
        assert "" not in browser.names(role), role


def test_light_dark_and_switch(browser: Browser) -> None:
    def ground() -> str:
        return str(browser.run("return getComputedStyle(document.body).backgroundColor"))

    html = page()
    browser.open(html, scheme="dark")
    dark = ground()
    browser.open(html)
    light = ground()
    assert dark != light
    browser.click("#theme")
    assert (browser.texts("#theme"), ground()) == (["theme: light"], light)
    browser.click("#theme")
    assert (browser.texts("#theme"), ground()) == (["theme: dark"], dark)
    browser.click("#theme")


@pytest.mark.parametrize("width", [1280, 420])
def test_nothing_is_wider_than_the_window(browser: Browser, width: int) -> None:
    browser.open(
        page_of({"t.py::" + "long" * 60: ({"a" * 300: "b" * 300}, {"a" * 300: "c" * 300})}), width=width
    )
    assert browser.run("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1200, 1100, 420])
def test_no_column_is_cut_off(browser: Browser, width: int) -> None:
    numbers = ["n", "match", "mismatch", "missing", "extra", "precision", "recall", "F1", "before", "change"]
    fields = [
        Row([path, *["1,234"] * 9, "-0.001"]) for path in ("items[].id", "vendor.address." + "long" * 20)
    ]
    texts = [Column(title, "text") for title in ("place", "gold", "answers", "who")]
    audited = [Column("record", "name"), *texts[:3], Column("votes"), Column("wrong gold"), texts[3]]
    value = '{"sku": "SKU-002", "name": "paint brush", "qty": 6, "price": 12.41, "note": null}'
    audit = Row(["inv30", "vendor.address.zip", '"07540"', value, "3 to 0", "99 %", "a, b"])
    blocks = [
        Table([Column("field", "name"), *map(Column, numbers)], fields),
        Table(audited, [audit]),
        Table([Column("case", "name"), Column("text", "text")], [Row(["  items[0]", "word " * 200])]),
    ]
    browser.open(html_page(Report("", "", blocks)), width=width)
    wide = (
        "return [...document.querySelectorAll('.wide')].filter((each) => each.scrollWidth > each.clientWidth)"
    )
    assert browser.run(f"{wide}.length") == 0
    # Names of up to twelve characters stay on one line.
    heights = (
        "return [...document.querySelectorAll('tbody th code')].map((each) => each.getClientRects().length)"
    )
    assert browser.run(heights)[::2] == [1, 1]


def test_paper_has_the_details(browser: Browser) -> None:
    browser.open(many(15))
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert len(browser.texts(".detail")) == 15
    assert browser.command("Page.printToPDF")["data"]


def test_hostile_data_stays_text(browser: Browser) -> None:
    answers: dict[str, tuple[object, object]] = {
        f"t.py::{HOSTILE}": ({HOSTILE: HOSTILE, "b": 1}, {HOSTILE: "x", "b": HOSTILE}),
        "javascript:alert(1)": ([HOSTILE], [f"{HOSTILE}2"]),
    }
    before, _ = run_of({**answers, HOSTILE: (1, 1)})
    results, extra = run_of(answers)
    results = results.with_cases(replace(each, tags={"t": HOSTILE}) for each in results.cases)
    source = CaseText(HOSTILE, HOSTILE, HOSTILE)
    extra = replace(extra, sources={case.id: source for case in results.cases})
    made = contest((HOSTILE, before), ("this run", results))
    html = html_page(
        build(
            results, ReportRequest(HOSTILE, notes=[HOSTILE], baselines={HOSTILE: made}, by=["t"], page=extra)
        )
    )
    browser.open(html, height=2000)
    for node in browser.driver.find_elements(By.CSS_SELECTOR, ".toggle"):
        browser.do("arguments[0].click()", node)
    browser.do("for (const each of document.querySelectorAll('summary')) each.click()")
    shown = " ".join(browser.texts("main"))
    assert r"\u202e\x1b[31m{{ 7 * 7 }}\u2028" in shown
    assert not set("\u202e\x1b\u2028") & set(shown)
    assert browser.run("return document.querySelectorAll('img, iframe, script').length") == 1
    assert browser.run("return document.querySelectorAll('main [style], main a').length") == 0


PARTS = ["</script><script>window.stolen=1</script>", "<img src=x onerror=window.stolen=2>", "\u2028\u2029"]
PARTS += ["\"'><svg onload=window.stolen=3>", "{{ 7 * 7 }}{% raw %}", "</template></td>", "--><!--", "]]>"]
WHERE = ["key", "id", "tag", "value"]


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("hostile", PARTS)
def test_nothing_runs_wherever_it_stands(browser: Browser, where: str, hostile: str) -> None:
    values = {each: hostile if each == where else each for each in WHERE}
    results, extra = run_of({values["id"]: ({values["key"]: values["value"]}, {values["key"]: 1})})
    (case,) = results.cases
    results = results.with_cases([replace(case, tags={"t": values["tag"]})])
    browser.open(html_page(build(results, ReportRequest(page=extra, by=["t"]))))
    for node in browser.driver.find_elements(By.CSS_SELECTOR, ".toggle"):
        browser.do("arguments[0].click()", node)
    assert browser.run("return document.querySelectorAll('img, main script, svg[onload]').length") == 0


def test_two_thousand_cases(browser: Browser) -> None:
    browser.open(many(2_000))
    assert browser.texts(COUNT)[0] == "2,000 cases"
    # Only the first rows take time to be laid out.
    assert len(cases(browser)) == 20
    sort(browser, "case")
    assert cases(browser)[0] == "case-00000"
    sort(browser, "case")
    assert cases(browser)[0] == "case-01999"
    browser.type("form.filter [name=text]", "case-0123")
    assert browser.texts(COUNT)[0] == "10 of 2,000 cases"
    assert len(cases(browser)) == 10
    browser.click("form.filter [type=reset]")
    browser.click("button.all")
    assert len(cases(browser)) == 2_000


def evaluate(browser: Browser, gold: list[Any], answers: list[Any], *options: str) -> int:
    """Run the command on records in files, and open its page."""
    paths = [browser.folder / name for name in ("answers.jsonl", "gold.jsonl", "page.html")]
    for path, records in zip(paths, (answers, gold)):
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    code = main(["evaluate", *map(str, paths[:2]), "--id", "id", "--html", str(paths[2]), *options])
    browser.open_file(paths[2], height=1600)
    return code


def test_a_corpus_without_a_gate_has_no_verdict(browser: Browser) -> None:
    gold = [{"id": name, "a": 1, "b": 2} for name in ("missing", "wrong", "right")]
    assert evaluate(browser, gold, [{**gold[1], "a": 3}, gold[2]], "--keep", "all") == 1
    # Records without an answer come after wrong ones.
    assert browser.texts("table.opens:first-of-type tr.row th code")[:3] == ["wrong", "missing", "right"]
    assert [each for each in browser.texts(".chip") if each in {"passed", "failed"}] == []
    assert browser.texts(".banner strong") == ["mean score 0.50"]
    browser.click("table.opens .toggle")
    assert browser.texts(".detail summary") == ["Whole documents, side by side"]


NOTEBOOK = """<!doctype html><meta charset="utf-8"><style>
body {{ background: #fff; color: #111 }}
.output table {{ table-layout: fixed; margin: 0 auto }}
.output td, .output th {{ text-align: right }}
.output tbody tr:nth-child(odd) {{ background: #f5f5f5 }}
.output code {{ background: #eee; color: #333 }}
.output dt {{ float: left; width: 20%; font-weight: bold }}
</style><body data-jp-theme-light="{light}"><div class="output">
<table id="own"><tbody><tr><td>1</td></tr></tbody></table>{html}</div>"""


@pytest.mark.parametrize(
    ("light", "scheme", "ground"),
    [("true", "dark", "rgb(255, 255, 255)"), ("false", "light", "rgb(26, 33, 37)")],
)
def test_a_notebook_keeps_its_style_and_its_theme_decides(
    browser: Browser, light: str, scheme: str, ground: str
) -> None:
    html = compare_json({"total": 12.5, HOSTILE: 1}, {"total": 13})._repr_html_()
    browser.open(NOTEBOOK.format(light=light, html=html), scheme=scheme)

    def style(selector: str, name: str) -> Any:
        return browser.run(
            "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", selector, name
        )

    assert style(".jsonmatch section", "backgroundColor") == ground
    assert style(".jsonmatch tbody th", "textAlign") == "left"
    assert style(".jsonmatch tbody tr", "backgroundColor") == "rgba(0, 0, 0, 0)"
    assert (style(".jsonmatch dt", "float"), style(".jsonmatch dt", "fontWeight")) == ("none", "400")
    assert (style("#own td", "textAlign"), style("#own", "tableLayout")) == ("right", "fixed")
    assert style("body", "backgroundColor") == "rgb(255, 255, 255)"
    browser.click(".jsonmatch summary")
    assert "13→12.5" in browser.texts(".jsonmatch .pair")
