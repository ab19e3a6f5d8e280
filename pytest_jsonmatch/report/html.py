"""A run as one HTML file that needs nothing else: no network, no other file.

The figures that matter stand in the page itself. The long lists are drawn by a script from the data in the
file, and only what is in view is there.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from pytest_jsonmatch._version import __version__
from pytest_jsonmatch.engine.value.errors import ConfigurationError
from pytest_jsonmatch.report.baseline import change_text
from pytest_jsonmatch.report.escape import clip, printable
from pytest_jsonmatch.report.fieldtable import summarize
from pytest_jsonmatch.report.figures import compare_figures, count, score_text
from pytest_jsonmatch.report.runreport import extent, field_comparisons
from pytest_jsonmatch.report.textdiff import spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_jsonmatch.gate.baseline import BaselineDiff
    from pytest_jsonmatch.gate.headlines import Headline, RunChange
    from pytest_jsonmatch.gate.session import Check
    from pytest_jsonmatch.report.textdiff import Span
    from pytest_jsonmatch.results.comparison import Comparison
    from pytest_jsonmatch.results.model import Case, CaseRun, ResultSet

__all__ = ["Page", "check_installed", "html_page"]

_DIGITS: Final = 6
_MAX_ID: Final = 500
_MAX_MESSAGE: Final = 1000
_MAX_NAMES: Final = 100
_MAX_DETAILS: Final = 8_000_000
"""How many characters the details of all cases together take, worst cases first; a page has to open."""
_MAX_DOCUMENTS: Final = 8_000_000
"""The same of whole documents."""
_EVIDENT: Final = frozenset({"missing", "not in expected"})
"""Reasons that the two sides show already."""
_UNJUDGED: Final = "scored"
_TITLES: Final = {"f1": "F1", "pass_rate": "pass rate"}
_METHODS: Final = {"bootstrap": "bootstrap", "bounded": "bounded: few cases differ"}


_Key: TypeAlias = "tuple[str, str]"
"""Node id and id of a comparison."""


@final
class _Shown(NamedTuple):
    """What a page has room for, by comparison: what is not right in it, and its documents."""

    wrong: dict[_Key, dict[str, Any]]
    documents: dict[_Key, dict[str, Any]]
    of_wrong: int
    """How many there are, shown or not."""
    of_documents: int


@final
@dataclass(frozen=True, slots=True)
class Page:
    """What a page shows.

    Args:
        results: the run.
        title: what it is called.
        headlines: its figures with their intervals.
        checks: what it was judged by.
        baseline: the name of the run that it is compared with.
        diff: how it differs from that.
        verdict: what the difference proves.
        details: by (node id, id) of a comparison what `details_of` gave.
        notes: what else is to be said.
    """

    results: ResultSet
    title: str = "jsonmatch"
    headlines: Sequence[Headline] = ()
    checks: Sequence[Check] = ()
    baseline: str = ""
    diff: BaselineDiff | None = None
    verdict: RunChange | None = None
    details: Mapping[tuple[str, str], str] = field(default_factory=dict)
    notes: Sequence[str] = ()


def check_installed() -> None:
    """Raise `ConfigurationError` unless what pages are made with is installed."""
    try:
        import jinja2  # noqa: F401 - is it there?
    except ImportError:
        message = "an HTML report needs jinja2; install it with: pip install 'pytest-jsonmatch[html]'"
        raise ConfigurationError(message) from None


def html_page(page: Page) -> str:
    """Return a page as HTML text.

    Raises ConfigurationError if jinja2 is not installed.
    """
    check_installed()
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    style, script = _file("report.css"), _file("report.js")
    shown = _shown_details(page)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_file("report.html.jinja")).render(
        # Not to be escaped: our own two files, and data in which nothing can end its element.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        data=Markup(_embedded(_data(page, shown))),  # noqa: S704
        policy=_policy(style, script),
        **_texts(page, shown),
    )


def _file(name: str) -> str:
    text = resources.files("pytest_jsonmatch.report").joinpath("page", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")  # as a browser reads it, which the hashes are made of


def _policy(style: str, script: str) -> str:
    hashes = (b64encode(sha256(text.encode()).digest()).decode() for text in (style, script))
    style_hash, script_hash = (f"'sha256-{each}'" for each in hashes)
    return (
        f"default-src 'none'; style-src {style_hash}; script-src {script_hash}; "
        "base-uri 'none'; form-action 'none'"
    )


def _embedded(data: object) -> str:
    r"""Return JSON that can stand in a script element: ASCII, and nothing in it begins or ends an element.

    >>> _embedded("</script><!-- & \u2028")
    '"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028"'
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


# -- what the page says by itself --------------------------------------------------------------------------


def _texts(page: Page, shown: _Shown) -> dict[str, Any]:
    results = page.results
    confidence = page.headlines[0].interval.confidence if page.headlines else None
    on = _plain(extent(results))
    there = len(results.cases)
    runs = sum(len(case.runs) for case in results.cases)
    made = results.created.replace("T", " ")
    about = [on, count(runs, "run") if runs > there else "", made, _commit(results.commit)]
    versions = ", ".join(f"{_plain(name)} {_plain(text)}" for name, text in results.versions.items())
    return {
        "title": _plain(page.title),
        "about": " · ".join(filter(None, map(_plain, about))),
        "made": versions or f"pytest-jsonmatch {__version__}",
        "on": on,
        "confidence": f"{confidence * 100:g} %" if confidence is not None else "",
        "cards": list(_cards(page)),
        "checks": [_check(check) for check in page.checks],
        "baseline": _baseline(page),
        "notes": [_plain(text) for text in (*page.notes, *_bounds(shown))],
    }


def _plain(text: str, limit: int = _MAX_MESSAGE) -> str:
    """Return text in which nothing hides or turns the text around it, clipped."""
    return clip(text, limit)


def _commit(commit: str) -> str:
    return (
        f"commit {commit.rstrip('+')[:10]}{' with changes' if commit.endswith('+') else ''}" if commit else ""
    )


def _cards(page: Page) -> Iterator[dict[str, object]]:
    if not page.results.cases:
        return
    before = {}
    if page.diff is not None and page.diff.is_comparable and page.diff.score is not None:
        delta = page.diff.score
        before["score"] = f"{change_text(delta.change)} against the baseline"
    for name, interval in page.headlines:
        low, high = interval.low, interval.high
        yield {
            "name": _TITLES.get(name, name),
            "value": score_text(interval.estimate),
            "interval": " to ".join(_ends(low, high)),
            "how": _METHODS.get(interval.method, interval.method),
            "low": f"{low * 100:.1f}",
            "width": f"{max(high - low, 0.005) * 100:.1f}",
            "point": f"{interval.estimate * 98.8:.1f}",
            "before": before.get(name, ""),
        }
    if not page.headlines:
        for name in ("score", "precision", "recall", "f1"):
            yield {
                "name": _TITLES.get(name, name),
                "value": score_text(page.results.mean(name)),  # type: ignore[arg-type]
                "interval": "",
                "before": before.get(name, ""),
            }
        if _is_judged(page):
            rate = score_text(page.results.pass_rate)
            yield {"name": "pass rate", "value": rate, "interval": "", "before": ""}


def _is_judged(page: Page) -> bool:
    """Whether anything was asked of the cases: two files may be compared without a threshold."""
    results = page.results
    if results.corpus is not None or page.checks or any(case.verdict != "passed" for case in results.cases):
        return True
    return any(each.threshold for each in results.comparisons)


def _ends(low: float, high: float) -> tuple[str, str]:
    """Return both ends with as many decimals as it takes to tell them apart."""
    if low == high or score_text(low) != score_text(high):
        return score_text(low), score_text(high)
    return next(
        (
            pair
            for digits in range(3, _DIGITS)
            if (pair := (f"{low:.{digits}f}", f"{high:.{digits}f}"))[0] != pair[1]
        ),
        (score_text(low), score_text(high)),
    )


_WORDS: Final = {True: ("passed", "passed"), False: ("failed", "failed"), None: ("undecided", "not decided")}


def _check(check: Check) -> dict[str, str]:
    kind, word = _WORDS[check.passed]
    subject = check.subject if check.figure in check.subject else f"{check.subject}: {check.figure}"
    found = {"kind": kind, "word": word, "subject": _plain(subject), "note": _plain(check.note)}
    if check.value is None or check.slack is None:
        return {**found, "value": "–", "limit": f"{check.limit:g}", "slack": "–"}
    if isinstance(check.value, int):
        slack = f"{check.slack:+g}" if check.slack else "0"
        return {**found, "value": count(check.value), "limit": f"{check.limit:g}", "slack": slack}
    value, limit = compare_figures(check.value, check.limit)
    return {**found, "value": value, "limit": limit, "slack": change_text(check.slack)}


def _baseline(page: Page) -> dict[str, object] | None:
    diff = page.diff
    if diff is None:
        return None
    made = ", ".join(filter(None, [diff.before.created[:10], _commit(diff.before.commit)]))
    about = f"{f'of {made}, ' if made else ''}{count(len(diff.cases), 'case')} in both"
    return {
        "name": _plain(page.baseline),
        "about": _plain(about),
        "words": list(_baseline_words(page)),
        "groups": [_group(title, names) for title, names in _baseline_groups(diff) if names],
    }


def _baseline_words(page: Page) -> Iterator[dict[str, str]]:
    diff, verdict = page.diff, page.verdict
    if diff is not None and not diff.is_comparable:
        number = count(len(diff.mismatches), "case")
        text = f"{number} not scored as they were then: no comparison is made"
        yield {"kind": "failed", "word": "not comparable", "text": text}
    if verdict is None:
        return
    proven = [each for each in verdict.fields.values() if each.kind in {"regression", "improvement"}]
    told = [(verdict.scores.kind, f"mean score: {_after(verdict.scores.words)}")]
    if verdict.outcomes.informative:
        told.append((verdict.outcomes.kind, f"which cases pass: {_after(verdict.outcomes.words)}"))
    told += [(each.kind, f"field {each.words}") for each in proven]
    for kind, text in told:
        yield {"kind": kind.replace(" ", "-"), "word": kind, "text": _plain(text)}


def _after(words: str) -> str:
    """Return a verdict's sentence without the word that stands before it."""
    return words.partition(": ")[2] or words


def _baseline_groups(diff: BaselineDiff) -> Iterator[tuple[str, list[str]]]:
    after = diff.after
    is_part = bool(after.narrowed) or len(after.cases) < (after.collected or 0)
    yield "not scored as before", [f"{each.case}: {each.difference}" for each in diff.mismatches]
    yield "new", list(diff.new)
    yield "not run" if is_part else "vanished", list(diff.vanished)


def _group(title: str, names: list[str]) -> dict[str, object]:
    more = len(names) - _MAX_NAMES
    return {
        "title": f"{count(len(names), 'case')} {title}",
        "names": [_plain(name, _MAX_ID) for name in names[:_MAX_NAMES]],
        "more": f"and {count(more)} more" if more > 0 else "",
    }


# -- the data that the script draws ------------------------------------------------------------------------


def _figure(value: float | None) -> float | None:
    """Return a figure with as many digits as a page needs; what is not 0 or 1 is not made so."""
    if value is None:
        return None
    short = round(value, _DIGITS)
    least = 10.0**-_DIGITS
    if short >= 1.0 > value:
        return 1.0 - least
    return least if short <= 0.0 < value else short


def _data(page: Page, shown: _Shown) -> dict[str, object]:
    sections = summarize(field_comparisons(page.results)).sections
    metrics = {section.metric: index for index, section in enumerate(sections)}
    is_comparable = page.diff is not None and page.diff.is_comparable
    diff = page.diff if is_comparable else None
    fields_before = {each.name: each.before for each in diff.fields} if diff is not None else {}
    cases_before = {each.name: each.before for each in diff.cases} if diff is not None else {}
    rows: list[list[object]] = []
    places: dict[tuple[int, str], int] = {}
    for section in sections:
        metric = metrics[section.metric]
        for row in section.rows:
            if row.is_group:
                continue
            figures = row.figures
            counts = [figures.matches, figures.mismatches, figures.omissions, figures.hallucinations]
            scores = (figures.mean_score, figures.precision, figures.recall, figures.f1)
            places[metric, row.path] = len(rows)
            # (A baseline's fields are not kept apart by metric: with several there is nothing to compare.)
            before = fields_before.get(row.path) if len(sections) == 1 else None
            path = _plain(row.path, _MAX_ID)
            rows.append([path, metric, counts, *map(_figure, scores), _figure(before)])
    is_judged = _is_judged(page)
    return {
        "metrics": [_plain(name, _MAX_ID) for name in metrics],
        "fields": rows,
        "cases": [
            _case(case, cases_before.get(case.id), metrics, places, shown, is_judged=is_judged)
            for case in page.results.cases
        ],
    }


def _shown_details(page: Page) -> _Shown:
    """Return the details of as many comparisons as a page has room for, the worst first."""
    wrong: list[tuple[_Key, str]] = []
    documents: list[tuple[_Key, str]] = []
    for comparison in sorted(page.results.comparisons, key=lambda each: each.score):
        key = comparison.nodeid, comparison.id
        first, _, second = page.details.get(key, "").partition("\n")
        if first:
            wrong.append((key, first))
        if second:
            documents.append((key, second))
    return _Shown(
        _within(wrong, _MAX_DETAILS), _within(documents, _MAX_DOCUMENTS), len(wrong), len(documents)
    )


def _within(texts: Iterable[tuple[_Key, str]], room: int) -> dict[_Key, dict[str, Any]]:
    found: dict[_Key, dict[str, Any]] = {}
    for key, text in texts:
        if room <= 0:
            break
        found[key] = json.loads(text)
        room -= len(text)
    return found


def _bounds(shown: _Shown) -> Iterator[str]:
    """Yield what the page leaves out."""
    if len(shown.wrong) < shown.of_wrong:
        worst = count(len(shown.wrong), "worst comparison")
        yield f"Values are shown of the {worst}, of {count(shown.of_wrong)} that are not perfect."
    if len(shown.documents) < shown.of_documents:
        worst = count(len(shown.documents), "worst comparison")
        yield f"Whole documents are shown of the {worst}, of {count(shown.of_documents)}."


def _case(
    case: Case,
    before: float | None,
    metrics: Mapping[str, int],
    places: Mapping[tuple[int, str], int],
    details: _Shown,
    *,
    is_judged: bool,
) -> dict[str, object]:
    found: dict[str, object] = {
        "i": _plain(case.id, _MAX_ID),
        "v": case.verdict if is_judged else _UNJUDGED,
        "s": _figure(case.figure("score")),
        "p": _figure(case.figure("precision")),
        "r": _figure(case.figure("recall")),
        "f": _figure(case.figure("f1")),
        "u": [_run(run, metrics, places, details) for run in case.runs],
    }
    if case.of > 1:
        found["o"] = case.of
    if before is not None:
        found["b"] = _figure(before)
    return found


def _run(
    run: CaseRun, metrics: Mapping[str, int], places: Mapping[tuple[int, str], int], details: _Shown
) -> dict[str, object]:
    found: dict[str, object] = {"n": run.number, "k": int(run.passed)}
    if run.error:
        found["e"] = _plain(run.error)
    if run.comparisons:
        found["c"] = [_comparison(each, metrics[each.metric], places, details) for each in run.comparisons]
    return found


def _comparison(
    comparison: Comparison,
    metric: int,
    places: Mapping[tuple[int, str], int],
    details: _Shown,
) -> dict[str, object]:
    fields: list[float] = []
    for path, figures in comparison.fields.items():
        place = places.get((metric, path))
        if place is not None:
            counts = (figures.matches, figures.mismatches, figures.omissions, figures.hallucinations)
            fields += [place, *counts, _sum(figures.score_sum, figures.total)]
    found: dict[str, object] = {
        "m": metric,
        "s": _figure(comparison.score),
        "p": _figure(comparison.precision),
        "r": _figure(comparison.recall),
        "f": _figure(comparison.f1),
        "x": fields,
    }
    if comparison.threshold:
        found["t"] = _plain(", ".join(_limits(comparison.threshold)))
    if warnings := [_plain(text) for text in (*comparison.errors, *comparison.warnings)]:
        found["w"] = warnings
    arrays = {path: counts for path, counts in comparison.arrays.items() if counts[1] or counts[2]}
    if arrays:
        found["a"] = [[_plain(path, _MAX_ID), *counts] for path, counts in arrays.items()]
    key = comparison.nodeid, comparison.id
    if key in details.wrong:
        found["d"] = _details(details.wrong[key])
    if key in details.documents:
        found["o"] = _documents(details.documents[key])
    return found


def _documents(texts: dict[str, Any]) -> list[object]:
    """Return both documents as marked text; actual is None where it is missing, and 0 if both read alike."""
    expected = _document(texts["expected"])
    if "actual" not in texts:
        return [expected, 0]
    return [expected, None if texts["actual"] is None else _document(texts["actual"])]


def _document(runs: list[list[str]]) -> list[list[str]]:
    return [[kind, "\n".join(map(printable, text.split("\n")))] for kind, text in runs]


def _sum(score: float, total: int) -> float:
    """Return the sum of scores so short that its mean says what it is."""
    short = round(score, _DIGITS)
    return total - 10.0**-_DIGITS if short >= total > score else short


def _limits(threshold: Mapping[str, Any]) -> Iterator[str]:
    for name, limit in threshold.items():
        pairs: Iterable[tuple[str, Any]] = limit.items() if isinstance(limit, dict) else [(name, limit)]
        yield from (f"{_TITLES.get(each, each)} ≥ {least}" for each, least in pairs)


def _details(details: dict[str, Any]) -> dict[str, object]:
    found: dict[str, object] = {"leaves": [_leaf(*each) for each in details.get("leaves", ())]}
    if "more" in details:
        found["more"] = details["more"]
    if "arrays" in details:
        found["arrays"] = [_array(each) for each in details["arrays"]]
    return found


def _leaf(
    expected_path: str | None,
    actual_path: str | None,
    status: str,
    score: float,
    expected: str | None,
    actual: str | None,
    reason: str,
) -> dict[str, object]:
    found: dict[str, object] = {
        "p": _plain(expected_path or actual_path or "", _MAX_ID),
        "k": status,
        "s": _figure(score),
        "e": None if expected is None else [["=", printable(expected)]],
        "a": None if actual is None else [["=", printable(actual)]],
    }
    if expected is not None and actual is not None and expected[:1] == actual[:1] == '"':
        different = spans(expected, actual)
        found["e"], found["a"] = _side(different, "-"), _side(different, "+")
    if expected_path and actual_path and expected_path != actual_path:
        found["q"] = _plain(actual_path, _MAX_ID)
    if reason and reason not in _EVIDENT:
        found["y"] = _plain(reason)
    return found


def _side(different: Iterable[Span], own: str) -> list[list[str]]:
    """Return the spans of one side, its own ones marked."""
    found: list[list[str]] = []
    for kind, text in different:
        if kind == "=" and found and found[-1][0] == "=":
            found[-1][1] += printable(text)
        elif kind in {"=", own}:
            found.append([kind, printable(text)])
    return found


def _array(details: dict[str, Any]) -> dict[str, object]:
    pairs, expected, actual = details["of"]
    hidden = pairs - len(details["pairs"])
    alone = expected + actual - len(details["expected"]) - len(details["actual"])
    notes = [
        f"{count(pairs, 'pair')} {'by key' if details['kind'] == 'key' else 'by what fits best'}",
        f"{count(hidden)} of them in place and right, or not shown" if hidden else "",
        f"{count(expected)} only expected" if expected else "",
        f"{count(actual)} only in actual" if actual else "",
        f"{count(alone)} of these not shown" if alone else "",
    ]
    names = [{index: _plain(text, 60) for index, text in side.items()} for side in details["names"]]
    audit = details.get("audit", {})
    if "unaudited" in details:
        notes.append(f"second-best partners not computed: {_plain(details['unaudited'])}")
    return {
        "p": _plain(details["path"], _MAX_ID),
        "note": ", ".join(filter(None, notes)),
        "pairs": [[i, j, _figure(score), *_audited(audit.get(str(i)))] for i, j, score in details["pairs"]],
        "expected": details["expected"],
        "actual": details["actual"],
        "e": names[0],
        "a": names[1],
    }


def _audited(found: list[Any] | None) -> list[object]:
    """Return the second-best partner of a pair, what that scores and, if it is ambiguous, the margin."""
    if found is None:
        return []
    best, score, margin = found
    return [best, _figure(score), *([] if margin is None else [_figure(margin)])]
