"""The settings' page."""

from risala.engine.model.callers import Role
from risala.engine.model.errors import Invalid

SETTINGS = "/app/org_1/settings"


async def test_settings_are_shown_and_saved(owner, gateway):
    page = await owner.get(SETTINGS)
    assert 'value="Baraka Market"' in page.text
    assert 'value="5000.00"' in page.text
    assert "9,000.00" in page.text
    fields = {"name": "Baraka", "time_zone": "Africa/Dakar", "owner_spend_cap": ""}
    page = await owner.submit(page, SETTINGS, fields)
    assert page.location == SETTINGS
    told = {
        "organization_id": "org_1",
        "name": "Baraka",
        "time_zone": "Africa/Dakar",
        "smart_encoding": False,
        "owner_spend_cap": None,
    }
    assert gateway.done[-1] == ("org.set", told)


async def test_a_refused_form_keeps_what_was_typed(owner, gateway):
    page = await owner.get(SETTINGS)
    gateway.refuse = Invalid("time_zone", "invalid_time_zone", "No such zone.")
    fields = {"name": "<b>", "time_zone": "Mars", "smart_encoding": "yes"}
    page = await owner.submit(page, SETTINGS, fields)
    assert page.status == 422
    assert 'value="&lt;b&gt;"' in page.text
    assert 'value="Mars"' in page.text
    assert "This is no time zone that we know" in page.text


async def test_only_owners_find_it(reader_as):
    reader = reader_as(Role.DEVELOPER)
    assert (await reader.get(SETTINGS)).status == 403
    assert SETTINGS not in (await reader.get("/app/org_1/keys")).text
