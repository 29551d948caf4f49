"""Arguments of operations on people."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.model.callers import OperatorRole, Role
from risala.engine.model.people import Language
from risala.engine.operations.arguments import ArgumentKind, fault, maybe, text

MEMBER_ROLES = (Role.OWNER, Role.DEVELOPER, Role.VIEWER)


def _role(value: object) -> Role:
    try:
        found = Role(text(value))
    except ValueError:
        found = Role.SYSTEM
    if found not in MEMBER_ROLES:
        raise fault("invalid_role", "`{name}` is `owner`, `developer` or `viewer`.")
    return found


def _language(value: object) -> Language:
    try:
        return Language(text(value))
    except ValueError:
        raise fault("invalid_language", "`{name}` is `fr`, `ar` or `en`.") from None


def _operator_role(value: object) -> OperatorRole:
    try:
        return OperatorRole(text(value))
    except ValueError:
        raise fault("invalid_role", f"`{{name}}` is one of: {', '.join(OperatorRole)}.") from None


_ROLES: Final = ArgumentKind("`owner`, `developer` or `viewer`")
MemberRole = Annotated[Role, PlainValidator(_role), _ROLES]
MaybeLanguage = Annotated[
    Language | None, PlainValidator(maybe(_language)), ArgumentKind("`fr`, `ar` or `en`")
]
MaybeOperatorRole = Annotated[
    OperatorRole | None,
    PlainValidator(maybe(_operator_role)),
    ArgumentKind("`administrator`, `finance`, `support` or `viewer`"),
]
