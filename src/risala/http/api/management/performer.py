"""Operations by a program with a secret key: the same that pages and commands call, with what they
refuse in the API's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeVar

from risala.dataclass import dataclass
from risala.engine.model.callers import key_holder
from risala.engine.model.commands import Principal
from risala.engine.model.errors import Conflict, FieldFault, Invalid, NotFound
from risala.engine.model.records.asks import Ask
from risala.http.common.problems import BodyIssue, Problem, bad_body

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


R = TypeVar("R")
ANY_CONFLICT: Final = "CONFLICT"
_word: Final = re.compile(r"_([a-z])")


@dataclass(frozen=True, slots=True)
class KeyPerformer:
    """Performs operations for who holds a key."""

    gateway: Gateway
    not_found: str
    """The sentence for a thing that is not there, or is somebody else's."""

    async def ask(self, principal: Principal, ask: Ask[R], **arguments: object) -> R:
        """Do one operation; arguments that are None count as not given.

        Raises:
            Problem: 400 with every fault, or with ``data.code`` where the thing is not in a state
                that allows it.
            NotFound: there is no such thing for this key: the same words whatever the reason.
            Refusal, Unavailable: as the engine raises them.
        """
        known = {name: value for name, value in arguments.items() if value is not None}
        caller = key_holder(principal.key_id, principal.organization_id)
        try:
            return (await self.gateway.ask(ask, known, caller)).value
        except Invalid as error:
            raise bad_body([issue_of(fault) for fault in error.faults]) from error
        except Conflict as error:
            raise Problem(400, str(error), {"code": error.code or ANY_CONFLICT}) from error
        except NotFound:
            raise NotFound(self.not_found) from None


def issue_of(fault: FieldFault) -> BodyIssue:
    """A fault of an operation's argument, as one of the body's member that it came by."""
    name = _word.sub(lambda hit: hit[1].upper(), fault.path)
    return BodyIssue((name,), fault.code, fault.message.replace(fault.path, name))
