"""Whole reports, as text, Markdown and JSON, against files that are kept.

`UPDATE_GOLDENS=1 pytest tests/report/test_goldens.py` writes what there is now. Read the diff.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_jsonmatch import RunResult, compare_corpus
from tests.conftest import broken_case, case_of, main, replace

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDENS = Path(__file__).parent / "goldens"
ORIGIN: dict[str, Any] = {
    "created": "2026-11-21T12:00:00+00:00",
    "commit": "0123456789abcdef+",
    "versions": {"pytest-jsonmatch": "0.1.0", "python": "3.13.1"},
}
HOSTILE = "\x1b[31mred\x1b[0m \u202eevil\u2066 </script><script>alert(1)</script> a|b\\|c `x` ``y` @me\n# no\x00\ud800"
LIMIT = 0.9


def case(name: str, actual: object, expected: object, metric: str = "json_similarity", **more: Any) -> Any:
    return case_of(name, actual, expected=expected, metric=metric, limit=LIMIT, **more)


BREAD = {"shop": "Corner Bakery", "total": 11.0, "items": [{"name": "Rye", "price": 4.2}, {"name": "Bun"}]}
MILL = {"shop": "Mill", "total": 3}


def perfect() -> RunResult:
    return RunResult.of_cases(
        (case("t.py::a", BREAD, BREAD), case("t.py::b", MILL, MILL)), **ORIGIN, collected=2
    )


def failing(total: float = 11.5, shop: str = "Mil") -> RunResult:
    other = {"items": [{"name": "Bun"}, {"name": "Roll"}, {"name": "Cake"}], "shop": "Corner Bakery"}
    cases = (
        case("t.py::bread", {**BREAD, "total": total}, BREAD, tags={"model": "small"}),
        case("t.py::mill", {**MILL, "shop": shop}, MILL, tags={"model": "large"}),
        case("t.py::order", other, BREAD, "pairwise_f1"),
        broken_case("t.py::raises", "ValueError: no answer"),
    )
    return RunResult.of_cases(cases, **ORIGIN, collected=9, narrowed=("-k",))


def repeats() -> RunResult:
    wrong = {**MILL, "total": 4}
    often: Any = {"expected": MILL, "limit": LIMIT, "min_pass_rate": 0.6}
    well = case_of("t.yaml::well", MILL, MILL, wrong, **often)
    ill = case_of("t.yaml::ill", wrong, wrong, MILL, **often)
    return RunResult.of_cases((well, ill, case("t.yaml::once", MILL, MILL)), **ORIGIN, collected=3)


def corpus() -> RunResult:
    """200 records: 9 wrong shops, 4 extra tips, one without an answer; two of them are kept."""
    shops = ["Mill"] * 190 + ["Till"] * 9
    answers = {f"r{at:03}": {"shop": shop, "total": 3} for at, shop in enumerate(shops)}
    for name in ("r000", "r001", "r190", "r191"):
        answers[name]["tip"] = 1
    gold = [{"id": f"r{at:03}", **MILL} for at in range(200)]
    made = [{"id": name, **answer} for name, answer in answers.items()]
    run = compare_corpus(made, gold, id="id", keep="worst")
    kept = tuple(sorted(run.worst, key=lambda each: each.score)[:3:2])
    return replace(run, records=kept, **ORIGIN)


def hostile() -> RunResult:
    bad = {HOSTILE: HOSTILE, "same": [HOSTILE]}
    found = case(HOSTILE, {HOSTILE: "x", HOSTILE * 2: 1}, bad, tags={"model": HOSTILE})
    message = broken_case(HOSTILE + "2", HOSTILE)
    other = case("t.py::other", bad, bad, tags={"model": "plain"})
    origin: Any = {"created": HOSTILE, "commit": HOSTILE, "versions": {HOSTILE: HOSTILE}}
    return RunResult.of_cases((found, message, other), **origin, collected=4, narrowed=(HOSTILE,))


SAMPLES = {
    "perfect": perfect,
    "failing": failing,
    "repeats": repeats,
    "corpus": corpus,
    "hostile": hostile,
    "before": lambda: failing(11.0, "Mi"),
}
FORMS = {".txt": "", "-all.txt": "-v", ".md": "--markdown written.md"}
RIGHT = {**BREAD, "note": "a quick brown fox"}
WRONG = {
    **BREAD,
    "items": [{"name": "Bun"}, {"name": "Rye", "price": 4.5}],
    "note": "a quick red fox",
    "tip": 1,
}
GOLD = [{"id": "r1", **MILL}, {"id": "r2", **MILL}, {"id": "r3", **BREAD}]
ANSWERS = [{"id": "r1", **MILL}, {"id": "r3", **BREAD, "total": 12}]
COMPARE = "compare wrong.json right.json --metric pairwise_f1"
EVALUATE = "evaluate answers.jsonl gold.jsonl --id id"
GATED = ["--gate", "f1 >= 0.9", "--gate", "pass_rate > 0.1"]
COMMANDS: dict[str, list[str]] = {
    **{
        f"{name}{suffix}": f"report {name}.json {option}".split()
        for name in SAMPLES
        if name != "before"
        for suffix, option in FORMS.items()
    },
    "baseline.txt": ["diff", "before.json", "failing.json"],
    "baseline.md": ["diff", "before.json", "failing.json", "--markdown", "written.md"],
    "compare.txt": COMPARE.split(),
    "compare-v.txt": f"{COMPARE} -v".split(),
    "evaluate.txt": EVALUATE.split() + GATED,
    "evaluate.md": f"{EVALUATE} --markdown written.md".split() + GATED,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    found = tmp_path_factory.mktemp("reports")
    for name, make in SAMPLES.items():
        make().save(found / f"{name}.json")
    for name, value in (("right.json", RIGHT), ("wrong.json", WRONG)):
        (found / name).write_text(json.dumps(value), encoding="utf-8")
    for name, records in (("gold.jsonl", GOLD), ("answers.jsonl", ANSWERS)):
        (found / name).write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_a_report_is_the_one_that_is_kept(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(folder)
    for variable in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(variable, raising=False)
    assert main(COMMANDS[name]) in {0, 1}
    written = capfdbinary.readouterr().out.decode("utf-8")
    if name.endswith(".md"):
        written = Path("written.md").read_text(encoding="utf-8")
    if os.environ.get("UPDATE_GOLDENS"):
        (GOLDENS / name).write_text(written, encoding="utf-8", newline="\n")
    assert written == (GOLDENS / name).read_text(encoding="utf-8")


def test_every_kept_report_is_compared() -> None:
    assert {path.name for path in GOLDENS.iterdir()} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_in_a_report_is_more_than_text(name: str) -> None:
    text = (GOLDENS / name).read_text(encoding="utf-8")
    shown = text.replace("\n", "").replace("\ufe0f", "")  # what makes a sign of ours a coloured one
    assert [each for each in shown if not each.isprintable()] == []


@pytest.mark.parametrize("name", [name for name in COMMANDS if name.endswith(".md")])
def test_rendered_markdown_has_no_elements_but_ours(name: str) -> None:
    markdown_it = pytest.importorskip("markdown_it")
    renderer = markdown_it.MarkdownIt("gfm-like", {"linkify": False})
    rendered = renderer.render((GOLDENS / name).read_text(encoding="utf-8"))
    ours = "h2|h3|p|table|thead|tbody|tr|th|td|code|pre|strong|em|ul|li|details|summary"
    assert [tag for tag in re.findall(r"<([a-z0-9]+)", rendered) if not re.fullmatch(ours, tag)] == []
    assert rendered.count("<details>") == rendered.count("</details>")
