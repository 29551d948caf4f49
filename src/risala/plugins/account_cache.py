"""What carriers of one account share, as long as a driver has it: built once for an account."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final
from weakref import WeakValueDictionary

from risala.plugins.contract import Driver, DriverFactory
from risala.plugins.sharing import SharedAccount, Sharing

_NO_SHARED: Final = "its `shared` built something that is no SharedAccount"
_NOT_WEAK: Final = (
    "what its `shared` built cannot be referred to weakly: give its class no slots, or"
    " `__weakref__` among them"
)
_UNTOLD: Final = "its driver's `shared_account` is not what `build` was given"


class AccountCache:
    """The shared parts of all accounts that a driver has now. Those of drivers that are gone, or
    were only built to check the settings, go by themselves."""

    def __init__(self) -> None:
        self._by_account: WeakValueDictionary[tuple[str, bytes], SharedAccount] = (
            WeakValueDictionary()
        )

    def build(self, factory: DriverFactory, carrier: str, settings: Any) -> Driver:  # noqa: ANN401 -- the factory's own
        """Build a carrier's driver, with what its account shares if it shares something.

        Raises:
            TypeError: the factory or the driver does not keep to the contract.
            Exception: what the factory raises.
        """
        if factory.shared is None or factory.account_key is None:
            return factory.build(carrier, settings)
        shared = self._shared(factory.name, factory.account_key(settings), factory.shared, settings)
        driver = factory.build(carrier, settings, shared)
        if not isinstance(driver, Sharing) or driver.shared_account is not shared:
            raise TypeError(_UNTOLD)
        return driver

    def _shared(
        self, driver: str, key: str, build: Callable[[Any], SharedAccount], settings: object
    ) -> SharedAccount:
        # The key may be made of a password: of it only the hash stays.
        account = driver, sha256(key.encode()).digest()
        shared = self._by_account.get(account)
        if shared is None:
            shared = build(settings)
            if not isinstance(shared, SharedAccount):
                raise TypeError(_NO_SHARED)
            try:
                self._by_account[account] = shared
            except TypeError:
                raise TypeError(_NOT_WEAK) from None
        return shared
