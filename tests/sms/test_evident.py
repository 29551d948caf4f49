"""What octets evidently say, whatever their label declares; and genuine labels are believed."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from risala.sms import evident
from risala.sms.alphabet import encode_gsm7, encode_ucs2, fits_gsm7
from risala.sms.evident import (
    HEADER,
    JUDGED_OCTETS_MAX,
    InboundCoding,
    TextForm,
    TextLabel,
    judge_header,
    judge_octets,
    mms_notice,
    read_label,
)
from risala.sms.likely import reads_as_text
from risala.sms.segment import join, user_data_header

RECEIPT = (
    "id:55AA02 sub:001 dlvrd:001 submit date:2611280930 done date:2611280931 stat:DELIVRD"
    " err:000 text:"
)
ASCII_TEXTS = [
    "STOP",
    "stop",
    "yes",
    "OK",
    "1",
    "Merci, a demain",
    "Call me at 22236123456",
    "id:1 stat:FAILED",
    RECEIPT,
    RECEIPT.upper(),
    "Payment of 1,500.00 MRU received. Ref: TX99812",
    "https://example.com/a?b=1",
    "Bonjour,\nje suis la\n",
    "TRANSFER 500 36123456 1234",
    "36123456",
    "NON",
    "xD",
    "!!",
    # Brackets are letters in GSM 03.38.
    "[OK] recu",
    "{code}",
    "A|B|C",
    '{"temp":21.5,"id":7}',
    "GPS:[14.7,-17.4]",
]
OTHER_TEXTS = [
    "Prénom: Aïcha, 5 €",
    "ça va, à bientôt",
    "السلام عليكم",
    "تم إيداع 1500 أوقية في حسابك",
    "你好，明天上午十点见",
    "谢谢",
    "今天下午三点在医院门口等你",
    "Привет, как дела?",
    "😀 à demain 👍🏽",
    "안녕하세요",
    "ありがとうございます",
    "Wałęsa, źle",
    "नमस्ते, कल मिलते हैं",
    "Việt Nam, hẹn gặp lại",
    "où es-tu ?",
    "שלום, מה שלומך",
]
GENUINE = [
    "é" * 200,
    "è" * 200,
    "سلام عليكم " * 20,
    "x" * 160,
    *OTHER_TEXTS,
    *ASCII_TEXTS[:2],
    "Bonjour Aïcha, votre rendez-vous est demain à 10 h 30 à la clinique.",
    "L’été s’achève… « déjà » ?",
    "مرحبا، رمزك هو 482913. لا تعطه لأحد",
    "هل أنت بخير؟ نعم",
    "١٢٣٤٥ أوقية",
    "你",
    "来",
    "好的",
    "停止",
    "天气很好，我们去公园吧！",
    "您的验证码是482913，请勿告诉他人。",
    "【银行】您尾号8899的账户收入人民币1,500.00元",
    "我不知道他什么时候回家",
    "在吗？",
    "😀",
    "❤️",
    "👩‍👩‍👧",
    "🎉🎉🎉 Mabrouk",
    "ⴰⵣⵓⵍ ⴼⵍⵍⴰⵡⵏ",
    "€",
    "@",
    "a@",
    "@a",
    "Ω",
    "¿Qué? ¡Sí!",
    "£5 @ noon",
    "Grüße aus Köln § 5",
]
"""Real texts, and the shortest ones that could be taken for something else."""


def judged(octets: bytes, declared: TextForm) -> str:
    return judge_octets(octets, declared).text


@pytest.mark.parametrize("text", ASCII_TEXTS)
def test_ascii_under_ucs2(text):
    reading = judge_octets(text.encode(), TextForm.UCS2)
    assert (reading.text, reading.believed) == (text, TextForm.ASCII)
    assert not reading.is_as_declared


@pytest.mark.parametrize("text", OTHER_TEXTS)
@pytest.mark.parametrize("declared", [TextForm.GSM7, TextForm.LATIN1, TextForm.UCS2])
def test_utf8_under_any_label(text, declared):
    assert judged(text.encode(), declared) == text
    assert judged(b"\xef\xbb\xbf" + text.encode(), declared) == text


@pytest.mark.parametrize("text", [*OTHER_TEXTS, "Salam 16", "STOP", "1"])
def test_ucs2_in_the_wrong_order_and_with_marks(text):
    assert judged(text.encode("utf-16-le"), TextForm.UCS2) == text
    assert judged(b"\xff\xfe" + text.encode("utf-16-le"), TextForm.UCS2) == text
    assert judged(b"\xfe\xff" + text.encode("utf-16-be"), TextForm.UCS2) == text


@pytest.mark.parametrize("text", ["ꀷ", "䘌䃕㦂䞙", "㥭䋲䑔㕳", "\ue0fe\ue0f2\ue03a"])
@pytest.mark.parametrize("declared", [TextForm.GSM7, TextForm.LATIN1, TextForm.UCS2])
def test_a_mark_of_the_order_says_it_of_letters_that_few_people_write(text, declared):
    assert judged(b"\xff\xfe" + text.encode("utf-16-le"), declared) == text
    assert judged(b"\xfe\xff" + text.encode("utf-16-be"), declared) == text


@pytest.mark.parametrize("text", [text for text in OTHER_TEXTS if len(text) > 2])
@pytest.mark.parametrize("declared", [TextForm.GSM7, TextForm.LATIN1])
def test_ucs2_under_another_label(text, declared):
    assert judged(encode_ucs2(text), declared) == text


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        (encode_ucs2("Salam") + b"\0", "Salam"),
        (encode_ucs2("السلام") + b"\0", "السلام"),
        (encode_ucs2("你好") + b"\0", "你好"),
        (encode_ucs2("Salam")[:-1], "Sala"),
        (encode_ucs2("السلام")[:-1], "السلا\ufffd"),
        (encode_ucs2("😀 ok")[:-1], "😀 o"),
        ("Salam".encode("utf-16-le")[:-1], "Salam"),
        (b"STOP!", "STOP!"),
        (b"STOP\0", "STOP"),
        (b"abc", "abc"),
        ("été".encode(), "été"),
    ],
)
def test_an_odd_count_of_octets_in_ucs2(octets, text):
    assert judged(octets, TextForm.UCS2) == text


@given(st.lists(st.sampled_from(GENUINE), min_size=1, max_size=4), st.sampled_from(["", " ", "\n"]))
def test_a_genuine_label_is_believed(texts, between):
    # Signs in a row, such as "@aΩΩ", may be anything: the code of @ is 0.
    assume(sum(len(each) < 3 for each in texts) < 2)
    text = between.join(texts)
    assert judge_octets(encode_ucs2(text), TextForm.UCS2).is_as_declared
    assert judged(encode_ucs2(text), TextForm.UCS2) == text
    if fits_gsm7(text):
        assert judge_octets(encode_gsm7(text), TextForm.GSM7).is_as_declared
        assert judged(encode_gsm7(text), TextForm.GSM7) == text
    try:
        latin1 = text.encode("latin-1")
    except UnicodeEncodeError:
        return
    assert judge_octets(latin1, TextForm.LATIN1).is_as_declared


@given(st.sampled_from([text for text in GENUINE if len(text) > 3]), st.data())
def test_a_part_of_a_genuine_text_is_believed(text, data):
    """Cut anywhere, also inside a letter; joining mends it."""
    octets = encode_ucs2(text)
    at = data.draw(st.integers(1, len(octets) // 2 - 1)) * 2
    parts = [judge_octets(each, TextForm.UCS2, is_part=True) for each in (octets[:at], octets[at:])]
    assert all(each.is_as_declared for each in parts)
    assert join([each.text for each in parts]) == text


@pytest.mark.parametrize("text", [text for text in OTHER_TEXTS if len(text) > 6])
def test_utf8_that_is_cut_inside_a_letter_is_joined(text):
    octets = (text * 3).encode()
    for at in range(12, len(octets) - 12):
        parts = (octets[:at], octets[at:])
        read = [judge_octets(each, TextForm.GSM7, is_part=True).text for each in parts]
        assert join(read) == text * 3


@given(st.binary(max_size=40), st.sampled_from(list(TextForm)), st.booleans())
def test_any_octets_are_read_and_can_be_stored(octets, declared, is_part):
    more = {form: octets.decode("latin-1") for form in (TextForm.PACKED, TextForm.PLAIN)}
    reading = judge_octets(octets, declared, is_part=is_part, more=more)
    assert reading.declared is declared
    join([reading.text]).encode()


LONG = [
    "é" * 30_000,
    "Bonjour " * 500 + "à bientôt ",
    "你好，明天上午十点见" * 300,
    "😀 à demain 👍🏽 " * 300,
]


@pytest.mark.parametrize("text", LONG)
@pytest.mark.parametrize("before", ["", "a", "ab"])
def test_a_long_text_is_read_whole_in_its_form(text, before):
    text = before + text
    for declared in (TextForm.GSM7, TextForm.LATIN1, TextForm.UCS2):
        assert judged(text.encode(), declared) == text
        assert judged(b"\xef\xbb\xbf" + text.encode(), declared) == text
        assert judged(encode_ucs2(text), declared) == text
    assert judged(text.encode("utf-16-le"), TextForm.UCS2) == text
    assert judged(text.encode() + b"\0", TextForm.UCS2) == text


@pytest.mark.parametrize("given", [TextForm.PACKED, TextForm.PLAIN])
def test_a_long_reading_of_the_caller_is_kept_whole(given):
    text = "Solde: 1 500 MRU. " * 400
    octets = bytes(range(256)) * 24
    reading = judge_octets(
        octets, TextForm.PACKED, more={TextForm.PACKED: "\ufffd" * 7000, given: text}
    )
    assert (reading.text, reading.believed) == (text, given)


def test_the_form_is_chosen_by_a_bounded_piece(monkeypatch):
    seen = []
    cost_bits = evident.cost_bits
    monkeypatch.setattr(
        evident, "cost_bits", lambda text: seen.append(len(text)) or cost_bits(text)
    )
    judge_octets("é".encode() * 30_000, TextForm.UCS2)
    assert seen
    assert max(seen) <= JUDGED_OCTETS_MAX


# -- notices of picture messages ---------------------------------------------------------------

MMS = "application/vnd.wap.mms-message"
FROM = b"+22236123456/TYPE=PLMN\0"
WAITS = b"\x8c\x82\x98T1\0\x8d\x90"


def push(content, kind=b"\xbe", *, more=b"\xaf\x84"):
    return bytes((1, 6, len(kind + more))) + kind + more + content


@pytest.mark.parametrize(
    ("octets", "who"),
    [
        (push(WAITS), "1234"),
        (push(WAITS + b"\x89\x18\x80" + FROM), "+22236123456"),
        (push(WAITS + b"\x89\x1a\x80\x18\xea" + FROM), "+22236123456"),
        (push(WAITS + b"\x89\x1f\x18\x80" + FROM), "+22236123456"),
        (push(WAITS + b"\x89\x01\x81"), "1234"),
        (push(WAITS + b"\x89http://mms.example/x\0"), "1234"),
        (push(WAITS, MMS.encode() + b"\0"), "1234"),
        (push(WAITS, b"\x03\xbe\x81\xea"), "1234"),
        (push(WAITS, more=b"\xaf\x84" + b"x" * 118), "1234"),
        (b"\x01\x06\x81\x02\xbe" + b"x" * 129 + WAITS, "1234"),
        (push(WAITS + b"\x89\x13\x80aicha@example.com\0"), "1234"),
        (push(WAITS + b"\x96\x08\xeaSalut !\0\x89\x18\x80" + FROM), "+22236123456"),
        (push(b"\x8c\x82\x98" + b"x" * 40 + b"\0\x8d\x92\x8a\x80\x8e\x02\x4e\x20"), "1234"),
        (push(WAITS, MMS.upper().encode() + b"\0"), "1234"),
        (push(WAITS + b"\x88\x05\x81\x03\x03\xf4\x80\x83http://mms.example/\xe9\0"), "1234"),
    ],
)
def test_the_notice_of_a_picture_message(octets, who):
    told = f"A picture message (MMS) came from {who}; it cannot be read here."
    assert mms_notice(octets, "1234") == told


def test_a_notice_of_nobody():
    assert mms_notice(push(WAITS), "") == "A picture message (MMS) came; it cannot be read here."


@pytest.mark.parametrize(
    "octets",
    [
        b"",
        b"\x01\x06",
        push(b""),
        push(WAITS)[:-9],
        push(b"\x8c\x86" + WAITS[2:]),  # a receipt of an MMS
        push(WAITS, b"\xae"),  # a page that a service wants opened
        b"\x01\x07" + push(WAITS)[2:],
        b"Bonjour, \x8c\x82",
    ],
)
def test_other_octets_are_no_notice(octets):
    assert mms_notice(octets, "1234") is None


@given(st.binary(max_size=60))
def test_any_octets_may_follow(octets):
    mms_notice(octets, "")
    assert mms_notice(push(WAITS + octets), "1234")


def test_the_setting_forces_either():
    octets = b"STOP"
    declared = judge_octets(octets, TextForm.UCS2, coding=InboundCoding.DECLARED)
    assert (declared.text, declared.is_as_declared) == ("協佐", True)
    forced = judge_octets(encode_ucs2("協佐"), TextForm.GSM7, coding=InboundCoding.UCS2)
    assert forced.text == "協佐"


# -- headers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "octets",
    [
        RECEIPT.encode(),
        (RECEIPT + "Bonjour Aicha, votre").encode(),
        RECEIPT.encode() * 2,
        b"STOP",
        b"Oui",
        b"!" * 140,
        b" " * 140,
        encode_ucs2("Salam"),
        encode_ucs2("السلام عليكم"),
        encode_ucs2("你好，明天上午十点见"),
        "été".encode(),
        "à bientôt".encode("latin-1"),
        RECEIPT.replace("DELIVRD", "EXPIRED").encode("utf-16-be"),
        b"\r\nSTOP",
        b"\t1",
        b"Y",
        encode_ucs2("Привет"),
        encode_ucs2("\n1"),
        "été".encode("utf-16-le"),
        "السلام".encode(),
    ],
)
def test_a_header_that_is_declared_and_missing(octets):
    assert judge_header(octets, is_declared=True) == (None, False)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("text", ["Salam", "id:1 stat:DELIVRD", "é" * 20])
def test_a_header_is_found_whether_it_is_declared_or_not(bits, text):
    header = user_data_header(7, 3, 2, reference_bits=bits)
    for is_declared in (True, False):
        found, is_as_declared = judge_header(header + text.encode(), is_declared=is_declared)
        assert found is not None
        assert (found.length, is_as_declared) == (len(header), is_declared)
        assert found.concatenation is not None
        assert found.concatenation.number == 2


@given(st.sampled_from(GENUINE))
def test_no_text_has_a_header(text):
    for octets in (encode_ucs2(text), text.encode(), encode_gsm7("é@ø@¥")):
        assert judge_header(octets, is_declared=False) == (None, True)


# -- what reads as text ------------------------------------------------------------------------


@pytest.mark.parametrize("text", GENUINE)
def test_texts_read_as_text(text):
    assert reads_as_text(text) or len(text) < 4


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "Δ@Σ£d5",
        "ùΩ5Δ_Λ8è",
        "\x00S\x00o\x00l",
        "Sold\ufffd 12",
        "㐰㔳㤲㉈",
        "ð\x9f\x98",
        "¡@¡P1¥Σ",
        "@S@o@l@d@e@:@1",
        "\ue012\ue0345",
    ],
)
def test_rubbish_does_not(text):
    assert not reads_as_text(text)


@pytest.mark.parametrize("is_forced", [False, True])
def test_a_label_is_read_as_it_is_told(is_forced):
    for form in (*TextForm, HEADER):
        label = TextLabel(TextForm.UCS2, form, is_forced)
        assert read_label(str(label)) == label


@pytest.mark.parametrize(
    "told", [None, "", "labelled x, read as y", "labelled ucs2, read as gsm7 "]
)
def test_what_is_no_label_is_read_as_none(told):
    assert read_label(told) is None
