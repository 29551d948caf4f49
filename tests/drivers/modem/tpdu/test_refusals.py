"""What is no PDU is refused with a word on where it stops making sense, which operators read."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from risala.drivers.modem.tpdu.coding import CharacterSet, Coding, coding_of
from risala.drivers.modem.tpdu.pdu import (
    Deliver,
    Direction,
    PduError,
    StatusReport,
    Submit,
    TpAddress,
    UserData,
    from_hex,
    to_hex,
)
from risala.drivers.modem.tpdu.tpfields import (
    Reader,
    pack_ussd,
    read_smsc,
    read_time,
    unpack_ussd,
    write_time,
)
from risala.drivers.modem.tpdu.userdata import read_user_data
from risala.sms.alphabet import choose_alphabet
from risala.sms.message import Alphabet

TO_PHONE, TO_NETWORK = Direction.TO_PHONE, Direction.TO_NETWORK
MAURITEL = TpAddress.of_number("+22236123456")  # eight octets on the wire
TEXT = UserData.of_text("hello", Alphabet.GSM7)


def ends(*runs):
    """What ends too early where a PDU is cut after so many octets, for each cut."""
    return [what for count, what in runs for _ in range(count)]


@pytest.mark.parametrize(
    ("tpdu", "cuts"),
    [
        (
            Submit(MAURITEL, TEXT, validity=170),
            ends(
                (2, "SUBMIT"), (8, "the address"), (2, "SUBMIT"), (1, "the validity"),
                (6, "the user data"),
            ),
        ),
        (
            Submit(MAURITEL, TEXT, validity=bytes(7), validity_format=0x18),
            ends(
                (2, "SUBMIT"), (8, "the address"), (2, "SUBMIT"), (7, "the validity"),
                (6, "the user data"),
            ),
        ),
        (
            Deliver(MAURITEL, TEXT, None),
            ends(
                (1, "DELIVER"), (8, "the address"), (2, "DELIVER"), (7, "the time stamp"),
                (6, "the user data"),
            ),
        ),
        (
            StatusReport(7, MAURITEL, None, None, 0),
            ends(
                (2, "STATUS-REPORT"), (8, "the address"), (7, "the time stamp"),
                (7, "the discharge time"), (1, "TP-ST"),
            ),
        ),
    ],
    ids=["submit", "absolute", "deliver", "report"],
)  # fmt: skip
def test_a_pdu_that_is_cut_tells_what_ends_too_early(tpdu, cuts):
    octets = tpdu.encode()
    assert len(octets) == len(cuts)
    for cut, what in enumerate(cuts):
        with pytest.raises(PduError, match=f"^{what} ends too early$"):
            type(tpdu).decode(octets[:cut])


def test_a_service_centre_that_is_cut_tells_so():
    octets = TpAddress("22200000001").encode_smsc()
    for cut in range(len(octets)):
        with pytest.raises(PduError, match=r"^the SMSC number ends too early$"):
            read_smsc(Reader(octets[:cut]))
    assert read_smsc(Reader(octets)) == TpAddress("22200000001")


@pytest.mark.parametrize(
    ("text", "direction", "why"),
    [
        ("", TO_PHONE, "not hexadecimal"),
        ("0", TO_PHONE, "not hexadecimal"),
        ("OK", TO_PHONE, "not hexadecimal"),
        ("00 11", TO_PHONE, "not hexadecimal"),
        ("٠٠", TO_PHONE, "not hexadecimal"),
        ("F" * 512, TO_PHONE, "longer than any PDU"),
        ("F" * 510, TO_PHONE, "SMSC number is longer than 10 octets"),
        ("0C91" + "00" * 30, TO_PHONE, "SMSC number is longer than 10 octets"),
        ("00", TO_NETWORK, "there is no octet"),
        ("0000", TO_NETWORK, "no SUBMIT"),
        ("0001", TO_PHONE, "no DELIVER"),
        ("000015" + "81" + "00" * 30, TO_PHONE, "longer than 20 semi-octets"),
    ],
)
def test_why_it_is_no_pdu(text, direction, why):
    with pytest.raises(PduError, match=why):
        from_hex(text, direction)


def test_a_pdu_of_another_kind_is_named():
    submit, deliver = Submit(MAURITEL, TEXT), Deliver(MAURITEL, TEXT, None)
    for kind, other in ((Submit, deliver), (Deliver, submit), (StatusReport, submit)):
        name = {Submit: "SUBMIT", Deliver: "DELIVER", StatusReport: "STATUS-REPORT"}[kind]
        with pytest.raises(PduError, match=f"^this is no {name}$"):
            kind.decode(other.encode())


def test_a_pdu_of_the_most_octets_is_read_with_its_padding():
    text = to_hex(Deliver(MAURITEL, TEXT, None))[0]
    assert from_hex(text + "F" * (510 - len(text)), TO_PHONE)[1].user_data.text == "hello"
    with pytest.raises(PduError, match="longer than any PDU"):
        from_hex(text + "F" * (512 - len(text)), TO_PHONE)


def test_without_a_service_centre_it_is_read_in_its_direction_too():
    submit = Submit(MAURITEL, TEXT)
    octets = submit.encode()
    assert from_hex(octets.hex(), TO_NETWORK, len(octets)) == (None, submit)


def test_the_service_centres_type_is_kept():
    for smsc in (TpAddress("12345", ton=2, npi=8), TpAddress("1" * 20, ton=0, npi=0)):
        assert read_smsc(Reader(smsc.encode_smsc())) == smsc
    with pytest.raises(PduError, match="the SMSC number is too long"):
        TpAddress("1" * 21).encode_smsc()


@pytest.mark.parametrize(
    ("address", "why"),
    [
        (TpAddress("1" * 21), "too long"),
        (TpAddress("twelveletters", 5, 0), "too long"),
        (TpAddress("12x"), "a character that no digit is"),
        (TpAddress("رسالة", 5, 0), "a character that GSM 7-bit lacks"),
    ],
)
def test_an_address_that_cannot_be_written(address, why):
    with pytest.raises(PduError, match=why):
        address.encode()


def test_a_short_code_is_of_no_known_type():
    assert TpAddress.of_number("1234") == TpAddress("1234", ton=0, npi=1)


# -- user data -------------------------------------------------------------------------------------


def delivered(dcs, length, octets, *, has_header=False):
    """The user data of a DELIVER, by hand."""
    head = bytes((0x44 if has_header else 0x04,)) + MAURITEL.encode() + bytes((0, dcs)) + bytes(7)
    return Deliver.decode(head + bytes((length,)) + octets).user_data


@pytest.mark.parametrize(
    ("dcs", "length", "octets", "why"),
    [
        (0x00, 161, bytes(160), "longer than 140 octets"),
        (0x08, 142, bytes(160), "longer than 140 octets"),
        (0x04, 141, bytes(160), "longer than 140 octets"),
        (0x20, 141, bytes(160), "longer than 140 octets"),
        (0x00, 160, bytes(139), "the user data ends too early"),
    ],
)
def test_user_data_that_does_not_fit_is_refused(dcs, length, octets, why):
    with pytest.raises(PduError, match=why):
        delivered(dcs, length, octets)


def test_a_header_that_does_not_fit_is_no_header():
    found = delivered(0x04, 2, b"\x05\x00", has_header=True)
    assert (found.header, found.data) == (b"", b"\x05\x00")


def test_a_header_that_does_not_fit_a_submit_is_refused_for_its_own_reason():
    with pytest.raises(PduError, match="the user data header is longer than the user data"):
        read_user_data(Reader(b"\x02\x05\x00"), 0x04, has_header=True)


def test_half_a_surrogate_pair_is_kept_only_where_another_part_may_mend_it():
    assert delivered(0x08, 2, b"\xd8\x3d").text == "\ufffd"
    part = bytes.fromhex("050003010201") + b"\xd8\x3d"
    assert delivered(0x08, len(part), part, has_header=True).text == "\ud83d"


def test_without_a_header_no_language_is_shifted_to():
    assert delivered(0x00, 2, bytes((0x1B | 0x67 << 7 & 0xFF, 0x67 >> 1))).text == "g"
    with pytest.raises(PduError, match="lacks"):
        UserData("ğ").encode()


def test_a_message_class_is_said_in_the_coding():
    for text, dcs in (("x", 0x12), ("ع", 0x1A)):
        assert UserData.of_text(text, choose_alphabet(text), message_class=2).dcs == dcs
    assert UserData.of_text("x", Alphabet.GSM7).dcs == 0


@pytest.mark.parametrize(
    ("dcs", "characters", "message_class", "waiting"),
    [
        (0xC8, CharacterSet.GSM7, None, True),
        (0xD8, CharacterSet.GSM7, None, True),
        (0xE8, CharacterSet.UCS2, None, True),
        (0xF1, CharacterSet.GSM7, 1, False),
        (0xF5, CharacterSet.EIGHT_BIT, 1, False),
        (0x08, CharacterSet.UCS2, None, False),
        (0x90, CharacterSet.GSM7, None, False),
    ],
)
def test_what_a_coding_says(dcs, characters, message_class, waiting):
    assert coding_of(dcs) == Coding(characters, message_class, message_waiting=waiting)


def test_a_ussd_string_is_filled_where_a_septet_is_left_over():
    for count, octets in ((7, 7), (8, 7), (15, 14), (16, 14), (17, 15)):
        packed = pack_ussd(b"a" * count)
        assert len(packed) == octets
        assert unpack_ussd(packed) == b"a" * count


# -- reports and times -----------------------------------------------------------------------------


def test_what_a_report_announces_is_read_by_its_own_header_bit():
    report = StatusReport(7, MAURITEL, None, None, 0, pid=1, user_data=UserData("@@@ok"))
    assert StatusReport.decode(report.encode()).user_data.text == "@@@ok"
    # TP-UD without TP-DCS is in the default alphabet.
    octets = StatusReport(7, MAURITEL, None, None, 0).encode() + bytes((0x04,)) + TEXT.encode()
    assert StatusReport.decode(octets).user_data == TEXT


@pytest.mark.parametrize("quarters", [-79, -12, -1, 0, 1, 10, 12, 79])
def test_a_time_zone_goes_and_comes_back(quarters):
    zone = timezone(timedelta(minutes=15 * quarters))
    moment = datetime(2000, 1, 2, 3, 4, 5, tzinfo=zone)
    found = read_time(Reader(write_time(moment)), "the time")
    assert (found, found.utcoffset()) == (moment, timedelta(minutes=15 * quarters))


def test_no_difference_to_the_world_has_no_sign():
    assert write_time(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)).hex() == "62102030405000"


@pytest.mark.parametrize(
    "moment",
    [
        datetime(1999, 12, 31, tzinfo=UTC),
        datetime(2100, 1, 1, tzinfo=UTC),
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=20))),
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=-20))),
    ],
)
def test_a_time_that_seven_octets_cannot_say(moment):
    with pytest.raises(PduError, match="the time cannot be written in seven octets"):
        write_time(moment)


def test_a_half_octet_that_is_no_digit_is_no_time():
    assert read_time(Reader(bytes.fromhex("621121A0955000")), "the time") is None
    assert read_time(Reader(bytes.fromhex("62112101955000")), "the time").hour == 10
