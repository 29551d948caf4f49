"""The numbers of ours by which a phone can prove its own, and why the others cannot."""

from __future__ import annotations

from collections.abc import Iterator

from risala.engine.delivery.worker.worker import UNTRUSTED, CarrierWorker
from risala.engine.features.reverse.records import CarrierOrigin, LineFault, ReverseLine
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty
from risala.engine.model.records.verify.sessions import Method
from risala.engine.model.states import Gate
from risala.engine.services import Services
from risala.sms.numbering.countries import network


def origin_of(services: Services, worker: CarrierWorker) -> CarrierOrigin:
    """Whether phones can prove their numbers by a carrier."""
    details = worker.standing.health.details
    own = details.get("number")
    number = worker.carrier.own_number or (str(own) if own else "")
    fault = None
    if not worker.driver.capabilities.inbound:
        fault = LineFault.DEAF
    elif worker.origin == UNTRUSTED:
        fault = LineFault.UNTRUSTED
    elif _serves_payments(services, worker.name):
        fault = LineFault.TAKEN
    elif not number:
        fault = LineFault.NAMELESS
    # A modem whose SIM or firmware tells no callers says so once it is ready.
    can_ring = worker.driver.capabilities.calls and details.get("calls", "yes") == "yes"
    calls = fault is None and can_ring
    return CarrierOrigin(worker.origin, number, fault, calls)


def _serves_payments(services: Services, carrier: str) -> bool:
    taker_of = duty(Duty.CARRIER_TEXTS) if services.surroundings.plugged else None
    return taker_of is not None and taker_of(services, carrier) is not None


def best_line(services: Services, method: Method, to: str | None) -> ReverseLine | None:
    """The number that a phone texts or calls: of its own network, where there is one; of a carrier
    whose link is up. A call needs that; a text waits in the network. None: there is no number."""
    order = [
        (
            not worker.standing.is_up or worker.standing.gate is Gate.PAUSED,
            to is not None and network(to) not in worker.carrier.networks,
            worker.carrier.priority,
            worker.name,
            origin.number,
        )
        for worker, origin in _usable(services, method)
    ]
    if method is Method.MISSED_CALL:
        order = [each for each in order if not each[0]]
    if not order:
        return None
    *_, name, number = min(order)
    return ReverseLine(number, name)


def _usable(services: Services, method: Method) -> Iterator[tuple[CarrierWorker, CarrierOrigin]]:
    for worker in services.delivery.workers():
        origin = origin_of(services, worker)
        can = origin.calls if method is Method.MISSED_CALL else origin.fault is None
        if can and not worker.carrier.is_channel:
            yield worker, origin
