"""Examining a modem: each known obstacle to sending, in order, in one sentence each.

A failed check skips those that depend on it. Nothing is sent, no message is read or deleted, and
the announcement of messages is restored afterwards. All checks share one deadline: a hanging modem
is reported as such.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.drivers.modem.doctor import card_checks as sim_checks
from risala.drivers.modem.doctor import host_checks, modem_checks
from risala.drivers.modem.doctor.bench import Bench
from risala.drivers.modem.doctor.findings import Check, CheckState, CheckVerdict, Findings, fail
from risala.drivers.modem.talk.link import LinkError, PortLostError

Look = Callable[[Bench], Awaitable[CheckVerdict]]


@dataclass(frozen=True, slots=True)
class _Step:
    name: str
    needs: tuple[str, ...]
    look: Look


_STEPS: Final = (
    _Step("device", (), host_checks.device),
    _Step("permission", ("device",), host_checks.permission),
    _Step("ModemManager", ("device",), host_checks.modem_manager),
    _Step("port is free", ("permission",), host_checks.free),
    _Step("answers", ("port is free",), modem_checks.answers),
    _Step("radio", ("answers",), modem_checks.radio),
    _Step("SIM", ("answers",), sim_checks.sim),
    _Step("PIN", ("answers", "SIM"), sim_checks.pin),
    _Step("registration", ("answers", "radio", "PIN"), sim_checks.registration),
    _Step("SMS on LTE", ("answers", "registration"), sim_checks.lte),
    _Step("signal", ("answers", "radio"), modem_checks.signal),
    _Step("SMSC number", ("answers", "PIN"), sim_checks.smsc),
    _Step("PDU mode", ("answers", "PIN"), modem_checks.pdu_mode),
    _Step("storage", ("answers", "PIN"), modem_checks.storage),
    _Step("receiving", ("answers", "storage"), modem_checks.receiving),
    _Step("status reports", ("answers", "receiving"), modem_checks.status_reports),
    _Step("missed calls", ("answers", "PIN"), modem_checks.callers),
)
CHECKS: Final = tuple(step.name for step in _STEPS)


def unseen(_check: str) -> None:
    """For callers that want the findings only."""


async def examine(
    bench: Bench,
    timeout_s: float,
    on_check: Callable[[str], None] = unseen,
    then: Callable[[Bench], Awaitable[None]] | None = None,
) -> Findings:
    """Run all checks; never longer than ``timeout_s`` and some seconds for closing the port.

    Args:
        on_check: called with the name of each check as it begins.
        then: what is asked after them of a modem that answers, within the same time.
    """
    async with bench.at_work():
        checks = _Round(bench, timeout_s)
        await checks.run(on_check)
        if then is not None and checks.is_answered:
            with trio.move_on_at(checks.deadline):
                await then(bench)
    return bench.findings


class _Round:
    """One time through all checks."""

    def __init__(self, bench: Bench, timeout_s: float) -> None:
        self._bench = bench
        self._timeout_s = timeout_s
        self.deadline = trio.current_time() + timeout_s
        self._missing: dict[str, str] = {}
        """The checks that failed or were skipped, each with the failed check that is to blame."""

    @property
    def is_answered(self) -> bool:
        """Whether the modem answered the last check."""
        return "answers" not in self._missing

    async def run(self, on_check: Callable[[str], None]) -> None:
        for step in _STEPS:
            on_check(step.name)
            blamed = self._blamed(step)
            if blamed:
                self._missing[step.name] = blamed
                verdict = CheckVerdict(CheckState.SKIPPED, self._reason(blamed))
            else:
                verdict = await self._verdict(step)
                if verdict.state is CheckState.FAIL or self._is_served(step):
                    self._missing[step.name] = step.name
            self._bench.findings.checks.append(Check(step.name, verdict.state, verdict.text))

    def _is_served(self, step: _Step) -> bool:
        return step.look is host_checks.free and bool(self._bench.findings.served_by)

    def _reason(self, blamed: str) -> str:
        served_by = self._bench.findings.served_by
        if served_by:
            return f"Not looked at: {served_by} has the port."
        return f"Not looked at: “{blamed}” comes first."

    def _blamed(self, step: _Step) -> str:
        return next((self._missing[need] for need in step.needs if need in self._missing), "")

    async def _verdict(self, step: _Step) -> CheckVerdict:
        try:
            with trio.move_on_at(self.deadline):
                await trio.lowlevel.checkpoint()
                return await step.look(self._bench)
        except PortLostError:
            self._missing["answers"] = step.name
            return fail(
                "The connection to the modem was lost: it was unplugged or it restarted. Try again."
            )
        except LinkError as fault:
            self._missing["answers"] = step.name
            return fail(
                f"The modem stopped answering: {fault}. Replug it, and check that its hub has "
                "power."
            )
        self._missing["answers"] = step.name
        return fail(
            f"The check did not end within {self._timeout_s:g} s: the modem hangs. Replug it."
        )
