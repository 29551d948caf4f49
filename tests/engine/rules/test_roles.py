"""Who may do what, decided without an engine."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.rules.roles import (
    DEVELOPERS,
    OPERATORS,
    OWNERS,
    USERS,
    VIEWERS,
    RoleVerdict,
    judge,
)

MEMBERS = (Role.OWNER, Role.DEVELOPER, Role.VIEWER)
SETS = st.sampled_from([OPERATORS, OWNERS, DEVELOPERS, VIEWERS])


def member(role, organization_id="org_1"):
    return Caller("amina@shop.example", CallerKind.DASHBOARD, role, organization_id)


@given(st.sampled_from(MEMBERS), SETS, st.booleans())
def test_what_is_anothers_is_never_there(role, roles, for_all):
    assert judge(member(role), roles, "org_2", for_all=for_all) is RoleVerdict.HIDDEN


@given(st.sampled_from(MEMBERS), SETS, st.sampled_from([None, "org_1"]))
def test_a_member_may_what_the_role_may_in_their_own_organization(role, roles, organization_id):
    allowed = judge(member(role), roles, organization_id) is RoleVerdict.ALLOWED
    assert allowed == (role in roles and organization_id is not None)


@given(SETS, st.sampled_from([None, "org_1", "org_2"]))
def test_the_operator_may_everything_everywhere(roles, organization_id):
    operator = Caller("amina", CallerKind.CLI, Role.OPERATOR)
    assert judge(operator, roles, organization_id) is RoleVerdict.ALLOWED


@pytest.mark.parametrize("organization_id", [None, "org_1"])
def test_somebody_who_is_signed_in_may_only_what_is_for_users(organization_id):
    user = Caller("amina@shop.example", CallerKind.DASHBOARD, Role.USER, user_id="usr_1")
    assert judge(user, USERS, organization_id) is RoleVerdict.ALLOWED
    for roles in (OPERATORS, OWNERS, DEVELOPERS, VIEWERS):
        assert judge(user, roles, organization_id) is RoleVerdict.FORBIDDEN


def test_prices_are_for_everybody_though_they_are_of_no_organization():
    assert judge(member(Role.VIEWER), VIEWERS, None, for_all=True) is RoleVerdict.ALLOWED
    assert judge(member(Role.VIEWER), OPERATORS, None, for_all=True) is RoleVerdict.FORBIDDEN


@pytest.mark.parametrize("role", MEMBERS)
def test_a_member_without_an_organization_is_a_bug(role):
    with pytest.raises(ValueError, match="organization"):
        Caller("amina", CallerKind.DASHBOARD, role)


def test_an_operator_of_an_organization_is_a_bug():
    with pytest.raises(ValueError, match="organization"):
        Caller("amina", CallerKind.CLI, Role.OPERATOR, "org_1")
