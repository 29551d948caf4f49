"""One key: its facts, its requests to the API, its clients' addresses, and replacing its value."""

from __future__ import annotations

import json
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.request_log import records as requests
from risala.engine.features.request_log.records import ListedRequests
from risala.engine.model.errors import NotFound, Refusal
from risala.engine.model.records import keys
from risala.engine.model.records.keys import ApiKey, KeyChallenge, KeyType
from risala.http.dashboard.keys.listing import DAY_MS, IDLE_DAYS, id_of, view_of
from risala.http.web.charts import Bar
from risala.http.web.editing.declared import DeclaredForm
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.lists import choice, cursors, pager_of
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

CHANGED: Final = N_("The key is changed.")
ENDED: Final = N_("The old value no longer works.")
PATHS: Final = (
    *("/api/sms", "/api/sms/batch", "/api/sms/get"),
    *("/api/verify/send", "/api/verify/check", "/api/verify/get"),
)
"""Filters of the log: the paths that need a key."""
STATUSES: Final = ("2xx", "4xx", "5xx")
OVERLAPS_S: Final = (0, 3600, 86_400, 7 * 86_400)
"""How long the previous value may stay valid, as the form offers it."""
OVERLAP_S: Final = 86_400
"""The default: a day to put the new value in its place."""
TABS: Final = ("security", "settings")
"""The tabs of a key beside that of its requests; each has a form of its own."""
SECURITY: Final = ("allowed_addresses", "allowed_origins")
"""The settings that say who may use a key, and from where."""
_SHOWN: Final = 50
_COUNTED: Final = 100
"""New requests that are counted at most while a page is open."""


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, object]:
    """The values of the page of a key; with those of a refused form."""
    key_id = id_of(request)
    shown, version = await request.ask_to_edit(keys.SHOW, key_id=key_id)
    key = view_of(request, shown)
    filters = _asked(request)
    cursors = request.form.filled("before", "after")
    page = await _page(request, filters, cursors)
    if not page.requests and cursors:
        cursors, page = {}, await _page(request, filters, {})
    tab = request.form.text("tab") if error is None else request.form.text("part", TABS[0])
    path = f"/app/{request.organization_id}/keys/{key.id}"
    query = {**_mode(request), **filters}
    newest = page.requests[0].request_id if page.requests else ""
    form, typed = _form_of(shown, tab), None if error is None else request.form
    expires, challenge = _expires(request, shown), _challenge(request, shown)
    beside = {"expires_at": expires, **({} if challenge is None else {"challenge": challenge})}
    if tab == "settings":
        beside = {}
    stored = {**form.stored(request.words, shown), **beside}
    return {
        "key": key,
        "tab": tab,
        "shows_all": bool(filters or cursors or request.form.text("rows")),
        **_answers(request, page),
        "places": (await request.ask(keys.PLACES, key_id=key_id)).places,
        "log": page,
        "asked": filters,
        "paths": [(each, each) for each in PATHS],
        "pager": pager_of(path, query, newer=page.newer, older=page.older),
        "is_newest": not cursors and not tab,
        "live_at": request.at(f"keys/{key.id}/live", **filters, seen=newest),
        "is_idle": key.enabled and key.idle_ms > IDLE_DAYS * DAY_MS,
        "idle_days": key.idle_ms // DAY_MS,
        "overlaps": [(str(each), overlap_text(request, each)) for each in OVERLAPS_S],
        "overlap": str(OVERLAP_S),
        "labels": {
            **form.labels(request.words),
            **{name: each.label for name, each in beside.items()},
        },
        "expires_at": expires.value if typed is None else typed.text("expires_at"),
        "challenge": challenge,
        "challenges": [(each.value, request.words(text)) for each, text in _CHALLENGES.items()],
        "chosen_challenge": shown.challenge if typed is None else typed.text("challenge"),
        "fields": form.drawn(request.words, shown, typed),
        **edit(error, typed, version or 0, stored),
    }


def _expires(request: PageRequest, key: ApiKey) -> StoredField:
    """When the key expires, as the form has it."""
    at = key.expires_at
    text = "" if at is None else request.formats.field_text(at)
    return StoredField(request.words("Expires"), text)


_CHALLENGES: Final = {
    KeyChallenge.NEVER: N_("Never"),
    KeyChallenge.WHEN_SUSPICIOUS: N_("When a request is suspicious"),
    KeyChallenge.ALWAYS: N_("Before each code"),
}


def _challenge(request: PageRequest, key: ApiKey) -> StoredField | None:
    """When the key asks for a challenge, as the form has it; None: it is a secret one."""
    if key.type is KeyType.SECRET:
        return None
    words = request.words
    shown = words(_CHALLENGES[key.challenge])
    return StoredField(words("Challenge before a code"), key.challenge.value, shown)


def _form_of(key: ApiKey, part: str) -> DeclaredForm:
    """The settings of a key in one of its two forms, or all of them: a secret one has no origins, a
    publishable one no sends."""
    other = "allowed_origins" if key.type is KeyType.SECRET else "without_id"
    names = tuple(name for name in keys.SETTINGS if name != other)
    if part in TABS:
        names = tuple(name for name in names if (name in SECURITY) == (part == "security"))
    return DeclaredForm(ApiKey, names)


def _answers(request: PageRequest, page: ListedRequests) -> dict[str, object]:
    """The chart of a key's answers a day; empty without a request."""
    days = (
        page.days if any(each.successful + each.refused + each.failed for each in page.days) else ()
    )
    names = [request.formats.date_text(each.at) for each in days]
    return {
        "answer_bars": [Bar((each.successful, 0, each.refused, each.failed)) for each in days],
        "answer_days": names,
        "answer_places": [names[0], names[-1]] if len(names) > 1 else names,
    }


async def _key(request: PageRequest) -> ApiKey:
    return await request.ask(keys.SHOW, key_id=id_of(request))


async def _page(
    request: PageRequest, filters: dict[str, str], cursors: dict[str, str]
) -> ListedRequests:
    arguments: dict[str, object] = {"key_id": id_of(request), "limit": _SHOWN, **filters}
    if not cursors and not request.form.text("tab"):
        arguments["by_day"] = True
    return await request.ask_here(requests.LIST, **arguments, **cursors)


def _asked(request: PageRequest) -> dict[str, str]:
    """The valid filters of the log."""
    filters = {}
    if (status := request.form.text("status")) in STATUSES:
        filters["status"] = status
    if (path := request.form.text("path")) in PATHS:
        filters["path"] = path
    return filters


def _mode(request: PageRequest) -> dict[str, str]:
    return {"mode": "test"} if request.mode.value == "test" else {}


def overlap_text(request: PageRequest, seconds: int) -> str:
    """One of the times that the form offers."""
    words, hours = request.words, seconds // 3600
    if not seconds:
        return words("Not at all: it was exposed")
    if hours < 24:
        return words.counted("{n} hour", "{n} hours", hours, n=request.formats.num(hours))
    days = hours // 24
    return words.counted("{n} day", "{n} days", days, n=request.formats.num(days))


def overlap_of(request: PageRequest) -> int:
    """The chosen time, in seconds."""
    chosen = request.form.text("overlap", str(OVERLAP_S))
    return int(chosen) if chosen in map(str, OVERLAPS_S) else OVERLAP_S


async def live(request: PageRequest) -> TrioResponse:
    """Shows how many requests came since the page was drawn; the list itself does not move."""
    filters, seen = _asked(request), request.form.text("seen")
    cursors: dict[str, str] = {"after": seen} if seen else {}
    key_id = id_of(request)
    await _key(request)  # a missing key, or one of another organization, opens no stream

    async def draw(_: object) -> str:
        page = await request.ask_here(
            requests.LIST, key_id=key_id, limit=_COUNTED, **filters, **cursors
        )
        count = len(page.requests)
        return await request.drawn(
            "keys/fresh.html",
            {"count": count, "is_more": count == _COUNTED, "key_id": key_id, "asked": filters},
        )

    return request.live(draw, by_time=True)


async def show_request(request: PageRequest) -> TrioResponse:
    """The request and its answer, as far as they are kept."""
    key = await _key(request)
    shown = await request.ask_here(requests.SHOW, request_id=request.arguments["request_id"])
    if shown.key_id != key.id:
        raise NotFound("There is no such request of this key.")
    return await request.page(
        "keys/request.html",
        key=view_of(request, key),
        logged=shown,
        question=_pretty(shown.asked),
        answer=_pretty(shown.answered),
    )


def _pretty(body: object) -> str | None:
    return None if body is None else json.dumps(body, indent=2, ensure_ascii=False)


async def change(request: PageRequest) -> TrioResponse:
    """The settings of the key."""
    key_id, form = id_of(request), request.form
    key = await _key(request)
    changes = _form_of(key, form.text("part")).given(form)
    typed = form.text("expires_at")
    # What is as it was is not asked for: of a key that has expired, it would be refused.
    if "expires_at" in form.fields and typed != _expires(request, key).value:
        changes["expires_at"] = request.formats.with_zone(typed) if typed else None
    if "challenge" in form.fields and key.type is KeyType.PUBLISHABLE:
        changes["challenge"] = form.text("challenge")
    try:
        await request.ask(keys.SET, key_id=key_id, **changes, **as_seen(form))
    except Refusal as error:
        return await request.again("keys/one.html", error, await _values(request, error))
    return request.go(_home(request, form.text("part")), CHANGED)


async def rotate(request: PageRequest) -> TrioResponse:
    """Give the key another value, which is shown once."""
    try:
        made = await request.ask(keys.ROTATE, key_id=id_of(request), overlap_s=overlap_of(request))
    except Refusal as error:
        look = {**await _values(request), "tab": "security"}
        return await request.again("keys/one.html", error, look)
    return await request.page(
        "keys/rotated.html", is_secret=True, key=view_of(request, made.key), value=made.value
    )


async def end_old(request: PageRequest) -> TrioResponse:
    await request.ask(keys.END_OLD, key_id=id_of(request))
    return request.go(_home(request), ENDED)


def _home(request: PageRequest, tab: str = "") -> str:
    return request.at(f"keys/{id_of(request)}", **({"tab": tab} if tab in TABS else {}))


FILTERS: Final = (
    choice("status", N_("Answer"), STATUSES),
    choice("path", N_("Path"), PATHS),
    choice("tab", N_("Page"), TABS),
    choice("rows", N_("Rows"), ("all",)),
    *cursors(),
)
_KEY: Final = "/app/<org>/keys/<key_id>"
ROUTES: Final = (
    PageRoute(
        path=_KEY, view=shows("keys/one.html", _values), access=PageAccess.VIEWER, filters=FILTERS
    ),
    PageRoute(path=f"{_KEY}/live", view=live, access=PageAccess.VIEWER, filters=FILTERS),
    PageRoute(path=f"{_KEY}/requests/<request_id>", view=show_request, access=PageAccess.VIEWER),
    PageRoute(path=_KEY, view=change, access=PageAccess.DEVELOPER, method="POST"),
    PageRoute(
        path=f"{_KEY}/rotate", view=rotate, access=PageAccess.DEVELOPER, method="POST", once=True
    ),
    PageRoute(path=f"{_KEY}/end-old", view=end_old, access=PageAccess.DEVELOPER, method="POST"),
)
