"""The operator's operations by name: one table for the command line and the control socket."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import trio

from risala.engine.billing import TopUp
from risala.engine.commands import KeyType, Mode, Principal, SendMessage
from risala.engine.errors import Conflict, Invalid, NotFound
from risala.engine.gateway import Gateway
from risala.engine.journal import audit
from risala.engine.journal.rows import OrganizationChange
from risala.engine.lane import Gate
from risala.engine.scheduler import ResumeOrganization, SetGate, SuspendOrganization
from risala.engine.wire import (
    key_wire,
    ledger_wire,
    message_wire,
    minor_units,
    organization_wire,
    sender_wire,
    timeline_wire,
)
from risala.sms.address import is_number, sender_fault

Json = dict[str, Any]
Operation = Callable[[Gateway, "Arguments"], Awaitable[Json]]

AMOUNT_MAX: Final = 10**14
"""A trillion ouguiyas: what is more is a slip of the hand, and SQLite's integers stay exact."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one operation, checked as they are taken."""

    values: Json

    def text(self, name: str) -> str:
        value = self.values.get(name)
        if not isinstance(value, str) or not value:
            raise Invalid(name, "missing", f"`{name}` is required.")
        return value

    def text_or_none(self, name: str) -> str | None:
        return None if self.values.get(name) is None else self.text(name)

    def flag_or_none(self, name: str) -> bool | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise Invalid(name, "invalid_flag", f"`{name}` must be true or false.")
        return value

    def rate_or_none(self, name: str) -> float | None:
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1e5:
            raise Invalid(name, "invalid_rate", f"`{name}` must be a number above 0.")
        return float(value)

    def amount_or_none(self, name: str) -> int | None:
        text = self.text_or_none(name)
        if text is None:
            return None
        try:
            amount = minor_units(text)
        except ValueError as error:
            raise Invalid(name, "invalid_amount", f"`{name}`: {error}.") from error
        if amount > AMOUNT_MAX:
            raise Invalid(name, "invalid_amount", f"`{name}` is larger than anyone has.")
        return amount


async def perform(gateway: Gateway, name: str, arguments: Json) -> Json:
    """Do one operation. See :meth:`Gateway.perform`."""
    operation = OPERATIONS.get(name)
    if operation is None:
        raise NotFound(f"There is no operation {name!r}.")
    # A caller who hangs up must not leave a cache older than the journal.
    with trio.CancelScope(shield=True):
        return await operation(gateway, Arguments(arguments))
    raise AssertionError("a shield lets nothing be cancelled")


async def _org_create(gateway: Gateway, arguments: Arguments) -> Json:
    organization = await gateway.parts.accounts.create_organization(
        arguments.text("name"),
        gateway.parts.settings.service.currency,
        arguments.amount_or_none("price_per_segment"),
    )
    return organization_wire(organization)


async def _org_list(gateway: Gateway, _: Arguments) -> Json:
    organizations = gateway.parts.accounts.list_organizations()
    return {"organizations": [organization_wire(each) for each in organizations]}


async def _org_show(gateway: Gateway, arguments: Arguments) -> Json:
    organization_id = arguments.text("organization_id")
    return organization_wire(gateway.parts.accounts.fresh_organization(organization_id))


async def _org_suspend(gateway: Gateway, arguments: Arguments) -> Json:
    organization_id = arguments.text("organization_id")
    organization = await gateway.parts.accounts.set_status(organization_id, "suspended")
    if gateway.parts.scheduler is not None:
        await gateway.parts.scheduler.ask(SuspendOrganization(organization_id))
    return organization_wire(organization)


async def _org_resume(gateway: Gateway, arguments: Arguments) -> Json:
    organization_id = arguments.text("organization_id")
    organization = await gateway.parts.accounts.set_status(organization_id, "active")
    if gateway.parts.scheduler is not None:
        await gateway.parts.scheduler.ask(ResumeOrganization(organization_id))
    return organization_wire(organization)


async def _org_set(gateway: Gateway, arguments: Arguments) -> Json:
    values = arguments.values
    change = OrganizationChange(
        name=arguments.text_or_none("name"),
        smart_encoding=arguments.flag_or_none("smart_encoding"),
        sets_price="price_per_segment" in values,
        price_per_segment=arguments.amount_or_none("price_per_segment"),
        sets_rate="sms_per_s" in values,
        sms_per_s=arguments.rate_or_none("sms_per_s"),
    )
    organization = await gateway.parts.accounts.change(arguments.text("organization_id"), change)
    return organization_wire(organization)


async def _sender_request(gateway: Gateway, arguments: Arguments) -> Json:
    sender = await gateway.parts.senders.request(
        arguments.text("organization_id"),
        arguments.text("name"),
        arguments.text_or_none("description") or "",
    )
    return sender_wire(sender)


async def _sender_list(gateway: Gateway, arguments: Arguments) -> Json:
    found = gateway.parts.senders.list(arguments.text_or_none("organization_id"))
    return {"senders": [sender_wire(sender) for sender in found]}


async def _sender_clear(gateway: Gateway, arguments: Arguments) -> Json:
    sender_id = arguments.text("sender_id")
    return sender_wire(await gateway.parts.senders.clear(sender_id, waive=False))


async def _sender_waive(gateway: Gateway, arguments: Arguments) -> Json:
    sender_id = arguments.text("sender_id")
    return sender_wire(await gateway.parts.senders.clear(sender_id, waive=True))


async def _sender_deny(gateway: Gateway, arguments: Arguments) -> Json:
    sender_id, reason = arguments.text("sender_id"), arguments.text("reason")
    return sender_wire(await gateway.parts.senders.deny(sender_id, reason))


async def _message_cancel(gateway: Gateway, arguments: Arguments) -> Json:
    message_id = arguments.text("message_id")
    await gateway.parts.recorder.cancel(message_id)
    view, _ = gateway.show_message(message_id)
    return {"message": message_wire(view)}


async def _key_create(gateway: Gateway, arguments: Arguments) -> Json:
    try:
        key_type = KeyType(arguments.text("type"))
        mode = Mode(arguments.text_or_none("mode") or "live")
    except ValueError as error:
        raise Invalid(
            "type", "invalid_type", "A key is `secret` or `publishable`, `live` or `test`."
        ) from error
    created = await gateway.parts.accounts.create_key(
        arguments.text("organization_id"), key_type, mode, arguments.text_or_none("name")
    )
    return {"key": key_wire(created.key), "value": created.value}


async def _key_list(gateway: Gateway, arguments: Arguments) -> Json:
    keys = gateway.parts.accounts.list_keys(arguments.text("organization_id"))
    return {"keys": [key_wire(key) for key in keys]}


async def _key_enable(gateway: Gateway, arguments: Arguments) -> Json:
    key_id = arguments.text("key_id")
    return key_wire(await gateway.parts.accounts.set_key_enabled(key_id, enabled=True))


async def _key_disable(gateway: Gateway, arguments: Arguments) -> Json:
    key_id = arguments.text("key_id")
    return key_wire(await gateway.parts.accounts.set_key_enabled(key_id, enabled=False))


async def _key_delete(gateway: Gateway, arguments: Arguments) -> Json:
    return key_wire(await gateway.parts.accounts.delete_key(arguments.text("key_id")))


async def _topup(gateway: Gateway, arguments: Arguments) -> Json:
    amount = arguments.amount_or_none("amount")
    if not amount:
        raise Invalid("amount", "invalid_amount", "`amount` must be more than 0.")
    reference = arguments.text_or_none("note") or gateway.parts.ids.new("pay")
    entry = await gateway.parts.billing.ask(
        TopUp(arguments.text("organization_id"), amount, reference)
    )
    return ledger_wire(entry)


async def _send(gateway: Gateway, arguments: Arguments) -> Json:
    to, body = arguments.text("to"), arguments.text("body")
    sender = arguments.text_or_none("from")
    if not is_number(to):
        raise Invalid("to", "invalid_phone_number", "`to` must look like +22236123456.")
    if len(body) > 1600:
        raise Invalid("body", "too_long", "A message has 1 to 1600 characters.")
    if sender is not None and (fault := sender_fault(sender)):
        raise Invalid("from", "invalid_sender", fault)
    key = arguments.text_or_none("idempotency_key")
    if key is not None and not 8 <= len(key) <= 128:
        raise Invalid("idempotency_key", "invalid_length", "A key has 8 to 128 characters.")
    organization = gateway.parts.accounts.fresh_organization(arguments.text("organization_id"))
    principal = Principal(organization.id, "operator", KeyType.SECRET, Mode.LIVE)
    command = SendMessage(
        to=to,
        body=body,
        sender=sender,
        idempotency_key=key,
        urgent=bool(arguments.values.get("urgent", False)),
    )
    response: Json = json.loads(await gateway.send_message(principal, command))
    return response


async def _message_show(gateway: Gateway, arguments: Arguments) -> Json:
    view, entries = gateway.show_message(arguments.text("message_id"))
    return {
        "message": {**message_wire(view), "organizationId": view.organization_id},
        "timeline": [timeline_wire(entry) for entry in entries],
    }


async def _audit(gateway: Gateway, _: Arguments) -> Json:
    # A thread of its own for a scan of everything: the loop must not stand still meanwhile.
    report = await trio.to_thread.run_sync(audit.audit_file, gateway.parts.recorder.journal.path)
    return {
        "organizations": report.organizations,
        "messages": report.messages,
        "entries": report.entries,
        "clean": report.clean,
        "faults": list(report.faults),
    }


async def _carriers(gateway: Gateway, _: Arguments) -> Json:
    return {"carriers": gateway.parts.carriers()}


def _gate(gate: Gate) -> Operation:
    async def set_gate(gateway: Gateway, arguments: Arguments) -> Json:
        if gateway.parts.scheduler is None:
            raise Conflict("The service is not running, so that no carrier is connected.")
        carrier = arguments.text("carrier")
        await gateway.parts.scheduler.ask(SetGate(carrier, gate))
        return {"carriers": [c for c in gateway.parts.carriers() if c["name"] == carrier]}

    return set_gate


async def _statistics(gateway: Gateway, _: Arguments) -> Json:
    return gateway.parts.statistics()


OPERATIONS: Final[dict[str, Operation]] = {
    "org.create": _org_create,
    "org.list": _org_list,
    "org.show": _org_show,
    "org.suspend": _org_suspend,
    "org.resume": _org_resume,
    "org.set": _org_set,
    "sender.request": _sender_request,
    "sender.list": _sender_list,
    "sender.clear": _sender_clear,
    "sender.waive": _sender_waive,
    "sender.deny": _sender_deny,
    "message.cancel": _message_cancel,
    "key.create": _key_create,
    "key.list": _key_list,
    "key.enable": _key_enable,
    "key.disable": _key_disable,
    "key.delete": _key_delete,
    "topup": _topup,
    "send": _send,
    "message.show": _message_show,
    "audit": _audit,
    "carriers": _carriers,
    "carriers.pause": _gate(Gate.PAUSED),
    "carriers.resume": _gate(Gate.OPEN),
    "carriers.drain": _gate(Gate.DRAINING),
    "statistics": _statistics,
}
