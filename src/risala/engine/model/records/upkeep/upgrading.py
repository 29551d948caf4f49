"""The progress of migrating an older version's database."""

from __future__ import annotations

from typing import Any, Final

from risala.dataclass import dataclass

_MINUTE_S: Final = 60
_HOUR_S: Final = 3600


@dataclass(frozen=True, slots=True)
class Upgrading:
    """A step of the migration, and its progress."""

    step: str
    """The present action: ``copying``, ``moving rows`` …"""
    done: int
    total: int
    """The total of the step; 0: not known."""
    left_s: int | None
    """Seconds until the step is done, by its pace so far; None: not known yet."""

    @property
    def sentence(self) -> str:
        words = [self.step]
        if self.total:
            words.append(f"{100 * self.done // self.total} %")
        if self.left_s is not None:
            words.append(_left(self.left_s))
        return f"The database is being upgraded to this version: {', '.join(words)}."

    def wire(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "done": self.done,
            "total": self.total,
            "secondsLeft": self.left_s,
        }


def _left(left_s: int) -> str:
    if left_s < _MINUTE_S:
        return "less than a minute left"
    unit, size = ("hour", _HOUR_S) if left_s >= _HOUR_S else ("minute", _MINUTE_S)
    count = -(-left_s // size)
    return f"about {count} {unit}{'' if count == 1 else 's'} left"
