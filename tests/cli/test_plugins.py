"""Comparators and metrics of others: `-p MODULE`, and the entry points of installed packages."""

from __future__ import annotations

import sys

import pytest

from pytest_jsonmatch import ConfigurationError, compare_corpus, compare_json, read_results, reclassify_nulls

COMPARE = "compare a.json a.json --metric ours"


@pytest.fixture
def plugin(write, monkeypatch):
    """Write a module with the hook; the body is that of the hook."""
    write(a_json={"n": 1})

    def call(body="registry.metric('ours', {'base': 'json_similarity'})", name="jm_ours"):
        monkeypatch.delitem(sys.modules, name, raising=False)
        write(**{f"{name}_py": f"def pytest_jsonmatch_register(registry):\n    {body}\n"})

    return call


@pytest.fixture
def installed(folder, plugin, monkeypatch):
    """Install the module as a package that is known by an entry point."""

    def call(body="registry.metric('ours', {'base': 'json_similarity'})"):
        plugin(body)
        info = folder / "receipts-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: receipts\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[jsonmatch]\nreceipts = jm_ours\n")
        monkeypatch.syspath_prepend(folder)

    return call


def test_a_module_from_here(plugin, command):
    plugin()
    before = list(sys.path)
    assert command(f"{COMPARE} -p jm_ours").out.startswith(
        "ours score 1.00 (limit 1.0); extras not counted\n"
    )
    assert sys.path == before
    with pytest.raises(ConfigurationError, match="unknown metric 'ours'"):
        compare_json(1, 1, metric="ours")


def test_a_module_may_insert_a_folder_into_the_path(plugin, command, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    plugin()
    (tmp_path / "jm_ours.py").write_text(
        f"import sys\nsys.path.insert(0, '/opt/receipts')\n{(tmp_path / 'jm_ours.py').read_text()}"
    )
    before = list(sys.path)
    assert command(f"{COMPARE} -p jm_ours").code == 0
    assert sys.path == ["/opt/receipts", *before]


def test_a_module_twice(plugin, command):
    plugin()
    assert command(f"{COMPARE} -p jm_ours -p jm_ours").code == 0


def test_a_hook_need_not_take_what_it_does_not_use(folder, plugin, command):
    plugin()
    (folder / "jm_ours.py").write_text(
        "import pytest\nfrom pytest_jsonmatch import register_metric\n"
        "@pytest.hookimpl(tryfirst=True)\ndef pytest_jsonmatch_register():\n    pass\n"
        "def pytest_configure(config):\n    raise AssertionError('a hook that is not ours')\n"
    )
    assert command("compare a.json a.json -p jm_ours").code == 0


def test_evaluate_knows_plugins(plugin, write, command):
    plugin("registry.comparator('first', lambda expected, actual, params: expected[0] == actual[0])")
    write(
        gold_jsonl=[{"s": "apple"}],
        answers_jsonl=[{"s": "avocado"}],
        config_json={"compare": {"string": "first"}},
    )
    line = "evaluate answers.jsonl gold.jsonl --config config.json -p jm_ours --gate f1==1"
    assert command(line).code == 0


def test_an_installed_package(installed, command):
    installed()
    assert command(COMPARE).out.startswith("ours score 1.00 (limit 1.0); extras not counted\n")


def test_an_installed_package_that_is_broken(installed, folder, refused):
    installed()
    (folder / "jm_ours.py").write_text("import nowhere\n")
    assert refused(COMPARE) == (
        "jsonmatch compare: the installed plugin 'receipts' can't be imported: ModuleNotFoundError: "
        "No module named 'nowhere'"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("registry.metric('field_match', {})", "plugin 'jm_ours': 'field_match' is a built-in metric"),
        ("registry.metric('ours', {'arays': 'ordered'})", "plugin 'jm_ours': unknown option 'arays'; did"),
        ("raise RuntimeError('no')", "plugin 'jm_ours' raised RuntimeError: no"),
        ("pass\ndef pytest_jsonmatch_register(regsitry): pass", "plugin 'jm_ours' raised TypeError:"),
        ("pass\ndel pytest_jsonmatch_register", "plugin 'jm_ours' has no function"),
        ("pass\nraise ImportError('gone')", "'jm_ours' can't be imported: ImportError: gone"),
    ],
)
def test_a_plugin_that_is_wrong(plugin, refused, body, message):
    plugin(body)
    assert refused(f"{COMPARE} -p jm_ours").startswith(f"jsonmatch compare: {message}")


def test_a_plugin_that_is_not_there(plugin, refused):
    plugin()
    message = "'nowhere' can't be imported: ModuleNotFoundError: No module named 'nowhere'"
    assert refused(f"{COMPARE} -p nowhere").startswith(f"jsonmatch compare: {message}")


def test_a_post_processor_counts_as_in_python_or_is_named(write, folder, command, monkeypatch):
    monkeypatch.delitem(sys.modules, "jm_nulls", raising=False)
    monkeypatch.syspath_prepend(folder)
    write(
        jm_nulls_py="from pytest_jsonmatch import reclassify_nulls as post_process\n",
        gold_jsonl=[{"id": 1, "gold": {"a": 1, "b": None}}, {"id": 2, "gold": {"a": 2, "b": "y"}}],
        answers_jsonl=[{"id": 2, "calls": {"a": 2, "b": None}}, {"id": 1, "calls": 'So: {"a": 1}'}],
        gold_json={"a": 1, "b": None},
        answer_json={"a": 1},
    )
    columns = "--id id --expected gold --actual calls"
    assert command(f"evaluate answers.jsonl gold.jsonl {columns} -p jm_nulls --json run.jsonl").code == 0
    files = folder / "answers.jsonl", folder / "gold.jsonl"
    settings = {"id": "id", "expected": "gold", "actual": "calls", "post_process": reclassify_nulls}
    run = compare_corpus(*files, **settings)
    assert (run.total_skipped, run.total_omissions) == (1, 1)
    assert read_results(folder / "run.jsonl").totals == run.totals
    assert command("compare answer.json gold.json -p jm_nulls").err == (
        "jsonmatch compare: warning: post_process of jm_nulls is not applied: only jsonmatch evaluate does that\n"
    )
