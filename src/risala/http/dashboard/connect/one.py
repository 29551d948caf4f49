"""One hook: its last requests and what was wrong with them, its settings, a new secret, a trial."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.hooks import records as hooks
from risala.engine.features.hooks.records import Hook
from risala.engine.features.request_log import records as requests
from risala.engine.features.request_log.records import LoggedRequest
from risala.engine.model.errors import NotFound, Refusal
from risala.engine.model.records import messages
from risala.engine.model.records.record import shallow
from risala.http.dashboard.connect.gallery import (
    HIDDEN,
    OWN_SECRET,
    form_values,
    programs,
    proof_words,
    shown_once,
    view_of,
)
from risala.http.dashboard.connect.guides import steps_of
from risala.http.dashboard.keys.one import OVERLAP_S, OVERLAPS_S, overlap_of, overlap_text
from risala.http.web.editing.declared import DeclaredForm
from risala.http.web.editing.edit_conflict import as_seen, edit
from risala.http.web.face import PageAccess
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import in_words
from risala.http.web.routes import PageRoute, shows

CHANGED: Final = N_("The hook is changed.")
DISABLED: Final = N_("The hook is disabled: its requests are refused from now on.")
ENABLED: Final = N_("The hook works again.")
DELETED: Final = N_("The hook is deleted.")
SENT: Final = N_("The trial is accepted. What happens to it appears on this page.")
TRIAL: Final = "Risala: {program}"
"""The text of a trial: a name is the same in every language."""
_SHOWN: Final = 10
"""The last requests: enough to see what a program does."""
_SETTINGS: Final = DeclaredForm(Hook, hooks.SETTINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestView(LoggedRequest):
    """A request to a hook, with what was wrong with it."""

    wrong: Markup | None = None
    """None: nothing."""
    message_at: str | None = None
    """The address of the page of its first message; None: it made none."""


def id_of(request: PageRequest) -> str:
    """The hook that the address names."""
    return request.arguments.get("hook_id", "")


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, object]:
    """The values of the page of a hook; with those of a refused form."""
    addressed, version = await request.ask_to_edit(hooks.SHOW, hook_id=id_of(request))
    known = await programs(request)
    hook, program = view_of(request, addressed, known), known.get(addressed.preset)
    log = await _log(request)
    typed = None if error is None else request.form
    stored = _SETTINGS.stored(request.words, addressed)
    stored["from"] = stored.pop("sender")
    of_program = program is not None and program.secret_from == "program"  # noqa: S105 -- a maker
    return {
        **await form_values(request),
        "hook": hook,
        "address": addressed.url.replace("{secret}", HIDDEN),
        "proof": proof_words(request, hook.proof),
        "steps": steps_of(
            request.words,
            program,
            hook.proof,
            addressed.url.replace("{secret}", HIDDEN),
            HIDDEN,
        ),
        "log": log,
        "overlaps": [(str(each), overlap_text(request, each)) for each in OVERLAPS_S],
        "overlap": str(OVERLAP_S),
        "wants_secret": hook.proof in OWN_SECRET or of_program,
        "to": request.form.text("to") or next(iter(hook.numbers or ()), ""),
        "needs_numbers": bool(hook.numbers or hook.alarm),
        "shown": _shown(hook, typed),
        **edit(error, typed, version or 0, stored),
    }


def _shown(hook: Hook, typed: SentForm | None) -> dict[str, str]:
    """The values of the settings' fields: what was typed, else what is stored."""
    lists = {"numbers": hook.numbers, "allowed_addresses": hook.allowed_addresses}
    stored = {
        "name": hook.name or "",
        "sender": hook.sender or "",
        "locale": hook.locale or "",
        "alarm": hook.alarm or "",
        **{name: "\n".join(each or ()) for name, each in lists.items()},
    }
    if typed is None:
        return stored
    return {name: typed.text("from" if name == "sender" else name) for name in stored}


async def _log(request: PageRequest) -> list[RequestView]:
    """The last requests, each with its sentence."""
    page = await request.ask_here(requests.LIST, key_id=id_of(request), limit=_SHOWN)
    return [await _judged(request, each) for each in page.requests]


async def _judged(request: PageRequest, row: LoggedRequest) -> RequestView:
    try:
        logged = await request.ask_here(requests.SHOW, request_id=row.request_id)
    except NotFound:  # its days are over since the list was read
        return RequestView(**shallow(row))
    answered = logged.answered if isinstance(logged.answered, dict) else {}
    message, made = answered.get("message"), answered.get("messageId")
    return RequestView(
        **shallow(row),
        wrong=in_words(request.words, message) if isinstance(message, str) and message else None,
        message_at=_message_at(request, made, row.mode) if isinstance(made, str) else None,
    )


def _message_at(request: PageRequest, message_id: str, mode: str) -> str:
    """The page of a message, whose data may be other than this page's."""
    tail = "?mode=test" if mode == "test" else ""
    return f"/app/{request.organization_id}/messages/{message_id}{tail}"


async def change(request: PageRequest) -> TrioResponse:
    """The settings of the hook."""
    hook_id, form = id_of(request), request.form
    arguments: dict[str, object] = {
        **{name: form.text(name) or None for name in ("name", "from", "locale")},
        "allowed_addresses": form.lines("allowed_addresses"),
    }
    if "numbers" in form.fields:
        arguments["numbers"] = form.lines("numbers")
    if "alarm" in form.fields:
        arguments["alarm"] = form.text("alarm") or None
    try:
        await request.ask(hooks.SET, hook_id=hook_id, **arguments, **as_seen(form))
    except Refusal as error:
        return await request.again("connect/one.html", error, await _values(request, error))
    return request.go(_home(request), CHANGED)


async def enable(request: PageRequest) -> TrioResponse:
    await request.ask(hooks.ENABLE, hook_id=id_of(request))
    return request.go(_home(request), ENABLED)


async def disable(request: PageRequest) -> TrioResponse:
    await request.ask(hooks.DISABLE, hook_id=id_of(request))
    return request.go(_home(request), DISABLED)


async def rotate(request: PageRequest) -> TrioResponse:
    """Give the hook another secret, which is shown once."""
    arguments: dict[str, object] = {
        "overlap_s": overlap_of(request),
        **request.form.filled("secret"),
    }
    try:
        made = await request.ask(hooks.ROTATE, hook_id=id_of(request), **arguments)
    except Refusal as error:
        return await request.again("connect/one.html", error, await _values(request))
    return await shown_once(request, made, is_new=False)


async def send_trial(request: PageRequest) -> TrioResponse:
    """A message as this hook would send it, to see it arrive."""
    hook = await request.ask(hooks.SHOW, hook_id=id_of(request))
    view = view_of(request, hook, await programs(request))
    text = TRIAL.format(program=view.program)
    arguments: dict[str, object] = {
        "to": request.form.text("to"),
        "body": text,
        "mode": hook.mode.value,
    }
    if hook.sender is not None:
        arguments["from"] = hook.sender
    try:
        sent = await request.ask_here(messages.SEND, **arguments)
    except Refusal as error:
        return await request.again("connect/one.html", error, await _values(request))
    return request.go(_message_at(request, sent.message_id, hook.mode.value), SENT)


async def _asked(request: PageRequest) -> dict[str, object]:
    hook = await request.ask(hooks.SHOW, hook_id=id_of(request))
    return {"hook": view_of(request, hook, await programs(request))}


async def delete(request: PageRequest) -> TrioResponse:
    values = await _asked(request)
    hook = await request.ask(hooks.SHOW, hook_id=id_of(request))
    if request.form.text("confirm") != hook.last4:
        fault = request.words("These are not the last four characters of the secret.")
        return await request.wrong("connect/delete.html", {"confirm": fault}, **values)
    await request.ask(hooks.DELETE, hook_id=hook.id)
    return request.go(request.at("connect"), DELETED)


def _home(request: PageRequest) -> str:
    return request.at(f"connect/{id_of(request)}")


_HOOK: Final = "/app/<org>/connect/<hook_id>"
_DEVELOPER: Final = PageAccess.DEVELOPER
ROUTES: Final = (
    PageRoute(path=_HOOK, view=shows("connect/one.html", _values), access=PageAccess.VIEWER),
    PageRoute(path=_HOOK, view=change, access=_DEVELOPER, method="POST"),
    PageRoute(path=f"{_HOOK}/enable", view=enable, access=_DEVELOPER, method="POST"),
    PageRoute(path=f"{_HOOK}/disable", view=disable, access=_DEVELOPER, method="POST"),
    PageRoute(path=f"{_HOOK}/rotate", view=rotate, access=_DEVELOPER, method="POST", once=True),
    PageRoute(path=f"{_HOOK}/trial", view=send_trial, access=_DEVELOPER, method="POST", once=True),
    PageRoute(path=f"{_HOOK}/delete", view=shows("connect/delete.html", _asked), access=_DEVELOPER),
    PageRoute(path=f"{_HOOK}/delete", view=delete, access=_DEVELOPER, method="POST"),
)
