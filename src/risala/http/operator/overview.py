"""The operator's first page: alerts, current activity, and things that wait for a decision."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.alerts import records
from risala.engine.features.overview.records import SERVICE
from risala.engine.model.errors import Refusal
from risala.engine.model.records.carriers import state
from risala.engine.model.records.upkeep.service import Flow, Machine
from risala.http.operator.alerts import ATTENTION_MAX, needed_first, shown_alerts
from risala.http.operator.carriers.tiles import BEAT_S, tile
from risala.http.operator.latest import of_overview
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.live import Pieces
from risala.http.web.messages.sentences import cause_markup
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

PAGE: Final = "/operator/overview"
SEEN: Final = N_("Noted: you take care of it.")
MUTED: Final = N_("No notices are sent during this time; it stays on this page.")
MUTES: Final = (60, 240, 1440)
"""Minutes for which an alert may be silenced from this page."""
WAITS_LONG_MS: Final = 30_000
_GIB: Final = 1 << 30


async def live(request: PageRequest) -> TrioResponse:
    pieces = Pieces()

    async def draw(_: object) -> str:
        return pieces.fresh(await request.drawn("overview/pieces.html", await _values(request)))

    return request.live(draw, by_time=True, beat_s=BEAT_S)


async def _values(request: PageRequest) -> dict[str, Any]:
    overview = await request.ask(SERVICE)
    alerts = await request.ask(records.LIST, open=True)
    attention = needed_first(alerts.alerts)[:ATTENTION_MAX]
    tiles = [tile(request.formats, lane) for lane in (await request.ask(state.LIST)).carriers]
    return {
        "overview": overview,
        "alerts": shown_alerts(request, attention),
        "more_alerts": max(0, alerts.open - len(attention)),
        "mutes": MUTES,
        "tiles": tiles,
        "nothing_leaves": not any(each.badge == "up" for each in tiles),
        "queued": sum(each.lane.queue or 0 for each in tiles),
        "oldest_ms": max(
            (each.oldest_ms for each in tiles if each.oldest_ms is not None), default=None
        ),
        "waits_long_ms": WAITS_LONG_MS,
        "share_now": _share(overview.last_hour),
        "share_before": _share(overview.last_hour_yesterday),
        "behind_ms": _since(request, overview.webhooks.oldest),
        "failures": [
            (cause_markup(request.formats, each.cause) or each.text, each)
            for each in overview.failures
        ],
        "machine": _machine(overview.machine),
    }


async def _page_values(request: PageRequest) -> dict[str, Any]:
    """With what is drawn once, and not again while somebody looks."""
    return {**await _values(request), **await of_overview(request)}


async def of_system(request: PageRequest) -> dict[str, Any]:
    """For the page of the service and its machine: the mails that wait."""
    return {"mails": (await request.ask(SERVICE, count=1)).mails}


def _share(flow: Flow) -> float | None:
    """The delivered share of all finished messages."""
    ended = flow.delivered + flow.undelivered + flow.failed
    return flow.delivered / ended if ended else None


def _since(request: PageRequest, at: int | None) -> int | None:
    return None if at is None else max(0, request.formats.now_ms - at)


def _machine(machine: Machine) -> dict[str, Any]:
    total, free = machine.disk_total_bytes or 0, machine.disk_free_bytes or 0
    database = machine.database_bytes or 0
    return {
        "used_gib": (total - free) / _GIB,
        "total_gib": total / _GIB,
        "used": round(1000 * (total - free) / total) if total else 0,
        "database_gib": database / _GIB,
        "database": round(1000 * database / total) if total else 0,
        "backup_at": None if machine.backup is None else machine.backup.at,
    }


async def acknowledge(request: PageRequest) -> TrioResponse:
    """Acknowledge an alert."""
    try:
        await request.ask(records.ACKNOWLEDGE, alert_id=request.arguments["alert_id"])
    except Refusal as error:
        return await request.again("overview/show.html", error, await _page_values(request))
    return request.go(PAGE, SEEN)


async def mute(request: PageRequest) -> TrioResponse:
    """Silence an alert for a time."""
    form = request.form
    minutes = form.text("minutes")
    arguments = {
        "kind": form.text("kind"),
        "minutes": int(minutes) if minutes.isdecimal() else minutes,
    }
    if form.text("subject"):
        arguments["subject"] = form.text("subject")
    try:
        await request.ask(records.MUTE, **arguments)
    except Refusal as error:
        return await request.again("overview/show.html", error, await _page_values(request))
    return request.go(PAGE, MUTED)


ROUTES: Final = (
    PageRoute(
        path=PAGE,
        view=shows("overview/show.html", _page_values),
        access=PageAccess.OPERATOR,
        needs=SERVICE,
    ),
    PageRoute(path=f"{PAGE}/live", view=live, access=PageAccess.OPERATOR, needs=SERVICE),
    PageRoute(
        path="/operator/alerts/<alert_id>/acknowledge",
        view=acknowledge,
        access=PageAccess.OPERATOR,
        needs=records.ACKNOWLEDGE,
        method="POST",
    ),
    PageRoute(
        path="/operator/alerts/mute",
        view=mute,
        access=PageAccess.OPERATOR,
        needs=records.MUTE,
        method="POST",
    ),
)
