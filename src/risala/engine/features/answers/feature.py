"""Answers without a program: to texts that come in, by rules, opt-outs and webhooks; one queue."""

from __future__ import annotations

from typing import Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.feature_work import Duty, WalkKind
from risala.engine.model.features import Feature, elsewhere, later

_HERE: Final = "features.answers."
_QUEUE: Final = _HERE + "stored.queue:"
_RULES: Final = _HERE + "stored.rules:"
FEATURE: Final = Feature(
    name="answers",
    needs=("lists", "tables"),
    operations=(later(_HERE + "operations:OPERATIONS"),),
    images={AuditImage.ANSWER_RULE: later(_RULES + "find")},
    received=later(_RULES + "received"),
    exported_settings={"answer-rules": later(_RULES + "of_organization")},
    exported={"automatic-answers": later(_QUEUE + "export")},
    duties={
        Duty.ANSWERS: later(_QUEUE + "notes_of"),
        Duty.REPLY: later(_HERE + "replying:take"),
    },
    walks={WalkKind.ANSWERS: later(_QUEUE + "walk_old")},
    erased=later(_QUEUE + "erase"),
    cleared=later(_QUEUE + "clear"),
    shown={"delivery": elsewhere("http.dashboard.webhook_replies:with_delivery")},
    shifts=later(_QUEUE + "SHIFTS"),
    tasks=later(_HERE + "service:tasks"),
    retuned=later(_HERE + "service:retuned"),
    deleted=("answer_pauses", "answer_rules"),
    dashboard=(elsewhere("http.dashboard.answers.rules:ROUTES"),),
    commands={"answer": elsewhere("cli.commands.messaging.answer_rules:answer")},
    tables=("answers", "answer_pauses", "answer_rules"),
)
