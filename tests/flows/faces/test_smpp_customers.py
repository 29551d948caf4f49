"""Customers that speak SMPP to the whole service: one account, and a carrier at its other side."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
import trio

from patience import HANG_S
from risala.drivers.smpp.link import NoAnswerError
from risala.drivers.smpp.protocol.pdu import BindTransmitter, CancelSm, QuerySm
from risala.drivers.smpp.protocol.receipt import parse_receipt
from risala.drivers.smpp.protocol.submit import decode_message
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.smpp_server.submits import IDEMPOTENCY_KEY
from risala.sms.alphabet import encode_gsm7
from risala.sms.segment import user_data_header
from smpp_peers.house import Customer, submit
from smpp_peers.service import SECTION, credential, port_of

pytestmark = pytest.mark.slow


@pytest.fixture
def service(premises):
    # What a kill leaves uncertain is over soon: by itself it waits as long as a test may.
    carrier = 'on_uncertain_message = { action = "fail", after_s = 1 }'
    simulator = premises.simulator("--receipt-delay-s", "0.05")
    return premises.running(simulator, more=SECTION, carrier=carrier)


@asynccontextmanager
async def connected(service) -> AsyncIterator[Customer]:
    stream = await trio.open_tcp_stream("127.0.0.1", port_of(service))
    customer = Customer(stream)
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(customer.link.run)
            try:
                yield customer
            finally:
                customer.link.end("the test is over")


async def test_a_customer_sends_asks_withdraws_and_hears(service):
    account = service.organization()
    key, system_id, password = credential(service, account.organization_id)
    async with connected(service) as customer:
        assert (await customer.bind(system_id, password)).command_status == 0
        sent = await customer.ask(submit("Bonjour", registered_delivery=1))
        assert sent.command_status == 0
        later = "000001000000000R"
        waits = await customer.ask(
            submit("Later", schedule_delivery_time=later, registered_delivery=1)
        )
        assert (await customer.ask(CancelSm(message_id=waits.message_id))).command_status == 0
        withdrawn = await customer.ask(QuerySm(waits.message_id))
        assert withdrawn.message_state == 4
        await customer.wait_delivered(2)
        receipts = {
            each.carrier_id: each.state.value for each in map(parse_receipt, customer.delivered)
        }
        delivered = await customer.ask(QuerySm(sent.message_id))
        (seen,) = service.perform("smpp.sessions")["sessions"]
        measured = service.get("/metrics").text
        await customer.link.unbind()
    assert (seen["systemId"], seen["kind"], seen["version"]) == (system_id, "transceiver", "3.4")
    assert (seen["accepted"], seen["delivered"]) == (2, 2)
    assert 'risala_smpp_sessions{kind="transceiver"} 1.0' in measured
    assert 'risala_smpp_submits_total{status="0x00"} 2.0' in measured
    assert receipts == {sent.message_id: "DELIVERED", waits.message_id: "DELETED"}
    assert delivered.message_state == 2
    shown = service.perform("message.show", message_id=sent.message_id)
    assert shown["message"]["keyId"] == key
    assert f"by the face smpp ({key})" in service.timeline(sent.message_id)[0]
    trail = service.perform("audit.list", subject=waits.message_id)["lines"]
    assert [entry["face"] for entry in trail] == ["smpp"]
    service.assert_books_agree()


async def test_parts_that_a_customer_cut_reach_the_phone_as_one_message(premises):
    simulator = premises.simulator()
    service = premises.running(simulator, more=SECTION)
    account = service.organization("1.50")
    _, system_id, password = credential(service, account.organization_id)
    texts = ("سلام " * 13, "سلام " * 13, "نهاية")
    async with connected(service) as customer:
        await customer.bind(system_id, password)
        for number, text in enumerate(texts, 1):
            octets = user_data_header(0x77, 3, number) + text.encode("utf-16-be")
            part = submit(esm_class=0x40, data_coding=8, short_message=octets)
            assert (await customer.ask(part)).command_status == 0
        beyond = await customer.ask(submit("Hello"))
        assert beyond.command_status == 0x400
    service.wait_settled()
    (whole,) = simulator.received()
    assert (whole.text, whole.segments) == ("".join(texts), 3)
    assert service.balance(account) == "0.00"
    service.assert_books_agree()


def cut_by_code_units(text: str, units: int) -> list[tuple[int, bytes]]:
    """As Kannel and smpplib cut: by code units, wherever that is."""
    octets = text.encode("utf-16-be")
    return [(8, octets[at : at + 2 * units]) for at in range(0, len(octets), 2 * units)]


def cut_by_septets(text: str, septets: int) -> list[tuple[int, bytes]]:
    octets = encode_gsm7(text)
    return [(0, octets[at : at + septets]) for at in range(0, len(octets), septets)]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("😀" * 60, partial(cut_by_code_units, units=67)),
        ("x" * 66 + "😀", partial(cut_by_code_units, units=67)),  # the last part is half of it
        ("€" * 100, partial(cut_by_septets, septets=153)),
    ],
)
async def test_a_part_whose_cut_falls_inside_a_character_goes_out_as_it_was_cut(
    premises, text, cut
):
    simulator = premises.simulator()
    service = premises.running(simulator, more=SECTION)
    account = service.organization("1.50")
    _, system_id, password = credential(service, account.organization_id)
    parts = cut(text)
    ids = []
    async with connected(service) as customer:
        await customer.bind(system_id, password)
        for number, (coding, octets) in enumerate(parts, 1):
            header = user_data_header(0x77, len(parts), number)
            part = submit(esm_class=0x40, data_coding=coding, short_message=header + octets)
            answer = await customer.ask(part)
            assert answer.command_status == 0
            ids.append(answer.message_id)
    service.wait_settled()
    (whole,) = simulator.received()
    assert (whole.text, whole.segments) == (text, len(parts))
    service.assert_books_agree()
    # People see the whole text at each part, and find all of them by it.
    for each in ids:
        assert service.perform("message.show", message_id=each)["part"]["text"] == text
    mine = {"organization_id": account.organization_id, "contains": text[-60:]}
    listed = service.perform("message.list", **mine)["messages"]
    assert [each["messageId"] for each in listed] == ids[::-1]
    assert {each["part"]["text"] for each in listed} == {text}


async def test_half_a_character_that_is_no_part_is_refused_and_free(premises):
    service = premises.running(premises.simulator(), more=SECTION)
    account = service.organization("1.50")
    _, system_id, password = credential(service, account.organization_id)
    async with connected(service) as customer:
        await customer.bind(system_id, password)
        for octets in ("😀".encode("utf-16-be")[:2], b"\xde\x00\x00x", b"\x00x\xd8\x3d\x00x"):
            refused = await customer.ask(submit(data_coding=8, short_message=octets))
            assert refused.command_status == 0x104
        middle = user_data_header(0x77, 2, 1) + b"\x00x\xd8\x3d\x00x"
        part = submit(esm_class=0x40, data_coding=8, short_message=middle)
        assert (await customer.ask(part)).command_status == 0x104
    assert service.balance(account) == "1.50"


def say_hex(config: Path) -> None:
    config.write_text(config.read_text().replace("decimal", "hex"), encoding="utf-8")


async def test_ids_are_numbers_that_outlive_kills_and_another_setting(premises):
    simulator = premises.simulator("--receipt-delay-s", "0.05")
    service = premises.running(simulator, more=f'{SECTION}message_ids = "decimal"\n')
    account = service.organization()
    _, system_id, password = credential(service, account.organization_id)
    keyed = submit(registered_delivery=1, tlvs=(Tlv(IDEMPOTENCY_KEY, b"number 1\0"),))
    async with connected(service) as customer:
        await customer.bind(system_id, password, kind=BindTransmitter)
        number = (await customer.ask(keyed)).message_id
        other = (await customer.ask(submit())).message_id
        assert number != other
        assert number.isdecimal()
        assert len(number) <= 20
        assert (await customer.ask(QuerySm(number))).command_status == 0
    service.wait_settled()
    service.kill()
    say_hex(Path(service.options[1]))
    service.restart()
    async with connected(service) as customer:
        await customer.bind(system_id, password)
        await customer.wait_delivered(1)
        assert parse_receipt(customer.delivered[0]).carrier_id == number
        assert (await customer.ask(keyed)).message_id == number
        assert (await customer.ask(QuerySm(number))).message_state == 2
        later = submit(schedule_delivery_time="000001000000000R")
        waits = (await customer.ask(later)).message_id
        assert int(waits, 16) > int(other)
        assert (await customer.ask(CancelSm(message_id=waits))).command_status == 0
    service.assert_books_agree()


async def test_whoever_was_let_in_is_unbound_once_the_credential_is_revoked(service):
    account = service.organization()
    key, system_id, password = credential(service, account.organization_id)
    async with connected(service) as customer:
        await customer.bind(system_id, password)
        service.perform("credential.revoke", credential_id=key)
        await customer.link.wait_ended()
    async with connected(service) as customer:
        assert (await customer.bind(system_id, password)).command_status == 0x0E


async def test_nothing_is_owed_to_a_credential_that_was_revoked_while_nobody_was_bound(service):
    account = service.organization()
    key, system_id, password = credential(service, account.organization_id)
    owed = "SELECT count(*) FROM event_cursors WHERE consumer = ?"
    async with connected(service) as customer:
        await customer.bind(system_id, password)
    assert service.rows(owed, f"smpp:{key}") == [(1,)]
    service.perform("credential.revoke", credential_id=key)
    assert service.rows(owed, f"smpp:{key}") == [(0,)]


async def test_a_text_from_a_phone_reaches_a_credential_that_hears(premises):
    scenario = premises.path / "phones.toml"
    phones = '[inbound]\nrate_per_s = 5\nrecipient = "4500"\ntexts = ["Oui"]\n'
    scenario.write_text(phones, encoding="utf-8")
    simulator = premises.simulator("--scenario", str(scenario))
    service = premises.running(simulator, more=SECTION)
    account = service.organization()
    service.perform("inbound.route", organization_id=account.organization_id)
    _, hears, password = credential(service, account.organization_id, inbound=True)
    _, deaf, other = credential(service, account.organization_id)
    async with connected(service) as customer, connected(service) as another:
        await another.bind(deaf, other)
        await customer.bind(hears, password)
        await customer.wait_delivered(2)
        assert another.delivered == []
    assert decode_message(customer.delivered[0]).text == "Oui"
    assert customer.delivered[0].destination_addr == "4500"


async def test_a_stop_answers_what_is_asked_and_unbinds(premises):
    patient = f"{SECTION}graceful_stop_s = {HANG_S}\n"
    service = premises.running(premises.simulator(), more=patient)
    account = service.organization()
    _, system_id, password = credential(service, account.organization_id)
    async with connected(service) as customer:
        await customer.bind(system_id, password)
        answers = []
        for number in range(20):
            customer.link.post(submit(f"{number}"), answers.append)
        with trio.fail_after(HANG_S):
            while len(answers) < 20:  # noqa: ASYNC110 -- answers tell nobody
                await trio.sleep(0.01)
        service.process.signal(signal.SIGTERM)
        await customer.link.wait_ended()
        assert customer.link.reason == "unbound"
    assert service.process.wait_exit() == 0
    assert {answer.command_status for answer in answers} == {0}


async def test_what_was_answered_survives_a_kill_and_nothing_is_doubled(service):
    account = service.organization()
    _, system_id, password = credential(service, account.organization_id)
    answered: dict[str, str] = {}
    texts = [f"message {number}" for number in range(200)]

    def keyed(text: str):
        return submit(text, tlvs=(Tlv(IDEMPOTENCY_KEY, f"key {text}\0".encode()),))

    async def send(customer: Customer, text: str) -> None:
        try:
            answered[text] = (await customer.ask(keyed(text))).message_id
        except NoAnswerError:
            return
        if len(answered) == 60:
            service.process.signal(signal.SIGKILL)

    async with connected(service) as customer, trio.open_nursery() as nursery:
        await customer.bind(system_id, password)
        for text in texts[:100]:
            nursery.start_soon(send, customer, text)
    service.process.wait_exit()
    service.restart()
    before = dict(answered)
    assert len(before) >= 60
    async with connected(service) as customer:
        await customer.bind(system_id, password)
        for text in texts:
            answer = await customer.ask(keyed(text))
            assert answer.command_status == 0
            assert before.get(text, answer.message_id) == answer.message_id
    found = [row[0] for row in service.rows("SELECT body FROM messages")]
    assert sorted(found) == sorted(texts)
    service.wait_settled()
    service.assert_whole()
    service.assert_books_agree()
