"""Each feature that no other needs is taken out of a copy of the source, one at a time: the service
opens a database of all features without it, starts, sends, shows its pages, and is examined."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path

import httpx2
import pytest
from tests.flows.conftest import Account, Premises, Service

from patience import HANG_S
from processes import run
from risala.engine.model.features import NAMES, Declared, Feature, features

pytestmark = [pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).parents[2]
LEAVES = frozenset(NAMES) - {each for feature in features() for each in feature.needs}
GOES = (
    *("answering", "approvals", "challenges", "channels", "code_figures", "compat"),
    *("fixed_numbers", "handbook", "hooks", "hops", "overview", "own_data"),
    *("conversations", "opt_out_words", "payments", "pumping", "reverse", "search"),
    *("alarms", "repeats", "session_details", "sinks", "standby", "invoices", "agents"),
)
"""Those that can be taken out: this list only grows, until it has all of :data:`LEAVES`."""
PROGRAM = "import sys; sys.argv[0] = 'risala'; from risala.__main__ import main; main()"
OF_OWNERS = (
    "overview",
    "messages",
    "messages/new",
    "keys",
    "billing",
    "members",
    "settings",
    "inbound",
)
OF_OPERATORS = ("overview", "organizations", "users", "audit", "system", "account")

OWNER, OPERATOR = "owner@demo.example", "operator@demo.example"


def command_of(tree: Path | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """``risala`` of a tree, in a process of its own; None: of the whole one."""
    if tree is None:
        return (sys.executable, "-m", "risala"), {}
    return (sys.executable, "-c", PROGRAM), {"PYTHONPATH": str(tree)}


def served(premises: Premises, data: str, tree: Path | None) -> Service:
    service = premises.service("--demo", data=data)
    service.program, service.environment = command_of(tree)
    service.start()
    assert service.process is not None
    service.process.wait_line(lambda line: line.startswith("Stop with"))
    return service


def account_of(service: Service) -> Account:
    facts = json.loads((service.data / "demo.json").read_text(encoding="utf-8"))
    return Account(facts["organization_id"], facts["secret_key"], "")


def sign_in(service: Service, email: str, *, operator: bool) -> dict[str, str]:
    """The cookies of somebody who came by a link."""
    token = service.perform("user.sign_in", email=email, operator=operator)["token"]
    path = f"{'/operator' if operator else ''}/sign-in/link/{token}"
    with httpx2.Client(base_url=service.url, trust_env=False, timeout=HANG_S) as browser:
        page = browser.get(path)
        mark = re.search(r'name="form_token" value="([^"]+)"', page.text)
        assert mark is not None
        assert browser.post(path, data={"form_token": mark[1]}).status_code == 303
        return dict(browser.cookies)


def fill(service: Service, whose: dict[str, str]) -> None:
    """Something of each feature."""
    service.perform("credential.create", face="kannel", username="shop", **whose)
    service.perform("hook.create", preset="logto", **whose)
    people = service.perform("list.create", name="Parents", **whose)["list"]["id"]
    daily = {"unit": "days", "time": "10:00"}
    service.perform("repeat.create", name="News", list_id=people, text="Salam", **daily, **whose)
    room = {"name": "Cold room", "people": ["+22236123456"], **whose}
    chain = service.perform("alarm.create", **room)["chainId"]
    service.perform("alarm.raise", chain_id=chain, text="Warm", mode="test")
    service.perform("text.create", name="News", language="fr", text="Bonjour", **whose)
    service.perform("mailing.create", numbers="+22236123456", text="Bonjour", **whose)
    service.perform("payment.begin", method="bankily", amount="5", **whose)
    service.perform("export.ask", **whose)
    service.perform("verify.templates", name="short", text="Code: {{code}}", **whose)
    service.perform("verify.channels", addresses=True, **whose)
    service.perform("verify.guard", secret_share=20, **whose)
    service.perform("invoice.customer", tax_id="77", **whose)
    service.perform("opt_outs.words", sets="fr", **whose)
    service.perform("opt_outs.demand", prefix="+2223", confirmation="required")
    service.perform("fixed_number.set", number="+22236999998", code="424242", days=30, **whose)
    service.perform("number.forget", number="+22236999999", **whose)


def fill_by_hand(database: Path) -> None:
    """What only a passkey, a second operator, another Risala or a called carrier would make."""
    with closing(sqlite3.connect(database)) as conn, conn:
        (user,) = conn.execute("SELECT id FROM users WHERE operator = 0").fetchone()
        conn.execute(
            "INSERT INTO factors VALUES ('fac_1', ?, 'passkey', 'Phone', 'risala.example', x'01',"
            " x'02', '', 0, 0, NULL)",
            (user,),
        )
        conn.execute("INSERT INTO recovery_codes VALUES (?, x'01', NULL)", (user,))
        conn.execute(
            "INSERT INTO approvals VALUES ('apr_1', 'topup', '{}', 5, NULL, '{}', 'root', 'root',"
            " 0, 4000000000000, 'pending', NULL, NULL, NULL)"
        )
        conn.execute("INSERT INTO message_hops VALUES (1, '0123456789abcdef')")
        conn.execute("INSERT INTO invoices VALUES (1, 'inv_1', 'A', 1, 'org_1', '2026-01', '{}')")
        conn.execute("INSERT INTO own_texts VALUES ('smsc', '1234', 0)")
        conn.execute("INSERT INTO own_answers VALUES (1, 'smsc', 0, '1234', 'Done.', '')")
        conn.execute(
            "INSERT INTO reverse_sessions VALUES ('ver_1', 'org_1', 'live', 0, 'inbound_sms', '1',"
            " 'a', 'Demo', NULL, x'01', NULL, NULL, NULL)"
        )
        conn.execute(
            "INSERT INTO conversations"
            " SELECT 'cnv_1', id, '+22236123456', 'mo_1', '', 'open', NULL, 0"
            " FROM organizations LIMIT 1"
        )
        conn.execute(
            "INSERT INTO answers (text_id, organization_id, number, kind, name, at)"
            " SELECT 'mo_1', id, '+22236123456', 'rule', 'Hours', 0 FROM organizations LIMIT 1"
        )
        conn.execute("INSERT INTO code_totals VALUES ('smsc', 'sms', 1, 1, 1, 1, 1)")
        conn.execute("INSERT INTO carrier_addresses VALUES ('smsc', x'01', 0, NULL, NULL)")


@dataclass(frozen=True)
class Lived:
    """A data directory with rows of all features, and who has signed in there."""

    data: Path
    owner: dict[str, str]
    operator: dict[str, str]
    """Cookies."""


@pytest.fixture(scope="module")
def lived(shared_premises: Premises) -> Lived:
    service = served(shared_premises, "whole", None)
    account = account_of(service)
    fill(service, {"organization_id": account.organization_id})
    owner = sign_in(service, OWNER, operator=False)
    operator = sign_in(service, OPERATOR, operator=True)
    assert service.stop() == 0
    database = service.data / "risala.db"
    fill_by_hand(database)
    with closing(sqlite3.connect(database)) as conn:
        for feature in features():
            if feature.name in LEAVES and feature.tables:
                counts = [
                    conn.execute(f"SELECT count(*) FROM {each}").fetchone()[0]
                    for each in feature.tables
                ]
                assert sum(counts), feature.name
    return Lived(service.data, owner, operator)


def without(name: str, place: Path) -> Path:
    """The source without a feature: its folder, what it names elsewhere, and its name."""
    tree = place / "tree"
    # With what is compiled already: to compile all of it again is most of the time of such a test.
    shutil.copytree(ROOT / "src", tree, ignore=shutil.ignore_patterns("*-pytest-*.pyc"))
    shutil.rmtree(tree / "risala/engine/features" / name)
    (feature,) = (each for each in features() if each.name == name)
    for module in {each.module for each in named_elsewhere(feature)}:
        (tree / module.replace(".", "/")).with_suffix(".py").unlink()
    names = tree / "risala/engine/model/features.py"
    text = names.read_text(encoding="utf-8")
    assert text.count(f'"{name}"') == 1
    names.write_text(re.sub(f'"{name}",? ?', "", text), encoding="utf-8")
    return tree


def pages_of(name: str) -> set[str]:
    """The paths of a feature's own pages."""
    (feature,) = (each for each in features() if each.name == name)
    return {
        route.path
        for table in (*feature.dashboard, *feature.console)
        for route in table()
        if route.method == "GET"
    }


def named_elsewhere(feature: Feature) -> list[Declared]:
    """What a feature names outside the engine."""
    return [
        each
        for field in fields(feature)
        for value in (getattr(feature, field.name),)
        for each in (
            value.values()
            if isinstance(value, dict)
            else value
            if isinstance(value, tuple)
            else (value,)
        )
        if isinstance(each, Declared) and not each.module.startswith("risala.engine.")
    ]


def errors_of(service: Service) -> str:
    assert service.process is not None
    return "\n".join(service.process.errors[-30:])


def look_around(service: Service, pages: list[str], cookies: dict[str, str]) -> None:
    """Open pages, and whatever they lead to: nothing leads to a page that is not there."""
    with httpx2.Client(
        base_url=service.url, cookies=cookies, trust_env=False, timeout=HANG_S
    ) as browser:
        links = dict.fromkeys(pages, "")
        for page in pages:
            shown = browser.get(page, follow_redirects=True)
            assert shown.status_code == 200, (page, shown.status_code, shown.text)
            for link in re.findall(r'href="(/(?:app|operator|account)[^"#?]*)', shown.text):
                links.setdefault(link, page)
        for link, page in links.items():
            found = browser.get(link).status_code
            assert found not in (404, 500), (found, link, page, errors_of(service))


@pytest.mark.parametrize("name", sorted(LEAVES))
def test_the_service_does_without(name: str, lived: Lived, premises: Premises, tmp_path: Path):
    if name not in GOES:
        pytest.skip("what names it is not declared by it yet")
    tree, gone = without(name, tmp_path), pages_of(name)
    shutil.copytree(lived.data, tmp_path / "data")
    service = served(premises, "data", tree)
    account = account_of(service)
    sent = service.send(account, body="Salam")
    assert sent.status_code == 200, sent.text
    service.wait_status(account, sent.json()["messageId"], "delivered")
    whole = f"/app/{account.organization_id}"
    owners = [f"{whole}/{each}" for each in OF_OWNERS if f"/app/<org>/{each}" not in gone]
    operators = [f"/operator/{each}" for each in OF_OPERATORS if f"/operator/{each}" not in gone]
    look_around(service, [*owners, "/app", "/account"], lived.owner)
    look_around(service, [*operators, "/operator"], lived.operator)
    service.assert_no_bug_logged()
    more = service.environment
    helped = run((*service.program, "--help"), tmp_path, **more)
    examined = service.command("doctor", more=more)
    assert helped.returncode == 0, helped.stderr
    assert not [each for each in examined.stderr.splitlines() if "Traceback" in each]
    assert examined.returncode == 0, examined.stdout + examined.stderr
    assert service.stop() == 0
