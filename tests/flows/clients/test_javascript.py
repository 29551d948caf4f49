"""The JavaScript module in Node: its own tests, and before a service whose answers get lost."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from patience import HANG_S
from processes import environment

pytestmark = pytest.mark.slow

MODULE = Path(__file__).parents[3] / "clients/javascript"
NODES = [each for each in [shutil.which("node")] if each]
"""Node where it is; `make peers` gets it, and says when it could not."""
TO = "+22236123456"
COUNT = 30
SENDS = """
import { Risala, RisalaError } from %(module)s;
const [url, key, ...others] = process.argv.slice(-4);
const [count, options] = others.map((each) => JSON.parse(each));
const risala = new Risala(url, key, options);
await Promise.all(Array.from({ length: count }, (_, n) =>
  risala.sendMessage("+22236123456", `JavaScript ${n}`).then(
    (sent) => console.log(JSON.stringify(sent)),
    (error) => {
      if (!(error instanceof RisalaError)) throw error;
      const { name, isMaybeDone, idempotencyKey } = error;
      console.log(JSON.stringify({ name, isMaybeDone, idempotencyKey }));
    })));
"""
PATIENT = {"deadlineMs": 600_000, "attemptMs": 2_000, "firstWaitMs": 10, "waitMaxMs": 50}
ONCE = PATIENT | {"firstWaitMs": 1e12, "waitMaxMs": 1e12}


def node(*arguments: str) -> str:
    done = subprocess.run(
        ["node", *arguments],
        cwd=MODULE,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sends(url: str, key: str, count: int, options: dict) -> list[dict]:
    program = SENDS % {"module": json.dumps((MODULE / "risala.js").as_uri())}
    told = (url, key, json.dumps(count), json.dumps(options))
    said = node("--input-type=module", "-e", program, "--", *told)
    return [json.loads(line) for line in said.splitlines()]


def accepted(service, account) -> tuple[int, int]:
    mine = account.organization_id
    ((messages,),) = service.rows("SELECT count(*) FROM messages WHERE organization_id = ?", mine)
    query = "SELECT count(*) FROM ledger WHERE organization_id = ? AND kind = 'charge'"
    ((charges,),) = service.rows(query, mine)
    return messages, charges


@pytest.mark.parametrize("_", NODES)
def test_its_own_tests_pass(_):
    assert re.search(r"^# fail 0$", node("--test", "--test-reporter=tap"), re.M)


@pytest.mark.long
@pytest.mark.parametrize("_", NODES)
def test_every_message_is_sent_and_charged_once(shared_service, faulty, all_faults, _):
    account = shared_service.organization()
    proxy = faulty()
    results = sends(proxy.url, account.secret_key, COUNT, PATIENT)
    assert all(each.get("accepted") for each in results), results
    assert len({each["messageId"] for each in results}) == COUNT
    assert accepted(shared_service, account) == (COUNT, COUNT)
    assert {*proxy.counted} == {*all_faults}


@pytest.mark.long
@pytest.mark.parametrize("_", NODES)
def test_what_ends_in_an_error_can_be_sent_again_with_its_key(shared_service, faulty, _):
    account = shared_service.organization()
    results = sends(faulty().url, account.secret_key, COUNT, ONCE)
    errors = [each for each in results if "name" in each]
    maybe = [each for each in errors if each["isMaybeDone"]]
    sent, _ = accepted(shared_service, account)
    assert len(results) == COUNT
    assert COUNT - len(errors) < sent <= COUNT - len(errors) + len(maybe)
    for error in errors:
        again = {"body": "again", "idempotencyKey": error["idempotencyKey"]}
        assert shared_service.send(account, **again).status_code == 200
    assert accepted(shared_service, account) == (COUNT, COUNT)


@pytest.mark.long
@pytest.mark.parametrize("_", NODES)
def test_a_deadline_ends_a_call_whatever_comes(shared_service, faulty, _):
    account = shared_service.organization()
    hasty = {"deadlineMs": 500, "attemptMs": 200, "firstWaitMs": 10}
    for fault in ("hold", "drip", "full", "close"):
        [error] = sends(faulty([fault]).url, account.secret_key, 1, hasty)
        assert error["idempotencyKey"]


@pytest.mark.long
def test_the_books_agree_after_all_that(shared_service):
    shared_service.wait_settled()
    shared_service.assert_books_agree()


def test_the_types_name_what_the_module_has():
    code, types = ((MODULE / f"risala.{ending}").read_text() for ending in ("js", "d.ts"))
    exported = r"^export (?:declare )?(?:const|class|async function|function) (\w+)"
    assert {*re.findall(exported, code, re.M)} == {*re.findall(exported, types, re.M)}
    parents = r"^export class (\w+) extends (\w+)"
    assert {*re.findall(parents, code, re.M)} == {*re.findall(parents, types, re.M)}
    methods = r"^  (?:async )?\*?([a-z]\w+)\("
    assert {*re.findall(methods, code, re.M)} == {*re.findall(methods, types, re.M)}


def test_its_version_is_the_packages():
    told = json.loads((MODULE / "package.json").read_text())
    assert f'export const VERSION = "{told["version"]}";' in (MODULE / "risala.js").read_text()


def test_the_page_names_all_that_the_module_has():
    """Every export, call and option, and the tree of errors as it is."""
    code = (MODULE / "risala.js").read_text()
    page = (MODULE.parents[1] / "docs/reference/javascript-client.md").read_text()
    names = re.findall(r"^export (?:const|class) (\w+)", code, re.M)
    calls = re.findall(r"^  (?:async )?\*?([a-z]\w+)\(", code, re.M)
    options = re.findall(r"^  (\w+): [\d_]+,$", code, re.M)
    named = {*re.findall(r"\w+", page)}
    assert len(options) == 5
    assert {*names, *calls, *options} - named - {"constructor"} == set()
    parents = dict(re.findall(r"^export class (\w+) extends (\w+Error)", code, re.M))
    above: dict[int, str] = {}
    for line, name in re.findall(r"^([│├└─ ]*)(\w+Error)$", page, re.M):
        above[len(line) // 4] = name
        if line:
            assert parents.pop(name) == above[len(line) // 4 - 1]
    assert parents == {}
