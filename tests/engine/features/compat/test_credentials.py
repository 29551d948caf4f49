"""Credentials for faces other than the API: compared, remembered, and revoked at once."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from ipaddress import ip_address

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from cases import first
from risala.engine.features.compat.credentials import Credentials
from risala.engine.features.compat.rules import shape_of
from risala.engine.follow.cursors import EventCursors
from risala.engine.journal.webhooks import event_cursors
from risala.engine.model.errors import (
    AddressNotAllowed,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    SecretLost,
    Unauthorized,
)
from risala.engine.model.states import Mode

HERE = ip_address("203.0.113.7")

ALL = [pytest.param(True, id="inline"), pytest.param(False, id="thread")]
"""The journal has a thread of its own, as in the service: one test without ``long`` has it."""


@pytest.fixture(params=first(1, [True, False]), ids=["inline", "thread"])
async def house(request, open_house, autojump_clock):
    async with open_house(inline=request.param) as opened:
        yield opened


def credentials(house):
    return house.gateway.services.part(Credentials)


async def create(house, face="kannel", username=None, mode=Mode.LIVE, **more):
    organization_id = house.principal.organization_id
    return await credentials(house).create(organization_id, face, username, mode, "t", **more)


@pytest.mark.parametrize(
    ("face", "username", "length"),
    [
        *(
            ("kannel", "shop", 32),
            ("twilio", None, 72),
            ("playsms", "cloud", 32),
            ("smsgate", "phone", 32),
        ),
        *(("smpp", "shop-1", 8), ("morse", None, 32)),
    ],
)
async def test_a_credential_tells_who_comes(house, face, username, length, autojump_clock):
    made = await create(house, face, username, Mode.TEST)
    credential = made.credential
    assert (len(made.password), credential.last4) == (length, made.password[-4:])
    assert credential.username == username or username is None
    known = []
    for _ in range(2):  # the second time it is remembered
        found = await credentials(house).authenticate(
            face, credential.username, made.password, HERE
        )
        principal = found.principal
        known.append(principal)
        assert (principal.organization_id, principal.key_id, principal.mode, principal.face) == (
            house.principal.organization_id,
            credential.id,
            Mode.TEST,
            face,
        )
    assert known[0] is known[1]  # one holder: what its sessions send is taken together
    assert credentials(house).admitted(credential.id).credential == credential


async def test_what_is_not_its_password_or_its_face_is_refused(house, autojump_clock):
    for face in ("kannel", "smpp"):
        made = await create(house, face, "shop")
        for given in ("", made.password[:-1], made.password + "x", "x" * 200, "\ud800"):
            with pytest.raises(Unauthorized):
                await credentials(house).authenticate(face, "shop", given, HERE)
        for name in ("Shop", "nobody", ""):
            with pytest.raises(Unauthorized):
                await credentials(house).authenticate(face, name, made.password, HERE)
        with pytest.raises(Unauthorized):
            await credentials(house).authenticate("twilio", "shop", made.password, HERE)
        assert await credentials(house).authenticate(face, "shop", made.password, HERE)


async def test_no_password_is_on_the_disk(house, autojump_clock):
    made = [await create(house, face) for face in ("kannel", "twilio", "smpp")]
    dump = "".join(house.gateway.services.repositories._store.reader.iterdump())
    for each in made:
        assert each.password not in dump
        assert each.password.encode().hex().upper() not in dump.upper()
        assert each.password not in repr(each)


async def test_a_short_password_has_a_slow_hash_and_a_salt_of_its_own(house, autojump_clock):
    assert shape_of("smpp").is_weak
    for name in ("one", "other"):
        await create(house, "smpp", name)
    reader = house.gateway.services.repositories._store.reader
    salts = {salt for (salt,) in reader.execute("SELECT salt FROM face_credentials")}
    assert len(salts) == 2
    assert None not in salts


async def test_what_signs_for_a_credential_is_the_key_that_an_hmac_makes_of_its_password(
    house, autojump_clock
):
    made = await create(house, "twilio")
    expected = hashlib.sha1(made.password.encode(), usedforsecurity=False).digest()
    assert credentials(house).signer(made.id) == expected
    await credentials(house).revoke(made.id)
    assert credentials(house).signer(made.id) is None
    assert credentials(house).signer((await create(house)).id) is None


async def test_it_signs_on_when_the_secrets_are_sealed_anew(house, autojump_clock):
    made = await create(house, "twilio")
    before = credentials(house).signer(made.id)
    await house.gateway.perform("secrets.rotate", {"forget_old": True})
    assert credentials(house).signer(made.id) == before
    house.gateway.services.sealing.rotate()  # the same without sealing: its key is lost
    house.gateway.services.sealing.forget_old()
    with pytest.raises(SecretLost):
        credentials(house).signer(made.id)


@pytest.mark.parametrize("house", ALL, indirect=True)
async def test_a_revoked_one_is_refused_at_once_and_its_name_is_free_again(house, autojump_clock):
    first = await create(house, "kannel", "shop")
    with pytest.raises(Conflict):
        await create(house, "kannel", "shop")
    await create(house, "smpp", "shop")  # another face's
    await credentials(house).authenticate("kannel", "shop", first.password, HERE)
    heard = trio.Event()

    async def hear():
        await credentials(house).changed()
        heard.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hear)
        await wait_all_tasks_blocked()
        assert (await credentials(house).revoke(first.id)).revoked_at is not None
        await heard.wait()
    with pytest.raises(Unauthorized):
        await credentials(house).authenticate("kannel", "shop", first.password, HERE)
    with pytest.raises(Unauthorized):
        credentials(house).admitted(first.id)
    second = await create(house, "kannel", "shop")
    with pytest.raises(Unauthorized):
        await credentials(house).authenticate("kannel", "shop", first.password, HERE)
    await credentials(house).authenticate("kannel", "shop", second.password, HERE)
    await credentials(house).revoke(first.id)  # once more changes nothing
    listed = credentials(house).of_organization(house.principal.organization_id)
    # Those of one millisecond have no order of their own.
    assert [each.id for each in listed if each.revoked_at is not None] == [first.id]
    assert len(listed) == 3


async def test_one_that_is_revoked_while_its_slow_hash_is_made_does_not_pass(house, autojump_clock):
    made = await create(house, "smpp", "shop")
    ends = []

    async def bind():
        try:
            await credentials(house).authenticate("smpp", "shop", made.password, HERE)
        except Unauthorized:
            ends.append("refused")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(bind)
        await wait_all_tasks_blocked()
        await credentials(house).revoke(made.id)
    assert ends == ["refused"]


async def test_a_suspended_organization_is_refused(house, autojump_clock):
    made = await create(house)
    organization_id = house.principal.organization_id
    given = ("kannel", made.credential.username, made.password, HERE)
    await credentials(house).authenticate(*given)
    await house.gateway.perform("org.suspend", {"organization_id": organization_id})
    with pytest.raises(Forbidden):
        await credentials(house).authenticate(*given)
    with pytest.raises(Forbidden):
        credentials(house).admitted(made.id)
    await house.gateway.perform("org.resume", {"organization_id": organization_id})
    await credentials(house).authenticate(*given)


async def test_it_may_be_for_some_addresses_alone(house, autojump_clock):
    made = await create(house, allowed_addresses=("203.0.113.0/24",))
    name = made.credential.username
    await credentials(house).authenticate("kannel", name, made.password, HERE)
    for address in (ip_address("203.0.114.7"), ip_address("2001:db8::1"), None):
        with pytest.raises(AddressNotAllowed):
            await credentials(house).authenticate("kannel", name, made.password, address)


@pytest.mark.parametrize(
    ("face", "username"),
    [
        ("smpp", "x" * 16),
        ("kannel", "x" * 41),
        ("kannel", "two words"),
        ("kannel", ".hidden"),
        ("twilio", "AC" + "0" * 32),
        ("No such", "name"),
    ],
)
async def test_a_name_that_the_face_cannot_have_is_refused(house, face, username, autojump_clock):
    with pytest.raises(Invalid):
        await create(house, face, username)


async def test_when_it_was_used_is_written_down(house, autojump_clock):
    made = await create(house)
    await credentials(house).authenticate("kannel", made.credential.username, made.password, HERE)
    await credentials(house).uses.write()
    assert credentials(house).credential(made.id).last_used_at is not None
    with pytest.raises(NotFound):
        credentials(house).credential("crd_nobody")


async def test_those_of_a_deleted_organization_are_gone(house, autojump_clock):
    made = await create(house)
    given = ("kannel", made.credential.username, made.password, HERE)
    await credentials(house).authenticate(*given)
    organization_id = house.principal.organization_id
    name = house.gateway.services.accounts.organization(organization_id).name
    await house.gateway.perform("org.delete", {"organization_id": organization_id, "name": name})
    with suppress(NotFound), pytest.raises((Unauthorized, Forbidden)):
        await credentials(house).authenticate(*given)
    with pytest.raises(NotFound):
        credentials(house).credential(made.id)


@pytest.mark.parametrize("end", ["revoked", "deleted"])
async def test_no_event_is_owed_to_a_credential_that_is_no_more(house, end, autojump_clock):
    made = await create(house)
    services, organization_id = house.gateway.services, house.principal.organization_id
    consumer = f"{made.credential.face}:{made.id}"
    cursors = EventCursors(services.repositories.events, services.recorder.clock)
    await cursors.open(consumer, organization_id=organization_id)
    assert event_cursors.one(services.repositories._store.reader, consumer) is not None
    if end == "revoked":
        await house.gateway.perform("credential.revoke", {"credential_id": made.id})
    else:
        name = services.accounts.organization(organization_id).name
        await house.gateway.perform(
            "org.delete", {"organization_id": organization_id, "name": name}
        )
    assert event_cursors.one(services.repositories._store.reader, consumer) is None


async def test_a_name_that_is_there_takes_no_less_looking_up_than_one_that_is_not(
    house, autojump_clock
):
    """How soon a guess is refused must not tell whether there is such a name."""
    made = await create(house, "kannel", "shop")
    await credentials(house).authenticate("kannel", "shop", made.password, HERE)
    reader, asked = credentials(house)._stored._store.reader, []
    reader.set_trace_callback(asked.append)
    counts = []
    for name in ("shop", "nobody", "shop", "nobody"):
        asked.clear()
        with pytest.raises(Unauthorized):
            await credentials(house).authenticate("kannel", name, "wrong" * 6, HERE)
        counts.append(len(asked))
    reader.set_trace_callback(None)
    assert counts == [1, 1, 1, 1]
    assert (await credentials(house).authenticate("kannel", "shop", made.password, HERE)).principal
