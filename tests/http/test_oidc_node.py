"""Sign-in at node-oidc-provider, a certified identity provider that we did not write.

Needs node and npm; `oidc_node/` has the lock. Without them the test is skipped, and says so.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx2
import pytest
import trio

from npm import npm_installed
from patience import HANG_S
from risala.config.model import (
    CarrierSection,
    PeopleSection,
    Settings,
    StorageSection,
    WebhooksSection,
)
from risala.config.people import OidcSection
from risala.engine.features.providers.records import CONSOLE, ORGANIZATIONS
from risala.engine.gateway.gateway import Gateway
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.rules.webhooks.url import AddressRules
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import system_seams
from risala.engine.wiring.gateway import open_gateway
from risala.http.dashboard.app import create_dashboard
from risala.http.operator.app import create_console
from risala.http.outbound.client import open_outbound
from risala.plugins.testing.fake_driver import FakeDriver
from web_browser import HOST, Reader

NODE: Final = Path(__file__).parent / "oidc_node"
MACHINE: Final = Caller("amina", CallerKind.CLI, Role.OPERATOR)
START: Final = "/operator/sign-in/oidc"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def node_provider() -> None:
    """As the lock has it, installed once however many run the tests."""
    npm_installed(NODE, "node-oidc-provider")


@asynccontextmanager
async def provider(*starts: str) -> AsyncIterator[str]:
    """Its issuer, while it runs.

    Args:
        starts: the ways to it, which it sends browsers back to.
    """
    backs = [f"http://{HOST}{start}/callback" for start in starts]
    command = ["node", str(NODE / "provider.mjs"), *backs]
    async with trio.open_nursery() as nursery:
        run = partial(trio.run_process, command, stdout=subprocess.PIPE, check=False)
        process = await nursery.start(run)
        with trio.fail_after(HANG_S):
            said = b""
            while not said.endswith(b"\n"):
                said += await process.stdout.receive_some()
        yield said.decode().strip()
        nursery.cancel_scope.cancel()


async def at_the_provider(url: str, *, stop: bool = False) -> str:
    """Sign in on its pages as `omar`, or stop; returns where it sends the browser back to."""
    async with httpx2.AsyncClient(timeout=HANG_S) as client:
        answer = await client.get(url)
        for _ in range(10):
            if answer.is_redirect:
                target = answer.headers["location"]
                if urlsplit(target).netloc == HOST:
                    return target
                answer = await client.get(answer.url.join(target))
                continue
            assert answer.status_code == 200, answer.text
            if stop:
                link = re.search(r'href="([^"]+/abort)"', answer.text)[1]
                answer = await client.get(answer.url.join(link))
                continue
            action = re.search(r'action="([^"]+)"', answer.text)[1]
            prompt = re.search(r'name="prompt" value="([^"]+)"', answer.text)[1]
            fields = {"prompt": prompt, "login": "omar", "password": "x"}
            answer = await client.post(answer.url.join(action), data=fields)
    raise AssertionError(answer.text)


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


async def organization_in(data: Path) -> str:
    """An organization that was made before the provider has to know its way."""
    seams = replace(system_seams(), watch_loop=False)
    async with open_gateway(Settings(storage=StorageSection(data_dir=data)), seams) as gateway:
        made = await gateway.perform("org.create", {"name": "Staff"}, MACHINE)
        return str(made["id"])


async def a_member_signs_in(gateway: Gateway, settings: Settings, issuer: str, org: str) -> None:
    """At the organization's own provider, which is the same here."""
    told = {
        "organization_id": org,
        "issuer": issuer,
        "client_id": "risala",
        "client_secret": "a secret: +/%",
        "domains": ["risala.example"],
        "developers": ["staff"],
    }
    await gateway.perform("provider.set", told, MACHINE)
    asked = {"organization_id": org, "domain": "risala.example"}
    await gateway.perform("provider.confirm", asked, MACHINE)
    reader = Reader(create_dashboard(gateway, settings, shutdown=trio.Event()))
    start = f"/sign-in/oidc/{org}"
    url = (await reader.get(f"{start}?next=/app/{org}/members")).location
    back = path_of(await at_the_provider(url))
    page = await reader.get(back)
    assert page.location == f"/app/{org}/members", page.text
    assert "omar@risala.example" in (await reader.get(page.location)).text
    assert (await reader.get(back)).status == 403
    found = await gateway.perform("member.list", {"organization_id": org}, MACHINE)
    assert [each["role"] for each in found["members"]] == ["developer"]


async def test_operators_and_members_sign_in_show_it_again_and_stop(node_provider, tmp_path):
    org = await organization_in(tmp_path)
    ways = (START, f"/sign-in/oidc/{org}")
    rules = AddressRules(allow_insecure=True)
    async with provider(*ways) as issuer, open_outbound(rules, 8) as client:
        section = OidcSection(issuer=issuer, client_id="risala", domains=("risala.example",))
        settings = Settings(
            storage=StorageSection(data_dir=tmp_path),
            people=PeopleSection(oidc=section),
            webhooks=WebhooksSection(allow_insecure=True),
        )
        seams = replace(system_seams(), watch_loop=False)
        outside = Connections(
            fetches={CONSOLE: client, ORGANIZATIONS: client},
            url=f"http://{HOST}",
            secrets={CONSOLE: "a secret: +/%"},
            console_url=f"http://{HOST}",
        )
        carrier = CarrierSection(name="fake", driver="fake")
        async with open_engine(
            settings, (carrier,), {"fake": FakeDriver()}, seams, outside
        ) as engine:
            made = {"email": "omar@risala.example", "operator": True}
            await engine.gateway.perform("user.create", made, MACHINE)
            reader = Reader(create_console(engine.gateway, settings, shutdown=trio.Event()))
            url = (await reader.get(START)).location
            # Its code works once, and a browser that did not begin has nothing of it.
            back = path_of(await at_the_provider(url))
            page = await reader.get(back)
            assert (page.status, page.location) == (303, "/operator/overview"), page.text
            assert (await reader.get("/operator/overview")).status == 200
            assert (await reader.get(back)).status == 403
            url = (await reader.get(f"{START}?fresh=1&next=/operator/overview")).location
            page = await reader.get(path_of(await at_the_provider(url)))
            assert page.location == "/operator/overview", page.text
            other = Reader(reader.app)
            url = (await other.get(START)).location
            page = await other.get(path_of(await at_the_provider(url, stop=True)))
            assert "You stopped the sign-in there." in page.text
            await a_member_signs_in(engine.gateway, settings, issuer, org)
