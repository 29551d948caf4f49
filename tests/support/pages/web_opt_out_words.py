"""What a gateway tells of the words of opt-outs, for pages."""

from __future__ import annotations

from typing import Any

from risala.engine.features.opt_out_words import rules
from risala.engine.features.opt_out_words.records import (
    ConfirmationRule,
    Demand,
    OptOutSettings,
    OwnAnswer,
    OwnWord,
)
from risala.engine.features.opt_out_words.words import LANGUAGES, WordRole
from risala.engine.model.records.record import to_json
from risala.sms.segment import count
from web_messages import AT_MS

SETTINGS = OptOutSettings(
    "org_1",
    sets=("fr", "ar"),
    answered=("stop", "help"),
    words=(
        OwnWord("terminé", WordRole.STOP, "fr"),
        OwnWord("news", WordRole.LIST, "fr", "lst_1"),
    ),
    texts=(OwnAnswer(WordRole.HELP, "fr", "{{organization}} : <b>tapez</b> {{stop}}."),),
)
DEMANDS = (
    Demand("+222", ConfirmationRule.REQUIRED, ("fr",), AT_MS, "root@risala.example"),
    Demand("+33", ConfirmationRule.FORBIDDEN, (), AT_MS, "root@risala.example"),
)


def answer(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The answer of an operation on opt-outs' words; None for any other."""
    if name in ("opt_outs.demands", "opt_outs.demand"):
        return {"demands": [to_json(each) for each in DEMANDS]}
    if name in ("opt_outs.list_out", "opt_outs.list_back"):
        return {"listId": arguments["list_id"], "number": arguments["number"]}
    if not name.startswith("opt_outs."):
        return None
    of_list = {"listId": None, "listName": None}
    words = [
        {
            **of_list,
            "word": one.word,
            "role": one.role.value,
            "language": one.language,
            "source": source.value,
            "routed": one.word == "info",
            **({"listId": "lst_1", "listName": "Parents <6e>"} if one.list_id else {}),
        }
        for one, source in rules.counted(SETTINGS, DEMANDS)
    ]
    answers = []
    for role in WordRole:
        for language in LANGUAGES:
            written, is_own = rules.written(SETTINGS, role, language)
            if arguments.get("preview") and (arguments["role"], arguments["language"]) == (
                role.value,
                language,
            ):
                written, is_own = arguments["text"], True
            text = rules.filled(written, language, "Baraka", "Parents <6e>", "news")
            told = {"role": role.value, "language": language, "written": written, "text": text}
            sent = {"parts": count(text).segments, "own": is_own, "isSent": role != "start"}
            answers.append({**told, **sent})
    demands = [to_json(each) for each in DEMANDS]
    whole = {"settings": to_json(SETTINGS), "heeds": arguments.get("organization_id") != "org_2"}
    return {**whole, "words": words, "answers": answers, "demands": demands}
