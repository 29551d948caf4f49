"""Answers what carriers ask at their addresses, by their drivers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Protocol

import structlog
import trio

from risala.config.model import CarrierSection
from risala.dataclass import dataclass
from risala.engine.features.answering.rules import CallPlace, CallPlaces, may_call
from risala.engine.features.answering.stored import AddressRepository, StoredAddress
from risala.engine.model.clock import Clock
from risala.engine.services import Services
from risala.engine.upkeep.carrier_metrics import counter
from risala.plugins.answering import (
    ANSWER_S,
    STREAM_S_MAX,
    Answering,
    CarrierAnswer,
    CarrierRequest,
    CarrierStream,
    RequestRefusedError,
    SendPart,
)
from risala.plugins.contract import Driver, NotStoredError

if TYPE_CHECKING:
    from prometheus_client.core import Metric

log = structlog.get_logger(__name__)

SAID_EVERY_S: Final = 60.0
"""Seconds between two lines in the log about failures of one carrier's driver."""
STANDING_S: Final = 1.0
"""Seconds in which a driver proves a call for which no place was left."""
UNPROVED: Final = "This is not a request of the carrier."
"""The answer to who is not proved; it says no more than that."""
NOT_RUNNING: Final = "The carrier's driver is not running. Try again in a moment."
NOT_STORED: Final = "This could not be stored now. Send it again in a moment."
FAILED: Final = "The carrier's driver failed."


@dataclass(frozen=True, slots=True, eq=False)
class ArrivedCall:
    """A request to a carrier's address, as it came."""

    request: Callable[[str, CallPlace, Callable[[], None]], CarrierRequest]
    """Makes it for the driver: of the path after the secret, the call's place, and what the driver
    calls when the caller is proved."""
    method: str
    path: str
    """What follows the carrier's word in the address."""
    address: str | None
    address_key: Hashable
    """What the places of this address are counted by."""


class NotesTraffic(Protocol):
    """Keeps lines of a carrier's traffic."""

    def note(self, sent: bool, tell: Callable[..., str], *values: object) -> None:
        """See :meth:`risala.plugins.contract.DriverContext.traffic`."""


class CalledWorker(Protocol):
    """What runs a carrier, as far as calls to it need that."""

    @property
    def name(self) -> str: ...

    @property
    def carrier(self) -> CarrierSection: ...

    @property
    def driver(self) -> Driver: ...

    @property
    def driving(self) -> trio.Event | None:
        """Set when its driver ends; None: it is not running."""

    @property
    def traffic(self) -> NotesTraffic: ...


@dataclass(frozen=True, slots=True, eq=False)
class Callee:
    """A carrier that is called."""

    worker: CalledWorker
    driver: Answering

    @property
    def name(self) -> str:
        return self.worker.name

    @property
    def path(self) -> str:
        """The word of its address."""
        return self.worker.carrier.address

    @property
    def has_secret(self) -> bool:
        """Whether a secret in its address proves who calls."""
        return self.worker.driver.capabilities.secret_address


@dataclass(frozen=True, slots=True, eq=False)
class OpenStream:
    """A stream that was granted. It has a place until it :meth:`end`s."""

    stream: CarrierStream
    end: Callable[[], None]
    _driving: trio.Event
    _failed: Callable[[str], None]

    async def run(self, send: SendPart, stop: trio.Event) -> None:
        """Send its parts until its end, the end of its driver, or of the service."""
        with trio.move_on_after(STREAM_S_MAX) as scope:
            async with trio.open_nursery() as nursery:
                for over in (self._driving, stop):
                    nursery.start_soon(_cancel_after, over, scope)
                try:
                    await self.stream.write(send)
                except Exception as error:  # noqa: BLE001 -- a driver's bug ends its stream alone
                    self._failed(type(error).__name__)
                nursery.cancel_scope.cancel()


async def _cancel_after(over: trio.Event, scope: trio.CancelScope) -> None:
    await over.wait()
    scope.cancel()


MakeRequest = Callable[[Callable[[], None]], CarrierRequest]
Answered = CarrierAnswer | OpenStream


class CallAnswerer:
    """Answers the calls of carriers, whoever runs their drivers.

    Args:
        workers: what runs each carrier now.
        addresses: the secrets in addresses, by carrier.
        public_url: where the service is called; empty: drivers are not told.
    """

    def __init__(
        self,
        workers: Callable[[], Iterable[CalledWorker]],
        addresses: Mapping[str, StoredAddress],
        clock: Clock,
        public_url: str = "",
    ) -> None:
        self._public_url = public_url
        self._workers = workers
        self._clock = clock
        self._addresses = dict(addresses)
        self._places = CallPlaces()
        self._said_s: dict[str, float] = {}
        self.counts: Counter[tuple[str, str]] = Counter()
        """Calls since the start, by carrier and what became of them: ``proved``, ``unproved``,
        ``failed``."""

    def learn(self, address: StoredAddress) -> None:
        """Take over the secret that is in force now."""
        self._addresses[address.carrier] = address

    def stored(self, carrier: str) -> StoredAddress | None:
        """The secret of a carrier's address, as it is stored; None: none was made yet."""
        return self._addresses.get(carrier)

    def at(self, path: str) -> Callee | None:
        """The carrier whose address has this word; None: there is none."""
        return next((each for each in self._all() if each.path == path), None)

    def of_carrier(self, name: str) -> Callee | None:
        """The carrier of this name, if it is called; None: it is not, or is not there."""
        return next((each for each in self._all() if each.name == name), None)

    def url_of(self, callee: Callee) -> str:
        """A carrier's address, without the secret that it may have."""
        return f"{self._public_url}/carriers/{callee.path}"

    def _all(self) -> Iterator[Callee]:
        for worker in self._workers():
            if isinstance(worker.driver, Answering):
                yield Callee(worker, worker.driver)

    async def answer(self, callee: Callee, arrival: ArrivedCall) -> Answered:
        """Have a carrier's driver answer a request.

        Raises:
            RequestRefusedError: 401, the caller is not proved; or why it is not answered now.
        """
        began_s, worker = trio.current_time(), callee.worker
        if not may_call(arrival.address, worker.carrier.allowed_addresses):
            raise self._unproved(callee)
        driving = worker.driving
        if driving is None:
            raise RequestRefusedError(503, NOT_RUNNING)
        path, is_proved = self._opened(callee, arrival.path)
        place = self._entered(callee, arrival, is_proved=is_proved)
        stays = False
        try:
            answer = await self._asked(callee, place, partial(arrival.request, path, place))
            self.counts[callee.name, "proved"] += 1
            if isinstance(answer, CarrierStream):
                place.stream()
                stays = True
                return OpenStream(answer, place.leave, driving, partial(self._failed, callee))
        finally:
            if not stays:
                place.leave()
        took_s = trio.current_time() - began_s
        worker.traffic.note(False, _line, arrival.method, path, answer.status, took_s)
        return answer

    def _entered(self, callee: Callee, arrival: ArrivedCall, *, is_proved: bool) -> CallPlace:
        if is_proved:
            return self._places.enter_proved(callee.name)
        return self._places.enter(callee.name, arrival.address_key)

    def _opened(self, callee: Callee, path: str) -> tuple[str, bool]:
        """The path without the address's secret, and whether the secret is right."""
        if not callee.has_secret:
            return path, False
        secret, slash, rest = path.removeprefix("/").partition("/")
        stored = self._addresses.get(callee.name)
        digest = sha256(secret.encode()).digest()
        is_right = stored is not None and stored.has(digest, self._clock.now_ms())
        return slash + rest, is_right

    async def _asked(
        self, callee: Callee, place: CallPlace, make: MakeRequest
    ) -> CarrierAnswer | CarrierStream:
        """What the driver answers to a caller whom it has proved. Raises as :meth:`answer`."""
        try:
            answer = await self._by_driver(callee, place, make)
        except RequestRefusedError:
            if place.is_proved or place.is_turned_away:
                raise
        else:
            if place.is_proved:
                return answer
        raise self._unproved(callee)

    async def _by_driver(
        self, callee: Callee, place: CallPlace, make: MakeRequest
    ) -> CarrierAnswer | CarrierStream:
        def prove() -> None:
            place.prove()
            scope.deadline = trio.current_time() + ANSWER_S

        try:
            with trio.fail_after(ANSWER_S if place.may_wait else STANDING_S) as scope:
                answer: object = await callee.driver.answer(make(prove))
        except RequestRefusedError:
            raise
        except NotStoredError:
            raise RequestRefusedError(503, NOT_STORED) from None
        except trio.TooSlowError:
            if place.is_proved:
                self._failed(callee, "too slow")
            raise RequestRefusedError(503, NOT_STORED) from None
        except Exception as error:  # noqa: BLE001 -- a driver's bug has an answer too
            self._failed(callee, type(error).__name__)
            raise RequestRefusedError(500, FAILED) from None
        if not isinstance(answer, CarrierAnswer | CarrierStream):
            self._failed(callee, f"a {type(answer).__name__} is no answer")
            raise RequestRefusedError(500, FAILED)
        if fault := _fault_of(answer):
            self._failed(callee, fault)
            raise RequestRefusedError(500, FAILED)
        return answer

    def _failed(self, callee: Callee, fault: str) -> None:
        """A line in the log, without what came: it may be a secret or a text."""
        self.counts[callee.name, "failed"] += 1
        now_s = trio.current_time()
        if now_s >= self._said_s.get(callee.name, now_s):
            self._said_s[callee.name] = now_s + SAID_EVERY_S
            log.error("carrier.call_failed", carrier=callee.name, fault=fault)

    def _unproved(self, callee: Callee) -> RequestRefusedError:
        self.counts[callee.name, "unproved"] += 1
        return RequestRefusedError(401, UNPROVED)


class CarrierCalls(CallAnswerer):
    """Answers the calls of all carriers of a service."""

    def __init__(self, services: Services) -> None:
        stored = services.repositories.part(AddressRepository)
        workers, clock = services.delivery.workers, services.recorder.clock
        super().__init__(workers, stored.addresses(), clock, services.public_url)


def _fault_of(answer: CarrierAnswer | CarrierStream) -> str | None:
    """What of an answer no client can get; None: nothing."""
    if isinstance(answer, CarrierAnswer) and not 200 <= answer.status <= 599:
        return f"{answer.status} is no status of an answer"
    fields = [("content-type", answer.content_type), *answer.headers]
    if any(character in text for pair in fields for text in pair for character in "\r\n\0"):
        return "a header field has an end of line in it"
    return None


def _line(method: str, path: str, status: int, took_s: float) -> str:
    return f"{method} {path or '/'} {status}, {took_s * 1000:.0f} ms"


def metrics(services: Services) -> Iterator[Metric]:
    """Calls of carriers since the start; empty where none has called."""
    calls = services.parts.get(CarrierCalls)
    if calls is not None and calls.counts:
        text = "Requests to carriers' addresses, by what became of them."
        rows = [
            ({"carrier": carrier, "outcome": outcome}, count)
            for (carrier, outcome), count in sorted(calls.counts.items())
        ]
        yield counter("carrier_requests", text, rows)
