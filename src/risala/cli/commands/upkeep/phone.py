"""Pairing an Android phone with a carrier."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import click

from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.model.records.carriers import state

if TYPE_CHECKING:
    from risala.config.model import CarrierSection

_DRIVER: Final = "phone"
_API: Final = "/mobile/v1"
LANGUAGES: Final = ("en", "fr", "ar")
STEPS: Final = {
    "en": (
        "Install SMSGate on the phone, from github.com/capcom6/android-sms-gateway, and allow what "
        "it asks for: SMS and phone.",
        "SETTINGS, Cloud server…, API URL: {url}",
        "There, Private Token: {token}",
        "There, Notification channel: SSE Only",
        "SETTINGS, System, Battery optimization: let Android not stop the app.",
        "Home: switch Cloud server on, press Offline so that it says Online, and under Sign Up "
        "press Continue.",
    ),
    "fr": (
        "Installez SMSGate sur le téléphone, depuis github.com/capcom6/android-sms-gateway, et "
        "autorisez ce qu'il demande : SMS et téléphone. L'application n'est pas en français ; "
        "voici ses mots anglais.",
        "SETTINGS, Cloud server…, API URL : {url}",
        "Au même endroit, Private Token : {token}",
        "Au même endroit, Notification channel : SSE Only",
        "SETTINGS, System, Battery optimization : qu'Android n'arrête pas l'application.",
        "Home : activez Cloud server, touchez Offline pour qu'il affiche Online, puis, sous "
        "Sign Up, touchez Continue.",
    ),
    "ar": (
        "ثبّت SMSGate على الهاتف من github.com/capcom6/android-sms-gateway، واسمح له بما يطلبه: "
        "الرسائل والهاتف.",
        "الإعدادات، خادم السحاب…، رابط API: {url}",
        "في المكان نفسه، الرمز الخاص: {token}",
        "في المكان نفسه، قناة الإشعارات: SSE Only",
        "الإعدادات، النظام، تحسين البطارية: حتى لا يوقف أندرويد التطبيق.",
        "الشاشة الأولى: شغّل خادم السحاب، واضغط «غير متصل» حتى يظهر «متصل»، ثم تحت «إنشاء حساب» "
        "اضغط «استمرار».",
    ),
}
"""What to do on the phone, in the words that the app shows."""


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

    NAME is a carrier of the settings with driver = "phone". It prints the private token. Exit code
    1 where no phone has registered within 45 seconds.

    \b
    Example: risala phone pair my-phone --lang fr
    """
    section = _section(options, carrier)
    url, token = _url(options, section), _token(section)
    if not options.json:
        for number, step in enumerate(STEPS[lang or _language()], 1):
            click.echo(f"{number}. {step.format(url=url, token=token)}")
        click.echo()
        if fault := fault_of(url):
            output.said(fault)
        output.said("Waiting for the phone …")
    answer = options.ask(state.ASK, carrier=carrier, command="pair", arguments=[]).value.answer
    if options.json:
        click.echo(json.dumps({"carrier": carrier, "url": url, **answer}, ensure_ascii=False))
    if answer["phone"] is None:
        raise CommandRefused(_reason(answer, url))
    if not options.json:
        output.said(_found(answer, carrier))


def _section(options: Options, name: str) -> CarrierSection:
    carriers = [each for each in options.settings().carriers if each.driver == _DRIVER]
    carrier = next((each for each in carriers if each.name == name), None)
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
    return f"{own}/carriers/{carrier.address}{_API}"


def _token(carrier: CarrierSection) -> str:
    from risala.config.faults import ConfigError
    from risala.config.secrets import resolve_secrets

    try:
        return str(resolve_secrets(carrier.settings)["token"])
    except ConfigError as error:
        raise CommandRefused(str(error)) from None
    except KeyError:
        raise CommandRefused(
            f"{carrier.name} has no private token: set token_env in [carriers.phone]."
        ) from None


def _language() -> str:
    spoken = os.environ.get("LC_ALL") or os.environ.get("LANG") or ""
    return spoken[:2] if spoken[:2] in LANGUAGES else LANGUAGES[0]


def fault_of(url: str) -> str:
    """Why the app cannot call an address; empty: nothing is seen from here."""
    parts = urlsplit(url)
    if parts.hostname in ("127.0.0.1", "localhost", "::1", "0.0.0.0"):  # noqa: S104 -- a comparison
        return (
            f"The phone cannot reach {parts.hostname}, which is each machine's own address: set "
            "http.public_url to the address of this service."
        )
    if parts.scheme != "https":
        return (
            "The app only calls https: put a reverse proxy with a certificate in front, and set "
            "http.public_url."
        )
    return ""


def _reason(answer: Mapping[str, Any], url: str) -> str:
    if answer["strangers"]:
        return (
            "A phone called with another private token. Type the token again on it: letters and "
            "digits, without a blank."
        )
    return fault_of(url) or (
        f"No phone has called. Open {urlsplit(url)._replace(path='/').geturl()} in the phone's "
        "browser: where that fails too, the name does not lead here or a firewall is between; "
        "where it warns of the certificate, the phone's clock is wrong or it does not know who "
        "signed it. In the app, Cloud server must be on and Online."
    )


def _found(answer: Mapping[str, Any], carrier: str) -> str:
    name = answer["phone"]
    if answer["state"] == "waits":
        return (
            f"{name} has registered, and waits: this carrier has a phone already. If it is to take "
            f"its place: risala carriers ask {carrier} replace"
        )
    if answer["state"] == "silent":
        return f"{name} is registered, and has not called since the service started."
    return f"{name} is registered. Try it: risala send NUMBER Hello"
