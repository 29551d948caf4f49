"""Who is bound to the SMPP server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from risala.engine.follow.esmes import EsmeView
from risala.engine.model.times import iso
from risala.engine.operations.arguments import Arguments, Json
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS


class ListEsmes(Arguments):
    """The sessions of customers' SMPP software that are bound now."""


@dataclass(frozen=True, slots=True)
class BoundEsmes:
    """Who is bound, the longest bound first."""

    is_open: bool
    """Whether anybody could bind: the server runs."""
    sessions: tuple[EsmeView, ...]


def _wire(found: BoundEsmes) -> Json:
    return {
        "open": found.is_open,
        "sessions": [
            {
                "systemId": each.system_id,
                "credentialId": each.credential_id,
                "organizationId": each.organization_id,
                "mode": each.mode,
                "kind": each.kind,
                "version": f"{each.version >> 4}.{each.version & 0x0F}",
                "address": each.peer,
                "tls": each.is_tls,
                "since": iso(each.since),
                "accepted": each.accepted,
                "refused": each.refused,
                "delivered": each.delivered,
            }
            for each in found.sessions
        ],
    }


async def _list(call: Call[ListEsmes]) -> BoundEsmes:
    esmes = call.services.esmes
    return BoundEsmes(esmes.is_open, tuple(sorted(esmes.views(), key=lambda each: each.since)))


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="smpp.sessions",
        arguments=ListEsmes,
        result=BoundEsmes,
        wire=_wire,
        handler=_list,
        roles=OPERATORS,
    ),
)
