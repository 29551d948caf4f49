"""The history of alerts, and those that are silenced for a time."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.alerts import records
from risala.engine.features.alerts.records import AlertView
from risala.http.operator.alerts import shown_alerts
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, NC_
from risala.http.web.lists import choice, cursors, pager_of
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

KINDS: Final = {
    "carrier_down": NC_("alert", "Carrier down"),
    "queue_old": NC_("alert", "Queue too old"),
    "receipts_missing": NC_("alert", "No receipts"),
    "ends_missing": NC_("alert", "Ends no messages"),
    "delivery_low": NC_("alert", "Few delivered"),
    "approval_low": NC_("alert", "Few codes entered"),
    "codes_abused": NC_("alert", "Codes abused"),
    "codes_unentered": NC_("alert", "Codes not entered"),
    "codes_pumped": NC_("alert", "Codes pumped"),
    "balance_low": NC_("alert", "Balance low"),
    "sim_balance_low": NC_("alert", "SIM balance low"),
    "quota_low": NC_("alert", "Quota nearly used"),
    "disk_low": NC_("alert", "Disk nearly full"),
    "backup_old": NC_("alert", "Backup too old"),
    "inbound_unserved": NC_("alert", "Inbound number without an organization"),
    "numbers_unserved": NC_("alert", "Numbers without a carrier"),
    "sign_in_failing": NC_("alert", "Sign-ins fail"),
    "errors": NC_("alert", "Errors"),
    "clock_jumped": NC_("alert", "Clock jumped"),
    "sink_behind": NC_("alert", "Event sink behind"),
    "storage_full": NC_("alert", "Organization's storage full"),
    "item_set_aside": NC_("alert", "Item set aside"),
    "standby_behind": NC_("alert", "Standby behind"),
    "standby_copy": NC_("alert", "Standby's copy broken"),
    "standby_silent": NC_("alert", "Second machine silent"),
    "standby_async": NC_("alert", "Answers do not wait"),
    "trail_broken": NC_("alert", "Audit trail changed"),
}
STATES: Final = {"": None, "open": True, "over": False}
UNMUTED: Final = N_("Notices are sent again.")
ROWS: Final = 50
_PAGE: Final = "/operator/system/alerts"


async def show(request: PageRequest) -> TrioResponse:
    query = request.form.filled("kind", "state")
    arguments: dict[str, Any] = {"limit": ROWS, "kind": query.get("kind")}
    arguments["open"] = STATES[query.get("state", "")]
    if before := request.form.text("before"):
        arguments["before"] = before
    page = await request.ask(records.LIST, **arguments)
    return await request.page(
        "system/alerts.html",
        alerts=shown_alerts(request, page.alerts),
        lasted_ms=_lasted_ms,
        mutes=page.mutes,
        open_alerts=page.open,
        query=query,
        kinds=KINDS,
        pager=pager_of(_PAGE, query, newer=None, older=page.next),
    )


def _lasted_ms(alert: AlertView) -> int | None:
    """How long the alert lasted; None: it still does."""
    return None if alert.over_at is None else (alert.over_at - alert.raised_at) // 1000 * 1000


async def unmute(request: PageRequest) -> TrioResponse:
    await request.ask(records.UNMUTE, mute_id=request.form.text("mute_id"))
    return request.go(_PAGE, UNMUTED)


FILTERS: Final = (
    choice("kind", N_("Type"), KINDS),
    choice("state", N_("State"), STATES),
    *cursors("before"),
)
ROUTES: Final = (
    PageRoute(
        path=_PAGE,
        view=show,
        access=PageAccess.OPERATOR,
        needs=records.LIST,
        filters=FILTERS,
    ),
    PageRoute(
        path=f"{_PAGE}/unmute",
        view=unmute,
        access=PageAccess.OPERATOR,
        needs=records.UNMUTE,
        method="POST",
    ),
)
