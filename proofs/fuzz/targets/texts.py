"""Texts that people, banks and customers write: codes, patterns, words, numbers, alphabets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

import phonenumbers
import smsutil

from proofs.fuzz.target import FuzzTarget, Script, is_unicode, refusal_of, text_of, work_within
from risala.drivers.payments.mobile_money import BankReader, BankSmsSettings
from risala.drivers.payments.patterns import PatternError, amount_of, parse_pattern, plain
from risala.drivers.policies.plugin import (
    TEXT_CHARACTERS_MAX,
    WordsPolicy,
    WordsSettings,
    folded,
)
from risala.engine.rules.template import CODE, EXPIRY, freeze, is_origin, render, template_fault
from risala.plugins.payment_texts import TextKind
from risala.plugins.policy import PolicyPass, PolicyRefusal, PolicyRewrite
from risala.sms.address import (
    fold_sender,
    sender_fault,
    source_address,
    spelled,
)
from risala.sms.alphabet import (
    choose_alphabet,
    decode_gsm7,
    encode_gsm7,
    fits_gsm7,
    plainer,
    septet_count,
    smart_encode,
)
from risala.sms.message import Alphabet, Inbound
from risala.sms.national import decode_national, encode_national
from risala.sms.numbering.countries import network_of
from risala.sms.numbering.plan import DEFAULT
from risala.sms.segment import count, cut, join, parse_user_data_header, split


def _templates(octets: bytes) -> None:
    """A template that is taken says the code as often as it promises to, and nothing else of ours
    stays in it."""
    script = Script(octets)
    minutes = script.number()
    app_hash = script.of((None, "AbCdEfGhIj+"))
    origin = script.of((None, "example.com", "localhost"))
    template = text_of(script.rest())
    with work_within(3000 + 20 * len(template)):
        fault = template_fault(template)
        text = render(freeze(template, minutes, app_hash, origin), "738291")
    assert is_origin(origin or "localhost")
    if fault is not None:
        assert fault.isprintable() or "{{" in fault
        return
    assert CODE not in text
    assert EXPIRY not in text
    assert text.count("738291") >= template.count(CODE) + (origin is not None)
    if not any(each.isdigit() for each in template):
        assert text.count("738291") == template.count(CODE) + (origin is not None)
    if origin is not None:
        assert text.endswith(f"\n@{origin} #738291")


_FRENCH: Final = (
    r"Vous avez reçu {amount} MRU (?:du|de) {payer}(?: \([^)]+\))?\. Réf\. {reference}\."
    r"(?: Frais {fee} MRU\.)? Solde {balance} MRU\."
)
_ARABIC: Final = "استلمت {amount} أوقية، المرجع {reference}."
_BANK: Final = BankReader(
    "bank",
    BankSmsSettings.model_validate(
        {
            "carrier": "sim",
            "senders": ("BANK",),
            "patterns": (
                {"text": _FRENCH},
                {"text": _ARABIC, "language": "ar"},
                {"text": r"Retrait {amount} MRU\. Solde {balance}\.", "kind": "debit"},
                {"text": r"(?:Bonjour|Salam)[^0-9]*", "kind": "notice"},
            ),
        }
    ),
)


def _bank(octets: bytes) -> None:
    text = join([text_of(octets)])
    once = plain(text)
    message = Inbound("bank", None, text, 0)
    with work_within(6000 + 60 * len(text)):
        reading = _BANK.read(message)
    if reading.kind in (TextKind.CREDIT, TextKind.DEBIT):
        assert any(each.isdigit() for each in text)
        assert len(once) <= 700
    if reading.kind is TextKind.CREDIT:
        settled = reading.settled
        assert settled is not None
        assert settled.amount > 0
        assert re.fullmatch(r"[0-9A-Za-z./_-]+", settled.reference)
        assert settled.payer is None or re.fullmatch(r"\+?[0-9 .-]+", settled.payer)
    amount = refusal_of(lambda: amount_of(once), ValueError)
    if isinstance(amount, int):
        # Whatever parts the thousands, the digits are those of the amount, in their order.
        digits = "".join(each for each in once if each.isdigit())
        assert f"{abs(amount)}".rstrip("0") == (digits.lstrip("0")).rstrip("0")
        Decimal(amount)


def _patterns(octets: bytes) -> None:
    """A pattern that is taken reads any text in the time that its length allows: the fuzzer's own
    limit of time is what would tell."""
    script = Script(octets)
    written = text_of(script.some())
    pattern = refusal_of(lambda: parse_pattern(written), PatternError)
    if isinstance(pattern, Exception):
        assert len(str(pattern)) < 200
        return
    piece = text_of(script.some())
    text = plain(text_of(script.some()) + piece * (600 // max(1, len(piece))) + script.text())
    found = pattern.read(text[:700])
    if found is not None:
        assert set(found) <= pattern.holes
        assert all(each in text for each in found.values())


def _policies(octets: bytes) -> None:
    """What is refused has one of the words as a whole; what is replaced has none of them left."""
    script = Script(octets)
    words = [each for each in (script.text()[:20] for _ in range(3)) if each and is_unicode(each)]
    if not words:
        return
    to, text = script.of(("", "x", "***")), join([text_of(script.rest())])
    refusing = WordsPolicy("w", WordsSettings(refuse=tuple(words)))
    replacing = WordsPolicy("w", WordsSettings(replace=dict.fromkeys(words, to)))
    with work_within(6000 + 40 * len(text) + 3000):
        verdict = refusing._judged(text)
        other = replacing._judged(text)
    seen, known = folded(text), [each for each in map(folded, words) if each]
    if isinstance(verdict, PolicyRefusal):
        assert any(word.casefold() in seen.casefold() for word in known)
    elif text.strip() in words and known:
        assert not _is_word(folded(text.strip())) or not _is_word(text.strip())
    if isinstance(other, PolicyRewrite):
        assert 0 < len(other.text) <= TEXT_CHARACTERS_MAX
    elif isinstance(other, PolicyPass) and to == "***":
        for word in words:
            if _is_word(word):
                assert re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is None


def _is_word(text: str) -> bool:
    return re.fullmatch(r"\w+", text) is not None


def _numbers(octets: bytes) -> None:
    text = text_of(octets)
    with work_within(3000 + 30 * len(text)):
        found = refusal_of(lambda: DEFAULT.read(text), ValueError)
        fault = sender_fault(text)
        country = DEFAULT.with_country(text, "+222")
        source_address(text)
    if isinstance(found, str):
        assert DEFAULT.serves(found)
        assert DEFAULT.read(found) == found
        parsed = phonenumbers.parse(found)
        assert phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164) == found
        network_of(found)
    if fault is None:
        assert fits_gsm7(text)
        assert fold_sender(spelled(text)) == fold_sender(text)
        assert sender_fault(spelled(text)) is None
        assert "  " not in spelled(text)
    assert country == text or DEFAULT.serves(country)
    assert DEFAULT.with_country(country, "+222") == country


def _alphabets(octets: bytes) -> None:
    """Texts are cut and joined without loss, as another's cutter has it; septets read back."""
    script = Script(octets)
    locking, single = script.number() % 5, script.number() % 5
    rest = script.rest()
    text = join([text_of(rest)])[:1600]
    alphabet = choose_alphabet(text)
    with work_within(4000 + 60 * len(text)):
        parts = split(text, alphabet)
        counted = count(text)
    assert "".join(parts) == text
    assert len(parts) == counted.segments == len(cut(text).texts)
    assert (alphabet is Alphabet.GSM7) == fits_gsm7(text)
    if alphabet is Alphabet.GSM7:
        assert decode_gsm7(encode_gsm7(text)) == text
        assert len(encode_gsm7(text)) == septet_count(text) == counted.units
        if text and len(parts) == 1:
            assert smsutil.is_valid_gsm(text)
            assert len(smsutil.split(text).parts) == 1
    smart = smart_encode(text)
    assert smart == text or fits_gsm7(smart)
    assert all(fits_gsm7(other) for each in text[:50] if (other := plainer(each)) is not None)
    read = decode_national(rest, locking, single)
    assert is_unicode(read)
    written = refusal_of(lambda: encode_national(read, locking, single), UnicodeEncodeError)
    if isinstance(written, bytes):
        assert decode_national(written, locking, single) == read
    header = refusal_of(lambda: parse_user_data_header(rest), ValueError)
    if not isinstance(header, Exception):
        assert 1 <= header.length <= len(rest)
        place = header.concatenation
        assert place is None or 1 <= place.number <= place.total <= 255


def _pattern_seeds() -> Iterator[bytes]:
    for written in (_FRENCH, _ARABIC, r"a{2,700}(?:b|c)?[^,]+,\d*", r"(?:(?:x|y)+z)*{amount}"):
        octets = written.encode()
        yield bytes((len(octets),)) + octets + b"\3abc\0"
    # What takes for ever where a repetition gives back what it took.
    yield b"\x08(?:a+)+b" + b"\1a\0"


TARGETS: Final = (
    FuzzTarget(
        "code-templates",
        "a template that is taken says the code as often as it promises, and nothing of ours is"
        " left in it",
        _templates,
        lambda: (
            b"\x05\0\0Your code is {{code}}. {{expiry_minutes}}",
            b"\x0a\1\1{{code}}",
            b"\1\0\0{{{{code}}}}{{co{{expiry_minutes}}de}}",
            b"\1\0\0{{code}} {{name}}",
        ),
        octets_max=600,
        words=(b"{{code}}", b"{{expiry_minutes}}", b"{{", b"}}", b"{", b"\n"),
    ),
    FuzzTarget(
        "bank-texts",
        "read or not; an amount is above nothing, a reference has its signs, digits are nobody"
        " else's",
        _bank,
        lambda: (
            "Vous avez reçu 1 250,00 MRU du +222 36 12 34 56 (ALI). Réf. BK-77."
            " Solde 12.500,5 MRU.".encode(),
            "استلمت \u200f٥٠٠٫٢٥ أوقية\u200f، المرجع \u202aBK-7\u202c.".encode(),
            b"Retrait 1,250.00 MRU. Solde -3.",
            b"1'250.5",
            b"Salam",
        ),
        octets_max=700,
        words=("٫".encode(), "٬".encode(), "²".encode(), "Réf. ".encode(), b" MRU", b"1 000,00"),
    ),
    FuzzTarget(
        "bank-patterns",
        "refused in a sentence, or reads any text within the time of its length",
        _patterns,
        _pattern_seeds,
        octets_max=400,
        words=(b"(?:", b")?", b"{amount}", b"{m,n}", b"+", b"*", b"|", b"[^,]", b"\\d", b"{2,9}"),
    ),
    FuzzTarget(
        "policy-words",
        "what is refused has a word of the list; of what is replaced none is left",
        _policies,
        lambda: (
            b"\3bad\4worse"[:9] + b"\0\2a bad day",
            b"\4caf\xc3\xa9\0\0\2CAFE caf\xc3\xa9",
            "\6straße\0\0\2STRASSE Straße".encode(),
            "\6kisses\0\0\2\u212aiſſes".encode(),
        ),
        octets_max=300,
        words=("ſ".encode(), b"K", "İ".encode(), "ß".encode(), "\u0301".encode(), b" "),
    ),
    FuzzTarget(
        "numbers-and-senders",
        "a number is one that libphonenumber reads the same; a sender fits its alphabet",
        _numbers,
        lambda: (b"+222 36-12.34(56)", b"0022241000000", "٣٦١٢٣٤٥٦".encode(), b"RISALA 1", b"1234"),
        octets_max=100,
        words=(b"+222", b"00222", b"222", "٢".encode(), "\u200e".encode()),
    ),
    FuzzTarget(
        "alphabets",
        "cut and joined without loss, as often as counted and as smsutil has it; septets read back"
        " in every table",
        _alphabets,
        lambda: (
            b"\0\0hello",
            "\1\1€{}[]~|^\\".encode(),
            ("\3\2" + "😀é" * 80).encode(),
            b"\2\1\x05\x00\x03\x07\x02\x01\x1b\x1b\x1be\x1b",
            b"\0\0" + b"x" * 161,
        ),
        octets_max=1000,
        words=(b"\x1b", "€".encode(), "😀".encode(), "\u0301".encode(), "👩\u200d👧".encode()),
    ),
)
