"""Guards of delivery, receipts, sessions of codes, and limits."""

from __future__ import annotations

from typing import Final

from proofs.guards.guard import Guard

_MESSAGES: Final = ("engine/journal/messages",)
_SET_ASIDE: Final = ("engine/actors/test_set_aside.py",)
_DELIVERY: Final = ("engine/journal/messages", "engine/delivery/test_delivery.py")

GUARDS: Final = (
    Guard(
        "Only a message that waits is claimed for an attempt.",
        "engine/journal/messages/delivery.py",
        "message.status is Status.PENDING and message.valid_until > now_ms",
        "message.valid_until > now_ms",
        ("engine/journal/messages/test_under_way.py", "engine/delivery/test_delivery.py"),
    ),
    Guard(
        "A message whose validity is over does not leave.",
        "engine/journal/messages/delivery.py",
        "message.status is Status.PENDING and message.valid_until > now_ms",
        "message.status is Status.PENDING",
        (
            "engine/journal/messages/test_under_way.py::test_who_is_past_its_validity_does_not_leave",
            "engine/delivery/test_delivery.py",
        ),
    ),
    Guard(
        "Nothing of a suspended organization leaves.",
        "engine/journal/messages/delivery.py",
        "    if not may_go or not active.may_send(message.organization):\n",
        "    if not may_go:\n",
        ("engine/journal/messages/test_groups.py", "engine/delivery/test_delivery.py"),
    ),
    Guard(
        "A late answer to an attempt that is over moves nothing.",
        "engine/journal/messages/delivery.py",
        "    if not current or is_about_another or message.status is not Status.PROCESSING:\n",
        "    if False:\n",
        ("engine/journal/messages/test_groups.py", "engine/delivery/test_delivery.py"),
    ),
    Guard(
        "A receipt that comes before its answer is held for it.",
        "engine/journal/messages/receipts.py",
        "            hold(conn, arrival, match)\n",
        "            pass\n",
        ("engine/journal/messages/test_receipts.py", "engine/delivery/test_delivery.py"),
    ),
    Guard(
        "An answer looks for receipts that came before it.",
        "engine/journal/messages/delivery.py",
        "    anything_held = held.is_any(conn)\n",
        "    anything_held = False\n",
        ("engine/journal/messages/test_receipts.py", "engine/delivery/test_delivery.py"),
    ),
    Guard(
        "A receipt for another number with the same id is not taken.",
        "engine/journal/messages/held.py",
        " if is_for(message.recipient, each.recipient, each.sender)\n    ]\n    if not fitting",
        "\n    ]\n    if not fitting",
        ("engine/journal/messages/test_receipt_matching.py", "engine/delivery"),
    ),
    Guard(
        "Attempts that a crash cut short are cleared up at the start.",
        "engine/journal/messages/deadlines.py",
        "WHERE status = 1 AND resolve_at IS NULL LIMIT ?",
        "WHERE status = 9 AND resolve_at IS NULL LIMIT ?",
        (
            "engine/journal/store/test_old_files.py",
            "engine/delivery/test_delivery.py",
            "flows/crashes",
        ),
    ),
    Guard(
        "An uncertain message is sent again only where its carrier's policy says so.",
        "engine/journal/messages/deadlines.py",
        "            action == RESEND\n            and ",
        "            ",
        ("engine/delivery/test_delivery.py",),
    ),
    Guard(
        "An uncertain message is sent again a bounded number of times.",
        "engine/journal/messages/deadlines.py",
        "            and _submits(conn, message) < submits_max\n",
        "",
        ("engine/delivery/test_resends.py",),
    ),
    Guard(
        "A session that was judged meanwhile is judged again.",
        "engine/journal/messages/verifications.py",
        "    if state is None:\n        raise Overtaken(",
        "    if state is None:\n        return ()\n        raise Overtaken(",
        ("engine/verify/test_actor.py", "engine/verify"),
    ),
    Guard(
        "A session ends with its last wrong guess.",
        "engine/rules/verification.py",
        "    last = session.attempts + 1 >= session.attempts_max\n",
        "    last = False\n",
        ("engine/rules/test_verification.py", "engine/verify/test_verification.py"),
    ),
    Guard(
        "A code is worth nothing once its session is over.",
        "engine/rules/verification.py",
        "    if now_ms >= session.expires_at:\n",
        "    if False:\n",
        ("engine/rules/test_verification.py", "engine/verify/test_verification.py"),
    ),
    Guard(
        "A session is its organization's alone.",
        "engine/journal/messages/verifications.py",
        "row is None or row.organization_id != organization_id or row.mode != mode",
        "row is None or row.mode != mode",
        ("engine/verify/test_sessions.py", "flows/test_owners.py", "http/api"),
    ),
    Guard(
        "Test keys see sessions of tests alone.",
        "engine/journal/messages/verifications.py",
        "row is None or row.organization_id != organization_id or row.mode != mode",
        "row is None or row.organization_id != organization_id",
        ("engine/verify/test_sessions.py", "flows/test_owners.py", "http/api"),
    ),
    Guard(
        "The hour's codes to a number are counted in the transaction too.",
        "engine/journal/messages/verifications.py",
        "    if at is None:\n        return\n",
        "    if True:\n        return\n",
        ("engine/journal/messages/test_verifications.py",),
    ),
    Guard(
        "A code's place in the hour is given back where its commit fails.",
        "engine/limits/limits.py",
        "                        self._histories[key].take_back(slot.at_ms)\n",
        "                        pass\n",
        ("engine/test_owners.py", "engine/limits"),
    ),
    Guard(
        "A send's token is given back where its commit fails.",
        "engine/limits/limits.py",
        "                    bucket.give_back(tokens)\n",
        "                    pass\n",
        ("engine/test_owners.py", "engine/limits", "engine/intake"),
    ),
    Guard(
        "Codes from one address are limited.",
        "engine/limits/limits.py",
        '        if wait_ms > 0:\n            text = "Too many requests came from',
        '        if False:\n            text = "Too many requests came from',
        ("engine/limits",),
    ),
    Guard(
        "Codes to one number are limited by the hour.",
        "engine/limits/limits.py",
        '            if wait_ms > 0:\n                text = f"The hourly limit of codes',
        '            if False:\n                text = f"The hourly limit of codes',
        ("engine/limits",),
    ),
    Guard(
        "An item that breaks a loop for everybody is set aside, and the loop goes on.",
        "engine/actors/set_aside.py",
        "        self._loop.set_aside(self._key, fault, self._named)\n        return True\n",
        "        self._loop.set_aside(self._key, fault, self._named)\n        return False\n",
        _SET_ASIDE,
    ),
    Guard(
        "What concerns everybody sets no item aside.",
        "engine/actors/set_aside.py",
        "        if not isinstance(fault, Exception) or concerns_all(fault):\n",
        "        if not isinstance(fault, Exception):\n",
        _SET_ASIDE,
    ),
    Guard(
        "A row that cannot be read is set aside, and the others are read.",
        "engine/journal/store/named.py",
        "            if broken is None:\n",
        "            if True:\n",
        ("engine/upkeep/test_poisoned_rows.py",),
    ),
    Guard(
        "What no database can keep is refused at the door of operations.",
        "engine/kernel/arguments.py",
        "    refuse_unstorable(values)\n    try:\n",
        "    try:\n",
        ("engine/operations/test_unstorable.py",),
    ),
    Guard(
        "Nothing is sent to who has said STOP.",
        "engine/intake/steps.py",
        "            self.opt_outs.refuse(principal.organization_id, command.to)\n",
        "            pass\n",
        ("engine/webhooks/test_inbound.py", "engine/intake"),
    ),
)
