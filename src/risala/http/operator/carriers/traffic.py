"""The traffic of a carrier's link in the last minutes, in the terms of its protocol: each question
with its answer, and how long that took."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.model.records.carriers import routes, state
from risala.engine.model.records.carriers.routes import TrafficLine
from risala.http.operator.carriers.tiles import BEAT_S, carrier_named, tile
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, NC_
from risala.http.web.lists import Pager, choice, counts, typed
from risala.http.web.live import Pieces
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

LINES_MAX: Final = 1000
"""Lines that are asked for: as many as the operation gives."""
SHOWN: Final = 100
"""Rows of a page."""
KINDS: Final = {
    "submit": NC_("kind of traffic", "Messages sent"),
    "deliver": NC_("kind of traffic", "Messages received and receipts"),
    "link": NC_("kind of traffic", "The link itself"),
    "other": NC_("kind of traffic", "Other"),
}
_DIGITS_KEPT: Final = 4
"""The digits of a number that the lines still have, its last."""
_PDU: Final = re.compile(r"([a-z_]+?)(_resp)? #(\d+)(?: |$)")
"""How an SMPP line begins: the name of its PDU, and the number that its answer has too."""
_KIND_OF: Final = (
    ("submit", re.compile(r"submit_|data_sm|AT\+CMG[SW]|POST |GET ")),
    ("deliver", re.compile(r"deliver_|\+CMT|\+CDS|AT\+CMG[LRD]")),
    ("link", re.compile(r"enquire_link|bind_|unbind|outbind|generic_nack")),
)
_ALIVE: Final = "enquire_link"


@dataclass(frozen=True, slots=True)
class TrafficExchange:
    """A line, with the answer to it where there is one."""

    seq: int
    at: int
    sent: bool
    text: str
    left_out: int
    answer: str | None = None
    took_ms: int | None = None
    count: int = 1
    """More than one: so many alike, one after the other; this is the newest."""
    first_at: int | None = None
    is_mixed: bool = False
    """Whether some of them went the other way."""

    @property
    def kind(self) -> str:
        return next((name for name, match in _KIND_OF if match.match(self.text)), "other")

    @property
    def is_alive(self) -> bool:
        """Whether it only asks if the other side is there, and was answered."""
        return self.text.startswith(_ALIVE) and (self.answer or "").startswith("ESME_ROK")


def exchanges_of(lines: Sequence[TrafficLine]) -> list[TrafficExchange]:
    """Lines, the oldest first, as exchanges in the same order."""
    exchanges: dict[int, TrafficExchange] = {}
    open_by: dict[tuple[str, str, bool], int] = {}
    for line in lines:
        pdu = _PDU.match(line.text)
        question = None
        if pdu is not None and pdu[2]:
            question = open_by.pop((pdu[1], pdu[3], not line.sent), None)
        if pdu is not None and question is not None:
            one = exchanges[question]
            exchanges[question] = TrafficExchange(
                *(one.seq, one.at, one.sent, one.text, one.left_out + line.left_out),
                answer=line.text[pdu.end() :],
                took_ms=max(0, line.at - one.at),
            )
            continue
        if pdu is not None and not pdu[2]:
            open_by[pdu[1], pdu[3], line.sent] = line.seq
        exchanges[line.seq] = TrafficExchange(
            line.seq, line.at, line.sent, line.text, line.left_out
        )
    return list(exchanges.values())


def folded(exchanges: Sequence[TrafficExchange]) -> list[TrafficExchange]:
    """Exchanges, the newest first; those in a row that only ask if the peer is there are one."""
    rows: list[TrafficExchange] = []
    for each in exchanges:
        last = rows[-1] if rows else None
        if last is None or not (each.is_alive and last.is_alive):
            rows.append(each)
            continue
        rows[-1] = TrafficExchange(
            *(last.seq, last.at, last.sent, last.text, last.left_out + each.left_out),
            *(last.answer, last.took_ms, last.count + 1, each.at),
            is_mixed=last.is_mixed or each.sent != last.sent,
        )
    return rows


def _wanted(exchanges: Sequence[TrafficExchange], digits: str, kind: str) -> list[TrafficExchange]:
    if digits:
        end = digits[-_DIGITS_KEPT:]
        exchanges = [
            each for each in exchanges if re.search(rf"…\d*{end}\b", f"{each.text} {each.answer}")
        ]
    return [each for each in exchanges if not kind or each.kind == kind]


async def live(request: PageRequest) -> TrioResponse:
    pieces = Pieces()

    async def draw(_: object) -> str:
        return pieces.fresh(
            await request.drawn("carriers/traffic_pieces.html", await _values(request))
        )

    return request.live(draw, by_time=True, beat_s=BEAT_S)


async def _values(request: PageRequest) -> dict[str, Any]:
    name, form = carrier_named(request), request.form
    lane = await request.ask(state.SHOW, carrier=name)
    traffic = await request.ask(routes.TRAFFIC, carrier=name, limit=LINES_MAX)
    digits = re.sub(r"\D", "", form.text("digits"))
    kind, before = form.text("kind"), form.text("before")
    query = form.filled("digits", "kind")
    newest = _wanted(exchanges_of(traffic.lines)[::-1], digits, kind)
    rows = newest if kind == "link" else folded(newest)
    if before:
        rows = [each for each in rows if each.seq < int(before)]
    here = f"carriers/{name}/traffic"
    return {
        "lane": lane,
        "tile": tile(request.formats, lane),
        "lines": rows[:SHOWN],
        "query": query,
        "kinds": [(each, request.words.among("kind of traffic", KINDS[each])) for each in KINDS],
        "live_at": None if before else request.at(f"{here}/live", **query),
        "here": here,
        "pager": Pager(
            newer=request.at(here, **query) if before else None,
            older=request.at(here, **query, before=str(rows[SHOWN - 1].seq))
            if len(rows) > SHOWN
            else None,
        ),
    }


FILTERS: Final = (
    typed("digits", N_("Last digits of the number")),
    choice("kind", N_("Kind"), KINDS),
    *counts("before"),
)
_TRAFFIC: Final = "/operator/carriers/<carrier>/traffic"
ROUTES: Final = (
    PageRoute(
        path=_TRAFFIC,
        view=shows("carriers/traffic.html", _values),
        access=PageAccess.OPERATOR,
        needs=routes.TRAFFIC,
        filters=FILTERS,
    ),
    PageRoute(
        path=f"{_TRAFFIC}/live",
        view=live,
        access=PageAccess.OPERATOR,
        needs=routes.TRAFFIC,
        filters=FILTERS,
    ),
)
