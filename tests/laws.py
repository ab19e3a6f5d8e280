"""Laws: what holds for any input. One registry of them, and one way to check each.

A law is a function in a test file of its room, entered by `law`: pytest checks it with one seed and few inputs
(`SEED=7`: that seed; `FULL=1`: five times as many inputs, others every day), `fuzz/run.py` with one seed after another.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, example, given, seed, settings
from hypothesis.strategies import SearchStrategy

FULL: Final = bool(os.environ.get("FULL"))
SEED: Final = int(os.environ.get("SEED") or (time.time() // 86_400 if FULL else 0))


def share(number: int) -> int:
    """How many of so many random inputs are tried: all with FULL=1, a fifth otherwise."""
    return number if FULL else max(1, number // 5)


@dataclass(eq=False)
class Law:
    """A function that must return for every input; `tried` counts its inputs."""

    name: str
    place: str
    check: Callable[..., None]
    inputs: Mapping[str, SearchStrategy[Any]]
    also: Iterable[tuple[Any, ...]]
    examples: int
    within: Callable[[], AbstractContextManager[object]]
    tried: int = 0

    def make_property(self) -> Any:
        """Return it as Hypothesis knows it, which knows nothing of pytest and keeps no inputs."""

        def holds(**drawn: Any) -> None:
            self.tried += 1
            self.check(**drawn)

        made = given(**self.inputs)(holds)
        for values in self.also:
            made = example(**dict(zip(self.inputs, values, strict=True)))(made)
        # No deadline and no check of speed: a busy machine is no failure.
        how = settings(
            deadline=None,
            database=None,
            max_examples=self.examples,
            phases=[Phase.explicit, Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        return how(made)

    def check_with(self, number: int) -> None:
        """Check it with the inputs of a seed; a failure shows the smallest input that was found, and how to see it again."""
        try:
            with self.within():
                seed(number)(self.make_property())()
        except BaseException:
            print(f"python tests/fuzz/run.py --minutes 0 --law '{self.name}' --seed {number}")  # noqa: T201
            raise

    def try_bytes(self, data: bytes) -> None:
        """Check it with the input that some bytes stand for."""
        with self.within():
            self.make_property().hypothesis.fuzz_one_input(data)


LAWS: Final[dict[str, Law]] = {}
"""Every law of the test files imported so far, by its name."""


def law(
    *inputs: SearchStrategy[Any],
    examples: int = 100,
    each: Iterable[Any] | None = None,
    also: Iterable[tuple[Any, ...]] = (),
    within: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Enter a function of a test file as a law, and make it a test.

    Its last parameters are drawn from `inputs`, so many times per seed (a fifth of `examples` without FULL=1), or taken
    from `also`. With `each` there is a law for each of these values, its first argument. Checks run `within` a context.
    """

    def enter(check: Callable[..., None]) -> Callable[..., None]:
        names = list(inspect.signature(check).parameters)
        named = dict(zip(names[len(names) - len(inputs) :], inputs, strict=True))
        name = check.__name__.removeprefix("test_")

        def add(name: str, bound: Callable[..., None]) -> Law:
            place = f"{check.__code__.co_filename}:{check.__code__.co_firstlineno}"
            if name in LAWS and LAWS[name].place != place:
                raise ValueError(f"two laws are called {name}: in {LAWS[name].place} and in {place}")
            LAWS[name] = Law(name, place, bound, named, also, share(examples), within)
            return LAWS[name]

        if each is None:
            single = add(name, check)

            def test() -> None:
                single.check_with(SEED)
        else:
            several = {str(value): add(f"{name}[{value}]", partial(check, value)) for value in each}

            @pytest.mark.parametrize("law", several.values(), ids=several)
            def test(law: Law) -> None:
                law.check_with(SEED)

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        test.__qualname__ = check.__qualname__
        return test

    return enter
