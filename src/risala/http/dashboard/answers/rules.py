"""Automatic answers: the rules in their order, the form of each, and a text that is tried."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.features.answers import rule_records as records
from risala.engine.features.answers.rule_records import (
    DAYS,
    RULE_NAME_MAX,
    RULE_TEXT_MAX,
    RULES_MAX,
    AnswerRule,
)
from risala.engine.model.errors import Conflict, Refusal
from risala.engine.model.records.messages import MessageView
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import NavItem, PageAccess
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import refusal_sentence
from risala.http.web.routes import PageRoute, shows
from risala.sms.limits import TEXT_CHARACTERS_MAX

SAVED: Final = N_("The rule is saved.")
DELETED: Final = N_("The rule is deleted.")
RESUMED: Final = N_("Automatic answers to this number leave again.")
LANGUAGES: Final = (("fr", "Français"), ("ar", "العربية"), ("en", "English"))
"""The languages of answers, each by its own name."""
DAY_NAMES: Final = {
    "mon": N_("Monday"),
    "tue": N_("Tuesday"),
    "wed": N_("Wednesday"),
    "thu": N_("Thursday"),
    "fri": N_("Friday"),
    "sat": N_("Saturday"),
    "sun": N_("Sunday"),
}
DAYS_LABEL: Final = N_("Days")
LABELS: Final = {
    "name": N_("Name"),
    "keywords": N_("Keywords"),
    "anywhere": N_("The word may stand anywhere in the text"),
    "first_contact": N_("Only the first text of a number"),
    "days": DAYS_LABEL,
    "from_time": N_("From"),
    "to_time": N_("Until"),
    "text_fr": N_("Answer in French"),
    "text_ar": N_("Answer in Arabic"),
    "text_en": N_("Answer in English"),
    "language": N_("Usual language"),
    "place": N_("Place"),
    "enabled": N_("This rule answers"),
    "forward_number": N_("To a number, as an SMS"),
    "forward_email": N_("To a member, by mail"),
    "forward_chat": N_("To a Telegram chat"),
    "bot_token": N_("Token of the bot"),
    "forward_url": N_("To a webhook"),
    "forward_secret": N_("Secret of the webhook"),
}
WAYS: Final = {
    "sms": N_("SMS"),
    "mail": N_("Mail"),
    "telegram": N_("Telegram"),
    "webhook": N_("Webhook"),
}
_ALL: Final = "answers/all.html"
_NEW: Final = "answers/new.html"
_ONE: Final = "answers/one.html"
_TEXTS: Final = ("name", "from_time", "to_time", "language", "text_fr", "text_ar", "text_en")
_FORWARDS: Final = ("forward_number", "forward_email", "forward_chat", "forward_url")
_SECRETS: Final = ("bot_token", "forward_secret")
"""Empty: the one that is kept stays. They are never shown."""
_BOXES: Final = ("anywhere", "first_contact", "enabled")


# -- the list


async def _list(request: PageRequest) -> dict[str, object]:
    listed = await request.ask_here(records.LIST)
    return {
        "rules": listed.rules,
        "paused": listed.paused,
        "rules_max": RULES_MAX,
        "text_max": TEXT_CHARACTERS_MAX,
        "hours_of": lambda rule: _hours(request, rule),
        "answer_of": _first_text,
        "forwards_of": lambda rule: [_target(request, *each) for each in forwards_of(rule)],
        "target_of": lambda forward: _target(request, forward.kind, forward.target),
        "ways": {key: request.words(way) for key, way in WAYS.items()},
        "spoken": lambda sentence: refusal_sentence(request.words, Conflict(sentence)),
        "typed": {name: request.form.text(name) for name in ("text", "number")},
        "tried": None,
    }


def _first_text(rule: AnswerRule) -> str:
    """A rule's answer as a list shows it: in its usual language, or the first there is."""
    texts = {"fr": rule.text_fr, "ar": rule.text_ar, "en": rule.text_en}
    return texts[rule.language] or next(filter(None, texts.values()), "")


def forwards_of(rule: AnswerRule) -> list[tuple[str, str]]:
    """The places to which a rule forwards texts, by the way; of a webhook its host alone."""
    host = urlsplit(rule.forward_url).hostname or ""
    every = (
        *(("sms", rule.forward_number), ("mail", rule.forward_email)),
        *(("telegram", rule.forward_chat), ("webhook", host)),
    )
    return [(way, target) for way, target in every if target]


def _target(request: PageRequest, way: str, shown: str) -> Markup:
    """The place that a forwarded text goes to, as a page writes it."""
    return request.formats.tel(shown) if way == "sms" else request.name_of(shown)


def _hours(request: PageRequest, rule: AnswerRule) -> str:
    """When a rule answers; empty: always."""
    days = ", ".join(str(request.words(DAY_NAMES[each])) for each in rule.days)
    if rule.from_time is None and rule.to_time is None:
        return days
    span = f"\u2066{rule.from_time or '00:00'}-{rule.to_time or '24:00'}\u2069"
    return f"{days} {span}".strip()


async def try_text(request: PageRequest) -> TrioResponse:
    """What a text would be answered now. Its form is sent in the body: no address has texts."""
    filled = request.form.filled("text", "number")
    try:
        tried = await request.ask_here(records.TRY, **filled)
    except Refusal as error:
        return await request.again(_ALL, error, await _list(request))
    values: dict[str, Any] = {**await _list(request), "tried": tried}
    return await request.page(_ALL, **values)


async def resume(request: PageRequest) -> TrioResponse:
    """Answers to a number that is paused leave again."""
    try:
        await request.ask_here(records.RESUME, number=request.form.text("paused"))
    except Refusal as error:
        return await request.again(_ALL, error, await _list(request))
    return request.go(request.at("answers"), RESUMED)


# -- one rule


def _offered(request: PageRequest, count: int) -> dict[str, object]:
    """What the fields of a rule offer.

    Args:
        count: of the rules there are, with this one.
    """
    return {
        "languages": LANGUAGES,
        "day_names": [(each, request.words(DAY_NAMES[each])) for each in DAYS],
        "places": [(str(each), str(each)) for each in range(1, count + 1)],
        "name_max": RULE_NAME_MAX,
        "text_max": RULE_TEXT_MAX,
        "zone": request.organization.time_zone,
        "labels": {name: request.words(text) for name, text in LABELS.items()},
    }


def _typed(request: PageRequest) -> dict[str, Any]:
    """The form as it was sent."""
    form = request.form
    return {
        **{name: form.text(name) for name in (*_TEXTS, *_FORWARDS, "keywords", "place")},
        **{name: form.ticked(name) for name in _BOXES},
        "days": form.all("days"),
    }


def _arguments(form: SentForm) -> dict[str, Any]:
    """A form as the operation has it."""
    words, place = form.text("keywords"), form.text("place")
    arguments: dict[str, Any] = {
        **{name: form.text(name) for name in (*_TEXTS, *_FORWARDS)},
        **{name: secret for name in _SECRETS if (secret := form.text(name))},
        **{name: form.ticked(name) for name in _BOXES},
        "keywords": words.replace(",", " ").replace("،", " ").split(),
        "days": [*form.all("days")],
        "language": form.text("language") or None,
    }
    is_number = place.isascii() and place.isdigit()
    return {**arguments, "place": int(place)} if is_number else arguments


def _shown(rule: AnswerRule) -> dict[str, Any]:
    """A rule as its form has it."""
    return {
        **{name: getattr(rule, name) or "" for name in (*_TEXTS, *_FORWARDS)},
        **{name: getattr(rule, name) for name in _BOXES},
        "keywords": ", ".join(rule.keywords),
        "place": str(rule.place),
        "days": rule.days,
    }


async def _new(request: PageRequest) -> dict[str, object]:
    listed = await request.ask_here(records.LIST)
    count = min(len(listed.rules) + 1, RULES_MAX)
    shown: dict[str, Any] = dict.fromkeys((*_TEXTS, *_FORWARDS, "keywords"), "")
    shown |= {"language": request.words.language.value, "place": str(count), "days": ()}
    shown |= {"anywhere": False, "first_contact": False, "enabled": True}
    if request.http.method == "POST":
        shown = _typed(request)
    return {"shown": shown, **_offered(request, count)}


async def create(request: PageRequest) -> TrioResponse:
    try:
        await request.ask_here(records.CREATE, **_arguments(request.form))
    except Refusal as error:
        return await request.again(_NEW, error, await _new(request))
    return request.go(request.at("answers"), SAVED)


async def of_message(request: PageRequest, message: MessageView) -> dict[str, object]:
    """The rule by which a message was sent; empty: none did, or the reader is an operator, who has
    no page of it."""
    if request.is_console or message.api_key is not None or message.kind == "code":
        return {}
    sent = await request.ask(records.SENT, message_id=message.id)
    return {} if sent.rule_name is None else {"rule": sent}


def _id(request: PageRequest) -> str:
    return request.arguments.get("rule_id", "")


async def _one(request: PageRequest, error: Refusal | None = None) -> dict[str, object]:
    versioned = await request.ask_to_edit(records.SHOW, rule_id=_id(request))
    rule = versioned.value
    listed = await request.ask_here(records.LIST)
    typed = None if error is None else request.form
    return {
        "rule": rule,
        "here": f"answers/{rule.id}",
        "hours": _hours(request, rule),
        "forwards": [
            (request.words(WAYS[way]), _target(request, way, shown))
            for way, shown in forwards_of(rule)
        ],
        "shown": _shown(rule) if typed is None else _typed(request),
        **_offered(request, len(listed.rules)),
        **edit(error, typed, versioned.version or 0, _stored(request, rule)),
    }


def _stored(request: PageRequest, rule: AnswerRule) -> dict[str, StoredField]:
    words, shown = request.words, _shown(rule)
    stored = {
        name: StoredField(words(LABELS[name]), shown[name])
        for name in (*_TEXTS, *_FORWARDS, "keywords", "place")
    }
    for name in _BOXES:
        yes = words("yes") if shown[name] else words("no")
        stored[name] = StoredField(words(LABELS[name]), "yes" if shown[name] else "", yes)
    days = ", ".join(str(words(DAY_NAMES[each])) for each in rule.days)
    stored["days"] = StoredField(words(DAYS_LABEL), "\n".join(rule.days), days)
    return stored


async def change(request: PageRequest) -> TrioResponse:
    arguments = _arguments(request.form)
    try:
        await request.ask(records.SET, rule_id=_id(request), **arguments, **as_seen(request.form))
    except Refusal as error:
        return await request.again(_ONE, error, await _one(request, error))
    return request.go(request.at("answers"), SAVED)


async def delete(request: PageRequest) -> TrioResponse:
    await request.ask(records.DELETE, rule_id=_id(request))
    return request.go(request.at("answers"), DELETED)


_PAGE: Final = "/app/<org>/answers"
_RULE: Final = f"{_PAGE}/<rule_id>"
_WRITES: Final = PageAccess.DEVELOPER
ROUTES: Final = (
    PageRoute(
        path=_PAGE,
        view=shows(_ALL, _list),
        access=PageAccess.VIEWER,
        entry=NavItem(
            "answers",
            "messages",
            N_("Automatic answers"),
            key="z",
            after="inbound",
            new=N_("New rule"),
        ),
    ),
    PageRoute(path=f"{_PAGE}/try", view=try_text, access=PageAccess.VIEWER, method="POST"),
    PageRoute(path=f"{_PAGE}/resume", view=resume, access=_WRITES, method="POST"),
    PageRoute(path=f"{_PAGE}/new", view=shows(_NEW, _new), access=_WRITES),
    PageRoute(path=f"{_PAGE}/new", view=create, access=_WRITES, method="POST", once=True),
    PageRoute(path=_RULE, view=shows(_ONE, _one), access=PageAccess.VIEWER),
    PageRoute(path=_RULE, view=change, access=_WRITES, method="POST"),
    PageRoute(path=f"{_RULE}/delete", view=shows("answers/delete.html", _one), access=_WRITES),
    PageRoute(path=f"{_RULE}/delete", view=delete, access=_WRITES, method="POST"),
)
