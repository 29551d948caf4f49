"""On the page of a delivery: what became of the replies in the answers to a received message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from risala.engine.features.answers.replying import ReplyOutcome
from risala.engine.model.errors import Conflict
from risala.engine.model.records.webhooks import DeliveryStory
from risala.engine.rules.webhooks.schedule import CONTENT_BYTES_MAX
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import refusal_sentence
from risala.sms.limits import TEXT_CHARACTERS_MAX

SENTENCES: Final[Mapping[str, str]] = {
    ReplyOutcome.TAKEN: N_(
        "The reply was taken. It leaves once, within the limits of automatic answers."
    ),
    ReplyOutcome.ANSWERED: N_(
        "The reply was not sent: the message had an answer already, and the first one counts."
    ),
    ReplyOutcome.NOT_ALLOWED: N_(
        "The reply was not sent: this endpoint may not reply. An owner can allow it in its "
        "settings."
    ),
    ReplyOutcome.LATE: N_(
        "The reply was not sent: the body of the answer did not come to its end in 15 seconds."
    ),
    ReplyOutcome.TOO_LONG: N_(
        "The reply was not sent: the body of the answer has more than {bytes} bytes. Answer only "
        "with {example}."
    ),
    ReplyOutcome.BAD_JSON: N_(
        "The reply was not sent: the body of the answer is not JSON. Answer with {example}."
    ),
    ReplyOutcome.BAD_TYPE: N_("The reply was not sent: answer with the header {header}."),
    ReplyOutcome.BAD_STATUS: N_("The reply was not sent: only an answer with {status} counts."),
    ReplyOutcome.BAD_TEXT: N_(
        "The reply was not sent: a reply is a text of 1 to {characters} characters, without NUL."
    ),
}
"""By what is stored of an attempt."""
HELD_BACK: Final = N_("The reply was taken, but does not leave. {reason}")


async def with_delivery(request: PageRequest, story: DeliveryStory) -> dict[str, object]:
    """The sentences of its attempts, by their numbers."""
    known = {each.number: SENTENCES.get(each.reply or "") for each in story.attempts}
    texts = {number: _filled(request, text) for number, text in known.items() if text is not None}
    if story.reply_refused:
        reason = refusal_sentence(request.words, Conflict(story.reply_refused))
        held = request.words(HELD_BACK, reason=reason)
        texts |= {each.number: held for each in story.attempts if each.reply == ReplyOutcome.TAKEN}
    return {"replies": texts}


def _filled(request: PageRequest, sentence: str) -> Markup:
    return request.words(
        sentence,
        bytes=request.formats.num(CONTENT_BYTES_MAX),
        characters=request.formats.num(TEXT_CHARACTERS_MAX),
        example=request.code('{"reply": "…"}'),
        header=request.code("Content-Type: application/json"),
        status=request.code("200"),
    )
