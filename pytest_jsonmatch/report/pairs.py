"""The pairs of unordered arrays as lines of text: who met whom, at what score, and who else could have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_jsonmatch.report.escape import clip, clip_middle, mark
from pytest_jsonmatch.report.figures import count, score_text
from pytest_jsonmatch.report.styled import BOLD, DIM, PLAIN, YELLOW, score_markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_jsonmatch.engine.align.audited import ArrayAudit, AuditedPair, Partner
    from pytest_jsonmatch.report.styled import StyledLine

__all__ = ["pair_blocks", "pair_lines"]

_PAIRS: Final = (8, 50, None)
"""So many pairs of an array are shown at each verbosity; None: all."""
_ARRAYS: Final = (4, 20, None)
"""So many arrays."""
_LEAST_PATH: Final = 12
_SAME: Final = 1e-9


def pair_lines(
    audits: Sequence[ArrayAudit], *, verbosity: int = 0, unicode: bool = True, width: int = 80
) -> list[StyledLine]:
    """Return the pairs of each array as lines, those without anything to tell only at verbosity 2.

    Args:
        audits: as `MatchResult.audit` gives them.
        verbosity: 0 shows at most 8 pairs of each of 4 arrays, 1 shows 50 of 20, 2 all, perfect ones too.
        unicode: False keeps to ASCII; other characters of the data become escapes.
        width: columns of the terminal.

    >>> from pytest_jsonmatch import compare_json
    >>> from pytest_jsonmatch.report.styled import line_text
    >>> result = compare_json({"a": [[2, 1], [3]]}, {"a": [[1, 9]]}, metric="pairwise_f1")
    >>> for line in pair_lines(result.audit()[:1]):
    ...     print(line_text(line))
    pairs of a (expected ↔ actual)
      a[0] ↔ a[0]  F1 0.50, next best 0.00
      a[1] only in actual
    """
    volume = min(max(verbosity, 0), len(_PAIRS) - 1)
    arrays = [lines for audit in audits if (lines := _array(audit, _PAIRS[volume], unicode, width))]
    shown = arrays[: _ARRAYS[volume]]
    lines = [line for array in shown for line in array]
    if len(shown) < len(arrays):
        lines.append([(f"{mark(unicode)} and pairs of {count(len(arrays) - len(shown), 'more array')}", DIM)])
    return lines


def pair_blocks(
    audited: Iterable[tuple[str, Sequence[ArrayAudit]]],
    *,
    verbosity: int = 0,
    unicode: bool = True,
    width: int = 80,
) -> Iterator[list[StyledLine]]:
    """Yield the pairs of several comparisons, each below its name; nothing of those without any to tell.

    >>> from pytest_jsonmatch import compare_json
    >>> from pytest_jsonmatch.report.styled import line_text
    >>> result = compare_json([[2, 1]], [[1, 9]], metric="pairwise_f1")
    >>> for line in next(pair_blocks([("one", result.audit()[:1])])):
    ...     print(line_text(line))
    one
    pairs of $ (expected ↔ actual)
      [0] ↔ [0]  F1 0.50
    """
    for name, audits in audited:
        lines = pair_lines(audits, verbosity=verbosity, unicode=unicode, width=width)
        if lines:
            yield [[(clip_middle(name, width, unicode=unicode), BOLD)], *lines]


def _array(audit: ArrayAudit, most: int | None, unicode: bool, width: int) -> list[StyledLine]:
    told = [pair for pair in audit.pairs if most is None or pair.f1 < 1.0 or pair.ambiguous]
    alone = [
        (path, index, side)
        for path, indices, side in (
            (audit.expected_path, audit.unmatched_expected, "only in expected"),
            (audit.actual_path, audit.unmatched_actual, "only in actual"),
        )
        for index in indices
    ]
    if not told and (most is not None or not alone):
        return []  # that some are alone, the table says
    arrow = "↔" if unicode else "<->"
    room = max(_LEAST_PATH, width // 3 - 4)
    title = clip_middle(audit.expected_path, width // 2, unicode=unicode)
    lines: list[StyledLine] = [[(f"pairs of {title}", BOLD), (f" (expected {arrow} actual)", DIM)]]
    if audit.reason is not None:
        text = f"next best and ambiguous pairs not computed: {audit.reason}"
        lines.append([("  ", PLAIN), (clip(text, max(width - 2, 20), unicode=unicode), DIM)])
    # (What is unsure, and then what is wrong, must not be what is left out.)
    kept = set(
        sorted(range(len(told)), key=lambda at: (not told[at].ambiguous, told[at].f1))[
            : len(told) if most is None else most
        ]
    )
    lines += [_pair(audit, pair, arrow, room, unicode) for at, pair in enumerate(told) if at in kept]
    shown = alone if most is None else alone[:most]
    for path, index, side in shown:
        lines.append([("  ", PLAIN), (_element(path, index, room, unicode), PLAIN), (f" {side}", DIM)])
    left = len(told) - len(kept) + audit.more, len(alone) - len(shown)
    if any(left):
        parts = [count(left[0], "pair") if left[0] else "", f"{count(left[1])} alone" if left[1] else ""]
        lines.append([("  ", PLAIN), (f"{mark(unicode)} and {', '.join(filter(None, parts))} more", DIM)])
    return lines


def _pair(audit: ArrayAudit, pair: AuditedPair, arrow: str, room: int, unicode: bool) -> StyledLine:
    left = _element(audit.expected_path, pair.expected, room, unicode)
    right = _element(audit.actual_path, pair.actual, room, unicode)
    line: StyledLine = [
        (f"  {left} {arrow} {right}  F1 ", PLAIN),
        (score_text(pair.f1, unicode=unicode), score_markup(pair.f1)),
    ]
    if pair.score is not None and abs(pair.score - pair.f1) > _SAME:
        line.append((f", score {score_text(pair.score, unicode=unicode)}", PLAIN))
    if pair.next_actual is not None:
        line.append((f", next best {_next(audit.actual_path, pair.next_actual, room, unicode)}", PLAIN))
    if pair.ambiguous:
        short = pair.margin is not None and pair.margin > _SAME
        how = f"another pairing totals {score_text(pair.margin, unicode=unicode)} less" if short else "a tie"
        line.append((f", ambiguous: {how}", YELLOW))
    return line


def _next(path: str, partner: Partner, room: int, unicode: bool) -> str:
    score = score_text(partner.score, unicode=unicode)
    if partner.index is None:
        return score
    return f"{score} ({_element(path, partner.index, room, unicode)})"


def _element(path: str, index: int, room: int, unicode: bool) -> str:
    stem = "" if path == "$" else path
    return clip_middle(f"{stem}[{index}]", room, unicode=unicode)
