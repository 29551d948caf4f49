"""The phones of the demo: what each one got, and how it writes.

A phone's text takes the way of a real carrier's: the simulated SMSC sends it as ``deliver_sm``
parts to the SMPP driver. Only a demo has this: the page and the path of the control socket are
handed to the service by :class:`risala.app.demo.Demo`.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from pydantic import Field

from risala.drivers.smpp.protocol.inbound import inbound_pdus
from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm
from risala.engine.model.errors import Conflict, Invalid
from risala.http.common.parse import read_body
from risala.http.common.plain import Handler, PlainAnswer, PlainRequest
from risala.http.common.respond import json_bytes
from risala.http.common.validation import RequestBody, parse_body
from risala.plugins.page import (
    FormField,
    OpenPage,
    PageAnswer,
    PageBlock,
    PageForm,
    PageHeading,
    PageService,
    PageTable,
    PageText,
)
from risala.sms.numbering.plan import NumberingPlan, is_digits

PAGE: Final = "phones"
"""The word in the page's address: ``/operator/plugins/phones``."""
PATH: Final = "/demo/text"
"""The path of the control socket for ``risala demo text``."""
OUR_NUMBER: Final = "1234"
"""The number that the demo's phones write to."""
TEXT_CHARACTERS_MAX: Final = 1000
PHONES_MAX: Final = 20
"""Phones that are remembered; the one that was quiet longest is forgotten."""
TEXTS_MAX: Final = 50
"""Texts that are remembered of each phone, the newest ones."""
WAITING_MAX: Final = 1000
"""Receipts and texts that wait at the simulated carrier; above it phones cannot write."""
_NUMBER_DIGITS: Final = range(1, 16)
_REFERENCES: Final = 256

Deliver = Callable[[Sequence[DeliverSm | DataSm]], bool]
"""Hands the parts of a text to the carrier; False: it takes none now."""


@dataclass(frozen=True, slots=True)
class PhoneText:
    """A text that a phone got or wrote."""

    at_ms: int
    other: str
    """Whom it is from, or to whom the phone wrote."""
    text: str
    is_written: bool
    """Whether the phone wrote it."""
    is_flash: bool = False
    """Whether the phone showed it at once, and did not keep it."""


class Phones:
    """What the demo's phones got and wrote, in memory, within limits."""

    def __init__(self, plan: NumberingPlan, deliver: Deliver, now_ms: Callable[[], int]) -> None:
        self.plan = plan
        self._deliver = deliver
        self._now_ms = now_ms
        self._texts: OrderedDict[str, deque[PhoneText]] = OrderedDict()
        self._reference = 0

    def got(
        self, phone: str, sender: str, text: str, at_ms: int, *, is_flash: bool = False
    ) -> None:
        """A whole message reached a phone."""
        self._note(phone, PhoneText(at_ms, sender, text, is_written=False, is_flash=is_flash))

    def write(self, phone: str, to: str, text: str) -> str:
        """Let a phone write to a number of ours; returns the phone in its one form.

        Raises:
            Invalid: a number or the text cannot be one.
            Conflict: the carrier takes no text now.
        """
        try:
            sender = self.plan.read(phone)
        except ValueError as error:
            raise Invalid("from", "malformed", str(error)) from None
        digits = to.strip().removeprefix("+")
        if not is_digits(digits) or len(digits) not in _NUMBER_DIGITS:
            raise Invalid("to", "malformed", "`to` must be a number of 1 to 15 digits.")
        if not text.strip():
            raise Invalid("body", "missing", "A text has at least one character.")
        if len(text) > TEXT_CHARACTERS_MAX:
            limit = f"A text of a phone has at most {TEXT_CHARACTERS_MAX} characters."
            raise Invalid("body", "too_long", limit)
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise Invalid("body", "malformed", "The text has half a character in it.")
        self._reference = (self._reference + 1) % _REFERENCES
        if not self._deliver(inbound_pdus(text, sender, digits, self._reference)):
            raise Conflict("The demo's carrier takes no text now. Try again in a moment.")
        self._note(sender, PhoneText(self._now_ms(), digits, text, is_written=True))
        return sender

    def newest(self) -> list[tuple[str, list[PhoneText]]]:
        """All phones with their texts, newest first."""
        return [(phone, list(texts)) for phone, texts in reversed(self._texts.items())]

    def _note(self, phone: str, text: PhoneText) -> None:
        texts = self._texts.setdefault(phone, deque(maxlen=TEXTS_MAX))
        texts.appendleft(text)
        self._texts.move_to_end(phone)
        if len(self._texts) > PHONES_MAX:
            self._texts.popitem(last=False)


class TextBody(RequestBody):
    """The body of ``POST /demo/text``."""

    sender: Annotated[str, Field(alias="from")]
    to: str = OUR_NUMBER
    body: str


def control_paths(phones: Phones) -> Mapping[str, Handler]:
    """The demo's paths of the control socket."""

    async def write(request: PlainRequest) -> PlainAnswer:
        body = parse_body(TextBody, await read_body(request))
        phone = phones.write(body.sender, body.to, body.body)
        return PlainAnswer(json_bytes({"result": {"from": phone, "to": body.to}}))

    return {PATH: write}


@dataclass(frozen=True, slots=True)
class _Words:
    about: str
    none: str
    at: str
    who: str
    text: str
    got: str
    flash: str
    wrote: str
    phone: str
    phone_hint: str
    to: str
    to_hint: str
    send: str
    sent: str
    bad_phone: str
    bad_to: str
    bad_text: str
    busy: str


_TITLE: Final = {"en": "Phones of the demo", "fr": "Téléphones de la démo", "ar": "هواتف العرض"}
_WORDS: Final = {
    "en": _Words(
        about="What the demo's phones got and wrote, newest first. No real phone is involved.",
        none="No phone has got a message yet. Send one, or write as a phone.",
        at="Time",
        who="With",
        text="Text",
        got="From {other}",
        flash="Flash from {other}",
        wrote="To {other}",
        phone="Phone",
        phone_hint="The number that writes.",
        to="To",
        to_hint="A number of ours. Any short number will do.",
        send="Send as this phone",
        sent="{phone} wrote.",
        bad_phone="This is no mobile number of {places}.",
        bad_to="A number has 1 to 15 digits.",
        bad_text="A text has 1 to {limit} characters.",
        busy="The demo's carrier takes no text now. Try again in a moment.",
    ),
    "fr": _Words(
        about="Ce que les téléphones de la démo ont reçu et écrit, du plus récent au plus ancien."
        " Aucun vrai téléphone n’est concerné.",
        none="Aucun téléphone n’a encore reçu de message. Envoyez-en un, ou écrivez comme un"
        " téléphone.",
        at="Heure",
        who="Avec",
        text="Texte",
        got="De {other}",
        flash="Flash de {other}",
        wrote="À {other}",
        phone="Téléphone",
        phone_hint="Le numéro qui écrit.",
        to="À",
        to_hint="Un de nos numéros. N’importe quel numéro court convient.",
        send="Envoyer depuis ce téléphone",
        sent="{phone} a écrit.",
        bad_phone="Ce n’est pas un numéro de téléphone valable ici.",
        bad_to="Un numéro a de 1 à 15 chiffres.",
        bad_text="Un texte a de 1 à {limit} caractères.",
        busy="L’opérateur de la démo ne prend pas de texte maintenant. Réessayez dans un instant.",
    ),
    "ar": _Words(
        about="ما وصل إلى هواتف العرض وما كتبته، الأحدث أولا. لا علاقة لأي هاتف حقيقي بهذا.",
        none="لم تصل أي رسالة إلى أي هاتف بعد. أرسل رسالة، أو اكتب من هاتف.",
        at="الوقت",
        who="مع",
        text="النص",
        got="من {other}",
        flash="رسالة فلاش من {other}",
        wrote="إلى {other}",
        phone="الهاتف",
        phone_hint="الرقم الذي يكتب.",
        to="إلى",
        to_hint="أحد أرقامنا. أي رقم قصير يصلح.",
        send="أرسل من هذا الهاتف",
        sent="كتب {phone}.",
        bad_phone="هذا ليس رقم هاتف صالحا هنا.",
        bad_to="الرقم من 1 إلى 15 خانة.",
        bad_text="النص من 1 إلى {limit} حرف.",
        busy="شركة العرض لا تقبل رسائل الآن. حاول بعد لحظة.",
    ),
}
_LTR: Final = "\u2066{}\u2069"
"""A number, isolated, so that it reads from its sign on in Arabic too."""


class PhonesPage:
    """A live page (:mod:`risala.plugins.page`), by which a phone answers, too."""

    redrawn_every_s: Final = 1.0

    def __init__(self, phones: Phones) -> None:
        self._phones = phones

    async def show(self, service: PageService) -> Sequence[PageBlock]:
        words, plan = _WORDS[service.language], self._phones.plan
        newest = self._phones.newest()
        writer = newest[0][0] if newest else plan.example
        blocks: list[PageBlock] = [
            PageText(words.about),
            PageForm(
                "text",
                words.send,
                (
                    FormField("phone", words.phone, value=writer, hint=words.phone_hint),
                    FormField("to", words.to, value=OUR_NUMBER, hint=words.to_hint),
                    FormField("text", words.text),
                ),
            ),
        ]
        zone = ZoneInfo(plan.home.time_zone)
        for phone, texts in newest:
            rows = [(_clock(each.at_ms, zone), _other(words, each), each.text) for each in texts]
            blocks.append(PageHeading(_LTR.format(phone)))
            blocks.append(PageTable((words.at, words.who, words.text), rows))
        if not newest:
            blocks.append(PageTable((words.text,), (), words.none))
        return blocks

    async def act(self, service: PageService, action: str, fields: Mapping[str, str]) -> PageAnswer:
        words = _WORDS[service.language]
        says = {
            "from": ("phone", words.bad_phone.format(places=self._phones.plan.names)),
            "to": ("to", words.bad_to),
            "body": ("text", words.bad_text.format(limit=TEXT_CHARACTERS_MAX)),
        }
        try:
            phone = self._phones.write(
                fields.get("phone", ""), fields.get("to", ""), fields.get("text", "")
            )
        except Invalid as refused:
            name, text = says[refused.path]
            return PageAnswer(text, {name: text})
        except Conflict:
            return PageAnswer(words.busy, {"": words.busy})
        return PageAnswer(words.sent.format(phone=_LTR.format(phone)))


def phones_page(phones: Phones) -> Mapping[str, OpenPage]:
    """The page, by the word in its address."""
    return {PAGE: OpenPage(_TITLE, PhonesPage(phones))}


def _clock(at_ms: int, zone: ZoneInfo) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC).astimezone(zone):%H:%M:%S}"


def _other(words: _Words, text: PhoneText) -> str:
    got = words.flash if text.is_flash else words.got
    sentence = words.wrote if text.is_written else got
    return sentence.format(other=_LTR.format(text.other))
