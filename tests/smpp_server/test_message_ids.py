"""Ids of messages as numbers, for software that stores numbers."""

import re

import pytest
from trio.testing import wait_all_tasks_blocked

from risala.drivers.smpp.protocol.pdu import CancelSm, QuerySm
from risala.drivers.smpp.protocol.receipt import parse_receipt
from risala.drivers.smpp.protocol.tlv import RECEIPTED_MESSAGE_ID, find
from risala.engine.model.ids import MessageIds, key_of, keys_of
from risala.smpp_server.submits import IdShape, shape_of, written
from smpp_peers.house import NOW_MS, event, view

YEAR_9999_MS = 253_402_300_799_999
(_, ID), *_ = MessageIds(0).new(NOW_MS)
KEY = key_of(ID)


def test_a_number_names_its_message_and_no_other():
    made = MessageIds(0).new(NOW_MS, 1000) + MessageIds(0).new(YEAR_9999_MS)
    for shape, pattern in ((IdShape.DECIMAL, r"[0-9]{1,19}"), (IdShape.HEX, r"[0-9a-f]{1,16}")):
        numbers = [written(message_id, shape) for _, message_id in made]
        assert len(set(numbers)) == len(made)
        assert all(re.fullmatch(pattern, number) for number in numbers)
        keys = {key for key, _ in made}
        # However it is read otherwise, it is no message's.
        assert [keys.intersection(keys_of(number)) for number in numbers] == [
            {key} for key, _ in made
        ]
    assert written(ID, IdShape.TEXT) == ID


def test_numbers_are_read_as_software_writes_them():
    assert KEY in keys_of(f"{KEY:020}")
    assert KEY in keys_of(f"{KEY:X}")
    assert KEY in keys_of(f"{KEY:016x}")
    for other in ("", ID, "12 3", "-1", "1_0", "0x12", "9" * 21, "f" * 16, "f" * 20):
        assert keys_of(other) == ()


def test_metadata_of_others_says_nothing():
    assert shape_of({}) is IdShape.TEXT
    assert shape_of({"smpp.id": "roman"}) is IdShape.TEXT
    assert shape_of({"smpp.id": "hex"}) is IdShape.HEX


@pytest.mark.parametrize(("shape", "number"), [("decimal", f"{KEY}"), ("hex", f"{KEY:x}")])
async def test_a_receipt_has_the_id_that_the_submit_was_answered(open_premises, shape, number):
    # The setting is another by now: the message keeps the id that it has.
    premises = open_premises(message_ids="text")
    metadata = {"smpp.receipt": "1", "smpp.id": shape}
    async with premises.customer() as customer:
        await customer.bind()
        premises.outbox.tell(event(1, message_id=ID, metadata=metadata))
        await wait_all_tasks_blocked()
    (pdu,) = customer.delivered
    assert parse_receipt(pdu).carrier_id == number
    assert f"id:{number} sub:".encode() in pdu.short_message
    assert find(pdu.tlvs, RECEIPTED_MESSAGE_ID).text == number


@pytest.mark.parametrize("shape", ["text", "decimal", "hex"])
async def test_every_shape_is_taken_whatever_the_setting(open_premises, shape):
    premises = open_premises(message_ids=shape)
    premises.engine.views = {ID: view("delivered", id=ID)}
    async with premises.customer() as customer:
        await customer.bind()
        for number in (ID, f"{KEY}", f"{KEY:x}", f"{KEY:X}", f"0{KEY}"):
            told = await customer.ask(QuerySm(number))
            assert (told.command_status, told.message_state) == (0, 2)
            assert told.message_id == number
            assert (await customer.ask(CancelSm(message_id=number))).command_status == 0
        for number in (f"{KEY + 1}", "7", "x"):
            assert (await customer.ask(QuerySm(number))).command_status == 0x0C
    assert {arguments["message_id"] for _, arguments, _ in premises.engine.performed} == {ID}
