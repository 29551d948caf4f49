"""API keys: made, shown once, switched off and on, deleted. The model of a page for the others."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.model.errors import Refusal
from risala.engine.model.records import keys
from risala.engine.model.records.keys import ApiKey, KeyType
from risala.engine.model.records.record import shallow
from risala.engine.model.states import Mode
from risala.http.dashboard.snippets import number_of, send_snippets
from risala.http.web.editing.declared import DeclaredField, DeclaredForm
from risala.http.web.face import PageAccess
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

DISABLED: Final = N_("The key is disabled: it is refused from now on.")
ENABLED: Final = N_("The key works again.")
DELETED: Final = N_("The key is deleted.")
DAY_MS: Final = 86_400_000
NEW_KEY: Final = DeclaredForm(ApiKey, keys.DESCRIBED)
SOON_MS: Final = 14 * DAY_MS
"""A key that expires within so long is marked: time enough to put another in its place."""
IDLE_DAYS: Final = 30
"""A key unused for so long is better disabled."""


async def show(visit: PageRequest) -> TrioResponse:
    return await visit.page(
        "keys/list.html",
        **await _keys(visit),
        **await visit.of_features("keys"),
        made=None,
        form=visit.form,
        described=_described(visit),
    )


async def show_new(visit: PageRequest) -> TrioResponse:
    """The form of the dialog as a page: for browsers without script."""
    return await visit.page("keys/new.html", form=visit.form, described=_described(visit))


async def create(visit: PageRequest) -> TrioResponse:
    form = visit.form
    key_type, mode = form.text("type", "secret"), form.text("key_mode", "live")
    asked: dict[str, object] = {"type": key_type, "mode": mode, **NEW_KEY.given(form)}
    if key_type == "publishable":
        asked["without_id"] = False  # no send returns it
        if origins := form.lines("allowed_origins"):
            asked["allowed_origins"] = origins
    if addresses := form.lines("allowed_addresses"):
        asked["allowed_addresses"] = addresses
    if expires := form.text("expires_at"):
        asked["expires_at"] = visit.formats.with_zone(expires)
    try:
        created = await visit.ask_here(keys.CREATE, **asked)
    except Refusal as error:
        return await visit.again("keys/new.html", error, form=form, described=_described(visit))
    number = number_of(visit.plan, is_test=mode == "test")
    return await visit.page(
        "keys/list.html",
        is_secret=True,
        **await _keys(visit),
        **await visit.of_features("keys"),
        made=view_of(visit, created.key),
        value=created.value,
        snippets=send_snippets(visit.base_url, number, created.value),
        form=SentForm(),
        described=NEW_KEY.drawn(visit.words, None, SentForm()),
    )


def _described(visit: PageRequest) -> list[DeclaredField]:
    """The fields of a new key, with the typed values."""
    return NEW_KEY.drawn(visit.words, None, visit.form)


async def enable(visit: PageRequest) -> TrioResponse:
    await visit.ask(keys.ENABLE, key_id=id_of(visit))
    return visit.go(_back(visit), ENABLED)


async def disable(visit: PageRequest) -> TrioResponse:
    await visit.ask(keys.DISABLE, key_id=id_of(visit))
    return visit.go(_back(visit), DISABLED)


def id_of(visit: PageRequest) -> str:
    """The key that the address names."""
    return visit.arguments["key_id"]


def _back(visit: PageRequest) -> str:
    """The page of the form: that of the key, or the list."""
    is_page = visit.form.text("from") == "page"
    return visit.at(f"keys/{id_of(visit)}" if is_page else "keys")


async def ask_delete(visit: PageRequest) -> TrioResponse:
    key = view_of(visit, await visit.ask(keys.SHOW, key_id=id_of(visit)))
    return await visit.page("keys/delete.html", key=key)


async def delete(visit: PageRequest) -> TrioResponse:
    key = view_of(visit, await visit.ask(keys.SHOW, key_id=id_of(visit)))
    if visit.form.text("confirm") != key.last4:
        fault = visit.words("These are not the last four characters of the key.")
        return await visit.wrong("keys/delete.html", {"confirm": fault}, key=key)
    await visit.ask(keys.DELETE, key_id=key.id)
    return visit.go(visit.at("keys"), DELETED)


async def _keys(visit: PageRequest) -> dict[str, Any]:
    found = await visit.ask_here(keys.LIST)
    return {"keys": [view_of(visit, key) for key in found.keys], "age_days": found.age_days}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyView(ApiKey):
    """A key as its reader sees it."""

    label: str
    kind: Markup
    shown: str
    """The ends of its value."""
    idle_ms: int
    """Since it was last used, or made."""
    left_ms: int | None
    """Until it expires, 0 or less: it has expired; None: it never does."""

    @property
    def state(self) -> str:
        """The look of its state: ``up``, ``disabled`` or ``expired``."""
        if not self.enabled:
            return "disabled"
        return "expired" if self.is_expired else "up"

    @property
    def is_expired(self) -> bool:
        return self.left_ms is not None and self.left_ms <= 0

    @property
    def is_ending(self) -> bool:
        """Whether it works, and expires soon."""
        return self.state == "up" and self.left_ms is not None and self.left_ms <= SOON_MS

    @property
    def freshness(self) -> str:
        """The class by which the last use is drawn: today's in green, a forgotten key's in
        amber."""
        if self.idle_ms > IDLE_DAYS * DAY_MS:
            return "warn-text"
        return "up" if self.last_used_at and self.idle_ms < DAY_MS else ""


def view_of(visit: PageRequest, key: ApiKey) -> KeyView:
    """A key as its reader sees it."""
    words = visit.words
    is_secret, is_test = key.type is KeyType.SECRET, key.mode is Mode.TEST
    kinds: dict[tuple[bool, bool], Markup] = {
        (True, False): words("secret"),
        (True, True): words("secret, test"),
        (False, False): words("publishable"),
        (False, True): words("publishable, test"),
    }
    return KeyView(
        **shallow(key),
        label=key.name or words("without a name"),
        kind=kinds[is_secret, is_test],
        shown=f"{'sk' if is_secret else 'pk'}_{key.mode}_…{key.last4}",
        idle_ms=visit.formats.now_ms - (key.last_used_at or key.created_at),
        left_ms=None if key.expires_at is None else key.expires_at - visit.formats.now_ms,
    )


_KEY: Final = "/app/<org>/keys/<key_id>"
ROUTES: Final = (
    PageRoute(path="/app/<org>/keys", view=show, access=PageAccess.VIEWER),
    PageRoute(
        path="/app/<org>/keys", view=create, access=PageAccess.DEVELOPER, method="POST", once=True
    ),
    PageRoute(path="/app/<org>/keys/new", view=show_new, access=PageAccess.DEVELOPER),
    PageRoute(path=f"{_KEY}/enable", view=enable, access=PageAccess.DEVELOPER, method="POST"),
    PageRoute(path=f"{_KEY}/disable", view=disable, access=PageAccess.DEVELOPER, method="POST"),
    PageRoute(path=f"{_KEY}/delete", view=ask_delete, access=PageAccess.DEVELOPER),
    PageRoute(path=f"{_KEY}/delete", view=delete, access=PageAccess.DEVELOPER, method="POST"),
)
