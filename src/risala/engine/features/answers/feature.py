"""Answers without a program: to texts that come in, by rules, opt-outs and webhooks; one queue.

Rules also forward texts: to a number, a member, a chat or a webhook."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.feature_work import Duty, WalkKind
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.people_records import MailKind

_HERE: Final = "features.answers."
_QUEUE: Final = _HERE + "stored.queue:"
_RULES: Final = _HERE + "stored.rules:"
_BOTH: Final = _HERE + "stored.both_queues:"
_FORWARDS: Final = _HERE + "forwarding:"
FEATURE: Final = Feature(
    name="answers",
    findable=later(_HERE + "operations:FOUND"),
    needs=("lists", "tables"),
    operations=(later(_HERE + "operations:OPERATIONS"),),
    images={AuditImage.ANSWER_RULE: later(_RULES + "image")},
    received=later(_RULES + "received"),
    exported_settings={"answer-rules": later(_RULES + "of_organization")},
    exported={
        "automatic-answers": later(_QUEUE + "export"),
        "forwarded-texts": later(_HERE + "stored.forwards:export"),
    },
    letters={MailKind.TEXT_FORWARDED: later(_FORWARDS + "letter")},
    sealed=later(_RULES + "SEALED"),
    duties={
        Duty.ANSWERS: later(_BOTH + "notes_of"),
        Duty.REPLY: later(_HERE + "replying:take"),
    },
    walks={WalkKind.ANSWERS: later(_BOTH + "walk_old")},
    withdrawn=later(_BOTH + "withdraw"),
    awaited=later(_HERE + "stored.forwards:awaited"),
    erased=later(_BOTH + "erase"),
    cleared=later(_BOTH + "clear"),
    shown={
        "delivery": elsewhere("http.dashboard.webhook_replies:with_delivery"),
        "message": elsewhere("http.dashboard.answers.rules:of_message"),
    },
    shifts=later(_BOTH + "SHIFTS"),
    tasks=later(_HERE + "service:tasks"),
    retuned=later(_HERE + "service:retuned"),
    deleted=("answer_pauses", "answer_rules"),
    dashboard=(elsewhere("http.dashboard.answers.rules:ROUTES"),),
    commands={"answer": elsewhere("cli.commands.messaging.answer_rules:answer")},
    tables=("answers", "answer_forwards", "answer_pauses", "answer_rules"),
)
