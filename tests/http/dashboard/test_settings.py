"""The settings' page."""

from risala.engine.model.callers import Role
from risala.engine.model.errors import EditConflict, Invalid
from web_people import RefusesTheChange

SETTINGS = "/app/org_1/settings"


async def test_settings_are_shown_and_saved(owner, gateway):
    page = await owner.get(SETTINGS)
    assert 'value="Baraka Market"' in page.text
    assert 'value="5000.00"' in page.text
    assert "9,000.00" in page.text
    fields = {"name": "Baraka", "time_zone": "Africa/Dakar", "owner_spend_cap": ""}
    fields |= {"lean_answers": "yes", "key_age_days": "٩٠"}
    page = await owner.submit(page, SETTINGS, fields)
    assert page.location == SETTINGS
    told = {
        "organization_id": "org_1",
        "name": "Baraka",
        "time_zone": "Africa/Dakar",
        "smart_encoding": False,
        "lean_answers": True,
        "factor_required": False,
        "key_age_days": 90,
        "owner_spend_cap": None,
        "version": 7,
    }
    assert gateway.done[-1] == ("org.set", told)


async def test_a_refused_form_keeps_what_was_typed(owner, gateway):
    page = await owner.get(SETTINGS)
    error = Invalid("time_zone", "invalid_time_zone", "No such zone.")
    gateway.perform = RefusesTheChange(gateway.perform, error)
    fields = {"name": "<b>", "time_zone": "Mars", "smart_encoding": "yes"}
    page = await owner.submit(page, SETTINGS, fields)
    assert page.status == 422
    assert 'value="&lt;b&gt;"' in page.text
    assert 'value="Mars"' in page.text
    assert "This time zone is unknown" in page.text


async def test_what_somebody_else_saved_is_shown_before_it_is_overwritten(owner, gateway):
    page = await owner.get(SETTINGS)
    assert page.field("version") == "7"
    others = {"name": "Baraka <i>", "timeZone": "Africa/Dakar", "version": 9}
    gateway.organization = {**gateway.organization, **others}
    gateway.perform = RefusesTheChange(gateway.perform, EditConflict("sidi@baraka.example"))
    fields = {"name": "Mine", "time_zone": "Africa/Dakar", "owner_spend_cap": "5 000"}
    page = await owner.submit(page, SETTINGS, {**fields, "smart_encoding": "yes"})
    assert page.status == 422
    assert "sidi@baraka.example</bdi> changed this meanwhile." in page.text
    stands = page.text.partition("Present values")[2].partition("</section>")[0]
    assert "Baraka &lt;i&gt;" in stands
    # What is the same is not told.
    assert "Africa/Dakar" not in stands
    assert "5,000.00" not in stands
    assert 'value="Mine"' in page.text
    assert page.field("version") == "9"


async def test_a_form_refused_for_something_else_keeps_its_version(owner, gateway):
    page = await owner.get(SETTINGS)
    gateway.organization = {**gateway.organization, "version": 9}
    error = Invalid("name", "invalid_name", "No.")
    gateway.perform = RefusesTheChange(gateway.perform, error)
    page = await owner.submit(page, SETTINGS, {"name": ""})
    assert page.status == 422
    assert page.field("version") == "7"


async def test_only_owners_find_it(reader_as):
    reader = reader_as(Role.DEVELOPER)
    assert (await reader.get(SETTINGS)).status == 403
    assert SETTINGS not in (await reader.get("/app/org_1/keys")).text


async def test_where_nobody_pays_no_page_is_about_money(owner, gateway):
    gateway.is_self_paid = True
    page = await owner.get(SETTINGS)
    assert "owner_spend_cap" not in page.text
    assert "/app/org_1/billing" not in page.text
    assert "Parts today" in page.text
    assert (await owner.get("/app/org_1/billing")).status == 404
