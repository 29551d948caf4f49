"""A phone's part of its carrier's page in the console: how it is, its SIMs, another phone that
waits, and how to pair one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

import trio

from risala.drivers.phone.commands import FORGET, REPLACE, TOKEN
from risala.drivers.phone.devices import RegisteredPhone
from risala.drivers.phone.line import PhoneLine
from risala.drivers.phone.link import PhoneLink
from risala.drivers.phone.page_words import WORDS, PageWords
from risala.drivers.phone.words import SimCard
from risala.plugins.page import (
    Cell,
    PageBlock,
    PageFigures,
    PageForm,
    PageHeading,
    PageService,
    PageTable,
    PageText,
)

API: Final = "/mobile/v1"
"""What the app's API begins with, below the carrier's address."""
REDRAWN_EVERY_S: Final = 5.0
_MINUTE_S: Final = 60
Now = tuple[PhoneLink | None, PhoneLine | None]


class PhonePage:
    """A part of the page that is drawn again by itself.

    Args:
        now: the phone and the line, while its driver runs.
        is_owner: False: it is another carrier's phone, whose page has its forms.
    """

    redrawn_every_s = REDRAWN_EVERY_S

    def __init__(self, now: Callable[[], Now], *, is_owner: bool) -> None:
        self._now = now
        self._is_owner = is_owner

    async def show(self, service: PageService) -> Sequence[PageBlock]:
        """The page's present content."""
        await trio.lowlevel.checkpoint()
        words = WORDS.get(service.language, WORDS["en"])
        link, line = self._now()
        if link is None or line is None:
            return (PageText(words.stopped),)
        phone = link.book.phone
        if phone is None:
            return tuple(_pairing(words, service.address)) if self._is_owner else ()
        blocks = _present(words, link, line, phone)
        if not self._is_owner:
            return tuple(blocks)
        again = PageForm(TOKEN.name, words.show, text=words.again)
        return (*blocks, *_waiting(words, link, phone), again, _forget(words, link, phone))


def _present(
    words: PageWords, link: PhoneLink, line: PhoneLine, phone: RegisteredPhone
) -> Iterator[PageBlock]:
    yield PageHeading(_name(words, phone))
    today: Cell = line.quota.today(link.now_ms())
    if (most := line.settings.per_day_max) is not None:
        today = words.of_quota.format(n=today, most=most)
    if (seen_ms := link.last_seen_ms) is None:
        yield PageText(words.never)
    else:
        when = f"{datetime.fromtimestamp(seen_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"
        yield PageText(words.last_seen.format(when=when))
    silent = words.minutes.format(n=int(link.silent_s // _MINUTE_S))
    figures = (
        (words.silent, silent),
        (words.in_hand, line.messages.waiting),
        (words.today, today),
    )
    yield PageFigures(figures)
    yield PageTable(words.sims, [_sim(line, each) for each in phone.sims], words.no_sims)


def _sim(line: PhoneLine, card: SimCard) -> tuple[Cell, ...]:
    number = line.settings.number if line.sim == card.number else None
    sends = line.sim in (None, card.number)
    return card.number, card.operator or None, number or card.phone or None, sends


def _waiting(words: PageWords, link: PhoneLink, phone: RegisteredPhone) -> Iterator[PageBlock]:
    if (candidate := link.book.candidate) is None:
        return
    yield PageHeading(words.another.format(name=_name(words, candidate)))
    yield PageForm(
        REPLACE.name,
        words.replace.format(name=_name(words, phone)),
        text=words.another_text,
        confirm=words.replace_confirm,
    )


def _forget(words: PageWords, link: PhoneLink, phone: RegisteredPhone) -> PageForm:
    submit = words.forget.format(name=_name(words, phone))
    stays = "" if link.book.makes_token else words.forget_stays
    return PageForm(FORGET.name, submit, text=stays, confirm=words.forget_confirm)


def _pairing(words: PageWords, address: str) -> Iterator[PageBlock]:
    url = (address if "://" in address else f"https://…{address}") + API
    yield PageHeading(words.pairing)
    yield PageText(words.pairing_text)
    for number, step in enumerate(words.steps, 1):
        yield PageText(f"{number}. {step.format(url=url, token=words.token)}")
    if url.startswith("http:"):
        yield PageText(words.plain)
    yield PageForm(TOKEN.name, words.show)


def _name(words: PageWords, phone: RegisteredPhone) -> str:
    return phone.name or words.nameless
