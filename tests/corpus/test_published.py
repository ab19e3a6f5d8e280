"""Published leaderboards, scored again from their raw answers: read where they are, never part of this project."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
REAL = Path(os.environ.get("JSONMATCH_REAL") or TREE.parent / "shared" / "real")


def run(script, *folders):
    command = [sys.executable, TREE / "benchmarks" / "published" / script, *folders]
    ran = subprocess.run(command, check=False, capture_output=True, encoding="utf-8", timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran


@pytest.mark.skipif(
    not (REAL / "sob").is_dir(), reason="no sob in $JSONMATCH_REAL or in shared/real beside the checkout"
)
def test_two_models_of_sob_with_images(tmp_path):
    data = tmp_path / "data"
    (data / "images_responses").mkdir(parents=True)
    (data / "evaluation").symlink_to(REAL / "sob" / "data" / "evaluation")
    for model in ("Qwen3-235B-A22B-Instruct-2507", "gemini-3-flash"):
        name = f"response_{model}_image.jsonl"
        (data / "images_responses" / name).symlink_to(REAL / "sob" / "data" / "images_responses" / name)
    rows = run("sob.py", tmp_path).stdout.split("\n\n")[1].splitlines()[2:]
    statistics = {
        name: cells for name, *cells in ([cell.strip() for cell in row.split("|")[1:-1]] for row in rows)
    }
    # Null against a missing path is credit there; 1.0 in place of 1 is no perfect answer.
    assert statistics.pop("token F1")[:2] == ["418", "417"]
    assert statistics.pop("perfect") == ["418", "417", "1: +1.0000"]
    assert list(statistics.values()) == [["418", "418", "–"]] * 4


@pytest.mark.skipif(
    not (REAL / "gorilla").is_dir() or not (REAL / "bfcl").is_dir(),
    reason="no gorilla and bfcl in $JSONMATCH_REAL or in shared/real beside the checkout",
)
def test_calls_of_bfcl():
    ran = run("bfcl.py", REAL / "gorilla", REAL / "bfcl")
    simple, parallel, multiple = ran.stdout.split("## ")[1:]
    assert "\n12,399 of 12,400 verdicts agree\nfirefunction-v2-FC, question 354:" in simple
    assert "\n6,200 of 6,200 verdicts agree\n" in parallel
    assert "\n6,199 of 6,200 verdicts agree\nfirefunction-v2-FC, question 191:" in multiple
    row = "\n| gpt-4o-2024-08-06-FC | {0} | {0} | {0} | 0 |\n".format
    assert row("0.9150") in simple
    assert row("0.9300") in parallel
    assert row("0.8450") in multiple


@pytest.mark.skipif(
    not (REAL / "humanities").is_dir(), reason="no humanities in $JSONMATCH_REAL or in shared/real"
)
def test_letters_of_the_humanities_data_benchmark():
    ran = run("letters.py", REAL / "humanities")
    assert "\n| claude-3-7-sonnet-20250219 | 0.4393 | 0.4393 | 0.4297 | 0.4297 | 0 |\n" in ran.stdout
    head, *apart = ran.stdout.partition("\n\n")[2].partition("\n\n")[0].splitlines()
    assert head.startswith("6,636 of 6,663 counts agree;")
    assert {line.split()[1] for line in apart} == {"letter58"}


@pytest.mark.skipif(
    not (REAL / "product").is_dir(),
    reason="no product in $JSONMATCH_REAL or in shared/real beside the checkout",
)
def test_pages_of_the_product_extraction_benchmark():
    ran = run("products.py", REAL / "product")
    assert "\n45 of 45 figures are equal; standard deviations differ by 0.019 at most\n\nours: " in ran.stdout
    price = "| price | Zyte | 0.918 ± 0.023 | 0.918 ± 0.022 | 0.918 ± 0.024 | 0.918 ± 0.024 |"
    assert f"\n{price}" in ran.stdout


def test_without_the_data_the_script_says_what_it_needs(tmp_path):
    command = [sys.executable, TREE / "benchmarks" / "published" / "sob.py", tmp_path]
    ran = subprocess.run(command, check=False, capture_output=True, encoding="utf-8", timeout=60)
    assert ran.returncode == 1
    assert "no data/images_responses/*.jsonl; FOLDER is a checkout of JigsawStack/sob" in ran.stderr
