"""Phones with bad days at a service that is killed, and what would be seen if a text were wrong."""

from __future__ import annotations

import pytest
from proofs.phones.books import PhoneBooks
from proofs.phones.handset import MOODS, Handset
from proofs.phones.street import NAMES, messages, opened

MESSAGES = 30


def test_each_mood_is_one_that_a_phone_can_take():
    phone = Handset("phone-1", "http://127.0.0.1/mobile/v1", "token", 1)
    phone.phone.network = type("Network", (), {"drop_calls": 0, "drop_answers": 0})()
    for mood in MOODS:
        before = repr((phone.phone.behaviour, phone.phone.events, vars(phone.phone.network)))
        before += repr((phone.phone.config, phone.phone.is_open))
        phone._take(mood)
        after = repr((phone.phone.behaviour, phone.phone.events, vars(phone.phone.network)))
        after += repr((phone.phone.config, phone.phone.is_open))
        assert mood == "well" or before != after, mood
    phone._take("well")
    assert phone.phone.is_open
    assert not phone.phone.behaviour.is_dozing
    assert phone.phone.network.drop_calls == 0


def test_each_message_has_a_number_and_a_key_of_its_own():
    made = messages(100)
    assert len({number for number, _ in made.values()}) == len(made) == 100


@pytest.mark.slow
@pytest.mark.long
async def test_nothing_is_lost_and_what_is_wrong_is_seen(tmp_path):
    async with opened(tmp_path, MESSAGES, 7) as street:
        await street.run(lambda _: None)
        books = PhoneBooks(street).look()
        assert books.faults == []
        assert books.tally["accepted"] == MESSAGES
        assert street.wipes == 1
        assert {each.name for each in street.handsets} == {*NAMES}
        number = next(iter(street.handsets[0].left))
        street.handsets[0].left[number] += 3
        assert any("unsaid" in fault for fault in PhoneBooks(street).look().faults)
        for each in street.handsets:
            del each.left[number]
        assert any("no phone has it" in fault for fault in PhoneBooks(street).look().faults)
