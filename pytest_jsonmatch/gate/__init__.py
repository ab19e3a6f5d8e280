"""Results turned into a verdict: are they good enough, are they worse than those before, and how sure is it?

What the statistics take are plain mappings: case id → scores of its repeats, case id → passed, and the same
by field. The room reads no files, prints nothing, and knows neither pytest nor YAML.
"""

from __future__ import annotations

from pytest_jsonmatch.gate.agreement import Agreement, agreement_checks, kappa_interval
from pytest_jsonmatch.gate.intervals import Interval, mean_interval, ratio_interval, wilson
from pytest_jsonmatch.gate.paired import SignFlip, holm, sign_flip
from pytest_jsonmatch.gate.samples import Pairs, Row, case_scores, pair_cases
from pytest_jsonmatch.gate.sequential import Decision, SequentialGate, certain_bounds, threshold_decision
from pytest_jsonmatch.gate.verdict import Change, cases_to_rule_out, compare, compare_several

__all__ = [
    "Agreement",
    "Change",
    "Decision",
    "Interval",
    "Pairs",
    "Row",
    "SequentialGate",
    "SignFlip",
    "agreement_checks",
    "case_scores",
    "cases_to_rule_out",
    "certain_bounds",
    "compare",
    "compare_several",
    "holm",
    "kappa_interval",
    "mean_interval",
    "pair_cases",
    "ratio_interval",
    "sign_flip",
    "threshold_decision",
    "wilson",
]
