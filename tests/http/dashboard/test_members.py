"""The members' page."""

import pytest

from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.engine.model.times import iso
from web_people import AT_MS, invitation, member


@pytest.fixture(autouse=True)
def _people(gateway):
    gateway.members = {
        "usr_1": member(1, email="aicha@baraka.example", name="Aïcha", role="owner"),
        "usr_2": member(2, name="<script>alert(1)</script>"),
    }
    gateway.invitations = [invitation()]


async def test_who_is_there_and_who_is_awaited(owner):
    page = await owner.get("/app/org_1/members")
    assert page.status == 200
    assert "&lt;script&gt;alert(1)" in page.text
    assert "<script>alert" not in page.text
    assert "new@baraka.example" in page.text
    # Nobody takes the own role away, or the own membership, from here.
    assert "/members/usr_1/role" not in page.text
    assert "/app/org_1/leave" in page.text


async def test_an_invitation(owner, gateway):
    form = await owner.get("/app/org_1/members/invite")
    fields = {"email": "x@y.example", "role": "viewer"}
    page = await owner.submit(form, "/app/org_1/members", fields)
    assert (page.status, page.location) == (303, "/app/org_1/members")
    assert ("member.invite", {**fields, "organization_id": "org_1"}) in gateway.done
    page = await owner.submit(form, "/app/org_1/members", fields)
    assert page.status == 303
    assert [name for name, _ in gateway.done].count("member.invite") == 1


async def test_a_wrong_address_is_told_at_its_field(owner, gateway):
    form = await owner.get("/app/org_1/members/invite")
    gateway.refuse = Invalid("email", "invalid_email", "`email` is none.")
    page = await owner.submit(form, "/app/org_1/members", {"email": "<x>", "role": "viewer"})
    assert page.status == 422
    assert "This is not an e-mail address" in page.text
    assert 'value="&lt;x&gt;"' in page.text


async def test_a_role_is_changed_as_of_what_was_seen(owner, gateway):
    page = await owner.get("/app/org_1/members")
    fields = {"role": "owner", "version": "7"}
    page = await owner.submit(page, "/app/org_1/members/usr_2/role", fields)
    assert page.location == "/app/org_1/members"
    asked = {"user_id": "usr_2", "role": "owner", "version": 7, "organization_id": "org_1"}
    assert ("member.set_role", asked) in gateway.done


async def test_what_came_between_is_told(owner, gateway, monkeypatch):
    page = await owner.get("/app/org_1/members")
    perform = gateway.perform

    async def refused(name, arguments, caller):
        if name == "member.set_role":
            raise Conflict("An organization needs an owner. Make somebody else an owner first.")
        return await perform(name, arguments, caller)

    monkeypatch.setattr(gateway, "perform", refused)
    page = await owner.submit(page, "/app/org_1/members/usr_2/role", {"role": "viewer"})
    assert page.status == 422
    assert "An organization needs an owner" in page.text
    assert "new@baraka.example" in page.text


@pytest.mark.parametrize("action", ["role", "remove"])
async def test_who_is_no_member_is_not_there(owner, gateway, action):
    page = await owner.get("/app/org_1/members")
    gateway.refuse = NotFound("There is no such member.")
    page = await owner.submit(
        page, f"/app/org_1/members/usr_9/{action}", {"role": "viewer"}, drawn=False
    )
    assert page.status == 404


async def test_one_is_removed_after_a_question(owner, gateway):
    page = await owner.get("/app/org_1/members/usr_2/remove")
    assert "lose access" in page.text
    page = await owner.submit(page, "/app/org_1/members/usr_2/remove", {"version": "7"})
    assert page.location == "/app/org_1/members"
    asked = {"user_id": "usr_2", "version": 7, "organization_id": "org_1"}
    assert ("member.remove", asked) in gateway.done
    assert (await owner.get("/app/org_1/members/usr_9/remove")).status == 404


async def test_an_invitation_is_withdrawn(owner, gateway):
    page = await owner.get("/app/org_1/members")
    page = await owner.submit(page, "/app/org_1/members/invitations/inv_1/withdraw")
    assert page.location == "/app/org_1/members"
    asked = {"invitation_id": "inv_1", "organization_id": "org_1"}
    assert ("member.uninvite", asked) in gateway.done


@pytest.mark.parametrize("role", [Role.VIEWER, Role.DEVELOPER])
async def test_others_see_and_do_nothing(role, reader_as):
    page = await reader_as(role).get("/app/org_1/members")
    assert page.status == 200
    assert "/members/usr_2/remove" not in page.text
    assert "/members/invite" not in page.text


async def test_an_invitation_that_expired_stays_and_is_sent_again(owner, gateway):
    over = invitation() | {"id": "inv_2", "email": "old@baraka.example", "role": "viewer"}
    over["expiresAt"] = iso(AT_MS - 20 * 86_400_000)
    gateway.invitations.append(over)
    page = await owner.get("/app/org_1/members")
    assert "expired on" in page.text
    assert page.text.count(">Invite again<") == 1
    fields = {"email": "old@baraka.example", "role": "viewer"}
    again = await owner.submit(page, "/app/org_1/members", fields)
    assert again.status == 303
    assert ("member.invite", {**fields, "organization_id": "org_1"}) in gateway.done
