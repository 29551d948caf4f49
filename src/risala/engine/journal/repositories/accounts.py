"""Organizations and their keys."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.journal import key_ages
from risala.engine.journal.accounts import (
    accounts,
    countries,
    key_places,
    payers,
    spending,
)
from risala.engine.journal.accounts import accounts as key_reminders
from risala.engine.journal.pages import organizations, requests
from risala.engine.journal.store.repository import Store, audited_command, command, read


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
    stored_payer = read(payers.stored_payer)
    parts_of = read(payers.parts_of)
    put_payer = audited_command(payers.put_payer)
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
    to_remind = read(key_reminders.due)
    owe_reminder = command(key_reminders.owe)
    has_age_rule = read(key_ages.has_rule)
    date_keys = command(key_ages.date_keys)
    places = read(key_places.of_key)
    note_places = command(key_places.note)
    forget_old_places = command(key_places.forget_old)
