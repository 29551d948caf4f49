"""Which rooms are changed, and the tests that have to see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Part:
    """Some source, and the quick tests that belong to it and to nothing else."""

    name: str
    source: str
    """A folder of ``src/risala``, or one of its files."""
    tests: tuple[str, ...]
    """Files and folders of ``tests``."""
    cached: tuple[str, ...] = ()
    """Functions whose results the process keeps: mutmut tries their mutants in processes that have
    inherited them, and so what it did not see is tried once more in one of its own."""

    @property
    def paths(self) -> str:
        """The pattern of its files, below ``src/risala``."""
        return self.source if self.source.endswith(".py") else f"{self.source}/*"


PARTS: Final = (
    Part("rules", "engine/rules", ("engine/rules",)),
    Part("sms", "sms", ("sms",)),
    Part(
        "request-log",
        "engine/features/request_log/rules.py",
        ("engine/features/request_log/test_rules.py",),
    ),
    Part(
        "session-details",
        "engine/features/session_details/rules.py",
        ("engine/features/session_details/test_rules.py",),
    ),
    Part("tpdu", "drivers/modem/tpdu", ("drivers/modem/tpdu", "drivers/modem/test_parts.py")),
    Part(
        "smpp",
        "drivers/smpp/protocol",
        ("drivers/smpp/protocol", "drivers/smpp/test_habits.py"),
        cached=("_encode_same", "_decode_same", "_told", "_raw", "_network_error", "_fields"),
    ),
    Part(
        "at",
        "drivers/modem/at",
        ("drivers/modem/at", "drivers/modem/test_errors.py", "drivers/modem/test_parts.py"),
    ),
)
"""The rooms that only decide: no clock, no socket, no file. What they do wrong, all others do."""
