"""When a key's challenge has to be answered before a session is opened."""

from __future__ import annotations

from dataclasses import replace

import pytest

from risala.config.model import LimitsSection, Settings
from risala.engine.features.challenges.challenges import ChallengeSessions
from risala.engine.features.challenges.rules import Challenge, solution
from risala.engine.features.pumping.settling import SETTLED_MS, Settling
from risala.engine.model.commands import Principal, SendCode
from risala.engine.model.errors import ChallengeRequired
from risala.engine.model.records.keys import KeyChallenge, KeyType
from risala.engine.model.states import Mode
from risala.engine.rules.verify_settings import VerifySettings
from risala.engine.verify.session_features import Opening, SessionSources

NEVER, SOMETIMES, ALWAYS = KeyChallenge


def sessions() -> ChallengeSessions:
    settings = Settings(limits=LimitsSection(verify_challenge_bits=8))
    return ChallengeSessions(SessionSources(settings, None, None))


def opening(when: KeyChallenge, **command) -> Opening:
    principal = Principal("org_1", "key_1", KeyType.PUBLISHABLE, Mode.LIVE, challenge=when)
    asked = SendCode("+22236123456", client="7", **command)
    return Opening(
        "ver_1", "org_1", Mode.LIVE, principal.type, principal, asked, VerifySettings(), 0, "", 6
    )


@pytest.mark.parametrize("is_suspicious", [False, True])
@pytest.mark.parametrize("when", KeyChallenge)
async def test_it_is_asked_always_or_of_what_is_suspicious(quick, when, is_suspicious):
    part = sessions()
    plain = replace(opening(when), is_suspicious=is_suspicious)
    if when is NEVER or (when is SOMETIMES and not is_suspicious):
        assert await part.open(plain) is plain
        return
    with pytest.raises(ChallengeRequired) as refusal:
        await part.open(plain)
    asked = refusal.value.challenge
    answer = {"id": asked["id"], "nonce": solution(Challenge(asked["id"], asked["bits"]))}
    answered = replace(opening(when, beside={"challenge": answer}), is_suspicious=is_suspicious)
    assert await part.open(answered) is answered
    with pytest.raises(ChallengeRequired, match="does not count"):
        await part.open(answered)


async def test_what_it_says_shows_neither_the_answer_nor_whom_it_is_bound_to(quick):
    part = sessions()
    made = opening(ALWAYS, beside={"challenge": {"id": "secret-id", "nonce": "1"}})
    with pytest.raises(ChallengeRequired) as refusal:
        await part.open(made)
    for shown in (repr(made), str(refusal.value)):
        assert "secret-id" not in shown
    assert "+222" not in str(refusal.value)


async def test_what_the_guard_finds_suspicious_leaves_once_it_is_answered(open_house, quick):
    whose = Principal("", "key_1", KeyType.PUBLISHABLE, Mode.LIVE, challenge=SOMETIMES)
    limits = LimitsSection(verify_challenge_bits=8)
    async with open_house(limits=limits) as house:
        key = replace(whose, organization_id=house.principal.organization_id)
        for number in range(25):
            await house.gateway.send_code(key, SendCode(f"+22237100{number:03}", client="7"))
        house.pass_s(SETTLED_MS / 1000)
        house.gateway.services.part(Settling).settle()
        code = SendCode("+22237100900", client="7", beside={"challenge": {}})
        with pytest.raises(ChallengeRequired) as refusal:
            await house.gateway.send_code(key, code)
        asked = refusal.value.challenge
        answer = {"id": asked["id"], "nonce": solution(Challenge(asked["id"], asked["bits"]))}
        answered = replace(code, beside={"challenge": answer})
        assert (await house.gateway.send_code(key, answered)).startswith("ver_")
