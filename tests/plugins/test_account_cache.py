"""What carriers of one account share is built once, and goes with the last driver."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from risala.plugins.account_cache import AccountCache
from risala.plugins.contract import DriverFactory
from risala.plugins.testing.fake_driver import FakeDriver

SECRET = "password-of-the-account"


class Table(BaseModel):
    password: str = SECRET
    sim: int = 1


class Account:
    def __init__(self, settings: Table) -> None:
        self.settings = settings

    async def run(self) -> None: ...


class Slotted(Account):
    __slots__ = ("settings",)


@dataclass
class Line(FakeDriver):
    shared_account: Any = None


def factory(shared: Any = Account, build: Any = None, name: str = "acme") -> DriverFactory:
    def driver(carrier: str, settings: Table, account: Account) -> Line:
        return Line(shared_account=account)

    return DriverFactory(name, Table, build or driver, "", shared, lambda table: table.password)


def test_those_of_one_key_share_and_others_do_not():
    cache, acme = AccountCache(), factory()
    one = cache.build(acme, "one", Table(sim=1))
    two = cache.build(acme, "two", Table(sim=2))
    other = cache.build(acme, "other", Table(password="another"))
    foreign = cache.build(factory(name="foreign"), "foreign", Table())
    assert one.shared_account is two.shared_account
    assert one.shared_account.settings.sim == 1
    assert len({id(each.shared_account) for each in (one, other, foreign)}) == 3


def test_it_goes_with_the_last_driver_and_no_password_stays():
    cache, acme = AccountCache(), factory()
    one = cache.build(acme, "one", Table())
    first = id(one.shared_account)
    cache.build(acme, "preview", Table(sim=3))  # only to check the settings
    assert id(cache.build(acme, "two", Table()).shared_account) == first
    assert SECRET not in repr(list(cache._by_account))
    del one
    gc.collect()
    assert len(cache._by_account) == 0


class Plain:
    def __init__(self, settings: Table) -> None: ...


class NotWeak:
    __slots__ = ()

    def __init__(self, settings: Table) -> None: ...

    async def run(self) -> None: ...


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (factory(Plain), "no SharedAccount"),
        (factory(NotWeak), "cannot be referred to weakly"),
        (factory(build=lambda *_: FakeDriver()), "is not what `build` was given"),
        (factory(build=lambda *_: Line()), "is not what `build` was given"),
    ],
)
def test_what_does_not_keep_to_the_contract_is_told(wrong, sentence):
    with pytest.raises(TypeError, match=sentence):
        AccountCache().build(wrong, "one", Table())


def test_a_factory_without_it_builds_as_ever():
    built = AccountCache().build(DriverFactory("x", Table, lambda *_: FakeDriver(), ""), "x", 1)
    assert isinstance(built, FakeDriver)


def test_a_factory_says_both_or_neither():
    with pytest.raises(ValueError, match="both"):
        DriverFactory("x", Table, lambda *_: FakeDriver(), "", Account)
