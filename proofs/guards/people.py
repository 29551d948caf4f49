"""Guards of who comes in, what they may still do, and how often they may try."""

from __future__ import annotations

from typing import Final

from proofs.guards.guard import Guard

_SIGN_IN: Final = ("engine/people/test_sign_in.py", "engine/people")
_SESSIONS: Final = ("engine/people/test_sessions.py", "engine/people")
_MEMBERS: Final = ("engine/people/test_members.py", "engine/people")
_LIMITS: Final = ("engine/limits",)

GUARDS: Final = (
    Guard(
        "A code of the dashboard is tried five times, and then no more.",
        "engine/journal/signing_in.py",
        "    if found is None or found.attempts >= ATTEMPTS_MAX:\n",
        "    if found is None:\n",
        _SIGN_IN,
    ),
    Guard(
        "A code of the dashboard holds for its ten minutes.",
        "engine/journal/signing_in.py",
        "    if entrant.now_ms >= found.expires_at:\n",
        "    if False:\n",
        _SIGN_IN,
    ),
    Guard(
        "A wrong code is counted before anybody is told that it was wrong.",
        "engine/journal/signing_in.py",
        '    sign_in_tokens.change_request(conn, found.id, {"attempts": found.attempts + 1})\n',
        "",
        _SIGN_IN,
    ),
    Guard(
        "A code of the dashboard lets in once.",
        "engine/journal/signing_in.py",
        "    sign_in_tokens.end_request(conn, found.id)\n",
        "",
        _SIGN_IN,
    ),
    Guard(
        "An operator's code is for operators.",
        "engine/rules/people/entering.py",
        "            return known is not None and known.operator\n",
        "            return known is not None\n",
        _SIGN_IN,
    ),
    Guard(
        "Where only the invited may sign up, nobody else does.",
        "engine/rules/people/entering.py",
        "is_invited if self.sign_up is SignUp.INVITED else self.sign_up is SignUp.OPEN",
        "True",
        _SIGN_IN,
    ),
    Guard(
        "A link lets in once.",
        "engine/journal/people/sign_in_tokens.py",
        "        writable(conn, _LINKS).delete((digest,))\n",
        "        pass\n",
        _SIGN_IN,
    ),
    Guard(
        "A link holds for its ten minutes.",
        "engine/journal/people/sign_in_tokens.py",
        "found[0] if found and found[0].expires_at > now_ms else None",
        "found[0] if found else None",
        _SIGN_IN,
    ),
    Guard(
        "Guesses from one address are limited.",
        "engine/limits/people.py",
        "        wait_ms = windows[use].wait_ms(key, now_ms)\n",
        "        wait_ms = 0\n",
        ("engine/people/test_sign_in.py", "engine/limits"),
    ),
    Guard(
        "A session ends when its time is over, though it is remembered.",
        "engine/people/sessions.py",
        "        if is_over(kind, device.used_at, device.expires_at, now_ms):\n",
        "        if False:\n",
        _SESSIONS,
    ),
    Guard(
        "A session that nobody uses ends.",
        "engine/rules/people/lifetimes.py",
        "now_ms >= expires_at or now_ms - used_at >= IDLE_MS[kind]",
        "now_ms >= expires_at",
        _SESSIONS,
    ),
    Guard(
        "A customer's cookie opens nothing of an operator's.",
        "engine/people/sessions.py",
        "        if known is None or known.device.kind is not kind:\n",
        "        if known is None:\n",
        _SESSIONS,
    ),
    Guard(
        "The old cookie of a rotation holds for a moment only.",
        "engine/journal/people/web_sessions.py",
        "(previous_hash = ? AND previous_until > ?)",
        "(previous_hash = ? AND ? IS NOT NULL)",
        (
            "engine/people/test_members.py::test_another_role_holds_at_once_and_renews_the_cookie",
            "engine/people/test_sessions.py",
        ),
    ),
    Guard(
        "Whoever is removed has nothing of it at the very next page.",
        "engine/people/memberships.py",
        "        finally:\n            self._sessions.forget(user_id)\n",
        "        finally:\n            pass\n",
        _MEMBERS,
    ),
    Guard(
        "An owner who is none any more decides nothing.",
        "engine/journal/people/members.py",
        "actor_id is not None and actor_id not in owners(conn, organization_id)",
        "False",
        _MEMBERS,
    ),
    Guard(
        "An organization keeps an owner.",
        "engine/journal/people/members.py",
        "leaving.role is Role.OWNER and len(owners(conn, leaving.organization_id)) == 1",
        "False",
        _MEMBERS,
    ),
    Guard(
        "An invitation is for the address that it was sent to.",
        "engine/journal/people/members.py",
        "    if found.email != users.user(conn, user_id).email:\n",
        "    if False:\n",
        _MEMBERS,
    ),
    Guard(
        "An invitation of another organization cannot be taken back.",
        "engine/journal/member_changes.py",
        "    if found.organization_id != organization_id:\n",
        "    if False:\n",
        ("engine/people/test_members.py", "flows/test_owners.py"),
    ),
    Guard(
        "Sends are limited by the second.",
        "engine/limits/limits.py",
        "        if wait_s > 0:\n",
        "        if False:\n",
        _LIMITS,
    ),
    Guard(
        "A second code to a number waits for the cooldown.",
        "engine/limits/limits.py",
        '        if wait_ms > 0:\n            text = "A code was just sent to this number.',
        '        if False:\n            text = "A code was just sent to this number.',
        _LIMITS,
    ),
    Guard(
        "Codes leave for the numbers that the operator has opened.",
        "engine/limits/limits.py",
        "        if not guards.serve(slot.recipient):\n",
        "        if False:\n",
        _LIMITS,
    ),
    Guard(
        "A code that was reserved counts for the next one.",
        "engine/limits/limits.py",
        "            history.add(slot.at_ms)\n",
        "            pass\n",
        _LIMITS,
    ),
    Guard(
        "Answers to many wrong keys of one address are held back.",
        "http/common/failed_keys.py",
        "            await trio.sleep(DELAY_S)\n",
        "            pass\n",
        ("http/common/test_failed_keys.py",),
    ),
    Guard(
        "Answers that are held back are bounded.",
        "http/common/failed_keys.py",
        "        if self._waiting >= WAITING_MAX:\n",
        "        if False:\n",
        ("http/common/test_failed_keys.py",),
    ),
    Guard(
        "A sender's name that nobody approved is not used.",
        "engine/intake/draft.py",
        '        if found.status == "approved":\n            return found.name, None\n',
        "        if True:\n            return found.name, None\n",
        ("flows/test_senders.py", "engine/intake"),
    ),
    Guard(
        "A sender's name that was denied is refused.",
        "engine/intake/draft.py",
        'found is None or found.status == "denied"',
        "found is None",
        ("flows/test_senders.py", "engine/intake"),
    ),
    Guard(
        "Codes leave by an approved sender's name alone.",
        "engine/intake/draft.py",
        'found is not None and found.status == "approved"',
        "found is not None",
        ("engine/verify/test_sessions.py", "flows/test_senders.py"),
    ),
)
