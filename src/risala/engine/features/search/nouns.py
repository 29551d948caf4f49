"""What a search finds of the core's nouns; features declare theirs (``Feature.found``)."""

from __future__ import annotations

from typing import Final

from risala.engine.features.search.stored.messages import KIND as MESSAGE
from risala.engine.features.search.stored.messages import find_messages
from risala.engine.features.search.stored.receipts import KIND as RECEIPT
from risala.engine.features.search.stored.receipts import find_receipts
from risala.engine.model.records.search import Findable
from risala.engine.rules.roles import STAFF, SUPPORT

NOUNS: Final = (
    Findable(
        kind=MESSAGE,
        table="message",
        title="recipient",
        page="messages/{}",
        console="messages/{}",
        operators=SUPPORT,
        find=find_messages,
    ),
    Findable(
        kind="verification",
        table="verifications",
        title="recipient",
        number="recipient",
        number_by=("organization_id", "mode"),
        prefix="ver",
        newest="created_at",
        mode="mode",
        state="status",
        page="verify/{}",
        operators=SUPPORT,
    ),
    Findable(
        kind="key",
        table="api_keys",
        title="coalesce(name, '…' || last4)",
        names=("name", "last4", "contact"),
        prefix="key",
        newest="created_at",
        mode="mode",
        note="'…' || last4",
        page="keys/{}",
    ),
    Findable(
        kind="webhook",
        table="webhook_endpoints",
        title="coalesce(nullif(description, ''), url)",
        names=("url", "description"),
        prefix="whe",
        where="deleted_at IS NULL",
        mode="mode",
        note="url",
        page="webhooks/{}",
    ),
    Findable(
        kind="sender",
        table="senders",
        title="name",
        names=("name",),
        prefix="snd",
        newest="created_at",
        state="status",
        page="senders",
        console="senders/{}",
    ),
    Findable(
        kind=RECEIPT,
        table="entry",
        title="reference",
        page="billing/receipts/{}",
        console="organizations/{}/statement",
        find=find_receipts,
    ),
    Findable(
        kind="member",
        table="members JOIN users ON users.id = members.user_id",
        title="coalesce(nullif(users.name, ''), users.email)",
        names=("users.name", "users.email"),
        prefix="usr",
        id="users.id",
        place="users.id",
        at="members.created_at",
        newest="members.created_at",
        note="users.email",
        page="members",
        operators=STAFF,
    ),
    Findable(
        kind="organization",
        table="organizations",
        title="name",
        names=("name",),
        prefix="org",
        newest="created_at",
        organization=None,
        state="CASE WHEN deleted_at IS NULL THEN status ELSE 'deleted' END",
        console="organizations/{}",
    ),
    Findable(
        kind="user",
        table="users",
        title="coalesce(nullif(name, ''), email)",
        names=("name", "email"),
        prefix="usr",
        place="email",
        newest="created_at",
        organization=None,
        note="email",
        console="users?search={}",
        operators=STAFF,
    ),
)
