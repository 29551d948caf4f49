"""The base of the suite of drivers: what an author overrides, and how checks open a driver."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import ClassVar, Final

from risala.plugins.contract import Alphabet, Driver, Segment
from risala.plugins.fits import fault_of_capabilities
from risala.plugins.testing.called import CarrierCallback, DriverAddress
from risala.plugins.testing.checks import PluginFaultError
from risala.plugins.testing.drivers.stage import DriverStage
from risala.plugins.testing.suite import ConformanceSuite
from risala.sms.numbering.plan import EXAMPLE

_FAR_FUTURE_MS = 4_102_444_800_000  # 2100-01-01
_numbers = count(1)
"""Each segment of a run has a message id of its own, by which late arrivals are told apart."""


def segment(text: str = "Hello", **changes: object) -> Segment:
    """A segment to submit; ``changes`` are its fields."""
    fields: dict[str, object] = {
        "message_id": f"msg_conformance_{next(_numbers)}",
        "number": 1,
        "total": 1,
        "attempt": 1,
        "sender": "RISALA",
        "recipient": EXAMPLE,
        "alphabet": Alphabet.GSM7,
        "text": text,
        "reference": 7,
        "expires_at_ms": _FAR_FUTURE_MS,
    }
    return Segment(**{**fields, **changes})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class CarrierGot:
    """One segment that a stand-in for a carrier got, as it understood it."""

    sender: str
    recipient: str
    text: str = field(repr=False)
    expires_at_ms: int | None = None
    """When the carrier may stop trying, UTC epoch milliseconds; None: it got no time."""
    number: int | None = None
    """The part's number in its message; None: nothing says that this is a part."""
    total: int | None = None
    """The number of parts that the message has."""
    reference: int | None = None
    """The number that all parts of the message share."""
    flash: bool = False
    """Whether its phone shows it at once, and does not keep it."""


_CLAIMS: Final = {
    "segments": "the carrier gets each segment once, unchanged",
    "parts": "the parts of a long message arrive with their place in it",
    "silence": "a submit that the carrier does not answer is Uncertain",
    "link": "a link that breaks is noticed and connected again",
    "loop": "the driver never blocks the event loop",
    "calls": "the driver answers its carrier, and nobody else",
    "old": "a proof that is too old is none",
    "body": "a body that was changed on its way is not proved",
    "identity": "what its carrier brings twice has an identity, and is stored once",
    "alphabets": "texts in every alphabet are taken",
    "length": "texts of any length are taken",
}
"""What :attr:`DriverSuite.unseen` may name besides claims of ``capabilities``."""


class DriverSuite(ConformanceSuite):
    """What the author of a driver overrides, and how checks open the driver."""

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
    """Passwords and keys of your settings: nothing that the driver reports may contain them."""
    ids: ClassVar[dict[type, dict[str, str]]] = {}
    """Ids that each suite's carrier gave in this process, and to which check."""

    def claim_of(self, claim: str) -> str:
        return _CLAIMS.get(claim, f"capabilities.{claim} is rightly True")

    def now_ms(self) -> int:
        """UTC epoch milliseconds, as driver and carrier know them."""
        return time.time_ns() // 1_000_000

    def open_driver(self) -> AbstractAsyncContextManager[Driver]:
        """A built driver that is not running, with its carrier ready."""
        raise NotImplementedError

    async def carrier_got(self) -> Sequence[CarrierGot]:
        """What the carrier got since the driver was opened, in order: an item for each submit,
        and none for one that it knows already (``same_id_is_safe``).

        Parts of a long message have ``number``, ``total`` and ``reference``. If the driver has no
        carrier, name ``segments`` in :attr:`unseen`; if its carrier does not learn the numbers of
        parts, name ``parts``. A carrier that fetches asks for its messages by itself, at once.
        """
        raise NotImplementedError

    async def send_to_us(self, sender: str, text: str) -> None:
        """Have the carrier bring us a message. Needed if the driver claims ``inbound``."""
        raise NotImplementedError

    async def mute_carrier(self) -> None:
        """Have the carrier take segments from now on, but answer nothing.

        Name ``silence`` in :attr:`unseen` if it always answers.
        """
        raise NotImplementedError

    async def cut_link(self) -> None:
        """Break the link, once; the carrier can be reached again at once or a moment later.

        For a driver without a link, such as one over HTTP, make the carrier unreachable for a
        moment. Name ``link`` in :attr:`unseen` if nothing can break.
        """
        raise NotImplementedError

    async def called_at(self, address: DriverAddress) -> None:
        """Tell your stand-in where it calls the driver, which is about to run.

        For a driver that is :class:`~risala.plugins.answering.Answering`. A stand-in that calls by
        HTTP takes :meth:`address.listen() <DriverAddress.listen>`, another one
        :meth:`address.call() <DriverAddress.call>`.
        """

    def carrier_calls(self) -> Sequence[CarrierCallback]:
        """A call of each kind by which your carrier brings receipts and texts, without its proof.

        Needed if the driver is :class:`~risala.plugins.answering.Answering`. Name ``calls`` in
        :attr:`unseen` if it is called for something else.
        """
        raise NotImplementedError

    def stream_calls(self) -> Sequence[CarrierCallback]:
        """A call of each kind that your driver answers with a
        :class:`~risala.plugins.answering.CarrierStream`, without its proof; none if it has no
        streams."""
        return ()

    async def tell_streams(self) -> None:
        """Have something happen of which the readers of streams are told. Not needed if a part
        comes by itself within :attr:`patience_s`."""

    def prove_call(
        self, call: CarrierCallback, *, age_s: float = 0.0, other: bool = False
    ) -> CarrierCallback:
        """A call with your carrier's proof: a signature, a token. Not needed if a secret in the
        address is the proof (``capabilities.secret_address``).

        Name ``old`` in :attr:`unseen` if the proof has no time in it, and ``body`` if it says
        nothing of the body.

        Args:
            age_s: how long ago the proof was made.
            other: by the key or token of another account at the carrier.
        """
        raise NotImplementedError

    @asynccontextmanager
    async def opened(self, check: str) -> AsyncIterator[DriverStage]:
        """The driver, built and not running."""
        async with self.open_driver() as driver:
            self._look_at(driver)
            self._tell_about(driver)
            ids = self.ids.setdefault(type(self), {})
            yield DriverStage(self, check, driver, ids, self.called_at)

    @asynccontextmanager
    async def running(self, check: str) -> AsyncIterator[DriverStage]:
        """The driver, running and up; at the end it is cancelled, and must end."""
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
                f"{type(driver).__name__} is not a driver: it lacks {', '.join(lacks)}.",
            )
        fault = fault_of_capabilities(driver.capabilities)
        if fault is not None:
            raise PluginFaultError("test_is_a_driver", f"{fault}.")

    def _tell_about(self, driver: Driver) -> None:
        capabilities = driver.capabilities
        names = [name for name in capabilities.__dataclass_fields__ if name != "account"]
        claims = {f"capabilities.{name}": getattr(capabilities, name) for name in names}
        self.tell_about(driver, **claims)
