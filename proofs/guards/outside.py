"""Guards towards whoever speaks to us by other faces, whom we tell of events, and plugins."""

from __future__ import annotations

from typing import Final

from proofs.guards.guard import Guard

_CREDENTIALS: Final = ("engine/accounts/test_credentials.py",)
_SMPP: Final = ("smpp_server/test_session.py", "smpp_server")
_COURIER: Final = ("smpp_server/test_courier.py", "smpp_server")
_LEASE: Final = ("engine/upkeep/standby/test_lease.py", "engine/upkeep/standby")
_POLICIES: Final = ("engine/intake/test_policies.py",)
_OUTBOUND: Final = ("http/outbound",)

GUARDS: Final = (
    Guard(
        "A credential of a face has a password.",
        "engine/accounts/credentials.py",
        "        if not await self._is(shape_of(face), known, password) or known is None:\n",
        "        if known is None:\n",
        _CREDENTIALS,
    ),
    Guard(
        "A revoked credential is found by its name no more.",
        "engine/journal/accounts/credentials.py",
        '"face = ? AND username = ? AND revoked_at IS NULL"',
        '"face = ? AND username = ?"',
        _CREDENTIALS,
    ),
    Guard(
        "A credential is good at its own face.",
        "engine/journal/accounts/credentials.py",
        '"face = ? AND username = ? AND revoked_at IS NULL"',
        '"? IS NOT NULL AND username = ? AND revoked_at IS NULL"',
        _CREDENTIALS,
    ),
    Guard(
        "A revoked credential lets nobody in, also where it was remembered.",
        "engine/accounts/credentials.py",
        "            if (known := self._known.pop(credential_id, None)) is not None:\n",
        "            if (known := None) is not None:\n",
        _CREDENTIALS,
    ),
    Guard(
        "A revoked credential lets nobody in.",
        "engine/accounts/credentials.py",
        "None if found.revoked_at is not None else self._remember(found)",
        "self._remember(found)",
        _CREDENTIALS,
    ),
    Guard(
        "A credential that is bound to addresses is refused from elsewhere.",
        "engine/accounts/credentials.py",
        "        if allowed is not None and (\n",
        "        if False and (\n",
        _CREDENTIALS,
    ),
    Guard(
        "A credential of a suspended organization lets nobody in.",
        "engine/accounts/credentials.py",
        'if self._accounts.organization(principal.organization_id).status != "active":',
        "if False:",
        _CREDENTIALS,
    ),
    Guard(
        "A message is shown to its own organization alone.",
        "engine/journal/messages/reads.py",
        '_OWN: Final = "mode = ? AND organization = (SELECT no FROM organizations WHERE id = ?)"',
        '_OWN: Final = "mode = ? AND ? IS NOT NULL"',
        ("engine/journal/messages/test_own.py", "flows/test_owners.py"),
    ),
    Guard(
        "A message of a test is shown to keys of tests alone, and of no test to others.",
        "engine/journal/messages/reads.py",
        '_OWN: Final = "mode = ? AND organization',
        '_OWN: Final = "? IS NOT NULL AND organization',
        ("engine/journal/messages/test_own.py", "flows/test_owners.py"),
    ),
    Guard(
        "A callback leaves for an address outside.",
        "engine/operations/faces/access.py",
        "                parse_target(callback_url, rules_of(self._services.settings.webhooks))\n",
        "                pass\n",
        ("http/faces",),
    ),
    Guard(
        "A bind is limited by address and by name.",
        "smpp_server/binds.py",
        "        if full:\n",
        "        if False:\n",
        ("smpp_server/test_binds.py",),
    ),
    Guard(
        "A credential has as many sessions as it may.",
        "smpp_server/binds.py",
        "            >= self._settings.sessions_per_credential_max\n",
        "            >= 1_000_000\n",
        ("smpp_server/test_binds.py",),
    ),
    Guard(
        "A submit is answered after its message is on the disk.",
        "smpp_server/line.py",
        "        results = zip(commands, await self._accept(commands), strict=True)\n",
        "        made = [json.dumps({'messageId': f'msg_{at}'}) for at in range(len(good))]\n"
        "        results = zip(commands, [each.encode() for each in made], strict=True)\n",
        _SMPP,
    ),
    Guard(
        "A session's window is as wide as it is, and no wider.",
        "smpp_server/line.py",
        "        if len(self._waiting) - self._decided + self._under_way >= self._window_max:\n",
        "        if False:\n",
        _SMPP,
    ),
    Guard(
        "Who does not bind in time is sent away.",
        "smpp_server/session.py",
        '            self.link.end("no bind in time")\n',
        "            pass\n",
        _SMPP,
    ),
    Guard(
        "A receipt that nobody answered goes out again.",
        "smpp_server/receipt_sender.py",
        "        if errand.is_lost:\n            insort(self._owed, errand)\n",
        "        if errand.is_lost:\n            pass\n",
        _COURIER,
    ),
    Guard(
        "The place among the events moves after the customer has answered for all of them.",
        "smpp_server/receipt_sender.py",
        "        while self._owed or self._under_way:\n",
        "        await self._cursor.keep(last)\n        while self._owed or self._under_way:\n",
        _COURIER,
    ),
    Guard(
        "Events are given again after a fault from the last that was kept.",
        "engine/follow/cursors.py",
        "        self._looked = self._given = self._kept\n",
        "        pass\n",
        ("engine/webhooks/test_cursors.py", "smpp_server/test_courier.py"),
    ),
    Guard(
        "What was passed by is kept only where nothing before it waits.",
        "engine/follow/cursors.py",
        "            elif self._given <= self._kept < self._looked:\n",
        "            elif self._kept < self._looked:\n",
        ("engine/webhooks/test_cursors.py",),
    ),
    Guard(
        "A consumer's place never goes back.",
        "engine/journal/webhooks/event_cursors.py",
        "WHERE consumer = ? AND seq < ?",
        "WHERE consumer = ? AND ? IS NOT NULL",
        ("engine/webhooks/test_cursors.py",),
    ),
    Guard(
        "A sink's place moves after the sink has taken what was given.",
        "engine/follow/sinks/runner.py",
        "                    await self._give(hands, events)\n"
        "                    await cursor.keep(events[-1].seq)\n",
        "                    await cursor.keep(events[-1].seq)\n"
        "                    await self._give(hands, events)\n",
        ("engine/follow/sinks",),
    ),
    Guard(
        "A policy that fails lets nothing pass.",
        "engine/intake/policies.py",
        "            raise self._failed(name, call.fault)\n",
        "            return [PolicyPass() for _ in messages]\n",
        _POLICIES,
    ),
    Guard(
        "A policy that takes too long lets nothing pass.",
        "engine/intake/policies.py",
        '            raise self._failed(name, f"It took longer than {table.deadline_s:g} s.")\n',
        "            return [PolicyPass() for _ in messages]\n",
        _POLICIES,
    ),
    Guard(
        "A policy gives a verdict on each message.",
        "engine/intake/policies.py",
        " or len(verdicts) != len(self._messages)",
        "",
        _POLICIES,
    ),
    Guard(
        "What a policy writes is looked at as what a customer writes.",
        "engine/intake/policies.py",
        "        if wrong := _wrong(text, verdict.sender):\n",
        "        if False:\n            wrong = ''\n",
        _POLICIES,
    ),
    Guard(
        "A plugin of another contract is not used.",
        "plugins/version.py",
        "    if version.major != contract.major:\n",
        "    if False:\n",
        ("plugins/test_manager.py", "plugins/test_set_aside.py", "plugins/test_contract_pages.py"),
    ),
    Guard(
        "A plugin of a newer contract is not used.",
        "plugins/version.py",
        "    if version > contract:\n",
        "    if False:\n",
        ("plugins/test_manager.py", "plugins/test_set_aside.py", "plugins/test_contract_pages.py"),
    ),
    Guard(
        "What a driver returns is looked at.",
        "plugins/fits.py",
        "        if not fits(getattr(outcome, name)):\n",
        "        if False:\n",
        ("engine/delivery/test_bad_drivers.py", "plugins"),
    ),
    Guard(
        "One of two machines holds the lease.",
        "engine/upkeep/standby/lease_holder.py",
        "        if found.holder != mine.holder:\n",
        "        if False:\n",
        _LEASE,
    ),
    Guard(
        "A lease is renewed only while nobody has taken it.",
        "engine/upkeep/standby/lease.py",
        "        put(self._file(lease.epoch), json.dumps(asdict(lease)).encode())\n"
        "        self._refuse_later(lease)\n",
        "        put(self._file(lease.epoch), json.dumps(asdict(lease)).encode())\n",
        _LEASE,
    ),
    Guard(
        "A renewal counts from before it began.",
        "engine/upkeep/standby/lease_holder.py",
        "renewed, began_s + self._term_s",
        "renewed, self._boot() + self._term_s",
        _LEASE,
    ),
    Guard(
        "The process does not outlive its lease.",
        "engine/upkeep/standby/lease_holder.py",
        "                self._end(EXIT_NO_LEASE)\n",
        "                pass\n",
        _LEASE,
    ),
    Guard(
        "A process that is stopped does not outlive its lease.",
        "engine/upkeep/standby/kill_timer.py",
        "_check(self._library.timer_settime(self._timer, _TIMER_ABSTIME, spec, None))",
        "pass",
        _LEASE,
    ),
    Guard(
        "Who takes over waits until the primary has ended.",
        "engine/upkeep/standby/takeover.py",
        '            self._wait("waiting for the primary to end", term_s + margin_s(term_s))\n',
        "            pass\n",
        ("engine/upkeep/standby/test_lease.py",),
    ),
    Guard(
        "Who takes over refuses where the primary renews.",
        "engine/upkeep/standby/takeover.py",
        "            self._watch(found)\n",
        "            pass\n",
        ("engine/upkeep/standby/test_lease.py",),
    ),
    Guard(
        "Nothing is taken over that this version cannot read.",
        "engine/upkeep/standby/takeover.py",
        "        self.copy.refuse_wrong()",
        "        ",
        _LEASE,
    ),
    Guard(
        "A takeover that was cut short serves nobody.",
        "engine/upkeep/standby/lease_holder.py",
        "        if found.epoch == mine.epoch and found.epoch > 1 and not mine.serves:\n",
        "        if False:\n",
        ("engine/upkeep/standby/test_lease.py",),
    ),
    Guard(
        "A webhook's URL is https.",
        "engine/rules/webhooks/url.py",
        '    if parts.scheme not in (("https", "http") if rules.allow_insecure else ("https",)):\n',
        '    if parts.scheme not in ("https", "http"):\n',
        ("engine/rules/webhooks",),
    ),
    Guard(
        "A webhook's URL goes to ports that the operator has opened.",
        "engine/rules/webhooks/url.py",
        "    if not rules.allow_insecure and port not in rules.ports:\n",
        "    if False:\n",
        ("engine/rules/webhooks",),
    ),
    Guard(
        "A webhook's URL names no address inside.",
        "engine/rules/webhooks/url.py",
        "        if fault := address_fault(address, rules):\n",
        "        if False:\n            fault = ''\n",
        ("engine/rules/webhooks",),
    ),
    Guard(
        "A call to an endpoint ends by its deadline.",
        "http/outbound/client.py",
        "        with deadline(LIMIT_S):\n",
        "        with deadline(1e6):\n",
        _OUTBOUND,
    ),
)
