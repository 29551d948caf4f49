"""The paths of agents: what they read, and how their acts come into the audit trail."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from risala.config.model import Settings
from risala.engine.features.agents.acting import A_MINUTE_MAX
from risala.engine.features.agents.records import ACT_PATH, LLMS_PATH, SKILL_PATH, TOOLS
from risala.http.api.agents import mount
from risala.http.api.openapi import skill
from risala.http.api.openapi.document import document

ACT = {"tool": "send", "run": "0011223344aabbcc", "call": 1}


@pytest.fixture
async def agents(bureau):
    """A bureau that answers agents, with Morocco's numbers and the demo's currency."""
    settings = Settings(numbers={"countries": ["MA"]}, service={"currency": "MAD"})
    app = bureau.client.app
    mount(SimpleNamespace(app=app, gateway=bureau.gateway, settings=settings))
    return bureau


@pytest.mark.parametrize("key", ["sk_test", "sk_live"])
async def test_an_act_is_a_line_by_the_agents_key(agents, autojump_clock, key):
    answer = await agents.ask(ACT_PATH, ACT, key)
    line = next(each for each in agents.trail() if each.seq == answer["line"])
    assert (line.who, line.face, line.action) == (agents.key_ids[key], "api", "agent.send")
    assert (line.subject, line.organization_id) == (agents.key_ids[key], agents.organization_id)
    mode = key.removeprefix("sk_")
    assert line.after == {"run": "0011223344aabbcc", "call": 1, "mode": mode}


async def test_only_acts_that_tools_do_are_noted(agents, autojump_clock):
    before = len(agents.trail())
    for body in (
        {},
        {**ACT, "tool": "inbound"},
        {**ACT, "tool": "send\n"},
        {**ACT, "run": "22236123456"},
        {**ACT, "run": "0" * 17},
        {**ACT, "call": 0},
        {**ACT, "call": 1_000_001},
    ):
        await agents.ask(ACT_PATH, body, status=400)
    await agents.ask(ACT_PATH, ACT, "pk_live", status=403)
    await agents.ask(ACT_PATH, ACT, "sk_test_unknown", status=401)
    assert len(agents.trail()) == before


async def test_agents_cannot_fill_the_trail(agents, autojump_clock):
    for call in range(1, A_MINUTE_MAX + 1):
        await agents.ask(ACT_PATH, {**ACT, "call": call})
    refused = await agents.ask(ACT_PATH, ACT, status=429)
    assert refused["data"]["limit"] == "agent"
    await agents.ask(ACT_PATH, ACT, "sk_test")  # the limit is the key's


async def test_the_skill_is_that_of_this_service(agents, autojump_clock):
    page = await agents.client.get(SKILL_PATH)
    text = (await page.get_data()).decode()
    assert page.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "Moroccan" in text or "Morocco" in text
    assert "+222" not in text
    llms = (await (await agents.client.get(LLMS_PATH)).get_data()).decode()
    for place in re.findall(r"\]\((/[^)]+)\)", llms):
        answer = await agents.client.get(place)
        assert answer.status_code == 200, place


def test_a_tool_is_a_request_of_the_api():
    """Its members are the API's own: both take and answer what the document says."""
    made = document()
    for tool in TOOLS:
        operation = made["paths"][tool.path]["post"]
        body, answer = (
            skill.resolved(made, of["content"]["application/json"]["schema"])
            for of in (operation["requestBody"], operation["responses"]["200"])
        )
        assert set(tool.takes) <= set(body["properties"]), tool.name
        assert set(body.get("required", ())) <= set(tool.required) <= set(tool.takes), tool.name
        assert set(tool.shows) <= set(answer["properties"]), tool.name
        assert "body" not in tool.shows, "texts may be what somebody else wrote"
    assert not any(tool.path.startswith(("/api/inbound", "/api/conv")) for tool in TOOLS)


def test_the_page_of_the_documents_is_made_of_the_document(pytestconfig):
    page = pytestconfig.rootpath / "docs/reference/skill.md"
    assert page.read_text("utf-8") == skill.skill(document()), "make generated"
