"""The reference of opt-outs' words and answers, for secret keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from risala.http.api.answers import Component
from risala.http.api.management import opt_outs as bodies
from risala.http.api.management.list_bodies import EmptyBody
from risala.http.api.openapi.sms import WITH_BODY, ApiOperation
from risala.sms.numbering.plan import EXAMPLE

_LIST: Final = "lst_06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"
_OWN: Final = " Needs a secret live key: texts come from carriers, so test keys have no opt-outs."
_SHOWN: Final[dict[str, Any]] = {
    "heeds": True,
    "sets": ["fr"],
    "answered": ["stop"],
    "back": "person",
    "words": [
        {
            "word": "stop",
            "role": "stop",
            "language": "fr",
            "source": "always",
            "listId": None,
            "listName": None,
            "routed": False,
        }
    ],
    "answers": [
        {
            "role": "stop",
            "language": "fr",
            "written": "{{organization}} : c’est noté.",
            "text": "Atlas : c’est noté.",
            "parts": 1,
            "own": True,
            "isSent": True,
        }
    ],
    "demands": [],
}
_LISTED: Final = {"listId": _LIST, "number": EXAMPLE}


def _of(
    name: str,
    operation: str,
    summary: str,
    words: str,
    *,
    body: type[BaseModel],
    body_example: Mapping[str, Any],
    answer: Component = bodies.OPT_OUTS,
    answer_example: Mapping[str, Any] = _SHOWN,
) -> ApiOperation:
    return ApiOperation(
        path=f"/api/opt-outs/{name}",
        name=operation,
        tag="Opt-outs",
        summary=summary,
        description=words + _OWN,
        body=body,
        answer=answer,
        errors=(*WITH_BODY, 404),
        body_examples={"one": {"summary": summary, "value": body_example}},
        answer_examples={"one": {"summary": summary, "value": answer_example}},
    )


OPERATIONS: Final = (
    _of(
        "get",
        "getOptOuts",
        "Words and answers",
        "Which words end messages and begin them again, and what is answered. A word counts where"
        " a text says nothing else, and where `heeds` is true.",
        body=EmptyBody,
        body_example={},
    ),
    _of(
        "update",
        "updateOptOuts",
        "Choose words and answers",
        "Chooses the languages whose usual words count, what is answered, and who takes an opt-out"
        " back.",
        body=bodies.UpdateOptOutsBody,
        body_example={"sets": ["fr"], "answered": ["stop"]},
    ),
    _of(
        "words/add",
        "addOptOutWord",
        "Add a word",
        "Adds a word of your own. 400 with `data.code` `CONFLICT`: there are 30.",
        body=bodies.AddOptOutWordBody,
        body_example={"word": "PAUSE", "role": "stop", "language": "fr"},
    ),
    _of(
        "words/remove",
        "removeOptOutWord",
        "Remove a word",
        "Removes a word of your own.",
        body=bodies.RemoveOptOutWordBody,
        body_example={"word": "SILENCE"},
    ),
    _of(
        "answer",
        "setOptOutAnswer",
        "Write an answer",
        "Writes an answer in your own words. Each opt-out is answered once, as any message is"
        " charged, and within the limits of automatic answers.",
        body=bodies.OptOutAnswerBody,
        body_example={
            "role": "stop",
            "language": "fr",
            "text": "{{organization}} : c’est noté.",
            "preview": True,
        },
    ),
    _of(
        "lists/add",
        "optOutOfList",
        "Leave a list",
        "Notes that a number wants no messages of one list. Mailings of that list leave it out.",
        body=bodies.ListOptOutBody,
        answer=bodies.LISTED,
        body_example=_LISTED,
        answer_example=_LISTED,
    ),
    _of(
        "lists/remove",
        "optInToList",
        "Return to a list",
        "Lets messages of one list reach a number again. `note` is required where `back` is"
        " `hand`.",
        body=bodies.ListOptOutBody,
        answer=bodies.LISTED,
        body_example={**_LISTED, "note": "By telephone"},
        answer_example=_LISTED,
    ),
)
REFERENCE: Final = (OPERATIONS, bodies.COMPONENTS)
