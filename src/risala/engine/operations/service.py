"""Looking at the service: the books, the numbers, the audit trail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import trio

from risala.engine.journal.upkeep import audit, audit_log
from risala.engine.journal.upkeep.audit_log import AuditLine
from risala.engine.model.clock import iso
from risala.engine.model.commands import AuditReport
from risala.engine.operations.arguments import (
    Arguments,
    Json,
    MaybeText,
    MaybeWhole,
    NoArguments,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.roles import OPERATORS

LINES_MAX: Final = 500
"""Lines of one answer at most."""
LINES_USUAL: Final = 50


class ListLines(Arguments):
    """A page of the audit trail, by organization, operation or person."""

    organization_id: MaybeText = None
    operation: MaybeText = None
    who: MaybeText = None
    limit: MaybeWhole = None
    before: MaybeWhole = None
    """The number of a line: only older ones are listed."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """All numbers that the service keeps in memory."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LinesPage:
    """Lines of the audit trail, the newest first."""

    lines: tuple[AuditLine, ...]
    next: int | None
    """The ``before`` of the next page; None: this is the last one."""


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


def _lines_wire(page: LinesPage) -> Json:
    return {
        "lines": [
            {
                "seq": line.seq,
                "at": iso(line.at),
                "who": line.who,
                "face": line.face,
                "role": line.role,
                "operation": line.action,
                "organizationId": line.organization_id,
                "subject": line.subject,
                "before": line.before,
                "after": line.after,
            }
            for line in page.lines
        ],
        "next": page.next,
    }


async def _audit(call: Call[NoArguments]) -> AuditReport:
    # In a thread, because it scans everything and the loop must not stand still meanwhile.
    path = call.services.recorder.journal.path
    return await trio.to_thread.run_sync(audit.audit_file, path)


async def _audit_list(call: Call[ListLines]) -> LinesPage:
    """The newest lines first."""
    given = call.given
    limit = max(1, min(given.limit or LINES_USUAL, LINES_MAX))
    found = audit_log.lines(
        call.services.reader,
        limit + 1,
        before=given.before,
        organization_id=given.organization_id,
        action=given.operation,
        who=given.who,
    )
    shown = tuple(found[:limit])
    return LinesPage(shown, shown[-1].seq if len(found) > limit else None)


async def _statistics(call: Call[NoArguments]) -> Statistics:
    return Statistics(call.services.delivery.statistics())


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
        name="audit.list",
        arguments=ListLines,
        result=LinesPage,
        wire=_lines_wire,
        handler=_audit_list,
        roles=OPERATORS,
        crosses=True,
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
