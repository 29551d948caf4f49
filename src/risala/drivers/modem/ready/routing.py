"""How a modem announces received messages, and where it keeps them (27.005 §3.2.2, §3.4.1).

Storage first (``+CMTI``, then read, then delete): a message that goes straight to the port
(``+CMT``) is lost if nobody reads it. Status reports may go straight: few storages accept them.
"""

from __future__ import annotations

from typing import Final

from risala.dataclass import dataclass
from risala.drivers.modem.at.fields import brackets, first, number, offered
from risala.drivers.modem.talk.asking import Asker

_STORAGES: Final = ("ME", "SM", "MT")
"""Storages in the order in which they are wanted: the modem's own (ME) has more room than the SIM
(SM), which mostly has 10 to 50 places."""
_FALLBACKS: Final = (
    (2, 1, 0, 1, 0),
    (1, 2, 0, 1, 0),
    (2, 2, 0, 1, 0),
    (3, 2, 0, 1, 1),  # Siemens
    (1, 2, 2, 2, 1),
    (3, 2, 0, 0),  # Ericsson
    (2, 1, 0, 0, 0),
    (1, 1, 0, 0, 0),
)
"""Values of +CNMI that are known to work, tried in turn on modems that take the command but do not
list its values."""


@dataclass(frozen=True, slots=True)
class Routing:
    """The setting of +CNMI."""

    text: str = ""
    """The values; empty if the modem takes none: then its storage is polled."""
    acknowledges: bool = False
    """Whether every ``+CMT`` and ``+CDS`` must be acknowledged by +CNMA, as under +CSMS=1."""
    reports: bool = False


async def choose_storage(asker: Asker, storage: str) -> tuple[tuple[str, ...], str]:
    """Select the storage for received messages; those that the modem offers, and the one chosen.

    Both are empty if the modem has no +CPMS.

    Args:
        storage: the setting ``storage``.
    """
    rows = await asker.rows("AT+CPMS=?")
    groups = [
        tuple(name.strip(' "') for name in group.split(","))
        for group in (brackets(rows[-1].text) if rows else [])
    ]
    order = _STORAGES if storage == "auto" else (storage,)
    usable = [name for name in order if not groups or all(name in group for group in groups)]
    for name in usable or order:
        answer = await asker.try_(f'AT+CPMS="{name}","{name}","{name}"')
        if answer is None or not answer.result.ok:
            answer = await asker.try_(f'AT+CPMS="{name}"')
        if answer is None or not answer.result.ok:
            continue
        fields = first(answer.rows, "+CPMS")
        if len(fields) > 1 and number(fields[1]) == 0:
            continue  # the modem offers this storage, but it has not a single place
        return (groups[0] if groups else (name,)), name
    return (groups[0] if groups else ()), ""


async def choose_routing(
    asker: Asker, *, inbound: bool, reports: bool, acknowledges: bool
) -> Routing:
    """Set the best +CNMI that the modem takes."""
    rows = await asker.rows("AT+CNMI=?")
    fields = [offered(field) for field in brackets(rows[-1].text)] if rows else []
    attempts = [_best(fields, inbound=inbound, reports=reports)] if len(fields) >= 2 else []
    attempts += [_without(fallback, inbound=inbound, reports=reports) for fallback in _FALLBACKS]
    for attempt in dict.fromkeys(attempts):
        text = ",".join(map(str, attempt))
        if await asker.ok(f"AT+CNMI={text}"):
            ds = attempt[3] if len(attempt) > 3 else 0
            return Routing(text, acknowledges, reports=ds > 0)
    return Routing(acknowledges=acknowledges)


def _best(fields: list[set[int]], *, inbound: bool, reports: bool) -> tuple[int, ...]:
    """The best ``<mode>,<mt>,<bm>,<ds>,<bfr>`` of +CNMI out of the possible values of each."""
    wishes = (
        (2, 1, 3, 0),  # mode 0 last: with it the modem announces nothing
        (1, 2, 0) if inbound else (0,),
        (0,),
        (1, 2, 0) if reports else (0,),
        (0, 1),
    )
    return tuple(
        next((value for value in wish if value in may), min(may, default=0))
        for wish, may in zip(wishes, fields, strict=False)
    )


def _without(values: tuple[int, ...], *, inbound: bool, reports: bool) -> tuple[int, ...]:
    kept = list(values)
    if not inbound:
        kept[1] = 0
    if not reports:
        kept[3] = 0
    return tuple(kept)
