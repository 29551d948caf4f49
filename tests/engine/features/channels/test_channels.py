"""A code that comes by one channel after the other: one session, one approval, each charge once."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import trio
from structlog.testing import capture_logs

from risala.config.model import Settings
from risala.engine.features.channels.stored import ChannelRepository
from risala.engine.model.commands import Principal
from risala.engine.model.errors import Invalid, NoChannelLeft, NotFound, RateLimited
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.plugins.contract import Refused, Scope, Uncertain

from .conftest import CHANNELS

ADDRESS = "a@example.org"
NO_ACCOUNT = Refused(Scope.FINAL, "NO_ACCOUNT")


async def test_a_delivered_code_is_all_there_is(open_channels, quick):
    async with open_channels() as codes:
        codes.drivers["chat"].delivers = True
        verification_id = await codes.send()
        await codes.drivers["chat"].wait_submitted(1)
        assert codes.drivers["chat"].submitted[0].text == f"{codes.code_in('chat')} (en)"
        await trio.sleep(120)
        assert codes.told(verification_id) == ("pending", [("chat", "delivered")])
        assert codes.drivers["sms"].submitted == []
        assert await codes.check(verification_id, codes.code_in("chat"))
        assert await codes.events() == ["verify.sent", "verify.approved"]
        assert await codes.house.balance() == "999.80"
        assert await codes.counted() == {"chat": (1, 1, 1, 1, "0.20")}
        assert codes.books() == ()


async def test_a_refusal_begins_the_next_at_once_and_is_refunded(open_channels, quick):
    async with open_channels() as codes:
        codes.drivers["chat"].always = NO_ACCOUNT
        codes.drivers["sms"].delivers = True
        began = trio.current_time()
        verification_id = await codes.send()
        await codes.drivers["sms"].wait_submitted(1)
        assert trio.current_time() - began < 5
        await trio.sleep(1)
        deliveries = [("chat", "failed"), ("sms", "delivered")]
        assert codes.told(verification_id) == ("pending", deliveries)
        assert codes.code_in("sms") == codes.code_in("chat")
        assert await codes.counted() == {"sms": (1, 1, 1, 0, "0.50")}
        assert codes.drivers["sms"].submitted[0].text.startswith("Your verification code is ")
        assert await codes.check(verification_id, codes.code_in("sms"))
        assert await codes.events() == ["verify.sent", "verify.approved"]
        assert await codes.house.balance() == "999.50"
        assert codes.books() == ()


async def test_without_word_the_next_begins_after_its_time_and_verify_sent_is_told_once(
    open_channels, quick
):
    async with open_channels(use={"fallback_s": 20}) as codes:
        verification_id = await codes.send()
        await codes.drivers["chat"].wait_submitted(1)
        await trio.sleep(19)
        assert codes.drivers["sms"].submitted == []
        await trio.sleep(3)
        assert codes.told(verification_id) == ("pending", [("chat", "sent"), ("sms", "sent")])
        await codes.drivers["chat"].receipt("1")  # late, and harms nothing
        await trio.sleep(60)
        assert codes.told(verification_id) == ("pending", [("chat", "delivered"), ("sms", "sent")])
        assert await codes.counted() == {"chat": (1, 1, 1, 0, "0.70")}
        assert await codes.events() == ["verify.sent"]
        assert await codes.check(verification_id, codes.code_in("chat"))
        assert await codes.house.balance() == "999.30"
        assert codes.books() == ()


async def test_what_has_not_left_is_withdrawn_when_the_next_begins(open_channels, quick):
    async with open_channels() as codes:
        await codes.house.gateway.perform("carriers.pause", {"carrier": "chat"})
        verification_id = await codes.send()
        await codes.drivers["sms"].wait_submitted(1)
        await trio.sleep(1)
        assert codes.told(verification_id) == ("pending", [("chat", "canceled"), ("sms", "sent")])
        assert await codes.house.balance() == "999.50"
        assert codes.books() == ()


async def test_a_session_ends_once_each_channel_has_refused(open_channels, quick):
    async with open_channels() as codes:
        codes.drivers["chat"].always = codes.drivers["sms"].always = NO_ACCOUNT
        verification_id = await codes.send()
        await trio.sleep(10)
        assert codes.told(verification_id) == ("canceled", [("chat", "failed"), ("sms", "failed")])
        assert await codes.events() == ["verify.failed"]
        assert await codes.house.balance() == "1000.00"
        assert codes.books() == ()


async def test_a_session_lives_on_while_an_earlier_delivery_may_arrive(open_channels, quick):
    async with open_channels() as codes:
        codes.drivers["sms"].always = NO_ACCOUNT
        verification_id = await codes.send()
        await trio.sleep(60)
        assert codes.told(verification_id) == ("pending", [("chat", "sent"), ("sms", "failed")])
        assert await codes.check(verification_id, codes.code_in("chat"))
        assert codes.told(verification_id)[1][0] == ("chat", "delivered")


async def test_nothing_begins_once_the_code_was_entered(open_channels, quick):
    async with open_channels() as codes:
        verification_id = await codes.send()
        await codes.drivers["chat"].wait_submitted(1)
        await codes.check(verification_id, codes.code_in("chat"))
        await trio.sleep(120)
        assert codes.drivers["sms"].submitted == []
        assert codes.told(verification_id) == ("approved", [("chat", "delivered")])


async def test_no_answer_fails_after_a_while_and_the_next_begins(open_channels, quick):
    async with open_channels(use={"fallback_s": 300}) as codes:
        codes.drivers["chat"].always = Uncertain("TIMEOUT")
        verification_id = await codes.send()
        await codes.drivers["sms"].wait_submitted(1)
        assert codes.told(verification_id)[1][0] == ("chat", "failed")
        assert codes.books() == ()


async def test_a_request_names_its_channels(open_channels, quick):
    async with open_channels() as codes:
        verification_id = await codes.send(channels=["call", "chat"])
        await codes.drivers["call"].wait_submitted(1)
        await trio.sleep(1)
        assert await codes.house.balance() == "998.00"
        assert codes.told(verification_id)[1] == [("call", "sent")]
        for wrong in (["pigeon"], [], ["email"], ["chat"] * 9):
            with pytest.raises(Invalid) as refused:
                await codes.send("+22236123457", channels=wrong)
            assert refused.value.path == "channels"


async def test_sms_alone_is_as_without_channels(open_channels, quick):
    async with open_channels(use={"channels": ["sms"]}) as codes:
        verification_id = await codes.send()
        await codes.drivers["sms"].wait_submitted(1)
        view = codes.house.gateway.get_verification(codes.house.principal, verification_id)
        assert view.details == {}
        stored = codes.house.gateway.services.repositories.part(ChannelRepository)
        assert stored.find(verification_id) is None


async def test_keys_have_the_channels_that_were_opened_for_their_kind(open_channels, quick):
    async with open_channels(use={"publishable": ["sms"]}) as codes:
        publishable = replace(codes.house.principal, type=KeyType.PUBLISHABLE)
        await codes.send(principal=publishable)
        await codes.drivers["sms"].wait_submitted(1)
        assert codes.drivers["chat"].submitted == []
        with pytest.raises(Invalid, match="not open"):
            await codes.send("+22236123457", principal=publishable, channels=["chat"])


async def test_an_address_gets_its_code_by_mail_from_secret_keys_alone(open_channels, quick):
    async with open_channels() as codes:
        verification_id = await codes.send(ADDRESS, address=True)
        await codes.drivers["email"].wait_submitted(1)
        segment = codes.drivers["email"].submitted[0]
        assert (segment.recipient, segment.sender) == (ADDRESS, "RISALA")
        assert await codes.house.balance() == "999.90"
        assert await codes.check(verification_id, codes.code_in("email"))
        publishable = replace(codes.house.principal, type=KeyType.PUBLISHABLE)
        with pytest.raises(Invalid) as refused:
            await codes.send(ADDRESS, principal=publishable, address=True)
        assert refused.value.path == "to"
        assert codes.books() == ()
    async with open_channels(use={"addresses": False}) as codes:
        with pytest.raises(Invalid):
            await codes.send(ADDRESS, address=True)


async def test_limits_of_a_number_hold_for_an_address(open_channels, quick):
    async with open_channels() as codes:
        for _ in range(5):
            await codes.send(ADDRESS, address=True)
        with pytest.raises(RateLimited):
            await codes.send(ADDRESS, address=True)
        await codes.send("b@example.org", address=True)


# -- because somebody asks


async def test_who_asks_gets_the_next_channel_and_then_none(open_channels, quick):
    async with open_channels() as codes:
        verification_id = await codes.send()
        await codes.drivers["chat"].wait_submitted(1)
        await codes.resend(verification_id)
        await codes.drivers["sms"].wait_submitted(1)
        assert codes.code_in("sms") == codes.code_in("chat")
        with pytest.raises(NoChannelLeft, match="was tried"):
            await codes.resend(verification_id)
        await codes.resend(verification_id, "call")
        await codes.drivers["call"].wait_submitted(1)
        await trio.sleep(120)
        names = [name for name, _ in codes.told(verification_id)[1]]
        assert names == ["chat", "sms", "call"]
        assert await codes.events() == ["verify.sent"]
        assert await codes.house.balance() == "997.30"
        assert codes.books() == ()


async def test_a_session_of_an_sms_alone_may_be_brought_by_an_opened_channel(open_channels, quick):
    async with open_channels(use={"channels": ["sms"]}) as codes:
        verification_id = await codes.send()
        await codes.drivers["sms"].wait_submitted(1)
        with pytest.raises(NoChannelLeft):
            await codes.resend(verification_id)
        await codes.resend(verification_id, "chat")
        await codes.drivers["chat"].wait_submitted(1)
        assert codes.code_in("chat") == codes.code_in("sms")
        assert [name for name, _ in codes.told(verification_id)[1]] == ["sms", "chat"]
        await codes.resend(verification_id, "sms")
        await codes.drivers["sms"].wait_submitted(2)
        assert codes.drivers["sms"].submitted[0].text == codes.drivers["sms"].submitted[1].text
        assert await codes.check(verification_id, codes.code_in("chat"))
        with pytest.raises(NoChannelLeft, match="over"):
            await codes.resend(verification_id, "chat")


async def test_who_may_not_ask_is_refused(open_channels, quick):
    async with open_channels(use={"publishable": ["sms", "chat"]}) as codes:
        verification_id = await codes.send()
        publishable = replace(codes.house.principal, type=KeyType.PUBLISHABLE)
        for channel in ("call", "email", "pigeon"):
            with pytest.raises(Invalid):
                await codes.resend(verification_id, channel, publishable)
        other = Principal("org_other", "key", KeyType.SECRET, Mode.LIVE)
        for asker in (other, replace(codes.house.principal, mode=Mode.TEST)):
            with pytest.raises(NotFound):
                await codes.resend(verification_id, None, asker)


# -- limits and money


async def test_each_delivery_counts_in_the_hour_and_one_too_many_does_not_leave(
    open_channels, quick
):
    async with open_channels() as codes:
        await codes.house.gateway.perform(
            "verify.config",
            {"organization_id": codes.house.principal.organization_id, "per_phone_per_hour": 3},
        )
        first = await codes.send()
        await trio.sleep(40)
        assert codes.told(first)[1] == [("chat", "sent"), ("sms", "sent")]
        second = await codes.send()
        await trio.sleep(40)
        assert codes.told(second) == ("pending", [("chat", "sent"), ("sms", "refused")])
        with pytest.raises(RateLimited):
            await codes.resend(second, "call")
        with pytest.raises(RateLimited):
            await codes.send()
        assert await codes.house.balance() == "999.10"
        assert codes.books() == ()


async def test_without_money_a_dearer_channel_is_passed_over(open_channels, quick):
    async with open_channels(balance="0.75", use={"channels": ["chat", "call", "sms"]}) as codes:
        codes.drivers["chat"].always = NO_ACCOUNT
        verification_id = await codes.send()
        await trio.sleep(10)
        assert codes.told(verification_id) == (
            "pending",
            [("chat", "failed"), ("call", "refused"), ("sms", "sent")],
        )
        assert await codes.house.balance() == "0.25"
        assert codes.books() == ()


async def test_a_test_key_s_deliveries_go_to_the_test_carrier(open_channels, quick):
    async with open_channels() as codes:
        principal = replace(codes.house.principal, mode=Mode.TEST)
        await codes.send(principal=principal)
        await trio.sleep(5)
        assert codes.drivers["chat"].submitted == []
        assert await codes.house.balance() == "1000.00"


# -- a crash, a change of the settings


async def test_the_next_delivery_begins_after_a_restart(open_channels, quick):
    async with open_channels() as codes:
        principal = codes.house.principal
        verification_id = await codes.send()
        await codes.drivers["chat"].wait_submitted(1)
    await trio.sleep(200)
    async with open_channels() as codes:
        await codes.drivers["sms"].wait_submitted(1)
        await trio.sleep(1)
        codes.house.principal = principal
        assert [name for name, _ in codes.told(verification_id)[1]] == ["chat", "sms"]
        assert await codes.house.balance() == "999.30"
        assert codes.books() == ()


async def test_what_falls_due_while_the_service_stops_waits_for_the_next_start(
    open_channels, quick
):
    """However long the stop takes, nothing of it is a fault."""
    async with open_channels() as codes:
        await codes.send()
        await codes.drivers["chat"].wait_submitted(1)
        codes.house.gateway.drain()
        with capture_logs() as logs:
            await trio.sleep(200)
        assert not [each for each in logs if each["log_level"] not in ("debug", "info")]
        assert codes.drivers["sms"].submitted == []
    async with open_channels() as codes:
        await codes.drivers["sms"].wait_submitted(1)


async def test_a_channel_that_is_gone_never_becomes_a_text(open_channels, open_house, quick):
    async with open_channels() as codes:
        principal = codes.house.principal
        await codes.house.gateway.perform("carriers.pause", {"carrier": "chat"})
        await codes.send(channels=["chat"])
    async with open_house() as house:
        await trio.sleep(700)
        assert house.driver.submitted == []
        house.principal = principal
        assert await house.balance() == "1000.00"


async def test_no_code_is_in_the_database(open_channels, quick, tmp_path):
    async with open_channels() as codes:
        verification_id = await codes.send()
        await codes.drivers["chat"].wait_submitted(1)
        await codes.resend(verification_id, "call")
        await codes.drivers["call"].wait_submitted(1)
        code = codes.code_in("chat")
    for path in tmp_path.glob("risala.db*"):
        assert not re.search(rf"(?<!\d){code}(?!\d)".encode(), path.read_bytes()), path.name


async def test_a_code_for_a_payment_comes_by_mail_with_its_own_text(open_channels, quick):
    payment = {"amount": "12.50", "currency": "MRU", "payee": "Boutique"}
    async with open_channels() as codes:
        await codes.send(ADDRESS, address=True, **payment)
        await codes.drivers["email"].wait_submitted(1)
        text = "".join(each.text for each in codes.drivers["email"].submitted)
        code = codes.code_in("email", 0)
        assert text.startswith(f"{code} (en) ")
        assert text.count(code) == 2
        assert "12.50" in text
        assert "Boutique" in text
        assert await codes.house.balance() == "999.90"
        assert codes.books() == ()


async def test_a_code_leaves_ten_times_and_no_more(open_channels, quick):
    async with open_channels() as codes:
        whose = {"organization_id": codes.house.principal.organization_id}
        await codes.house.gateway.perform("verify.config", {**whose, "per_phone_per_hour": 20})
        verification_id = await codes.send()
        for count in range(1, 10):
            await codes.resend(verification_id, "sms")
            await codes.drivers["sms"].wait_submitted(count)  # else what waits is withdrawn
        with pytest.raises(NoChannelLeft, match="sent 10 times"):
            await codes.resend(verification_id, "sms")


async def test_a_code_for_a_payment_does_not_come_by_a_template(open_channels, quick):
    payment = {"amount": "12.50", "currency": "MRU", "payee": "Boutique"}
    async with open_channels() as codes:
        verification_id = await codes.send(**payment)
        await codes.drivers["sms"].wait_submitted(1)
        assert "Boutique" in codes.drivers["sms"].submitted[0].text
        with pytest.raises(Invalid):
            await codes.send(channels=["chat"], **payment)
        named = await codes.send("+22236123457", channels=["sms"], **payment)
        await codes.drivers["sms"].wait_submitted(2)  # else what waits is withdrawn
        for session in (verification_id, named):
            with pytest.raises(NoChannelLeft):
                await codes.resend(session, "chat")
        await codes.resend(named, "sms")
        await codes.drivers["sms"].wait_submitted(3)
        assert codes.drivers["sms"].submitted[1].text == codes.drivers["sms"].submitted[2].text


# -- what goes


async def test_who_is_forgotten_frees_no_code_of_the_organizations_hour(open_channels, quick):
    async with open_channels() as codes:
        house = codes.house
        mine = {"organization_id": house.principal.organization_id}
        await house.gateway.perform("verify.config", {**mine, "per_organization_per_hour": 3})
        session = await codes.send()
        await codes.drivers["chat"].wait_submitted(1)
        await codes.resend(session)
        await codes.drivers["sms"].wait_submitted(1)
        await codes.check(session, codes.code_in("sms"))
        erasure = await house.gateway.perform("number.forget", {**mine, "number": "+22236123456"})
        while erasure["state"] != "done":
            run = await house.gateway.perform("erasure.run", {"erasure_id": erasure["id"]})
            erasure = run["erasure"]
        await codes.send("+22236123457")
        with pytest.raises(RateLimited):
            await codes.send("+22236123458")


async def test_an_address_is_taken_out_of_all_that_is_kept(open_channels, quick):
    async with open_channels() as codes:
        house = codes.house
        mine = {"organization_id": house.principal.organization_id, "number": "A@Example.org"}
        session = await codes.send(ADDRESS, address=True)
        await codes.drivers["email"].wait_submitted(1)
        await codes.check(session, codes.code_in("email"))
        await codes.send("b@example.org", address=True)
        await codes.drivers["email"].wait_submitted(2)
        shown = await house.gateway.perform("number.show", mine)
        assert (shown["number"], shown["messages"], shown["verifications"]) == (ADDRESS, 1, 1)
        erasure = await house.gateway.perform("number.forget", mine)
        assert erasure["number"] == "….org"
        for _ in range(100):
            done = await house.gateway.perform("erasure.run", {"erasure_id": erasure["id"]})
            if done["erasure"]["state"] == "done":
                break
        reader = house.gateway.services.repositories._store.reader
        kept = "\n".join(reader.iterdump())
        assert ADDRESS not in kept
        assert "b@example.org" in kept
        assert codes.books() == ()


async def test_a_price_that_was_changed_counts_for_the_next_code(open_channels, quick):
    async with open_channels() as codes:
        await codes.send()
        assert await codes.house.balance() == "999.80"
        tables = {**CHANNELS, "chat": {**CHANNELS["chat"], "price": "0.30"}}
        codes.house.engine.retune(Settings.model_validate({"channels": tables}))
        await codes.send("+22246123401")
        assert await codes.house.balance() == "999.50"
        arguments = {"organization_id": codes.house.principal.organization_id}
        shown = await codes.house.gateway.perform("verify.channels", arguments)
        offered = {each["name"]: each["price"] for each in shown["offered"]}
        assert (offered["chat"], offered["call"]) == ("0.30", "2.00")
