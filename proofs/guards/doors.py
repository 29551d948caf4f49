"""Guards of the doors: keys, pages, roles, forms, calls to strangers, logs."""

from __future__ import annotations

from typing import Final

from proofs.guards.guard import Guard

_PAGES: Final = ("http/dashboard", "http/operator", "http/web")

GUARDS: Final = (
    Guard(
        "A publishable key opens no endpoint of secret ones.",
        "http/common/auth.py",
        "        if principal.type is not KeyType.SECRET:\n",
        "        if False:\n",
        ("http/api/test_sms_api.py", "http/api"),
    ),
    Guard(
        "A key that is bound to addresses is refused from elsewhere.",
        "http/common/auth.py",
        "if address is None or not any(address in network for network in allowed):",
        "if False:",
        ("http/api/test_key_addresses.py",),
    ),
    Guard(
        "A form without our mark does nothing.",
        "http/web/app.py",
        "        if not self.site.gateway.people.derived.is_form_token(request.cookie, mark):\n",
        "        if False:\n",
        (
            "http/dashboard/test_walk.py::test_a_form_without_its_mark_is_refused",
            "http/operator/test_walk.py",
        ),
    ),
    Guard(
        "A form that another site sent does nothing.",
        "http/web/app.py",
        "        if not is_own_form(request.http, request.cookie_policy):\n",
        "        if False:\n",
        (
            "http/dashboard/test_walk.py::test_a_form_of_another_session_or_another_site_is_refused",
            "http/operator/test_walk.py",
        ),
    ),
    Guard(
        "Whoever did not sign in sees no page.",
        "http/web/app.py",
        "            if (turned := await self._turned_away(route, request)) is not None:\n",
        "            if False and (turned := await self._turned_away(route, request)):\n",
        (
            "http/dashboard/test_walk.py::test_who_is_not_signed_in_is_sent_to_sign_in",
            "http/operator/test_walk.py",
        ),
    ),
    Guard(
        "A page asks for its role.",
        "http/web/app.py",
        "                if not request.may(route.access):\n",
        "                if False:\n",
        (
            "http/dashboard/test_walk.py::test_the_wrong_role_is_told_so",
            "http/dashboard/test_walk.py",
        ),
    ),
    Guard(
        "Whoever is no member finds no organization.",
        "http/web/app.py",
        "        if place.organization_id == organization_id:\n",
        "        if True:\n",
        (
            "http/dashboard/test_organizations.py",
            "http/dashboard/test_walk.py",
            "http/dashboard/test_real_engine.py",
        ),
    ),
    Guard(
        "The console is for operators alone.",
        "http/web/app.py",
        "(request.user.operator or not is_console)",
        "True",
        ("http/operator/test_walk.py",),
    ),
    Guard(
        "A form that costs money does it once.",
        "http/web/app.py",
        "self._once(route, request) if route.once else route.view(request)",
        "route.view(request)",
        (
            "http/operator/test_organizations.py::test_cash_is_credited_once_after_its_figures_were_shown",
            "http/dashboard/test_messages.py",
        ),
    ),
    Guard(
        "Pages are not shown over plain http from elsewhere.",
        "http/web/app.py",
        "            if request.cookie_policy.way is Way.PLAIN:\n",
        "            if False:\n",
        (
            "http/dashboard/test_sign_in.py::test_plain_http_from_elsewhere_sets_no_cookie",
            "http/web/test_doors.py",
        ),
    ),
    Guard(
        "An operation asks for its role.",
        "engine/rules/roles.py",
        "    if caller.role not in roles or (organization_id is None and not for_all):\n",
        "    if False:\n",
        ("engine/rules/test_roles.py", "engine/operations/test_operations.py"),
    ),
    Guard(
        "An operation touches the caller's organization alone.",
        "engine/rules/roles.py",
        "    if organization_id is not None and organization_id != caller.organization_id:\n",
        "    if False:\n",
        ("engine/rules/test_roles.py", "engine/operations/test_operations.py"),
    ),
    Guard(
        "No call leaves for an address inside.",
        "http/outbound/pinned.py",
        "            if fault := address_fault(address, self._rules):\n",
        "            if (fault := address_fault(address, self._rules)) and False:\n",
        ("http/outbound",),
    ),
    Guard(
        "A call goes to the very address that was checked.",
        "http/outbound/pinned.py",
        "str(address), port, _left(timeout), local_address",
        "host, port, _left(timeout), local_address",
        ("http/outbound",),
    ),
    Guard(
        "A body is read up to its limit.",
        "http/common/parse.py",
        "    while received <= bytes_max:\n",
        "    while True:\n",
        ("http/server/test_body_limits.py", "http/api/test_envelope.py"),
    ),
    Guard(
        "Logs have no phone number whole.",
        "app/masking.py",
        "        return self._number.sub(self._last_digits, text)\n",
        "        return text\n",
        ("app/test_masking.py", "app"),
    ),
    Guard(
        "Codes are compared in a time that tells nothing.",
        "engine/rules/keyring.py",
        'hmac.compare_digest(cleaned.encode("utf-8", "surrogatepass"), code.encode())',
        "cleaned == code",
        ("proofs/test_guards.py",),
    ),
    Guard(
        "Marks of forms are compared in a time that tells nothing.",
        "engine/people/tokens.py",
        "hmac.compare_digest(_form_token(key, cookie).encode(), octets)",
        "_form_token(key, cookie).encode() == octets",
        ("proofs/test_guards.py",),
    ),
    Guard(
        "Logs have no text of an exception.",
        "app/logs.py",
        "structlog.processors.ExceptionRenderer(tracebacks.rendered)",
        "structlog.processors.format_exc_info",
        ("app/test_masking.py",),
    ),
    Guard(
        "A key of a form is its user's.",
        "http/web/once.py",
        "        if not hmac.compare_digest(mac.encode(), self._mac(user_id, nonce).encode()):\n",
        "        if False:\n",
        ("http/web/test_once.py",),
    ),
    Guard(
        "Cookies cannot be read by a page's own script.",
        "http/web/cookie_policy.py",
        "            secure=self.way is Way.HTTPS,\n            httponly=True,\n",
        "            secure=self.way is Way.HTTPS,\n            httponly=False,\n",
        ("http/web/test_doors.py", "http/dashboard/test_sign_in.py"),
    ),
    Guard(
        "Cookies over https go over https alone.",
        "http/web/cookie_policy.py",
        "            secure=self.way is Way.HTTPS,\n            httponly=True,\n",
        "            secure=False,\n            httponly=True,\n",
        ("http/web/test_doors.py", "http/dashboard/test_sign_in.py"),
    ),
    Guard(
        "Pages are in nobody's frame.",
        "http/web/page_request.py",
        "frame-ancestors 'none'; ",
        "",
        (
            "http/dashboard/test_walk.py::test_pages_are_in_nobodys_frame_and_bring_nothing_from_elsewhere",
        ),
    ),
    Guard(
        "Nobody is sent back to another site.",
        "http/web/cookie_policy.py",
        '        if rest != target and rest[:1] in ("", "/", "?") and not rest.startswith("//"):\n',
        "        if True:\n",
        ("http/web/test_doors.py",),
    ),
    Guard(
        "A proxy's word for https counts only where the proxy is trusted.",
        "http/web/cookie_policy.py",
        '(forwarded == "https" and addresses.trusts(peer))',
        'forwarded == "https"',
        ("http/web/test_doors.py",),
    ),
)
