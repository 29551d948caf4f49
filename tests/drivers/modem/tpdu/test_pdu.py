"""TPDUs: known ones octet by octet, identity, oracles that we did not write, and rubbish."""

from datetime import UTC, datetime, timedelta, timezone
from io import StringIO

import gsmmodem.pdu
import pytest
import smspdudecoder.fields
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import examples
from risala.drivers.modem.sender import submit_of
from risala.drivers.modem.tpdu.coding import CharacterSet, coding_of, dcs_of
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
    pack,
    pack_ussd,
    relative_code,
    relative_minutes,
    unpack,
    unpack_ussd,
)
from risala.plugins.testing.conformance import segment
from risala.sms.alphabet import GSM7_CHARACTERS, choose_alphabet
from risala.sms.message import Alphabet
from risala.sms.segment import join, split, user_data_header

TO_PHONE, TO_NETWORK = Direction.TO_PHONE, Direction.TO_NETWORK
MAURITEL = TpAddress.of_number("+22236123456")


def text_data(text, **more):
    return UserData.of_text(text, choose_alphabet(text), **more)


# -- known octets ----------------------------------------------------------------------------------


def test_septets_of_the_classic_example():
    assert pack(b"hellohello").hex().upper() == "E8329BFD4697D9EC37"


def test_submit_octet_by_octet():
    submit = Submit(
        TpAddress.of_number("+46708251358"),
        text_data("hellohello"),
        validity=170,
        status_report=True,
    )
    # SMSC from the SIM, 31 = SUBMIT + relative validity + report, MR 0, 11 digits, TOA 91
    assert to_hex(submit) == ("0031000B916407281553F80000AA0AE8329BFD4697D9EC37", 23)


def test_deliver_octet_by_octet():
    hexadecimal = "07917283010010F5040BC87238880900F10000993092516195800AE8329BFD4697D9EC37"
    smsc, deliver = from_hex(hexadecimal, TO_PHONE)
    assert smsc == TpAddress("27381000015")
    assert deliver.originator == TpAddress("27838890001", ton=4, npi=8)
    assert deliver.sent_at == datetime(2099, 3, 29, 15, 16, 59, tzinfo=timezone(timedelta(hours=2)))
    assert deliver.user_data.text == "hellohello"
    assert not deliver.more_messages
    assert to_hex(deliver, smsc)[0] == hexadecimal


def test_status_report_octet_by_octet():
    hexadecimal = "079144775810065006140B91447791111111901082813024409010828130244000"
    smsc, report = from_hex(hexadecimal, TO_PHONE)
    assert smsc.readable == "+447785016005"
    assert report.reference == 0x14
    assert report.recipient.text == "44771911111"
    assert report.status == 0


def test_alphanumeric_originator():
    for text in [
        "Mauritel",
        "MATTEL",
        "Chinguitel",
        "RISALA12345",
        "Café Ñ",
        "€uro",
        "a",
        "1234567",
    ]:
        deliver = Deliver(TpAddress(text, 5, 0), text_data("x"), None)
        assert Deliver.decode(deliver.encode()).originator.text == text


def test_alphanumeric_originator_whose_length_counts_whole_octets():
    # Seven characters in seven octets, and the network says 14 semi-octets instead of 13.
    octets = bytes((0x04, 14, 0xD0)) + pack(b"INFOSMS") + bytes(2) + bytes(7) + b"\0"
    assert Deliver.decode(octets).originator.text == "INFOSMS"


@pytest.mark.parametrize(
    ("text", "ton", "readable"),
    [("22236123456", 1, "+22236123456"), ("1234", 0, "1234"), ("*100#", 0, "*100#"), ("", 1, "")],
)
def test_numbers_read_as_people_write_them(text, ton, readable):
    deliver = Deliver(TpAddress(text, ton), text_data("x"), None)
    assert Deliver.decode(deliver.encode()).originator.readable == readable


def test_a_fill_before_the_end_ends_the_number():
    octets = bytes.fromhex("0408912143F5FF00000000000000000000")
    assert Deliver.decode(octets).originator.text == "12345"


def test_a_concatenated_part_has_fill_bits():
    header = user_data_header(0xCC, 2, 1)
    part = UserData.of_text("A" * 153, Alphabet.GSM7, header=header)
    octets = part.encode()
    assert octets[0] == 160
    assert octets[1:7] == bytes.fromhex("050003CC0201")
    assert octets[7] == ord("A") << 1  # one fill bit after six octets
    assert len(octets) == 141


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("text", ["x" * 400, "€[]" * 90, "سلام " * 60, "😀é" * 60])
def test_long_texts_go_and_come_back(text, bits):
    parts = split(text, reference_bits=bits)
    assert len(parts) > 1
    found = []
    for number, part in enumerate(parts, 1):
        header = user_data_header(0x1234, len(parts), number, reference_bits=bits)
        data = UserData.of_text(part, choose_alphabet(text), header=header)
        _, submit = from_hex(to_hex(Submit(MAURITEL, data))[0], TO_NETWORK)
        place = submit.user_data.concatenation
        assert (place.total, place.number, place.bits) == (len(parts), number, bits)
        assert place.reference == (0x34 if bits == 8 else 0x1234)
        found.append(submit.user_data.text)
    assert join(found) == text


def test_a_surrogate_pair_that_a_sender_split_is_mended():
    halves = []
    for number, half in enumerate(["\ud83d", "\ude00"], 1):
        header = user_data_header(1, 2, number)
        data = UserData.of_text(half, Alphabet.UCS2, header=header)
        halves.append(Deliver.decode(Deliver(MAURITEL, data, None).encode()).user_data.text)
    assert join(halves) == "😀"


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        ("240101", "Şimdi ığdır"),  # Turkish behind ESC
        ("250101", "Şimdi ığdır €"),  # Turkish in place of the default alphabet
        ("250103 240103", "Não há ΦΓ, avó"),
        ("240102", "mañana, sí"),
    ],
)
def test_national_languages(elements, text):
    """Named by the header; with fill bits behind it, and beside a concatenation element."""
    for more in (b"", user_data_header(5, 2, 1)[1:]):
        octets = bytes.fromhex(elements) + more
        data = UserData(text, header=bytes((len(octets),)) + octets)
        sent = Deliver(TpAddress("36123456"), data, None)
        found = from_hex(to_hex(sent)[0], TO_PHONE)[1]
        assert found == sent
        assert found.user_data.text == text


def test_eight_bit_and_compressed_are_kept_as_octets():
    for dcs in (0x04, 0xF5, 0x20):
        data = UserData(data=b"\x00\xff\x80", dcs=dcs)
        assert Deliver.decode(Deliver(MAURITEL, data, None).encode()).user_data == data


def test_what_fits_and_what_does_not():
    text_data("x" * 160).encode()
    text_data("ع" * 70).encode()
    UserData(data=bytes(140), dcs=4).encode()
    for data in (text_data("x" * 161), text_data("ع" * 71), UserData(data=bytes(141), dcs=4)):
        with pytest.raises(PduError, match="does not fit"):
            data.encode()
    with pytest.raises(PduError, match="lacks"):
        UserData("ع", dcs=0).encode()


def test_encoding_never_tells_the_text():
    with pytest.raises(PduError) as caught:
        UserData("geheim ع", dcs=0).encode()
    assert "geheim" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("dcs", "characters", "message_class"),
    [
        (0x00, CharacterSet.GSM7, None),
        (0x09, CharacterSet.UCS2, None),  # bits of a class that no bit announces
        (0x04, CharacterSet.EIGHT_BIT, None),
        (0x08, CharacterSet.UCS2, None),
        (0x0C, CharacterSet.GSM7, None),
        (0x10, CharacterSet.GSM7, 0),
        (0x19, CharacterSet.UCS2, 1),
        (0x48, CharacterSet.UCS2, None),
        (0x84, CharacterSet.GSM7, None),
        (0xBF, CharacterSet.GSM7, None),
        (0xC0, CharacterSet.GSM7, None),
        (0xD8, CharacterSet.GSM7, None),
        (0xE0, CharacterSet.UCS2, None),
        (0xF0, CharacterSet.GSM7, 0),
        (0xF6, CharacterSet.EIGHT_BIT, 2),
    ],
)
def test_coding_groups(dcs, characters, message_class):
    coding = coding_of(dcs)
    assert (coding.characters, coding.message_class) == (characters, message_class)


def test_dcs_of_is_read_back():
    for characters in CharacterSet:
        for message_class in (None, 0, 1, 2, 3):
            coding = coding_of(dcs_of(characters, message_class))
            assert (coding.characters, coding.message_class) == (characters, message_class)
    with pytest.raises(ValueError, match="class"):
        dcs_of(CharacterSet.GSM7, 4)


def test_relative_validity():
    assert [relative_minutes(code) for code in (0, 143, 144, 167, 168, 196, 197, 255)] == [
        *(5, 720, 750, 1440, 2 * 1440, 30 * 1440, 5 * 7 * 1440, 63 * 7 * 1440)
    ]
    assert relative_code(0) == 0
    assert relative_code(-10) == 0
    assert relative_code(5.1) == 1
    assert relative_code(1440) == 167
    assert relative_code(10**9) == 255
    assert all(relative_code(relative_minutes(code)) == code for code in range(256))


def test_the_other_validity_formats_are_passed_through():
    for vpf in (0x08, 0x18):
        submit = Submit(MAURITEL, text_data("x"), 9, bytes(range(7)), vpf)
        assert Submit.decode(submit.encode()) == submit
    with pytest.raises(PduError, match="7 octets"):
        Submit(MAURITEL, text_data("x"), 9, bytes(3), 0x08).encode()


@pytest.mark.parametrize(
    ("octets", "expected"),
    [
        ("00000000000000", None),
        ("FFFFFFFFFFFFFF", None),
        ("62112350250000", None),  # the 32nd
        ("62115250250A00", None),  # half an octet that is no digit
        ("62112132955000", datetime(2026, 11, 12, 23, 59, 5, tzinfo=UTC)),
        ("6211213295508A", None),  # seconds 5, zone byte odd but sane: see below
    ],
)
def test_times_of_real_networks(octets, expected):
    report = StatusReport.decode(
        bytes.fromhex("0200009 1".replace(" ", "")) + bytes.fromhex(octets) + bytes(8)
    )
    if octets.endswith("8A"):
        assert report.sent_at is not None
        assert report.sent_at.utcoffset() == -timedelta(minutes=15 * 28)
    else:
        assert report.sent_at == expected


def test_the_service_centre_in_front():
    smsc = TpAddress.of_number("+22200000001")
    hexadecimal, tpdu_octets = to_hex(Submit(MAURITEL, text_data("x")), smsc)
    assert hexadecimal.startswith("07912202000000F1")
    assert len(hexadecimal) == 2 * (8 + tpdu_octets)
    assert from_hex(hexadecimal, TO_NETWORK)[0] == smsc
    with pytest.raises(PduError):
        TpAddress("1" * 21).encode_smsc()


def test_a_modem_that_writes_no_service_centre():
    deliver = Deliver(MAURITEL, text_data("hello"), None)
    octets = deliver.encode()
    assert from_hex(octets.hex(), TO_PHONE, len(octets)) == (None, deliver)


def test_what_follows_the_user_data_is_left_alone():
    hexadecimal = to_hex(Deliver(MAURITEL, text_data("hello"), None))[0] + "FF" * 40
    assert from_hex(hexadecimal, TO_PHONE)[1].user_data.text == "hello"


def test_a_report_with_a_protocol_and_no_text_behind_its_status():
    octets = StatusReport(7, MAURITEL, None, None, 0x46, pid=0x3F).encode()
    assert octets.endswith(bytes.fromhex("46013F"))
    assert StatusReport.decode(octets).pid == 0x3F


def test_a_report_with_rubbish_behind_its_status_is_a_report():
    octets = StatusReport(7, MAURITEL, None, None, 0x46).encode()
    for rubbish in ("FF", "04A0", "07", "0000", "06FF01"):
        report = StatusReport.decode(octets + bytes.fromhex(rubbish))
        assert (report.reference, report.status) == (7, 0x46)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "00",
        "zz",
        "OK",
        "00 11",
        "0011",
        "01",
        "0C91" + "00" * 30,
        "FF" * 255,
        "F" * 4000,
        "٠٠",
    ],
)
def test_what_is_no_pdu_is_refused(text):
    for direction in Direction:
        with pytest.raises(PduError):
            from_hex(text, direction)


def test_the_wrong_kind_is_refused():
    with pytest.raises(PduError):
        Submit.decode(Deliver(MAURITEL, text_data("x"), None).encode())
    with pytest.raises(PduError):
        Deliver.decode(Submit(MAURITEL, text_data("x")).encode())
    with pytest.raises(PduError):
        StatusReport.decode(Submit(MAURITEL, text_data("x")).encode())


@pytest.mark.parametrize("text", ["*100#", "1234567", "12345678", "Solde: 120 MRU", ""])
def test_ussd_strings_have_no_length(text):
    assert unpack_ussd(pack_ussd(text.encode())).decode() == text


# -- identity and rubbish --------------------------------------------------------------------------

gsm7_texts = st.text(st.sampled_from(sorted(GSM7_CHARACTERS)), max_size=70)
# A last U+001B of a part is dropped: it stands for half of an escape pair there.
ucs2_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=33).map(
    lambda text: text.rstrip("\x1b")
)
headers = st.one_of(
    st.just(b""),
    st.builds(lambda r, n: user_data_header(r, n, 1), st.integers(0, 255), st.integers(1, 255)),
    st.builds(lambda r: user_data_header(r, 9, 9, reference_bits=16), st.integers(0, 65535)),
    st.binary(max_size=9).map(lambda value: bytes((len(value) + 2, 0x70, len(value))) + value),
)
classes = st.sampled_from([None, 0, 1, 2, 3])
user_datas = st.one_of(
    st.builds(
        lambda t, h, c: UserData(t, dcs=dcs_of(CharacterSet.GSM7, c), header=h),
        gsm7_texts,
        headers,
        classes,
    ),
    st.builds(
        lambda t, h, c: UserData(t, dcs=dcs_of(CharacterSet.UCS2, c), header=h),
        ucs2_texts,
        headers,
        classes,
    ),
    st.builds(lambda d, h: UserData(data=d, dcs=4, header=h), st.binary(max_size=100), headers),
)
numbers = st.text("0123456789*#abc", max_size=20)
addresses = st.one_of(
    st.builds(TpAddress, numbers, st.sampled_from([0, 1, 2, 3, 4, 6]), st.integers(0, 15)),
    st.builds(
        lambda t: TpAddress(t, 5, 0),
        st.text(st.sampled_from(sorted(GSM7_CHARACTERS - set("@€[]{}^|~\\\f"))), max_size=11),
    ),
)
octet = st.integers(0, 255)
zones = st.integers(-79, 79).map(lambda q: timezone(timedelta(minutes=15 * q)) if q else UTC)
moments = st.one_of(
    st.none(),
    st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31), timezones=zones).map(
        lambda moment: moment.replace(microsecond=0)
    ),
)
submits = st.builds(
    Submit,
    destination=addresses,
    user_data=user_datas,
    reference=octet,
    validity=st.one_of(st.none(), octet),
    status_report=st.booleans(),
    reject_duplicates=st.booleans(),
    reply_path=st.booleans(),
    pid=octet,
)
delivers = st.builds(
    Deliver,
    originator=addresses,
    user_data=user_datas,
    sent_at=moments,
    more_messages=st.booleans(),
    status_report=st.booleans(),
    reply_path=st.booleans(),
    pid=octet,
)
reports = st.builds(
    StatusReport,
    reference=octet,
    recipient=addresses,
    sent_at=moments,
    done_at=moments,
    status=octet,
    more_messages=st.booleans(),
    of_command=st.booleans(),
    pid=st.one_of(st.none(), octet),
    user_data=st.one_of(st.none(), user_datas),
)
smscs = st.one_of(st.none(), st.builds(TpAddress, numbers.filter(bool), st.just(1)))


@settings(deadline=None)
@given(submits, smscs)
def test_submit_identity(submit, smsc):
    assert from_hex(to_hex(submit, smsc)[0], TO_NETWORK) == (smsc, submit)


@settings(deadline=None)
@given(st.one_of(delivers, reports), smscs)
def test_to_phone_identity(tpdu, smsc):
    assert from_hex(to_hex(tpdu, smsc)[0], TO_PHONE) == (smsc, tpdu)


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, 10))
def test_septets_identity(octets, fill):
    septets = bytes(octet & 0x7F for octet in octets)
    assert unpack(pack(septets, fill), len(septets), fill) == septets


@settings(max_examples=examples(400), deadline=None)
@given(st.binary(max_size=255), st.sampled_from(Direction))
def test_rubbish_is_refused_or_read_and_read_the_same_again(octets, direction):
    """What is read at all can be written, and reads the same: nothing beyond the end counts."""
    try:
        _, tpdu = from_hex(octets.hex(), direction)
    except PduError:
        return
    again = type(tpdu).decode(tpdu.encode()) if _writable(tpdu) else tpdu
    assert again.user_data == tpdu.user_data
    assert again.encode() == type(tpdu).decode(again.encode()).encode()


def _writable(tpdu) -> bool:
    """U+FFFD stands for what was no character, and goes back as none."""
    try:
        tpdu.encode()
    except PduError:
        return False
    data = tpdu.user_data
    return data is None or "\ufffd" not in data.text


@settings(deadline=None)
@given(st.one_of(submits, delivers, reports), st.data())
def test_a_cut_pdu_is_refused(tpdu, data):
    octets = tpdu.encode()
    cut = data.draw(st.integers(0, len(octets) - 1))
    if isinstance(tpdu, StatusReport):
        cut = min(
            cut,
            len(
                StatusReport.encode(
                    StatusReport(
                        tpdu.reference, tpdu.recipient, tpdu.sent_at, tpdu.done_at, tpdu.status
                    )
                )
            )
            - 1,
        )
    with pytest.raises(PduError):
        type(tpdu).decode(octets[:cut])


# -- oracles ---------------------------------------------------------------------------------------

# What these two are known to get wrong stays out: "§" and FF (gsmmodem), emoji (gsmmodem).
plain = st.text(
    st.sampled_from(sorted(GSM7_CHARACTERS - set("§\f`\r\n\x1b"))), min_size=1, max_size=70
)
arabic = st.text(st.characters(min_codepoint=0x600, max_codepoint=0x6FF), min_size=1, max_size=60)
oracle_texts = st.one_of(plain, arabic)
oracle_numbers = st.text("0123456789", min_size=3, max_size=15).map(lambda digits: f"+{digits}")


@settings(deadline=None)
@given(oracle_texts, oracle_numbers, st.sampled_from([b"", user_data_header(5, 3, 2)]))
def test_smspdudecoder_reads_our_submit(text, number, header):
    data = text_data(text, header=header)
    hexadecimal = to_hex(Submit(TpAddress.of_number(number), data, validity=167))[0]
    found = smspdudecoder.fields.SMSSubmit.decode(StringIO(hexadecimal))
    # It cuts at TP-UDL characters, not septets, so that an extension character leaves padding.
    assert found["user_data"]["data"].rstrip("@") == text.rstrip("@")
    assert "+" + found["recipient"]["number"] == number


@settings(deadline=None)
@given(oracle_texts, oracle_numbers, st.sampled_from([b"", user_data_header(5, 3, 2)]))
def test_smspdudecoder_reads_our_deliver(text, number, header):
    sent_at = datetime(2026, 11, 20, 12, 34, 56, tzinfo=UTC)
    deliver = Deliver(TpAddress.of_number(number), text_data(text, header=header), sent_at)
    smsc = TpAddress.of_number("+22200000001")
    found = smspdudecoder.fields.SMSDeliver.decode(StringIO(to_hex(deliver, smsc)[0]))
    assert found["user_data"]["data"].rstrip("@") == text.rstrip("@")
    assert "+" + found["sender"]["number"] == number
    assert found["scts"] == sent_at


@settings(deadline=None)
@given(oracle_texts, oracle_numbers)
def test_others_read_a_flash_message_in_our_submit(text, number):
    """Class 0 of TS 23.038 §4, in both alphabets, is coded as python-gsmmodem codes it."""
    sent = segment(text, alphabet=choose_alphabet(text), recipient=number, message_class=0)
    submit = submit_of(sent, 0, status_report=False)
    hexadecimal = to_hex(submit)[0]
    found = smspdudecoder.fields.SMSSubmit.decode(StringIO(hexadecimal))
    assert found["user_data"]["data"].rstrip("@") == text.rstrip("@")
    theirs = gsmmodem.pdu.encodeSmsSubmitPdu(number, text, reference=3, sendFlash=True)
    read = from_hex(str(theirs[0]), TO_NETWORK, theirs[0].tpduLength)[1]
    assert read.user_data.dcs == submit.user_data.dcs
    assert submit.user_data.coding.message_class == 0


# Where 7-bit characters fill their octets, it takes a last "@" (which is 0) for padding.
@settings(deadline=None)
@given(oracle_texts.filter(lambda text: not text.endswith("@")), oracle_numbers)
def test_gsmmodem_reads_ours(text, number):
    sent_at = datetime(2026, 11, 20, 12, 34, 56, tzinfo=UTC)
    smsc = TpAddress.of_number("+22200000001")
    address = TpAddress.of_number(number)
    deliver = Deliver(address, text_data(text), sent_at)
    found = gsmmodem.pdu.decodeSmsPdu(to_hex(deliver, smsc)[0])
    assert (found["number"], found["text"], found["time"]) == (number, text, sent_at)
    found = gsmmodem.pdu.decodeSmsPdu(to_hex(Submit(address, text_data(text)), smsc)[0])
    assert (found["number"], found["text"]) == (number, text)
    report = StatusReport(77, address, sent_at, sent_at, 0)
    found = gsmmodem.pdu.decodeSmsPdu(to_hex(report, smsc)[0])
    assert (found["reference"], found["number"], found["status"]) == (77, number, 0)
    assert (found["time"], found["discharge"]) == (sent_at, sent_at)


@settings(deadline=None)
@given(oracle_texts, oracle_numbers, st.booleans())
def test_we_read_gsmmodem_s(text, number, flash):
    parts = gsmmodem.pdu.encodeSmsSubmitPdu(number, text, reference=3, sendFlash=flash)
    submits = [from_hex(str(part), TO_NETWORK, part.tpduLength)[1] for part in parts]
    assert join(submit.user_data.text for submit in submits) == text
    assert all(submit.destination.readable == number for submit in submits)
    assert all(submit.status_report for submit in submits)
