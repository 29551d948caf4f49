"""Receipts in every form that carriers are known to write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm, QuerySmResp
from risala.drivers.smpp.protocol.receipt import (
    STATE_NUMBERS,
    STATE_WORDS,
    IdForm,
    _fields,
    _searched,
    _usual,
    format_receipt_text,
    is_receipt,
    other_forms,
    parse_receipt,
    query_receipt,
)
from risala.drivers.smpp.protocol.tlv import MESSAGE_STATE, RECEIPTED_MESSAGE_ID, Tlv
from risala.sms.cause import Cause
from risala.sms.evident import InboundCoding
from risala.sms.receipt import ReceiptState

_STANDARD = (
    "id:0a1b2c sub:001 dlvrd:001 submit date:2601020304 done date:2601020305 "
    "stat:DELIVRD err:000 text:Bonjour"
)


def deliver(text: str = "", *, esm_class=0x04, tlvs=(), **fields) -> DeliverSm:
    return DeliverSm(
        source_addr_ton=1,
        source_addr="22236123456",
        destination_addr="RISALA",
        esm_class=esm_class,
        short_message=text.encode(),
        tlvs=tlvs,
        **fields,
    )


@pytest.mark.parametrize(
    "text",
    [
        _STANDARD,
        _STANDARD.replace("id:", "ID:").replace("stat:", "Stat:").replace("text:", "Text:"),
        _STANDARD.replace("0a1b2c", '"0a1b2c"'),
        _STANDARD.replace("2601020304", "260102030405").replace("2601020305", "20260102030500"),
        "stat:DELIVRD err:000 id:0a1b2c done date:2601020305",
        "id:0a1b2c stat:DELIVERED err:000",
        "id: 0a1b2c  stat : DELIVRD  err:000 ",
        "id:0a1b2c\nstat:DELIVRD\nerr:000\n",
        "id:0a1b2c submit_date:2601020304 done_date:2601020305 stat:DELIVRD err:000",
        "text:Bonjour id:0a1b2c stat:DELIVRD err:000",
    ],
)
def test_text_layouts(text):
    receipt = parse_receipt(deliver(text))
    assert receipt is not None
    assert receipt.carrier_id == "0a1b2c"
    assert receipt.state is ReceiptState.DELIVERED
    assert receipt.raw in ("DELIVRD err:000", "DELIVERED err:000")
    assert receipt.recipient == "+22236123456"


@pytest.mark.parametrize(("state", "word"), STATE_WORDS.items())
def test_every_state_by_word_and_by_number(state, word):
    by_word = parse_receipt(deliver(f"id:1 stat:{word}"))
    tlvs = (Tlv(0x001E, b"1\0"), Tlv(0x0427, bytes([STATE_NUMBERS[state]])))
    by_number = parse_receipt(deliver(tlvs=tlvs))
    assert by_word is not None
    assert by_number is not None
    assert by_word.state is by_number.state is state


def test_parameters_win_over_the_text():
    tlvs = (Tlv(0x001E, b"77\0"), Tlv(0x0427, b"\5"), Tlv(0x0423, b"\3\0\x15"))
    receipt = parse_receipt(deliver("id:76 stat:DELIVRD", tlvs=tlvs))
    assert receipt is not None
    assert (receipt.carrier_id, receipt.state) == ("77", ReceiptState.UNDELIVERABLE)
    assert receipt.raw == "DELIVRD message_state:5 network_error_code:3-21"


def test_a_sender_cannot_write_his_own_receipt_into_the_text_field():
    forged = _STANDARD.replace("DELIVRD", "UNDELIV").replace("Bonjour", "stat:DELIVRD id:9")
    receipt = parse_receipt(deliver(forged))
    assert receipt is not None
    assert (receipt.carrier_id, receipt.state) == ("0a1b2c", ReceiptState.UNDELIVERABLE)
    first = parse_receipt(deliver("text:stat:DELIVRD id:9 id:0a1b2c stat:UNDELIV"))
    assert first is not None
    assert (first.carrier_id, first.state) == ("0a1b2c", ReceiptState.UNDELIVERABLE)


@pytest.mark.parametrize(
    "pdu",
    [
        deliver(_STANDARD, data_coding=1),
        DeliverSm(esm_class=4, data_coding=8, short_message=_STANDARD.encode("utf-16-be")),
        DeliverSm(esm_class=0x44, short_message=b"\x05\0\3\7\1\1" + _STANDARD.encode()),
        DeliverSm(esm_class=4, tlvs=(Tlv(0x0424, _STANDARD.encode()),)),
        DataSm(esm_class=4, tlvs=(Tlv(0x0424, _STANDARD.encode()),)),
        deliver(_STANDARD, esm_class=0x00),
        deliver(_STANDARD, esm_class=0x20),
        deliver(_STANDARD, esm_class=0x08),
    ],
)
def test_wherever_the_text_stands(pdu):
    assert is_receipt(pdu)
    receipt = parse_receipt(pdu)
    assert receipt is not None
    assert receipt.carrier_id == "0a1b2c"
    assert receipt.state is ReceiptState.DELIVERED


@pytest.mark.parametrize(
    "text", ["Bonjour", "id: my passport, stat: lost", "id:1 stat:DELIVRD", ""]
)
def test_what_people_write_is_no_receipt(text):
    assert not is_receipt(deliver(text, esm_class=0))


@pytest.mark.parametrize("esm_class", [0x10, 0x18])
def test_what_people_acknowledge_is_no_receipt(esm_class):
    assert not is_receipt(deliver(_STANDARD, esm_class=esm_class))


def test_a_phones_acknowledgement_without_a_receipts_fields_is_no_receipt():
    assert not is_receipt(deliver("Bonjour", esm_class=0x08))


def test_a_receipt_without_an_id_is_none():
    assert parse_receipt(deliver("stat:DELIVRD err:000")) is None


def test_a_word_that_nobody_knows_is_not_final():
    receipt = parse_receipt(deliver("id:1 stat:WHATEVER"))
    assert receipt is not None
    assert not receipt.state.is_final
    assert receipt.raw == "WHATEVER"


def test_raw_never_holds_the_message():
    receipt = parse_receipt(deliver(_STANDARD.replace("Bonjour", "code 9876")))
    assert receipt is not None
    assert "9876" not in repr(receipt)


@pytest.mark.parametrize(
    ("answered", "in_receipt", "form"),
    [
        ("4b1d0c", "4922636", IdForm.RESP_HEX_RECEIPT_DEC),
        ("4B1D0C", "4922636", IdForm.RESP_HEX_RECEIPT_DEC),
        ("004b1d0c", "4922636", IdForm.RESP_HEX_RECEIPT_DEC),
        ("4922636", "4B1D0C", IdForm.RESP_DEC_RECEIPT_HEX),
        ("0004922636", "4b1d0c", IdForm.RESP_DEC_RECEIPT_HEX),
        ("ab12", "AB12", IdForm.SAME),
        ("12", "0012", IdForm.SAME),
    ],
)
def test_ids_in_the_configured_form(answered, in_receipt, form):
    assert answered in other_forms(in_receipt, form)


def test_a_receipt_has_its_id_in_every_form():
    receipt = parse_receipt(deliver("id:4922636 stat:DELIVRD"), IdForm.RESP_HEX_RECEIPT_DEC)
    assert receipt.carrier_id == "4922636"
    assert receipt.also_known_as == ("4b1d0c", "4B1D0C", "004b1d0c", "004B1D0C")
    assert parse_receipt(deliver("id:4922636 stat:DELIVRD")).also_known_as == ()


def test_an_id_is_not_its_own_other_form():
    assert other_forms("123", IdForm.SAME) == ()
    assert other_forms("3f2c-uuid", IdForm.RESP_DEC_RECEIPT_HEX) == ("3F2C-UUID",)


@given(
    st.from_regex(r"[0-9A-Za-z-]{1,64}", fullmatch=True),
    st.sampled_from(ReceiptState),
    st.text(),
)
def test_reads_what_the_simulator_writes(message_id, state, text):
    written = format_receipt_text(
        message_id, state, submit_date="2601020304", done_date="2601020305", text=text
    )
    receipt = parse_receipt(deliver(written))
    assert receipt is not None
    assert (receipt.carrier_id, receipt.state) == (message_id, state)


@given(st.binary(max_size=254), st.integers(0, 255), st.integers(0, 255))
def test_no_octets_raise(octets, esm_class, data_coding):
    pdu = DeliverSm(esm_class=esm_class, data_coding=data_coding, short_message=octets)
    is_receipt(pdu)
    parse_receipt(pdu, IdForm.RESP_DEC_RECEIPT_HEX)


def test_a_query_answer_is_a_receipt():
    receipt = query_receipt(QuerySmResp("1", "", 5, 21), "1")
    assert receipt.state is ReceiptState.UNDELIVERABLE
    assert receipt.raw == "query_sm message_state:5 error_code:21"


@pytest.mark.parametrize(
    ("value", "reference"), [(b"\x12\x34", 0x1234), (b"\x12", None), (b"\0\0\0\1", None)]
)
def test_the_submits_own_reference(value, reference):
    pdu = DeliverSm(esm_class=4, short_message=b"id:1 stat:DELIVRD", tlvs=(Tlv(0x0204, value),))
    assert parse_receipt(pdu).reference == reference


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("id:1 stat:UNDELIV err:027", Cause.ABSENT),
        ("id:1 stat:UNDELIV err:1", Cause.UNKNOWN_NUMBER),
        ("id:1 stat:UNDELIV err:013", Cause.BARRED),
        ("id:1 stat:UNDELIV err:000", Cause.UNDELIVERABLE),
        ("id:1 stat:UNDELIV err:0FF", Cause.UNDELIVERABLE),
        ("id:1 stat:UNDELIV", Cause.UNDELIVERABLE),
        ("id:1 stat:EXPIRED err:027", Cause.EXPIRED),
        ("id:1 stat:REJECTD err:001", Cause.REJECTED),
        ("id:1 stat:DELETED err:000", Cause.DELETED),
        ("id:1 stat:UNKNOWN err:000", Cause.UNTRACED),
    ],
)
def test_why_it_was_not_delivered(text, cause):
    receipt = parse_receipt(deliver(text))
    assert receipt is not None
    assert receipt.why is cause


def test_the_networks_error_wins_over_the_text_where_it_is_of_gsm():
    def why(network: bytes) -> Cause:
        tlvs = (Tlv(0x0423, network),)
        receipt = parse_receipt(deliver("id:1 stat:UNDELIV err:000", tlvs=tlvs))
        assert receipt is not None
        return receipt.why

    assert why(b"\3\0\x1b") is Cause.ABSENT
    assert why(b"\1\0\x1b") is Cause.UNDELIVERABLE  # of ANSI-136
    assert why(b"\3\1\x1b") is Cause.UNDELIVERABLE  # 283, which is none of MAP's


def test_a_carrier_may_mean_something_else_by_its_errors():
    causes = {"027": Cause.CONTENT_REFUSED, "A7": Cause.NO_CREDIT}
    for text, cause in (
        ("id:1 stat:UNDELIV err:027", Cause.CONTENT_REFUSED),
        ("id:1 stat:REJECTD err:A7", Cause.NO_CREDIT),
    ):
        receipt = parse_receipt(deliver(text), causes=causes)
        assert receipt is not None
        assert receipt.why is cause
    delivered = parse_receipt(deliver("id:1 stat:DELIVRD err:027"), causes=causes)
    assert delivered is not None
    assert delivered.cause is None


PIECES = st.sampled_from(
    [
        *("id:", "id:00aF7 ", "id:'7' ", "id: 7 ", "Id:x:y ", "sub:001 ", "dlvrd:001 ", "sub:a "),
        *("submit date:2611212200 ", "submit_date:26 ", "done date:2611212200 ", "stat:DELIVRD "),
        *(
            "stat:UNDELIV\0",
            "err:000",
            "err:0x1 ",
            " text:",
            "text:",
            " ",
            "a b",
            "\n",
            "stat:",
            "\0",
        ),
    ]
)
REST = st.one_of(
    st.just(""), st.lists(PIECES, max_size=4).map(lambda pieces: " text:" + "".join(pieces))
)
LAYOUT = "id:{} sub:001 dlvrd:001 submit date:26 done date:27 stat:{} err:{}{}"


@given(
    st.one_of(
        st.lists(PIECES, max_size=12).map("".join),
        st.builds(
            LAYOUT.format,
            st.text("0aF:' \0-", max_size=6),
            st.text("DELIV :\0", max_size=8),
            st.text("01aE: ", max_size=4),
            REST,
        ),
    )
)
def test_the_usual_layout_is_read_as_any_other(text):
    found = _searched(text)
    assert _fields(text) == {key: found[key] for key in _fields(text)}


def test_the_usual_layout_is_known():
    text = LAYOUT.format("7", "DELIVRD", "000", " text:id:8 stat:UNDELIV and so on")
    assert _usual(text)
    assert _fields(text)["id"] == "7"


def test_parameters_alone_make_a_receipt_and_only_both():
    named, state = Tlv(0x001E, b"77\0"), Tlv(0x0427, b"\2")
    assert is_receipt(DeliverSm(tlvs=(named, state)))
    assert not is_receipt(DeliverSm(tlvs=(named,)))
    assert not is_receipt(DeliverSm(tlvs=(state,)))


@pytest.mark.parametrize(
    "text",
    [
        "id:77 stat:DELIVRD done date:2601020305",
        "id:77 stat:DELIVRD done_date:2601020305",
        "ID:77 STAT:DELIVRD DoneDate:2601020305",
    ],
)
def test_three_fields_of_the_text_make_a_receipt_that_nothing_else_marks(text):
    assert is_receipt(deliver(text, esm_class=0))


@pytest.mark.parametrize(
    "text",
    ['id:"77" Bonjour stat:DELIVRD', "id:'77' Bonjour stat:DELIVRD", "id:77 x stat:DELIVRD y"],
)
def test_of_an_id_and_a_state_the_first_word_counts(text):
    receipt = parse_receipt(deliver(text))
    assert (receipt.carrier_id, receipt.raw) == ("77", "DELIVRD")


@pytest.mark.parametrize(
    ("octets", "words"),
    [(b"\3\0\x15", "3-21"), (b"\1\1\2", "1-258"), (b"\3\x15", "0315"), (b"\3\0\0\x15", "03000015")],
)
def test_a_network_error_in_words(octets, words):
    receipt = parse_receipt(deliver("id:1 stat:UNDELIV", tlvs=(Tlv(0x0423, octets),)))
    assert receipt.raw == f"UNDELIV network_error_code:{words}"


def test_an_answer_to_a_question_is_of_the_id_that_was_asked_about():
    found = query_receipt(QuerySmResp(message_id="x", message_state=2, error_code=7), "77")
    assert (found.carrier_id, found.state) == ("77", ReceiptState.DELIVERED)
    assert found.raw == "query_sm message_state:2 error_code:7"
    unknown = query_receipt(QuerySmResp(message_id="x", message_state=77), "77")
    assert unknown.state is ReceiptState.ENROUTE


def raw(text: str, *tlvs: Tlv) -> tuple[ReceiptState, str]:
    receipt = parse_receipt(deliver(text, tlvs=tlvs))
    assert receipt is not None
    return receipt.state, receipt.raw


def test_the_words_of_a_carrier_are_cleaned_and_cut():
    assert raw("id:1 stat:delivrd err:0#1") == (ReceiptState.DELIVERED, "DELIVRD err:01")
    long = raw(f"id:1 stat:{'x' * 40} err:{'7' * 40}")
    assert long == (ReceiptState.ENROUTE, f"{'X' * 20} err:{'7' * 20}")
    assert raw("id:1") == (ReceiptState.ENROUTE, "no state")
    network = Tlv(0x0423, bytes(15))
    assert raw("id:1", network)[1] == f"network_error_code:{'0' * 20}"


def test_a_number_of_no_state_leaves_the_word():
    told = raw("id:1 stat:DELIVRD", Tlv(0x0427, b"\x4d"))
    assert told == (ReceiptState.DELIVERED, "DELIVRD message_state:77")
    assert raw("id:1", Tlv(0x0427, b"\1\2")) == (ReceiptState.ENROUTE, "message_state:2")


def test_of_what_comes_twice_the_first_counts():
    state, named = Tlv(0x0427, b"\2"), Tlv(0x001E, b"77\0")
    twice = (named, Tlv(0x001E, b"78\0"), state, Tlv(0x0427, b"\5"))
    receipt = parse_receipt(deliver(tlvs=twice))
    assert (receipt.carrier_id, receipt.state) == ("77", ReceiptState.DELIVERED)
    assert raw("id:1 stat:DELIVRD stat:UNDELIV")[0] is ReceiptState.DELIVERED


def test_an_id_without_characters_is_none_and_a_long_one_is_cut():
    assert parse_receipt(deliver("id: stat:DELIVRD")) is None
    assert parse_receipt(deliver("id:X77X stat:DELIVRD")).carrier_id == "X77X"
    by_text = parse_receipt(DataSm(esm_class=4, tlvs=(Tlv(0x0424, b"id:" + b"7" * 300),)))
    by_parameter = parse_receipt(deliver(tlvs=(Tlv(0x001E, b"7" * 300),)))
    assert by_text.carrier_id == by_parameter.carrier_id == "7" * 255


def test_only_the_beginning_of_a_text_is_looked_at():
    def text(blanks: int) -> DataSm:
        octets = b"id:7" + b" " * blanks + b"stat:DELIVRD"
        return DataSm(esm_class=4, tlvs=(Tlv(0x0424, octets),))

    assert parse_receipt(text(1024 - 16)).raw == "DELIVRD"
    assert parse_receipt(text(1024 - 15)).raw == "DELIVR"


@pytest.mark.parametrize(
    ("address", "number"),
    [("22236123456", "+22236123456"), ("+22236123456", "+22236123456"), ("RISALA", None),
     ("1a", None), ("", None), ("²", None)],
)  # fmt: skip
def test_both_ends_as_numbers(address, number):
    pdu = DeliverSm(
        esm_class=4, source_addr=address, destination_addr=address, short_message=b"id:1"
    )
    receipt = parse_receipt(pdu)
    assert (receipt.recipient, receipt.sender) == (number, number)


def test_an_error_of_the_network_that_says_nothing_leaves_the_texts():
    def why(network: bytes) -> Cause:
        tlvs = (Tlv(0x0423, network),)
        return parse_receipt(deliver("id:1 stat:UNDELIV err:027", tlvs=tlvs)).why

    assert why(b"\3\0\x01") is Cause.UNKNOWN_NUMBER
    assert why(b"\3\0\x63") is why(b"\3\0\x01\0") is why(b"\3\1") is Cause.ABSENT


@pytest.mark.parametrize(
    ("carrier_id", "form", "others"),
    [
        ("4922636", IdForm.RESP_HEX_RECEIPT_DEC, ("4b1d0c", "4B1D0C", "004b1d0c", "004B1D0C")),
        ("4B1D0C", IdForm.RESP_DEC_RECEIPT_HEX, ("4922636", "0004922636", "4b1d0c")),
        ("4b1d0c", IdForm.RESP_HEX_RECEIPT_DEC, ("4B1D0C",)),
        ("00aB", IdForm.SAME, ("00ab", "00AB", "aB")),
        ("0", IdForm.SAME, ()),
        ("X0a", IdForm.SAME, ("x0a", "X0A")),
    ],
)
def test_each_form_of_an_id(carrier_id, form, others):
    assert other_forms(carrier_id, form) == others


def test_a_receipts_text_character_by_character():
    dates = {"submit_date": "2601020304", "done_date": "2601020305"}
    assert format_receipt_text("7", ReceiptState.DELIVERED, **dates) == (
        "id:7 sub:001 dlvrd:001 submit date:2601020304 done date:2601020305"
        " stat:DELIVRD err:000 text:"
    )
    failed = format_receipt_text(
        "7", ReceiptState.UNDELIVERABLE, **dates, error_code="027", text="x" * 21
    )
    assert failed == (
        "id:7 sub:001 dlvrd:000 submit date:2601020304 done date:2601020305"
        f" stat:UNDELIV err:027 text:{'x' * 20}"
    )


@pytest.mark.parametrize(
    ("word", "state"),
    [("SKIPPED", ReceiptState.UNDELIVERABLE), ("SCHEDULED", ReceiptState.ENROUTE)],
)
def test_the_words_of_version_5_say_the_same_as_their_numbers(word, state):
    """SMPP 5.0 §4.7.15."""
    assert parse_receipt(deliver(f"id:7 stat:{word} err:000")).state is state
    number = 9 if word == "SKIPPED" else 0
    by_number = deliver("id:7", tlvs=(Tlv(0x0427, bytes([number])),))
    assert parse_receipt(by_number).state is state


# -- labels that are wrong, and open words -----------------------------------------------------

_TOLD = "id:55AA sub:001 dlvrd:001 submit date:2611280930 done date:2611280931 stat:{} err:{} text:"
_DELIVERED = _TOLD.format("DELIVRD", "000")


@pytest.mark.parametrize(
    ("fields", "octets"),
    [
        ({"data_coding": 8, "esm_class": 4}, _DELIVERED.encode()),
        ({"data_coding": 8, "esm_class": 0}, _DELIVERED.encode()),
        ({"data_coding": 8, "esm_class": 4}, _DELIVERED.encode() + b" "),
        ({"data_coding": 8, "esm_class": 4}, _DELIVERED.encode() + b"\0"),
        ({"data_coding": 8, "esm_class": 0}, (_DELIVERED + "Prénom").encode()),
        ({"data_coding": 8, "esm_class": 4}, b"\xff\xfe" + _DELIVERED.encode("utf-16-le")),
        ({"data_coding": 8, "esm_class": 4}, _DELIVERED.encode("utf-16-le")),
        ({"data_coding": 8, "esm_class": 4}, b"\xfe\xff" + _DELIVERED.encode("utf-16-be")),
        ({"data_coding": 0, "esm_class": 4}, _DELIVERED.encode("utf-16-be")),
        ({"data_coding": 0, "esm_class": 0x44}, _DELIVERED.encode()),
        ({"data_coding": 0, "esm_class": 0x44}, (_DELIVERED + "Bonjour Aicha, votre").encode()),
        ({"data_coding": 8, "esm_class": 0x44}, (_DELIVERED + "Bonjour Aicha, vot").encode()),
        ({"data_coding": 8, "esm_class": 0x44}, _DELIVERED.encode("utf-16-be")),
    ],
)
def test_a_receipt_is_read_whatever_its_label(fields, octets):
    pdu = DeliverSm(**fields, short_message=octets)
    assert is_receipt(pdu)
    receipt = parse_receipt(pdu)
    assert receipt is not None
    assert (receipt.carrier_id, receipt.state) == ("55AA", ReceiptState.DELIVERED)


def test_the_setting_forces_the_label():
    pdu = DeliverSm(data_coding=8, short_message=_DELIVERED.encode())
    assert not is_receipt(pdu, InboundCoding.DECLARED)
    assert parse_receipt(pdu, coding=InboundCoding.DECLARED) is None


@pytest.mark.parametrize(
    ("word", "state", "cause"),
    [
        ("FAILED", ReceiptState.UNDELIVERABLE, None),
        ("FAILURE", ReceiptState.UNDELIVERABLE, None),
        ("failed", ReceiptState.UNDELIVERABLE, None),
        ("DELIVERY_FAILED", ReceiptState.UNDELIVERABLE, None),
        ("SEND_FAIL", ReceiptState.UNDELIVERABLE, None),
        ("NACK", ReceiptState.UNDELIVERABLE, None),
        ("ERROR", ReceiptState.UNDELIVERABLE, None),
        ("NOT_DELIVERED", ReceiptState.UNDELIVERABLE, None),
        ("UNSUCCESSFUL", ReceiptState.UNDELIVERABLE, None),
        ("BLOCKED", ReceiptState.REJECTED, None),
        ("BLACKLISTED", ReceiptState.REJECTED, None),
        ("DND", ReceiptState.REJECTED, Cause.BARRED),
        ("DND_REJECT", ReceiptState.UNDELIVERABLE, None),
        ("SPAM", ReceiptState.REJECTED, Cause.CONTENT_REFUSED),
        ("ABSENT_SUBSCRIBER", ReceiptState.UNDELIVERABLE, Cause.ABSENT),
        ("UNKNOWN_SUBSCRIBER", ReceiptState.UNDELIVERABLE, Cause.UNKNOWN_NUMBER),
        ("UNKNOWN", ReceiptState.UNKNOWN, None),
        ("TIMEOUT", ReceiptState.EXPIRED, None),
        ("CANCELLED", ReceiptState.DELETED, None),
        ("DLVRD", ReceiptState.DELIVERED, None),
        ("SUCCESS", ReceiptState.DELIVERED, None),
        ("READ", ReceiptState.DELIVERED, None),
        ("SENT", ReceiptState.ACCEPTED, None),
        ("QUEUED", ReceiptState.ENROUTE, None),
        ("REJECT", ReceiptState.REJECTED, None),
        ("UNDLVRD", ReceiptState.UNDELIVERABLE, None),
        ("SUBSCRIBER_ABSENT", ReceiptState.UNDELIVERABLE, Cause.ABSENT),
        ("Unreachable", ReceiptState.UNDELIVERABLE, Cause.ABSENT),
        ("HANDSET_ERROR", ReceiptState.UNDELIVERABLE, None),
        ("NUMBER_INVALID", ReceiptState.UNDELIVERABLE, None),
        ("NDNC", ReceiptState.REJECTED, Cause.BARRED),
        ("BUFFRED", ReceiptState.ENROUTE, None),
        ("ACKED", ReceiptState.ACCEPTED, None),
        # Words that begin as DELIVERED does.
        ("DELIVRED", ReceiptState.DELIVERED, None),
        ("DeliveredToTerminal", ReceiptState.DELIVERED, None),
        ("DELIVERY_SUCCESS", ReceiptState.DELIVERED, None),
        ("DeliveredToNetwork", ReceiptState.ACCEPTED, None),
        ("DeliveryImpossible", ReceiptState.UNDELIVERABLE, None),
        ("DeliveryUncertain", ReceiptState.UNKNOWN, None),
        ("DELIVERY_EXPIRED", ReceiptState.EXPIRED, None),
        ("DELIVERY_PENDING", ReceiptState.ENROUTE, None),
        ("DELIVERY_BLOCKED", ReceiptState.REJECTED, None),
        ("DELIVERY_UNKNOWN", ReceiptState.UNKNOWN, None),
    ],
)
def test_words_of_the_end_are_open(word, state, cause):
    receipt = parse_receipt(DeliverSm(esm_class=4, short_message=_TOLD.format(word, "").encode()))
    assert receipt is not None
    assert (receipt.state, receipt.cause, receipt.is_understood) == (state, cause, True)


def test_a_carriers_own_word_and_one_that_nobody_knows():
    pdu = DeliverSm(esm_class=4, short_message=_TOLD.format("Bounced", "1").encode())
    unknown = parse_receipt(pdu)
    assert unknown is not None
    assert (unknown.state, unknown.is_understood) == (ReceiptState.ENROUTE, False)
    mapped = parse_receipt(pdu, states={"BOUNCED": ReceiptState.UNDELIVERABLE})
    assert mapped is not None
    assert (mapped.state, mapped.is_understood) == (ReceiptState.UNDELIVERABLE, True)


@pytest.mark.parametrize("word", ["DELIVERING", "DELIVERY_ATTEMPT", "Bounced", "42", "DELAYED"])
def test_a_word_that_nobody_knows_ends_nothing(word):
    receipt = parse_receipt(deliver(_TOLD.format(word, "")))
    assert receipt is not None
    assert (receipt.state, receipt.is_understood) == (ReceiptState.ENROUTE, False)


@pytest.mark.parametrize(
    ("answered", "named", "told", "form"),
    [
        ("55AA", b"999000112\0", "55AA", IdForm.SAME),
        ("55AA", b"999000112", "55AA", IdForm.SAME),
        ("7f3b2c10-9a55-4be0-8d6a-0d5f1e2c3b4a", b"1\0", None, IdForm.SAME),
        ("c0ffee07", b"999000112\0", "C0FFEE07", IdForm.SAME),
        ("1216080510463401720", b"12345678901234567890\0", None, IdForm.SAME),
        ("29095", b"7781\0", "0000029095", IdForm.SAME),
        ("4b1d0c", b"999000112\0", "4922636", IdForm.RESP_HEX_RECEIPT_DEC),
        ("4B1D0C", b"4B1D0D\0", "0004922636", IdForm.RESP_HEX_RECEIPT_DEC),
        ("4922636", b"ABCDEF\0", "4B1D0C", IdForm.RESP_DEC_RECEIPT_HEX),
        ("0004922636", b"smsc-2:17\0", "4b1d0c", IdForm.RESP_DEC_RECEIPT_HEX),
        # The other way round: the parameter is right, and the text has the id of another system.
        ("4b1d0c", b"4b1d0c\0", "999000112", IdForm.SAME),
        ("4b1d0c", b"4922636\0", "17", IdForm.RESP_HEX_RECEIPT_DEC),
        # An empty parameter, and one of spaces.
        ("55AA", b"\0", "55AA", IdForm.SAME),
        ("55AA", b"", "55AA", IdForm.SAME),
    ],
)
@pytest.mark.parametrize("esm_class", [0, 4])
def test_the_id_of_the_text_is_tried_too(answered, named, told, form, esm_class):
    tlvs = (Tlv(RECEIPTED_MESSAGE_ID, named), Tlv(MESSAGE_STATE, b"\2"))
    text = _DELIVERED.replace("55AA", told or answered)
    pdu = DeliverSm(esm_class=esm_class, short_message=text.encode(), tlvs=tlvs)
    assert is_receipt(pdu)
    receipt = parse_receipt(pdu, form)
    assert receipt is not None
    assert answered in (receipt.carrier_id, *receipt.also_known_as)
