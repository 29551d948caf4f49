"""How long things are kept, and deleting old things by hand."""

from __future__ import annotations

import re
from typing import Any, Final

from risala.engine.model.errors import Invalid
from risala.engine.model.records.upkeep.retention import (
    RULES,
    RUN,
    Forgotten,
    NextUnit,
    RetentionRules,
)
from risala.engine.operations.arguments import (
    Arguments,
    MaybeText,
    MaybeWhole,
    NoArguments,
)
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import OPERATORS, READERS
from risala.engine.upkeep import retention


class Forget(Arguments):
    """Run one unit of retention now, from where the last one stopped."""

    place: MaybeWhole = None
    after: MaybeText = None


async def _show(call: Call[NoArguments]) -> RetentionRules:
    have = call.services
    return RetentionRules(
        tuple(retention.overview(have.settings.retention, have.repositories.retention, call.now_ms))
    )


async def _run(call: Call[Forget]) -> Forgotten:
    """Do one unit of work; call it again with the answer's ``next`` until that is null."""
    have = call.services
    kept = have.repositories.retention
    rules = retention.all_rules(have.settings.retention, kept)
    place, after = call.given.place or 0, call.given.after or ""
    places = [(rule, walk) for rule in rules for walk in range(len(rule.walks))]
    if not 0 <= place < len(places) or not re.fullmatch(r"[0-9]{0,18}", after):
        raise Invalid("place", "invalid_place", "Take `place` and `after` from an answer.")
    rule, walk = places[place]
    by = call.audit(subject=rule.name)
    done = await retention.step(kept, rule, walk, after, call.now_ms, by=by)
    following: NextUnit | None = NextUnit(place, done.after or None)
    if done.done:
        following = NextUnit(place + 1, None) if place + 1 < len(places) else None
    return Forgotten(rule.name, done.rows, following)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(RULES, NoArguments, _show, roles=OPERATORS, operators=READERS),
    operation(RUN, Forget, _run, roles=OPERATORS, changes=Forgotten),
)
