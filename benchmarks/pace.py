"""How far a run is: a bar in a terminal, elsewhere a line for each turn; and when it is to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from rich.console import Console
from rich.progress import Progress


class Pace:
    """Of turns that are made one after the other, all of about the same length."""

    def __init__(
        self,
        console: Console,
        total: int,
        limit_s: float,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console = console
        self._progress = Progress(console=console, transient=True)
        self._task = self._progress.add_task("measuring", total=total)
        self._total = total
        self._done = 0
        self._now_s = now_s
        self._started_s = now_s()
        self._limit_s = limit_s

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._progress.stop()

    @property
    def over(self) -> bool:
        """No other turn is to begin."""
        return self._now_s() - self._started_s >= self._limit_s

    @contextmanager
    def turn(self, name: str) -> Iterator[None]:
        """One of them; told when it has ended, however it did."""
        self._progress.update(self._task, description=name)
        began_s = self._now_s()
        try:
            yield
        finally:
            self._done += 1
            self._progress.advance(self._task)
            if not self._console.is_terminal:
                self._tell(name, self._now_s() - began_s)

    def _tell(self, name: str, took_s: float) -> None:
        spent_s = self._now_s() - self._started_s
        left_min = spent_s / self._done * (self._total - self._done) / 60
        self._console.print(
            f"{self._done} of {self._total}: {name} took {took_s:.0f} s;"
            f" about {left_min:.0f} min left",
            markup=False,
            highlight=False,
        )
        self._console.file.flush()
