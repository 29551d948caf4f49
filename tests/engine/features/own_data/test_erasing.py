"""What is to be forgotten leaves every table; money, books and everybody else's things stay."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager

import pytest

from mailing_book import add_list, new_mailing, new_row
from patience import until_true
from risala.engine.features.mailings.stored import checking, mailings
from risala.engine.features.own_data.records import ErasureStep
from risala.engine.features.own_data.stored import erasing, erasures
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.commands import SendCode
from risala.engine.model.errors import Conflict, Forbidden, Invalid, NotFound, Unauthorized
from risala.engine.model.ids import first_id
from risala.engine.model.times import iso

NUMBER, OTHER = "+22236123456", "+22222999888"
BODY, CAME_IN, WORD = "their own secret", "what they wrote", "who they are"
KEPT = ("entry", "hour_count")
OF_MANY = {"mailing_rows": 1, "list_people": 1}
"""What the second organization has of the number besides a message."""


class World:
    """An organization that has a number in every place where one can be, and a second one."""

    def __init__(self, house):
        self.house = house
        self.mine = {"organization_id": house.principal.organization_id}

    @property
    def reader(self):
        return self.house.gateway.services.repositories._store.reader

    async def do(self, name, /, **arguments):
        return await self.house.gateway.perform(name, arguments)

    async def make(self):
        house, services = self.house, self.house.gateway.services
        self.second = await house.organization()
        types = ["sms.sent", "sms.received"]
        await self.do("webhook.create", url="https://example.com/hook", types=types, **self.mine)
        self.sent = await house.send(BODY, NUMBER, metadata={"who": WORD})
        await house.wait_status(self.sent, "sent")
        other = await house.send(BODY, OTHER)
        await house.wait_status(other, "sent")
        theirs = await house.send(BODY, NUMBER, principal=self.second)
        await house.wait_status(theirs, "sent")
        later = iso(services.recorder.clock.now_ms() + 86_400_000)
        waiting = await self.do("send", to=NUMBER, body=BODY, send_at=later, **self.mine)
        self.waiting = waiting["messageId"]
        self.session = await house.gateway.send_code(house.principal, SendCode(to=NUMBER))
        code = house.gateway.get_verification(house.principal, self.session).message_id
        await house.wait_status(code, "sent")
        now_ms, organization_id = services.recorder.clock.now_ms(), self.mine["organization_id"]

        def unit(conn):
            for number, sender in enumerate((NUMBER, OTHER)):
                identity = f"{first_id('mo', now_ms)[:-1]}{number}"
                conn.execute(
                    "INSERT INTO inbound VALUES (?, 'fake', ?, '1234', ?, '', ?, ?, NULL, NULL)",
                    (identity, sender, CAME_IN, now_ms, organization_id),
                )
            for each in (organization_id, self.second.organization_id):
                conn.execute(
                    "INSERT INTO opt_outs (organization_id, recipient, carrier, at)"
                    " VALUES (?, ?, 'fake', 1)",
                    (each, NUMBER),
                )
            conn.execute(
                "INSERT INTO last_writers VALUES (?, 'fake', ?, 1)", (NUMBER, organization_id)
            )
            conn.execute(
                "UPDATE webhook_delivery SET excerpt = ? WHERE event ="
                " (SELECT min(key) FROM event WHERE type = 0)",
                (f"got {NUMBER}",),
            )
            conn.execute("UPDATE message SET receipt_raw = ? WHERE body <> ''", (BODY,))

        await services.recorder.journal.commit(unit)
        await services.recorder.journal.commit(self._write_to_many)

    def _write_to_many(self, conn):
        """A mailing and a list of each, with the number; the first organization's have another."""
        mine, theirs = self.mine["organization_id"], self.second.organization_id
        for name, whose, people in (("1", mine, [NUMBER, OTHER]), ("2", theirs, [NUMBER])):
            given = {"organization_id": whose, "created_at": 1}
            mailings.add(conn, new_mailing(f"mlg_{name}", **given), f"upl_{name}")
            words = (WORD,) if whose == mine else ()
            rows = [
                new_row(row, number=number, cells=(number, *words))
                for row, number in enumerate(people, 1)
            ]
            checking.store_rows(conn, f"mlg_{name}", rows)
            add_list(conn, f"lst_{name}", people, **given)

    async def finish(self, erasure_id):
        """Unit after unit, as the service does them."""
        for _ in range(200):
            done = await self.do("erasure.run", erasure_id=erasure_id)
            if done["erasure"]["state"] == "done":
                return done["erasure"]
        raise AssertionError("it comes to no end")

    def where(self, *words):
        """Tables in which a word stands, and in how many rows."""
        names = self.reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        found = {}
        for (name,) in names.fetchall():
            rows = self.reader.execute(f'SELECT * FROM "{name}"').fetchall()
            if hits := sum(any(word in repr(row) for word in words) for row in rows):
                found[name] = hits
        return found

    def kept(self):
        return {name: self.reader.execute(f"SELECT * FROM {name}").fetchall() for name in KEPT}


@pytest.fixture
def open_world(open_house):
    @asynccontextmanager
    async def opened(**sections):
        async with open_house(**sections) as house:
            world = World(house)
            await world.make()
            yield world

    return opened


@pytest.fixture
async def world(open_world, autojump_clock):
    async with open_world() as opened:
        # The service would do the same by itself: here each unit is looked at.
        yield opened


async def test_a_number_leaves_every_table_but_the_wish_not_to_be_written_to(world, autojump_clock):
    digits = NUMBER[1:]
    assert {"message", "verifications", "inbound", "webhook_delivery"} <= set(world.where(digits))
    asked = await world.do("number.forget", number=NUMBER, **world.mine)
    assert (asked["number"], asked["state"]) == ("…3456", "under way")
    done = await world.finish(asked["id"])
    assert done["gone"]["messages"] == 3  # one sent, one canceled, and a code
    # What is left is the other organization's, and both wishes.
    assert world.where(digits) == {"message": 1, "opt_outs": 2, **OF_MANY}
    assert world.where(WORD) == {"mailing_rows": 1}  # of the other number
    left = world.reader.execute("SELECT body FROM message WHERE recipient = 'forgotten'").fetchall()
    assert left == [("",)] * 3
    assert world.where(CAME_IN) == {"inbound": 1}
    assert "3456" in repr(world.reader.execute("SELECT after FROM audit_log").fetchall())
    assert digits not in repr(world.reader.execute("SELECT * FROM audit_log").fetchall())


async def test_what_came_before_goes_whatever_its_carrier_says_of_its_time(world, autojump_clock):
    ahead = "UPDATE inbound SET received_at = received_at + 3600000"
    await world.house.gateway.services.recorder.journal.commit(lambda conn: conn.execute(ahead))
    asked = await world.do("number.forget", number=NUMBER, **world.mine)
    await world.finish(asked["id"])
    assert world.where(NUMBER[1:]).get("inbound") is None


async def test_money_books_and_what_is_pending(world, autojump_clock):
    before = world.kept()
    shown = await world.do("number.show", number=NUMBER, **world.mine)
    assert shown == {
        "number": NUMBER,
        "messages": 3,
        "pending": 1,
        "inbound": 1,
        "verifications": 1,
        "mailingRows": 1,
        "lists": 1,
        "optedOut": True,
    }
    asked = await world.do("number.forget", number=NUMBER, **world.mine)
    await world.finish(asked["id"])
    assert world.house.status(world.waiting) == "canceled"
    view, _ = world.house.gateway.show_message(world.sent)
    assert (view.to, view.body, view.status, view.metadata) == ("forgotten", None, "sent", {})
    session = world.house.gateway.get_verification(world.house.principal, world.session)
    assert (session.to, session.status) == ("forgotten", "canceled")
    entries = world.kept()["entry"]
    assert entries[: len(before["entry"])] == before["entry"]
    assert len(entries) - len(before["entry"]) == 1, "what had not left is refunded"
    assert (await world.do("audit"))["clean"]
    # The same key gives the same answer in ten years too.
    assert world.reader.execute("SELECT count(*) FROM idempotency").fetchone() == (4,)


async def test_whoever_is_killed_goes_on_where_they_were(open_world, open_house, autojump_clock):
    async with open_world() as world:
        asked = await world.do("number.forget", number=NUMBER, **world.mine)
        for _ in range(4):
            await world.do("erasure.run", erasure_id=asked["id"])
    async with open_house() as house:
        world = World(house)
        await until_true(lambda: erasures.find(world.reader, asked["id"]).ended_at is not None)
        organization = world.reader.execute("SELECT no FROM organizations ORDER BY no").fetchone()
        found = world.reader.execute(
            "SELECT count(*) FROM message WHERE organization = ? AND recipient = ?",
            (*organization, int(NUMBER[1:])),
        )
        assert found.fetchone() == (0,)


@pytest.mark.parametrize("now", [ErasureStep.PENDING, ErasureStep.EVENTS, ErasureStep.REST])
def test_nothing_is_done_for_a_step_that_another_caller_has_ended(book, now):
    organization_id = book.organization()
    new = (book.id("del"), organization_id, NUMBER, "owner@example.com", book.now_ms)
    erasure = book.unit(lambda conn: erasures.begin(conn, *new))
    seen = book.unit(lambda conn: erasures.note(conn, erasure, ErasureStep.MAILINGS, "", {}))
    book.unit(lambda conn: erasures.note(conn, seen, now, "", {}))
    done = book.unit(lambda conn: erasing.take_out(conn, seen, book.now_ms))
    assert (done.erasure.step, done.erasure.ended_at, done.waits) == (now, None, False)


def test_what_is_with_a_carrier_is_waited_for(book):
    organization_id = book.organization()
    message_id = book.accept(organization_id, recipient=NUMBER)
    book.begin(message_id)
    key = book.one("SELECT key FROM message")
    book.now_ms += 1000
    new = (book.id("del"), organization_id, NUMBER, "owner@example.com", book.now_ms)
    erasure = book.unit(lambda conn: erasures.begin(conn, *new))
    book.unit(lambda conn: erasures.note(conn, erasure, ErasureStep.EVENTS, "", {}))

    def one(conn):
        return erasing.take_out(conn, erasures.find(conn, erasure.id), book.now_ms)

    def go_on():
        for _ in range(20):
            done = book.unit(one)
            if done.waits or done.erasure.ended_at is not None:
                return done
        raise AssertionError("it comes to no end")

    assert go_on().waits
    assert book.one("SELECT recipient FROM message") == int(NUMBER[1:])
    book.conn.execute("UPDATE message SET status = 3 WHERE key = ?", (key,))
    done = go_on()
    assert not done.waits
    assert (done.erasure.number, done.erasure.last4) == (None, "3456")
    assert book.one("SELECT recipient FROM message") == "forgotten"


@pytest.mark.parametrize("number", [NUMBER, None])
def test_what_ends_right_after_the_walk_passed_it_is_erased_too(book, monkeypatch, number):
    monkeypatch.setattr(erasing, "AT_ONCE", 1)
    organization_id = book.organization()
    under_way, _ = (book.accept(organization_id, recipient=NUMBER) for _ in range(2))
    book.conn.execute("UPDATE message SET status = 3")
    book.conn.execute("UPDATE message SET status = 1 WHERE id = ?", (under_way,))
    book.now_ms += 1000
    new = (book.id("del"), organization_id, number, "owner@example.com", book.now_ms)
    erasure = book.unit(lambda conn: erasures.begin(conn, *new))
    book.unit(lambda conn: erasures.note(conn, erasure, ErasureStep.EVENTS, "", {}))

    def go_on_until(is_reached):
        for _ in range(40):
            now = erasures.find(book.conn, erasure.id)
            if is_reached(now):
                return
            assert not book.unit(lambda conn, now=now: erasing.take_out(conn, now, 1)).waits
        raise AssertionError("it does not come there")

    go_on_until(lambda now: now.step is ErasureStep.CARRIERS)
    assert book.one("SELECT count(*) FROM message WHERE recipient = 'forgotten'") == 1
    book.conn.execute("UPDATE message SET status = 2 WHERE status = 1")
    go_on_until(lambda now: now.ended_at is not None)
    assert book.one("SELECT count(*) FROM message WHERE recipient = 'forgotten'") == 2


async def test_the_same_number_twice_is_one_deletion_and_there_are_not_too_many(
    world, autojump_clock
):
    conn_of = world.house.gateway.services.recorder.journal.commit
    now_ms = world.house.gateway.services.recorder.clock.now_ms()
    whose = world.mine["organization_id"]

    def begin(number, name):
        return lambda conn: erasures.begin(conn, name, whose, number, "me", now_ms)

    first = await conn_of(begin(OTHER, "del_1"))
    assert (await conn_of(begin(OTHER, "del_2"))).id == first.id
    with pytest.raises(Conflict):  # noqa: PT012 -- whichever is the first too many
        for n in range(erasures.UNDER_WAY_MAX + 1):
            await conn_of(begin(f"+2222000{n:04d}", f"del_x{n}"))
    for wrong in ("16123456", "", "+0", "forgotten"):
        with pytest.raises(Invalid):
            await world.do("number.forget", number=wrong, **world.mine)


# -- the whole organization


async def test_a_deleted_organization_sends_nothing_and_is_found_by_nobody(world, autojump_clock):
    house, whose = world.house, world.mine["organization_id"]
    key = await world.do("key.create", type="secret", **world.mine)
    await world.do("user.create", email="owner@example.com")
    member = await world.do("member.add", email="owner@example.com", role="owner", **world.mine)
    figures = await world.do("org.deletion", **world.mine)
    assert (figures["keys"], figures["members"], figures["pending"]) == (1, 1, 1)
    with pytest.raises(Invalid):
        await world.do("org.delete", name="Tset", **world.mine)
    owner = Caller("owner@example.com", CallerKind.DASHBOARD, Role.OWNER, whose, member["userId"])
    asked = await house.gateway.perform("org.delete", {**world.mine, "name": " test "}, owner)
    with pytest.raises(Unauthorized):
        house.gateway.authenticate(key["value"])
    shown = await world.do("org.show", **world.mine)
    assert shown["status"] == "deleted"
    for name, given in (
        ("org.resume", {}),
        ("topup", {"amount": "5"}),
        ("key.create", {"type": "secret"}),
        ("member.add", {"email": "owner@example.com", "role": "owner"}),
    ):
        with pytest.raises(Conflict, match="deleted"):
            await world.do(name, **world.mine, **given)
    with pytest.raises(NotFound):
        await world.do("org.delete", name="Test", **world.mine)
    await world.finish(asked["id"])
    assert house.status(world.waiting) == "canceled"
    places = house.gateway.services.people.memberships.organizations(member["userId"])
    assert places == []


async def test_what_it_wrote_goes_and_its_books_stay(world, autojump_clock):
    before = world.kept()
    asked = await world.do("org.delete", name="Test", **world.mine)
    await world.finish(asked["id"])
    # The second organization has written one message to that number, which opted out of it.
    assert world.where(BODY) == {"message": 1}
    assert world.where(OTHER[1:], WORD, CAME_IN) == {}
    assert world.where(NUMBER[1:]) == {"message": 1, "opt_outs": 1, **OF_MANY}
    for table in ("mailings", "recipient_lists"):
        whose = world.reader.execute(f"SELECT organization_id FROM {table}").fetchall()
        assert whose == [(world.second.organization_id,)]
    for table in ("webhook_attempts", "inbound", "api_keys", "members", "senders"):
        assert world.reader.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    assert world.kept()["entry"][: len(before["entry"])] == before["entry"]
    assert (await world.do("audit"))["clean"]
    lines = world.reader.execute("SELECT action, after FROM audit_log WHERE action = 'org.delete'")
    ((_, after),) = lines.fetchall()
    assert json.loads(after)["status"] == "deleted"


async def test_only_an_owner_deletes(world, autojump_clock):
    whose = world.mine["organization_id"]
    for role in (Role.VIEWER, Role.DEVELOPER):
        caller = Caller("d", CallerKind.DASHBOARD, role, whose, "usr_1")
        for name, given in (
            ("org.delete", {"name": "Test"}),
            ("number.forget", {"number": NUMBER}),
        ):
            with pytest.raises(Forbidden):
                await world.house.gateway.perform(name, {**world.mine, **given}, caller)
    gone = Caller("o", CallerKind.DASHBOARD, Role.OWNER, whose, "usr_removed_meanwhile")
    with pytest.raises(Forbidden):
        await world.house.gateway.perform("org.delete", {**world.mine, "name": "Test"}, gone)
