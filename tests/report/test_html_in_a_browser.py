"""The HTML report as one uses it: in Debian's Chromium, which `.ci/run` installs; without one this is skipped."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_jsonmatch.cli.main import main
from pytest_jsonmatch.engine.result.figures import FieldAggregation
from pytest_jsonmatch.gate.expressions import parse_gate
from pytest_jsonmatch.gate.gates import check_gate
from pytest_jsonmatch.gate.headlines import Headline, contest, headlines
from pytest_jsonmatch.gate.intervals import Interval
from pytest_jsonmatch.report.html import html_page
from pytest_jsonmatch.report.view import RunView
from pytest_jsonmatch.results.comparison import Case, CaseRun, Comparison
from pytest_jsonmatch.results.run import RunResult
from tests.conftest import page_of as plain_page

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

    def open_case(self, name: str) -> None:
        self.type("#cases-filter [name=text]", name)
        self.click("#cases .toggle")

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
    "t.py::array": (
        {"items": [{"n": "eggs", "p": 3}, {"n": "bread", "p": 9}, {"n": "bag", "p": 7}]},
        {"items": [{"n": "bread", "p": 1}, {"n": "milk", "p": 2}, {"n": "eggs", "p": 3}]},
    ),
}


def page_of(answers: dict[str, tuple[object, object]], **more: Any) -> RunView:
    page = plain_page(answers, limit=0.9, options={"arrays": "unordered", "extra": "count"}, **more)
    gates = [check_gate(parse_gate(text), page.results) for text in ("score >= 0.5", "pass_rate == 1")]
    return replace(page, headlines=headlines(page.results), gates=gates)


def against(page: RunView, before: RunResult) -> RunView:
    return replace(page, baseline="main", contest=contest((HOSTILE, before), ("this run", page.results)))


def many(number: int) -> RunView:
    """A run of many cases with ten fields each; what differs is drawn by lot, with a seed."""
    lot = random.Random(6)
    right = FieldAggregation(1, score_sum=1.0, weighted_score=1.0, expected_weight=1.0, actual_weight=1.0)
    wrong = FieldAggregation(mismatches=1, expected_weight=1.0, actual_weight=1.0)
    paths = [f"customer.field_{place}" for place in range(10)]
    cases = []
    for place in range(number):
        fields = {path: right if lot.random() < 0.9 else wrong for path in paths}
        score = sum(each.score_sum for each in fields.values()) / len(fields)
        name = f"cases.golden.yaml::case-{place:05}"
        compared = Comparison(
            f"{name}#1", name, "json_similarity", "s", score, score, score, score, score >= 0.9, fields=fields
        )
        cases.append(Case(name, (CaseRun(1, score >= 0.9, (compared,)),)))
    shown = Headline("score", Interval(0.9, 0.89, 0.91, 0.95, number, number))
    return RunView(RunResult.of_cases(tuple(cases)), headlines=[shown])


SCROLLING = """
return [...document.querySelectorAll(arguments[0])].filter((each) =>
  /auto|scroll/.test(getComputedStyle(each).overflowY) && each.scrollHeight > each.clientHeight).length
"""
CASE_NAMES = "#cases .case .name bdi"


def test_sort(browser: Browser) -> None:
    browser.open(html_page(page_of(ANSWERS)))
    assert browser.texts(CASE_NAMES) == ["wrong", "array", "spelling", "right"]
    header = "#cases [role=columnheader]:nth-child(3)"
    assert browser.find(header).get_attribute("aria-sort") == "ascending"
    browser.click(f"{header} button")
    assert browser.find(header).get_attribute("aria-sort") == "descending"
    assert browser.texts(CASE_NAMES) == ["right", "spelling", "array", "wrong"]
    browser.click("#cases [role=columnheader]:nth-child(1) button")
    assert browser.texts(CASE_NAMES) == ["array", "right", "spelling", "wrong"]
    browser.click("#fields [role=columnheader]:nth-child(1) button")
    assert browser.texts("#fields .list-rows bdi") == ["items[].n", "items[].p", "phone", "shop", "total"]


def test_filter(browser: Browser) -> None:
    browser.open(html_page(page_of(ANSWERS)))
    browser.type("#cases-filter [name=text]", "RIGHT")
    assert browser.texts(CASE_NAMES) == ["right"]
    assert browser.texts("#cases-count") == ["1 of 4"]
    browser.click("#cases-filter [type=reset]")
    browser.type("#cases-filter [name=low]", "0.9")
    assert browser.texts(CASE_NAMES) == ["spelling", "right"]
    browser.type("#cases-filter [name=high]", "0.95")
    assert browser.texts(CASE_NAMES) == ["spelling"]
    browser.click("#cases-filter [type=reset]")
    browser.type("#cases-filter [name=status]", "failed")
    assert browser.texts(CASE_NAMES) == ["wrong", "array"]
    browser.type("#cases-filter [name=text]", "no such case")
    assert browser.texts("#cases .list-rows") == ["nothing matches the filter"]
    browser.type("#fields-filter [name=status]", "with inv")
    assert browser.texts("#fields .list-rows bdi") == ["phone", "items[].p", "items[].n"]
    browser.type("#fields-filter [name=text]", "phone")
    assert browser.texts("#fields .list-rows bdi") == ["phone"]


def test_filter_by_tag(browser: Browser) -> None:
    view = page_of(ANSWERS)
    tagged = [
        replace(case, tags={"source": "scan" if number % 2 else "<b>phone</b>"})
        for number, case in enumerate(view.results.cases)
    ]
    browser.open(html_page(replace(view, results=view.results.with_cases(tagged), by=["source"])))
    assert {"<b>phone</b>", "scan"} <= {*browser.texts("table.plain tbody th")}
    wide = browser.run("return document.querySelector('#heat > div').style.width")
    browser.type("#cases-filter [name=tag]", "source=scan")
    assert sorted(browser.texts(CASE_NAMES)) == ["array", "spelling"]
    assert " by 2 cases" in browser.run("return document.querySelector('#heat canvas').ariaLabel")
    assert browser.run("return document.querySelector('#heat > div').style.width") != wide
    browser.click("#cases-filter [type=reset]")
    assert len(browser.texts(CASE_NAMES)) == len(tagged)


def test_choose_a_bar_of_the_distribution(browser: Browser) -> None:
    browser.open(html_page(page_of(ANSWERS)))
    bar = '#spread [aria-label="score 1: 1 case"]'
    browser.click(bar)
    assert browser.texts(CASE_NAMES) == ["right"]
    assert browser.find(bar).get_attribute("aria-pressed") == "true"
    browser.click(bar)
    assert len(browser.texts(CASE_NAMES)) == 4


def test_expand(browser: Browser) -> None:
    browser.open(html_page(page_of(ANSWERS)))
    browser.open_case("spelling")
    assert browser.find("#cases .case").get_attribute("aria-expanded") == "true"
    assert browser.texts("#cases .leaf code") == ["shop", '"Bakery"', '"Bakkery"']
    assert browser.texts("#cases .leaf ins") == ["k"]
    browser.click("#cases .toggle")
    assert browser.texts("#cases .part") == []


def test_a_field_opens_to_what_was_wrong_in_it(browser: Browser) -> None:
    browser.open(html_page(page_of({**ANSWERS, "t.py::again": ANSWERS["t.py::spelling"]})))
    assert browser.texts("#fields .row bdi")[-1:] == ["total"]
    browser.type("#fields-filter [name=text]", "shop")
    browser.click("#fields .row")
    assert browser.find("#fields .row").get_attribute("aria-expanded") == "true"
    shown = ["shop", '"Bakery"', '"Bakkery"', "shop", '"Bakery"', "missing"]
    assert browser.texts("#fields .leaf code") == shown
    assert browser.texts("#fields .leaf-head > :last-child") == ["2 times", "omitted"]
    assert browser.texts("#fields .leaf ins") == ["k"]
    browser.click("#fields .toggle")
    assert browser.texts("#fields .part") == []


def test_pairs_of_an_array_are_drawn(browser: Browser) -> None:
    browser.open(html_page(page_of(ANSWERS)), height=1600)
    browser.open_case("array")
    browser.do("scrollTo(0, 1e6)")
    (drawn,) = browser.driver.find_elements(By.CSS_SELECTOR, "svg.pairs")
    assert drawn.get_attribute("aria-label") == (
        "Pairs of items. expected 0 with actual 1: 0.50; expected 2 with actual 0: 1.00; "
        "expected 1 without a partner; actual 2 without a partner"
    )
    assert browser.texts("svg.pairs .alone + svg text") == ["[1] milk, 2", "[2] bag, 7"]


def test_whole_documents_side_by_side(browser: Browser) -> None:
    browser.open(html_page(page_of(ANSWERS)), height=1600)
    browser.open_case("spelling")
    assert browser.texts("#cases .documents .side") == []  # made when somebody opens them
    fold = browser.find("#cases .documents summary")
    assert fold.text == "Whole documents, side by side"
    fold.send_keys(Keys.ENTER)
    browser.settle()
    assert browser.find("#cases .case").get_attribute("aria-expanded") == "true"
    assert browser.texts("#cases .documents code") == [
        '{\n  "shop": "Bakery",\n  "total": 1\n}',
        '{\n  "shop": "Bakkery",\n  "total": 1\n}',
    ]
    # Nothing in a case scrolls by itself.
    assert browser.run(SCROLLING, "#cases *") == 0
    # What is open stays open while it is out of sight.
    browser.click("#cases [role=columnheader]:nth-child(1) button")
    assert len(browser.texts("#cases .documents code")) == 2
    browser.click("#cases .documents summary")
    assert browser.texts("#cases .documents code") == []


def test_in_a_case_the_differences_come_first(browser: Browser, pytester: pytest.Pytester) -> None:
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
    banner = "failed 1 of 1 gate failed · 1 of 1 case failed · pass_rate >= 0.5 (0.00)"
    assert browser.texts(".banner") == [banner]
    (first, *_), leaves, folds = (
        browser.texts(selector) for selector in ("#cases .part", "#cases .leaf-head", "#cases summary")
    )
    assert first == "cases.golden.yaml::wrongcases.golden.yaml:4"
    assert leaves == ["shopmismatch0.861 edit", "dateomitted"]
    assert folds == ["3 fields: 2 not right, 1 right", "Whole documents, side by side", "Input", "Raw answer"]
    for number in range(4):
        browser.do("document.querySelectorAll('#cases summary')[arguments[0]].click()", number)
    answer = 'Sure: {"shop": "Bakkery", "total": 1, "tip": {"n": 2}}'
    assert browser.texts("#cases .text code") == ['{"page": 7}', answer]
    assert browser.texts("#cases .field code") == ["date", "shop", "total"]
    assert browser.run(SCROLLING, "#cases *") == 0


def test_documents_of_what_is_right_stand_there_once(browser: Browser) -> None:
    browser.open(html_page(page_of(ANSWERS)), height=1600)
    browser.open_case("right")
    browser.click("#cases .documents summary")
    assert browser.texts("#cases .documents summary") == ["Whole documents, both the same"]
    assert browser.texts("#cases .documents code") == ['{\n  "shop": "Bakery",\n  "total": 1\n}'] * 2


def test_runs_and_cases_that_failed_before_comparing(browser: Browser) -> None:
    (compared,) = page_of({"a": ({"n": 1}, {"n": 2})}).results.comparisons
    cases = (
        Case("g.yaml::fails", (CaseRun(1, False, error="failed before comparing"),)),
        Case("g.yaml::often", (CaseRun(1, True, (compared,)), CaseRun(2, False, (compared,))), 3, 0.6),
    )
    browser.open(html_page(RunView(RunResult.of_cases(cases))))
    assert browser.texts("#cases .case .chip") == ["failed", "undecided"]
    assert browser.find("#cases .runs").get_attribute("aria-label") == "1 of 3 runs passed"
    assert browser.texts("#cases .case > :last-child")[0] == "failed before comparing"
    browser.click("#cases .case:nth-child(2)")
    runs = [text for text in browser.texts("#cases .part.title") if text.startswith("Run")]
    assert runs == ["Run 1 of 3: passed", "Run 2 of 3: failed"]


def test_against_a_baseline(browser: Browser) -> None:
    before = page_of({name: (expected, expected) for name, (_, expected) in ANSWERS.items()}).results
    browser.open(html_page(against(page_of(ANSWERS), before)))
    change = "#cases .case > :nth-child(4)"
    # What did not change is folded away, until all is asked for.
    assert [text[0] for text in browser.texts(change)] == ["−", "−", "−"]
    assert browser.texts("#cases-count") == ["3 of 4"]
    browser.click("#cases-filter [type=reset]")
    assert [text[0] for text in browser.texts(change)] == ["−", "−", "−", "0"]
    browser.type("#cases-filter [name=status]", "lost")
    assert browser.texts(CASE_NAMES) == ["wrong", "array", "spelling"]
    browser.click("#cases [role=columnheader]:nth-child(4) button")
    assert browser.find("#cases [role=columnheader]:nth-child(4)").get_attribute("aria-sort") == "ascending"


def test_keyboard(browser: Browser) -> None:
    browser.open(html_page(page_of(ANSWERS)))
    browser.run("document.getElementById('cases').focus()")
    browser.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    assert browser.texts("#cases .case[aria-expanded=true] bdi") == ["array"]
    active = browser.find("#cases").get_attribute("aria-activedescendant")
    assert browser.texts(f"#{active} bdi") == ["array"]
    browser.press(Keys.ARROW_LEFT)
    assert browser.texts("#cases .case[aria-expanded=true] bdi") == []
    browser.run("document.getElementById('heat').focus()")
    browser.press(Keys.ARROW_RIGHT)
    assert browser.texts("#heat-cell") == ["phone in t.py::wrong: 0.00"]
    browser.press(Keys.ARROW_RIGHT)
    assert browser.texts("#heat-cell") == ["phone in t.py::array: no such field"]
    browser.press(Keys.ARROW_LEFT)
    browser.press(Keys.ENTER)
    assert browser.texts("#cases .case[aria-expanded=true] bdi") == ["wrong"]


def test_what_a_screen_reader_is_told(browser: Browser) -> None:
    browser.open(html_page(page_of(ANSWERS)))
    assert [name.strip() for name in browser.names("heading")] == [
        "jsonmatch",
        "Figures with 95 % confidence intervals",
        "mean of cases",
        "all leaves",
        "Gates on 4 cases",
        "Scores of cases choose a bar to see its cases",
        "Fields × cases sorted and filtered like the lists below",
        "Fields over all leaves ·",
        "Cases",
    ]
    assert browser.names("treegrid") == ["Fields", "Cases"]
    assert browser.names("columnheader")[-5:] == ["case", "verdict", "score ↑", "runs", "worst fields"]
    assert set(browser.names("searchbox")) == {"Search"}
    images = [name for role in ("image", "img", "Canvas") for name in browser.names(role)]
    assert "Heat map: 5 fields by 4 cases. The lists below hold the same figures." in images
    for role in ("button", "combobox", "spinbutton", "searchbox"):
        assert "" not in browser.names(role), role


def compared_by(metric: str, *answers: object) -> RunView:
    pairs = {name: (actual, {"x": 1, "y": 2}) for name, actual in zip("ab", answers, strict=True)}
    return replace(plain_page(pairs, metric=metric, limit=2), details={})


def test_columns_are_there_where_they_say_something(browser: Browser) -> None:
    counts = ["n", "match", "mismatch", "omitted", "invented"]
    browser.open(html_page(compared_by("field_match", {"x": 1, "y": 2, "z": 3}, {"x": 1, "y": 3})))
    assert browser.texts("#fields [role=columnheader]") == ["field", "score ↑", *counts]
    assert set(browser.texts("#fields .list-rows .line > :last-child")) == {"–"}
    assert "F1" not in browser.texts("#cases [role=columnheader]")
    fits = "return [...document.querySelectorAll('.line > *')].every((each) => each.scrollWidth <= each.clientWidth)"
    assert browser.run(fits)

    browser.open(html_page(compared_by("pairwise_f1", {"x": 1, "y": 2, "z": 3}, {"x": 1})))
    assert browser.texts("#fields [role=columnheader]") == [
        "field", "score ↑", *counts, "precision", "recall", "F1",
    ]  # fmt: skip
    assert set(browser.texts("#fields .list-rows .line > :nth-child(7)")) == {"0", "1"}


@pytest.mark.parametrize("width", [780, 900, 1000, 1200])
def test_no_column_is_cut_off(browser: Browser, width: int) -> None:
    before = compared_by("pairwise_f1", {"x": 1, "y": 2}, {"x": 1, "y": 2}).results
    now = compared_by("pairwise_f1", {"x": 1, "y": 2, "z": 3}, {"x": 1})
    browser.open(html_page(against(now, before)), width=width)
    shown = "[...document.querySelectorAll('.list .line > *')].filter((each) => each.offsetWidth)"
    right = "(each) => each.getBoundingClientRect().right"
    edge = browser.run(f"return ({right})(document.querySelector('#fields'))")
    assert browser.run(f"return Math.max(...{shown}.map({right}))") <= edge


def test_light_dark_and_switch(browser: Browser) -> None:
    def ground() -> str:
        return str(browser.run("return getComputedStyle(document.body).backgroundColor"))

    html = html_page(page_of(ANSWERS))
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


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_wider_than_the_window(browser: Browser, width: int) -> None:
    page = page_of({"t.py::" + "long" * 60: ({"a" * 300: "b" * 300}, {"a" * 300: "c" * 300})})
    right = page_of({"t.py::" + "long" * 60: ({"a" * 300: "c" * 300}, {"a" * 300: "c" * 300})})
    browser.open(html_page(against(page, right.results)), width=width)
    assert browser.run("return document.documentElement.scrollWidth") <= width


def test_paper_has_the_lists_in_full(browser: Browser) -> None:
    browser.open(html_page(many(100)))
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert len(browser.texts("#cases .case")) == 100
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert len(browser.texts("#cases .case")) < 60
    assert browser.command("Page.printToPDF")["data"]


def test_a_sheet_of_paper_is_wide_enough(browser: Browser) -> None:
    before = page_of({name: (expected, expected) for name, (_, expected) in ANSWERS.items()}).results
    browser.open(html_page(against(page_of(ANSWERS), before)), width=718)  # A4 less its margins
    browser.click("#cases .toggle")
    browser.do("for (const each of document.querySelectorAll('.documents summary')) each.click()")
    browser.command("Emulation.setEmulatedMedia", media="print")
    browser.do("dispatchEvent(new Event('beforeprint'))")
    assert browser.run("return document.documentElement.scrollWidth") <= 718
    shown = "[...document.querySelectorAll('.list .line > *')].filter((each) => each.offsetWidth)"
    right = browser.run(f"return Math.max(...{shown}.map((each) => each.getBoundingClientRect().right))")
    assert right <= 718
    assert browser.run(f"return {shown}.filter((each) => each.classList.contains('less')).length > 0")


def test_hostile_data_stays_text(browser: Browser) -> None:
    answers: dict[str, tuple[object, object]] = {
        f"t.py::{HOSTILE}": ({HOSTILE: HOSTILE, "b": 1}, {HOSTILE: "x", "b": HOSTILE}),
        "javascript:alert(1)": ([HOSTILE], [f"{HOSTILE}2"]),
    }
    before = page_of({**answers, HOSTILE: (1, 1)}).results
    page = replace(against(page_of(answers, title=HOSTILE, notes=[HOSTILE]), before), baseline=HOSTILE)
    browser.open(html_page(page), height=2000)
    browser.click("#cases-filter [type=reset]")  # what did not change is folded away
    for _ in range(2):
        browser.do("document.querySelector('#cases .toggle[aria-expanded=false]').click()")
    browser.do("document.getElementById('cases').style.maxHeight = 'none'")
    browser.do("for (const each of document.querySelectorAll('.documents summary')) each.click()")
    assert len(browser.texts("#cases .documents code")) == 4
    shown = " ".join(browser.texts("body"))
    assert r"\u202e\x1b[31m{{ 7 * 7 }}\u2028" in shown.partition('{"metrics"')[0]
    assert not set("\u202e\x1b\u2028") & set(shown)
    assert browser.run("return document.querySelectorAll('img, iframe, script').length") == 2


def test_two_thousand_cases(browser: Browser) -> None:
    browser.open(html_page(many(2_000)))

    def rows() -> int:
        return int(browser.run("return document.querySelectorAll('.list-rows *').length"))

    def everything() -> int:
        return int(browser.run("return document.querySelectorAll('body *').length"))

    assert browser.texts("#cases-count") == ["2,000"]
    assert rows() <= 1000
    whole = everything()
    for place in (0.5, 1.0, 0.0):
        browser.run(
            "const list = document.getElementById('cases').getBoundingClientRect();"
            "scrollTo(0, scrollY + list.top + (list.height - innerHeight) * arguments[0])",
            place,
        )
        browser.settle()
        assert browser.texts(CASE_NAMES)
        assert rows() <= 1000
    browser.click("#cases [role=columnheader]:nth-child(1) button")
    assert browser.texts(CASE_NAMES)[0] == "case-00000"
    browser.click("#cases [role=columnheader]:nth-child(1) button")
    assert browser.texts(CASE_NAMES)[0] == "case-01999"
    for _ in range(3):
        browser.do("[...document.querySelectorAll('#cases .toggle[aria-expanded=false]')].pop().click()")
        browser.do("scrollBy(0, 200)")
        assert rows() <= 1000
    browser.type("#cases-filter [name=text]", "case-0123")
    assert browser.texts("#cases-count") == ["10 of 2,000"]
    assert rows() <= 1000
    assert everything() <= whole + 100
    assert browser.find("#cases").get_attribute("aria-rowcount") == "11"


def evaluate(browser: Browser, gold: list[Any], answers: list[Any], *options: str) -> int:
    """Run the command on records in files, and open its page."""
    paths = [browser.folder / name for name in ("answers.jsonl", "gold.jsonl", "page.html")]
    for path, records in zip(paths, (answers, gold)):
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    code = main(["evaluate", *map(str, paths[:2]), "--id-field", "id", "--html", str(paths[2]), *options])
    browser.open_file(paths[2], height=1600)
    return code


def test_a_corpus_of_the_command_line(browser: Browser) -> None:
    record = {"id": "r", "items": [{"n": "tea", "p": 2}, {"n": HOSTILE, "p": 3}]}
    answer = {"id": "r", "items": [{"n": HOSTILE, "p": 3}, {"n": "tea", "p": 4}]}
    assert evaluate(browser, [record], [answer], "--metric", "pairwise_f1") == 0
    browser.do("scrollTo(0, 1e6)")
    label = browser.find("svg.pairs").get_attribute("aria-label")
    assert "Pairs of items. expected 0 with actual 1: 0.50" in label
    folds = ["2 fields: 1 not right, 1 right", "Whole documents, side by side"]
    assert browser.texts("#cases summary") == folds


def test_records_without_an_answer_come_after_wrong_ones(browser: Browser) -> None:
    gold = [{"id": name, "a": 1, "b": 2} for name in ("missing", "wrong", "right")]
    assert evaluate(browser, gold, [{**gold[1], "a": 3}, gold[2]], "--keep", "all") == 1
    browser.click("#cases-filter [type=reset]")
    assert browser.texts(CASE_NAMES) == ["wrong", "missing", "right"]
