"""The operator's actions on users: makes them, helps those without access, signs them out."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.accounts.accounts import safe_name
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import OperatorRole
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.people import AccessEnded, Language, SessionKind, User
from risala.engine.model.people_records import SignInLink, UserFields
from risala.engine.model.records.people.users import MadeLink
from risala.engine.people.sessions import WebSessions
from risala.engine.people.sign_in import address_of
from risala.engine.people.tokens import PeopleSources, digest, new_token
from risala.engine.rules.people.lifetimes import LINK_MS


@dataclass(frozen=True, slots=True)
class UserChange:
    """None: unchanged."""

    email: str | None = None
    name: str | None = None
    language: Language | None = None
    operator: bool | None = None
    operator_role: OperatorRole | None = None
    """For a user who is an operator, or becomes one."""


class Users:
    def __init__(self, sources: PeopleSources, sessions: WebSessions) -> None:
        self._sources = sources
        self._sessions = sessions

    def find(self, email: str) -> User:
        """The user with this address.

        Raises:
            Invalid: it is no address.
            NotFound: no user has it.
        """
        address = address_of(email)
        user = self._sources.users.by_email(address)
        if user is None:
            raise NotFound(f"There is no user {address}.")
        return user

    def version(self, user_id: str) -> int:
        return self._sources.audit.version_of(user_id, "user")

    async def create(
        self,
        email: str,
        name: str,
        language: Language,
        by: AuditEntry,
        *,
        operator: OperatorRole | None,
    ) -> User:
        """Make a user, who can then sign in whether sign-up is open or not.

        Args:
            operator: what they may do in the console; None: they are no operator.

        Raises:
            Invalid: it is no address, or the name is too long.
            Conflict: another user has the address.
        """
        now_ms = self._sources.now_ms()
        new = User(
            self._sources.ids.new("usr"),
            address_of(email),
            safe_name(name),
            language,
            operator is not None,
            now_ms,
            now_ms,
            None,
            operator,
        )
        return await self._sources.users.add(by, new)

    async def change(self, user_id: str, change: UserChange, by: AuditEntry) -> User:
        """Change the given fields. A new address, or the end of the operator's role, signs the user
        out.

        Raises:
            Invalid: the address or the name is invalid.
            Conflict: another user has the address, another change came meanwhile, a role is given
                to a user who is no operator, or the operators would be without an administrator.
        """
        values: UserFields = {}
        if change.email is not None:
            values["email"] = address_of(change.email)
        if change.name is not None:
            values["name"] = safe_name(change.name)
        if change.language is not None:
            values["language"] = change.language.value
        values |= _operator_fields(self._sources.users.user(user_id), change)
        now_ms = self._sources.now_ms()
        try:
            change_by_operator = self._sources.users.change_by_operator
            new, ended = await change_by_operator(by, user_id, values, now_ms)
        finally:
            self._sessions.forget(user_id)
        if ended:
            self._sessions.tell_ended(AccessEnded(user_id))
        return new

    async def link(self, user: User, kind: SessionKind, by: AuditEntry) -> MadeLink:
        """A link that signs the user in once; the one before it ends.

        Raises:
            Conflict: an operator's link for a user who is no operator.
        """
        if kind is SessionKind.OPERATOR and not user.operator:
            raise Conflict(f"{user.email} is not an operator.")
        token, expires_at = new_token(), self._sources.now_ms() + LINK_MS
        row = SignInLink(user.id, kind, expires_at)
        await self._sources.sign_in.add_link(by, digest(token), row)
        sources = self._sources
        root = (
            sources.public_url
            if kind is SessionKind.CUSTOMER
            else f"{sources.console_url}/operator"
        )
        url = f"{root}/sign-in/link/{token}"
        return MadeLink(user.email, kind, token, url, expires_at)


def _operator_fields(user: User, change: UserChange) -> UserFields:
    """What is stored of a user as an operator.

    Raises:
        Conflict: a role for a user who is no operator.
    """
    is_operator = user.operator if change.operator is None else change.operator
    if not is_operator:
        if change.operator_role is not None:
            raise Conflict(f"{user.email} is not an operator.")
        return {"operator": False, "operator_role": None} if user.operator else {}
    role = change.operator_role or user.operator_role or OperatorRole.ADMINISTRATOR
    if user.operator and role is user.operator_role:
        return {}
    return {"operator": True, "operator_role": role.value}
