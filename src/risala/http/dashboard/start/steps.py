"""The first steps of an organization, which tick themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from markupsafe import Markup

from risala.dataclass import dataclass
from risala.engine.features.overview import records as figures
from risala.engine.features.overview.records import FirstHook, FirstSession, FirstSteps
from risala.engine.model.records.keys import ApiKey
from risala.http.web.face import PageAccess
from risala.http.web.page_request import PageRequest

_DAY_MS: Final = 86_400_000
_NEW_DAYS: Final = 30
"""For so many days an organization is reminded of unfinished steps."""


@dataclass(frozen=True, slots=True)
class FirstStep:
    """A step as its reader sees it."""

    state: str
    title: Markup
    text: object
    href: str | None = None
    """The address where the step is done; None: there is nothing to do, or not for this reader."""
    action: object = ""


async def left_of(request: PageRequest) -> tuple[int, int] | None:
    """How many steps a new organization has done, and of how many; None if it is no longer new, or
    has done all."""
    created_at = request.organization.created_at
    if request.formats.now_ms - created_at > _NEW_DAYS * _DAY_MS:
        return None
    steps = steps_of(request, await request.ask_here(figures.STEPS))
    done = sum(step.state == "done" for step in steps)
    return None if done == len(steps) else (done, len(steps))


def steps_of(request: PageRequest, first_steps: FirstSteps) -> list[FirstStep]:
    """The steps as shown to their reader; a button only if the reader may use it.

    A step that has not begun says no more than its title until the first message has arrived: a
    reader who has not sent one yet has less to read.
    """
    steps = [
        _key(request, first_steps.key),
        _message(request, first_steps),
        _verification(request, first_steps.session),
        _webhook(request, first_steps.webhook),
        *(() if request.is_self_paid else (_money(request, is_paid=first_steps.paid),)),
    ]
    if first_steps.delivered:
        return steps
    return [each if each.state else replace(each, text="") for each in steps]


def _at(request: PageRequest, page: str, access: PageAccess, **query: str) -> str | None:
    """The address of an existing page that the reader may open; else None."""
    return request.at(page, **query) if request.has(page) and request.may(access) else None


def _in_mode(request: PageRequest, page: str, mode: str) -> str:
    """The address of a thing that has one mode, from pages of any mode."""
    return f"/app/{request.organization_id}/{page}{'?mode=test' if mode == 'test' else ''}"


def _key(request: PageRequest, key: ApiKey | None) -> FirstStep:
    words = request.words
    title = words("Create a key")
    if key is None:
        text = words("Your programs send with it. Begin with a test key: it costs nothing.")
        return FirstStep(
            "", title, text, _at(request, "keys/new", PageAccess.DEVELOPER), words("Create")
        )
    name = request.name_of(key.name) if key.name else request.code(f"…{key.last4}")
    text = words("“{name}”, {when}", name=name, when=request.formats.ago(key.created_at))
    return FirstStep("done", title, text)


def _message(request: PageRequest, steps: FirstSteps) -> FirstStep:
    words, formats, message = request.words, request.formats, steps.message
    title = words("Send a message")
    if message is None:
        text = words("From your program, or from here. Test messages reach no phone.")
        href = _at(request, "messages/new", PageAccess.DEVELOPER)
        return FirstStep("done" if steps.delivered else "", title, text, href, words("Write one"))
    number = formats.tel8(message.to)
    if message.delivered_at:
        took = formats.lasting(message.delivered_at - message.created_at)
        sentence = words("Delivered to {number} in {time}.", number=number, time=took)
        return FirstStep("done", title, sentence)
    if steps.delivered:
        return FirstStep("done", title, words("The first ones have arrived."))
    text = words("On its way to {number}. What happens to it appears on its page.", number=number)
    href = _in_mode(request, f"messages/{message.id}", message.mode)
    return FirstStep("waiting", title, text, href, words("Look at it"))


def _verification(request: PageRequest, session: FirstSession | None) -> FirstStep:
    words = request.words
    title = words("Verify a number")
    href = _at(request, "verify/try", PageAccess.DEVELOPER)
    if session is None:
        text = words("A code goes to a phone, and its owner types it in.")
        return FirstStep("", title, text, href, words("Try it"))
    number = request.formats.tel8(session.recipient)
    if session.status == "approved":
        when = request.formats.ago(session.created_at)
        return FirstStep("done", title, words("{number}, {when}", number=number, when=when))
    text = words("A code went to {number}. Once it is typed in, this step is done.", number=number)
    return FirstStep("waiting", title, text, href, words("Type the code"))


def _webhook(request: PageRequest, hook: FirstHook | None) -> FirstStep:
    words = request.words
    title = words("Receive a webhook")
    if hook is None:
        text = words("So that your server knows what happened to a message.")
        href = _at(request, "webhooks/new", PageAccess.DEVELOPER)
        return FirstStep("", title, text, href, words("Set up"))
    if hook.delivered_at:
        when = request.formats.ago(hook.delivered_at)
        return FirstStep("done", title, words("The last one arrived {when}.", when=when))
    text = words("There is an endpoint; nothing has arrived there yet. Send it a test event.")
    href = _in_mode(request, f"webhooks/{hook.endpoint_id}", hook.mode)
    return FirstStep("waiting", title, text, href, words("Open it"))


def _money(request: PageRequest, *, is_paid: bool) -> FirstStep:
    words = request.words
    title = words("Top up")
    if is_paid:
        balance = request.formats.money(request.organization.balance)
        return FirstStep("done", title, words("The balance is {sum}.", sum=balance))
    text = words("Real messages need a balance.")
    return FirstStep("", title, text, _at(request, "billing", PageAccess.OWNER), words("Top up"))
