"""The programs that can send through a hook, and the hooks of an organization: made here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from typing import Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.hooks import records as hooks
from risala.engine.features.hooks.records import Hook, HookPreset, MadeHook
from risala.engine.model.errors import NotFound, Refusal
from risala.engine.model.records import senders
from risala.engine.model.records.verify.settings import CONFIG
from risala.http.dashboard.connect.guides import ShownStep, steps_of
from risala.http.dashboard.verify.settings import own_names
from risala.http.web.face import NavItem, PageAccess
from risala.http.web.languages import N_
from risala.http.web.lists import typed
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

KINDS: Final = {
    "sign-in": N_("Sign-in"),
    "monitoring": N_("Monitoring"),
    "business": N_("Business software"),
    "home": N_("At home"),
}
"""The groups of the gallery, in its order."""
OWN_SECRET: Final = frozenset({"timed-signature", "body-signature"})
"""Proofs whose secret the program makes."""
HIDDEN: Final = "‹secret›"
"""In the place of a secret that cannot be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookView(Hook):
    """A hook as its reader sees it."""

    program: str
    label: str


async def programs(request: PageRequest) -> dict[str, HookPreset]:
    """The programs that there is a preset for, by its name."""
    return {each.name: each for each in (await request.ask_here(hooks.PRESETS)).presets}


def view_of(request: PageRequest, hook: Hook, known: Mapping[str, HookPreset]) -> HookView:
    """A hook as its reader sees it."""
    program = known.get(hook.preset)
    title = request.words("Another program") if program is None else program.title
    values = {each.name: getattr(hook, each.name) for each in fields(Hook)}
    return HookView(**values, program=title, label=hook.name or title)


async def _program(request: PageRequest) -> HookPreset:
    """The program that the address names; one that is not there is 404."""
    program = (await programs(request)).get(request.arguments.get("preset", ""))
    if program is None:
        raise NotFound("There is no such program.")
    return program


async def _gallery(request: PageRequest) -> dict[str, object]:
    known = await programs(request)
    sought = request.form.text("q")
    shown = [each for each in known.values() if sought.casefold() in each.title.casefold()]
    groups = [
        (kind, request.words(title), [each for each in shown if each.kind == kind])
        for kind, title in KINDS.items()
    ]
    listed = (await request.ask_here(hooks.LIST)).hooks
    return {
        "q": sought,
        "groups": [group for group in groups if group[2]],
        "used": Counter(each.preset for each in listed),
        "hooks": [view_of(request, each, known) for each in listed],
    }


async def form_values(request: PageRequest) -> dict[str, object]:
    """What the fields of a hook's forms offer."""
    words = request.words
    names = (await request.ask_here(senders.LIST)).senders
    approved = [each.name for each in names if each.status == "approved"]
    languages = own_names(await request.ask_here(CONFIG))
    return {
        "form": request.form,
        "senders": approved,
        "languages": [("", words("As the organization's settings say")), *languages.items()],
        **await request.of_features("hook"),
        "labels": {
            "name": words("Name"),
            "numbers": words("Numbers"),
            "alarm": words("Alarm"),
            "from": words("Sender"),
            "locale": words("Language"),
            "proof": words("How it authenticates"),
            "secret": words("The program's own secret"),
            "allowed_addresses": words("Allowed addresses"),
        },
    }


async def _new(request: PageRequest) -> dict[str, object]:
    program = await _program(request)
    sign = OWN_SECRET.intersection(program.proofs)
    return {
        "program": program,
        "steps": _steps(request, program, program.proofs[0]),
        "proofs": [(each, proof_words(request, each)) for each in program.proofs],
        "wants_secret": bool(sign) or program.secret_from == "program",  # noqa: S105 -- a maker
        **await form_values(request),
    }


def _steps(request: PageRequest, program: HookPreset, proof: str) -> list[ShownStep]:
    """As its page shows them before there is a hook."""
    return steps_of(request.words, program, proof, f"{request.base_url}/hooks/…", HIDDEN)


def proof_words(request: PageRequest, proof: str) -> Markup:
    """How a program proves itself, as its administrator knows it."""
    words = request.words
    return {
        "standard-webhooks": words("signature (Standard Webhooks)"),
        "bearer": words("token in the header Authorization"),
        "basic": words("user name and password"),
        "header": words("secret in a header"),
        "path": words("secret at the end of the address"),
        "timed-signature": words("signature with a secret of its own"),
        "body-signature": words("signature with a secret of its own"),
    }[proof]


async def create(request: PageRequest) -> TrioResponse:
    program, form = await _program(request), request.form
    arguments: dict[str, object] = {
        "preset": program.name,
        "mode": form.text("hook_mode", "live"),
        **form.filled("name", "from", "locale", "proof", "secret", "alarm"),
        **{name: lines for name in ("numbers", "allowed_addresses") if (lines := form.lines(name))},
    }
    try:
        made = await request.ask_here(hooks.CREATE, **arguments)
    except Refusal as error:
        return await request.again("connect/program.html", error, await _new(request))
    return await shown_once(request, made)


async def shown_once(request: PageRequest, made: MadeHook, *, is_new: bool = True) -> TrioResponse:
    """The page with the secret of a hook, and what is pasted where."""
    hook = made.hook
    known = await programs(request)
    return await request.page(
        "connect/made.html",
        is_secret=True,
        is_new=is_new,
        hook=view_of(request, hook, known),
        address=hook.url,
        secret=None if hook.proof == "path" else made.secret,
        steps=steps_of(
            request.words, known.get(hook.preset), hook.proof, hook.url, made.secret or "…"
        ),
    )


_PROGRAM: Final = "/app/<org>/connect/programs/<preset>"
ROUTES: Final = (
    PageRoute(
        path="/app/<org>/connect",
        view=shows("connect/list.html", _gallery),
        access=PageAccess.VIEWER,
        filters=(typed("q", N_("Program")),),
        entry=NavItem("connect", "link", N_("Connect software"), key="c", after="keys"),
    ),
    PageRoute(path=_PROGRAM, view=shows("connect/program.html", _new), access=PageAccess.VIEWER),
    PageRoute(path=_PROGRAM, view=create, access=PageAccess.DEVELOPER, method="POST", once=True),
)
