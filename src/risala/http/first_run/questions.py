"""The questions of the first run, declared once for the terminal, the page and the answers file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from risala.config.payments import PARTS_PER_DAY
from risala.engine.model.records.payer import CUSTOMERS, SELF
from risala.http.first_run import reading
from risala.http.first_run.asking import FirstRunStep, Question
from risala.http.first_run.reading import NO, Answers
from risala.http.web.languages import N_
from risala.sms.currencies import currency_of, usual_price

SMPP: Final = "smpp"
MODEM: Final = "modem"
TRIAL: Final = "trial"


def _is(name: str, value: str) -> Callable[[Answers], bool]:
    return lambda answers: answers.get(name) == value


def _has(name: str) -> Callable[[Answers], bool]:
    return lambda answers: bool(answers.get(name))


def _always_is(value: str) -> Callable[[Answers], str]:
    return lambda _: value


def _currency(answers: Answers) -> str:
    return currency_of(answers.get("country", ""))


def _carrier_name(answers: Answers) -> str:
    return "sim-1" if answers.get("carrier", "") == MODEM else "carrier"


def _mail_security(answers: Answers) -> str:
    return {"465": "tls", "25": "none"}.get(answers.get("mail_port", ""), "starttls")


def _mail_sender(answers: Answers) -> str:
    url = answers.get("public_url", "")
    return f"sms@{url.partition('://')[2].partition(':')[0]}" if url else ""


_NAME: Final = Question(
    name="carrier_name",
    asks=N_("Its name here"),
    reads=reading.carrier_name,
    hint=N_("It appears in lists, such as carrier-1 or sim-1."),
    default=_carrier_name,
    follows="carrier",
)
STEPS: Final = (
    FirstRunStep(
        name="country",
        title=N_("Country"),
        told=N_("Where do most of your messages go?"),
        questions=(
            Question(
                name="country",
                asks=N_("Country"),
                reads=reading.country,
                hint=N_("Its two letters, such as FR or SN."),
                default=lambda _: reading.country_here(),
            ),
        ),
    ),
    FirstRunStep(
        name="payer",
        title=N_("Who pays"),
        told=N_("Who sends only for himself needs no prices and no balance."),
        questions=(
            Question(
                name="payer",
                asks=N_("Who pays for messages?"),
                reads=reading.one_of(SELF, CUSTOMERS),
                choices=(
                    (SELF, N_("Nobody: I send for myself")),
                    (CUSTOMERS, N_("My customers")),
                ),
                default=_always_is(CUSTOMERS),
            ),
            Question(
                name="parts_per_day",
                asks=N_("Parts a day"),
                reads=reading.parts_per_day,
                hint=N_("A long message has several parts. Ask your network what a SIM may send."),
                default=_always_is(str(PARTS_PER_DAY)),
                when=_is("payer", SELF),
            ),
        ),
    ),
    FirstRunStep(
        name="money",
        title=N_("Money"),
        told=N_("Which currency do your customers pay in?"),
        when=_is("payer", CUSTOMERS),
        questions=(
            Question(
                name="currency",
                asks=N_("Currency"),
                reads=reading.currency,
                hint=N_("Three letters. Choose well: it stays once there are customers."),
                default=_currency,
                follows="country",
            ),
            Question(
                name="price",
                asks=N_("Price of a part"),
                reads=reading.price,
                hint=N_("What a customer pays. A long message has several parts."),
                default=lambda answers: usual_price(answers.get("currency", "")),
                follows="currency",
            ),
        ),
    ),
    FirstRunStep(
        name="carrier",
        title=N_("How messages leave"),
        told=N_("How do messages leave this machine?"),
        questions=(
            Question(
                name="carrier",
                asks=N_("Carrier"),
                reads=reading.one_of(SMPP, MODEM, TRIAL),
                choices=(
                    (SMPP, N_("By an SMPP account of a carrier")),
                    (MODEM, N_("By a GSM modem with a SIM")),
                    (TRIAL, N_("Neither yet: only try Risala, no phone rings")),
                ),
                default=lambda answers: MODEM if answers.get("modem_found") else SMPP,
            ),
        ),
    ),
    FirstRunStep(
        name="smpp",
        title=N_("SMPP account"),
        told=N_("The carrier wrote you these. Risala signs in with them now, and sends nothing."),
        when=_is("carrier", SMPP),
        tried=N_("Signing in at the carrier"),
        questions=(
            _NAME,
            Question(name="smpp_host", asks=N_("Host"), reads=reading.host),
            Question(
                name="smpp_port", asks=N_("Port"), reads=reading.port(), default=_always_is("2775")
            ),
            Question(
                name="smpp_tls", asks=N_("TLS"), reads=reading.yes_or_no, default=_always_is(NO)
            ),
            Question(name="smpp_system_id", asks="system_id", reads=reading.system_id),
            Question(name="smpp_password", asks=N_("Password"), secret=True, optional=True),
            Question(
                name="smpp_rate",
                asks=N_("Parts a second"),
                reads=reading.rate,
                hint=N_("What your contract allows."),
                default=_always_is("10"),
            ),
            Question(
                name="sender",
                asks=N_("Sender"),
                reads=reading.sender,
                hint=N_("Phones show it. The carrier must know it."),
                default=_always_is("RISALA"),
            ),
        ),
    ),
    FirstRunStep(
        name="modem",
        title=N_("Modem"),
        told=N_("Risala asks the modem whether it can send, and sends nothing."),
        when=_is("carrier", MODEM),
        tried=N_("Asking the modem"),
        questions=(
            _NAME,
            Question(
                name="modem_port",
                asks=N_("Port"),
                reads=reading.modem_port,
                hint=N_("A name below /dev/serial/by-id stays the same."),
                default=lambda answers: answers.get("modem_found", ""),
            ),
            Question(
                name="modem_pin",
                asks=N_("PIN of the SIM"),
                reads=reading.pin,
                hint=N_("Leave it empty if the SIM has none."),
                secret=True,
                optional=True,
            ),
        ),
    ),
    FirstRunStep(
        name="address",
        title=N_("Address"),
        told=N_("Under which address do people open the pages?"),
        tried=N_("Trying the port and the address"),
        questions=(
            Question(
                name="public_url",
                asks=N_("Public address"),
                reads=reading.public_url,
                hint=N_("Such as https://sms.example.net. Empty: only this machine."),
                optional=True,
            ),
            Question(
                name="port",
                asks=N_("Port on this machine"),
                reads=reading.port(0),
                hint=N_("Programs and a reverse proxy use it."),
                default=_always_is("8080"),
            ),
        ),
    ),
    FirstRunStep(
        name="mail",
        title=N_("Mail"),
        told=N_("Codes for signing in go by mail. Without mail you make links on this machine."),
        tried=N_("Signing in at the mail server"),
        has_to_try=_has("mail_host"),
        questions=(
            Question(
                name="mail_host",
                asks=N_("Mail server"),
                reads=reading.host,
                hint=N_("Such as smtp.example.net. Empty: no mail."),
                optional=True,
            ),
            Question(
                name="mail_port",
                asks=N_("Port"),
                reads=reading.port(),
                default=_always_is("587"),
                when=_has("mail_host"),
            ),
            Question(
                name="mail_security",
                asks=N_("Encryption"),
                reads=reading.one_of("starttls", "tls", "none"),
                choices=(
                    ("starttls", N_("STARTTLS, usual with port 587")),
                    ("tls", N_("TLS, usual with port 465")),
                    ("none", N_("None: only inside your own network")),
                ),
                default=_mail_security,
                follows="mail_port",
                when=_has("mail_host"),
            ),
            Question(name="mail_user", asks=N_("User name"), optional=True, when=_has("mail_host")),
            Question(
                name="mail_password",
                asks=N_("Password"),
                secret=True,
                optional=True,
                when=_has("mail_user"),
            ),
            Question(
                name="mail_sender",
                asks=N_("Sender of the mails"),
                reads=reading.email,
                hint=N_("An address that the server lets you send from."),
                default=_mail_sender,
                when=_has("mail_host"),
            ),
        ),
    ),
    FirstRunStep(
        name="operator",
        title=N_("You"),
        told=N_("You run this service, and you own its first organization."),
        questions=(
            Question(
                name="operator", asks=N_("Your e-mail address"), reads=reading.email, stored=False
            ),
            Question(
                name="organization",
                asks=N_("Name of your organization"),
                reads=reading.organization,
                hint=N_("The messages and their keys belong to it."),
                default=_always_is("My organization"),
                stored=False,
            ),
        ),
    ),
    FirstRunStep(
        name="phone",
        title=N_("Your phone"),
        told=N_("At the end Risala sends you one SMS, and waits until it has arrived."),
        questions=(
            Question(
                name="phone",
                asks=N_("Your own number"),
                reads=reading.phone,
                hint=N_("Empty: no SMS is sent."),
                optional=True,
                stored=False,
            ),
        ),
    ),
)
"""In the order in which they are asked."""
QUESTIONS: Final[Mapping[str, Question]] = {
    each.name: each for step in STEPS for each in step.questions
}


def steps_of(answers: Answers) -> tuple[FirstRunStep, ...]:
    """The steps that these answers need."""
    return tuple(step for step in STEPS if step.when(answers))
