"""Organizations and their keys."""

from __future__ import annotations

from typing import Final

from risala.engine.journal.rows import OrganizationChange
from risala.engine.model.commands import KeyType, Mode
from risala.engine.model.errors import Invalid
from risala.engine.model.origins import parse_origins
from risala.engine.model.wire import key_wire, organization_wire
from risala.engine.operations.arguments import Arguments, Json, Operation
from risala.engine.services import Services


async def _org_create(services: Services, arguments: Arguments) -> Json:
    organization = await services.accounts.create_organization(
        arguments.text("name"),
        services.settings.service.currency,
        arguments.amount_or_none("price_per_segment"),
    )
    return organization_wire(organization)


async def _org_list(services: Services, _: Arguments) -> Json:
    organizations = services.accounts.list_organizations()
    return {"organizations": [organization_wire(each) for each in organizations]}


async def _org_show(services: Services, arguments: Arguments) -> Json:
    organization_id = arguments.text("organization_id")
    return organization_wire(services.accounts.fresh_organization(organization_id))


async def _org_suspend(services: Services, arguments: Arguments) -> Json:
    organization_id = arguments.text("organization_id")
    organization = await services.accounts.set_status(organization_id, "suspended")
    await services.delivery.suspend(organization_id)
    return organization_wire(organization)


async def _org_resume(services: Services, arguments: Arguments) -> Json:
    organization_id = arguments.text("organization_id")
    organization = await services.accounts.set_status(organization_id, "active")
    await services.delivery.resume(organization_id)
    return organization_wire(organization)


async def _org_set(services: Services, arguments: Arguments) -> Json:
    values = arguments.values
    change = OrganizationChange(
        name=arguments.text_or_none("name"),
        smart_encoding=arguments.flag_or_none("smart_encoding"),
        sets_price="price_per_segment" in values,
        price_per_segment=arguments.amount_or_none("price_per_segment"),
        sets_rate="sms_per_s" in values,
        sms_per_s=arguments.rate_or_none("sms_per_s"),
        sets_low_balance="low_balance" in values,
        low_balance=arguments.amount_or_none("low_balance"),
        sets_operator_spend_cap="spend_cap" in values,
        operator_spend_cap=arguments.amount_or_none("spend_cap"),
        sets_owner_spend_cap="owner_spend_cap" in values,
        owner_spend_cap=arguments.amount_or_none("owner_spend_cap"),
        time_zone=arguments.text_or_none("time_zone"),
    )
    organization = await services.accounts.change(arguments.text("organization_id"), change)
    return organization_wire(organization)


async def _key_create(services: Services, arguments: Arguments) -> Json:
    try:
        key_type = KeyType(arguments.text("type"))
        mode = Mode(arguments.text_or_none("mode") or "live")
    except ValueError as error:
        raise Invalid(
            "type", "invalid_type", "A key is `secret` or `publishable`, `live` or `test`."
        ) from error
    created = await services.accounts.create_key(
        arguments.text("organization_id"),
        key_type,
        mode,
        arguments.text_or_none("name"),
        _origins(arguments),
    )
    return {"key": key_wire(created.key), "value": created.value}


def _origins(arguments: Arguments) -> tuple[str, ...] | None:
    """None, and an empty list, stand for any origin."""
    value = arguments.values.get("allowed_origins") or []
    if not isinstance(value, list):
        text = "`allowed_origins` must be a list."
        raise Invalid("allowed_origins", "not_a_list", text)
    return parse_origins(value) or None


async def _key_set(services: Services, arguments: Arguments) -> Json:
    """Show a key, after changing what was given."""
    key_id = arguments.text("key_id")
    if "allowed_origins" in arguments.values:
        await services.accounts.set_key_origins(key_id, _origins(arguments))
    return key_wire(services.accounts.key(key_id))


async def _key_list(services: Services, arguments: Arguments) -> Json:
    keys = services.accounts.list_keys(arguments.text("organization_id"))
    return {"keys": [key_wire(key) for key in keys]}


async def _key_enable(services: Services, arguments: Arguments) -> Json:
    key_id = arguments.text("key_id")
    return key_wire(await services.accounts.set_key_enabled(key_id, enabled=True))


async def _key_disable(services: Services, arguments: Arguments) -> Json:
    key_id = arguments.text("key_id")
    return key_wire(await services.accounts.set_key_enabled(key_id, enabled=False))


async def _key_delete(services: Services, arguments: Arguments) -> Json:
    return key_wire(await services.accounts.delete_key(arguments.text("key_id")))


OPERATIONS: Final[dict[str, Operation]] = {
    "org.create": _org_create,
    "org.list": _org_list,
    "org.show": _org_show,
    "org.suspend": _org_suspend,
    "org.resume": _org_resume,
    "org.set": _org_set,
    "key.create": _key_create,
    "key.list": _key_list,
    "key.set": _key_set,
    "key.enable": _key_enable,
    "key.disable": _key_disable,
    "key.delete": _key_delete,
}
