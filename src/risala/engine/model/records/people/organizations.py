"""Organizations: the answers of their operations, the asks for them, and what each stores besides
its messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Count, JsonName, Moment, Money


@dataclass(frozen=True, slots=True)
class Organization:
    """A customer: an account with a balance, keys, senders and settings."""

    id: Annotated[str, UNAUDITED]
    name: Annotated[str, AUDITED]
    status: Annotated[str, AUDITED]
    balance: Annotated[Money, AUDITED]
    currency: Annotated[str, UNAUDITED]
    price_per_segment: Annotated[Money | None, AUDITED]
    """None: the general price."""
    smart_encoding: Annotated[bool, AUDITED]
    lean_answers: Annotated[bool, AUDITED]
    """Programs get only the fields and states of the service's specification."""
    factor_required: Annotated[bool, AUDITED]
    """Members need a second factor to see the organization."""
    key_age_days: Annotated[int | None, AUDITED]
    """The most days that a value of its API keys works; None: the service's rule alone."""
    sms_per_s: Annotated[float | None, AUDITED, JsonName("smsPerSecond")]
    """The organization's own limit of sends a second; None: the general one."""
    low_balance: Annotated[Money | None, AUDITED]
    """Below this there is an event `balance.low`.

    None: the general amount."""
    spend_cap: Annotated[Money | None, UNAUDITED] = field(init=False)
    """The most that a day may cost; null: no cap.

    The lower of the two below; None if neither is set."""
    operator_spend_cap: Annotated[Money | None, AUDITED]
    """The most that may be charged per day, set by the operator; None: no cap."""
    owner_spend_cap: Annotated[Money | None, AUDITED]
    """The most that may be charged per day, set by its owner; None: no cap."""
    spent_today: Annotated[Money | None, UNAUDITED]
    """Charged since midnight, less what was given back.

    None if that was not looked up."""
    time_zone: Annotated[str, AUDITED]
    """The time zone at whose midnight its days end, such as ``Africa/Nouakchott``."""
    created_at: Annotated[Moment, UNAUDITED]

    def __post_init__(self) -> None:
        caps = [cap for cap in (self.operator_spend_cap, self.owner_spend_cap) if cap is not None]
        object.__setattr__(self, "spend_cap", min(caps, default=None))


@dataclass(frozen=True, slots=True)
class ListedOrganization(Organization):
    """An organization with facts that are not in its own row."""

    last_send_at: Moment | None
    """When its latest message was accepted; of a test key too."""
    owners: tuple[str, ...]
    """Addresses of its first owners."""
    parts_today: int | None
    """Parts sent today, where nobody pays and they are counted instead of money; else null."""
    parts_per_day: int | None
    """The most of them; null where customers pay."""


@dataclass(frozen=True, slots=True)
class OrganizationPage:
    organizations: tuple[ListedOrganization, ...]
    newer: str | None
    older: str | None
    looked_to: Moment | None
    """The search came this far; None: there are no others."""


@dataclass(frozen=True, slots=True)
class GeneralLimits:
    """The values that apply to an organization without its own."""

    price_per_segment: Money
    sms_per_s: Annotated[float | None, JsonName("smsPerSecond")]
    low_balance: Money


@dataclass(frozen=True, slots=True)
class OrganizationStory(ListedOrganization):
    """An organization as operators see it."""

    general: GeneralLimits


@dataclass(frozen=True, slots=True)
class FoundOrganization:
    """The organization that a name refers to, and no more of it, so that no audit line is left."""

    count: int
    organization_id: str | None
    """None unless exactly one organization has the name."""


@dataclass(frozen=True, slots=True)
class OrganizationEnd:
    """What would end if an organization was deleted."""

    organization_id: str
    name: str
    balance: Money
    currency: str
    keys: int
    members: int
    endpoints: int
    senders: int
    pending: int
    """Messages that have not left; counted up to a limit."""
    messages: int
    """Messages that it has sent, by the hourly counts."""


CREATE: Final = Ask("org.create", Organization)
FIND: Final = Ask("org.find", FoundOrganization)
LIST: Final = Ask("org.list", OrganizationPage)
SHOW: Final = Ask("org.show", Organization)
SHOW_ALL: Final = Ask("org.show", OrganizationStory)
"""The operation ``org.show``, asked by an operator."""
SET: Final = Ask("org.set", Organization)
SUSPEND: Final = Ask("org.suspend", Organization)
RESUME: Final = Ask("org.resume", Organization)
FOUND: Final = Ask("org.found", Organization)
DELETION: Final = Ask("org.deletion", OrganizationEnd)


LIMITED: Final = ("mailings", "lists", "uploads")
"""The kinds that count against an organization's limit: what it adds itself, and may delete."""
STORED_FULL: Final = (
    "The organization stores as much as it may. Delete ended mailings, drafts or lists that it does"
    " not need."
)
"""The refusal of one more mailing, list or upload."""


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table of things that take room: it has the columns ``organization_id`` and ``bytes``."""

    table: str
    rows: str
    """The column that says how many rows each has."""
    where: str = ""
    """A condition of those that take room; empty: all do."""
    is_limited: bool = True
    """The rows count against the organization's limit."""


@dataclass(frozen=True, slots=True)
class StoredOfKind:
    """One kind of thing, and what it takes on the disk."""

    name: str
    """``mailings``, ``lists``, ``uploads`` or ``exports``."""
    count: Count
    rows: Count
    """The rows of all of them; 0 of uploads, which are not read yet."""
    bytes: Count


def limited_bytes(stored: Iterable[StoredOfKind]) -> int:
    """What counts against the limit."""
    return sum(each.bytes for each in stored if each.name in LIMITED)


@dataclass(frozen=True, slots=True)
class FullOrganization:
    """An organization that stores much of what it may."""

    organization_id: str
    name: str
    bytes: int
