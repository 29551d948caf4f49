"""A segment as an SMS-SUBMIT (3GPP TS 23.040 §9.2.2.2)."""

from __future__ import annotations

from risala.drivers.modem.tpdu.pdu import Submit, TpAddress, UserData
from risala.drivers.modem.tpdu.tpfields import relative_code
from risala.sms.message import Segment
from risala.sms.segment import user_data_header


def submit_of(segment: Segment, now_ms: int, *, status_report: bool) -> Submit:
    """Raises :class:`~risala.drivers.modem.tpdu.pdu.PduError` if the alphabet cannot carry it.

    The requested sender is ignored: the SIM's number is the sender.
    """
    header = b""
    place = segment.place
    if place is not None:
        header = user_data_header(place.reference, place.total, place.number)
    return Submit(
        destination=TpAddress.of_number(segment.recipient),
        user_data=UserData.of_text(
            segment.units, segment.alphabet, header=header, message_class=segment.message_class
        ),
        validity=relative_code((segment.expires_at_ms - now_ms) / 60_000),
        status_report=status_report,
    )
