"""Reading the service's state: its books and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from risala.engine.model.records.upkeep.books import AUDIT, AuditReport
from risala.engine.operations.arguments import Json, NoArguments
from risala.engine.operations.operation import Call, Operation, operation
from risala.engine.rules.roles import OPERATORS


@dataclass(frozen=True, slots=True)
class ServiceStatistics:
    """All numbers that the service keeps in memory, named after its parts."""

    values: Mapping[str, Any]


async def _audit(call: Call[NoArguments]) -> AuditReport:
    return await call.services.repositories.ledger.audit()


async def _statistics(call: Call[NoArguments]) -> ServiceStatistics:
    values, shipping = call.services.delivery.statistics(), call.services.shipping
    if shipping.age_s is not None:
        values["shipping"] = {"age_s": round(shipping.age_s, 1), "failing": shipping.failing}
    return ServiceStatistics(values)


def _values(found: ServiceStatistics) -> Json:
    return dict(found.values)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(AUDIT, NoArguments, _audit, roles=OPERATORS),
    Operation(
        name="statistics",
        arguments=NoArguments,
        result=ServiceStatistics,
        wire=_values,
        handler=_statistics,
        roles=OPERATORS,
    ),
)
