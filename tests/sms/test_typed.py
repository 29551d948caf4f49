"""What people type and paste, by what it is typed for."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.sms import typed as typed_texts
from risala.sms.typed import RULES, Purpose, typed, typed_code, western

UNSEEN = "\u200b\u200c\u200d\u200e\u200f\u202a\u202c\u2060\u2066\u2069\ufeff\u061c\ufe0f\u00ad"


def test_each_purpose_has_its_rule():
    assert set(RULES) == set(Purpose)


@pytest.mark.parametrize(
    "written",
    [
        *("123456", " 123456\n", "123 456", "123\u00a0456", "123\u202f456", "12 34 56"),
        *("123-456", "123\u2011456", "123–456", "123 — 456", "123\u2212456"),
        *("123456.", "123456。", "«123456»", "“123456”", "(123456)", "123456…", "*123456*"),
        *("１２３４５６", "１２３－４５６", "१२३४५६", "১২৩৪৫৬", "١٢٣٤٥٦", "۱۲۳۴۵۶", "۱۲۳٤٥٦"),
        *(f"{mark}123{mark}456{mark}" for mark in UNSEEN),
        *("`123456`", "\u2067123456\u2069", "𝟏𝟐𝟑𝟒𝟓𝟔", "１２３ ４５６", "၁၂၃၄၅၆", "১২৩-৪৫৬"),
        *("\u2068123456\u2069", "123\u3164456", "\u2800123456"),
    ],
)
def test_a_code_is_right_in_every_way_of_writing_it(written):
    assert typed_code(written) == "123456"


@pytest.mark.parametrize(
    "written",
    [
        *(
            "12345",
            "1234567",
            "12345²",
            "①②③④⑤⑥",
            "12345½",
            "123456a",
            "a123456",
            "123.456",
            "123,456",
        ),
        *("123/456", "x", "", "一二三四五六", "+123456", "123456 123456", "-1-2-3-4-5-6-7"),
    ],
)
def test_another_code_stays_another_code(written):
    assert typed_code(written) != "123456"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("36\u00a012\u200734\u202f01", "36123401"),
        ("\u202a+222 36 12 34 01\u202c", "+22236123401"),
        ("＋２２２３６１２３４０１", "+22236123401"),
        ("٣٦١٢٣٤٠١", "36123401"),
        ("३६१२३४०१", "36123401"),
        ("36–12‑34−01", "36-12-34-01"),
        ("36123401²", "36123401²"),
        ("36\ufe0f123401", "36123401"),
        ("（36）12３４01", "(36)123401"),
        ("36.12.34.01", "36.12.34.01"),
    ],
)
def test_a_number_keeps_what_separates_it_but_for_spaces(written, read):
    assert typed(written, Purpose.NUMBER) == read


@pytest.mark.parametrize(
    ("written", "heading"),
    [
        ("Prénom  de l’enfant", "PRÉNOM de l'enfant"),
        ("Prénom\u00a0de l\u02bcenfant", "Prénom de l'enfant"),
        ("Pre\u0301nom", "Prénom"),
        ("N° d’élève", "n° d´élève"),
        ("\ufeffNom", "nom"),
        ("رقم\u200f", "رقم"),
        ("Montant – MRU", "montant - mru"),
        ("“Frais”", '"frais"'),
        ("ＮＯＭ １", "nom 1"),
        ("عمود ١", "عمود 1"),
        ("Straße", "STRASSE"),
        ("المبـــلغ", "المبلغ"),
        ("l`année", "l’année"),
        ("d`eau", "d’eau"),
        ("E\u2011mail", "e-mail"),
        ("Frais\nscolaires", "Frais scolaires"),
        ("ﬁn du mois", "fin du mois"),
        ("\u2067القسم\u2069", "القسم"),
        ("Sol\u00adde", "solde"),
        ("№\u30001", "No 1"),
    ],
)
def test_two_ways_to_write_a_heading(written, heading):
    assert typed(written, Purpose.HEADING) == typed(heading, Purpose.HEADING)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (" Baraka  Market\u200f ", "Baraka Market"),
        ("Bank\u2066x\u2069", "Bankx"),
        ("\u202eBank", "Bank"),
        ("فروشگاه می\u200cخواهم", "فروشگاه می\u200cخواهم"),
        ("می\u200c", "می"),
        ("क्\u200dष", "क्\u200dष"),
        ("👨\u200d👩\u200d👧 Nour", "👨\u200d👩\u200d👧 Nour"),
        ("❤️ Nour", "❤️ Nour"),
        ("Nour\ufe0f\u200d", "Nour"),
        ("1\ufe0f\u20e3 Nour", "1\ufe0f\u20e3 Nour"),
        ("Cafe\u0301", "Café"),
        ("L’Étoile – №\u202f5²", "L’Étoile – № 5²"),
        ("a\tb\nc", "a b c"),
        ("Ali\u3164Ba", "Ali Ba"),
        ("🏴\U000e0067\U000e0062\U000e007f", "🏴\U000e0067\U000e0062\U000e007f"),
        ("Ba\U000e0067nk", "Bank"),
    ],
)
def test_a_name_keeps_what_its_script_needs(written, name):
    assert typed(written, Purpose.NAME) == name


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        *(("1\u202f234,50", "1234,50"), ("١٢٣٤٫٥٠", "1234٫50"), ("5²", "5²"), ("5½", "5½")),
        *(("１２３４．５０", "1234.50"), ("\u200e12", "12"), ("1’234", "1'234"), ("−5", "-5")),
        *(("१२", "12"), ("1 000", "1000"), ("\u206612\u2069", "12")),
    ],
)
def test_an_amount_is_never_more_than_was_written(written, amount):
    assert typed(written, Purpose.MONEY) == amount


@pytest.mark.parametrize(
    ("written", "reference"),
    [
        *(("MP\u200b240815", "MP240815"), ("ＭＰ２４", "MP24"), ("ＭＰ－٢٤", "MP-24")),
        *((" mp  24 ", "mp 24"), ("MP\u00a024", "MP 24"), ("MP\u201124", "MP-24")),
    ],
)
def test_a_reference(written, reference):
    assert typed(written, Purpose.REFERENCE) == reference


@pytest.mark.parametrize(
    ("written", "word"),
    [
        *(
            ("ARRÊT", "arret"),
            ("تَوَقَّف", "توقف"),
            ("توقـــف", "توقف"),
            ("ＳＴＯＰ", "stop"),
            ("𝐒𝐓𝐎𝐏", "stop"),
        ),
        *(
            ("\u202bتوقف\u202c", "توقف"),
            ("S\u00adT\u200bO\u2060P", "stop"),
            ("St\u00a0 op", "st op"),
        ),
        *(("“stop”", '"stop"'), ("عد ٥", "عد 5"), ("Straße", "strasse")),
    ],
)
def test_a_keyword(written, word):
    assert typed(written, Purpose.KEYWORD) == word


@given(st.text(), st.sampled_from(Purpose))
def test_any_text_is_read_and_no_mark_stays(text, purpose):
    read = typed(text, purpose)
    assert read == read.strip()
    if purpose is not Purpose.NAME:
        assert not any(each in UNSEEN for each in read)


@given(st.text())
def test_a_name_is_in_its_one_form_once_it_is_read(text):
    name = typed(text, Purpose.NAME)
    assert typed(name, Purpose.NAME) == name


def test_the_digits_of_every_script():
    digits = [chr(n) for n in range(sys.maxunicode + 1) if chr(n).isdecimal()]
    assert len(digits) >= 600
    assert all(western(each) == str(unicodedata.decimal(each)) for each in digits)
    assert western("²½①") == "²½①"


def test_what_is_ascii_costs_no_look_at_each_letter(monkeypatch):
    monkeypatch.setattr(typed_texts, "_plainer", None)
    assert [typed(" A  b ", each) for each in Purpose]


@pytest.mark.parametrize(
    ("written", "address"),
    [
        *((" a@b.test\u200b", "a@b.test"), ("\u2068a@b.test\u2069", "a@b.test")),
        *(("ａ@b．test", "a@b.test"), ("o’brien@b.test", "o'brien@b.test")),
        *(("a b@c.test", "a b@c.test"), ("a@b.test\nBcc: x", "a@b.test Bcc: x")),
    ],
)
def test_an_address_keeps_what_makes_it_none(written, address):
    assert typed(written, Purpose.ADDRESS) == address
