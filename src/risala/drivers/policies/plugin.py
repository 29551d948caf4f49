"""Message policies that are built in."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.policies.words import WordsPolicy, WordsSettings
from risala.plugins.hookspecs import hookimpl
from risala.plugins.policy import MessagePolicyFactory

WORDS = MessagePolicyFactory(
    name="words",
    settings=WordsSettings,
    build=WordsPolicy,
    summary="Refuses texts with some words, and rewrites others",
)


@hookimpl
def risala_register_message_policies(register: Callable[[MessagePolicyFactory], None]) -> None:
    register(WORDS)
