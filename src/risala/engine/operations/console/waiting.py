"""Counts of what waits for an operator's decision, shown on every page of the console."""

from __future__ import annotations

from typing import Final

from risala.engine.kernel.arguments import NoArguments
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.records.figures import WAITING, Deciding
from risala.engine.rules.roles import OPERATORS, READERS

OPERATIONS: Final = Operations()


@OPERATIONS(WAITING, roles=OPERATORS, operators=READERS)
async def _waiting(call: Call[NoArguments]) -> Deciding:
    return call.services.repositories.figures.deciding(call.now_ms)
