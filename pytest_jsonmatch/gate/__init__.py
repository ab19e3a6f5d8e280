"""Results turned into a verdict: are they good enough, are they worse than those before, and how sure is it?

What the statistics take are plain mappings: case id → scores of its repeats, case id → passed, and the same
by field. The room reads no files, prints nothing, and knows neither pytest nor YAML.
"""

from __future__ import annotations

from pytest_jsonmatch.gate.agreement import Agreement, agreement_checks, kappa_interval
from pytest_jsonmatch.gate.intervals import Interval, mean_interval, wilson
from pytest_jsonmatch.gate.paired import Mcnemar, SignFlip, holm, mcnemar, sign_flip
from pytest_jsonmatch.gate.power import Detectable, cases_to_rule_out, minimum_detectable
from pytest_jsonmatch.gate.samples import Pairs, case_scores, pair_cases
from pytest_jsonmatch.gate.sequential import Decision, SequentialGate, certain_bounds, threshold_decision
from pytest_jsonmatch.gate.verdict import Change, FieldChange, compare, compare_fields, compare_outcomes

__all__ = [
    "Agreement",
    "Change",
    "Decision",
    "Detectable",
    "FieldChange",
    "Interval",
    "Mcnemar",
    "Pairs",
    "SequentialGate",
    "SignFlip",
    "agreement_checks",
    "case_scores",
    "cases_to_rule_out",
    "certain_bounds",
    "compare",
    "compare_fields",
    "compare_outcomes",
    "holm",
    "kappa_interval",
    "mcnemar",
    "mean_interval",
    "minimum_detectable",
    "pair_cases",
    "sign_flip",
    "threshold_decision",
    "wilson",
]
