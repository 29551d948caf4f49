"""Channels beside other parts of sessions: the guard against pumping, and proofs without a code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from risala.config.model import LimitsSection
from risala.engine.features.channels.service import ChannelSending
from risala.engine.features.pumping.settling import SETTLED_MS, Settling
from risala.engine.features.reverse.service import ReverseStarting
from risala.engine.model.commands import Principal
from risala.engine.model.errors import RateLimited
from risala.engine.model.records.keys import KeyChallenge, KeyType
from risala.engine.model.records.verify.sessions import Method
from risala.engine.model.states import Mode
from risala.plugins.contract import Refused, Scope

BLOCK = "+22236123"


async def key_of(codes, kind: KeyType) -> Principal:
    whose = codes.house.principal.organization_id
    arguments = {"organization_id": whose, "type": kind.value, "name": "Shop"}
    made = await codes.house.gateway.perform("key.create", arguments)
    return Principal(whose, made["key"]["id"], kind, Mode.LIVE)


async def change(codes, operation: str, **changes) -> None:
    whose = codes.house.principal.organization_id
    await codes.house.gateway.perform(operation, {"organization_id": whose, **changes})


async def pump(codes, key: Principal) -> str:
    """Ask for codes of one block that nobody enters; the last one's session."""
    for number in range(25):
        last = await codes.send(f"{BLOCK}{number:03}", principal=key)
    codes.house.pass_s(SETTLED_MS / 1000)
    codes.house.gateway.services.part(Settling).settle()
    return last


async def test_a_number_is_proven_without_a_code_where_channels_are_open(open_channels, quick):
    async with open_channels() as codes:
        starting = codes.house.gateway.services.part(ReverseStarting)
        asker = replace(codes.house.principal, mode=Mode.TEST)
        for method in Method:
            started = await starting.start(asker, method, "+22236123456", None)
            view = codes.house.gateway.get_verification(asker, started.verification_id)
            assert view.status == "approved"
            assert "deliveries" not in view.details


async def test_a_further_delivery_leaves_the_share_of_secret_keys(open_channels, quick):
    async with open_channels() as codes:
        await change(codes, "verify.config", per_organization_per_hour=4)
        await change(codes, "verify.guard", secret_share=50)
        page = await key_of(codes, KeyType.PUBLISHABLE)
        server = await key_of(codes, KeyType.SECRET)
        verification_id = await codes.send(principal=page)
        await codes.resend(verification_id, "sms", page)
        with pytest.raises(RateLimited) as refused:
            await codes.resend(verification_id, "call", page)
        assert refused.value.limit == "organization"
        await codes.resend(verification_id, "call", server)


async def test_what_comes_by_itself_leaves_it_too(open_channels, quick):
    async with open_channels() as codes:
        await change(codes, "verify.config", per_organization_per_hour=2)
        await change(codes, "verify.guard", secret_share=50)
        codes.drivers["chat"].delivers = False
        verification_id = await codes.send(principal=await key_of(codes, KeyType.PUBLISHABLE))
        codes.house.pass_s(60)
        await codes.house.gateway.services.part(ChannelSending).begin_due()
        assert codes.told(verification_id)[1][-1] == ("sms", "refused")


async def test_a_channel_that_follows_by_itself_needs_no_cooldown(open_channels, quick):
    async with open_channels(limits=LimitsSection(verify_cooldown_s=60)) as codes:
        codes.drivers["chat"].always = Refused(Scope.FINAL, "NO_ACCOUNT")
        verification_id = await codes.send()
        await codes.drivers["sms"].wait_submitted(1)
        assert codes.told(verification_id)[1][-1][0] == "sms"
        with pytest.raises(RateLimited) as refused:
            await codes.resend(verification_id, "call")
        assert refused.value.limit == "cooldown"


async def test_the_guard_judges_who_asks_for_a_code_again(open_channels, quick):
    async with open_channels(use={"channels": ["sms"]}) as codes:
        key = await key_of(codes, KeyType.PUBLISHABLE)
        await change(codes, "verify.guard", key_id=key.key_id, reaction="refuse")
        last = await pump(codes, key)
        await codes.resend(last, "call", key)  # to see whether it is entered
        with pytest.raises(RateLimited) as refused:
            await codes.resend(last, "call", key)
        assert refused.value.limit == "pumping"
        assert refused.value.retry_after_s == 300


async def test_a_code_that_comes_again_asks_no_challenge(open_channels, quick):
    async with open_channels(use={"channels": ["sms"]}) as codes:
        key = await key_of(codes, KeyType.PUBLISHABLE)
        last = await pump(codes, key)
        asks = replace(key, challenge=KeyChallenge.WHEN_SUSPICIOUS)
        await codes.resend(last, "call", asks)
        shown = await codes.house.gateway.perform(
            "verify.guard", {"organization_id": key.organization_id}
        )
        assert (shown["suspicious"][0]["watched"], shown["suspicious"][0]["challenged"]) == (1, 0)
