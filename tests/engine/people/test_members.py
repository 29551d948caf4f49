"""Members: never without an owner, never undone unawares, and out means out."""

from __future__ import annotations

from string import Formatter

import pytest
import trio
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from cases import examples
from risala.engine.features.alerts.records import AlertKind
from risala.engine.features.alerts.words import catalogue
from risala.engine.journal.people import members, users
from risala.engine.limits.people import ALL_INVITATIONS_PER_HOUR, INVITATIONS_PER_HOUR
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.errors import Conflict, Forbidden, Invalid, NotFound, RateLimited
from risala.engine.model.people import Language, Membership, SessionKind, User
from risala.engine.model.people_records import MailKind
from risala.engine.model.records.people.members import Invitation
from risala.engine.people.letters import words_in

A, B, C = "a@example.com", "b@example.com", "c@example.com"
ROLES = (Role.OWNER, Role.DEVELOPER, Role.VIEWER)


async def shop_of(town, *others: tuple[str, str]):
    """An organization that A owns, and whoever else is in it; all of them signed in."""
    owner = await town.sign_in(A)
    shop = (await town.as_user("org.found", owner, name="Shop"))["id"]
    found = [owner]
    for email, role in others:
        await town.as_member("member.invite", owner, shop, email=email, role=role)
        member = await town.sign_in(email)
        (invitation,) = (await town.as_user("account.show", member))["invitations"]
        await town.as_user("account.accept", member, invitation_id=invitation["id"])
        found.append(member)
    return shop, *found


async def roles_in(town, shop: str) -> dict[str, str]:
    found = await town.do("member.list", organization_id=shop)
    return {each["email"]: each["role"] for each in found["members"]}


async def member_of(town, shop: str, email: str) -> dict:
    found = await town.do("member.list", organization_id=shop)
    return next(each for each in found["members"] if each["email"] == email)


async def test_who_makes_an_organization_owns_it(town, autojump_clock):
    shop, owner = await shop_of(town)
    assert await roles_in(town, shop) == {A: "owner"}
    session = town.people.sessions.find(owner.token, SessionKind.CUSTOMER)
    assert [(each.name, each.role) for each in session.places] == [("Shop", Role.OWNER)]
    caller = town.people.sessions.caller(session, shop)
    assert (caller.who, caller.face, caller.role) == (A, CallerKind.DASHBOARD, Role.OWNER)
    with pytest.raises(NotFound):
        town.people.sessions.caller(session, "org_other")


async def test_organizations_of_one_user_have_a_limit(town, autojump_clock, leap):
    owner = await town.sign_in(A)
    for number in range(5):
        await town.as_user("org.found", owner, name=f"Shop {number}")
    with pytest.raises(RateLimited) as refused:
        await town.as_user("org.found", owner, name="One more")
    assert refused.value.limit == "user"
    await leap(3600)
    for number in range(5):
        await town.as_user("org.found", owner, name=f"Stall {number}")
    await leap(3600)
    with pytest.raises(Conflict, match="at most 10"):
        await town.as_user("org.found", owner, name="One more")


async def test_an_invitation_is_for_its_address_alone_and_lasts_two_weeks(town, autojump_clock):
    shop, owner = await shop_of(town)
    invited = await town.as_member("member.invite", owner, shop, email=B, role="viewer")
    await trio.testing.wait_all_tasks_blocked()
    (mail,) = town.mails.to(B)
    assert "Shop" in mail.text
    assert "Shop" not in mail.subject  # a stranger's words are no subject of ours
    assert "https://sms.example/sign-in" in mail.text
    stranger = await town.sign_in(C)
    with pytest.raises(NotFound):
        await town.as_user("account.accept", stranger, invitation_id=invited["id"])
    guest = await town.sign_in(B)
    town.pass_s(14 * 86_400)
    guest = await town.sign_in(B)
    with pytest.raises(NotFound):
        await town.as_user("account.accept", guest, invitation_id=invited["id"])
    owner = await town.sign_in(A)
    (over,) = (await town.as_member("member.list", owner, shop))["invitations"]
    assert over["id"] == invited["id"]  # it is shown, and invites nobody
    again = await town.as_member("member.invite", owner, shop, email=B, role="developer")
    await town.as_user("account.decline", guest, invitation_id=again["id"])
    once_more = await town.as_member("member.invite", owner, shop, email=B, role="developer")
    await town.as_user("account.accept", guest, invitation_id=once_more["id"])
    assert await roles_in(town, shop) == {A: "owner", B: "developer"}
    with pytest.raises(Conflict, match="already"):
        await town.as_member("member.invite", owner, shop, email=B, role="viewer")


async def test_an_invitation_that_expired_is_kept_for_two_months(town, autojump_clock):
    """What tidies up passes it over until then."""
    shop, owner = await shop_of(town)
    invited = await town.as_member("member.invite", owner, shop, email=B, role="viewer")
    forget = town.gateway.services.repositories.sign_in.forget_over
    for days, left in ((30, [invited["id"]]), (60, [])):
        town.pass_s(days * 86_400)
        await forget(town.clock.now_ms())
        shown = await town.do("member.list", organization_id=shop)
        assert [each["id"] for each in shown["invitations"]] == left
        assert len(town.rows("SELECT id FROM invitations")) == len(left)


async def test_an_invitation_can_be_taken_back_and_sent_again(town, autojump_clock):
    shop, owner = await shop_of(town)
    first = await town.as_member("member.invite", owner, shop, email=B, role="viewer")
    second = await town.as_member("member.invite", owner, shop, email=B, role="owner")
    listed = (await town.as_member("member.list", owner, shop))["invitations"]
    assert [each["id"] for each in listed] == [second["id"]] != [first["id"]]
    await town.as_member("member.uninvite", owner, shop, invitation_id=second["id"])
    assert (await town.as_member("member.list", owner, shop))["invitations"] == []


async def test_nobody_floods_mailboxes_with_invitations(town, autojump_clock):
    """Neither by one organization, nor by many of one user, nor at one address from many."""
    shop, owner = await shop_of(town)

    async def invite(organization_id, email, by=owner):
        await town.as_member("member.invite", by, organization_id, email=email, role="viewer")

    for number in range(INVITATIONS_PER_HOUR):
        await invite(shop, f"person{number}@b.example")
    other = (await town.as_user("org.found", owner, name="Other"))["id"]
    with pytest.raises(RateLimited, match="You sent too many"):
        await invite(other, C)
    with pytest.raises(RateLimited, match="Your organization sent too many"):
        await town.do("member.invite", organization_id=shop, email=C, role="viewer")
    for number in range(10):
        made = await town.do("org.create", name=f"Shop {number}")
        await town.do("member.invite", organization_id=made["id"], email=B, role="viewer")
    third = (await town.do("org.create", name="Third"))["id"]
    for spelled in (B, B.upper()):
        with pytest.raises(RateLimited, match="to this e-mail address") as refused:
            await town.do("member.invite", organization_id=third, email=spelled, role="viewer")
        assert refused.value.limit == "address"
    await town.do("member.invite", organization_id=third, email=C, role="viewer")
    await trio.sleep(refused.value.retry_after_s)
    await invite(other, B)


async def test_many_accounts_make_no_mailing(town, autojump_clock):
    """A new organization for every invitation: all of them together are limited."""
    sent, refused = 0, []
    for number in range(ALL_INVITATIONS_PER_HOUR + 20):
        if number % INVITATIONS_PER_HOUR == 0:
            made = await town.do("org.create", name="Shop")
        given = {"email": f"person{number}@b.example", "role": "viewer"}
        try:
            await town.do("member.invite", organization_id=made["id"], **given)
        except RateLimited as error:
            refused.append(error.limit)
        else:
            sent += 1
    assert sent == ALL_INVITATIONS_PER_HOUR
    assert {*refused} == {"all"}


async def test_a_name_in_an_invitation_has_no_link(town, autojump_clock):
    for name in ("Win: https://evil.example", "evil.example"):
        with pytest.raises(Invalid) as wrong:
            await town.do("org.create", name=name)
        assert (wrong.value.path, wrong.value.code) == ("name", "unsafe_name")
    turned = await town.do("org.create", name="Bank\u202egro")
    assert turned["name"] == "Bankgro"
    shop, owner = await shop_of(town)
    with pytest.raises(Invalid):
        await town.as_user("account.set", owner, name="see evil.example")
    journal = town.gateway.services.recorder.journal
    old = "UPDATE organizations SET name = 'Win: https://evil.example' WHERE id = ?"
    await journal.commit(lambda conn: conn.execute(old, (shop,)) and None)
    await town.as_member("member.invite", owner, shop, email=B, role="viewer")
    await trio.testing.wait_all_tasks_blocked()
    (mail,) = town.mails.to(B)
    assert "evil" not in mail.subject + mail.text


@pytest.mark.parametrize(
    "name", ["Win: https://evil.example", "evil.example", "e\u202evil.example"]
)
async def test_a_name_has_no_link_wherever_one_is_given(town, autojump_clock, name):
    shop, owner = await shop_of(town)
    given = {"organization_id": shop, "name": name}
    calls = (
        town.do("org.create", name=name),
        town.do("org.set", **given),
        town.do("user.create", email=C, name=name),
        town.as_user("org.found", owner, name=name),
        town.as_user("account.set", owner, name=name),
        town.do("key.create", **given, type="secret", mode="test"),
        town.do("credential.create", **given, face="smpp"),
        town.do("sender.request", **given, description="Orders"),
    )
    for call in calls:
        with pytest.raises(Invalid) as wrong:
            await call
        assert wrong.value.path == "name", call
        assert wrong.value.code in ("unsafe_name", "invalid_sender"), wrong.value.code


@pytest.mark.parametrize("language", list(Language))
def test_the_subject_of_a_mail_holds_nothing_that_others_wrote(language):
    """Names and references are others'; an endpoint's id, amounts and our own titles are not."""
    ours = {"endpoint", "amount", "currency", "balance", "title", "line"}
    letters = [each for each in words_in(language).values() if "subject" in each]
    assert len(letters) == len(MailKind)
    for letter in letters:
        assert {hole for _, hole, _, _ in Formatter().parse(letter["subject"]) if hole} <= ours
    for kind in AlertKind:
        assert "{name}" not in catalogue(language)[kind.value]["title"]


async def test_an_invitation_is_taken_back_by_its_own_organization(town, autojump_clock):
    shop, owner = await shop_of(town)
    invited = await town.as_member("member.invite", owner, shop, email=B, role="viewer")
    stranger = await town.sign_in(C)
    other = (await town.as_user("org.found", stranger, name="Another"))["id"]
    with pytest.raises(NotFound):
        await town.as_member("member.uninvite", stranger, other, invitation_id=invited["id"])
    listed = (await town.as_member("member.list", owner, shop))["invitations"]
    assert [each["id"] for each in listed] == [invited["id"]]


async def test_only_owners_see_who_is_invited(town, autojump_clock):
    shop, owner, viewer = await shop_of(town, (B, "viewer"))
    await town.as_member("member.invite", owner, shop, email=C, role="viewer")
    found = await town.as_member("member.list", viewer, shop)
    assert len(found["members"]) == 2
    assert found["invitations"] == []
    with pytest.raises(Forbidden):
        await town.as_member("member.invite", viewer, shop, email=C, role="owner")


async def test_the_last_owner_cannot_go(town, autojump_clock):
    shop, owner, other = await shop_of(town, (B, "developer"))
    user_id = owner.session.user.id
    with pytest.raises(Conflict, match="needs an owner"):
        await town.as_user("account.leave", owner, organization_id=shop)
    with pytest.raises(Conflict, match="needs an owner"):
        await town.as_member("member.set_role", owner, shop, user_id=user_id, role="viewer")
    with pytest.raises(Conflict, match="needs an owner"):
        await town.do("member.remove", organization_id=shop, user_id=user_id)
    changed = {"user_id": other.session.user.id, "role": "owner"}
    await town.as_member("member.set_role", owner, shop, **changed)
    await town.as_user("account.leave", owner, organization_id=shop)
    assert await roles_in(town, shop) == {B: "owner"}


async def test_two_owners_cannot_remove_each_other_at_once(town, autojump_clock):
    """Both were let pass when they were owners; the second finds that it is none any more."""
    shop, first, second = await shop_of(town, (B, "owner"))
    callers = {
        each: Caller(
            each.session.user.email, CallerKind.DASHBOARD, Role.OWNER, shop, each.session.user.id
        )
        for each in (first, second)
    }
    done: list[str] = []

    async def remove(actor, other) -> None:
        try:
            await town.do(
                "member.remove",
                callers[actor],
                organization_id=shop,
                user_id=other.session.user.id,
            )
        except (Forbidden, NotFound, Conflict) as refused:
            done.append(type(refused).__name__)
        else:
            done.append("removed")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(remove, first, second)
        nursery.start_soon(remove, second, first)
    assert sorted(done) in (["Forbidden", "removed"], ["NotFound", "removed"])
    assert len(await roles_in(town, shop)) == 1


async def test_an_edit_of_what_somebody_changed_meanwhile_is_refused(town, autojump_clock):
    shop, owner, other = await shop_of(town, (B, "viewer"))
    seen = await member_of(town, shop, B)
    user_id = other.session.user.id
    await town.do("member.set_role", organization_id=shop, user_id=user_id, role="developer")
    stale = {"user_id": user_id, "version": seen["version"]}
    with pytest.raises(Conflict, match="changed in the meantime by risala"):
        await town.as_member("member.set_role", owner, shop, role="owner", **stale)
    with pytest.raises(Conflict, match="changed in the meantime"):
        await town.as_member("member.remove", owner, shop, **stale)
    assert (await roles_in(town, shop))[B] == "developer"
    seen = await member_of(town, shop, B)
    fresh = {"user_id": user_id, "version": seen["version"]}
    changed = await town.as_member("member.set_role", owner, shop, role="owner", **fresh)
    assert changed["version"] > seen["version"]


# -- out means out


async def test_who_is_removed_sees_nothing_more_and_what_they_follow_ends(town, autojump_clock):
    shop, owner, member = await shop_of(town, (B, "viewer"))
    session = town.people.sessions.find(member.token, SessionKind.CUSTOMER)
    mine = town.people.sessions.find(owner.token, SessionKind.CUSTOMER)
    with (
        town.people.sessions.watching(session, shop) as over,
        town.people.sessions.watching(mine, shop) as mine_over,
    ):
        await town.as_member("member.remove", owner, shop, user_id=member.session.user.id)
        assert over.is_set()
        assert not mine_over.is_set()
    session = town.people.sessions.find(member.token, SessionKind.CUSTOMER)
    assert session.places == ()
    with pytest.raises(NotFound):
        town.people.sessions.caller(session, shop)


async def test_another_role_holds_at_once_and_renews_the_cookie(town, autojump_clock):
    shop, owner, member = await shop_of(town, (B, "developer"))
    session = town.people.sessions.find(member.token, SessionKind.CUSTOMER)
    assert not session.stale
    with town.people.sessions.watching(session, shop) as over:
        changed = {"user_id": member.session.user.id, "role": "viewer"}
        await town.as_member("member.set_role", owner, shop, **changed)
        assert over.is_set()
    session = town.people.sessions.find(member.token, SessionKind.CUSTOMER)
    assert session.stale
    assert town.people.sessions.caller(session, shop).role is Role.VIEWER
    token = await town.people.sessions.rotate(member.token, SessionKind.CUSTOMER)
    assert not town.people.sessions.find(token, SessionKind.CUSTOMER).stale
    # What was under way with the old cookie still passes, for a moment.
    assert town.people.sessions.find(member.token, SessionKind.CUSTOMER).id == session.id
    assert await town.people.sessions.rotate(member.token, SessionKind.CUSTOMER) is None
    await trio.sleep(30)
    assert town.people.sessions.find(member.token, SessionKind.CUSTOMER) is None
    assert town.people.sessions.find(token, SessionKind.CUSTOMER) is not None


async def test_a_suspended_organization_is_looked_at_and_no_more(town, autojump_clock):
    shop, owner = await shop_of(town)
    session = town.people.sessions.find(owner.token, SessionKind.CUSTOMER)
    with (
        town.people.sessions.watching(session, shop) as over,
        town.people.sessions.watching(session) as anywhere,
    ):
        await town.do("org.suspend", organization_id=shop)
        assert over.is_set()
        assert not anywhere.is_set()
    session = town.people.sessions.find(owner.token, SessionKind.CUSTOMER)
    assert session.places[0].status == "suspended"
    assert (await town.as_member("org.show", owner, shop))["name"] == "Shop"
    await town.as_member("verify.config", owner, shop)
    for name, given in (
        ("member.invite", {"email": B, "role": "viewer"}),
        ("key.create", {"type": "secret"}),
        ("verify.config", {"code_length": 8}),
        ("org.set", {"name": "Other"}),
    ):
        with pytest.raises(Forbidden, match="suspended"):
            await town.as_member(name, owner, shop, **given)
    await town.do("key.create", organization_id=shop, type="secret")  # the operator may
    await town.do("org.resume", organization_id=shop)
    await town.as_member("key.create", owner, shop, type="secret")


async def test_the_operator_adds_whom_nobody_invited(town, autojump_clock):
    shop, _owner = await shop_of(town)
    added = await town.do("member.add", organization_id=shop, email=B, role="developer")
    assert (added["email"], added["role"]) == (B, "developer")
    (line,) = (await town.do("audit.list", operation="member.add"))["lines"]
    assert (line["subject"], line["after"]["role"]) == (added["userId"], "developer")
    assert line["organizationId"] == shop
    assert not (await town.sign_in(B)).is_new
    with pytest.raises(Conflict):
        await town.do("member.add", organization_id=shop, email=B, role="owner")


# -- any order of anything


class Clubs(RuleBasedStateMachine):
    """Two organizations and whoever comes and goes: a model beside the rows."""

    people = Bundle("people")
    invited = Bundle("invited")

    def __init__(self) -> None:
        super().__init__()
        self.book = self.open_book()
        self.clubs = [self.book.organization(0), self.book.organization(0)]
        self.roles: dict[tuple[str, str], Role] = {}

    def unit(self, work):
        """Commits it, or leaves everything as it is."""
        try:
            self.book.unit(work)
        except (Conflict, NotFound, Forbidden) as refused:
            if self.book.conn.in_transaction:
                self.book.conn.rollback()
            return refused
        return None

    def owners(self, club: str) -> set[str]:
        return {who for (at, who), role in self.roles.items() if at == club and role is Role.OWNER}

    @rule(target=people)
    def arrive(self):
        user_id = self.book.id("usr")
        new = User(user_id, f"{user_id}@x.example", "", Language.ARABIC, False, 1, 1, None)
        assert self.unit(lambda conn: users.add(conn, new)) is None
        for club in self.clubs:
            if not self.owners(club):
                self.join(user_id, club, Role.OWNER)
        return user_id

    def join(self, user_id: str, club: str, role: Role) -> None:
        refused = self.unit(lambda conn: members.add(conn, Membership(club, user_id, role, 1, 1)))
        assert (refused is not None) == ((club, user_id) in self.roles)
        self.roles.setdefault((club, user_id), role)

    @rule(user_id=people, at=st.integers(0, 1), role=st.sampled_from(ROLES))
    def add(self, user_id, at, role):
        self.join(user_id, self.clubs[at], role)

    @rule(target=invited, user_id=people, at=st.integers(0, 1), role=st.sampled_from(ROLES))
    def invite(self, user_id, at, role):
        club, new_id = self.clubs[at], self.book.id("inv")
        email = users.user(self.book.conn, user_id).email
        new = Invitation(new_id, club, "Club", email, role, "x", 1, self.book.now_ms)
        refused = self.unit(lambda conn: members.invite(conn, new))
        assert (refused is not None) == ((club, user_id) in self.roles)
        return (new_id, user_id, club, role)

    @rule(which=consumes(invited))
    def accept(self, which):
        new_id, user_id, club, role = which
        if members.stored_invitation(self.book.conn, new_id) is not None:
            self.unit(lambda conn: members.withdraw(conn, new_id))
            self.join(user_id, club, role)

    @rule(user_id=people, at=st.integers(0, 1), role=st.sampled_from(ROLES))
    def change(self, user_id, at, role):
        club = self.clubs[at]
        refused = self.unit(lambda conn: members.set_role(conn, club, user_id, role, 2))
        old = self.roles.get((club, user_id))
        last = self.owners(club) == {user_id} and role is not Role.OWNER
        assert (refused is not None) == (old is None or last)
        if refused is None:
            self.roles[club, user_id] = role

    @rule(user_id=people, at=st.integers(0, 1))
    def leave(self, user_id, at):
        club = self.clubs[at]
        refused = self.unit(lambda conn: members.remove(conn, club, user_id))
        last = self.owners(club) == {user_id}
        assert (refused is not None) == ((club, user_id) not in self.roles or last)
        if refused is None:
            del self.roles[club, user_id]

    @invariant()
    def the_rows_are_the_model(self):
        conn = self.book.conn
        for club in self.clubs:
            found = {each.user_id: each.role for each in members.of_organization(conn, club)}
            assert found == {who: role for (at, who), role in self.roles.items() if at == club}
            assert not found or Role.OWNER in found.values()


@pytest.mark.slow
def test_whatever_members_do_there_is_an_owner(open_book):
    Machine = type("Machine", (Clubs,), {"open_book": staticmethod(open_book)})
    Machine.TestCase.settings = settings(
        max_examples=examples(25), stateful_step_count=25, deadline=None
    )
    Machine.TestCase("runTest").runTest()


async def test_what_a_deleted_user_noted_stays_without_their_address(town, autojump_clock):
    shop, _owner = await shop_of(town)
    await town.do("member.add", organization_id=shop, email=B, role="developer")
    member = await town.sign_in(B)
    number = "+22236000001"
    await town.as_member("inbound.opt_out", member, shop, number=number)
    (noted,) = (await town.do("inbound.opt_outs", organization_id=shop))["numbers"]
    assert (noted["number"], noted["who"]) == (number, B)
    await town.as_user("account.delete", member)
    (noted,) = (await town.do("inbound.opt_outs", organization_id=shop))["numbers"]
    assert (noted["number"], noted["who"], noted["carrier"]) == (number, None, None)
