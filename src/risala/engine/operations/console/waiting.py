"""What waits for an operator's word: told beside every page of the console."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from risala.engine.model.records.figures import Deciding
from risala.engine.operations.arguments import NoArguments
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS


async def _waiting(call: Call[NoArguments]) -> Deciding:
    return call.services.repositories.figures.deciding()


OPERATIONS: Final = (
    Operation(
        name="console.waiting",
        arguments=NoArguments,
        result=Deciding,
        wire=asdict,
        handler=_waiting,
        roles=OPERATORS,
    ),
)
