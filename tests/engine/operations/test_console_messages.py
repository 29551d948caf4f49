"""Messages over all organizations: found by number or id, their texts for a reason alone."""

import pytest

from risala.engine.journal.store import audit_log
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Forbidden, Invalid
from risala.engine.model.ids import key_of

OPERATOR = Caller("amina", CallerKind.CONSOLE, Role.OPERATOR)
BODY = "the body that is nobody's business"
TO = "+22236123456"


@pytest.fixture
async def house(open_house, autojump_clock):
    async with open_house() as opened:
        yield opened


def do(house, name, caller=OPERATOR, /, **arguments):
    return house.gateway.perform(name, arguments, caller)


def lines(house, **wanted):
    return audit_log.lines(house.gateway.services.repositories._store.reader, 100, **wanted)


async def test_a_message_is_found_by_number_id_and_the_carriers_id(house, autojump_clock):
    message_id = await house.send(body=BODY, to=TO)
    await house.send(body=BODY, to="+22246123456")
    await house.wait_status(message_id, "sent", "delivered")
    (found,) = (await do(house, "message.find", to=TO))["messages"]
    assert found["messageId"] == message_id
    assert found["organizationId"] == house.principal.organization_id
    assert found["organizationName"] == "Test"
    assert "body" not in found
    assert BODY not in str(found)
    for given in (
        {"message_id": message_id},
        {"carrier_id": found["providerMessageId"]},
        {"carrier_id": f"000{found['providerMessageId']}".upper()},
    ):
        assert (await do(house, "message.find", **given))["messages"] == [found]
    line = lines(house, action="message.find")[-1]
    assert line.after == {"to": "…3456"}
    assert not any(TO in str(each) for each in lines(house))


async def test_a_message_is_found_by_the_number_that_an_smpp_customer_has(house, autojump_clock):
    message_id = await house.send(body=BODY, to=TO)
    key = key_of(message_id)
    for number in (f"{key}", f"{key:x}", f"{key:X}"):
        for given in ({"message_id": number}, {"carrier_id": number}):
            (found,) = (await do(house, "message.find", **given))["messages"]
            assert found["messageId"] == message_id
    for given in ({"message_id": f"{key + 1}"}, {"carrier_id": "9" * 21}):
        assert (await do(house, "message.find", **given))["messages"] == []


@pytest.mark.parametrize(
    "given", [{}, {"to": TO, "message_id": "sms_x"}, {"to": TO, "digits": "3612"}]
)
async def test_one_thing_is_looked_for_at_a_time(house, given, autojump_clock):
    with pytest.raises(Invalid, match="one of"):
        await do(house, "message.find", **given)
    assert not lines(house, action="message.find")


async def test_the_console_shows_no_text_without_a_reason(house, autojump_clock):
    message_id = await house.send(body=BODY, to=TO, metadata={"secret": BODY})
    mine = {"organization_id": house.principal.organization_id}
    shown = await do(house, "message.show", message_id=message_id)
    listed = await do(house, "message.list", **mine)
    exported = await do(house, "message.export", **mine)
    assert shown["bodyHidden"]
    for told in (shown, listed, exported):
        assert BODY not in str(told)
    shell = Caller("amina", CallerKind.CONTROL, Role.OPERATOR)
    assert BODY in str(await do(house, "message.show", shell, message_id=message_id))
    member = Caller("m", CallerKind.DASHBOARD, Role.VIEWER, mine["organization_id"])
    assert BODY in str(await do(house, "message.show", member, message_id=message_id))


async def test_a_file_with_texts_is_not_for_the_console(house, autojump_clock):
    mine = {"organization_id": house.principal.organization_id}
    asked = await do(house, "export.ask", **mine)
    with pytest.raises(Forbidden, match="Only owners"):
        await do(house, "export.fetch", export_id=asked["id"])


async def test_the_reason_is_on_disk_before_the_text_is_shown(house, autojump_clock):
    message_id = await house.send(body=BODY, to=TO)
    told = await do(house, "message.body", message_id=message_id, reason="complaint  17")
    assert told["body"] == BODY
    (line,) = lines(house, action="message.body")
    assert (line.subject, line.who, line.face) == (message_id, "amina", CallerKind.CONSOLE)
    assert line.organization_id == house.principal.organization_id
    assert line.after == {"reason": "complaint 17"}


@pytest.mark.parametrize("reason", [{}, {"reason": "  "}, {"reason": "x" * 201}])
async def test_no_reason_no_text(house, reason, autojump_clock):
    message_id = await house.send(body=BODY, to=TO)
    with pytest.raises(Invalid):
        await do(house, "message.body", message_id=message_id, **reason)
    assert not lines(house, action="message.body")


async def test_finding_and_reading_over_all_is_for_operators_alone(house, autojump_clock):
    message_id = await house.send(body=BODY, to=TO)
    member = Caller("m", CallerKind.DASHBOARD, Role.OWNER, house.principal.organization_id)
    for name, given in (
        ("message.find", {"to": TO}),
        ("message.body", {"message_id": message_id, "reason": "mine"}),
    ):
        with pytest.raises(Forbidden):
            await do(house, name, member, **given)
