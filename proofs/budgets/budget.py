"""What a budget is: a function, the largest input that may reach it, and its milliseconds."""

from __future__ import annotations

import ast
import gc
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import risala
from risala.engine.features.hooks.rules.work_budget import LOOP_MS

SOURCE: Final = Path(risala.__file__).parent
ROOMS: Final = (
    *("engine/rules", "engine/features/tables/rules", "engine/features/mailings/rules.py", "sms"),
    *("engine/features/alerts/rules.py", "engine/features/alerts/readings.py"),
    *("engine/features/approvals/rules.py", "engine/features/compat/rules.py"),
    *("engine/features/hooks/rules", "engine/features/payments/rules.py"),
    *("engine/features/providers/rules.py", "engine/features/request_log/rules.py"),
    "engine/features/session_details/rules.py",
    *("drivers/policies", "drivers/payments/patterns.py"),
)
"""Where pure work is that runs on the loop, with words from outside."""
TRIES: Final = 5
"""The least of these counts: others use the machine too."""
_OPEN: Final = ("str", "bytes", "Mapping", "Sequence", "Iterable", "Request", "Received", "object")
"""Types of arguments that may be long."""


@dataclass(frozen=True, slots=True)
class Budget:
    """One function with one of its largest inputs."""

    function: str
    """``engine/rules/template.py:render``."""
    given: str
    """The input, in words."""
    made: Callable[[], Callable[[], object]]
    """Makes the input, and what calls the function with it."""
    ms: int = LOOP_MS

    def spent_ms(self) -> float:
        """Milliseconds of this thread's own time for one call."""
        call = self.made()
        gc.freeze()  # what others left is not looked through on this call's time
        found = []
        for _ in range(TRIES):
            began_s = time.thread_time()
            call()
            found.append((time.thread_time() - began_s) * 1000)
        return min(found)


def open_functions() -> Iterator[str]:
    """Every public function of :data:`ROOMS` with an argument that may be long."""
    for room in ROOMS:
        place = SOURCE / room
        for path in sorted(place.rglob("*.py")) if place.is_dir() else (place,):
            for each in ast.parse(path.read_text("utf-8")).body:
                if isinstance(each, ast.FunctionDef) and not each.name.startswith("_"):
                    given = (*each.args.args, *each.args.kwonlyargs)
                    types = " ".join(ast.unparse(one.annotation) for one in given if one.annotation)
                    if any(word in types for word in _OPEN):
                        yield f"{path.relative_to(SOURCE)}:{each.name}"
