"""The first page after sign-up: it sends a first message itself, and shows the same request as a
program in each language.

*Run* sends a test message by the reader's session, with the number and the text of the form. An
organization without a test key gets one too: its value stands in the programs of that answer, and
on no page after it.
"""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import EngineError, NotFound, Refusal
from risala.engine.model.following import What
from risala.engine.model.records import figures, keys, messages
from risala.engine.model.records.figures import FirstSteps
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


async def show(visit: PageRequest) -> TrioResponse:
    found = await visit.ask_here(figures.STEPS)
    story = await _story(visit, visit.form.text(_SENT) or _first_of(found))
    return await visit.page(_PAGE, await _values(visit, found, story))


async def run(visit: PageRequest) -> TrioResponse:
    """Send the message of the form, and make a test key where there is none."""
    form = visit.form
    asked = {"to": form.text("to"), "body": form.text("body"), "mode": Mode.TEST.value}
    try:
        sent = await visit.ask_here(messages.SEND, **asked)
    except Refusal as error:
        found = await visit.ask_here(figures.STEPS)
        return await visit.again(_PAGE, error, {**await _values(visit, found, None), "form": form})
    created = await _new_key(visit) if await _test_key(visit) is None else None
    if created is None:
        return visit.go(visit.at("start", **{_SENT: sent.message_id}))
    found = await visit.ask_here(figures.STEPS)
    values = await _values(visit, found, await _story(visit, sent.message_id), created)
    return await visit.page(_PAGE, values, is_secret=True)


async def live(visit: PageRequest) -> TrioResponse:
    """Steps tick themselves, and the message arrives. A new key, an arrived webhook and a top-up
    cause no event, so the stream also checks now and then."""

    async def draw(_: object) -> str:
        found = await visit.ask_here(figures.STEPS)
        story = await _story(visit, visit.form.text(_SENT))
        return await visit.drawn("start/piece.html", _changing(visit, found, story))

    return visit.live(draw, What.LIFE | What.EVENTS, by_time=True)


async def _new_key(visit: PageRequest) -> CreatedKey | None:
    """A test key; None: there is none, and the message is sent all the same."""
    asked = {"type": KeyType.SECRET.value, "mode": Mode.TEST.value, "without_id": False}
    try:
        return await visit.ask_here(keys.CREATE, **asked, name=str(visit.words("Quick start")))
    except EngineError:
        return None


async def _test_key(visit: PageRequest) -> ApiKey | None:
    """The newest test key by which programs send."""
    found = (await visit.ask_here(keys.LIST)).keys
    able = [each for each in found if each.type is KeyType.SECRET and each.mode is Mode.TEST]
    return max(
        (each for each in able if each.enabled), key=lambda each: each.created_at, default=None
    )


def _first_of(found: FirstSteps) -> str:
    """The test message that a page shows whose address names none; empty: no message."""
    message = found.message
    return message.id if message is not None and message.mode == Mode.TEST else ""


async def _story(visit: PageRequest, message_id: str) -> MessageStory | None:
    """A test message of this organization; None: there is none, or it is a code, or not a test."""
    if not message_id:
        return None
    try:
        found = await visit.ask(messages.SHOW, message_id=message_id)
    except NotFound:
        return None
    message = found.message
    is_ours = message.organization_id == visit.organization_id
    return found if is_ours and message.mode is Mode.TEST and message.kind != "code" else None


def _changing(
    visit: PageRequest, found: FirstSteps, story: MessageStory | None
) -> dict[str, object]:
    """The values of what changes by itself."""
    steps = steps_of(visit, found)
    told = {} if story is None else story_of(visit.formats, story.message, story.timeline)
    return {
        "message": None,
        **told,
        "steps": steps,
        "done": sum(step.state == "done" for step in steps),
        "has_delivered": found.delivered,
    }


async def _values(
    visit: PageRequest,
    found: FirstSteps,
    story: MessageStory | None,
    created: CreatedKey | None = None,
) -> dict[str, object]:
    number, text = number_of(visit.plan, is_test=True), TEXT
    if story is not None and story.message.body is not None:
        number, text = story.message.to, story.message.body
    value = None if created is None else created.value
    key = await _test_key(visit)
    sent = {} if story is None else {_SENT: story.message.id}
    return {
        **_changing(visit, found, story),
        "form": None,
        "number": number,
        "text": text,
        "key_shown": None if key is None else f"sk_test_…{key.last4}",
        "value": value,
        "live_at": visit.at("start/live", **sent),
        "again_at": visit.at("start", **sent),
        "sending": send_snippets(visit.base_url, number, body=text, test_key=value),
        "verifying": verifying(visit.base_url, number_of(visit.plan, is_test=True)),
        "offers_language": found.delivered
        and offers_language(visit, (await visit.ask_here(CONFIG)).settings),
    }


ROUTES: Final = (
    PageRoute(path="/app/<org>/start", view=show, access=PageAccess.VIEWER),
    PageRoute(
        path="/app/<org>/start", view=run, access=PageAccess.DEVELOPER, method="POST", once=True
    ),
    PageRoute(path="/app/<org>/start/live", view=live, access=PageAccess.VIEWER),
)
