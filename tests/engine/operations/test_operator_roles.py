"""Each operation by each role of an operator, as the one declaration says."""

from __future__ import annotations

import pytest

from risala.engine.gateway.table import OPERATIONS, permitted
from risala.engine.model.callers import Caller, CallerKind, OperatorRole, Role
from risala.engine.rules.roles import OPERATORS, RoleVerdict, judge

PERSONAL = {"message.", "inbound.list", "verify.list", "verify.get", "user.", "member.", "request."}
MONEY = {"topup", "adjust", "payment.confirm", "payment.reconcile", "price.set", "price.drop"}


def caller(role, face=CallerKind.CONSOLE):
    return Caller("x@risala.example", face, Role.OPERATOR, operator_role=role)


@pytest.mark.parametrize("role", list(OperatorRole))
def test_each_operation_is_judged_by_the_role(role):
    for name, each in OPERATIONS.items():
        wanted = each.roles >= OPERATORS and role in each.operators
        verdict = judge(caller(role), each.roles, None, operators=each.operators)
        assert (verdict is RoleVerdict.ALLOWED) is wanted, (name, role)
        assert (name in permitted(caller(role))) is wanted


def test_administrators_and_people_at_the_machine_may_do_all():
    for each in OPERATIONS.values():
        if each.roles >= OPERATORS:
            assert OperatorRole.ADMINISTRATOR in each.operators
            assert each.allows(Caller("root", CallerKind.CLI, Role.OPERATOR))


def test_a_viewer_changes_nothing_and_sees_nobody():
    for name in permitted(caller(OperatorRole.VIEWER)):
        each = OPERATIONS[name]
        assert not each.changes or Role.VIEWER in each.roles, name
        assert not each.changes or not each.reserved_operators & {OperatorRole.VIEWER}, name
        assert (
            not name.startswith(tuple(PERSONAL - {"message.estimate"}))
            or name == "message.estimate"
        )


def test_support_moves_no_money_and_finance_reads_no_messages():
    assert not MONEY & permitted(caller(OperatorRole.SUPPORT))
    assert permitted(caller(OperatorRole.FINANCE)) >= MONEY
    assert not {
        name
        for name in permitted(caller(OperatorRole.FINANCE))
        if name.startswith(
            ("message.b", "message.f", "message.l", "message.s", "inbound.list", "verify.list")
        )
    }
