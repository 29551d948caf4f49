"""Answers without a program: to texts that come in, by rules, opt-outs and webhooks; one queue."""

from __future__ import annotations

from typing import Final

from risala.engine.model.feature_work import WalkKind
from risala.engine.model.features import Feature, later

_HERE: Final = "features.answers."
_QUEUE: Final = _HERE + "stored.queue:"
FEATURE: Final = Feature(
    name="answers",
    exported={"automatic-answers": later(_QUEUE + "export")},
    walks={WalkKind.ANSWERS: later(_QUEUE + "walk_old")},
    erased=later(_QUEUE + "erase"),
    cleared=later(_QUEUE + "clear"),
    shifts=later(_QUEUE + "SHIFTS"),
    tasks=later(_HERE + "service:tasks"),
    retuned=later(_HERE + "service:retuned"),
    deleted=("answer_pauses",),
    tables=("answers", "answer_pauses"),
)
