"""The service and its machine: disk, database, backup, clock, settings, mail and plugins."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.config.model import Settings
from risala.config.secrets import redact
from risala.dataclass import dataclass
from risala.engine.features.alerts import records
from risala.engine.model.records.upkeep.service import SYSTEM, BackupNote, SystemFacts
from risala.http.operator.alerts import shown_alerts
from risala.http.web.face import PageAccess
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

BACKUP_OLD_MS: Final = 2 * 86_400_000
"""With one backup a day, an older one means that one was missed."""
DISK_FULL: Final = 0.9
ALERTS_SHOWN: Final = 5
_GIB: Final = 1 << 30
_MIB: Final = 1 << 20


async def show(request: PageRequest) -> TrioResponse:
    facts = await request.ask(SYSTEM)
    alerts = await request.ask(records.LIST, limit=ALERTS_SHOWN)
    settings = shown_settings(request.site.settings)
    return await request.page(
        "system/show.html",
        facts=facts,
        disk=_disk(facts),
        size=lambda bytes_: _size(request, bytes_),
        backup_is_old=_is_old(request, facts.backup),
        mailer=request.site.settings.mail.mailer,
        has_mailer=request.site.gateway.people.has_mailer,
        alerts=shown_alerts(request, alerts.alerts),
        open_alerts=alerts.open,
        **{"rules": [], "mails": None, **await request.of_features("system")},
        changed=[each for each in settings if not each.is_usual],
        settings=settings,
    )


def _disk(facts: SystemFacts) -> dict[str, Any] | None:
    """The used share of the disk; None: unknown."""
    total, free = facts.disk_total_bytes, facts.disk_free_bytes
    if not total or free is None:
        return None
    used = (total - free) / total
    return {"used": round(1000 * used), "free": free, "is_full": used > DISK_FULL}


def _size(request: PageRequest, size: int | None) -> Markup:
    if size is None:
        return Markup("–")
    if size >= _GIB:
        return request.words("{n} GiB", n=request.formats.num(size / _GIB, 1))
    return request.words("{n} MiB", n=request.formats.num(size / _MIB, 1))


def _is_old(request: PageRequest, backup: BackupNote | None) -> bool:
    return backup is None or request.formats.now_ms - backup.at > BACKUP_OLD_MS


ROUTES: Final = (
    PageRoute(path="/operator/system", view=show, access=PageAccess.OPERATOR, needs=SYSTEM),
)


# The settings in use, as an operator may see them on a page: without secrets, and of a foreign
# address only the host, as its path may be a secret.

_USUAL: Final = Settings()


@dataclass(frozen=True, slots=True)
class ShownSetting:
    name: str
    """The setting's name in the file: ``http.port``."""
    value: str
    """Empty: it is not set."""
    is_usual: bool
    """The default."""


def shown_settings(settings: Settings) -> list[ShownSetting]:
    """All settings, in the order of the file."""
    usual = dict(_flat("", _USUAL.model_dump(mode="json")))
    return [
        ShownSetting(name, _text(redact({name: value})[name]), usual.get(name) == value)
        for name, value in _flat("", settings.model_dump(mode="json"))
    ]


def _flat(before: str, table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            yield from _flat(f"{name}.", value)
        else:
            yield name, value


def _text(value: object) -> str:
    if value is None or value in ("", []):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return _address(str(value))


def _address(text: str) -> str:
    """A text; a foreign address without its path."""
    parts = urlsplit(text) if "://" in text else None
    if parts is None or (parts.path in ("", "/") and not parts.query):
        return text
    return f"{parts.scheme}://{parts.hostname}/…"
