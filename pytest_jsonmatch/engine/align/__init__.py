"""Pair the elements of arrays.

    Aligner.pair (arrays)      equal elements first (keys), then a grid of all other pairs
      │
      ├─ GridBuilder (columns)   fills a grid: each column of the elements adds its scores to Σ
      │    ├─ ScalarColumn (column) a column of scalars: its distinct values, scored once
      │    └─ NestedArrays (grid)  arrays inside the elements: a grid of their elements,
      │                            or upper bounds of their Σ
      │
      └─ Grid (grid)             holds Σ of each pair, exact or an upper bound
           │
           ├─ ListGrid (small)     lists: up to 1,000 pairs, without numpy
           ├─ ArrayGrid (large)    numpy: more pairs, with Membership for nested arrays
           └─ RelatedGrid (related)  scipy's sparse matrix: scalars of nested arrays, mostly scored 0

    Grid.find_best_pairs → pair_by_bounds (grid), for one grid as for the other:

      assign (solve) ──► chosen pairs ──► all exact? ── yes ──► Pairing (context)
        ▲                                     │ no
        └────── exact scores in place ◄── measure: the parts of the grid, or the walk (engine.score.walk)
                of the upper bounds

An upper bound is never less than the exact score, so no pairing is worth more than one whose chosen pairs
are all exact. What each part saves is in `benchmarks/pieces.md`.
"""

from __future__ import annotations
