"""How long things are kept, and forgetting them by hand."""

from __future__ import annotations

import re
from typing import Final

from risala.engine.model.errors import Invalid
from risala.engine.operations.arguments import Arguments, Json, Operation
from risala.engine.services import Services
from risala.engine.upkeep import retention


async def _show(services: Services, _: Arguments) -> Json:
    have = services
    now_ms = have.recorder.clock.now_ms()
    return {"rules": retention.overview(have.settings.retention, have.reader, now_ms)}


async def _run(services: Services, arguments: Arguments) -> Json:
    """One unit of work: call again with the answer's ``next`` as long as there is one."""
    have = services
    rules = retention.rules(have.settings.retention)
    place, after = arguments.whole_or_none("place") or 0, arguments.text_or_none("after") or ""
    places = [(rule.name, walk) for rule in rules for walk in range(len(rule.walks))]
    if not 0 <= place < len(places) or not re.fullmatch(r"[0-9]{0,18}", after):
        raise Invalid("place", "invalid_place", "`place` and `after` are those of an answer.")
    name, walk = places[place]
    done = await retention.step(have.recorder, have.settings.retention, name, walk, after)
    following: Json | None = {"place": place, "after": done.after or None}
    if done.done:
        following = {"place": place + 1, "after": None} if place + 1 < len(places) else None
    return {"name": name, "rows": done.rows, "next": following}


OPERATIONS: Final[dict[str, Operation]] = {
    "retention.show": _show,
    "retention.run": _run,
}
