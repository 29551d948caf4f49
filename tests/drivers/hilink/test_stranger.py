"""A client that we did not write reads and sends through the simulated stick as its users do:
`huawei-lte-api <https://pypi.org/project/huawei-lte-api/>`_. So the simulator, which proves the
driver, is proved by a stranger."""

from __future__ import annotations

import pytest
import trio
from huawei_lte_api.Client import Client
from huawei_lte_api.Connection import Connection
from huawei_lte_api.enums.sms import BoxTypeEnum, StatusEnum
from huawei_lte_api.exceptions import (
    LoginErrorUsernamePasswordWrongException,
    ResponseErrorLoginRequiredException,
)
from tests.drivers.hilink.stick_line import PASSWORD, quick

from risala.lab.hilink.config import PASSWORD_TYPES
from risala.lab.hilink.simulator import HilinkSimulator

SENDER = "+33612345678"
RECIPIENT = "+22244556677"
TEXT = "Été 😀 <b>&amp; co</b>"


async def with_stick(login, use, password=PASSWORD):
    """What a blocking client gets from a simulated stick."""
    stick = HilinkSimulator(quick(login=login, password=PASSWORD))
    async with trio.open_nursery() as nursery:
        await nursery.start(stick.run)
        stick.device.receive(SENDER, TEXT)

        def ask():
            given = {} if login == "none" else {"username": "admin", "password": password}
            with Connection(stick.url, timeout=10, **given) as connection:
                return use(Client(connection), stick)

        told = await trio.to_thread.run_sync(ask)
        nursery.cancel_scope.cancel()
    return told


@pytest.mark.parametrize("login", sorted(set(PASSWORD_TYPES) - {"scram"}))
async def test_it_reads_sends_and_deletes(login):
    def use(client, stick):
        assert client.sms.sms_count()["LocalInbox"] == "1"
        [message] = client.sms.get_messages()
        assert (message.phone, message.content) == (SENDER, TEXT)
        assert client.sms.send_sms([RECIPIENT], TEXT) == "OK"
        while client.sms.send_status()["Phone"]:
            pass
        assert client.sms.send_status()["SucPhone"] == RECIPIENT
        [sent] = client.sms.get_messages(box_type=BoxTypeEnum.LOCAL_SENT)
        assert (sent.phone, sent.content, sent.status) == (RECIPIENT, TEXT, StatusEnum.SEND)
        assert client.sms.delete_sms(message.index) == "OK"
        assert client.sms.sms_count()["LocalInbox"] == "0"
        return [(each.recipient, each.text) for each in stick.device.sent]

    assert await with_stick(login, use) == [(RECIPIENT, TEXT)]


async def test_it_learns_how_the_stick_is():
    def use(client, _stick):
        assert client.monitoring.status()["ServiceStatus"] == "2"
        assert client.net.current_plmn()["FullName"] == "Mauritel"
        assert client.device.signal()["rssi"] == "-71dBm"
        assert client.pin.status()["SimState"] == "257"
        return client.device.information()["DeviceName"]

    assert await with_stick("none", use) == "E3372h-320"


async def test_a_wrong_password_is_refused():
    def use(_client, _stick):
        raise AssertionError

    with pytest.raises(ExceptionGroup) as caught:
        await with_stick("sha256", use, "wrong")
    assert caught.group_contains(LoginErrorUsernamePasswordWrongException)


async def test_without_a_password_nothing_is_told():
    stick = HilinkSimulator(quick(login="sha256", password=PASSWORD))

    def ask():
        with Connection(stick.url, timeout=10) as connection:
            with pytest.raises(ResponseErrorLoginRequiredException):
                Client(connection).sms.get_sms_list()
            return True

    async with trio.open_nursery() as nursery:
        await nursery.start(stick.run)
        assert await trio.to_thread.run_sync(ask)
        nursery.cancel_scope.cancel()
