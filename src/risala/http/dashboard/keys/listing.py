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


async def show(request: PageRequest) -> TrioResponse:
    return await request.page(
        "keys/list.html",
        **await _keys(request),
        **await request.of_features("keys"),
        made=None,
        form=request.form,
        described=_described(request),
    )


async def show_new(request: PageRequest) -> TrioResponse:
    """The form of the dialog as a page: for browsers without script."""
    return await request.page("keys/new.html", form=request.form, described=_described(request))


async def create(request: PageRequest) -> TrioResponse:
    form = request.form
    key_type, mode = form.text("type", "secret"), form.text("key_mode", "live")
    arguments: dict[str, object] = {"type": key_type, "mode": mode, **NEW_KEY.given(form)}
    if key_type == "publishable":
        arguments["without_id"] = False  # no send returns it
        if origins := form.lines("allowed_origins"):
            arguments["allowed_origins"] = origins
    if addresses := form.lines("allowed_addresses"):
        arguments["allowed_addresses"] = addresses
    if expires := form.text("expires_at"):
        arguments["expires_at"] = request.formats.with_zone(expires)
    try:
        created = await request.ask_here(keys.CREATE, **arguments)
    except Refusal as error:
        return await request.again("keys/new.html", error, form=form, described=_described(request))
    number = number_of(request.plan, is_test=mode == "test")
    return await request.page(
        "keys/list.html",
        is_secret=True,
        **await _keys(request),
        **await request.of_features("keys"),
        made=view_of(request, created.key),
        value=created.value,
        snippets=send_snippets(request.base_url, number, created.value),
        form=SentForm(),
        described=NEW_KEY.drawn(request.words, None, SentForm()),
    )


def _described(request: PageRequest) -> list[DeclaredField]:
    """The fields of a new key, with the typed values."""
    return NEW_KEY.drawn(request.words, None, request.form)


async def enable(request: PageRequest) -> TrioResponse:
    await request.ask(keys.ENABLE, key_id=id_of(request))
    return request.go(_back(request), ENABLED)


async def disable(request: PageRequest) -> TrioResponse:
    await request.ask(keys.DISABLE, key_id=id_of(request))
    return request.go(_back(request), DISABLED)


def id_of(request: PageRequest) -> str:
    """The key that the address names."""
    return request.arguments["key_id"]


def _back(request: PageRequest) -> str:
    """The page of the form: that of the key, or the list."""
    is_page = request.form.text("from") == "page"
    return request.at(f"keys/{id_of(request)}" if is_page else "keys")


async def ask_delete(request: PageRequest) -> TrioResponse:
    key = view_of(request, await request.ask(keys.SHOW, key_id=id_of(request)))
    return await request.page("keys/delete.html", key=key)


async def delete(request: PageRequest) -> TrioResponse:
    key = view_of(request, await request.ask(keys.SHOW, key_id=id_of(request)))
    if request.form.text("confirm") != key.last4:
        fault = request.words("These are not the last four characters of the key.")
        return await request.wrong("keys/delete.html", {"confirm": fault}, key=key)
    await request.ask(keys.DELETE, key_id=key.id)
    return request.go(request.at("keys"), DELETED)


async def _keys(request: PageRequest) -> dict[str, Any]:
    listed = await request.ask_here(keys.LIST)
    return {"keys": [view_of(request, key) for key in listed.keys], "age_days": listed.age_days}


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


def view_of(request: PageRequest, key: ApiKey) -> KeyView:
    """A key as its reader sees it."""
    words = request.words
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
        idle_ms=request.formats.now_ms - (key.last_used_at or key.created_at),
        left_ms=None if key.expires_at is None else key.expires_at - request.formats.now_ms,
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
