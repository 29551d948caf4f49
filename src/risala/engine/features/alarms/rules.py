"""Says who is on duty, who comes next, and which word ends an alarm. Pure, with the tables of time
zones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from risala.dataclass import dataclass
from risala.engine.rules.keywords import keyword_of, words_of

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WRITTEN_DAYS: Final = {
    **{each: each for each in DAYS},
    **dict(zip(("lun", "mar", "mer", "jeu", "ven", "sam", "dim"), DAYS, strict=True)),
    **dict(
        zip(
            ("الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت", "الأحد"),
            DAYS,
            strict=True,
        )
    ),
}
"""Days as people of the pages' languages write them."""
_TIME: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_HOURS: Final = re.compile(f"({_TIME})-({_TIME}|24:00)").fullmatch
_TOKENS_MAX: Final = 12
"""Words of a line: a number in groups, days with spaces between, and hours."""
ASKS: Final = {
    "en": "Reply {word} to stop this alarm.",
    "fr": "Répondez {word} pour arrêter cette alarme.",
    "ar": "أجب بكلمة {word} لإيقاف هذا الإنذار.",
}
"""What an alarm's message ends with, by the chain's language."""


@dataclass(frozen=True, slots=True)
class DutyPerson:
    """Somebody of a chain, with their shift."""

    number: str
    days: tuple[str, ...]
    """On which a shift begins; empty: every day."""
    begin: str | None
    end: str | None
    """None: all day. A shift may end on the next day: from 20:00 until 06:00."""

    @property
    def line(self) -> str:
        """As it is stored and shown."""
        at = [DAYS.index(each) for each in self.days]
        is_range = len(at) > 2 and at[-1] - at[0] == len(at) - 1
        days = f"{self.days[0]}-{self.days[-1]}" if is_range else ",".join(self.days)
        days = f" {days}" if days else ""
        return f"{self.number}{days}{'' if self.begin is None else f' {self.begin}-{self.end}'}"


def person_of(line: str) -> DutyPerson | None:
    """Somebody as they are written: a number, then perhaps days and hours; the number is as it was
    written. None: it is nobody."""
    words = line.split()
    if not words or len(words) > _TOKENS_MAX:
        return None
    begin, end = None, None
    if len(words) > 1 and (hours := _HOURS(words[-1])) is not None:
        begin, end = hours.groups()
        words.pop()
        if begin == end:
            return None
    days = set[str]()
    while len(words) > 1 and (read := _days_of(words[-1])) is not None:
        days |= read
        words.pop()
    number = " ".join(words)
    if any(each.isalpha() or each == ":" for each in number):
        return None
    ordered = tuple(each for each in DAYS if each in days)
    return DutyPerson(number, () if ordered == DAYS else ordered, begin, end)


def _days_of(word: str) -> set[str] | None:
    """The days of ``mon,tue`` or ``mon-fri``, which may go over a week's end; None: they are
    none."""
    days = set[str]()
    for part in word.lower().replace("،", ",").strip(",").split(","):
        first, dash, last = part.partition("-")
        if first not in _WRITTEN_DAYS or (dash and last not in _WRITTEN_DAYS):
            return None
        at = DAYS.index(_WRITTEN_DAYS[first])
        to = DAYS.index(_WRITTEN_DAYS[last]) if dash else at
        days |= {DAYS[(at + each) % 7] for each in range((to - at) % 7 + 1)}
    return days


def on_duty(people: Sequence[DutyPerson], zone: str, now_ms: int) -> list[DutyPerson]:
    """The people whose shift it is, in their order; if it is nobody's, all of them: an alarm that
    no one gets is worse than one out of hours."""
    there = datetime.fromtimestamp(now_ms / 1000, ZoneInfo(zone))
    return [each for each in people if _is_on(each, there)] or [*people]


def _is_on(person: DutyPerson, there: datetime) -> bool:
    begin, end = person.begin or "00:00", person.end or "24:00"
    clock = f"{there:%H:%M}"
    day, before = DAYS[there.weekday()], DAYS[(there - timedelta(days=1)).weekday()]
    days = person.days or DAYS
    if begin < end:
        return day in days and begin <= clock < end
    return (day in days and clock >= begin) or (before in days and clock < end)


def next_person(duty: Sequence[DutyPerson], former: Sequence[str]) -> DutyPerson:
    """The person to write to now: of those on duty, the first who was written to least often.

    Args:
        former: the numbers that this alarm wrote to before; shifts may have changed since.
    """
    return min(duty, key=lambda each: former.count(each.number))


def is_over(duty: Sequence[DutyPerson], former: Sequence[str], rounds: int) -> bool:
    """Whether everybody on duty was written to as often as may be."""
    return all(former.count(each.number) >= rounds for each in duty)


def is_word(word: str) -> bool:
    """Whether this is one word that a text can begin with."""
    return len(word.split()) == 1 and len(words_of(word)) == 1


def says(word: str, text: str) -> bool:
    """Whether a text begins with the word, in any script, beside signs."""
    return keyword_of(text) == keyword_of(word) != ""


def body_of(text: str, word: str, language: str) -> str:
    """The message of an alarm's step."""
    return f"{text}\n{ASKS[language].format(word=word)}"
