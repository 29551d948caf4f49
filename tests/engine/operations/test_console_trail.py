"""The audit trail as it is filtered and exported: part by part, with one line for the whole."""

import pytest

from risala.engine.journal.store import audit_log
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Forbidden, Invalid
from risala.engine.operations import trail

OPERATOR = Caller("amina", CallerKind.CONSOLE, Role.OPERATOR)


@pytest.fixture
async def house(open_house, autojump_clock, monkeypatch):
    monkeypatch.setattr(trail, "EXPORT_PART", 2)
    async with open_house() as opened:
        mine = {"organization_id": opened.principal.organization_id}
        for number in range(5):
            await do(opened, "org.set", **mine, name=f"Name {number}")
        yield opened


def do(house, name, /, **arguments):
    return house.gateway.perform(name, arguments, OPERATOR)


async def test_all_parts_are_all_lines_and_the_export_is_one_of_them(house, autojump_clock):
    part = await do(house, "audit.export", operation="org.", who="amina")
    lines = list(part["lines"])
    while part["older"] is not None:
        given = {"before": part["older"], "export": part["export"]}
        part = await do(house, "audit.export", operation="org.", who="amina", **given)
        lines += part["lines"]
    assert [line["after"]["name"] for line in lines] == [f"Name {n}" for n in (4, 3, 2, 1, 0)]
    (line,) = audit_log.lines(
        house.gateway.services.repositories._store.reader, 9, action="audit.export"
    )
    assert line.after == {"operation": "org.", "who": "amina"}


@pytest.mark.parametrize(
    "changes",
    [{"who": "omar"}, {"export": "1"}, {"face": "cli"}],
    ids=["other filters", "no export", "one more filter"],
)
async def test_a_part_without_its_line_is_refused(house, changes, autojump_clock):
    first = await do(house, "audit.export", who="amina")
    given = {"who": "amina", "before": first["older"], "export": first["export"], **changes}
    with pytest.raises(Invalid) as refused:
        await do(house, "audit.export", **given)
    assert refused.value.path == "export"


async def test_the_filters_are_those_of_a_line(house, autojump_clock):
    mine = house.principal.organization_id
    shown = await do(house, "audit.list", organization_id=mine, face="console", limit=2)
    assert [line["face"] for line in shown["lines"]] == ["console", "console"]
    assert shown["older"] is not None
    with pytest.raises(Invalid, match="face"):
        await do(house, "audit.list", face="nowhere")
    with pytest.raises(Invalid):
        await do(house, "audit.list", before="nowhere")


async def test_the_trail_is_for_operators_alone(house, autojump_clock):
    member = Caller("m", CallerKind.DASHBOARD, Role.OWNER, house.principal.organization_id)
    for name in ("audit.list", "audit.export"):
        with pytest.raises(Forbidden):
            await house.gateway.perform(name, {}, member)
