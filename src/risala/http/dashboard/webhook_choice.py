"""What an endpoint may choose: its events, each with a description and an example, and the shape of
received messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from markupsafe import Markup

from risala.dataclass import dataclass
from risala.engine.model.events import EventType
from risala.engine.model.money import money
from risala.engine.rules.webhooks import kannel_words, shapes
from risala.http.web.languages import N_, NC_
from risala.http.web.page_request import PageRequest
from risala.sms.numbering.plan import NumberingPlan


@dataclass(frozen=True, slots=True)
class EventChoice:
    """One type of event, as the form offers it."""

    type: str
    sentence: str
    example: str
    """The body's beginning, as a program gets it."""


def _choice(kind: str, sentence: str, **fields: str) -> EventChoice:
    shown = {"id": "evt_…", "type": kind, "test": False, **fields}
    return EventChoice(kind, sentence, json.dumps(shown, ensure_ascii=False, indent=1))


_LOW: Final = 9850
"""A balance, in minor units."""


@cache
def choices_of(plan: NumberingPlan, currency: str) -> tuple[EventChoice, ...]:
    """All events, with examples of a plan's numbers, and of amounts in a currency."""
    sms = {"messageId": "sms_…", "to": plan.example}
    code = {"verificationId": "ver_…", "to": plan.example}
    talk = {"conversationId": "cnv_…", "number": plan.example}
    return (
        _choice("sms.sent", N_("The carrier took a message."), **sms, status="sent"),
        _choice("sms.delivered", N_("A message reached its phone."), **sms, status="delivered"),
        _choice(
            "sms.failed",
            N_("A message will not arrive."),
            **sms,
            status="failed",
            errorCode="ESME_RINVDSTADR",
        ),
        _choice(
            "sms.canceled", N_("A message was withdrawn before it left."), **sms, status="canceled"
        ),
        _choice("sms.received", N_("Somebody wrote to you."), **{"from": plan.example}, body="…"),
        _choice("verify.sent", N_("A code is on its way."), **code, status="pending"),
        _choice("verify.approved", N_("Somebody typed the right code."), **code, status="approved"),
        _choice(
            "verify.failed",
            N_("A code expired, or was guessed too often."),
            **code,
            status="expired",
            reason="expired",
        ),
        _choice("balance.low", N_("The balance is low."), balance=money(_LOW), currency=currency),
        _choice("sender.approved", N_("A sender name was approved."), name="BARAKA"),
        _choice("sender.denied", N_("A sender name was denied."), name="PROMO", reason="generic"),
        _choice("conversation.received", N_("A conversation has a new text."), **talk),
        _choice("conversation.assigned", N_("A conversation was given to a member."), **talk),
        _choice("conversation.paused", N_("Automatic answers to a number are paused."), **talk),
        _choice("repeat.begun", N_("A repeating mailing begins."), name="Rent"),
        _choice(
            "repeat.skipped",
            N_("A repeating mailing was due, and nothing is sent."),
            name="Rent",
            reason="missed",
        ),
        _choice("repeat.ended", N_("A repeating mailing has ended."), name="Rent", reason="until"),
    )


GROUPS: Final = (
    (NC_("group of events", "Messages"), ("sms", "conversation", "repeat")),
    (NC_("group of events", "Codes"), ("verify",)),
    (NC_("group of events", "Account"), ("balance", "sender")),
)
"""The groups of a form's events, by how their names begin."""


def groups_of(choices: Sequence[EventChoice]) -> list[tuple[str, list[EventChoice]]]:
    """The events of a form in its groups."""
    return [
        (label, [each for each in choices if each.type.partition(".")[0] in heads])
        for label, heads in GROUPS
    ]


USUAL: Final = ("sms.sent", "sms.failed", "verify.sent", "verify.approved", "verify.failed")
"""The events ticked in a new form."""


SHAPE_CHOICES: Final = (
    ("event", N_("JSON, as all events")),
    ("form", N_("A form (POST)")),
    ("get", N_("An address with a query (GET)")),
    ("json", N_("JSON of your own")),
    ("rapidpro", N_("As a RapidPro channel of the type Kannel takes them")),
    ("kannel", N_("As Kannel does: its words are in the address")),
)
"""The shapes of received messages, with what a reader calls them."""
SHAPE_FAULTS: Final[Mapping[str, str]] = {
    "invalid_placeholder": N_("At most twenty of these can be used: {names}."),
    "needless_template": N_("This shape has no fields of your own. Leave this empty."),
    "invalid_json": N_(
        "This must be JSON, an object or a list, with placeholders only inside texts: {json}"
    ),
    "invalid_fields": N_("Write one field a line, at most twenty, such as {field}"),
    "invalid_words": N_(
        "With Kannel’s words, the address looks like {address}. After the question mark, at most "
        "twenty of these can be used: {words}."
    ),
}
"""Sentences by the code of a shape's fault."""


def shape_holes(request: PageRequest) -> dict[str, Markup]:
    """What the sentences about shapes name."""
    holes = {
        "names": shapes.KNOWN,
        "json": shapes.JSON_EXAMPLE,
        "field": shapes.FIELD_EXAMPLE,
        "address": kannel_words.EXAMPLE,
        "words": kannel_words.KNOWN,
        "type": EventType.SMS_RECEIVED.value,
    }
    return {name: request.code(each) for name, each in holes.items()}
