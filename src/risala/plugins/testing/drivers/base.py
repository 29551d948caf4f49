"""What the author of a driver says to its suite, and how its checks begin."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import ClassVar, Final

from risala.plugins.contract import Alphabet, Driver, Segment
from risala.plugins.fits import fault_of_capabilities
from risala.plugins.testing.drivers.stage import DriverStage
from risala.plugins.testing.faults import PluginFaultError
from risala.plugins.testing.suite import ConformanceSuite

_FAR_FUTURE_MS = 4_102_444_800_000  # 2100-01-01
_numbers = count(1)
"""Every segment of a test run has a message of its own: what comes late is told apart by it."""


def segment(text: str = "Hello", **changes: object) -> Segment:
    """A segment to submit; ``changes`` are its fields."""
    fields: dict[str, object] = {
        "message_id": f"msg_conformance_{next(_numbers)}",
        "number": 1,
        "total": 1,
        "attempt": 1,
        "sender": "RISALA",
        "recipient": "+22236123456",
        "alphabet": Alphabet.GSM7,
        "text": text,
        "reference": 7,
        "expires_at_ms": _FAR_FUTURE_MS,
    }
    return Segment(**{**fields, **changes})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class CarrierGot:
    """What a stand-in for a carrier was sent, as it understood it."""

    sender: str
    recipient: str
    text: str = field(repr=False)
    expires_at_ms: int | None = None
    """When it need not try any more, UTC epoch milliseconds; None: it was not told."""
    number: int | None = None
    """Of a part: which one; None: it was not told that this is a part."""
    total: int | None = None
    """Of a part: how many there are."""
    reference: int | None = None
    """Of a part: what all parts of its message share."""


_CLAIMS: Final = {
    "segments": "the carrier gets each segment once, as it is",
    "parts": "the parts of a long message arrive with their place in it",
    "silence": "a submit that the carrier does not answer is Uncertain",
    "link": "a link that breaks is noticed and connected again",
    "loop": "nothing that it does holds up the event loop",
}
"""What :attr:`DriverSuite.unseen` may name besides claims of ``capabilities``."""


class DriverSuite(ConformanceSuite):
    """How a suite gets its driver, and what it asks of the carrier's stand-in."""

    risala_suite: ClassVar[str] = "driver"
    basics: ClassVar[frozenset[str]] = frozenset(
        {
            "test_is_a_driver",
            "test_starts_at_once",
            "test_comes_up",
            "test_ends_when_cancelled",
            "test_lets_the_loop_run",
        }
    )
    secrets: ClassVar[tuple[str, ...]] = ()
    """Passwords and keys of your settings: they must stand in nothing that the driver tells."""
    ids: ClassVar[dict[type, dict[str, str]]] = {}
    """Ids that each suite's carrier gave in this process, and to which check."""

    def claim_of(self, claim: str) -> str:
        return _CLAIMS.get(claim, f"capabilities.{claim} is True with reason")

    def now_ms(self) -> int:
        """UTC epoch milliseconds, as driver and carrier know them."""
        return time.time_ns() // 1_000_000

    def open_driver(self) -> AbstractAsyncContextManager[Driver]:
        """A built driver that is not running, with its carrier ready."""
        raise NotImplementedError

    async def carrier_got(self) -> Sequence[CarrierGot]:
        """What the carrier was sent since the driver was opened, in order: an item for each submit.

        Parts of a long message have ``number``, ``total`` and ``reference``. Where nobody is behind
        the driver, name ``segments`` in :attr:`unseen`; where the carrier is told no places of
        parts, ``parts``.
        """
        raise NotImplementedError

    async def send_to_us(self, sender: str, text: str) -> None:
        """Have the carrier bring us a message. Needed where ``inbound`` is claimed."""
        raise NotImplementedError

    async def mute_carrier(self) -> None:
        """Have the carrier take what it is sent from now on, and answer nothing.

        Name ``silence`` in :attr:`unseen` where it always answers.
        """
        raise NotImplementedError

    async def cut_link(self) -> None:
        """Break the link, once; the carrier can be reached again at once or a moment later.

        Of a driver without a link, such as one over HTTP, the carrier goes away for a moment. Name
        ``link`` in :attr:`unseen` where nothing can break.
        """
        raise NotImplementedError

    @asynccontextmanager
    async def opened(self, check: str) -> AsyncIterator[DriverStage]:
        """The driver, built and not running."""
        async with self.open_driver() as driver:
            self._look_at(driver)
            self._tell_about(driver)
            yield DriverStage(self, check, driver, self.ids.setdefault(type(self), {}))

    @asynccontextmanager
    async def running(self, check: str) -> AsyncIterator[DriverStage]:
        """The driver, running and up; it is stopped at the end, and has to stop well."""
        async with self.opened(check) as stage, stage.alive():
            yield stage

    def _look_at(self, driver: object) -> None:
        if not isinstance(driver, Driver):
            lacks = [
                name
                for name in ("capabilities", "run", "submit", "query")
                if not hasattr(driver, name)
            ]
            raise PluginFaultError(
                "test_is_a_driver",
                f"{type(driver).__name__} is no driver: it lacks {', '.join(lacks)}.",
            )
        fault = fault_of_capabilities(driver.capabilities)
        if fault is not None:
            raise PluginFaultError("test_is_a_driver", f"{fault}.")

    def _tell_about(self, driver: Driver) -> None:
        capabilities = driver.capabilities
        names = [name for name in capabilities.__dataclass_fields__ if name != "account"]
        claims = {f"capabilities.{name}": getattr(capabilities, name) for name in names}
        self.tell_about(driver, **claims)
