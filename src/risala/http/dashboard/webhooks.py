"""Webhooks: endpoints, the result of each delivery, and repeating deliveries."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Conflict, Invalid, Refusal
from risala.engine.model.events import EventType
from risala.engine.model.following import What
from risala.engine.model.records import webhooks
from risala.engine.model.records.record import shallow
from risala.engine.model.records.webhooks import Endpoint, EndpointWithSecret
from risala.http.dashboard.webhook_choice import (
    SHAPE_CHOICES,
    SHAPE_FAULTS,
    USUAL,
    EventChoice,
    choices_of,
    groups_of,
    shape_holes,
)
from risala.http.dashboard.webhook_health import health_of, no_answer, runs_of, strip_of
from risala.http.web.editing.declared import DeclaredForm
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import PageAccess
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_, Words
from risala.http.web.lists import choice, counts, pager_of
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import faults_of
from risala.http.web.routes import PageRoute, shows

CHANGED: Final = N_("The endpoint is changed.")
DISABLED: Final = N_("The endpoint is disabled: nothing goes there from now on.")
ENABLED: Final = N_("The endpoint receives again.")
DELETED: Final = N_("The endpoint is deleted.")
TESTED: Final = N_("The test event is on its way: it is at the top of the deliveries.")
REPLAYED: Final = N_("The delivery is sent again.")
ALL_REPLAYED: Final = N_("All deliveries that have failed since then are sent again.")
STATES: Final = ("failed", "pending", "delivered")
"""The filters of deliveries."""
TABS: Final = ("settings",)
"""The tabs of an endpoint beside that of its deliveries."""
_SHOWN: Final = 25
_CHUNKS: Final = 5
"""Chunks of a replay in one answer: a thousand deliveries; then the progress is shown."""


async def show_all(request: PageRequest) -> TrioResponse:
    listed = (await request.ask_here(webhooks.LIST)).endpoints
    shown = [
        await request.ask_here(webhooks.SHOW, endpoint_id=each.id)
        for each in listed
        if each.mode == request.mode.value
    ]
    return await request.page(
        "webhooks/list.html",
        endpoints=[(each.endpoint, each.last_days, strip_of(each.health)) for each in shown],
    )


def _choices(request: PageRequest) -> tuple[EventChoice, ...]:
    return choices_of(request.plan, request.organization.currency)


async def show_new(request: PageRequest) -> TrioResponse:
    return await request.page("webhooks/new.html", _drawn(request, None, SentForm()), chosen=USUAL)


DECODED: Final = "signature_decoded"
"""The box that says it of the signature's key."""
_FORM: Final = DeclaredForm(Endpoint, webhooks.SETTINGS)
_OTHERS: Final = ("types", "headers", "signature_key", "shape", "template", "may_reply")
_TEXTS: Final = tuple(name for name in webhooks.SETTINGS if name not in _OTHERS)
"""The settings that are sent as they are typed."""
"""The fields of one line."""


def _drawn(
    request: PageRequest, endpoint: Endpoint | None, typed: SentForm | None
) -> dict[str, object]:
    """The fields and choices of the form, with the typed values, else with the stored ones."""
    return {
        "drawn": {each.name: each for each in _FORM.drawn(request.words, endpoint, typed)},
        "labels": _FORM.labels(request.words),
        "is_decoded": _is_decoded(endpoint) if typed is None else typed.ticked(DECODED),
        "groups": groups_of(_choices(request)),
        "shapes": [(name, request.words(label)) for name, label in SHAPE_CHOICES],
        "shape_holes": shape_holes(request),
    }


async def create(request: PageRequest) -> TrioResponse:
    form = request.form
    values = {"chosen": form.all("types"), **_drawn(request, None, form)}
    try:
        settings = _settings(request)
        made = await request.ask_here(webhooks.CREATE, mode=request.mode.value, **settings)
    except Refusal as error:
        return await request.wrong("webhooks/new.html", _faults(request, error), values)
    return await _secret_shown(request, made)


def _settings(request: PageRequest) -> dict[str, object]:
    """The arguments from the form, as far as its sender may give them.

    Raises:
        Invalid: a line of the headers is malformed.
    """
    form = request.form
    settings: dict[str, object] = {
        **{name: form.text(name) for name in _TEXTS},
        "types": list(form.all("types")),
        "signature_key": "decoded" if form.ticked(DECODED) else "text",
        "shape": form.text("shape", "event"),
        "template": "\n".join(form.text("template").splitlines()),
        **({"may_reply": form.ticked("may_reply")} if request.may("owner") else {}),
    }
    if settings["shape"] != "event":
        settings["types"] = [EventType.SMS_RECEIVED.value]
    headers: dict[str, str] = {}
    for line in form.lines("headers"):
        name, colon, value = line.partition(":")
        if not colon:
            raise Invalid("headers", "invalid_header", "A header has a name and a value.")
        headers[name.strip()] = value.strip()
    # Stored values are never shown: an empty field keeps them.
    if headers or form.ticked("no_headers"):
        settings["headers"] = headers
    return settings


def _faults(request: PageRequest, error: Refusal) -> dict[str, Markup]:
    """The errors of the form; typed headers are not shown again."""
    faults = faults_of(request.words, error, request.plan)
    for fault in error.faults if isinstance(error, Invalid) else ():
        if fault.code in SHAPE_FAULTS:
            faults[fault.path] = request.words(SHAPE_FAULTS[fault.code], **shape_holes(request))
    if "signature_header" in faults:
        faults["signature_header"] = request.words(
            "The name of a header looks like {example}. Some names are reserved, and your own "
            "headers cannot be used.",
            example=request.code("X-Service-Signature"),
        )
    if "headers" in faults:
        faults["headers"] = request.words(
            "A header looks like {example}. One a line, at most ten; some names are reserved.",
            example=request.code("Authorization: Bearer …"),
        )
    elif request.form.text("headers"):
        faults["headers"] = request.words("Write the headers again: they are not shown again.")
    return faults


async def _secret_shown(request: PageRequest, made: EndpointWithSecret) -> TrioResponse:
    return await request.page("webhooks/secret.html", shallow(made), is_secret=True)


async def live(request: PageRequest) -> TrioResponse:
    """The newest deliveries, drawn again: the reader sees a waiting one arrive."""
    await request.ask_here(webhooks.SHOW, endpoint_id=_id(request))  # before the stream: or 404

    async def draw(_: object) -> str:
        return await request.drawn("webhooks/pieces.html", await _page_of(request))

    return request.live(draw, What.EVENTS, by_time=True)


async def _page_of(
    request: PageRequest, error: Refusal | None = None, typed: SentForm | None = None
) -> dict[str, object]:
    """Everything on the page of one endpoint.

    Args:
        typed: its form, if the page is drawn because that was refused.
    """
    shown, version = await request.ask_to_edit(
        webhooks.SHOW, organization_id=request.organization_id, endpoint_id=_id(request)
    )
    state = request.form.text("state")
    arguments: dict[str, object] = {"endpoint_id": _id(request), "limit": _SHOWN}
    if state:
        arguments["state"] = state
    arguments |= {
        name: place for name in ("before", "after") if (place := _whole(request.form.text(name)))
    }
    page = await request.ask_here(webhooks.DELIVERIES, **arguments)
    query = request.form.filled("mode", "state")
    path = f"/app/{request.organization_id}/webhooks/{_id(request)}"
    newer, older = (None if each is None else str(each) for each in (page.after, page.before))
    event_id = request.form.text("event") if request.http.method == "GET" else ""
    tab = request.form.text("tab") if typed is None else "settings"
    return {
        **shallow(shown),
        **health_of(request, shown.health),
        "tab": tab,
        "state": state,
        "deliveries": runs_of(page.deliveries, apart=state == "failed"),
        "pager": pager_of(path, query, newer=newer, older=older),
        "live_at": None
        if newer or tab
        else request.at(f"webhooks/{_id(request)}/live", state=state),
        **(await _opened(request, event_id) if event_id and not tab else {"opened": None}),
        "no_answer": partial(no_answer, request.words),
        "since": request.form.text("since")[: len("2026-11-21T08:30")]
        or request.formats.field_text(request.formats.now_ms - 86_400_000),
        **_drawn(request, shown.endpoint, typed),
        "chosen": shown.endpoint.types if typed is None else typed.all("types"),
        **edit(
            error,
            None if error is None else request.form,
            version or 0,
            _stored(request, shown.endpoint),
        ),
    }


def _stored(request: PageRequest, endpoint: Endpoint) -> dict[str, StoredField]:
    """The editable values of an endpoint, as stored."""
    words = request.words
    stored = _FORM.stored(words, endpoint)
    types = [each.type for each in _choices(request) if each.type in endpoint.types]
    others: dict[str, dict[str, Any]] = {
        "shape": {"shown": words(dict(SHAPE_CHOICES)[endpoint.shape])},
        # A browser sends the lines of a field with these ends.
        "template": {"value": "\r\n".join(endpoint.template.splitlines())},
        "types": {"value": "\n".join(types), "shown": ", ".join(types)},
    }
    if request.may("owner"):  # the form of others does not have it
        others["may_reply"] = _box(words, endpoint.may_reply)
    return {
        **{name: stored[name] for name in _TEXTS},
        DECODED: replace(stored.pop("signature_key"), **_box(words, _is_decoded(endpoint))),
        **{name: replace(stored[name], **more) for name, more in others.items()},
    }


def _box(words: Words, is_ticked: bool) -> dict[str, Any]:
    """The value of a box, as sent and as read."""
    return {
        "value": "yes" if is_ticked else "",
        "shown": words("yes") if is_ticked else words("no"),
    }


def _is_decoded(endpoint: Endpoint | None) -> bool:
    return endpoint is not None and endpoint.signature_key == "decoded"


async def _opened(request: PageRequest, event_id: str) -> dict[str, object]:
    """A delivery, and what features say of it."""
    story = await request.ask_here(webhooks.DELIVERY, endpoint_id=_id(request), event_id=event_id)
    return {"opened": story, "replies": {}, **await request.of_features("delivery", story)}


def _id(request: PageRequest) -> str:
    return request.arguments["endpoint_id"]


def _home(request: PageRequest) -> str:
    return request.at(f"webhooks/{quote(_id(request))}")


async def update(request: PageRequest) -> TrioResponse:
    form = request.form
    try:
        settings = {**_settings(request), **as_seen(form)}
        await request.ask_here(webhooks.UPDATE, endpoint_id=_id(request), **settings)
    except Refusal as error:
        values = await _page_of(request, error, form)
        return await request.wrong("webhooks/one.html", _faults(request, error), values)
    return request.go(request.at(f"webhooks/{quote(_id(request))}", tab="settings"), CHANGED)


async def enable(request: PageRequest) -> TrioResponse:
    await request.ask_here(webhooks.ENABLE, endpoint_id=_id(request))
    return request.go(_home(request), ENABLED)


async def disable(request: PageRequest) -> TrioResponse:
    await request.ask_here(webhooks.DISABLE, endpoint_id=_id(request))
    return request.go(_home(request), DISABLED)


async def send_test(request: PageRequest) -> TrioResponse:
    await request.ask_here(webhooks.TEST, endpoint_id=_id(request))
    return request.go(_home(request), TESTED)


async def rotate(request: PageRequest) -> TrioResponse:
    at_once = request.form.ticked("at_once")
    try:
        made = await request.ask_here(webhooks.ROTATE, endpoint_id=_id(request), at_once=at_once)
    except Refusal as error:
        look = {**await _page_of(request), "tab": "settings"}
        return await request.again("webhooks/one.html", error, look)
    return await _secret_shown(request, made)


async def ask_delete(request: PageRequest) -> TrioResponse:
    shown = await request.ask_here(webhooks.SHOW, endpoint_id=_id(request))
    return await request.page("webhooks/delete.html", shallow(shown))


async def delete(request: PageRequest) -> TrioResponse:
    await request.ask_here(webhooks.DELETE, endpoint_id=_id(request))
    return request.go(request.at("webhooks"), DELETED)


async def replay(request: PageRequest) -> TrioResponse:
    """Replay one delivery; on request of a disabled endpoint, which is enabled first."""
    event_id = request.form.text("event")
    if request.form.ticked("enable"):
        await request.ask_here(webhooks.ENABLE, endpoint_id=_id(request))
    try:
        await request.ask_here(webhooks.REPLAY, endpoint_id=_id(request), event_id=event_id)
    except Conflict as error:
        look = {**await _page_of(request), **await _opened(request, event_id)}
        return await request.again("webhooks/one.html", error, look)
    return request.go(request.at(f"webhooks/{quote(_id(request))}", event=event_id), REPLAYED)


async def replay_failed(request: PageRequest) -> TrioResponse:
    """Replay some chunks; then a page shows the progress, and its button continues. On request a
    disabled endpoint is enabled first."""
    form = request.form
    if form.ticked("enable"):
        await request.ask_here(webhooks.ENABLE, endpoint_id=_id(request))
    since, until = form.text("since"), form.text("until")
    since, end = request.formats.with_zone(since), _whole(until) if until else None
    done, total = _whole(form.text("done")), _whole(form.text("total"))
    for _ in range(_CHUNKS):
        arguments: dict[str, object] = {"endpoint_id": _id(request), "since": since}
        if end is not None:
            arguments["until"] = end
        try:
            step = await request.ask_here(webhooks.REPLAY_FAILED, **arguments)
        except Refusal as error:
            look = await _page_of(request)
            return await request.again("webhooks/one.html", error, look)
        done += step.replayed
        total = max(total if step.total is None else step.total, done)
        if step.done:
            return request.go(_home(request), ALL_REPLAYED)
        end = step.until
    values = {"since": since, "until": end, "done": done, "total": total}
    return await request.page("webhooks/replaying.html", values, endpoint_id=_id(request))


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


_FILTERS: Final = (
    choice("state", N_("State"), STATES),
    choice("tab", N_("Page"), TABS),
    *counts(),
)
_ONE: Final = "/app/<org>/webhooks/<endpoint_id>"


def _acting(path: str, view: Any, *, once: bool = False) -> PageRoute:  # noqa: ANN401 -- a view
    return PageRoute(path=path, view=view, access=PageAccess.DEVELOPER, method="POST", once=once)


ROUTES: Final = (
    PageRoute(path="/app/<org>/webhooks", view=show_all, access=PageAccess.VIEWER),
    _acting("/app/<org>/webhooks", create, once=True),
    PageRoute(path="/app/<org>/webhooks/new", view=show_new, access=PageAccess.DEVELOPER),
    PageRoute(
        path=_ONE,
        view=shows("webhooks/one.html", _page_of),
        access=PageAccess.VIEWER,
        filters=_FILTERS,
    ),
    PageRoute(path=f"{_ONE}/live", view=live, access=PageAccess.VIEWER, filters=_FILTERS),
    _acting(_ONE, update),
    _acting(f"{_ONE}/enable", enable),
    _acting(f"{_ONE}/disable", disable),
    _acting(f"{_ONE}/test", send_test, once=True),
    _acting(f"{_ONE}/rotate", rotate, once=True),
    PageRoute(path=f"{_ONE}/delete", view=ask_delete, access=PageAccess.DEVELOPER),
    _acting(f"{_ONE}/delete", delete),
    _acting(f"{_ONE}/replay", replay),
    _acting(f"{_ONE}/replay-failed", replay_failed),
)
