"""Operators' commands to a carrier's driver: one at a time and bounded in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import structlog
import trio

from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.plugins.contract import COMMAND_S, Commandable, CommandRefusedError, DriverCommand

log = structlog.get_logger(__name__)

ARGUMENTS_MAX: Final = 10
ARGUMENT_CHARACTERS_MAX: Final = 200
_STOPPING: Final = "The service is stopping."


class DriverCommands:
    """The commands of all workers."""

    def __init__(self, lanes: Mapping[str, CarrierWorker]) -> None:
        self._lanes = lanes
        self._busy: set[str] = set()
        self._scopes: set[trio.CancelScope] = set()
        self._closed = False

    def close(self) -> None:
        """Stop running commands: a slow one must not delay the end of the service."""
        self._closed = True
        for scope in self._scopes:
            scope.cancel()

    def offered(self, carrier: str) -> tuple[DriverCommand, ...]:
        """The commands of its driver; mostly empty.

        Raises:
            NotFound: the carrier does not exist.
        """
        driver = self._worker(carrier).driver
        return driver.commands if isinstance(driver, Commandable) else ()

    def driver(self, carrier: str, name: str, arguments: Sequence[str]) -> Commandable:
        """The driver that would do a command now. Raises as :meth:`ask`."""
        driver, offered = (
            self._worker(carrier).driver,
            [each.name for each in self.offered(carrier)],
        )
        if name not in offered or not isinstance(driver, Commandable):
            known = ", ".join(offered) or "none"
            raise Invalid(
                "command",
                "unknown_command",
                f"{carrier} has no such command. Its commands are: {known}.",
            )
        if len(arguments) > ARGUMENTS_MAX or any(
            len(each) > ARGUMENT_CHARACTERS_MAX for each in arguments
        ):
            raise Invalid(
                "arguments", "too_long", "There are too many arguments, or they are too long."
            )
        if carrier in self._busy:
            raise Conflict(f"{carrier} is busy with another command. Try again in a moment.")
        if self._closed:
            raise Conflict(_STOPPING)
        return driver

    async def ask(self, carrier: str, name: str, arguments: Sequence[str]) -> dict[str, Any]:
        """Run the command and return its result.

        Raises:
            NotFound, Invalid: the carrier or the command does not exist.
            Conflict: it was not done; the sentence says why.
        """
        driver = self.driver(carrier, name, arguments)
        scope = trio.CancelScope()
        self._busy.add(carrier)
        self._scopes.add(scope)
        try:
            # Without its arguments: they may contain a voucher's number.
            self._worker(carrier).standing.note(f"the operator asked for {name}")
            log.info("carrier.command", carrier=carrier, command=name)
            with scope:
                return await _ask(carrier, driver, name, arguments)
            raise Conflict(_STOPPING)
        finally:
            self._busy.discard(carrier)
            self._scopes.discard(scope)

    def _worker(self, carrier: str) -> CarrierWorker:
        lane = self._lanes.get(carrier)
        if lane is None:
            raise NotFound(f"There is no carrier {carrier!r}.")
        return lane


async def _ask(
    carrier: str, driver: Commandable, name: str, arguments: Sequence[str]
) -> dict[str, Any]:
    try:
        with trio.fail_after(COMMAND_S):
            return dict(await driver.command(name, tuple(arguments)))
    except CommandRefusedError as error:
        raise Conflict(str(error)) from error
    except trio.TooSlowError:
        raise Conflict(f"{carrier} did not answer within {COMMAND_S:.0f} seconds.") from None
    except Exception as error:  # a driver's bug is logged and affects nothing else
        log.exception("driver.command_failed", carrier=carrier, command=name)
        raise Conflict(f"The driver of {carrier} failed. See the log for the cause.") from error
