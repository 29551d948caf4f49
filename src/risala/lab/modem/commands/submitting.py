"""A segment on its way from the modem to the network."""

from __future__ import annotations

from risala.drivers.modem.tpdu.pdu import Submit, TpAddress
from risala.lab.modem.at.replies import Cms, CmsError, LaterReply, Rows
from risala.lab.modem.modem_state import ModemCore
from risala.lab.modem.world.config import ReferenceForm


def send(
    modem: ModemCore, submit: Submit, smsc: TpAddress | None, *, name: str = "+CMGS"
) -> Rows | LaterReply:
    """Send a segment to the network; the answer to ``name``, perhaps after a while.

    Raises:
        CmsError: the network refuses it, or takes it and answers with an error all the same.
    """
    config, network = modem.config, modem.network
    if not modem.is_registered:
        raise CmsError(Cms.NO_NETWORK_SERVICE)
    if smsc is None and not modem.smsc_number:
        raise CmsError(Cms.SMSC_UNKNOWN)
    if config.full_blocks_sending and any(store.is_full for store in modem.stores.values()):
        raise CmsError(Cms.MEMORY_FULL)
    reference = network.next_reference()
    refusal = modem.mood.refusal()
    if refusal is not None and not refusal.taken:
        network.refused(submit, reference, refusal.error)
        raise CmsError(refusal.error)
    reports = modem.mood.reports(network.plan(submit))
    network.submit(submit, reference, reports, refusal.error if refusal else None)
    if refusal is not None:
        raise CmsError(refusal.error)
    answer = f"{name}: {_as_written(config.reference_form, reference)}"
    if config.answer_after_s:
        return LaterReply(config.answer_after_s, lambda: (answer,))
    return (answer,)


def _as_written(form: ReferenceForm, reference: int) -> int:
    match form:
        case ReferenceForm.ZERO:
            return 0
        case ReferenceForm.MINUS:
            return -1
        case ReferenceForm.WRONG:
            return (reference + 100) % 256
        case _:
            return reference
