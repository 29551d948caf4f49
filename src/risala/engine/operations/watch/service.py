"""Reading the service's state: its books and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.kernel.arguments import Arguments, Json, MaybeTexts, NoArguments
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import Invalid
from risala.engine.model.features import features
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.upkeep.books import AUDIT, AuditReport
from risala.engine.rules.roles import OPERATORS, READERS
from risala.engine.rules.trail.heads import NoHead, heads_of


@dataclass(frozen=True, slots=True)
class ServiceStatistics:
    """All numbers that the service keeps in memory, named after its parts."""

    values: Mapping[str, Any]


class AuditBooks(Arguments):
    """Check the books and the audit trail."""

    heads: MaybeTexts = None
    """Signed heads of the audit trail that went out, each one line of JSON."""


OPERATIONS: Final = Operations()


@OPERATIONS(AUDIT, roles=OPERATORS, operators=READERS)
async def _audit(call: Call[AuditBooks]) -> AuditReport:
    try:
        heads = list(heads_of(call.given.heads or ()))
    except NoHead as error:
        raise Invalid("heads", "invalid_heads", str(error)) from error
    return await call.services.repositories.ledger.audit(heads)


def _values(found: ServiceStatistics) -> Json:
    return dict(found.values)


@OPERATIONS(Ask("statistics", ServiceStatistics), roles=OPERATORS, operators=READERS, wire=_values)
async def _statistics(call: Call[NoArguments]) -> ServiceStatistics:
    values = call.services.delivery.statistics()
    for feature in features():
        if feature.statistics is not None:
            values |= feature.statistics()(call.services)
    return ServiceStatistics(values)
