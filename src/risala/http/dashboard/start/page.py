"""The first page after sign-up: it sends a first message itself, and shows the same request as a
program in each language.

*Run* sends a test message by the reader's session, with the number and the text of the form. An
organization without a test key gets one too: its value stands in the programs of that answer, and
on no page after it.
"""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.overview import records as figures
from risala.engine.features.overview.records import FirstSteps
from risala.engine.model.errors import EngineError, NotFound, Refusal
from risala.engine.model.following import What
from risala.engine.model.records import keys, messages
from risala.engine.model.records.keys import ApiKey, CreatedKey, KeyType
from risala.engine.model.records.messages import MessageStory
from risala.engine.model.records.verify.settings import CONFIG
from risala.engine.model.states import Mode
from risala.http.dashboard.snippets import TEXT, number_of, send_snippets, verifying
from risala.http.dashboard.start.steps import steps_of
from risala.http.dashboard.verify.settings import offers_language
from risala.http.web.face import PageAccess
from risala.http.web.messages.journey import story_of
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

_PAGE: Final = "start/show.html"
_SENT: Final = "sent"
"""The field of the address with the message that the page shows."""


async def show(request: PageRequest) -> TrioResponse:
    steps = await request.ask_here(figures.STEPS)
    story = await _story(request, request.form.text(_SENT) or _first_of(steps))
    return await request.page(_PAGE, await _values(request, steps, story))


async def run(request: PageRequest) -> TrioResponse:
    """Send the message of the form, and make a test key where there is none."""
    form = request.form
    arguments = {"to": form.text("to"), "body": form.text("body"), "mode": Mode.TEST.value}
    try:
        sent = await request.ask_here(messages.SEND, **arguments)
    except Refusal as error:
        steps = await request.ask_here(figures.STEPS)
        return await request.again(
            _PAGE, error, {**await _values(request, steps, None), "form": form}
        )
    created = await _new_key(request) if await _test_key(request) is None else None
    if created is None:
        return request.go(request.at("start", **{_SENT: sent.message_id}))
    steps = await request.ask_here(figures.STEPS)
    values = await _values(request, steps, await _story(request, sent.message_id), created)
    return await request.page(_PAGE, values, is_secret=True)


async def live(request: PageRequest) -> TrioResponse:
    """Steps tick themselves, and the message arrives. A new key, an arrived webhook and a top-up
    cause no event, so the stream also checks now and then."""

    async def draw(_: object) -> str:
        steps = await request.ask_here(figures.STEPS)
        story = await _story(request, request.form.text(_SENT))
        return await request.drawn("start/piece.html", _changing(request, steps, story))

    return request.live(draw, What.LIFE | What.EVENTS, by_time=True)


async def _new_key(request: PageRequest) -> CreatedKey | None:
    """A test key; None: there is none, and the message is sent all the same."""
    arguments = {"type": KeyType.SECRET.value, "mode": Mode.TEST.value, "without_id": False}
    try:
        return await request.ask_here(
            keys.CREATE, **arguments, name=str(request.words("Quick start"))
        )
    except EngineError:
        return None


async def _test_key(request: PageRequest) -> ApiKey | None:
    """The newest test key by which programs send."""
    listed = (await request.ask_here(keys.LIST)).keys
    able = [each for each in listed if each.type is KeyType.SECRET and each.mode is Mode.TEST]
    return max(
        (each for each in able if each.enabled), key=lambda each: each.created_at, default=None
    )


def _first_of(steps: FirstSteps) -> str:
    """The test message that a page shows whose address names none; empty: no message."""
    message = steps.message
    return message.id if message is not None and message.mode == Mode.TEST else ""


async def _story(request: PageRequest, message_id: str) -> MessageStory | None:
    """A test message of this organization; None: there is none, or it is a code, or not a test."""
    if not message_id:
        return None
    try:
        shown = await request.ask(messages.SHOW, message_id=message_id)
    except NotFound:
        return None
    message = shown.message
    is_ours = message.organization_id == request.organization_id
    return shown if is_ours and message.mode is Mode.TEST and message.kind != "code" else None


def _changing(
    request: PageRequest, first_steps: FirstSteps, story: MessageStory | None
) -> dict[str, object]:
    """The values of what changes by itself."""
    steps = steps_of(request, first_steps)
    values = {} if story is None else story_of(request.formats, story.message, story.timeline)
    return {
        "message": None,
        **values,
        "steps": steps,
        "done": sum(step.state == "done" for step in steps),
        "has_delivered": first_steps.delivered,
    }


async def _values(
    request: PageRequest,
    steps: FirstSteps,
    story: MessageStory | None,
    created: CreatedKey | None = None,
) -> dict[str, object]:
    number, text = number_of(request.plan, is_test=True), TEXT
    if story is not None and story.message.body is not None:
        number, text = story.message.to, story.message.body
    value = None if created is None else created.value
    key = await _test_key(request)
    sent = {} if story is None else {_SENT: story.message.id}
    return {
        **_changing(request, steps, story),
        "form": None,
        "number": number,
        "text": text,
        "key_shown": None if key is None else f"sk_test_…{key.last4}",
        "value": value,
        "live_at": request.at("start/live", **sent),
        "again_at": request.at("start", **sent),
        "sending": send_snippets(request.base_url, number, body=text, test_key=value),
        "verifying": verifying(request.base_url, number_of(request.plan, is_test=True)),
        "offers_language": steps.delivered
        and offers_language(request, (await request.ask_here(CONFIG)).settings),
    }


ROUTES: Final = (
    PageRoute(path="/app/<org>/start", view=show, access=PageAccess.VIEWER),
    PageRoute(
        path="/app/<org>/start", view=run, access=PageAccess.DEVELOPER, method="POST", once=True
    ),
    PageRoute(path="/app/<org>/start/live", view=live, access=PageAccess.VIEWER),
)
