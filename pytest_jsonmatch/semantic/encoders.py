"""Find the encoder that `embedding_model` names: a registered one, or a model of sentence-transformers."""

from __future__ import annotations

import multiprocessing
import os
from importlib.util import find_spec
from typing import Any, Final, final

from pytest_jsonmatch.engine.plan.registry import Encoder, get_active_registry
from pytest_jsonmatch.engine.value.errors import ConfigurationError, format_error
from pytest_jsonmatch.semantic.vectors import Vectors

DEFAULT_MODEL: Final = "all-MiniLM-L6-v2"

_LIBRARY: Final = "sentence_transformers"
_OWNER: Final = "comparator 'cosine'"
_MAX_MESSAGE: Final = 300

# The vectors of models that are not registered, kept for the life of the process.
_loaded: Final[dict[str, Vectors]] = {}


def find_vectors(model: str) -> Vectors:
    """Return the vectors of a named model; the model itself is loaded when its first vector is needed.

    Args:
        model: the name of a registered encoder, or a model that sentence-transformers can load, by its name
            or folder.

    Raises:
        ConfigurationError: sentence-transformers is needed but not installed.
    """
    registered = get_active_registry().find_encoder(model)
    if registered is not None:
        encoder = registered.encoder
        vectors: Vectors = registered.cache.setdefault("vectors", Vectors(model, lambda: encoder))
        return vectors
    if find_spec(_LIBRARY) is None:
        raise ConfigurationError(
            f"{_OWNER}: the model {model!r} needs sentence-transformers; "
            "pip install 'pytest-jsonmatch[embeddings]', or register an encoder of this name"
        )
    return _loaded.setdefault(model, Vectors(model, lambda: _load(model)))


def _load(model: str) -> Encoder:
    """Load a model with sentence-transformers."""
    try:
        from sentence_transformers import SentenceTransformer
    except Exception as error:  # torch fails in many ways
        raise ConfigurationError(
            f"{_OWNER}: sentence-transformers can't be imported: {format_error(error)}"
        ) from error
    try:
        return _SentenceModel(SentenceTransformer(model))
    except Exception as error:  # no such model, no network, a damaged file
        message = " ".join(format_error(error).split())[:_MAX_MESSAGE]
        raise ConfigurationError(f"{_OWNER}: the model {model!r} can't be loaded: {message}") from error


@final
class _SentenceModel:
    """A model of sentence-transformers."""

    __slots__ = ("_model",)

    def __init__(self, model: Any) -> None:
        self._model = model

    def encode(self, texts: list[str], /) -> Any:
        """Return an array with a row for each text."""
        import torch

        # With several processes, one thread per core in each takes several times as long as one thread each.
        # And after a fork the parent's threads do not exist: torch would wait for them forever.
        threads = torch.get_num_threads()
        share = threads // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        torch.set_num_threads(1 if multiprocessing.parent_process() is not None else max(1, share))
        try:
            return self._model.encode(texts, show_progress_bar=False, convert_to_numpy=True)
        finally:
            torch.set_num_threads(threads)
