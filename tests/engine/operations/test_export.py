"""Messages part by part: the first part leaves the line in the trail, the others show it."""

import pytest

from risala.engine.journal.store import audit_log
from risala.engine.kernel.operation import EXPORT_AGE_MAX_MS
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Invalid
from risala.engine.operations import message_lists


@pytest.fixture
async def house(open_house, autojump_clock, monkeypatch):
    monkeypatch.setattr(message_lists, "EXPORT_PART", 2)
    async with open_house() as opened:
        for number in range(5):
            await opened.send(body=f"text {number}")
        yield opened


@pytest.fixture
def ask(house):
    async def ask(who="amina", **arguments):
        caller = Caller(who, CallerKind.DASHBOARD, Role.OPERATOR)
        given = {"organization_id": house.principal.organization_id, **arguments}
        return await house.gateway.perform("message.export", given, caller)

    return ask


def trail(house):
    return audit_log.lines(
        house.gateway.services.repositories._store.reader, 100, action="message.export"
    )


async def test_all_parts_are_all_messages_and_one_line(house, ask, autojump_clock):
    part = await ask(to="+22236123456")
    texts = [each["body"] for each in part["messages"]]
    while part["older"] is not None:
        part = await ask(to="+22236123456", before=part["older"], export=part["export"])
        texts += [each["body"] for each in part["messages"]]
    assert texts == [f"text {number}" for number in (4, 3, 2, 1, 0)]
    [line] = trail(house)
    assert (line.who, line.after) == ("amina", {"mode": "live", "to": "…3456"})


@pytest.mark.parametrize(
    "changes",
    [{"status": "failed"}, {"export": "1"}, {"who": "omar"}, {"mode": "test"}],
    ids=["other filters", "no export", "somebody else's", "other mode"],
)
async def test_a_part_without_its_line_is_refused(house, ask, changes, autojump_clock):
    first = await ask()
    with pytest.raises(Invalid) as refused:
        await ask(**{"before": first["older"], "export": first["export"], **changes})
    assert refused.value.path == "export"
    assert len(trail(house)) == 1


async def test_an_old_export_is_begun_anew(house, ask, autojump_clock):
    first = await ask()
    autojump_clock.jump(EXPORT_AGE_MAX_MS / 1000 + 1)
    with pytest.raises(Invalid):
        await ask(before=first["older"], export=first["export"])


async def test_two_at_once_have_a_line_each(house, ask, autojump_clock):
    one, two = await ask(), await ask(status="pending")
    assert one["export"] != two["export"]
    await ask(before=one["older"], export=one["export"])
