"""Choosing, founding, joining."""

from risala.engine.model.callers import Role
from risala.engine.model.errors import Forbidden, Invalid
from risala.engine.model.people import ReachableOrganization
from web_people import invitation, user


async def test_the_root_leads_to_the_organizations(stranger):
    assert (await stranger.get("/")).location == "/app"


async def test_who_has_one_goes_straight_to_it(owner):
    assert (await owner.get("/app")).location == "/app/org_1/"
    assert (await owner.get("/app/org_1/")).location == "/app/org_1/overview"
    assert (await owner.get("/app/org_1?mode=test")).location == "/app/org_1/overview?mode=test"
    assert (await owner.get("/app?new")).status == 200


async def test_who_has_none_founds_one(reader_as, gateway):
    reader = reader_as(None)
    form = await reader.get("/app")
    assert "Create your organization" in form.text
    page = await reader.submit(form, "/app", {"name": "Clinique Nasr"})
    assert page.location == "/app/org_1/start"
    assert ("org.found", {"name": "Clinique Nasr"}) in gateway.done
    page = await reader.submit(form, "/app", {"name": "Clinique Nasr"})
    assert page.location == "/app/org_1/start"
    assert [name for name, _ in gateway.done].count("org.found") == 1


async def test_a_name_that_cannot_be(reader_as, gateway, monkeypatch):
    reader = reader_as(None)
    form = await reader.get("/app")
    perform = gateway.perform

    async def refuse(name, arguments, caller):
        if name == "org.found":
            raise Invalid("name", "missing", "`name` is required.")
        return await perform(name, arguments, caller)

    monkeypatch.setattr(gateway, "perform", refuse)
    page = await reader.submit(form, "/app", {"name": ""})
    assert page.status == 422
    assert "Fill this in." in page.text


async def test_invitations(owner, gateway):
    gateway.invitations = [invitation(organizationName="<b>Nasr</b>")]
    page = await owner.get("/app")
    assert "&lt;b&gt;Nasr&lt;/b&gt;" in page.text
    accepted = await owner.submit(page, "/app/invitations/inv_1/accept")
    assert accepted.location == "/app/org_1/"
    declined = await owner.submit(page, "/app/invitations/inv_1/decline")
    assert declined.location == "/app"
    assert ("account.decline", {"invitation_id": "inv_1"}) in gateway.done


async def test_who_is_invited_and_has_none_reads_of_the_invitation_first(reader_as, gateway):
    gateway.invitations = [invitation(organizationName="Clinique Nasr")]
    reader = reader_as(None)
    page = await reader.get("/app")
    assert "<h1>You are invited</h1>" in page.text
    [main] = [text for text in page.text.split("<button")[1:] if "main-act" in text.split(">")[0]]
    assert main.startswith(' class="btn main-act">Join</button>')
    founded = await reader.submit(page, "/app", {"name": "Baraka"})
    assert founded.location == "/app/org_1/start"


async def test_a_suspended_organization_is_told_so(stranger, gateway):
    place = ReachableOrganization("org_1", "Baraka Market", "suspended", Role.OWNER)
    stranger.cookies["risala"] = gateway.people.enter(user(), place)
    reader = stranger
    page = await reader.get("/app/org_1/keys")
    assert "This organization is suspended." in page.text
    gateway.refuse = Forbidden("The organization is suspended.")
    page = await reader.submit(page, "/app/org_1/keys/key_1/disable")
    assert page.status == 403
    assert "nothing can be changed" in page.text
