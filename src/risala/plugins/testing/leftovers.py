"""What runs on after something should have ended: Trio's system tasks, and threads."""

from __future__ import annotations

import threading

import trio

_POOL = "Trio thread"
"""What Trio names the threads that it keeps for the next call."""


class Leftovers:
    """Remembers what runs now, and lists what has started since."""

    def __init__(self) -> None:
        self._tasks = _system_tasks()
        self._threads = {*threading.enumerate()}

    def now(self) -> list[str]:
        """What runs that did not run before."""
        tasks = [f"the task {one.name}" for one in _system_tasks() - self._tasks]
        threads = [
            f"the thread {one.name}"
            for one in threading.enumerate()
            if one not in self._threads and not one.name.startswith(_POOL)
        ]
        return tasks + threads

    async def wait(self, patience_s: float) -> list[str]:
        """What still runs once nothing does, or after ``patience_s``."""
        with trio.move_on_after(patience_s):
            while self.now():  # noqa: ASYNC110 -- nothing announces their end
                await trio.sleep(patience_s / 100)
        return self.now()


def _system_tasks() -> set[trio.lowlevel.Task]:
    """Tasks in Trio's own nurseries: they outlive the code that started them."""
    root = trio.lowlevel.current_root_task()
    if root is None:
        return set()
    return {task for nursery in root.child_nurseries for task in nursery.child_tasks}
