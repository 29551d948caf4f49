"""The optional parameters of SMPP 3.4 (§5.3.2) and 5.0 (§4.8.4): tag, name, values. Pure.

For people and for settings; the codec carries any tag, known or not.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.smpp.protocol.tlv import Tlv

OCTETS_MAX: Final = 0xFFFF


class TlvKind(StrEnum):
    """The type of a parameter's value."""

    INTEGER = "integer"
    C_OCTETS = "c_octets"
    """Text with a NUL at its end."""
    OCTETS = "octets"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One optional parameter of the standard, and the type of its value."""

    tag: int
    name: str
    kind: TlvKind
    octets_min: int
    octets_max: int


_I, _C, _O = TlvKind.INTEGER, TlvKind.C_OCTETS, TlvKind.OCTETS
_ROWS: Final = (
    (0x0005, "dest_addr_subunit", _I, 1, 1),
    (0x0006, "dest_network_type", _I, 1, 1),
    (0x0007, "dest_bearer_type", _I, 1, 1),
    (0x0008, "dest_telematics_id", _I, 2, 2),
    (0x000D, "source_addr_subunit", _I, 1, 1),
    (0x000E, "source_network_type", _I, 1, 1),
    (0x000F, "source_bearer_type", _I, 1, 1),
    (0x0010, "source_telematics_id", _I, 1, 1),
    (0x0017, "qos_time_to_live", _I, 4, 4),
    (0x0019, "payload_type", _I, 1, 1),
    (0x001D, "additional_status_info_text", _C, 1, 256),
    (0x001E, "receipted_message_id", _C, 1, 65),
    (0x0030, "ms_msg_wait_facilities", _I, 1, 1),
    (0x0201, "privacy_indicator", _I, 1, 1),
    (0x0202, "source_subaddress", _O, 2, 23),
    (0x0203, "dest_subaddress", _O, 2, 23),
    (0x0204, "user_message_reference", _I, 2, 2),
    (0x0205, "user_response_code", _I, 1, 1),
    (0x020A, "source_port", _I, 2, 2),
    (0x020B, "destination_port", _I, 2, 2),
    (0x020C, "sar_msg_ref_num", _I, 2, 2),
    (0x020D, "language_indicator", _I, 1, 1),
    (0x020E, "sar_total_segments", _I, 1, 1),
    (0x020F, "sar_segment_seqnum", _I, 1, 1),
    (0x0210, "sc_interface_version", _I, 1, 1),
    (0x0302, "callback_num_pres_ind", _I, 1, 1),
    (0x0303, "callback_num_atag", _O, 0, 65),
    (0x0304, "number_of_messages", _I, 1, 1),
    (0x0381, "callback_num", _O, 4, 19),
    (0x0420, "dpf_result", _I, 1, 1),
    (0x0421, "set_dpf", _I, 1, 1),
    (0x0422, "ms_availability_status", _I, 1, 1),
    (0x0423, "network_error_code", _O, 3, 3),
    (0x0424, "message_payload", _O, 0, OCTETS_MAX),
    (0x0425, "delivery_failure_reason", _I, 1, 1),
    (0x0426, "more_messages_to_send", _I, 1, 1),
    (0x0427, "message_state", _I, 1, 1),
    (0x0428, "congestion_state", _I, 1, 1),
    (0x0501, "ussd_service_op", _O, 1, 1),
    (0x0600, "broadcast_channel_indicator", _I, 1, 1),
    (0x0601, "broadcast_content_type", _O, 3, 3),
    (0x0602, "broadcast_content_type_info", _O, 1, 255),
    (0x0603, "broadcast_message_class", _I, 1, 1),
    (0x0604, "broadcast_rep_num", _I, 2, 2),
    (0x0605, "broadcast_frequency_interval", _O, 3, 3),
    (0x0606, "broadcast_area_identifier", _O, 1, 100),
    (0x0607, "broadcast_error_status", _I, 4, 4),
    (0x0608, "broadcast_area_success", _I, 1, 1),
    (0x0609, "broadcast_end_time", _C, 1, 17),
    (0x060A, "broadcast_service_group", _O, 1, 255),
    (0x060B, "billing_identification", _O, 1, 1024),
    (0x060D, "source_network_id", _C, 7, 65),
    (0x060E, "dest_network_id", _C, 7, 65),
    (0x060F, "source_node_id", _O, 6, 6),
    (0x0610, "dest_node_id", _O, 6, 6),
    (0x0611, "dest_addr_np_resolution", _I, 1, 1),
    (0x0612, "dest_addr_np_information", _O, 10, 10),
    (0x0613, "dest_addr_np_country", _O, 1, 5),
    (0x1201, "display_time", _I, 1, 1),
    (0x1203, "sms_signal", _I, 2, 2),
    (0x1204, "ms_validity", _I, 1, 1),
    (0x130C, "alert_on_message_delivery", _O, 0, 1),
    (0x1380, "its_reply_type", _I, 1, 1),
    (0x1383, "its_session_info", _O, 2, 2),
)

PARAMETERS: Final[dict[int, Parameter]] = {row[0]: Parameter(*row) for row in _ROWS}
"""Every parameter by its tag."""
TAGS: Final[dict[str, int]] = {row.name: row.tag for row in PARAMETERS.values()}


def name_of(tag: int) -> str:
    """The standard's name; ``0x1400`` if it has none."""
    row = PARAMETERS.get(tag)
    return row.name if row else f"0x{tag:04X}"


def make_tlv(name: str, value: int | str) -> Tlv:
    """A parameter as settings write it: a number, a text, or ``hex:0a0b``.

    Args:
        name: the standard's, or a tag such as ``0x1400``.

    Raises:
        ValueError: ``str()`` is the reason, in one sentence.
    """
    tag = _tag(name)
    row = PARAMETERS.get(tag)
    octets = _octets(name, row, value)
    least, most = (row.octets_min, row.octets_max) if row else (0, OCTETS_MAX)
    if not least <= len(octets) <= most:
        raise ValueError(f"{name} takes {least} to {most} octets")
    return Tlv(tag, octets)


def _tag(name: str) -> int:
    if name in TAGS:
        return TAGS[name]
    try:
        tag = int(name, 16) if name.startswith("0x") else -1
    except ValueError:
        tag = -1
    if not 0 <= tag <= 0xFFFF:
        raise ValueError(f"{name} is neither a parameter of SMPP nor a tag such as 0x1400")
    return tag


def _octets(name: str, row: Parameter | None, value: int | str) -> bytes:
    if isinstance(value, str):
        if value.startswith("hex:"):
            return bytes.fromhex(value.removeprefix("hex:"))
        if row and row.kind is TlvKind.INTEGER:
            raise ValueError(f"{name} is a number")
        end = b"\0" if row and row.kind is TlvKind.C_OCTETS else b""
        return value.encode("latin-1") + end
    size = row.octets_max if row and row.kind is TlvKind.INTEGER else max(1, _size_of(value))
    if value < 0 or value >= 1 << (8 * size):
        raise ValueError(f"{name} is a number of {size} octets")
    return value.to_bytes(size)


def _size_of(value: int) -> int:
    return (value.bit_length() + 7) // 8
