"""The reference of rules that answer texts, for secret keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from risala.http.api import answers
from risala.http.api.management import answer_rules as bodies
from risala.http.api.management.list_bodies import EmptyBody
from risala.http.api.openapi.sms import WITH_BODY, ApiOperation
from risala.sms.numbering.plan import EXAMPLE

_ID: Final = "06GZR07DZ6B66NB0QHY1RFRDJAQR3ECT"
_OWN: Final = " Needs a secret live key: texts come from carriers, so test keys have no rules."
_AT: Final = "2026-11-21T08:30:00.123Z"
_NEW: Final[dict[str, Any]] = {
    "name": "Opening hours",
    "keywords": ["horaires", "hours", "ساعات"],
    "anywhere": True,
    "textFr": "Nous sommes ouverts de 8 h à 19 h.",
    "textAr": "نفتح من الساعة 8 إلى الساعة 19.",
}
_RULE: Final[dict[str, Any]] = {
    "ruleId": f"rul_{_ID}",
    "name": "Opening hours",
    "place": 1,
    "enabled": True,
    "keywords": ["horaires", "hours", "ساعات"],
    "anywhere": True,
    "firstContact": False,
    "days": [],
    "fromTime": None,
    "toTime": None,
    "language": "fr",
    "textFr": "Nous sommes ouverts de 8 h à 19 h.",
    "textAr": "نفتح من الساعة 8 إلى الساعة 19.",
    "textEn": "",
    "createdAt": _AT,
    "forwardNumber": "",
    "forwardEmail": "",
    "forwardChat": "",
    "forwardUrl": "",
}
_PAUSED: Final = {"number": EXAMPLE, "until": _AT}


def _of(
    name: str,
    operation: str,
    summary: str,
    words: str,
    *,
    body: type[BaseModel],
    answer: answers.Component,
    body_example: Mapping[str, Any],
    answer_example: Mapping[str, Any],
) -> ApiOperation:
    return ApiOperation(
        path=f"/api/answers/{name}",
        name=operation,
        tag="Automatic answers",
        summary=summary,
        description=words + _OWN,
        body=body,
        answer=answer,
        errors=WITH_BODY if name == "list" else (*WITH_BODY, 404),
        body_examples={"one": {"summary": summary, "value": body_example}},
        answer_examples={"one": {"summary": summary, "value": answer_example}},
    )


OPERATIONS: Final = (
    _of(
        "list",
        "listAnswerRules",
        "Rules",
        "The rules of the organization in their order, and numbers that get no automatic answers"
        " for a day.",
        body=EmptyBody,
        answer=answers.ANSWER_RULES,
        body_example={},
        answer_example={"items": [_RULE], "paused": [_PAUSED]},
    ),
    _of(
        "create",
        "createAnswerRule",
        "Make a rule",
        "Answers texts that come in, by the carrier and from the number they came to. The first"
        " rule, by place, that a text meets answers it alone; each text is answered once. Answers"
        " are charged as any message, and at most so many leave for a number and for an"
        " organization. A rule may also forward the text, which leaves the service with that: to a"
        " number as an SMS, to a member’s address, to a Telegram chat by your own bot, or to a"
        ' webhook as `{"id", "from", "to", "text", "at", "rule"}`; a text that comes twice to a'
        " chat or webhook has the same id. 400 with `data.code` `CONFLICT`: there are 50 rules.",
        body=bodies.CreateRuleBody,
        answer=answers.ANSWER_RULE,
        body_example=_NEW,
        answer_example=_RULE,
    ),
    _of(
        "update",
        "updateAnswerRule",
        "Change a rule",
        "Changes a rule, or its place.",
        body=bodies.UpdateRuleBody,
        answer=answers.ANSWER_RULE,
        body_example={"ruleId": f"rul_{_ID}", "enabled": False},
        answer_example={**_RULE, "enabled": False},
    ),
    _of(
        "delete",
        "deleteAnswerRule",
        "Delete a rule",
        "Deletes a rule, and answers it as it was.",
        body=bodies.RuleBody,
        answer=answers.ANSWER_RULE,
        body_example={"ruleId": f"rul_{_ID}"},
        answer_example=_RULE,
    ),
    _of(
        "try",
        "tryText",
        "What a text would be answered",
        "Says which rule a text would meet if it came in now, what it would be answered, and where"
        " it would be forwarded. Nothing is sent.",
        body=bodies.TryTextBody,
        answer=answers.TRIED_TEXT,
        body_example={"text": "Vos horaires ?"},
        answer_example={
            "rule": _RULE,
            "answer": "Nous sommes ouverts de 8 h à 19 h.",
            "forwards": [],
        },
    ),
    _of(
        "resume",
        "resumeAnswers",
        "End a pause",
        "Lets automatic answers to a number leave again. After two within an hour they are paused"
        " for a day, because the number may answer by itself too.",
        body=bodies.ResumeAnswersBody,
        answer=answers.PAUSED_NUMBER,
        body_example={"number": EXAMPLE},
        answer_example=_PAUSED,
    ),
)
