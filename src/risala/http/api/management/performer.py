"""Operations by a program with a secret key: the same that pages and commands call, with what they
refuse in the API's words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from risala.engine.model.callers import Caller, key_holder
from risala.engine.model.commands import Principal
from risala.engine.model.errors import Conflict, FieldFault, Invalid, NotFound
from risala.engine.model.records.asks import Ask
from risala.http.common.facade import Operator
from risala.http.common.problems import BodyIssue, Problem, bad_body

R = TypeVar("R")
ANY_CONFLICT: Final = "CONFLICT"
_word: Final = re.compile(r"_([a-z])")
_capital: Final = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class KeyPerformer:
    """Performs operations for who holds a key."""

    operator: Operator
    not_found: str
    """The sentence for a thing that is not there, or is somebody else's."""

    async def perform(self, principal: Principal, name: str, **arguments: object) -> dict[str, Any]:
        """Do one operation; arguments that are None count as not given. Raises as :meth:`ask`."""
        with self._in_our_words():
            return await self.operator.perform(name, _given(arguments), _caller(principal))

    async def ask(self, principal: Principal, ask: Ask[R], **arguments: object) -> R:
        """Do one operation; arguments that are None count as not given.

        Raises:
            Problem: 400 with every fault, or with ``data.code`` where the thing is not in a state
                that allows it.
            NotFound: there is no such thing for this key: the same words whatever the reason.
            Refusal, Unavailable: as the engine raises them.
        """
        with self._in_our_words():
            return (await self.operator.ask(ask, _given(arguments), _caller(principal))).value

    @contextmanager
    def _in_our_words(self) -> Iterator[None]:
        try:
            yield
        except Invalid as error:
            raise bad_body([issue_of(fault) for fault in error.faults]) from error
        except Conflict as error:
            raise Problem(400, str(error), {"code": error.code or ANY_CONFLICT}) from error
        except NotFound:
            raise NotFound(self.not_found) from None


def _given(arguments: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in arguments.items() if value is not None}


def _caller(principal: Principal) -> Caller:
    return key_holder(principal.key_id, principal.organization_id)


def issue_of(fault: FieldFault) -> BodyIssue:
    """A fault of an operation's argument, as one of the body's member that it came by."""
    name = _word.sub(lambda found: found[1].upper(), fault.path)
    return BodyIssue((name,), fault.code, fault.message.replace(fault.path, name))


def argument(member: str) -> str:
    """An operation's argument that is a body's member: ``signature_header`` of
    ``signatureHeader``."""
    return _capital.sub(lambda found: f"_{found[0].lower()}", member)
