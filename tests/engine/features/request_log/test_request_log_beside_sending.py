"""The log of requests beside a running engine: it fails alone, and goes with its organization."""

from __future__ import annotations

import json
from pathlib import Path

from risala.engine.features.request_log import stored as requests
from risala.engine.features.request_log.service import request_log
from risala.engine.model.commands import NotedRequest, SendMessage


def ask(house) -> str:
    """A request is answered; its id."""
    services = house.gateway.services
    request_id = services.ids.new("req")
    noted = NotedRequest(
        house.principal, request_id, "POST", "/api/sms", 200, 0.01, None, b"{}", b"{}"
    )
    if house.gateway.services.part(request_log).has_room(house.principal):
        house.gateway.services.part(request_log).note(noted)
    return request_id


async def listed(house) -> dict:
    mine = {"organization_id": house.principal.organization_id}
    return await house.gateway.perform("request.list", mine)


async def test_messages_go_on_while_the_log_is_broken(open_house, quick, tmp_path: Path):
    (tmp_path / requests.FILE).write_bytes(b"no database at all " * 500)
    async with open_house() as house:
        ask(house)
        await house.gateway.services.part(request_log).flush()
        command = SendMessage("+22236123456", "hello")
        answer = json.loads(await house.gateway.send_message(house.principal, command))
        await house.wait_status(answer["messageId"], "sent")
        told = await listed(house)
        assert (told["requests"], told["written"], told["dropped"]) == ([], False, 1)
        page = house.gateway.metrics().decode()
        assert "risala_request_log_well 0.0" in page
        assert "risala_request_log_dropped_total 1.0" in page
        assert "is not a database" in house.gateway.services.statistics()["requests"]["ailment"]


async def test_what_is_left_is_written_at_the_stop(open_house, quick):
    async with open_house() as house:
        request_id = ask(house)
        mine = house.principal
    async with open_house() as house:
        house.principal = mine
        assert [each["requestId"] for each in (await listed(house))["requests"]] == [request_id]


async def test_requests_go_with_their_organization(open_house, quick):
    async with open_house() as house:
        request_id = ask(house)
        await house.gateway.services.part(request_log).flush()
        mine = {"organization_id": house.principal.organization_id}
        assert len((await listed(house))["requests"]) == 1
        await house.gateway.perform("org.delete", {**mine, "name": "Test"})
        assert await house.gateway.services.part(request_log).one(request_id) is None
