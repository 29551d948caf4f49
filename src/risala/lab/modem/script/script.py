"""Steps of a scenario: actions on the modem, and their times. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from risala.lab.modem.modem_state import ModemCore
from risala.lab.modem.script.actions import ActionError, perform
from risala.lab.modem.world import events as e


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStep:
    do: str
    """A line as on the console: ``signal 5``."""
    at_s: float | None = None
    """Seconds after the start."""
    after_sends: int | None = None
    """In place of a time: once this many segments were taken."""


class Script:
    def __init__(self, modem: ModemCore, steps: Sequence[ScriptStep]) -> None:
        self._modem = modem
        self._sends = 0
        self._by_sends = [step for step in steps if step.after_sends is not None]
        for step in steps:
            if step.at_s is not None:
                modem.timetable.after(step.at_s, partial(self._do, step))

    def hear(self, event: e.ModemEvent) -> None:
        """Count sends; the step comes after their answer."""
        if isinstance(event, e.Submitted) and event.is_taken:
            self._sends += 1
            for step in self._by_sends:
                if step.after_sends == self._sends:
                    self._modem.timetable.after(0, partial(self._do, step))

    def _do(self, step: ScriptStep) -> None:
        try:
            perform(self._modem, step.do)
        except ActionError as fault:
            self._modem.tell(e.Trouble(str(fault)))
