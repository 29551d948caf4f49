"""Sends one text of the operator's own by a named carrier."""

from __future__ import annotations

import re
from typing import Any, Final

import structlog
import trio

from risala.engine.delivery.worker.discreet import discreet
from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.features.own_texts.feature import ANSWERS, TEXT, OperatorText, ServiceReplies
from risala.engine.features.own_texts.stored import OwnTextRepository
from risala.engine.kernel.arguments import Text
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.cause_sentences import cause_sentence
from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.engine.operations.carriers import OfCarrier
from risala.engine.rules.roles import OPERATORS, SUPPORT
from risala.plugins.contract import COMMAND_S
from risala.plugins.fits import fault_of
from risala.sms.cause import Cause
from risala.sms.limits import TEXT_CHARACTERS_MAX
from risala.sms.message import WHOLE, Segment
from risala.sms.outcome import Accepted, Outcome, Refused, Uncertain, Unsent
from risala.sms.segment import count

log = structlog.get_logger(__name__)

VALIDITY_MS: Final = 3_600_000
"""An hour: who tries a carrier does not wait longer."""
NOT_FETCHED: Final = (
    f"The carrier did not fetch it within {COMMAND_S:g} s. It is withdrawn: nothing has left."
)
_NUMBER: Final = re.compile(r"\+?[0-9]{3,15}")


class TextByCarrier(OfCarrier):
    """Send one text by a carrier, without an organization and without a charge."""

    number: Text
    """With ``+`` and the country's code; or a short code."""
    text: Text


class ListAnswers(OfCarrier):
    """What short codes and service numbers wrote back to texts of the operator's own, by a carrier:
    the latest twenty."""


OPERATIONS: Final = Operations()


@OPERATIONS(TEXT, roles=OPERATORS, operators=SUPPORT, changes=OperatorText)
async def _text(call: Call[TextByCarrier]) -> OperatorText:
    name = call.arguments.carrier
    worker = _worker(call, name)
    segment = _segment(call, worker)
    # Written first, as with a driver's commands: it cannot be undone. Without number and text.
    by = call.audit(subject=name, always=True)
    number = call.services.settings.plan.with_country(
        segment.recipient, worker.carrier.national_prefix
    )
    if not number.startswith("+"):  # a short code, or a service's: a phone's has its country's code
        await call.stored(OwnTextRepository).note(by, name, number, call.now_ms)
    else:
        await call.note(by)
    worker.fence()
    outcome = discreet(await _submitted(worker, segment), segment, is_code=False)
    return _answer_of(name, outcome)


@OPERATIONS(ANSWERS, roles=OPERATORS, operators=SUPPORT)
async def _answers(call: Call[ListAnswers]) -> ServiceReplies:
    name = call.arguments.carrier
    _refuse_unknown(call, name)
    return ServiceReplies(tuple(call.stored(OwnTextRepository).latest(name)))


def _refuse_unknown(call: Call[Any], name: str) -> None:
    """Raises ``NotFound``: there is no such carrier."""
    if name not in {each.name for each in call.services.delivery.carriers()}:
        raise NotFound(f"There is no carrier {name!r}.")


def _worker(call: Call[TextByCarrier], name: str) -> CarrierWorker:
    """The carrier, if it can send now.

    Raises:
        NotFound: there is none.
        Conflict: it cannot.
    """
    _refuse_unknown(call, name)
    workers = call.services.delivery.workers()
    worker = next((each for each in workers if each.name == name), None)
    if worker is None:
        raise Conflict("The service is not running, so no carrier is connected.")
    if not worker.standing.is_up:
        raise Conflict(f"{name} cannot send now: {worker.driver_health.text}")
    return worker


def _segment(call: Call[TextByCarrier], worker: CarrierWorker) -> Segment:
    number, text = call.arguments.number, call.arguments.text
    if not _NUMBER.fullmatch(number):
        sentence = "`number` is digits, with `+` and the country's code; or a short code."
        raise Invalid("number", "invalid_number", sentence)
    if not 1 <= len(text) <= TEXT_CHARACTERS_MAX:
        sentence = f"`text` has 1 to {TEXT_CHARACTERS_MAX} characters."
        raise Invalid("text", "too_long", sentence)
    counted = count(text)
    if counted.segments > 1 and not worker.driver.capabilities.takes_whole:
        raise Invalid("text", "too_long", "`text` must fit one SMS by this carrier.")
    return Segment(
        message_id=call.services.ids.new("own"),
        number=1 if counted.segments == 1 else WHOLE,
        total=1,
        attempt=1,
        sender=call.services.settings.service.default_sender,
        recipient=number,
        alphabet=counted.alphabet,
        text=text,
        reference=0,
        expires_at_ms=call.now_ms + VALIDITY_MS,
    )


async def _submitted(worker: CarrierWorker, segment: Segment) -> Outcome:
    """What the driver answers, whatever it does. A text that its carrier has not fetched is with
    nobody, and nobody gets it."""
    outcome: object = Uncertain("TIMEOUT")
    try:
        with worker.offers.own(segment) as fetched, trio.move_on_after(COMMAND_S) as wait:
            outcome = await worker.driver.submit(segment)
        is_left = fetched.is_set() or not worker.driver.capabilities.fetches
        if wait.cancelled_caught and not is_left:
            return Unsent("", NOT_FETCHED)
    except Exception:  # a driver's bug is logged and affects nothing else
        log.exception("driver.submit_failed", carrier=worker.name)
        return Uncertain("", cause=Cause.DRIVER_FAULT)
    if fault := fault_of(outcome):
        log.error("driver.wrong_answer", carrier=worker.name, fault=fault)
        return Uncertain("", cause=Cause.DRIVER_FAULT)
    assert isinstance(outcome, Outcome)
    return outcome


def _answer_of(carrier: str, outcome: Outcome) -> OperatorText:
    if isinstance(outcome, Accepted):
        text = "The carrier has taken it."
        return OperatorText(
            carrier, "accepted", outcome.carrier_id or None, None, outcome.raw, text
        )
    kind = next(
        (
            word
            for known, word in ((Refused, "refused"), (Unsent, "unsent"), (Uncertain, "uncertain"))
            if isinstance(outcome, known)
        ),
        "throttled",
    )
    carrier_id = outcome.carrier_id if isinstance(outcome, Uncertain) else None
    text = outcome.text or cause_sentence(outcome.cause)
    return OperatorText(carrier, kind, carrier_id, outcome.cause.value, outcome.raw, text)
