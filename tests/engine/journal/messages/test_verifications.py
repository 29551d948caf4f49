"""Sessions as they are written down: the net beneath what actors decide."""

from __future__ import annotations

import pytest

from risala.engine.journal.messages import verifications
from risala.engine.journal.messages.verifications import HOUR_MS
from risala.engine.model.errors import RateLimited
from risala.engine.model.records.messages import NewVerification


@pytest.mark.parametrize(
    ("limits", "limit"), [((2, 9), "phone"), ((9, 2), "organization")], ids=["phone", "all"]
)
def test_the_transaction_counts_the_hour_too(book, limits, limit):
    """Whatever the actor of limits has forgotten by a crash."""
    organization_id = book.organization()

    def send() -> None:
        message = book.new_message(organization_id)
        new = NewVerification(
            message=message,
            per_phone_per_hour=limits[0],
            per_organization_per_hour=limits[1],
            id=book.id("ver"),
            attempts_max=5,
            code_length=6,
            expires_at=message.created_at + 600_000,
        )
        book.unit(lambda conn: verifications.begin(conn, new))

    for _ in range(2):
        send()
        book.now_ms += 1000
    with pytest.raises(RateLimited) as refused:
        send()
    assert (refused.value.limit, refused.value.retry_after_s) == (limit, 3598)
    book.now_ms += HOUR_MS
    send()
