"""Forms that create or cost something take effect once: despite a double click, reload or Back.

Such a form carries a key that was made when it was drawn. The first post with a key takes effect;
any other waits for the first one and gets the same redirect. A refusal does not use the key.

Keys are signed with a secret of this process, so only used keys are kept, up to a limit. A form
from before a restart, or older than the kept keys, is not done at all, and its reader is asked to
check first.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

import trio

USED_MAX: Final = 20_000
"""Keys that are remembered: some 5 MB, and more forms than are sent in a day."""
AGE_MAX_MS: Final = 24 * 3_600_000
"""A form that was open for longer is drawn again."""


@dataclass(slots=True)
class OnceUse:
    """The result of the first post with a key."""

    minted_at: int
    over: trio.Event = field(default_factory=trio.Event)
    location: str | None = None
    """The redirect; None while the post is running, or where it was answered without a redirect."""


class StaleForm(Exception):
    """The key is not one that could still be used: nothing was done."""


class OnceKeys:
    """Makes keys, and remembers used ones. All on one loop."""

    def __init__(self, secret: bytes | None = None) -> None:
        self._secret = secret or secrets.token_bytes(32)
        self._used: OrderedDict[str, OnceUse] = OrderedDict()
        self._floor_ms = 0

    def mint(self, user_id: str, now_ms: int) -> str:
        nonce = f"{now_ms:x}.{secrets.token_urlsafe(16)}"
        return f"{nonce}.{self._mac(user_id, nonce)}"

    def find(self, user_id: str, key: str, now_ms: int) -> OnceUse | None:
        """The use of a key; None: it is new and valid.

        Raises:
            StaleForm: it is not ours, not this user's, or too old.
        """
        nonce, _, mac = key.rpartition(".")
        if not hmac.compare_digest(mac.encode(), self._mac(user_id, nonce).encode()):
            raise StaleForm
        used = self._used.get(key)
        minted_at = int(nonce.partition(".")[0], 16)
        if used is None and minted_at < max(self._floor_ms, now_ms - AGE_MAX_MS):
            raise StaleForm
        return used

    def begin(self, key: str) -> OnceUse:
        """Use a key, which :meth:`find` knew to be new."""
        use = self._used[key] = OnceUse(int(key.partition(".")[0], 16))
        while len(self._used) > USED_MAX:
            _, oldest = self._used.popitem(last=False)
            self._floor_ms = max(self._floor_ms, oldest.minted_at + 1)
        return use

    def give_back(self, key: str) -> None:
        """Make a key new again, because its form was refused."""
        use = self._used.pop(key, None)
        if use is not None:
            use.over.set()

    def _mac(self, user_id: str, nonce: str) -> str:
        text = f"{user_id}.{nonce}".encode()
        return hmac.new(self._secret, text, hashlib.sha256).hexdigest()[:32]
