"""Codes that other software made: limited and hidden as codes are, and in no file afterwards."""

from __future__ import annotations

import json
import re

import pytest
import trio

from risala.engine.features.hooks.codes import HookCodes, SendHookCode
from risala.engine.model.commands import Principal, SendCode
from risala.engine.model.errors import CountryNotOpen, Invalid, NotFound, RateLimited
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode

TO, CODE = "+22236123456", "845127"
WHOLE = "Use 845127 to sign in at Acme."


async def send(house, principal=None, **fields) -> str:
    """The id of the message."""
    command = SendHookCode(**{"to": TO, **fields})
    codes = house.gateway.services.part(HookCodes)
    response = await codes.send(principal or house.principal, command)
    return json.loads(response)["messageId"]


def reader(house):
    return house.gateway.services.repositories._store.reader


def is_on_disk(tmp_path, *texts: str) -> bool:
    held = b"".join(each.read_bytes() for each in tmp_path.iterdir() if each.is_file())
    return any(text.encode() in held for text in texts)


async def pause(house, what="pause"):
    await house.gateway.perform(f"carriers.{what}", {"carrier": "fake"})


async def test_the_organizations_template_has_the_code_in_it(open_house, quick):
    async with open_house() as house:
        message_id = await send(house, code=CODE, locale="fr")
        assert await house.wait_status(message_id, "sent")
        segment = house.driver.submitted[0]
        assert segment.text.startswith(f"Votre code de vérification est {CODE}.")
        assert segment.urgent
        assert await house.balance() == "999.50"
        assert await house.events() == []
        with pytest.raises(NotFound):
            house.gateway.get_message(house.principal, message_id)
        view, _ = house.gateway.show_message(message_id)
        assert view.kind == "code"
        assert "{{code}}" in view.body
        assert (await house.gateway.perform("audit", {}))["clean"]


@pytest.mark.parametrize("given", [{"code": CODE}, {"text": WHOLE}], ids=["code", "text"])
async def test_no_file_has_it_before_it_leaves_or_after(open_house, quick, tmp_path, given):
    async with open_house() as house:
        await pause(house)
        message_id = await send(house, **given)
        sealed = reader(house).execute("SELECT length(sealed) FROM hook_codes").fetchone()
        assert sealed[0] > len(CODE)
        assert not is_on_disk(tmp_path, CODE, WHOLE)
    async with open_house() as house:
        assert house.status(message_id) == "pending"
        await pause(house, "resume")
        assert await house.wait_status(message_id, "sent")
        assert re.search(CODE, house.driver.submitted[0].text)
        assert reader(house).execute("SELECT sealed FROM hook_codes").fetchall() == [(None,)]
        assert not is_on_disk(tmp_path, CODE, WHOLE)


async def test_a_withdrawn_or_failed_one_is_forgotten(open_house, quick):
    async with open_house() as house:
        await pause(house)
        withdrawn, late = await send(house, code=CODE), await send(house, text=WHOLE)
        await house.gateway.perform("message.cancel", {"message_id": withdrawn})
        kept = "SELECT message FROM hook_codes WHERE sealed IS NOT NULL"
        assert len(reader(house).execute(kept).fetchall()) == 1
        await trio.sleep(601)
        assert house.status(late) == "failed"
        assert reader(house).execute(kept).fetchall() == []
        assert await house.balance() == "1000.00"


async def test_they_count_in_the_hour_beside_sessions(open_house, quick):
    async with open_house() as house:
        for _ in range(2):
            await house.gateway.send_code(house.principal, SendCode(TO))
            await send(house, code=CODE)
        last = await send(house, text=WHOLE)
        with pytest.raises(RateLimited, match="this number"):
            await send(house, code=CODE)
        whose = house.principal
        await house.wait_status(last, "sent")
    async with open_house() as house:
        for again in (send(house, whose, code=CODE), house.gateway.send_code(whose, SendCode(TO))):
            with pytest.raises(RateLimited, match="this number"):
                await again
        house.pass_s(3601)
        await send(house, whose, code=CODE)
        assert reader(house).execute("SELECT count(*) FROM hook_codes").fetchone() == (1,)


async def test_the_same_key_sends_and_charges_once(open_house, quick):
    async with open_house() as house:
        first = await send(house, code=CODE, once="hook:1")
        assert await send(house, code=CODE, once="hook:1") == first
        assert await send(house, code=CODE, once="hook:2") != first
        await house.driver.wait_submitted(2)
        assert await house.balance() == "999.00"
        assert (await house.gateway.perform("audit", {}))["clean"]


async def test_without_the_servers_key_nothing_leaves_and_it_is_refunded(
    open_house, quick, tmp_path
):
    async with open_house() as house:
        await pause(house)
        message_id, whose = await send(house, code=CODE), house.principal
    (tmp_path / "server.key").unlink()
    async with open_house() as house:
        await pause(house, "resume")
        after = await house.send("later")
        await house.wait_status(after, "sent")
        assert [each.text for each in house.driver.submitted] == ["later"]
        await trio.sleep(601)
        assert house.status(message_id) == "failed"
        assert await house.balance(whose) == "1000.00"


async def test_a_test_reaches_no_phone_and_no_limit(open_house, quick):
    async with open_house() as house:
        whose = Principal(house.principal.organization_id, "hok_1", KeyType.SECRET, Mode.TEST)
        for _ in range(7):
            await send(house, whose, code=CODE)
        after = await house.send("a live one")
        await house.wait_status(after, "sent")
        assert [each.text for each in house.driver.submitted] == ["a live one"]
        assert await house.balance() == "999.50"


async def test_what_cannot_be_sent_is_refused(open_house):
    async with open_house() as house:
        with pytest.raises(Invalid, match="1 to 64 characters"):
            await send(house, code="1" * 65)
        with pytest.raises(Invalid, match="locale"):
            await send(house, code=CODE, locale="de")
        assert reader(house).execute("SELECT count(*) FROM message").fetchone() == (0,)


async def test_a_country_is_open_for_codes_or_it_gets_none(open_house):
    from risala.config.numbers import NumbersSection

    async with open_house(numbers=NumbersSection(countries=("MR", "SN"))) as house:
        with pytest.raises(CountryNotOpen):
            await send(house, to="+221771234567", code=CODE)


async def test_an_erased_number_is_in_no_row(open_house, quick):
    async with open_house() as house:
        await house.wait_status(await send(house, code=CODE), "sent")
        whose = {"organization_id": house.principal.organization_id}
        erasure = await house.gateway.perform("number.forget", {**whose, "number": TO})
        while erasure["state"] != "done":
            run = await house.gateway.perform("erasure.run", {"erasure_id": erasure["id"]})
            erasure = run["erasure"]
        kept = reader(house).execute("SELECT recipient, sealed FROM hook_codes").fetchall()
        assert kept == [("forgotten", None)]  # counted in the organization's hour, and no more
