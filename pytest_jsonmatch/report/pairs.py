"""The pairs of arrays as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.engine.value.text import count
from pytest_jsonmatch.report.look import Look
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, YELLOW, StyledLine, score_markup

if TYPE_CHECKING:
    from pytest_jsonmatch.engine.align.audited import ArrayAudit, AuditedPair
    from pytest_jsonmatch.results.model import ResultSet

_PAIRS: Final = (8, 50, None)
"""At most this many pairs of an array are shown at each verbosity; None for all."""
_ARRAYS: Final = (4, 20, None)
"""At most this many arrays are shown at each verbosity; None for all."""
_RECORDS: Final = 10
_LEAST_PATH: Final = 12
_SAME: Final = 1e-9


def pair_lines(audits: Sequence[ArrayAudit], look: Look, *, verbosity: int = 0) -> list[StyledLine]:
    """Return the pairs of each array as lines; perfect and unambiguous pairs only at verbosity 2.

    Args:
        audits: as `MatchResult.audit` gives them.
        look: how the lines may look.
        verbosity: 0 shows at most 8 pairs of each of 4 arrays, 1 shows 50 of 20, 2 all, perfect ones too.

    >>> from pytest_jsonmatch import compare_json
    >>> from pytest_jsonmatch.report.look import Look
    >>> from pytest_jsonmatch.report.styled import line_text
    >>> result = compare_json({"a": [[2, 1], [3]]}, {"a": [[1, 9]]}, metric="pairwise_f1")
    >>> for line in pair_lines(result.audit()[:1], Look()):
    ...     print(line_text(line))
    pairs of a (expected ↔ actual)
      a[0] ↔ a[0]  F1 0.50, next best 0.00
      a[1] only in actual
    """
    volume = min(max(verbosity, 0), len(_PAIRS) - 1)
    arrays = [lines for audit in audits if (lines := _array(audit, _PAIRS[volume], look))]
    shown = arrays[: _ARRAYS[volume]]
    lines = [line for array in shown for line in array]
    if len(shown) < len(arrays):
        lines.append([(f"{look.mark} and pairs of {count(len(arrays) - len(shown), 'more array')}", DIM)])
    return lines


def pair_blocks(results: ResultSet, look: Look, *, verbosity: int = 0) -> Iterator[list[StyledLine]]:
    """Yield the pairs of a run's comparisons, each below its id; those without a pair to show are left out.

    At verbosity 0 only a single comparison is shown, at 1 of a corpus only the worst records.
    """
    comparisons = list(results.comparisons)
    if len(comparisons) == 1:
        yield pair_lines(comparisons[0].audit, look, verbosity=verbosity)
        return
    if results.corpus is not None:
        comparisons.sort(key=lambda each: each.score)
        comparisons = comparisons[: _RECORDS if verbosity == 1 else None]
    for each in comparisons if verbosity else ():
        if lines := pair_lines(each.audit, look, verbosity=verbosity):
            yield [[(look.middle(each.id, look.width), BOLD)], *lines]


def _array(audit: ArrayAudit, most: int | None, look: Look) -> list[StyledLine]:
    told = [pair for pair in audit.pairs if most is None or pair.f1 < 1.0 or pair.ambiguous]
    alone = [(audit.expected_path, index, "only in expected") for index in audit.unmatched_expected]
    alone += [(audit.actual_path, index, "only in actual") for index in audit.unmatched_actual]
    if not told and (most is not None or not alone):
        return []  # the table counts unpaired elements
    title = look.middle(audit.expected_path, look.width // 2)
    lines: list[StyledLine] = [[(f"pairs of {title}", BOLD), (f" (expected {_arrow(look)} actual)", DIM)]]
    if audit.reason is not None:
        text = f"next best and ambiguous pairs not computed: {audit.reason}"
        lines.append([("  ", PLAIN), (look.clip(text, max(look.width - 2, 20)), DIM)])
    # Ambiguous pairs come first, then wrong ones: they must not be the ones left out.
    kept = sorted(range(len(told)), key=lambda at: (not told[at].ambiguous, told[at].f1))[:most]
    lines += [_pair(audit, told[at], look) for at in sorted(kept)]
    shown = alone[:most]
    lines += [[(f"  {_element(path, index, look)}", PLAIN), (f" {side}", DIM)] for path, index, side in shown]
    pairs_left, alone_left = len(told) - len(kept) + audit.more, len(alone) - len(shown)
    left = [count(pairs_left, "pair")] if pairs_left else []
    left += [f"{count(alone_left)} alone"] if alone_left else []
    if left:
        lines.append([("  ", PLAIN), (f"{look.mark} and {', '.join(left)} more", DIM)])
    return lines


def _pair(audit: ArrayAudit, pair: AuditedPair, look: Look) -> StyledLine:
    left = _element(audit.expected_path, pair.expected, look)
    right = _element(audit.actual_path, pair.actual, look)
    line: StyledLine = [
        (f"  {left} {_arrow(look)} {right}  F1 ", PLAIN),
        (look.score(pair.f1), score_markup(pair.f1)),
    ]
    if pair.score is not None and abs(pair.score - pair.f1) > _SAME:
        line.append((f", score {look.score(pair.score)}", PLAIN))
    best = pair.next_actual
    if best is not None:
        who = "" if best.index is None else f" ({_element(audit.actual_path, best.index, look)})"
        line.append((f", next best {look.score(best.score)}{who}", PLAIN))
    if pair.ambiguous:
        short = pair.margin is not None and pair.margin > _SAME
        how = f"another pairing totals {look.score(pair.margin)} less" if short else "a tie"
        line.append((f", ambiguous: {how}", YELLOW))
    return line


def _arrow(look: Look) -> str:
    return "↔" if look.unicode else "<->"


def _element(path: str, index: int, look: Look) -> str:
    stem = "" if path == "$" else path
    return look.middle(f"{stem}[{index}]", max(_LEAST_PATH, look.width // 3 - 4))
