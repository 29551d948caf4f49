"""A publishable key, which everybody may see: no free text leaves by one, and nobody approves a
session by saying that it is."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.model.errors import FieldFault
from risala.engine.rules.verify_settings import VerifySettings
from risala.http.api.fields import BodyContext
from risala.http.api.verify_bodies import PublishableSendBody, parse_send_code
from risala.http.common.problems import Problem
from risala.sms.code_texts.catalogue import BUILT_IN
from risala.sms.numbering.plan import DEFAULT

TO = "+22236123456"
HASH, HOST = "FA+9qCX9VSu", "shop.example"
SAID = {
    "clientIp": "203.0.113.9",
    "userAgent": "free text",
    "tags": ["free text"],
    "template": "login",
    "variables": {"shop": "free text"},
    "code": "471147",
    "amount": "1500.00",
    "currency": "MRU",
    "payee": "free text",
    "body": "free text",
    "text": "free text",
    "from": "FREE",
}
PLAIN = re.compile(r"Your verification code is ([0-9]{6})\. Expires in 10 minutes\.")


def rows(desk) -> int:
    reader = desk.gateway.services.repositories._store.reader
    return reader.execute("SELECT count(*) FROM session_details").fetchone()[0]


@pytest.mark.parametrize("name", [*SAID, None])
async def test_each_member_of_secret_keys_is_ignored(desk, name):
    await desk.configure(own_codes=True)
    whose = {"organization_id": desk.organization_id}
    await desk.perform("verify.templates", name="login", text="{{shop}} {{code}}", **whose)
    session = await desk.sent("pk_live", **(SAID if name is None else {name: SAID[name]}))
    await desk.driver.wait_submitted(1)
    (sent,) = desk.driver.submitted
    assert sent.sender == "RISALA"
    assert PLAIN.fullmatch(sent.text)[1] != SAID["code"]
    assert rows(desk) == 0
    assert list(await desk.shown(session))[7:] == []
    assert await desk.status(session, await desk.code(), "pk_live") == "approved"


# -- all bodies

SETTINGS = VerifySettings(app_hashes=(HASH,), origins=(HOST,), never_share=True)
TEXTS = {
    SETTINGS.text(locale, app_hash, origin)
    for locale in (None, *BUILT_IN)
    for app_hash in (None, HASH)
    for origin in (None, HOST)
}
"""All texts that may leave."""
words = st.sampled_from([*BUILT_IN, "de", HASH, HOST, "evil.example", "471147", ""]) | st.text()
values = st.recursive(
    st.none() | st.booleans() | st.integers() | words,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(words, each, max_size=3),
    max_leaves=4,
)
names = st.sampled_from([*SAID, "to", "locale", "appHash", "origin", "channels"]) | st.text()
bodies = st.dictionaries(names, values, max_size=8).map(lambda each: {"to": TO, **each}) | values


def faults_of(locale: str | None, app_hash: str | None, origin: str | None) -> list[FieldFault]:
    return SETTINGS.faults_of(locale, app_hash, origin)


@given(bodies)
def test_no_free_text_leaves_by_any_body(body):
    try:
        command = parse_send_code(
            json.dumps(body).encode(),
            BodyContext(0, DEFAULT),
            faults_of,
            lambda: PublishableSendBody,
        )
    except Problem:
        return
    wishes = (command.locale, command.app_hash, command.origin)
    assert command.beside.keys() <= {"channels"}
    assert DEFAULT.serves(command.to)
    if not SETTINGS.faults_of(*wishes):
        assert SETTINGS.text(*wishes) in TEXTS


# -- who knows a session's id


async def test_who_knows_a_session_s_id_cannot_approve_it(desk, refused):
    await desk.configure(own_codes=True, attempts_max=100)
    session = await desk.sent(code="471147")
    elsewhere = await desk.make_organization()
    key = (await desk.perform("key.create", organization_id=elsewhere, type="secret"))["value"]
    said = {"verificationId": session, "reported": "approved"}
    await refused(await desk.post("/api/verify/check", said, key), 404)
    await refused(await desk.post("/api/verify/check", said, "sk_test"), 404)
    await refused(await desk.post("/api/verify/check", said, "pk_live"), 400)
    for guess in ("471148", "approved", "true"):
        response = await desk.post("/api/verify/check", {**said, "code": guess}, "pk_live")
        assert await response.get_json() == {"status": "denied"}
    shown = await desk.shown(session)
    assert (shown["status"], shown["attempts"]) == ("pending", 3)
