"""Texts and calls that come in: whether one proves a number. Nothing else is loaded for those that
do not."""

from __future__ import annotations

from risala.engine.features.reverse.rules import marks_in
from risala.engine.model.records.inbound import PhoneArrival
from risala.engine.model.records.messages import StoreArrival
from risala.engine.rules.keywords import START_WORDS, STOP_WORDS, only_word
from risala.engine.verify.session_features import SessionSources


def arrived(sources: SessionSources, arrival: PhoneArrival) -> StoreArrival | None:
    """What a text or call does in the transaction that stores it; None: nothing."""
    is_number = sources.settings.plan.serves(arrival.number)
    if arrival.text is None:
        if not (arrival.is_believed and is_number):
            return None
        from risala.engine.features.reverse.stored import ReverseRepository

        return ReverseRepository.call_came(arrival.number)
    # A text that ends or begins messages of an organization is that alone.
    if only_word(arrival.text) in STOP_WORDS | START_WORDS:
        return None
    marks = marks_in(sources.ring(), arrival.text)
    if not marks:
        return None
    # Imported here: most texts have no word in them.
    from risala.engine.features.reverse.records import TextFault
    from risala.engine.features.reverse.stored import ReverseRepository

    number = arrival.number if is_number and arrival.is_believed else ""
    fault = TextFault.WITHHELD if arrival.is_believed else TextFault.UNTRUSTED
    return ReverseRepository.text_came(marks, number, fault)
