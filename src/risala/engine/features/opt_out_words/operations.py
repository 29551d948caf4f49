"""What people do with the words and answers of opt-outs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.features.lists.stored import RecipientListRepository
from risala.engine.features.opt_out_words import rules
from risala.engine.features.opt_out_words.records import (
    ADD_WORD,
    ANSWER,
    ANSWERED,
    DEMAND,
    DEMANDS,
    LIST_BACK,
    LIST_OUT,
    NOTE_MAX,
    REMOVE_WORD,
    TEXT_MAX,
    WORD_MAX,
    WORDS,
    Back,
    ConfirmationRule,
    CountedWord,
    Demand,
    Demands,
    ListRecipient,
    OptOutSettings,
    OptOutWords,
    OwnAnswer,
    OwnWord,
    SentAnswer,
)
from risala.engine.features.opt_out_words.stored.settings import OptOutWordRepository
from risala.engine.features.opt_out_words.words import LANGUAGES, WordRole
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeFlag,
    MaybeText,
    NoArguments,
    Number,
    OfOrganization,
    Text,
    any_text,
    fault,
    maybe,
    one_of,
    text,
    words,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import masked
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.records.search import Findable
from risala.engine.rules.keywords import folded
from risala.engine.rules.roles import DEVELOPERS, OPERATORS, READERS, SUPPORT, VIEWERS
from risala.sms.segment import count

_ROLES: Final = tuple(each.value for each in WordRole)
_CONFIRMATIONS: Final = tuple(each.value for each in ConfirmationRule)
_WORD: Final = re.compile(rf"\w{{1,{WORD_MAX}}}")
_PREFIX: Final = re.compile(r"\+[1-9][0-9]{0,14}", re.ASCII)


def _some_of(known: Iterable[str]) -> Callable[[object], tuple[str, ...]]:
    """Some of a few words, in the order in which they are given, with commas between or as a
    list."""
    there = tuple(known)

    def parse(value: object) -> tuple[str, ...]:
        listed = value.split(",") if isinstance(value, str) else value
        if not isinstance(listed, list | tuple):
            raise fault("invalid_type", "`{name}` must be a list of words.")
        named = dict.fromkeys(filter(None, (any_text(each).strip() for each in listed)))
        if any(each not in there for each in named):
            raise fault("unknown_word", f"`{{name}}` can have {', '.join(there)}.")
        return tuple(named)

    return parse


def _own_word(value: object) -> str:
    word = folded(text(value))
    if not _WORD.fullmatch(word):
        raise fault("invalid_word", f"`{{name}}` is one word of 1 to {WORD_MAX} letters.")
    return word


def _prefix(value: object) -> str:
    prefix = text(value).strip()
    if not _PREFIX.fullmatch(prefix):
        raise fault("invalid_prefix", "`{name}` is `+` and the first digits of numbers.")
    return prefix


def _answer_text(value: object) -> str:
    written = any_text(value).strip()
    if len(written) > TEXT_MAX:
        raise fault("too_long", f"`{{name}}` has at most {TEXT_MAX} characters.")
    return written


MaybeSets = Annotated[
    tuple[str, ...] | None,
    PlainValidator(maybe(_some_of(LANGUAGES))),
    ArgumentKind("some of `en`, `fr`, `ar`"),
]
Role = Annotated[
    str, PlainValidator(one_of("unknown_word", _ROLES)), ArgumentKind(f"one of {', '.join(_ROLES)}")
]
Language = Annotated[
    str, PlainValidator(one_of("unknown_word", LANGUAGES)), ArgumentKind("`en`, `fr` or `ar`")
]
MaybeNote = Annotated[
    str | None, PlainValidator(maybe(words(NOTE_MAX))), ArgumentKind("text on one line")
]


class SetOptOutWords(OfOrganization):
    """Show an organization's words and answers, after changing what is given."""

    sets: MaybeSets = None
    """Languages whose usual words count, that of most recipients first."""
    answered: Annotated[
        tuple[str, ...] | None,
        PlainValidator(maybe(_some_of(ANSWERED))),
        ArgumentKind("some of `stop`, `start`, `help`"),
    ] = None
    """What is answered."""
    back: Annotated[
        str | None,
        PlainValidator(maybe(one_of("unknown_word", tuple(each.value for each in Back)))),
        ArgumentKind("`person`, `own` or `hand`"),
    ] = None
    """Who takes an opt-out back."""


class NamesWord(OfOrganization):
    """Names a word of an organization's own."""

    word: Annotated[str, PlainValidator(_own_word), ArgumentKind("one word")]


class AddOptOutWord(NamesWord):
    """Add a word of an organization's own."""

    role: Role
    language: Language
    """The language of the answer to the word."""
    list_id: MaybeText = None
    """The list that a word of a list names."""


class SetOptOutAnswer(OfOrganization):
    """Write an answer in an organization's own words."""

    role: Role
    language: Language
    text: Annotated[
        str, PlainValidator(_answer_text), ArgumentKind(f"text of up to {TEXT_MAX} characters")
    ]
    """Empty: the usual one again."""
    preview: MaybeFlag = None
    """Only show what would be sent."""


class SetDemand(Arguments):
    """Set what a network or a country asks for; nothing: it ends."""

    prefix: Annotated[str, PlainValidator(_prefix), ArgumentKind("`+` and first digits")]
    """The first digits of its numbers."""
    confirmation: Annotated[
        str | None,
        PlainValidator(
            maybe(one_of("unknown_word", tuple(each.value for each in ConfirmationRule)))
        ),
        ArgumentKind("`free`, `required` or `forbidden`"),
    ] = None
    """The confirmation of an opt-out, whatever organizations choose."""
    sets: MaybeSets = None
    """Languages whose usual words count for these numbers."""


class OfListedNumber(OfOrganization):
    """Names a number, and a list of the organization."""

    list_id: Text
    number: Number
    note: MaybeNote = None
    """How its owner asked for it."""


FOUND: Final = (
    Findable(
        kind="word",
        table="opt_out_words w JOIN json_each(w.words) one",
        title="json_extract(one.value, '$.word')",
        names=("json_extract(one.value, '$.word')",),
        id="w.organization_id || ' ' || one.key",
        place="''",
        at="(SELECT o.created_at FROM organizations o WHERE o.id = w.organization_id)",
        newest="one.key",
        organization="w.organization_id",
        page="inbound/words",
    ),
)
"""What a search finds of an organization's own words; over all organizations nothing."""
OPERATIONS: Final = Operations()
_CHANGES: Final = ("sets", "answered", "back")
_WRITES: Final[dict[str, Any]] = {
    "roles": DEVELOPERS,
    "owner": owners.named,
    "changes": OptOutWords,
}


@OPERATIONS(
    WORDS,
    roles=VIEWERS,
    operators=READERS,
    reserved=dict.fromkeys(_CHANGES, DEVELOPERS),
    owner=owners.named,
    changes=OptOutWords,
)
async def _words(call: Call[SetOptOutWords]) -> OptOutWords:
    arguments = call.arguments
    named = {name: getattr(arguments, name) for name in _CHANGES}
    changed = {name: value for name, value in named.items() if value is not None}
    if not changed:
        return _shown(call, _settings(call))

    def new_of(settings: OptOutSettings) -> OptOutSettings:
        new = replace(settings, **changed)
        rules.refuse_doubles(new)
        return replace(new, back=Back(new.back))

    details = {
        name: ", ".join(value) if isinstance(value, tuple) else value
        for name, value in changed.items()
    }
    return await _changed(call, new_of, details)


@OPERATIONS(ADD_WORD, **_WRITES)
async def _add_word(call: Call[AddOptOutWord]) -> OptOutWords:
    arguments, role = call.arguments, WordRole(call.arguments.role)
    if (role is WordRole.LIST) is (arguments.list_id is None):
        sentence = "A word of a list, and no other, names the list in `list_id`."
        raise Invalid("list_id", "list_missing", sentence)
    if arguments.list_id is not None:
        _list_name(call, arguments.list_id)
    new = OwnWord(arguments.word, role, arguments.language, arguments.list_id)
    details = {"word": new.word, "role": role.value, "language": new.language}
    return await _changed(
        call, lambda settings: replace(settings, words=rules.with_word(settings, new)), details
    )


@OPERATIONS(REMOVE_WORD, **_WRITES)
async def _remove_word(call: Call[NamesWord]) -> OptOutWords:
    removed = call.arguments.word

    def new_of(settings: OptOutSettings) -> OptOutSettings:
        left = tuple(each for each in settings.words if each.word != removed)
        if left == settings.words:
            raise NotFound(f"The organization has no word {removed!r} of its own.")
        return replace(settings, words=left)

    return await _changed(call, new_of, {"removed": removed})


@OPERATIONS(ANSWER, **_WRITES)
async def _answer(call: Call[SetOptOutAnswer]) -> OptOutWords:
    arguments, role = call.arguments, WordRole(call.arguments.role)
    rules.refuse_variables(arguments.text)

    def new_of(settings: OptOutSettings) -> OptOutSettings:
        named = (role, arguments.language)
        texts = tuple(each for each in settings.texts if (each.role, each.language) != named)
        if arguments.text:
            texts += (OwnAnswer(role, arguments.language, arguments.text),)
        return replace(settings, texts=texts)

    if arguments.preview:
        return _shown(call, new_of(_settings(call)))
    details = {"answer": role.value, "language": arguments.language}
    return await _changed(call, new_of, details)


@OPERATIONS(DEMANDS, roles=OPERATORS, operators=READERS, reads_all_organizations=True)
async def _demands(call: Call[NoArguments]) -> Demands:
    return Demands(tuple(call.stored(OptOutWordRepository).demands()))


@OPERATIONS(DEMAND, roles=OPERATORS, changes=Demands)
async def _demand(call: Call[SetDemand]) -> Demands:
    arguments, stored = call.arguments, call.stored(OptOutWordRepository)
    confirmation = ConfirmationRule(arguments.confirmation or ConfirmationRule.FREE)
    new = Demand(
        *(arguments.prefix, confirmation, arguments.sets or ()),
        set_at=call.now_ms,
        set_by=call.caller.who,
    )
    details = {"confirmation": confirmation.value, "sets": ", ".join(new.sets)}
    await stored.put_demand(call.audit(subject=new.prefix, details=details), new)
    return Demands(tuple(stored.demands()))


@OPERATIONS(
    LIST_OUT, roles=DEVELOPERS, operators=SUPPORT, owner=owners.named, changes=ListRecipient
)
async def _list_out(call: Call[OfListedNumber]) -> ListRecipient:
    arguments = call.arguments
    _list_name(call, arguments.list_id)
    by = _of_list(call)
    who, now_ms = call.caller.who, call.now_ms
    stored = call.stored(OptOutWordRepository)
    await stored.list_out(by, arguments.list_id, arguments.number, who, now_ms)
    return ListRecipient(arguments.list_id, arguments.number)


@OPERATIONS(
    LIST_BACK, roles=DEVELOPERS, operators=SUPPORT, owner=owners.named, changes=ListRecipient
)
async def _list_back(call: Call[OfListedNumber]) -> ListRecipient:
    arguments, stored = call.arguments, call.stored(OptOutWordRepository)
    _list_name(call, arguments.list_id)
    if stored.back_of(arguments.organization_id) is Back.HAND and not arguments.note:
        raise Invalid("note", "missing", rules.NOTE_MISSING)
    if not await stored.list_back(_of_list(call), arguments.list_id, arguments.number):
        raise NotFound(f"{arguments.number} has not opted out of that list.")
    return ListRecipient(arguments.list_id, arguments.number)


def _of_list(call: Call[OfListedNumber]) -> Any:  # noqa: ANN401 -- an entry of the trail
    arguments = call.arguments
    details = {"list": arguments.list_id}
    if arguments.note is not None:
        details["note"] = arguments.note
    return call.audit(
        subject=masked(arguments.number), organization_id=arguments.organization_id, details=details
    )


def _settings(call: Call[Any]) -> OptOutSettings:
    organization = call.services.accounts.fresh_organization(call.arguments.organization_id)
    return call.stored(OptOutWordRepository).settings_of(organization.id)


def _list_name(call: Call[Any], list_id: str) -> str:
    """The name of the organization's list.

    Raises:
        NotFound: it has no such list.
    """
    recipients = call.stored(RecipientListRepository).recipient_list(list_id)
    if recipients.organization_id != call.arguments.organization_id:
        raise NotFound(f"There is no list {list_id}.")
    return recipients.name


async def _changed(
    call: Call[Any],
    new_of: Callable[[OptOutSettings], OptOutSettings],
    details: dict[str, Any],
) -> OptOutWords:
    organization_id = call.arguments.organization_id
    by = call.audit(organization_id=organization_id, details=details)
    stored = call.stored(OptOutWordRepository)
    return _shown(call, await stored.change(by, organization_id, new_of))


def _shown(call: Call[Any], settings: OptOutSettings) -> OptOutWords:
    organization = call.services.accounts.fresh_organization(settings.organization_id)
    stored = call.stored(OptOutWordRepository)
    demands = stored.demands()
    recipient_lists = call.stored(RecipientListRepository).of_organization(organization.id)
    lists = {each.id: each.name for each in recipient_lists}
    counted = rules.counted(settings, demands)
    routed = stored.routed_words([one.word for one, _ in counted])
    words = tuple(
        CountedWord(
            *(one.word, one.role, one.language, source, one.list_id),
            list_name=lists.get(one.list_id or ""),
            routed=one.word in routed,
        )
        for one, source in counted
    )
    # A list's answer is shown for one of the lists: that of the first word.
    own = next((each for each in settings.words if each.list_id in lists), None)
    answers = tuple(
        _sent(settings, role, language, organization.name, lists, own)
        for role in WordRole
        for language in LANGUAGES
    )
    heeds = organization.id in stored.policies()
    return OptOutWords(settings, heeds, words, answers, tuple(demands))


def _sent(
    settings: OptOutSettings,
    role: WordRole,
    language: str,
    organization: str,
    lists: dict[str, str],
    own: OwnWord | None,
) -> SentAnswer:
    written, is_own = rules.written(settings, role, language)
    list_name = list_word = ""
    if role is WordRole.LIST:
        list_name, list_word = ("…", "…") if own is None else (lists[own.list_id or ""], own.word)
    text = rules.filled(written, language, organization, list_name, list_word)
    kind = "stop" if role is WordRole.LIST else role.value
    parts = count(text).segments
    return SentAnswer(role, language, written, text, parts, is_own, kind in settings.answered)
