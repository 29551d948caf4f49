"""The audit trail, page by page: each action, its author, and the changes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup, escape
from quart_trio.wrappers import TrioResponse

from risala.engine.model.records.upkeep import trail
from risala.engine.model.records.upkeep.trail import AuditLine
from risala.http.operator.audit.sentences import name_of, sentence_of
from risala.http.operator.system.alerts import KINDS
from risala.http.web.face import PageAccess
from risala.http.web.formats import ms_of
from risala.http.web.languages import N_, NC_
from risala.http.web.lists import Chip, chips, choice, cursors, days, pager_of, typed
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

FACES: Final = {
    "smpp": NC_("face", "SMPP server"),
    "console": NC_("face", "Console"),
    "dashboard": NC_("face", "Dashboard"),
    "api": NC_("face", "API"),
    "cli": NC_("face", "Command line"),
    "control": NC_("face", "Control socket"),
    "system": NC_("face", "The service itself"),
}
ROLES: Final = {
    "operator": NC_("role", "operator"),
    "owner": NC_("role", "owner"),
    "developer": NC_("role", "developer"),
    "viewer": NC_("role", "viewer"),
    "user": NC_("role", "user"),
}
FILTERS: Final = ("operation", "who", "thing", "face", "since", "until", "views")
ROW_FILTERS: Final = (
    typed("operation", N_("Operation")),
    typed("who", N_("By whom")),
    typed("thing", N_("Id"), "organization_id", "subject"),
    choice("face", N_("From where"), FACES),
    choice("views", N_("What was only read"), ("yes",)),
    *days(),
)
"""The filters that choose rows: a file has no pages."""
LIST_FILTERS: Final = (*ROW_FILTERS, *cursors())
ORGANIZATION: Final = "org_"
"""Prefix of organizations' ids: such an id selects all lines of the organization."""
THINGS: Final = {
    "org": "organizations",
    "snd": "senders",
    "pay": "payments",
    "sms": "messages",
}
"""The pages of the things that lines are about, by how their ids begin."""
ROWS: Final = 50
_ALERTS: Final = "alert."
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z").fullmatch
"""The format of operations' times, which readers see by their own clock."""
_NOTHING: Final[tuple[object, ...]] = (None, "", [])
_CHANGES_SHOWN: Final = 6
"""Shown values of one line; the others are behind a fold."""


async def show(request: PageRequest) -> TrioResponse:
    query = query_of(request)
    cursors = request.form.filled("before", "after")
    page = await request.ask(trail.LIST, limit=ROWS, **asked_for(request, query), **cursors)
    state = await request.ask(trail.STATE)
    return await request.page(
        "audit/list.html",
        page=page,
        state=state,
        days=_by_day(request, page.lines),
        switch_at={
            "": request.at("audit", **{**query, "views": ""}),
            "yes": request.at("audit", **{**query, "views": "yes"}),
        },
        is_by_name="operation" in query,
        query=query,
        faces=[(name, request.words.among("face", word)) for name, word in FACES.items()],
        chips=chips_of(request, query),
        export_at=request.at("audit/export", **query),
        shown_max=_CHANGES_SHOWN,
        pager=pager_of(request.at("audit"), query, newer=page.newer, older=page.older),
    )


def query_of(request: PageRequest) -> dict[str, str]:
    return request.form.filled(*FILTERS)


def asked_for(request: PageRequest, query: Mapping[str, str]) -> dict[str, object]:
    """The filters as arguments of the operations."""
    names = ("operation", "who", "face")
    arguments: dict[str, object] = {name: query[name] for name in names if name in query}
    # Who names an operation wants its lines, whatever it does.
    if "operation" not in query and "views" not in query:
        arguments["changes_only"] = True
    if thing := query.get("thing", ""):
        arguments["organization_id" if thing.startswith(ORGANIZATION) else "subject"] = thing
    for name, later in (("since", 0), ("until", 1)):
        if (at := request.formats.midnight(query.get(name, ""), later)) is not None:
            arguments[name] = at
    return arguments


def chips_of(request: PageRequest, query: Mapping[str, str]) -> list[Chip]:
    words, arguments = request.words, asked_for(request, query)
    labels: dict[str, Markup] = {}
    for name in ("operation", "thing"):
        if name in query:
            labels[name] = request.code(query[name])
    if "who" in arguments:
        labels["who"] = words("By {who}", who=request.name_of(query["who"]))
    if (face := FACES.get(query.get("face", ""))) is not None:
        labels["face"] = words.among("face", face)
    if "since" in arguments:
        labels["since"] = words(
            "Since {date}", date=request.formats.date_text(str(arguments["since"]))
        )
    if "until" in arguments:
        last = ms_of(str(arguments["until"])) - 1
        labels["until"] = words("Until {date}", date=request.formats.date_text(last))
    return chips(labels, query, request.at, "audit")


def _by_day(
    request: PageRequest, lines: Sequence[AuditLine]
) -> list[tuple[Markup, list[dict[str, Any]]]]:
    """The lines under their days."""
    days: list[tuple[Markup, list[dict[str, Any]]]] = []
    for line in lines:
        day = request.formats.day_text(line.at)
        if not days or days[-1][0] != day:
            days.append((day, []))
        days[-1][1].append(_view(request, line))
    return days


def _view(request: PageRequest, line: AuditLine) -> dict[str, Any]:
    """A line as its reader sees it."""
    face, role = line.face, line.role
    alert = _alert_kind(request, line)
    kind = {} if alert is None else {"kind": alert}
    return {
        "line": line,
        "sentence": sentence_of(request, line, _thing(request, line, alert)),
        "face": request.words.among("face", FACES[face]) if face in FACES else face,
        "role": request.words.among("role", ROLES[role]) if role in ROLES else role,
        "changes": _changes(request, line.before or {}, {**(line.after or {}), **kind}),
    }


def _alert_kind(request: PageRequest, line: AuditLine) -> Markup | None:
    """The kind of alerts that a line is about, in words; None: it is about none."""
    kind = (line.after or {}).get("kind") if line.action.startswith(_ALERTS) else None
    return request.words.among("alert", KINDS[kind]) if kind in KINDS else None


def _thing(request: PageRequest, line: AuditLine, alert: Markup | None) -> Markup | None:
    """The thing of a line by its name, which leads to its page, else to its lines."""
    name = name_of(line)
    if name is None:
        return None
    subject = line.subject or line.organization_id
    at = _thing_at(request, subject) or request.at("audit", thing=subject or "")
    return Markup('<a href="{}">{}</a>').format(at, alert or request.name_of(name))


def _thing_at(request: PageRequest, subject: str | None) -> str | None:
    """The page of the thing that a line is about; None: no such page."""
    page = THINGS.get((subject or "").partition("_")[0])
    return request.at(f"{page}/{subject}") if page is not None and request.has(page) else None


def _changes(
    request: PageRequest, before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[tuple[str, Markup | None, Markup]]:
    """The differences: name, old value (None: unknown), and new value."""
    names = [name for name in after if name in before or after[name] not in _NOTHING]
    return [
        (
            name,
            _value(request, before[name]) if name in before else None,
            _value(request, after.get(name)),
        )
        for name in (*(name for name in before if name not in after), *names)
        if name not in before or before[name] != after.get(name)
    ]


def _value(request: PageRequest, value: object) -> Markup:
    """A value of the trail, as readers see it: words for yes, no and nothing."""
    if value in _NOTHING:
        return request.words("nothing")
    if isinstance(value, str) and _TIME(value):
        return request.formats.moment(value)
    if isinstance(value, bool):
        return request.words("yes") if value else request.words("no")
    if isinstance(value, list) and not any(isinstance(each, dict | list) for each in value):
        return Markup(", ").join(Markup("<bdi>{}</bdi>").format(each) for each in value)
    if isinstance(value, dict | list):
        return request.code(json.dumps(value, ensure_ascii=False))
    return Markup("<bdi>{}</bdi>").format(escape(value))


ROUTES: Final = (
    PageRoute(
        path="/operator/audit",
        view=show,
        access=PageAccess.OPERATOR,
        needs=trail.LIST,
        filters=LIST_FILTERS,
    ),
)
