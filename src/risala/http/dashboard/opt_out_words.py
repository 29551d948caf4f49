"""Words of opt-outs: sets to switch on, words of one's own, and what is answered."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.lists import records as recipient_lists
from risala.engine.features.opt_out_words.records import (
    ADD_WORD,
    ANSWER,
    LIST_BACK,
    LIST_OUT,
    REMOVE_WORD,
    TEXT_MAX,
    WORD_MAX,
    WORDS,
    Back,
    OptOutWords,
)
from risala.engine.features.opt_out_words.words import LANGUAGES, VARIABLES, WordRole
from risala.engine.model.errors import Refusal
from risala.engine.model.people import Language
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.ledger import PRICE
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, NC_, OWN_NAMES
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

NOTED: Final = N_("Noted: mailings of this list leave the number out.")
TAKEN_BACK: Final = N_("Messages of this list may reach the number again.")
SAVED: Final = N_("Saved. It counts for texts that come in from now on.")
ROLES: Final = {
    WordRole.STOP.value: NC_("opt-out word", "No more messages"),
    WordRole.START.value: NC_("opt-out word", "Messages again"),
    WordRole.HELP.value: NC_("opt-out word", "Help"),
    WordRole.LIST.value: NC_("opt-out word", "Names a list"),
}
ANSWERS: Final = {
    WordRole.STOP.value: NC_("opt-out answer", "To who wants no more messages"),
    WordRole.LIST.value: NC_("opt-out answer", "To who wants no more messages of a list"),
    WordRole.START.value: NC_("opt-out answer", "To who wants messages again"),
    WordRole.HELP.value: NC_("opt-out answer", "To who asks for help"),
}
BACK: Final = {
    Back.PERSON.value: (
        N_("The person, by START"),
        N_("Also if you noted the opt-out by hand."),
    ),
    Back.OWN.value: (
        N_("The person, by START, but not after a note"),
        N_("What you noted by hand, you take back by hand."),
    ),
    Back.HAND.value: (
        N_("Only you, with a note"),
        N_("START does nothing, and no answer speaks of it."),
    ),
}
_PAGE: Final = "inbound/words.html"
_OF_LIST: Final = "lists/opt_out.html"
_PATH: Final = "/app/<org>/inbound/words"
_LIST: Final = "/app/<org>/lists/<list_id>/opt-out"


async def _values(request: PageRequest) -> dict[str, Any]:
    return await _page(request, await request.ask_here(WORDS))


async def _page(request: PageRequest, shown: OptOutWords) -> dict[str, Any]:
    """The page.

    Args:
        shown: also with an answer that is looked at before it is saved.
    """
    words, settings = request.words, shown.settings
    lists = (await request.ask_here(recipient_lists.LIST)).lists
    price = request.organization.price_per_segment
    if price is None:
        price = (await request.ask(PRICE)).per_segment
    names = {each: OWN_NAMES[Language(each)] for each in LANGUAGES}
    order = [*settings.sets, *(each for each in LANGUAGES if each not in settings.sets)]
    chosen = (request.form.text("answer_to"), request.form.text("answer_in"))
    typed = request.form.text if request.http.method == "POST" else lambda _: ""
    return {
        "shown": shown,
        "settings": settings,
        "languages": [(each, names[each]) for each in order],
        "language_names": names,
        "roles": {key: words.among("opt-out word", label) for key, label in ROLES.items()},
        "answer_names": {
            key: words.among("opt-out answer", label) for key, label in ANSWERS.items()
        },
        "backs": [(key, words(name), words(hint)) for key, (name, hint) in BACK.items()],
        "answers": {(each.role.value, each.language): each for each in shown.answers},
        "lists": [("", words("No list")), *((each.id, each.name) for each in lists)],
        "typed": {name: typed(name) for name in ("word", "means", "language", "list_id")},
        "variables": [f"{{{{{each}}}}}" for each in VARIABLES],
        "price_minor": None if request.is_self_paid else price,
        "word_max": WORD_MAX,
        "text_max": TEXT_MAX,
        "asked": chosen,
        "previewed": chosen if typed("preview") else None,
        "labels": {"word": words("Word"), "list_id": words("List"), "text": words("Text")},
    }


async def save(request: PageRequest) -> TrioResponse:
    """Which sets count, what is answered, and who takes an opt-out back."""
    form = request.form
    first, ticked = form.text("first"), form.all("sets")
    sets = sorted(ticked, key=lambda each: each != first)
    back = form.text("back") or None
    return await _done(request, WORDS, sets=sets, answered=[*form.all("answered")], back=back)


async def add(request: PageRequest) -> TrioResponse:
    form = request.form
    arguments = {"word": form.text("word"), "language": form.text("language")}
    named = {"role": form.text("means"), "list_id": form.text("list_id") or None}
    return await _done(request, ADD_WORD, **arguments, **named)


async def remove(request: PageRequest) -> TrioResponse:
    return await _done(request, REMOVE_WORD, word=request.form.text("removed"))


async def answer(request: PageRequest) -> TrioResponse:
    """Save an answer, or show what would be sent."""
    form = request.form
    arguments = {
        "role": form.text("answer_to"),
        "language": form.text("answer_in"),
        "text": "" if form.ticked("usual") else form.text("text"),
    }
    if not form.ticked("preview"):
        return await _done(request, ANSWER, **arguments)
    try:
        shown = await request.ask_here(ANSWER, **arguments, preview=True)
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request))
    return await request.page(_PAGE, await _page(request, shown))


def _list_named(request: PageRequest) -> str:
    """The list that the address names."""
    return str(request.arguments["list_id"])


async def _of_list(request: PageRequest) -> dict[str, Any]:
    """A number, and whether it opted out of the list alone."""
    list_id, number = _list_named(request), request.form.text("number")
    search = {"number": number} if number else {"limit": 1}
    people = await request.ask(recipient_lists.SHOW, list_id=list_id, **search)
    settings = (await request.ask_here(WORDS)).settings
    return {
        "here": f"lists/{list_id}",
        "list": people.list,
        "number": number,
        "is_out": any(each.opted_out_here for each in people.people),
        "wants_note": settings.back is Back.HAND,
        "note": request.form.text("note"),
    }


async def of_list(request: PageRequest) -> TrioResponse:
    """Opt a number out of a list, or take that back."""
    form, list_id = request.form, _list_named(request)
    ask = LIST_BACK if form.text("out") == "no" else LIST_OUT
    arguments = {"number": form.text("number"), "note": form.text("note") or None}
    try:
        await request.ask_here(ask, list_id=list_id, **arguments)
    except Refusal as error:
        return await request.again(_OF_LIST, error, await _of_list(request))
    return request.go(request.at(f"lists/{list_id}"), NOTED if ask is LIST_OUT else TAKEN_BACK)


async def _done(request: PageRequest, ask: Ask[Any], **arguments: object) -> TrioResponse:
    try:
        await request.ask_here(ask, **arguments)
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request))
    return request.go(request.at("inbound/words"), SAVED)


_WRITES: Final = PageAccess.DEVELOPER
ROUTES: Final = (
    PageRoute(path=_PATH, view=shows(_PAGE, _values), access=PageAccess.VIEWER),
    PageRoute(path=_PATH, view=save, access=_WRITES, method="POST"),
    PageRoute(path=f"{_PATH}/add", view=add, access=_WRITES, method="POST"),
    PageRoute(path=f"{_PATH}/remove", view=remove, access=_WRITES, method="POST"),
    PageRoute(path=f"{_PATH}/answer", view=answer, access=_WRITES, method="POST"),
    PageRoute(path=_LIST, view=shows(_OF_LIST, _of_list), access=_WRITES),
    PageRoute(path=_LIST, view=of_list, access=_WRITES, method="POST"),
)
