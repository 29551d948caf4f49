"""The sessions bound to the SMPP server."""

from __future__ import annotations

from typing import Final

from risala.engine.kernel.arguments import Arguments
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.records.upkeep import esmes
from risala.engine.model.records.upkeep.esmes import BoundEsmes
from risala.engine.rules.roles import OPERATORS, READERS


class ListEsmes(Arguments):
    """The sessions of customers' SMPP software that are bound now."""


OPERATIONS: Final = Operations()


@OPERATIONS(esmes.SESSIONS, roles=OPERATORS, operators=READERS)
async def _list(call: Call[ListEsmes]) -> BoundEsmes:
    found = call.services.esmes
    return BoundEsmes(found.is_open, tuple(sorted(found.views(), key=lambda each: each.since)))
