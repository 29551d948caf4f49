"""The service and its machine: disk, database, backup, clock, settings, mail and plugins."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.features.alerts import records
from risala.engine.model.records.upkeep.retention import RULES as RETENTION_RULES
from risala.engine.model.records.upkeep.service import OVERVIEW, SYSTEM, BackupNote, SystemFacts
from risala.http.operator.alerts import shown_alerts
from risala.http.operator.system.settings import shown_settings
from risala.http.web.access import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

RULES: Final = {
    "texts": N_("Texts of messages"),
    "timelines": N_("Timelines of messages"),
    "events": N_("Events and their deliveries"),
    "inbound": N_("Inbound messages"),
}
BACKUP_OLD_MS: Final = 2 * 86_400_000
"""With one backup a day, an older one means that one was missed."""
DISK_FULL: Final = 0.9
ALERTS_SHOWN: Final = 5
_GIB: Final = 1 << 30
_MIB: Final = 1 << 20


async def show(visit: PageRequest) -> TrioResponse:
    found = await visit.ask(SYSTEM)
    overview = await visit.ask(OVERVIEW, count=1)
    alerts = await visit.ask(records.LIST, limit=ALERTS_SHOWN)
    settings = shown_settings(visit.site.settings)
    retention = await visit.ask(RETENTION_RULES)
    return await visit.page(
        "system/show.html",
        found=found,
        disk=_disk(found),
        size=lambda bytes_: _size(visit, bytes_),
        backup_is_old=_is_old(visit, found.backup),
        mails=overview.mails,
        mailer=visit.site.settings.mail.mailer,
        has_mailer=visit.site.gateway.people.has_mailer,
        alerts=shown_alerts(visit, alerts.alerts),
        open_alerts=alerts.open,
        rules=[
            (visit.words(sentence), each)
            for each in retention.rules
            if (sentence := RULES.get(each.name)) is not None
        ],
        changed=[each for each in settings if not each.is_usual],
        settings=settings,
    )


def _disk(found: SystemFacts) -> dict[str, Any] | None:
    """The used share of the disk; None: unknown."""
    total, free = found.disk_total_bytes, found.disk_free_bytes
    if not total or free is None:
        return None
    used = (total - free) / total
    return {"used": round(1000 * used), "free": free, "is_full": used > DISK_FULL}


def _size(visit: PageRequest, size: int | None) -> Markup:
    if size is None:
        return Markup("–")
    if size >= _GIB:
        return visit.words("{n} GiB", n=visit.formats.num(size / _GIB, 1))
    return visit.words("{n} MiB", n=visit.formats.num(size / _MIB, 1))


def _is_old(visit: PageRequest, backup: BackupNote | None) -> bool:
    return backup is None or visit.formats.now_ms - backup.at > BACKUP_OLD_MS


ROUTES: Final = (
    PageRoute(path="/operator/system", view=show, access=PageAccess.OPERATOR, needs=SYSTEM),
)
