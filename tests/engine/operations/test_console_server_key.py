"""The server key is rotated under what is going on, and nothing of that is lost."""

import re

import pytest
import trio

from risala.engine.journal.store import audit_log, server_key
from risala.engine.journal.store.server_key import AHEAD_MS
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Conflict
from risala.engine.people.tokens import new_token

OPERATOR = Caller("amina", CallerKind.CONTROL, Role.OPERATOR)
TO = "+22236123456"


def do(house, name, /, **arguments):
    return house.gateway.perform(name, arguments, OPERATOR)


async def begin(house):
    given = {"organization_id": house.principal.organization_id, "to": TO}
    count = len(house.driver.submitted)
    found = await do(house, "verify.send", **given)
    await house.driver.wait_submitted(count + 1)
    code = re.search(r"[0-9]{6}", house.driver.submitted[-1].text)[0]
    return {**given, "verification_id": found["verificationId"], "code": code}


async def check(house, session):
    given = {name: value for name, value in session.items() if name != "to"}
    return (await do(house, "verify.check", **given))["status"]


async def test_codes_of_before_and_after_are_approved_also_after_a_restart(open_house, quick):
    async with open_house() as house:
        before, stays = await begin(house), await begin(house)
        rotated = await do(house, "server_key.rotate")
        during = await begin(house)
        await trio.sleep(AHEAD_MS / 1000)
        after = await begin(house)
        assert rotated["oldUntil"] > rotated["since"]
        assert [await check(house, each) for each in (before, during)] == ["approved"] * 2
        people, cookie = house.gateway.people, new_token()
        form = people.derived.form_token(cookie)
        await do(house, "server_key.rotate")
        assert people.derived.is_form_token(cookie, form)
        assert people.derived.form_token(cookie) != form
    async with open_house() as house:
        assert [await check(house, each) for each in (stays, after)] == ["approved"] * 2
        assert house.gateway.people.derived.is_form_token(cookie, form)
        assert not house.gateway.people.derived.is_form_token(new_token(), form)


async def test_at_once_what_is_under_way_ends(open_house, quick):
    async with open_house() as house:
        session = await begin(house)
        people, cookie = house.gateway.people, new_token()
        form = people.derived.form_token(cookie)
        rotated = await do(house, "server_key.rotate", at_once=True)
        assert rotated["oldUntil"] is None
        assert await check(house, session) == "denied"
        assert not people.derived.is_form_token(cookie, form)
        assert await check(house, await begin(house)) == "approved"


async def test_a_rotation_is_in_the_trail_and_no_key_is(open_house, quick, tmp_path):
    async with open_house() as house:
        await do(house, "server_key.rotate")
        (line,) = audit_log.lines(
            house.gateway.services.repositories._store.reader, 9, action="server_key.rotate"
        )
        assert (line.who, line.subject, line.after) == ("amina", "server key", {"atOnce": False})
        ring = house.gateway.services.server_keys.ring()
    books = b"".join(path.read_bytes() for path in tmp_path.glob("risala.db*"))
    for key in ring.keys:
        assert key.secret not in books
        assert key.secret.hex().encode() not in books


async def test_a_key_of_the_environment_is_refused_before_the_trail(open_house, quick, monkeypatch):
    monkeypatch.setenv(server_key.KEY_VARIABLE, "ab" * 32)
    async with open_house() as house:
        with pytest.raises(Conflict):
            await do(house, "server_key.rotate")
        reader = house.gateway.services.repositories._store.reader
        assert not audit_log.lines(reader, 9, action="server_key.rotate")
