"""From the request of an identity server, by HTTP, to the phone."""

from __future__ import annotations

import time

import pytest

from programs import sign_in
from programs.program import OTHER_KEY, SECRET
from risala.engine.rules.hooks.proofs import HookProof

pytestmark = [pytest.mark.slow, pytest.mark.long]
SIX = ("SUPABASE", "ZITADEL", "ZITADEL_SIGNED", "LOGTO", "AUTHENTIK", "KEYCLOAK_FORM", "KRATOS")


@pytest.fixture(scope="module")
def phones(shared_premises):
    return shared_premises.simulator()


@pytest.fixture(scope="module")
def service(shared_premises, phones):
    return shared_premises.running(phones)


def asked(service, hook, program, secret, request_id="msg_1"):
    """The answer to the program's own request, as it leaves it now."""
    request = program.request(secret, at_s=int(time.time()), request_id=request_id)
    headers = {"content-type": program.content_type, **request.headers}
    return service.client.post(hook["url"], content=request.body, headers=headers).status_code


@pytest.mark.parametrize("name", SIX)
def test_a_code_reaches_the_phone_once(service, phones, until, name):
    program = getattr(sign_in, name)
    account = service.organization()
    more = {"secret": SECRET} if program.proof is HookProof.TIMED_SIGNATURE else {}
    made = service.perform(
        "hook.create",
        organization_id=account.organization_id,
        preset=program.preset,
        proof=program.proof.value,
        **more,
    )
    hook, shown = made["hook"], made["secret"] or SECRET
    secret = shown.removeprefix("v1,").removeprefix("Bearer ")
    before = len(phones.received())
    assert asked(service, hook, program, secret, "msg_1") == 200
    if name == "SUPABASE":  # it did not hear the answers, and names each try anew
        tries = [asked(service, hook, program, secret, each) for each in ("msg_2", "msg_3")]
        assert tries == [200, 200]
    until(lambda: len(phones.received()) > before, "the phone has it")
    service.wait_settled()
    (found,) = phones.received()[before:]
    assert "561166" in found.text
    assert found.recipient.endswith("22236123456")
    wrong = sign_in.LOGTO.secret[::-1] if name != "SUPABASE" else OTHER_KEY
    if program.proof is not HookProof.PATH:
        assert asked(service, hook, program, wrong) == 401
    assert len(phones.received()) == before + 1
