"""Where nothing can say whether an organization is entered by its provider alone, nobody enters."""

from __future__ import annotations

import pytest

from risala.engine.model import features as declarations
from risala.engine.model.people import SessionKind


async def test_without_the_feature_no_member_enters(town, autojump_clock, monkeypatch):
    owner = await town.sign_in("fatima@baraka.example")
    made = await town.as_user("org.found", owner, name="Baraka")
    session = town.people.sessions.find(owner.token, SessionKind.CUSTOMER)
    assert town.people.sessions.caller(session, made["id"]).organization_id == made["id"]
    others = tuple(each for each in declarations.features() if each.name != "providers")
    monkeypatch.setattr(declarations, "features", lambda: others)
    with pytest.raises(LookupError):
        town.people.sessions.caller(session, made["id"])
