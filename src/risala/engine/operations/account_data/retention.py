"""How long things are kept, and forgetting them by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from risala.engine.model.errors import Invalid
from risala.engine.operations.arguments import (
    Arguments,
    Json,
    MaybeText,
    MaybeWhole,
    NoArguments,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS
from risala.engine.upkeep import retention


class Forget(Arguments):
    """Run one unit of retention now, from the place where the last one stopped."""

    place: MaybeWhole = None
    after: MaybeText = None


@dataclass(frozen=True, slots=True)
class RetentionRules:
    """Each rule, the oldest row that is left, and whether it is behind."""

    rules: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Next:
    """Where to go on."""

    place: int
    after: str | None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What one unit deleted, and where to go on; None: all is done."""

    name: str
    rows: int
    next: Next | None


def _rules_wire(found: RetentionRules) -> Json:
    return {"rules": [dict(each) for each in found.rules]}


def _forgotten_wire(done: Forgotten) -> Json:
    following = done.next
    return {
        "name": done.name,
        "rows": done.rows,
        "next": following and {"place": following.place, "after": following.after},
    }


async def _show(call: Call[NoArguments]) -> RetentionRules:
    have = call.services
    return RetentionRules(
        tuple(retention.overview(have.settings.retention, have.repositories.retention, call.now_ms))
    )


async def _run(call: Call[Forget]) -> Forgotten:
    """One unit of work: call again with the answer's ``next`` as long as there is one."""
    have = call.services
    kept = have.repositories.retention
    rules = retention.all_rules(have.settings.retention, kept)
    place, after = call.given.place or 0, call.given.after or ""
    places = [(rule, walk) for rule in rules for walk in range(len(rule.walks))]
    if not 0 <= place < len(places) or not re.fullmatch(r"[0-9]{0,18}", after):
        raise Invalid("place", "invalid_place", "`place` and `after` are those of an answer.")
    rule, walk = places[place]
    by = call.audit(subject=rule.name)
    done = await retention.step(kept, rule, walk, after, call.now_ms, by=by)
    following: Next | None = Next(place, done.after or None)
    if done.done:
        following = Next(place + 1, None) if place + 1 < len(places) else None
    return Forgotten(rule.name, done.rows, following)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="retention.show",
        arguments=NoArguments,
        result=RetentionRules,
        wire=_rules_wire,
        handler=_show,
        roles=OPERATORS,
    ),
    Operation(
        name="retention.run",
        arguments=Forget,
        result=Forgotten,
        wire=_forgotten_wire,
        handler=_run,
        roles=OPERATORS,
        changes=True,
    ),
)
