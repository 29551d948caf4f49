"""An agent's walk: all that it knows is the service's own ``/skill.md``; all that it uses are the
tools of ``risala mcp``, by the protocol's own client."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest
import trio
from click.testing import CliRunner
from mcp import Client, StdioServerParameters, stdio_client
from tests.flows.conftest import Account, Premises, Service

from patience import HANG_S
from processes import run
from risala.cli.commands.agents import mcp as command
from risala.cli.main import cli

pytestmark = pytest.mark.slow

TO = "+22236123400"
"""The last digits say that a test message is delivered."""


@dataclass
class Agent:
    """A client of ``risala mcp``, and all that it was told."""

    client: Client
    told: list[str]

    async def call(self, tool: str, **arguments: str) -> Any:
        """The answer of a tool."""
        with trio.fail_after(HANG_S):
            result = await self.client.call_tool(tool, arguments)
        text = result.content[0].text
        self.told.append(text)
        assert not result.is_error, text
        assert result.structured_content == json.loads(text)
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The sentence by which a call is refused."""
        with trio.fail_after(HANG_S):
            result = await self.client.call_tool(tool, arguments)
        self.told.append(result.content[0].text)
        assert result.is_error
        return result.content[0].text


@asynccontextmanager
async def agent(
    settings: dict[str, Any], url: str, key: str, errors: IO[str], *more: str
) -> AsyncIterator[Agent]:
    """What a person's agent does with the settings that the skill shows."""
    arguments = [url if each.startswith("http") else each for each in settings["args"]]
    assert settings["command"] == "risala"
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "risala", *arguments, *more],
        env=dict.fromkeys(settings["env"], key),
    )
    async with Client(stdio_client(server, errlog=errors)) as client:
        yield Agent(client, [str(client.server_info), str(client.instructions)])


def read_skill(service: Service) -> tuple[str, dict[str, Any]]:
    """The page, and the settings that it shows."""
    page = service.get("/skill.md")
    assert page.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "/skill.md" in service.get("/llms.txt").text
    blocks = re.findall(r"```json\n(.*?)```", page.text, re.DOTALL)
    (settings,) = (json.loads(each) for each in blocks if "mcpServers" in each)
    return page.text, settings["mcpServers"]["risala"]


def acts(service: Service, key_id: str) -> list[tuple[str, dict[str, Any]]]:
    """The lines of the audit trail by a key, the oldest first."""
    rows = service.rows(
        "SELECT action, after FROM audit_log WHERE who = ? AND face = 'api' ORDER BY seq", key_id
    )
    return [(action, json.loads(after)) for action, after in rows]


@pytest.fixture
def service(premises: Premises) -> Service:
    return premises.running(premises.simulator())


def of_tests(service: Service) -> Account:
    account = service.organization()
    key = service.key(account.organization_id, mode="test")
    return Account(account.organization_id, key["value"], key["key"]["id"])


async def test_an_agent_sends_verifies_and_counts(service, tmp_path):
    account = of_tests(service)
    skill, settings = read_skill(service)
    with (tmp_path / "errors").open("w+") as errors:
        async with agent(settings, service.url, account.secret_key, errors) as walker:
            sent = await walk(walker, skill)
            settled = partial(service.wait_status, account, sent, "delivered")
            await trio.to_thread.run_sync(settled)
            assert (await walker.call("status", messageId=sent))["status"] == "delivered"
        errors.seek(0)
        told = [*walker.told, errors.read()]
    lines = acts(service, account.key_id)
    assert [action for action, _ in lines][:5] == [
        *("agent.send", "agent.send", "agent.status", "agent.verify_start", "agent.verify_check"),
    ]
    assert {line["mode"] for _, line in lines} == {"test"}
    assert [line["call"] for _, line in lines] == list(range(1, len(lines) + 1))
    assert len({line["run"] for _, line in lines}) == 1
    assert [each for each in told if account.secret_key in each] == []
    service.assert_books_agree()


async def walk(walker: Agent, skill: str) -> str:
    """The id of the message that was sent."""
    listed = await walker.client.list_tools()
    names = re.findall(r"^\| `(\w+)` \| .* \| .* \| .* \|$", skill, re.MULTILINE)
    assert [tool.name for tool in listed.tools] == names
    sent = await walker.call("send", to=TO, body="Hello", idempotencyKey="hello-agent")
    again = await walker.call("send", to=TO, body="Hello", idempotencyKey="hello-agent")
    assert again["messageId"] == sent["messageId"]
    told = await walker.call("status", messageId=sent["messageId"])
    assert "body" not in told
    started = await walker.call("verify_start", to="+22236123457", locale="fr")
    entered = {"verificationId": started["verificationId"]}
    assert await walker.call("verify_check", **entered, code="000000") == {"status": "approved"}
    assert (await walker.call("verify_status", **entered))["status"] == "approved"
    figures = await walker.call("figures", since="2026-01-01T00:00:00Z", by="channel")
    assert figures["whole"]["asked"] == 1
    assert "no tool 'inbound'" in await walker.refused("inbound")
    assert "does not take 'sendAt'" in await walker.refused("send", to=TO, body="x", sendAt="now")
    assert "body is missing" in await walker.refused("send", to=TO)
    assert "is text" in await walker.refused("send", to=TO, body=7)
    assert "`to`" in await walker.refused("send", to="12", body="x")
    assert "(NOT_FOUND)" in await walker.refused("status", messageId="sms_1")
    return sent["messageId"]


async def test_a_live_run_ends_at_its_cap(service, tmp_path):
    account = service.organization()
    _, settings = read_skill(service)
    more = ("--live", "--messages", "2")
    with (tmp_path / "errors").open("w+") as errors:
        async with agent(settings, service.url, account.secret_key, errors, *more) as walker:
            assert "at most 2" in walker.told[1]
            sent = await walker.call("send", to=TO, body="One")
            await walker.call("verify_start", to=TO)
            assert "all that it may (2)" in await walker.refused("send", to=TO, body="Three")
            assert "all that it may (2)" in await walker.refused("verify_start", to=TO)
            assert (await walker.call("status", messageId=sent["messageId"]))["messageId"]
    assert service.rows("SELECT count(*) FROM messages") == [(2,)]
    assert [action for action, _ in acts(service, account.key_id)] == [
        *("agent.send", "agent.verify_start", "agent.status"),
    ]


async def test_without_its_line_in_the_trail_nothing_is_sent(service, tmp_path):
    """A service that is gone, and one that refuses the key."""
    account = of_tests(service)
    _, settings = read_skill(service)
    with (tmp_path / "errors").open("w+") as errors:
        async with agent(settings, service.url, "sk_test_" + "x" * 32, errors) as walker:
            assert "(UNAUTHORIZED)" in await walker.refused("send", to=TO, body="x")
        async with agent(settings, service.url, account.secret_key, errors) as walker:
            assert service.stop() == 0
            assert "Nothing was done" in await walker.refused("send", to=TO, body="x")


@pytest.mark.parametrize(
    ("key", "arguments", "sentence"),
    [
        ("", (), "There is no key."),
        ("sk_live_abc", (), "The key is a live one"),
        ("sk_test_abc", ("--live", "--messages", "3"), "The key is a test key."),
        ("pk_test_abc", (), "This is no secret key"),
        ("sk_test_abc", ("--live",), "belong together"),
        ("sk_live_abc", ("--messages", "3"), "belong together"),
        ("sk_test_abc", ("--url", "risala.example"), "begins with http"),
    ],
)
def test_a_key_that_is_not_for_the_run_is_refused(tmp_path, key, arguments, sentence):
    done = run((sys.executable, "-m", "risala", "mcp", *arguments), tmp_path, RISALA_KEY=key)
    assert done.returncode in (1, 2)
    assert sentence in done.stderr
    assert done.stdout == ""
    assert not key or key not in done.stderr


def test_without_the_library_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    done = CliRunner().invoke(cli, ["mcp"], env={"RISALA_KEY": "sk_test_abc"})
    assert (done.exit_code, done.stdout) == (1, "")
    assert 'pip install "risala[mcp]"' in done.stderr


def test_the_command_is_there_without_the_library():
    """`.ci/imports` imports each module where the library is not installed."""
    program = (
        "import sys; sys.modules.update(mcp=None, mcp_types=None);"
        "import risala.cli.commands.agents.speaking, risala.cli.commands.agents.asking"
    )
    done = run((sys.executable, "-c", program), Path.cwd())
    assert (done.returncode, done.stderr) == (0, "")
