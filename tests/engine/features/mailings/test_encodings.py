"""What a file is, by its bytes."""

import codecs
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.features.tables.rules.encodings import (
    ARABIC,
    DOS,
    ENCODINGS,
    ENCRYPTED,
    LATIN,
    MAC,
    OLE,
    UTF_8,
    UTF_16,
    EncodingEvidence,
    is_workbook,
)
from risala.engine.features.tables.rules.faults import TableFault, UnreadableTable

FRENCH = "Nom;Prénom;Téléphone\r\nBÂ;Élodie;22123456\r\nN’Diaye;Aïcha;33123456\r\n« ÉCOLE »;à;1\r\n"
ARABIC_TEXT = "الاسم;الهاتف\r\nمحمد ولد أحمد;22123456\r\nأمينة و سيدي;33123456\r\n"
ASCII = "name,phone\nSidi,22123456\n"


def found(octets, chosen=None, size=7):
    evidence = EncodingEvidence()
    for start in range(0, len(octets), size):
        evidence.feed(octets[start : start + size])
    return evidence.encoding(chosen)


def fault(octets, chosen=None):
    with pytest.raises(UnreadableTable) as raised:
        found(octets, chosen)
    return raised.value.fault


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (ASCII, "ascii", UTF_8),
        (FRENCH, "utf-8", UTF_8),
        (FRENCH, "utf-8-sig", UTF_8),
        (ARABIC_TEXT, "utf-8", UTF_8),
        (ARABIC_TEXT, "utf-8-sig", UTF_8),
        (FRENCH, "utf-16", UTF_16),
        (ARABIC_TEXT, "utf-16", UTF_16),
        (FRENCH, "utf-16-le", UTF_16),
        (ARABIC_TEXT, "utf-16-be", UTF_16),
        (FRENCH, "cp1252", LATIN),
        (FRENCH + "œuvre €5", "cp1252", LATIN),
        (ARABIC_TEXT, "cp1256", ARABIC),
        (FRENCH.replace("\r\n", "\r"), "mac-roman", MAC),
        ("Prénom;Téléphone\rAïcha;36123401\r", "mac-roman", MAC),
        ("Nom;Tél\rRenée;22123456\r", "mac-roman", MAC),
        ("Nom;Tel\rL’école d’été;22123456\r", "mac-roman", MAC),
        ("NOM;TEL\rHÉLÈNE;22123456\r", "mac-roman", MAC),
        ("Nom;Tel\nFrançois;22123456\nJérôme;33123456\n", "mac-roman", MAC),
        ("Nombre;Teléfono\rMuñoz;22123456\rGarcía;33123456\r", "mac-roman", MAC),
        ("Name;Telefon\rMüller;22123456\rJäger;33123456\rGroß;1\r", "mac-roman", MAC),
        (FRENCH.replace("’", "'").replace("« ÉCOLE »", "ÉCOLE"), "cp850", DOS),
        ("Prénom;Tél\r\nZoé;22123456\r\nGaëlle;33123456\r\n", "cp850", DOS),
        ("Nom;Tel\r\nRené;22123456\r\n", "cp850", DOS),
        ("Nom;Tel\r\nFrançois;22123456\r\nJérôme à Nîmes;33123456\r\n", "cp850", DOS),
        ("NOM;TEL\r\nHÉLÈNE;22123456\r\nDÉDÉ;33123456\r\n", "cp850", DOS),
        ("Name;Telefon\r\nMüller;22123456\r\nJäger;33123456\r\n", "cp850", DOS),
        ("Nombre;Teléfono\r\nMuñoz;22123456\r\nGarcía;33123456\r\n", "cp850", DOS),
        ("Prénom;Tél\r\nDéjà;22123456\r\nà côté;33123456\r\n", "cp437", DOS),
        ("PRÉNOM;TÉL\rÉLÉONORE;22123456\rFRANÇOIS;33123456\r", "mac-roman", MAC),
        ("Name;Ort\rJörg;Köln\rÜmit;Münster\r", "mac-roman", MAC),
        ("Nom;Tel\rPêche;22123456\rRéné Gálvez;33123456\r", "mac-roman", MAC),
        ("Nom;Mot\nAli;‘oui’ dit-il… à ‚peine‘\nÉva;ç’a été\n", "cp1252", LATIN),
        # Windows's punctuation is no letter of a Macintosh.
        ("Nom;Mot\nAli;l’« œuvre… – “à” 5 €\nŒ;cœur\n", "cp1252", LATIN),
        ("Nom;Mot\nAïcha;suite…\nZoë;“mot” d’été\nSöderžan;Žižek\n", "cp1252", LATIN),
        # A list in both languages, as a machine in Arabic writes it.
        (ARABIC_TEXT + "Aïcha;Bâ;Noël;à l’école;ça\r\n" * 2, "cp1256", ARABIC),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 65536])
def test_encodings_are_recognised(text, codec, name, size):
    octets = text.encode(codec)
    encoding = found(octets, size=size)
    assert encoding.name == name
    assert octets.decode(encoding.codec) == text


def test_a_mark_of_the_other_order_is_read():
    octets = codecs.BOM_UTF16_BE + ARABIC_TEXT.encode("utf-16-be")
    assert octets.decode(found(octets).codec) == ARABIC_TEXT


def test_what_is_chosen_counts():
    octets = FRENCH.encode("cp1252")
    assert found(octets, ARABIC).codec == "cp1256"
    assert found(ASCII.encode(), LATIN).codec == "cp1252"
    assert found(ASCII.encode("utf-16-le"), UTF_16).codec == "utf-16-le"
    assert fault(octets, UTF_8) is TableFault.BROKEN_ENCODING


def test_broken_encodings():
    whole = ARABIC_TEXT.encode()
    assert fault(whole + b"\xd9") is TableFault.BROKEN_ENCODING
    assert fault(codecs.BOM_UTF8 + FRENCH.encode("cp1252")) is TableFault.BROKEN_ENCODING
    # Two files of different encodings, one behind the other.
    assert fault(whole * 5 + "É".encode("cp1252")) is TableFault.BROKEN_ENCODING


def test_what_is_no_text():
    assert fault(b"") is TableFault.EMPTY_FILE
    assert fault(b"a;b\n1;\x00\n") is TableFault.NUL_CHARACTERS
    assert fault(bytes(range(256)) * 10) is TableFault.NUL_CHARACTERS
    assert fault(bytes(range(1, 256)) * 10) is TableFault.NOT_A_TABLE


@given(st.binary(max_size=300), st.sampled_from([None, *ENCODINGS]))
def test_any_bytes_have_an_encoding_or_a_fault(octets, chosen):
    with suppress(UnreadableTable):
        encoding = found(octets, chosen)
        assert encoding.name in ENCODINGS
        if encoding.name == UTF_8:
            octets.decode(encoding.codec)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_each_text_of_utf_8_is_recognised(text):
    assert found(text.encode()).name == UTF_8


@pytest.mark.parametrize(
    ("head", "fault"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", TableFault.NOT_A_TABLE),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", TableFault.NOT_A_TABLE),
        (b"GIF89a", TableFault.NOT_A_TABLE),
        (b"%PDF-1.7", TableFault.NOT_A_TABLE),
        (b"  \r\n<HTML><table>", TableFault.NOT_A_TABLE),
        (b'<?xml version="1.0"?><Workbook>', TableFault.NOT_A_TABLE),
        (OLE + bytes(504), TableFault.OLD_WORKBOOK),
    ],
)
def test_files_of_other_kinds(head, fault):
    with pytest.raises(UnreadableTable) as raised:
        is_workbook(head, [head])
    assert raised.value.fault is fault


def test_a_password_is_named():
    with pytest.raises(UnreadableTable) as raised:
        is_workbook(OLE, [OLE + bytes(100), b"x" + ENCRYPTED])
    assert raised.value.fault is TableFault.PROTECTED_WORKBOOK


def test_workbooks_and_texts():
    assert is_workbook(b"PK\x03\x04...")
    assert not is_workbook(b"name;phone")
