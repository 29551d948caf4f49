"""Matches receipts that matched no message once more, with what is known now.

A carrier that writes the ids of answers and receipts in two forms shows itself by receipts that
match nothing. Once ``message_id_form`` is set, the earlier receipts can be used too.

A carrier that gives every message the same id shows itself with its second message. The receipt of
the first one is matched by the submit that it names, before it is given up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import structlog
import trio

from risala.engine.delivery.worker.worker import CarrierWorker
from risala.engine.journal.messages.held import ReceiptRepository
from risala.engine.journal.recorder import Page, Recorder
from risala.engine.model.errors import Unavailable
from risala.engine.model.records.attempts import Arrival
from risala.plugins.contract import IdForms

log = structlog.get_logger(__name__)

_AT_ONCE: Final = 50
"""Receipts that are looked up together: some milliseconds' worth."""


async def match_again(lane: CarrierWorker, receipts: ReceiptRepository) -> None:
    """Use the receipts of a worker's carrier that fit a message now.

    Each is removed after it was recorded: a crash in between gives a second line in the timeline,
    and loses nothing.
    """
    driver = lane.driver
    if not isinstance(driver, IdForms):
        return
    recorder, matched = lane.recorder, 0
    carriers = recorder.groups.of(lane.name)
    try:
        for number, one in enumerate(receipts.unused(lane.name), 1):
            if number % _AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
            also = driver.other_ids(one.receipt.carrier_id)
            receipt = replace(one.receipt, also_known_as=also)
            if not receipts.is_waited_for(carriers, receipt, one.received_at):
                continue
            await lane.scribe.received(Arrival(lane.name, receipt, recorder.stamp()))
            await receipts.use(lane.name, receipt)
            matched += 1
    except Unavailable as error:
        log.warning("receipts.storage", carrier=lane.name, reason=str(error))
    if matched:
        log.info("receipts.matched_again", carrier=lane.name, count=matched)


async def match_ending(recorder: Recorder, receipts: ReceiptRepository, before_ms: int) -> None:
    """Use the receipts held since before ``before_ms`` that fit a message now."""
    for number, one in enumerate(receipts.ending(before_ms), 1):
        if number % _AT_ONCE == 0:
            await trio.lowlevel.checkpoint()
        carriers = recorder.groups.of(one.carrier)
        if not receipts.is_waited_for(carriers, one.receipt, one.received_at):
            continue
        arrival = Arrival(one.carrier, one.receipt, recorder.stamp())
        written = await recorder.write(Page((), (arrival,), ()))
        if written.arrivals == [None]:
            await receipts.use(one.carrier, one.receipt)
