"""The misbehaviour of a modem: a few rules, with a given random generator. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from risala.lab.modem.world.network import PlannedReport
from risala.lab.modem.world.phones import Dice

BODY: Final = "body"
"""The word for ``on`` that means the time when a body was typed: the middle of a send."""
ANY: Final = "any"
_GARBAGE_OCTETS: Final = 24


class QuirkKind(StrEnum):
    SILENT = "silent"
    """No answer."""
    LATE = "late"
    TWICE = "twice"
    """The answer, and the answer again."""
    HALF = "half"
    """The first half of the answer."""
    DROP = "drop"
    """Some octets of the answer are missing."""
    GARBAGE = "garbage"
    """Octets that mean nothing, then the answer."""
    REFUSE = "refuse"
    """``error`` in place of the answer."""
    HANG = "hang"
    """The modem receives and outputs nothing from then on."""
    REBOOT = "reboot"
    VANISH = "vanish"
    """The port is gone for a while."""


class Until(StrEnum):
    """The condition that ends a hang, apart from time."""

    NOTHING = "nothing"
    ESCAPE = "escape"
    RESET = "reset"
    """ATZ."""
    RESTART = "restart"
    """AT+CFUN=1,1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirk:
    kind: QuirkKind
    on: str = ANY
    """The occasions: ``any`` command line, one that begins so (``AT+CMGS``), or ``body``."""
    percent: float | None = None
    """The probability that it happens; None: always."""
    every: int | None = None
    """The quirk happens at each so-many-th occasion, in place of ``percent``."""
    skip: int = 0
    """Occasions at the beginning without the quirk."""
    first: int | None = None
    """How often the quirk happens at most; None: no limit."""
    taken: bool = True
    """The command is done in any case: a message is sent."""
    wait_s: float = 5.0
    """Seconds by which the answer comes later, for ``late``."""
    for_s: float | None = None
    """Seconds that ``hang`` and ``vanish`` last; None: until they are ended."""
    until: Until = Until.NOTHING
    """The command that ends a ``hang``."""
    error: str = "ERROR"
    """The line of output, for ``refuse``."""

    def fits(self, subject: str) -> bool:
        if self.on == ANY:
            return subject != BODY
        return subject == self.on or subject.upper().startswith(self.on.upper())


@dataclass(frozen=True, slots=True)
class SendRefusal:
    """The network refuses a share of the sends with a ``+CMS ERROR``."""

    error: int
    percent: float = 100.0
    taken: bool = False
    """The phone gets the message all the same."""


@dataclass(frozen=True, slots=True)
class ReportRules:
    """The effect on status reports."""

    lost_percent: float = 0.0
    twice_percent: float = 0.0
    early_percent: float = 0.0
    """The share that comes before the answer to the send."""
    spread_s: float = 0.0
    """Reports come up to this much later, each by chance, and so in any order."""


@dataclass(frozen=True, slots=True)
class LineRules:
    """A bad cable: octets that never arrive."""

    lost_in_percent: float = 0.0
    lost_out_percent: float = 0.0


class ModemBehaviour:
    """All rules by which a modem misbehaves, and their random generator. Without rules it behaves
    normally."""

    def __init__(
        self,
        dice: Dice,
        quirks: Sequence[Quirk] = (),
        refusals: Sequence[SendRefusal] = (),
        reports: ReportRules | None = None,
        line: LineRules | None = None,
    ) -> None:
        self.dice = dice
        self.refusals = list(refusals)
        self._quirks = tuple(quirks)
        self._met = [0] * len(self._quirks)
        self._done = [0] * len(self._quirks)
        self._reports = reports or ReportRules()
        self._line = line or LineRules()

    def chance(self, percent: float) -> bool:
        return percent > 0 and self.dice.random() * 100 < percent

    def pick(self, subject: str) -> Quirk | None:
        """The quirk for a command line (``AT+CSQ``) or for ``body``; of several rules the first.
        None: no quirk."""
        for at, quirk in enumerate(self._quirks):
            if not quirk.fits(subject):
                continue
            self._met[at] += 1
            if self._happens(at, quirk):
                self._done[at] += 1
                return quirk
        return None

    def _happens(self, at: int, quirk: Quirk) -> bool:
        met = self._met[at] - quirk.skip
        if met <= 0 or (quirk.first is not None and self._done[at] >= quirk.first):
            return False
        if quirk.every is not None:
            return met % quirk.every == 0
        return quirk.percent is None or self.chance(quirk.percent)

    def refusal(self) -> SendRefusal | None:
        return next((each for each in self.refusals if self.chance(each.percent)), None)

    def reports(self, planned: list[PlannedReport]) -> list[PlannedReport]:
        """The reports that come, of those that should: some are lost, doubled, early or late."""
        rules, changed = self._reports, []
        for report in planned:
            if self.chance(rules.lost_percent):
                continue
            after_s = report.after_s + rules.spread_s * self.dice.random()
            if self.chance(rules.early_percent):
                after_s = -1.0
            changed.append(replace(report, after_s=after_s))
            if self.chance(rules.twice_percent):
                changed.append(replace(report, after_s=after_s))
        return changed

    # -- the line --------------------------------------------------------------------------------

    def heard(self, octets: bytes) -> bytes:
        return self._thinned(octets, self._line.lost_in_percent)

    def said(self, octets: bytes) -> bytes:
        return self._thinned(octets, self._line.lost_out_percent)

    def _thinned(self, octets: bytes, percent: float) -> bytes:
        if not percent:
            return octets
        return bytes(octet for octet in octets if not self.chance(percent))

    def bitten(self, octets: bytes) -> bytes:
        """An answer without one to three of its octets."""
        left = bytearray(octets)
        for _ in range(1 + self.dice.randrange(3)):
            if left:
                del left[self.dice.randrange(len(left))]
        return bytes(left)

    def garbage(self) -> bytes:
        count = 1 + self.dice.randrange(_GARBAGE_OCTETS)
        return bytes(128 + self.dice.randrange(128) for _ in range(count))


_K = QuirkKind
_BUSY_NETWORK: Final = "+CMS ERROR: 42"
SICK: Final = {
    "drop": Quirk(kind=_K.DROP, percent=2),
    "garbage": Quirk(kind=_K.GARBAGE, percent=2),
    "late": Quirk(kind=_K.LATE, percent=3, wait_s=4),
    "twice": Quirk(kind=_K.TWICE, percent=1),
    "half": Quirk(kind=_K.HALF, percent=1),
    "silent": Quirk(kind=_K.SILENT, percent=1),
    "refuse": Quirk(kind=_K.REFUSE, on=BODY, percent=5, taken=False, error=_BUSY_NETWORK),
    "hang": Quirk(kind=_K.HANG, on=BODY, percent=2, for_s=120, until=Until.RESET),
    "reboot": Quirk(kind=_K.REBOOT, percent=0.2),
    "vanish": Quirk(kind=_K.VANISH, percent=0.2, for_s=5),
}
"""Quirks by name, with the percentages that the profile ``sick`` has."""


def quirk_named(text: str) -> Quirk:
    """``hang``, or ``hang=5`` with another percentage.

    Raises:
        ValueError: unknown name, or invalid percentage.
    """
    name, equals, percent = text.partition("=")
    if name not in SICK:
        raise ValueError(f"There is no quirk {name!r}; there are {', '.join(SICK)}.")
    if not equals:
        return SICK[name]
    share = float(percent) if percent.replace(".", "", 1).isdecimal() else -1.0
    if not 0 <= share <= 100:
        raise ValueError(f"{percent!r} is no percentage.")
    return replace(SICK[name], percent=share)
