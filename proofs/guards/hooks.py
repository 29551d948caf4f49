"""Guards of hooks: who calls, and what of a request is taken."""

from __future__ import annotations

from typing import Final

from proofs.guards.guard import Guard

_PROOFS: Final = ("engine/features/hooks/rules/test_requests.py",)
_READING: Final = ("engine/features/hooks/rules/test_reading.py",)

GUARDS: Final = (
    Guard(
        "A secret that is not the hook's proves nothing.",
        "engine/features/hooks/rules/requests.py",
        "    return is_current or is_former\n",
        "    return True\n",
        _PROOFS,
    ),
    Guard(
        "A signature of a hook is made with its secret.",
        "engine/features/hooks/rules/requests.py",
        "            is_signed |= hmac.compare_digest(each, mark)\n",
        "            is_signed = True\n",
        _PROOFS,
    ),
    Guard(
        "A signature that is older than five minutes proves nothing.",
        "engine/features/hooks/rules/requests.py",
        "    if abs(request.at_s - signed_at_s) <= AGE_S_MAX:\n",
        "    if request.at_s >= 0:\n",
        _PROOFS,
    ),
    Guard(
        "A request to a hook names one number.",
        "engine/features/hooks/rules/reading.py",
        "    if not _NUMBER.fullmatch(number) or not any(each.isdigit() for each in number):\n",
        "    if False:\n",
        _READING,
    ),
    Guard(
        "A request to a hook sends a bounded number of messages.",
        "engine/features/hooks/rules/reading.py",
        "        if place == HOOK_MESSAGES_MAX:\n",
        "        if False:\n",
        _READING,
    ),
    Guard(
        "An object or list is never sent as a text.",
        "engine/features/hooks/rules/reading.py",
        '    raise _Unread("not_text", sentence)\n',
        "    return str(value)\n",
        _READING,
    ),
    Guard(
        "Control characters of a request to a hook are not sent.",
        "engine/features/hooks/rules/reading.py",
        '    text = _CONTROLS.sub("", _LINE_END.sub("\\n", "".join(values)).replace("\\t", " "))\n',
        '    text = _LINE_END.sub("\\n", "".join(values)).replace("\\t", " ")\n',
        _READING,
    ),
    Guard(
        "An alert's text is cut, however long its values are.",
        "engine/features/hooks/rules/reading.py",
        "        is_long = len(text) > ALERT_CHARACTERS_MAX\n",
        "        is_long = False\n",
        _READING,
    ),
    Guard(
        "What a mapping and a request multiply to ends at a budget.",
        "engine/features/hooks/rules/work_budget.py",
        "        if self.used > self.most:\n",
        "        if False:\n",
        _READING,
    ),
    Guard(
        "A hook has a rate.",
        "engine/features/hooks/rules/rates.py",
        "        if wait_s > 0:\n",
        "        if False:\n",
        ("engine/features/hooks/rules/test_rates.py",),
    ),
    Guard(
        "Who cannot pay has few requests to hooks read.",
        "engine/features/hooks/rules/rates.py",
        "        if not can_pay:\n",
        "        if False:\n",
        ("engine/features/hooks/rules/test_rates.py",),
    ),
)
