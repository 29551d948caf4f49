"""Tests of many cases: tables as one test, and how many examples a property is tried with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

import pytest
from hypothesis import settings

Test = Callable[..., Any]
_WHOLE: Final = 100
"""Examples of ``make test-all``, which is Hypothesis's own default."""


def sweep(
    names: str | tuple[str, ...], cases: Iterable[Any], named: Callable[[Any], str] = str
) -> Callable[[Test], Test]:
    """Run a test for each case, as its argument ``names`` or, for tuples, as several. All cases are
    tried: those that fail are raised together, each with its name. How many there are stands in
    ``cases`` of the test.

    ``parametrize`` makes the fixtures of each case: take that where a case leaves something behind
    that another one would see.
    """
    rows = [*cases]
    assert rows, "a sweep over nothing proves nothing"

    def given(row: Any) -> dict[str, Any]:
        return {names: row} if isinstance(names, str) else dict(zip(names, row, strict=True))

    def swept(test: Test) -> Test:
        asked = inspect.signature(test)

        @wraps(test)
        def run(*owner: Any, **fixtures: Any) -> None:
            with _failures() as case_of:
                for row in rows:
                    with case_of(named(row)):
                        test(*owner, **given(row), **fixtures)

        @wraps(test)
        async def run_async(*owner: Any, **fixtures: Any) -> None:
            with _failures() as case_of:
                for row in rows:
                    with case_of(named(row)):
                        await test(*owner, **given(row), **fixtures)

        made: Any = run_async if inspect.iscoroutinefunction(test) else run
        others = [each for each in asked.parameters.values() if each.name not in given(rows[0])]
        made.__signature__ = asked.replace(parameters=others)
        made.cases = len(rows)
        return made

    return swept


@contextmanager
def _failures() -> Iterator[Callable[[str], Any]]:
    failed: list[Exception] = []

    @contextmanager
    def case_of(row: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # noqa: BLE001 -- raised with the others
            error.add_note(f"case: {row}")
            failed.append(error)

    yield case_of
    if failed:
        raise ExceptionGroup(f"{len(failed)} cases failed", failed)


def first(count: int, cases: Iterable[Any]) -> list[Any]:
    """``cases`` for ``parametrize``; those after the first ``count`` are marked ``long``."""
    return [
        pytest.param(case, marks=pytest.mark.long if number >= count else ())
        for number, case in enumerate(cases)
    ]


def seeds(few: int, count: int) -> list[Any]:
    """``range(count)`` for ``parametrize``; those after the first ``few`` are marked ``long``.

    Where less than all is asked for (``--hypothesis-profile=quick``), there are in proportion fewer
    of them, and never fewer than ``few``.
    """
    return first(few, range(max(few, examples(count))))


def examples(count: int) -> int:
    """``count`` in ``make test-all``, and in proportion where less is asked for (``make test``)."""
    return max(1, count * settings.default.max_examples // _WHOLE)
