"""Shows how far long work has come, on stderr, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def shown(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Gives ``progress(what, done, of_how_much)``, to be called from one of Trio's threads.

    If the work was cancelled, the next call raises in the thread, and so ends it.
    """
    import trio

    if quiet or not sys.stderr.isatty():
        yield lambda *_: trio.from_thread.check_cancelled()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        last = ""

        def update(what: str, done: int, total: int) -> None:
            nonlocal last
            trio.from_thread.check_cancelled()
            if what != last:
                last = what
                bar.reset(task, description=what.capitalize(), total=total or None)
            bar.update(task, completed=done, total=total or None)

        yield update


@contextmanager
def counted_bar(
    what: str, *, quiet: bool = False
) -> Iterator[Callable[[int, int, str | None], None]]:
    """Gives ``progress(done, of_how_many, waits_for)``, to be called from Trio's own thread."""
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def update(done: int, total: int, waits: str | None) -> None:
            sentence = what if waits is None else f"{what}: {waits}"
            bar.update(task, description=sentence, completed=done, total=total or None)

        yield update
