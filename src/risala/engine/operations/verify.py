"""Verifications by the operator's hand: configuration, sends, checks, cancels."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.journal.messages import verifications
from risala.engine.model.commands import KeyType, Mode, Principal, SendCode
from risala.engine.model.errors import Invalid
from risala.engine.model.money import money
from risala.engine.model.wire import verification_wire
from risala.engine.operations.arguments import Arguments, Json, Operation
from risala.engine.operations.messages import unserved_warning
from risala.engine.rules.template import BUILT_IN
from risala.engine.rules.verify_settings import VerifySettings, parse_verify_settings
from risala.engine.services import Services
from risala.engine.verify.sessions import Check, Open, Withdraw, verify_settings, view_of
from risala.sms.address import is_number


async def _config(services: Services, arguments: Arguments) -> Json:
    """Show an organization's Verify configuration, after changing what was given."""
    organization_id = arguments.text("organization_id")
    services.accounts.fresh_organization(organization_id)
    current = verify_settings(services.reader, organization_id)
    changes = {key: value for key, value in arguments.values.items() if key != "organization_id"}
    if changes:
        current = parse_verify_settings({**current.model_dump(), **changes})
        _check_sender(services, organization_id, current)
        text = current.model_dump_json(exclude_defaults=True)
        await services.recorder.journal.commit(
            lambda conn: verifications.put_settings(conn, organization_id, text)
        )
    return _shown(services, organization_id, current)


def _check_sender(services: Services, organization_id: str, settings: VerifySettings) -> None:
    if settings.sender is None:
        return
    found = services.senders.by_name(organization_id, settings.sender)
    if found is None or found.status != "approved":
        text = f"The sender {settings.sender!r} is not approved for the organization."
        raise Invalid("sender", "not_approved", text)


def _shown(services: Services, organization_id: str, settings: VerifySettings) -> Json:
    organization = services.accounts.organization(organization_id)
    sizes: dict[str, Any] = {}
    warnings = []
    for locale in (None, *BUILT_IN):
        name = locale or "default"
        size = settings.size(settings.text(locale, None, None))
        cost = money(services.intake.prices.of(organization, size.segments))
        sizes[name] = {
            "segments": size.segments,
            "encoding": size.alphabet.value,
            "price": cost,
        }
        if size.segments > 1:
            warnings.append(
                f"The template for {name} makes {size.segments} segments:"
                f" each code costs {cost} {organization.currency}."
            )
    return {
        "organizationId": organization_id,
        "settings": settings.model_dump(mode="json"),
        "sizes": sizes,
        "warnings": warnings,
    }


def _principal(services: Services, arguments: Arguments) -> Principal:
    organization = services.accounts.fresh_organization(arguments.text("organization_id"))
    return Principal(organization.id, "operator", KeyType.SECRET, Mode.LIVE)


async def _send(services: Services, arguments: Arguments) -> Json:
    to = arguments.text("to")
    if not is_number(to):
        raise Invalid("to", "invalid_phone_number", "`to` must look like +22236123456.")
    command = SendCode(
        to=to,
        locale=arguments.text_or_none("locale"),
        app_hash=arguments.text_or_none("app_hash"),
        origin=arguments.text_or_none("origin"),
    )
    principal = _principal(services, arguments)
    verification_id = await services.sessions.ask(Open(principal, command))
    message_id = verifications.of_operator(services.reader, verification_id).message_id
    return {"verificationId": verification_id, **unserved_warning(services, message_id)}


async def _check(services: Services, arguments: Arguments) -> Json:
    approved = await services.sessions.ask(
        Check(
            _principal(services, arguments),
            arguments.text("verification_id"),
            arguments.text("code"),
        )
    )
    return {"status": "approved" if approved else "denied"}


async def _get(services: Services, arguments: Arguments) -> Json:
    """Any session, with what only the operator may see of it."""
    verification_id = arguments.text("verification_id")
    row = verifications.of_operator(services.reader, verification_id)
    view = view_of(row, services.recorder.clock.now_ms())
    return {
        **verification_wire(view),
        "organizationId": view.organization_id,
        "reason": view.reason,
        "messageId": view.message_id,
    }


async def _cancel(services: Services, arguments: Arguments) -> Json:
    await services.sessions.ask(Withdraw(arguments.text("verification_id")))
    return await _get(services, arguments)


OPERATIONS: Final[dict[str, Operation]] = {
    "verify.config": _config,
    "verify.send": _send,
    "verify.check": _check,
    "verify.get": _get,
    "verify.cancel": _cancel,
}
