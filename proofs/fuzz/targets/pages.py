"""What browsers send and files that are handed out: forms, cookies, places to go back to, CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from typing import Final
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from werkzeug.sansio.http import parse_cookie

from proofs.fuzz.target import FuzzTarget, Script, is_unicode, refusal_of, text_of, work_within
from risala.cli.reach.client import _stream_event
from risala.engine.model.following import Lagged, OutboxEvent, Ready, Reset, Told, What
from risala.engine.model.people import Language
from risala.engine.people.letters import one_line, words_in
from risala.engine.rules.people.emails import normalised
from risala.http.api.management import cursors
from risala.http.api.management.cursors import NUMBERED, ListName
from risala.http.common.problems import Problem
from risala.http.control.streams import _chunk
from risala.http.web.cookie_policy import origin_of, safe_next
from risala.http.web.files.spreadsheet import COMMA, MARK, SEMICOLON, harmless
from risala.http.web.forms import FIELDS_MAX, amount_text, form_of, masked, unmasked
from risala.http.web.languages import language_named
from risala.http.web.once import OnceKeys, StaleForm

NOW_MS: Final = 1_767_225_600_000


def _forms(octets: bytes) -> None:
    query = octets.decode("latin-1")
    with work_within(3000 + 40 * len(query)):
        found = refusal_of(lambda: form_of(query), Problem)
    if isinstance(found, Problem):
        assert found.status == 400
        return
    assert not isinstance(found, Exception)
    pairs = parse_qsl(query, keep_blank_values=True)
    assert sum(map(len, found.fields.values())) == len(pairs) <= FIELDS_MAX
    for name, values in found.fields.items():
        assert is_unicode(name)
        assert all(is_unicode(value) for value in values)
        assert found.text(name) == values[-1].strip()
        assert all(line.strip() == line != "" for line in found.lines(name))
    again = form_of(urlencode([(name, v) for name, vs in found.fields.items() for v in vs]))
    assert again == found
    _amount(text_of(octets))


def _amount(text: str) -> None:
    """An amount of money is the one that was written, or stays as it was."""
    made = amount_text(text)
    if made == text:
        return
    value = Decimal(made)
    assert value >= 0
    assert made.isascii()
    assert -2 <= int(value.as_tuple().exponent) <= 0
    assert amount_text(made) == made


def _marks(octets: bytes) -> None:
    """Marks of forms, keys of forms that count once, cookies, languages: ours are known, others
    are nothing."""
    script = Script(octets)
    text = text_of(script.rest())
    if is_unicode(text):
        cookies = parse_cookie(f"risala={text}; theme=dark")
        assert all(isinstance(each, str) for each in cookies.values())
        language_named(text)
        origin_of("https://" + "".join(each for each in text if each.isalnum()))
    with work_within(3000 + 40 * len(text)):
        assert isinstance(unmasked(text), str)
    if text.isascii():
        assert unmasked(masked(text)) == text
    keys = OnceKeys(b"secret")
    if is_unicode(text):
        assert isinstance(refusal_of(lambda: keys.find("user", text, NOW_MS), StaleForm), StaleForm)
        good = keys.mint("user", NOW_MS)
        assert keys.find("user", good, NOW_MS) is None
        changed = good[: len(text) % len(good)] + text + good[len(text) % len(good) + 1 :]
        if changed != good:
            found = refusal_of(lambda: keys.find("user", changed, NOW_MS), StaleForm)
            assert isinstance(found, StaleForm)


_ROOTS: Final = ("/app", "/app/account")


def _next(octets: bytes) -> None:
    """Nobody is sent to another host, by whatever spelling."""
    text = text_of(octets)
    with work_within(3000 + 10 * len(text)):
        target = safe_next(text, _ROOTS)
    if target is None:
        return
    assert target == text
    browser = target.replace("\\", "/").translate({9: None, 10: None, 13: None}).strip()
    browser = browser.replace("%2e", ".").replace("%2E", ".")
    for seen in (target, browser):
        parts = urlsplit(urljoin("https://sms.example/app/sign-in", seen))
        assert (parts.scheme, parts.netloc) == ("https", "sms.example")
        assert parts.path.startswith("/app")


_DANGEROUS: Final = frozenset("=+-@\t\r＝＋－＠")


def _cells(octets: bytes) -> None:
    """A file reads back cell by cell, and no program takes a cell for a formula, whichever
    separator it was opened with."""
    script = Script(octets)
    texts = [text_of(script.some()) for _ in range(script.number() % 4 + 1)]
    texts = [each for each in texts if is_unicode(each)]
    if not texts:
        return
    numbers = [script.number() - 128, Decimal(script.number()) / 100, None]
    for form in (COMMA, SEMICOLON):
        with work_within(3000 + 60 * len(octets)):
            line = form.line([*texts, *numbers])
        assert is_unicode(MARK + line)
        (row,) = csv.reader(io.StringIO(line, newline=""), delimiter=form.separator)
        assert row[: len(texts)] == [harmless(each) for each in texts]
        assert row[len(texts)] == str(numbers[0])
        for cell, text in zip(row, texts, strict=False):
            assert cell.lstrip("'").replace("'", "") == text.lstrip("'").replace("'", "")
            assert cell.strip()[:1] not in _DANGEROUS or not cell.strip()
        other = ";" if form is COMMA else ","
        for opened in csv.reader(io.StringIO(line, newline=""), delimiter=other):
            for cell in opened[1:]:
                inner = cell.strip(" \"'\x00")
                assert not (cell[:1] in "=+@" and inner and cell[:1])


def _mails(octets: bytes) -> None:
    """What others wrote stands on one line of a mail, and an address is one that headers take."""
    script = Script(octets)
    language = script.of(tuple(Language))
    text = text_of(script.rest())
    with work_within(4000 + 60 * len(text)):
        line = one_line(text)
        address = refusal_of(lambda: normalised(text), UnicodeError)
    assert len(line.splitlines()) <= 1
    assert not any(each in line for each in "\r\n\0\u2028\u2029\u202e\x85")
    words = words_in(language)
    said = words["invitation"]["subject"].format(
        **dict.fromkeys(("organization", "who", "role", "until", "url"), line)
    )
    assert len(said.splitlines()) <= 1
    if isinstance(address, str):
        assert normalised(address) == address
        assert address.isascii()
        assert address.count("@") == 1
        assert not any(each in address for each in ' \r\n,;:<>()[]"\\')
        if is_unicode(line):
            _check_header(address, line)


def _check_header(address: str, line: str) -> None:
    message = EmailMessage(policy=SMTP)
    message["To"] = address
    message["Subject"] = line
    message.set_content("text", cte="base64")
    read = message_from_bytes(message.as_bytes(), policy=SMTP)
    assert read["To"] == address
    assert len(read.get_all("Subject") or []) == 1
    assert set(read.keys()) == set(message.keys())


def _streams(octets: bytes) -> None:
    """What the service tells over its socket the command reads, whatever a carrier wrote."""
    script = Script(octets)
    kind, text = script.number() % 4, join_text(script.some())
    body = json.dumps({"id": "evt_1", "text": join_text(script.rest())}, ensure_ascii=False)
    told: Told = (
        OutboxEvent(1, "evt_1", "org_1", body),
        Lagged(script.number()),
        Reset(text),
        Ready(NOW_MS),
    )[kind]
    what = What.EVENTS | What.LIFE
    chunk = _chunk(told, what)
    assert chunk.endswith(b"\n\n")
    assert chunk.count(b"\n\n") == 1
    read = _stream_event(chunk.removesuffix(b"\n\n"))
    assert read is not None
    if isinstance(told, OutboxEvent):
        assert (read.kind, read.text, read.id) == ("event", body, "evt_1")
    if isinstance(told, Reset):
        assert read.data == {"reason": text}


def join_text(octets: bytes) -> str:
    return octets.decode("utf-8", "replace")


def _cursors(octets: bytes) -> None:
    script = Script(octets)
    of, place = script.of(tuple(ListName)), script.number() << 40 | script.number()
    text = script.rest().decode("latin-1")
    with work_within(3000 + 20 * len(text)):
        found = refusal_of(lambda: cursors.read(of, text), ValueError)
    if isinstance(found, str):
        assert is_unicode(found)
        if of in NUMBERED:
            assert 0 <= int(found) < 2**62
            written = cursors.written(of, int(found))
            assert written is not None
            assert cursors.read(of, written) == str(int(found))
    ours = cursors.written(of, place)
    assert ours is not None
    assert cursors.read(of, ours) == str(place)
    for other in ListName:
        if other is not of:
            refused = refusal_of(lambda: cursors.read(other, ours), ValueError)  # noqa: B023
            assert isinstance(refused, ValueError)


def _cell_seeds() -> Iterator[bytes]:
    yield b'\1\5=1+1,\6"a";=b'
    yield b"\0\x0c+22236123456"
    yield "\0\6＝1".encode()
    yield b"\2\3\t=1\3\r\n@\2a;\x80\x80"


TARGETS: Final = (
    FuzzTarget(
        "forms",
        "400, or as urllib reads them, in whole characters; an amount is the one that was written",
        _forms,
        lambda: (b"a=1&a=2&b=%D8%B3", b"x=%ff", b"amount=1+234%2C50", b"1 234,50", b"1.234,5"),
        octets_max=500,
        words=(b"%ff", b"%ED%A0%80", b"&", b"=", b"%0D%0A", b"form_token="),
    ),
    FuzzTarget(
        "marks-and-cookies",
        "a mark, a key of a form or a cookie is ours, or is nothing; none raises",
        _marks,
        lambda: (b"", b"abcd", b"AAAA", b"\xed\xa0\x80", b"19b.x.y", b'a="b\\012c"; d'),
        octets_max=200,
        words=(b";", b"=", b".", b'"\\'),
    ),
    FuzzTarget(
        "back-to",
        "nobody is sent to another host, as urllib and as browsers read addresses",
        _next,
        lambda: (b"/app/account?x=1", b"/app//evil", b"/app\\evil", b"//evil", b"/app/../x"),
        octets_max=200,
        words=(b"/app", b"//", b"\\", b"%2f", b"@", b"https:", b"\t", b"..", b"?"),
    ),
    FuzzTarget(
        "csv",
        "Python's csv reads the same cells; none begins as a formula, whatever parts the cells",
        _cells,
        _cell_seeds,
        octets_max=200,
        words=(b'"', b"=", b"+", b"-", b"@", b",", b";", b"\t", b"\r\n", "＝".encode(), b"'"),
    ),
    FuzzTarget(
        "mails",
        "what others wrote stays on its line; the email package reads the same headers",
        _mails,
        lambda: (b"\0Ann@Example.com", "\1a@müller.example".encode(), b"\2Shop\r\nBcc: x@y.z"),
        octets_max=200,
        words=(b"\r\n", b"Bcc: ", b"=?utf-8?q?", b"@", b".", b"xn--", "\u202e".encode(), b"{who}"),
    ),
    FuzzTarget(
        "control-streams",
        "what the service tells by its control socket the command reads the same",
        _streams,
        lambda: (b"\0\0text", b"\2\5raw\n\nx", b"\1\0\7", b"\2\4a: b", b"\3\0"),
        octets_max=200,
        words=(b"\n\n", b"data: ", b"event: ", b"\r", "\u2028".encode()),
    ),
    FuzzTarget(
        "page-cursors",
        "a cursor is of its own list alone, and its place one that SQLite can hold",
        _cursors,
        lambda: (
            b"\0\1\2bTE",
            b"\1\1\2dng",
            b"\0\0\0" + b"A" * 120,
            b"\0\0\0bTkyMjMzNzIwMzY4NTQ3NzU4MDc",
        ),
        octets_max=140,
    ),
)
