"""Long messages are cut for a wide reference, but for those that another version had begun."""

import pytest
from sqlite_utils import Database

from risala.engine.journal.messages import reads as messages
from risala.engine.journal.store.schema.migrations import migrate, migrations
from risala.sms.segment import split

LONG = "x" * 200


async def test_the_driver_is_told_how_wide_a_reference_has_room(open_house, quick):
    async with open_house() as house:
        for body in (LONG, "y" * 306, "z"):
            await house.wait_status(await house.send(body), "sent")
        told = [(len(part.text), part.reference_bits) for part in house.driver.submitted]
        assert told == [(152, 16), (48, 16), (153, 8), (153, 8), (1, 16)]


async def test_what_another_version_had_begun_is_cut_as_it_was(open_house, quick):
    async with open_house() as house:
        soon_ms = house.gateway.services.recorder.clock.now_ms() + 1000
        begun = await house.send(LONG, send_at=soon_ms)
        other = await house.send(LONG, send_at=soon_ms)
        # As the migration below leaves it.
        house.engine._board.begun_narrow = frozenset({begun})
        cuts: dict[str, list[int]] = {begun: [], other: []}
        for message in cuts:
            await house.wait_status(message, "sent")
        for part in house.driver.submitted:
            cuts[part.message_id].append(len(part.text))
        assert cuts == {begun: [153, 47], other: [152, 48]}


@pytest.mark.parametrize(
    ("status", "segments", "begun", "found"),
    [
        ("processing", 2, True, True),
        ("pending", 2, True, True),
        ("pending", 2, False, False),
        ("processing", 1, True, False),
        ("sent", 2, True, False),
    ],
)
def test_the_migration_finds_what_is_begun(status, segments, begun, found):
    db = Database(memory=True)
    migrations.apply(db, stop_before="m009_begun_narrow")
    db.execute("INSERT INTO organizations (id, name, currency, created_at) VALUES ('o','o','x',0)")
    db.execute(
        "INSERT INTO messages (id, organization_id, mode, kind, recipient, sender, body, encoding,"
        " segments, price, currency, status, priority, route, due_at, valid_until, created_at,"
        " updated_at) VALUES ('sms_1', 'o', 'live', 'sms', '+222', 'A', ?, 'gsm7', ?, 0, 'x', ?,"
        " 1, '', 0, 0, 0, 0)",
        (LONG, segments, status),
    )
    if begun:
        db.execute("INSERT INTO segments VALUES ('sms_1', 1, 'accepted', 1, 'c', '1', '1', 0)")
    migrate(db)
    assert messages.begun_narrow(db.conn) == ({"sms_1"} if found else set())
    assert len(split(LONG)[0]) == 153
