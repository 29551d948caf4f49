"""What the search of the fake gateway finds: something of most kinds, among it words of markup."""

from __future__ import annotations

from typing import Any

from risala.engine.model.records.search import FIND

AT = "2026-11-21T08:30:00.123Z"


def item(kind: str, title: str, page: str, **more: Any) -> dict[str, Any]:
    """An item of the answer; ``page`` is the address below the organization's."""
    return {
        "kind": kind,
        "id": page.rpartition("/")[2],
        "title": title,
        "at": AT,
        "url": f"https://risala.example/app/org_1/{page}",
        "mode": None,
        "state": None,
        "note": None,
        "organization": None,
        **more,
    }


ITEMS = (
    item(
        *("message", "+22236123456", "messages/sms_failed"),
        mode="live",
        state="undelivered",
        note="UNDELIV err:027",
    ),
    item(
        *("message", "+22236123456", "messages/sms_delivered"),
        mode="live",
        state="delivered",
        note="السلام عليكم <b>",
    ),
    item("verification", "+22236123456", "verify/ver_1", mode="live", state="approved"),
    item("key", "Shop <key>", "keys/key_1?mode=test", mode="test", note="…a1b2"),
    item("sender", "BARAKA", "senders", state="pending"),
    item("person", "+22236120001", "lists/lst_1?q=%2B22236120001", note="Aïcha · 6e"),
    item("payment", "BK-7788", "billing/payments/pay_1", state="confirmed", note="bankily"),
    item("later", "Of a later feature", "later/1"),
)


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The answer of a search; None for any other operation."""
    if name != FIND.name:
        return None
    query = arguments["query"]
    if query.startswith("sms_"):
        return {"items": [each for each in ITEMS if each["id"] == query], "cut": False}
    return {"items": [] if query == "none" else [*ITEMS], "cut": query == "many"}
