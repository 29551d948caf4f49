"""The phones of the demo: what is remembered of them, and what they may write."""

from __future__ import annotations

import itertools

import pytest

from risala.app.demo_phones import PHONES_MAX, TEXTS_MAX, Phones, PhonesPage
from risala.engine.model.errors import Conflict, Invalid
from risala.plugins.page import ActingPage, ConsolePage, LivePage, PageTable
from risala.sms.numbering.plan import DEFAULT

PHONE = "+22236123456"


class Service:
    def __init__(self, language: str) -> None:
        self.language = language
        self.query: dict[str, str] = {}


@pytest.fixture
def sent():
    return []


@pytest.fixture
def phones(sent):
    ticks = itertools.count(1)
    return Phones(DEFAULT, lambda parts: sent.append(parts) is None, lambda: next(ticks))


def test_memory_is_bounded_and_the_quiet_ones_go_first(phones):
    numbers = [f"+2223612{number:04}" for number in range(PHONES_MAX + 1)]
    for number in numbers:
        phones.got(number, "RISALA", "Hello", 1)
    assert [phone for phone, _ in phones.newest()] == numbers[:0:-1]
    for number in range(TEXTS_MAX + 1):
        phones.got(numbers[5], "RISALA", str(number), 1)
    phone, texts = phones.newest()[0]
    assert (phone, len(texts), texts[0].text) == (numbers[5], TEXTS_MAX, str(TEXTS_MAX))


def test_a_text_leaves_as_parts_of_a_carrier(phones, sent):
    assert phones.write("36 12 34 56", "+1234", "x" * 200) == PHONE
    (parts,) = sent
    assert [part.destination_addr for part in parts] == ["1234", "1234"]
    assert {part.source_addr for part in parts} == {"22236123456"}
    assert phones.newest()[0][1][0].is_written


@pytest.mark.parametrize(
    ("phone", "to", "text", "path"),
    [
        ("12", "1234", "x", "from"),
        (PHONE, "", "x", "to"),
        (PHONE, "1" * 16, "x", "to"),
        (PHONE, "RISALA", "x", "to"),
        (PHONE, "1234", "", "body"),
        (PHONE, "1234", "x" * 1001, "body"),
        (PHONE, "1234", "\ud800", "body"),
    ],
)
def test_what_no_phone_writes(phones, sent, phone, to, text, path):
    with pytest.raises(Invalid) as refused:
        phones.write(phone, to, text)
    assert refused.value.path == path
    assert (sent, phones.newest()) == ([], [])


def test_a_carrier_that_takes_nothing():
    phones = Phones(DEFAULT, lambda _: False, lambda: 1)
    with pytest.raises(Conflict):
        phones.write(PHONE, "1234", "x")
    assert phones.newest() == []


@pytest.mark.parametrize("language", ["en", "fr", "ar"])
async def test_the_page_in_each_language(phones, language):
    page, service = PhonesPage(phones), Service(language)
    assert isinstance(page, ConsolePage)
    assert isinstance(page, ActingPage)
    assert isinstance(page, LivePage)
    empty = [each for each in await page.show(service) if isinstance(each, PageTable)]
    assert [table.rows for table in empty] == [()]
    done = await page.act(service, "text", {"phone": PHONE, "to": "1234", "text": "Hello"})
    assert not done.faults
    assert PHONE in done.text
    for fields, name in (
        ({"phone": "12", "to": "1234", "text": "x"}, "phone"),
        ({"phone": PHONE, "to": "x", "text": "x"}, "to"),
        ({"phone": PHONE, "to": "1234"}, "text"),
    ):
        assert list((await page.act(service, "text", fields)).faults) == [name]
    (table,) = [each for each in await page.show(service) if isinstance(each, PageTable)]
    assert [row[2] for row in table.rows] == ["Hello"]
