"""From the request of an identity server, by HTTP, to the phone."""

from __future__ import annotations

import time
from contextlib import closing
from http.client import HTTPConnection
from uuid import uuid4

import pytest

from programs import sign_in
from programs.program import OTHER_KEY, SECRET
from risala.engine.features.hooks.rules.requests import HookProof

pytestmark = [pytest.mark.slow, pytest.mark.long]
SIX = ("SUPABASE", "ZITADEL", "ZITADEL_SIGNED", "LOGTO", "AUTHENTIK", "KEYCLOAK_FORM", "KRATOS")


@pytest.fixture(scope="module")
def phones(shared_premises):
    return shared_premises.simulator()


@pytest.fixture(scope="module")
def service(shared_premises, phones):
    return shared_premises.running(phones)


def as_it_leaves(program, secret, request_id):
    """The program's own request as it leaves it now, and its headers; GoTrue's is signed by the
    library `standardwebhooks`."""
    request = program.request(secret, at_s=int(time.time()), request_id=request_id)
    return request.body, {"content-type": program.content_type, **request.headers}


def asked(service, hook, program, secret, request_id="msg_1"):
    """The answer to it."""
    body, headers = as_it_leaves(program, secret, request_id)
    return service.client.post(hook["url"], content=body, headers=headers).status_code


def asked_unheard(service, hook, program, secret, request_id):
    """The connection breaks before the answer."""
    body, headers = as_it_leaves(program, secret, request_id)
    host = service.url.removeprefix("http://")
    with closing(HTTPConnection(host)) as connection:
        connection.request("POST", f"/hooks/{hook['id']}", body=body, headers=headers)


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
    until(lambda: len(phones.received()) > before, "the phone has it")
    service.wait_settled()
    (found,) = phones.received()[before:]
    assert "561166" in found.text
    assert found.recipient.endswith("22236123456")
    wrong = sign_in.LOGTO.secret[::-1] if name != "SUPABASE" else OTHER_KEY
    if program.proof is not HookProof.PATH:
        assert asked(service, hook, program, wrong) == 401
    assert len(phones.received()) == before + 1


@pytest.mark.parametrize("heard", [True, False], ids=["answered", "unheard"])
def test_three_tries_of_gotrue_send_one_code(service, phones, until, heard):
    """It names and signs each try anew (hookshttp.go), after a broken connection too."""
    organization_id = service.organization().organization_id
    made = service.perform("hook.create", organization_id=organization_id, preset="supabase-auth")
    before = len(phones.received())
    way = made["hook"], sign_in.SUPABASE, made["secret"].removeprefix("v1,")
    for _ in range(2):
        if heard:
            assert asked(service, *way, str(uuid4())) == 200
        else:
            asked_unheard(service, *way, str(uuid4()))
    assert asked(service, *way, str(uuid4())) == 200
    until(lambda: len(phones.received()) > before, "the phone has it")
    service.wait_settled()
    (found,) = phones.received()[before:]
    assert "561166" in found.text
