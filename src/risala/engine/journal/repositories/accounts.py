"""Organizations, their keys, credentials for other faces, and hooks."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.journal.accounts import (
    accounts,
    countries,
    credentials,
    hooks,
    key_reminders,
    spending,
)
from risala.engine.journal.pages import organizations, requests
from risala.engine.journal.repositories.store import Store, audited_command, command, read


@dataclass(frozen=True, slots=True)
class OrganizationRepository:
    """Organizations. All reads are by an index, on the loop's thread; ``all`` reads every one.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    all = read(accounts.organizations)
    organization = read(accounts.organization)
    name = read(requests.organization_name)
    page = read(organizations.page)
    facts = read(organizations.facts)
    spent = read(spending.spent)
    opened = read(countries.opened)
    add = audited_command(accounts.add_organization)
    set_status = audited_command(accounts.set_organization_status)
    change = audited_command(accounts.change_organization)
    open_country = audited_command(countries.open_country)
    close_country = audited_command(countries.close_country)
    set_price = audited_command(countries.set_price)
    drop_price = audited_command(countries.drop_price)


@dataclass(frozen=True, slots=True)
class KeyRepository:
    """API keys. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    Each that names a key raises ``NotFound`` if the id is unknown.
    """

    _store: Store

    of_digest = read(accounts.key_by_hash)
    of_old_digest = read(accounts.key_by_old_hash)
    of_organization = read(accounts.keys)
    key = read(accounts.key)
    add = audited_command(accounts.add_key)
    set_enabled = audited_command(accounts.set_key_enabled)
    change = audited_command(accounts.change_key)
    rotate = audited_command(accounts.rotate_key)
    end_old_value = audited_command(accounts.end_old_value)
    delete = audited_command(accounts.delete_key)
    touch = command(accounts.touch_keys)
    owe_reminders = command(key_reminders.owe_reminders)


@dataclass(frozen=True, slots=True)
class CredentialRepository:
    """Credentials for faces other than the API. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    by_username = read(credentials.by_username)
    credential = read(credentials.credential)
    proof = read(credentials.proof)
    of_organization = read(credentials.of_organization)
    add = audited_command(credentials.add)
    revoke = audited_command(credentials.revoke)
    touch = command(credentials.touch)


@dataclass(frozen=True, slots=True)
class HookRepository:
    """Hooks. All reads are by an index, on the loop's thread; ``storms`` reads every window.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    Each that names a hook raises ``NotFound`` if the id is unknown.
    """

    _store: Store

    hook = read(hooks.hook)
    secrets = read(hooks.secrets)
    of_organization = read(hooks.of_organization)
    storms = read(hooks.storms)
    add = audited_command(hooks.add)
    change = audited_command(hooks.change)
    rotate = audited_command(hooks.rotate)
    delete = audited_command(hooks.delete)
    touch = command(hooks.touch)
    take_alert = command(hooks.take_alert)
    end_storm = command(hooks.end_storm)
