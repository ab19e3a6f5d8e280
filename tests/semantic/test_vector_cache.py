"""Vectors on disk: found again by another process, and never in the way of a run."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from pytest_jsonmatch import compare_json
from pytest_jsonmatch.engine.plan.registry import session_registry
from pytest_jsonmatch.semantic.encoders import _fingerprint
from pytest_jsonmatch.semantic.vectorcache import (
    EmbeddingCacheWarning,
    VectorCache,
    cache_folder,
    use_cache_folder,
)


class Lengths:
    def __init__(self, revision: object = "1") -> None:
        self.revision = revision
        self.calls: list[list[str]] = []

    def encode(self, texts):
        self.calls.append(sorted(texts))
        return [[float(len(text)), 1.0] for text in texts]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    path = tmp_path / "vectors" / "of the team"
    monkeypatch.setenv("JSONMATCH_EMBEDDING_CACHE", str(path))
    return path


def encoded(actual, expected, encoder, name="lengths"):
    """Compare in a session of its own: in memory nothing is known. Return the calls and the score."""
    with session_registry() as registry:
        registry.encoder(name, encoder)
        rule = {"compare": {"cosine": {"embedding_model": name}}}
        return encoder.calls, compare_json(actual, expected, fields={"*": rule}).score


def test_what_is_there_is_not_encoded_again(folder):
    first = encoded({"a": "x", "b": "yy"}, {"a": "zzz", "b": "y"}, Lengths())
    again = encoded({"a": "x", "b": "yy"}, {"a": "zzz", "b": "y"}, Lengths())
    assert (first[0], again[0], again[1]) == ([["x", "y", "yy", "zzz"]], [], first[1])
    more = encoded({"a": "x"}, {"a": "new"}, Lengths())
    assert more[0] == [["new"]]


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.delenv("JSONMATCH_EMBEDDING_CACHE", raising=False)
    monkeypatch.chdir(tmp_path)
    encoded({"a": "x"}, {"a": "y"}, Lengths())
    assert (cache_folder(), list(tmp_path.iterdir())) == (None, [])


@pytest.mark.parametrize("revision", [None, 7])
def test_an_encoder_without_a_revision_is_not_kept(folder, revision):
    for _ in range(2):
        assert encoded({"a": "x"}, {"a": "y"}, Lengths(revision))[0] == [["x", "y"]]
    assert not folder.exists()


@pytest.mark.parametrize(("name", "revision"), [("lengths", "2"), ("others", "1")])
def test_another_revision_or_name_has_vectors_of_its_own(folder, name, revision):
    encoded({"a": "x"}, {"a": "y"}, Lengths())
    assert encoded({"a": "x"}, {"a": "y"}, Lengths(revision), name)[0] == [["x", "y"]]
    assert len(list(folder.iterdir())) == 2


def test_any_string_can_be_kept(folder):
    texts = ["", "\x00", "\ud800", "\udc00", "ü", "u\u0308", "x" * 100_000, "'; DROP TABLE vectors"]
    cache = VectorCache(folder, "model", "1")
    vectors = {text: np.array([at, -at, 2**26], dtype=np.int32) for at, text in enumerate(texts)}
    cache.write(vectors)
    found = VectorCache(folder, "model", "1").read([*texts, "unknown"])
    assert {text: vector.tolist() for text, vector in found.items()} == {
        text: vector.tolist() for text, vector in vectors.items()
    }


def test_many_strings(folder):
    vectors = {f"text {n}": np.array([n], dtype=np.int32) for n in range(2_000)}
    cache = VectorCache(folder, "model", "1")
    cache.write(vectors)
    assert len(cache.read([*vectors, "other"])) == 2_000


@pytest.mark.parametrize("model", ["org/name", "C:\\models\\name", "../../name", "na me", "名前", "."])
def test_the_file_stays_in_its_folder_whatever_the_model_is_called(folder, model):
    path = VectorCache(folder, model, "1").path
    assert (path.parent, path.suffix) == (folder, ".sqlite")
    assert set(path.stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


# -- damage ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"not a database", b"\x00" * 5_000, b"SQLite format 3\x00" + b"x" * 9_000]
)
def test_a_damaged_file_is_written_anew_with_a_warning(folder, content):
    encoded({"a": "x"}, {"a": "y"}, Lengths())
    (path,) = folder.iterdir()
    path.write_bytes(content)
    with pytest.warns(EmbeddingCacheWarning, match="is damaged .*; it is replaced"):
        assert encoded({"a": "x"}, {"a": "y"}, Lengths())[0] == [["x", "y"]]
    assert encoded({"a": "x"}, {"a": "y"}, Lengths())[0] == []


def test_an_empty_file_is_filled(folder):
    folder.mkdir(parents=True)
    VectorCache(folder, "lengths", "1").path.touch()
    encoded({"a": "x"}, {"a": "y"}, Lengths())
    assert encoded({"a": "x"}, {"a": "y"}, Lengths())[0] == []


def test_a_row_that_is_shorter_than_the_others_is_encoded_again(folder):
    before = encoded({"a": "xx"}, {"a": "y"}, Lengths())
    (path,) = folder.iterdir()
    with sqlite3.connect(path) as connection:
        key = hashlib.sha256(b"xx").digest()
        connection.execute("UPDATE vectors SET vector = substr(vector, 5) WHERE key = ?", [key])
    connection.close()
    again = encoded({"a": "xx"}, {"a": "y"}, Lengths())
    assert (again[0], again[1]) == ([["xx"]], before[1])


@pytest.mark.parametrize("change", ["substr(vector, 2)", "x'00'", "'text'", "1"])
def test_a_damaged_row_is_a_damaged_file(folder, change):
    encoded({"a": "x"}, {"a": "y"}, Lengths())
    (path,) = folder.iterdir()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE vectors SET vector = {change}")
    connection.close()
    with pytest.warns(EmbeddingCacheWarning, match="is damaged .*; it is replaced"):
        assert encoded({"a": "x"}, {"a": "y"}, Lengths())[0] == [["x", "y"]]
    assert encoded({"a": "x"}, {"a": "y"}, Lengths())[0] == []


def test_a_folder_that_cannot_be_made_costs_a_warning(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("JSONMATCH_EMBEDDING_CACHE", str(tmp_path / "file" / "vectors"))
    with pytest.warns(EmbeddingCacheWarning, match="can't be used .*; vectors are computed again"):
        assert encoded({"a": "x"}, {"a": "y"}, Lengths())[0] == [["x", "y"]]


def test_a_file_that_cannot_be_used_costs_a_warning(folder):
    VectorCache(folder, "lengths", "1").path.mkdir(parents=True)
    with pytest.warns(EmbeddingCacheWarning, match="can't be used .*; vectors are computed again"):
        assert encoded({"a": "x"}, {"a": "y"}, Lengths())[0] == [["x", "y"]]


# -- several processes -------------------------------------------------------------------------------------


WRITE_MANY = """
import sys
from pathlib import Path
import numpy as np
from pytest_jsonmatch.semantic.vectorcache import VectorCache
cache, number = VectorCache(Path(sys.argv[1]), "model", "1"), int(sys.argv[2])
for part in range(20):
    cache.write({f"{part} {n}": np.array([part, n], dtype=np.int32) for n in range(number, number + 30)})
    assert len(cache.read([f"{part} {number}"])) == 1
"""


def test_processes_write_at_once(folder):
    children = [subprocess.Popen([sys.executable, "-c", WRITE_MANY, folder, at]) for at in ("0", "15", "30")]
    assert [child.wait(60) for child in children] == [0, 0, 0]
    wanted = [f"{part} {n}" for part in range(20) for n in range(60)]
    assert len(VectorCache(folder, "model", "1").read(wanted)) == 1_200


def test_a_process_that_is_killed_while_it_writes_leaves_a_file_that_can_be_read(folder):
    VectorCache(folder, "model", "1").write({"before": np.array([1], dtype=np.int32)})
    code = (
        "import os, sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1])\n"
        "connection.execute('PRAGMA cache_size = 1')\n"
        "connection.execute('BEGIN')\n"
        "rows = ((str(n).encode(), b'x' * 5000) for n in range(500))\n"
        "connection.executemany('INSERT INTO vectors VALUES (?, ?)', rows)\n"
        "os._exit(9)\n"
    )
    path = VectorCache(folder, "model", "1").path
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 9
    assert VectorCache(folder, "model", "1").read(["before"])["before"].tolist() == [1]


# -- settings ----------------------------------------------------------------------------------------------


def test_the_environment_goes_before_the_setting(tmp_path, monkeypatch):
    monkeypatch.delenv("JSONMATCH_EMBEDDING_CACHE", raising=False)
    undo = use_cache_folder("here", below=tmp_path)
    assert cache_folder() == tmp_path / "here"
    monkeypatch.setenv("JSONMATCH_EMBEDDING_CACHE", str(tmp_path / "there"))
    assert cache_folder() == tmp_path / "there"
    monkeypatch.setenv("JSONMATCH_EMBEDDING_CACHE", "")
    assert cache_folder() == tmp_path / "here"
    undo()
    assert cache_folder() is None


# -- fingerprints of model folders -------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "1_Pooling" / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 8_192)
    return folder


def test_a_copy_has_the_same_fingerprint(model, tmp_path):
    copy = model.rename(tmp_path / "copy")
    before = _fingerprint(copy)
    (copy / ".cache").write_text("x", encoding="utf-8")
    os.utime(copy / "config.json", (0, 0))
    assert _fingerprint(copy) == before


@pytest.mark.parametrize("place", [0, 1_000_000, 2**21 - 1])
def test_other_files_have_another_fingerprint(model, place):
    before = _fingerprint(model)
    weights = model / "model.safetensors"
    data = bytearray(weights.read_bytes())
    # (Weights that are trained further differ everywhere; so one large step of the file does here.)
    data[max(0, place - 150_000) : place + 1] = b"\x07" * (place + 1 - max(0, place - 150_000))
    weights.write_bytes(data)
    changed = _fingerprint(model)
    (model / "1_Pooling" / "config.json").write_text('{"mean": true}', encoding="utf-8")
    assert len({before, changed, _fingerprint(model)}) == 3
