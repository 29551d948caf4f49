"""Four eyes: what one operator asks for, another confirms."""

from __future__ import annotations

from typing import Final

from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Feature, elsewhere, later
from risala.engine.model.people_records import MailKind

FEATURE: Final = Feature(
    name="approvals",
    operations=(later("features.approvals.operations:OPERATIONS"),),
    duties={
        Duty.FOUR_EYES: later("features.approvals.watching:watched"),
        Duty.CONFIRMED: later("features.approvals.stored:settle"),
    },
    decides={"approvals": later("features.approvals.stored:count_waiting")},
    letters={MailKind.APPROVAL_ASKED: later("features.approvals.watching:letter")},
    tables=("approvals", "alone_sums"),
    console=(elsewhere("http.operator.approvals:ROUTES"),),
    commands={"approval": elsewhere("cli.commands.people.approval:approval")},
)
