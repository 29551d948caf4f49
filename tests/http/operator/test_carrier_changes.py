"""The settings file read again from the console."""

from __future__ import annotations

import pytest

from risala.engine.model.errors import Conflict
from risala.engine.model.records.asks import Versioned
from risala.engine.model.records.carriers import rereading
from risala.engine.model.records.carriers.rereading import SettingsPreview
from risala.engine.model.records.record import from_json

PAGE = "/operator/carriers/changes"
FOUND = {
    "hash": "abc",
    "faults": [],
    "carriers": [
        {"carrier": "new", "kind": "added", "effect": "starts", "fields": []},
        {
            "carrier": "main",
            "kind": "changed",
            "effect": "restarts",
            "fields": [
                {"field": "smpp.host", "before": "a<b>", "after": "b", "is_secret": False},
                {"field": "smpp.password", "before": None, "after": None, "is_secret": True},
                {"field": "prefixes", "before": None, "after": ["+2223"], "is_secret": False},
            ],
        },
        {"carrier": "old", "kind": "removed", "effect": "leaves", "fields": []},
    ],
    "settings": [{"key": "log.level", "before": "info", "after": "debug"}],
    "need_restart": ["http.port"],
}
NOTHING = {**FOUND, "carriers": [], "settings": [], "need_restart": []}


class Preview:
    """A gateway whose settings file says this."""

    def __init__(self, gateway, found):
        self._gateway, self.found, self.applied = gateway, found, []

    def __getattr__(self, name):
        return getattr(self._gateway, name)

    async def ask(self, wanted, arguments, caller):
        if wanted == rereading.APPLY:
            if arguments["hash"] != self.found.hash:
                raise Conflict("The settings are others than those that were looked at.")
            self.applied.append(arguments)
        elif wanted != rereading.PREVIEW:
            return await self._gateway.ask(wanted, arguments, caller)
        return Versioned(self.found, None)


@pytest.fixture
def saying(post, operator):
    def made(found):
        gateway = Preview(post.gateway, from_json(SettingsPreview, found))
        object.__setattr__(operator.app.site, "gateway", gateway)
        return gateway

    return made


async def test_what_would_be_another_is_seen_before(operator, saying):
    gateway = saying(FOUND)
    page = await operator.get(PAGE)
    for text in ("new", "a&lt;b&gt;", "a secret, which has changed", "+2223"):
        assert text in page.text
    assert "reconnects with the new settings" in page.text
    assert "<code>http.port</code>" in page.text
    done = await operator.submit(page, PAGE, {"hash": "abc"})
    assert done.location == "/operator/carriers"
    assert gateway.applied == [{"hash": "abc"}]


async def test_another_file_since_then_is_looked_at_first(operator, saying):
    gateway = saying(FOUND)
    page = await operator.get(PAGE)
    refused = await operator.submit(page, PAGE, {"hash": "an older one"})
    assert refused.status == 422
    assert gateway.applied == []
    assert 'value="abc"' in refused.text


async def test_a_file_with_faults_is_not_gone_by(operator, saying):
    fault = {"key": "carriers.smpp", "text": "main: smpp.host is <missing>.", "source": "x"}
    saying({**NOTHING, "hash": None, "faults": [fault]})
    page = await operator.get(PAGE)
    assert "smpp.host is &lt;missing&gt;." in page.text
    assert "Use the file" not in page.text


async def test_nothing_is_another(operator, saying):
    saying(NOTHING)
    page = await operator.get(PAGE)
    assert "Nothing differs" in page.text
    assert "Use the file" not in page.text
