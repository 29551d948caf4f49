"""The log of requests by command, beside a service and without one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner

from risala.cli.main import cli
from risala.config.kinds import RequestLogSection
from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.features.request_log.service import RequestLog
from risala.engine.features.request_log.stored import RequestRepository
from risala.engine.model.clock import SystemClock
from risala.engine.model.commands import NotedRequest, Principal
from risala.engine.model.ids import IdSource
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode

BODY = b'{"to":"+22236123456","body":"the text"}'


def written(data_dir: Path, organization_id: str, *statuses: int) -> list[str]:
    """Requests with these answers, as a service would have logged them; their ids."""

    async def write() -> list[str]:
        clock = SystemClock()
        stored, ids = RequestRepository(data_dir, inline=True), IdSource(clock)
        log = RequestLog(RequestLogSection(), stored, clock, SetAsideItems().loop("log"))
        principal = Principal(organization_id, "key_1", KeyType.SECRET, Mode.LIVE)
        made = []
        for status in statuses:
            made.append(ids.new("req"))
            log.note(
                NotedRequest(
                    principal, made[-1], "POST", "/api/sms", status, 0.0123, "203.0.113.7", BODY,
                    b'{"messageId":"sms_1"}',
                )
            )  # fmt: skip
        await log.close()
        return made

    return trio.run(write)


@pytest.mark.slow
def test_pages_of_requests_and_one(tmp_path: Path):
    data_dir = tmp_path / "data"

    def run(*arguments: str, ends: int = 0):
        done = CliRunner().invoke(cli, (*arguments, "--data", str(data_dir)), prog_name="risala")
        assert done.exit_code == ends, done.output
        return done

    run("org", "create", "Shop")
    assert "There are no such requests." in run("log").stdout
    organization_id = json.loads(run("org", "list", "--json").stdout)["organizations"][0]["id"]
    made = written(data_dir, organization_id, 200, 400, 429, 200)
    told = run("log", "--limit", "3")
    assert len(told.stdout.splitlines()) == 4
    assert "203.0.113.7" in told.stdout
    cursor = told.stderr.split("--before ")[1].split(".")[0]
    assert len(run("log", "--before", cursor).stdout.splitlines()) == 2
    assert run("log", "--status", "4xx").stdout.count("req_") == 2
    assert run("log", "--path", "/api/sms/get").stdout.count("req_") == 0
    assert run("log", "--made", "sms_1").stdout.count("req_") == 2
    one = run("log", made[1]).stdout
    assert "…3456" in one
    assert "‹8›" in one
    assert "the text" not in one
    assert "no such request" in run("log", "req_" + "0" * 32, ends=1).stderr
    assert "not in the log yet" in run("log", IdSource(SystemClock()).new("req"), ends=1).stderr
    assert "not running" in run("log", "--follow", ends=1).stderr
    assert "`status` must be" in run("log", "--status", "odd", ends=1).stderr
