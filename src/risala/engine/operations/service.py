"""Looking at the service: the books and the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from risala.engine.model.commands import AuditReport
from risala.engine.operations.arguments import Json, NoArguments
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS


@dataclass(frozen=True, slots=True)
class Statistics:
    """All numbers that the service keeps in memory."""

    values: Mapping[str, Any]


def _report_wire(report: AuditReport) -> Json:
    return {
        "organizations": report.organizations,
        "messages": report.messages,
        "entries": report.entries,
        "clean": report.clean,
        "faults": list(report.faults),
    }


def _statistics_wire(found: Statistics) -> Json:
    return dict(found.values)


async def _audit(call: Call[NoArguments]) -> AuditReport:
    return await call.services.repositories.ledger.audit()


async def _statistics(call: Call[NoArguments]) -> Statistics:
    values, shipping = call.services.delivery.statistics(), call.services.shipping
    if shipping.age_s is not None:
        values["shipping"] = {"age_s": round(shipping.age_s, 1), "failing": shipping.failing}
    return Statistics(values)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="audit",
        arguments=NoArguments,
        result=AuditReport,
        wire=_report_wire,
        handler=_audit,
        roles=OPERATORS,
    ),
    Operation(
        name="statistics",
        arguments=NoArguments,
        result=Statistics,
        wire=_statistics_wire,
        handler=_statistics,
        roles=OPERATORS,
    ),
)
