"""Pairing an Android phone with a carrier."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

import click

from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.model.records.carriers import state
from risala.http.first_run.pairing import (
    API_PATH,
    PAIR,
    TOKEN,
    PairingAnswer,
    fault_of,
    why_none_came,
)

if TYPE_CHECKING:
    from risala.config.model import CarrierSection

_DRIVER: Final = "phone"
LANGUAGES: Final = ("en", "fr", "ar")


@click.group()
def phone() -> None:
    """Android phones with the SMSGate app that are carriers.

    \b
    Example: risala phone pair my-phone
    """


@phone.command()
@click.argument("carrier", metavar="NAME")
@click.option("--lang", type=click.Choice(LANGUAGES), help="The language of the steps.")
@common
def pair(options: Options, carrier: str, lang: str | None) -> None:
    """Say what to type on the phone, and wait for it to register.

    NAME is a carrier of the settings with driver = "phone". It prints the private token that the
    service made, or that of the settings. Exit code 1 where no phone has registered within 45
    seconds.

    \b
    Example: risala phone pair my-phone --lang fr
    """
    section = _section(options, carrier)
    url, about = _url(options, section), {"carrier": carrier, "arguments": []}
    token = options.ask(state.ASK, command=TOKEN, **about).value.answer[TOKEN]
    if not options.json:
        for number, step in enumerate(_steps(lang or _language()), 1):
            click.echo(f"{number}. {step.format(url=url, token=token)}")
        click.echo()
        if (fault := fault_of(url)) is not None:
            output.said(fault[0].format(**fault[1]))
        output.said("Waiting for the phone …")
    answer = options.ask(state.ASK, command=PAIR, **about).value.answer
    if options.json:
        shown = {"carrier": carrier, "url": url, TOKEN: token, **answer}
        click.echo(json.dumps(shown, ensure_ascii=False))
    came = PairingAnswer.of(answer)
    if came.phone is None:
        sentence, holes = why_none_came(url, came.strangers)
        raise CommandRefused(sentence.format(**holes))
    if not options.json:
        output.said(_found(came, carrier))


def _section(options: Options, name: str) -> CarrierSection:
    carriers = [each for each in options.settings().carriers if each.driver == _DRIVER]
    carrier = next((each for each in carriers if each.name == name), None)
    if carrier is not None and (owner := carrier.settings.get("shares")):
        raise CommandRefused(f"{name} has the same phone as {owner}: risala phone pair {owner}")
    if carrier is not None:
        return carrier
    names = ", ".join(each.name for each in carriers)
    raise CommandRefused(
        f"{name} is not a carrier with a phone"
        + (f"; those are: {names}." if names else '. Write one with driver = "phone".')
    )


def _url(options: Options, carrier: CarrierSection) -> str:
    http = options.settings().http
    own = http.public_url or f"http://{http.host}:{http.port}"
    return f"{own}/carriers/{carrier.address}{API_PATH}"


def _steps(language: str) -> tuple[str, ...]:
    from risala.drivers.phone.page_words import WORDS

    return WORDS[language].steps


def _language() -> str:
    spoken = os.environ.get("LC_ALL") or os.environ.get("LANG") or ""
    return spoken[:2] if spoken[:2] in LANGUAGES else LANGUAGES[0]


def _found(answer: PairingAnswer, carrier: str) -> str:
    name = answer.phone
    if answer.state == "waits":
        return (
            f"{name} has registered, and waits: this carrier has a phone already. If it is to take "
            f"its place: risala carriers ask {carrier} replace"
        )
    if answer.state == "silent":
        return f"{name} is registered, and has not called since the service started."
    return f"{name} is registered. Try it: risala send NUMBER Hello"
