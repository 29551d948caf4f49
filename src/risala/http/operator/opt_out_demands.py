"""What networks and countries ask for of opt-outs: organizations cannot switch it off."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.opt_out_words.records import DEMAND, DEMANDS, ConfirmationRule
from risala.engine.features.opt_out_words.words import LANGUAGES
from risala.engine.model.errors import Refusal
from risala.engine.model.people import Language
from risala.http.web.face import NavItem, PageAccess
from risala.http.web.languages import N_, OWN_NAMES
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

SAVED: Final = N_("Saved. It counts for texts that come in from now on.")
CONFIRMATIONS: Final = {
    ConfirmationRule.FREE.value: N_("As the organization chooses"),
    ConfirmationRule.REQUIRED.value: N_("Always confirmed"),
    ConfirmationRule.FORBIDDEN.value: N_("Never confirmed"),
}
_PATH: Final = "/operator/opt-outs"
_PAGE: Final = "opt_out_demands.html"


async def _values(request: PageRequest) -> dict[str, Any]:
    form, is_post = request.form, request.http.method == "POST"
    return {
        "demands": (await request.ask(DEMANDS)).demands,
        "confirmations": [(key, request.words(label)) for key, label in CONFIRMATIONS.items()],
        "said": {key: request.words(label) for key, label in CONFIRMATIONS.items()},
        "languages": [(each, OWN_NAMES[Language(each)]) for each in LANGUAGES],
        "names": {each: OWN_NAMES[Language(each)] for each in LANGUAGES},
        "typed": form.text("prefix") if is_post else "",
        "chosen": form.text("confirmation") if is_post else ConfirmationRule.REQUIRED.value,
        "ticked": form.all("sets") if is_post else (),
        "labels": {"prefix": request.words("First digits")},
    }


async def save(request: PageRequest) -> TrioResponse:
    """Set what numbers that begin so ask for; nothing: it ends."""
    form = request.form
    arguments = {
        "prefix": form.text("prefix"),
        "confirmation": form.text("confirmation") or None,
        "sets": [*form.all("sets")],
    }
    try:
        await request.ask(DEMAND, **arguments)
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request))
    return request.go(request.at("opt-outs"), SAVED)


_OPERATOR: Final = PageAccess.OPERATOR
ROUTES: Final = (
    PageRoute(
        path=_PATH,
        view=shows(_PAGE, _values),
        access=_OPERATOR,
        needs=DEMANDS,
        entry=NavItem(
            "opt-outs", "inbox", N_("Opt-outs"), access=_OPERATOR, key="x", after="messages"
        ),
    ),
    PageRoute(path=_PATH, view=save, access=_OPERATOR, needs=DEMAND, method="POST"),
)
