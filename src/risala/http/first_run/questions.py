"""The questions of the first run, declared once for the terminal, the page and the answers file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from risala.config.payments import PARTS_PER_DAY
from risala.dataclass import dataclass
from risala.engine.model.records.ledger import CUSTOMERS, SELF
from risala.http.first_run import answers as reads
from risala.http.first_run.answers import NO, YES, Answers
from risala.http.web.languages import N_
from risala.sms.currencies import currency_of, usual_price

Choices = Sequence[tuple[str, str]]
"""What may be chosen: the word that is stored, and what it means."""
SMPP: Final = "smpp"
HTTP: Final = "http"
ANDROID: Final = "android"
MODEM: Final = "modem"
HILINK: Final = "hilink"
TRIAL: Final = "trial"
ACCOUNT: Final = "account"
"""The step with the account at the aggregator."""
NEEDS: Final = "http_needs"
"""Beside the answers: which settings the chosen aggregator needs, with blanks between. Nobody is
asked for it: :meth:`risala.http.first_run.progress.Trials.needs` says it."""


def _always(_: Answers) -> bool:
    return True


def _never(_: Answers) -> bool:
    return False


def _is(name: str, value: str) -> Callable[[Answers], bool]:
    return lambda answers: answers.get(name) == value


def _has(name: str) -> Callable[[Answers], bool]:
    return lambda answers: bool(answers.get(name))


def _needs(setting: str) -> Callable[[Answers], bool]:
    """Whether the chosen aggregator needs a setting."""
    return lambda answers: setting in answers.get(NEEDS, "").split()


def _http_rate(answers: Answers) -> str:
    """Networks block SIMs that send faster for long than a part in five seconds."""
    return "0.2" if answers.get("http_preset") in _BY_SIM else "10"


@dataclass(frozen=True, slots=True)
class Question:
    """One question."""

    name: str
    """The key in an answers file, and the field of the page."""
    asks: str
    setting: str = ""
    """Which setting has the answer; ``carriers.`` is the carrier that the answers are about. Empty:
    none, or several follow from it."""
    reads: reads.Reader = reads.one_line
    hint: str = ""
    default: str | Callable[[Answers], str] = ""
    optional: bool = False
    needed: Callable[[Answers], bool] = _never
    """Whether it must be answered although it is optional elsewhere."""
    secret: bool = False
    """Typed unseen and never shown again; an empty answer leaves the one that stands."""
    missing: str = N_("Fill this in.")
    """What is said where an answer lacks that is not optional."""
    choices: Choices = ()
    looked_up: bool = False
    """The choices are looked up: :meth:`risala.http.first_run.progress.Trials.choices`."""
    follows: str = ""
    """Once the answer to this question differs from what stands, so does the default."""
    when: Callable[[Answers], bool] = _always
    hides: bool = False
    """True: ``when`` looks at answers of earlier steps, so that the page can leave the question
    out."""
    means: Callable[[str], object] = str
    """The setting's value."""

    def is_optional(self, answers: Answers) -> bool:
        """Whether it may be left empty."""
        return self.optional and not self.needed(answers)


@dataclass(frozen=True, slots=True)
class FirstRunStep:
    """Questions that belong together, and are tried out together."""

    name: str
    title: str
    about: str
    questions: tuple[Question, ...]
    when: Callable[[Answers], bool] = _always
    tried: str = ""
    """What is said while the answers are tried out; empty: nothing is to try."""
    has_to_try: Callable[[Answers], bool] = _always
    """Whether there is anything to try in these answers."""


def _mail_security(answers: Answers) -> str:
    return {"465": "tls", "25": "none"}.get(answers.get("mail_port", ""), "starttls")


def _mail_sender(answers: Answers) -> str:
    url = answers.get("public_url", "")
    return f"sms@{url.partition('://')[2].partition(':')[0]}" if url else ""


AGGREGATORS: Final = {
    "httpsms": N_("httpSMS (an Android phone)"),
    "mikrotik": N_("MikroTik RouterOS (a router with a SIM)"),
    "risala": N_("Another Risala"),
    "rutos": N_("Teltonika RutOS (a router with a SIM)"),
    "textbee": N_("textbee (an Android phone)"),
}
"""Titles of presets that are more than a company's name, which pages translate."""
_BY_SIM: Final = AGGREGATORS.keys() - {"risala"}
"""Presets that send by a SIM of one's own."""
_NAMES: Final = {MODEM: "sim-1", HILINK: "stick-1", HTTP: "aggregator", ANDROID: "phone-1"}
# A row begins with a question's name, its words, its setting and its kind.
# fmt: off
NAME: Final = Question(
    "carrier_name", N_("Its name here"), "carriers.name", reads.carrier_name,
    hint=N_("It appears in lists, such as carrier-1 or sim-1."), follows="carrier",
    default=lambda answers: _NAMES.get(answers.get("carrier", ""), "carrier"),
)
SENDER: Final = Question(
    "sender", N_("Sender"), "service.default_sender", reads.sender,
    hint=N_("Phones show it. The carrier must know it."), default="RISALA",
)
STEPS: Final = (
    FirstRunStep("country", N_("Country"), N_("Where do most of your messages go?"), (
        Question("country", N_("Country"), "", reads.country,
            hint=N_("Its two letters, such as FR or SN."), missing=N_("Choose a country."),
            default=lambda _: reads.country_here()),
    )),
    FirstRunStep("payer", N_("Who pays"),
        N_("Who sends only for himself needs no prices and no balance."), (
        Question("payer", N_("Who pays for messages?"), "billing.payer",
            reads.one_of(SELF, CUSTOMERS), default=CUSTOMERS,
            choices=((SELF, N_("Nobody: I send for myself")), (CUSTOMERS, N_("My customers")))),
        Question("parts_per_day", N_("Parts a day"), "billing.self_parts_per_day",
            reads.parts_per_day, default=str(PARTS_PER_DAY), when=_is("payer", SELF), means=int,
            hint=N_("A long message has several parts. Ask your network what a SIM may send.")),
    )),
    FirstRunStep("money", N_("Money"), N_("Which currency do your customers pay in?"), (
        Question("currency", N_("Currency"), "service.currency", reads.currency,
            hint=N_("Three letters. Choose well: it stays once there are customers."),
            default=lambda answers: currency_of(answers.get("country", "")), follows="country"),
        Question("price", N_("Price of a part"), "pricing.per_segment", reads.price,
            hint=N_("What a customer pays. A long message has several parts."),
            default=lambda answers: usual_price(answers.get("currency", "")), follows="currency"),
    ), when=_is("payer", CUSTOMERS)),
    FirstRunStep("carrier", N_("How messages leave"), N_("How do messages leave this machine?"), (
        Question("carrier", N_("Carrier"), "",
            reads.one_of(ANDROID, HILINK, HTTP, MODEM, SMPP, TRIAL),
            default=lambda answers: MODEM if answers.get("modem_found") else SMPP,
            choices=(
                (ANDROID, N_("By an Android phone with the SMSGate app")),
                (HTTP, N_("By HTTP: an aggregator, a router with a SIM, another Risala")),
                (MODEM, N_("By a GSM modem with a SIM")),
                (HILINK, N_("By a HiLink stick with a SIM: it has a web page, and no port")),
                (SMPP, N_("By an SMPP account of a carrier")),
                (TRIAL, N_("Nothing yet: only try Risala, no phone rings")),
            )),
    )),
    FirstRunStep(SMPP, N_("SMPP account"),
        N_("The carrier wrote you these. Risala signs in with them now, and sends nothing."), (
        NAME,
        Question("smpp_host", N_("Host"), "carriers.smpp.host", reads.host),
        Question("smpp_port", N_("Port"), "carriers.smpp.port", reads.port(),
            default="2775", means=int),
        Question("smpp_tls", N_("TLS"), "carriers.smpp.tls", reads.yes_or_no,
            default=NO, means=lambda text: text == YES),
        Question("smpp_system_id", "system_id", "carriers.smpp.system_id", reads.system_id),
        Question("smpp_password", N_("Password"), "carriers.smpp.password",
            secret=True, optional=True),
        Question("smpp_rate", N_("Parts a second"), "carriers.rate_per_s", reads.rate,
            hint=N_("What your contract allows."), default="10", means=reads.rate_of),
        SENDER,
    ), _is("carrier", SMPP), tried=N_("Signing in at the carrier")),
    FirstRunStep(HTTP, N_("Aggregator"), N_("Who takes your messages by HTTP?"), (
        Question("http_preset", N_("Aggregator"), "carriers.http.preset", reads.preset,
            missing=N_("Choose an aggregator."), looked_up=True),
    ), _is("carrier", HTTP)),
    FirstRunStep(ACCOUNT, N_("Account"),
        N_("Risala asks whether your account is good, and sends nothing."), (
        NAME,
        Question("http_url", N_("Address of its API"), "carriers.http.url", reads.web_address,
            hint=N_("Only where it is not the usual one, such as https://192.168.1.1."),
            optional=True, needed=_needs("url")),
        Question("http_user", N_("User"), "carriers.http.user", when=_needs("user"), hides=True,
            hint=N_("The name or number of your account or application there.")),
        Question("http_password", N_("Password"), "carriers.http.password",
            hint=N_("Or the key that belongs to the user."), secret=True,
            when=_needs("password"), hides=True),
        Question("http_token", N_("Token"), "carriers.http.token",
            hint=N_("A key that stands without a user."), secret=True,
            when=_needs("token"), hides=True),
        Question("http_signing_secret", N_("Secret of its webhook"), "carriers.http.signing_secret",
            hint=N_("What it signs its calls with. Make the webhook there first."),
            secret=True, when=_needs("signing_secret"), hides=True),
        Question("http_sender_number", N_("Number that sends there"),
            "carriers.http.values.sender_number", reads.digits,
            hint=N_("Your country's number at Orange, such as 2240000."),
            when=_needs("values.sender_number"), hides=True),
        Question("http_messaging_profile_id", N_("Messaging profile"),
            "carriers.http.values.messaging_profile_id", hint=N_("Its id at Telnyx."),
            when=_needs("values.messaging_profile_id"), hides=True),
        Question("http_device_id", N_("Id of the phone"), "carriers.http.values.device_id",
            hint=N_("textbee shows it with the phone."),
            when=_needs("values.device_id"), hides=True),
        Question("http_modem", N_("Modem of the router"), "carriers.http.values.modem",
            hint=N_("As the router names it."), default="1-1",
            when=_needs("values.modem"), hides=True),
        Question("http_port", N_("Interface with the SIM"), "carriers.http.values.port",
            hint=N_("As the router names it."), default="lte1",
            when=_needs("values.port"), hides=True),
        Question("http_rate", N_("Parts a second"), "carriers.rate_per_s", reads.rate,
            hint=N_("What your contract allows; by a SIM, one in five seconds."),
            default=_http_rate, follows="http_preset", means=reads.rate_of),
        SENDER,
    ), _is("carrier", HTTP), tried=N_("Asking about the account")),
    FirstRunStep(ANDROID, N_("Android phone"),
        N_("At the end Risala says what to type on it, and waits for it to call. It calls the"
            " public address of this service, with https."), (
        NAME,
        Question("android_sim", N_("SIM card"), "carriers.phone.sim", reads.one_of("any", "1", "2"),
            default="any", means=lambda text: int(text) if text.isdecimal() else text,
            choices=(("any", N_("The one that the phone takes")), ("1", N_("SIM 1")),
                ("2", N_("SIM 2")))),
    ), _is("carrier", ANDROID)),
    FirstRunStep(MODEM, N_("Modem"),
        N_("Risala asks the modem whether it can send, and sends nothing."), (
        NAME,
        Question("modem_port", N_("Port"), "carriers.modem.port", reads.modem_port,
            hint=N_("A name below /dev/serial/by-id stays the same."), looked_up=True,
            default=lambda answers: answers.get("modem_found", "")),
        Question("modem_pin", N_("PIN of the SIM"), "carriers.modem.pin", reads.pin,
            hint=N_("Leave it empty if the SIM has none."), secret=True, optional=True),
    ), _is("carrier", MODEM), tried=N_("Asking the modem")),
    FirstRunStep(HILINK, N_("HiLink stick"),
        N_("Risala asks the stick whether it can send, and sends nothing."), (
        NAME,
        Question("hilink_url", N_("Address of its page"), "carriers.hilink.url", reads.web_address,
            default="http://192.168.8.1"),
        Question("hilink_password", N_("Password of its page"), "carriers.hilink.password",
            hint=N_("Leave it empty if the page asks for none."), secret=True, optional=True),
        Question("hilink_pin", N_("PIN of the SIM"), "carriers.hilink.pin", reads.pin,
            hint=N_("Leave it empty if the SIM has none."), secret=True, optional=True),
    ), _is("carrier", HILINK), tried=N_("Asking the stick")),
    FirstRunStep("address", N_("Address"), N_("Under which address do people open the pages?"), (
        Question("public_url", N_("Public address"), "http.public_url", reads.public_url,
            hint=N_("Such as https://sms.example.net. Empty: only this machine."), optional=True),
        Question("port", N_("Port on this machine"), "http.port", reads.port(0),
            hint=N_("Programs and a reverse proxy use it."), default="8080", means=int),
    ), tried=N_("Trying the port and the address")),
    FirstRunStep("mail", N_("Mail"),
        N_("Codes for signing in go by mail. Without mail you make links on this machine."), (
        Question("mail_host", N_("Mail server"), "mail.host", reads.host,
            hint=N_("Such as smtp.example.net. Empty: no mail."), optional=True),
        Question("mail_port", N_("Port"), "mail.port", reads.port(),
            default="587", when=_has("mail_host"), means=int),
        Question("mail_security", N_("Encryption"), "mail.security",
            reads.one_of("starttls", "tls", "none"),
            default=_mail_security, follows="mail_port", when=_has("mail_host"),
            choices=(
                ("starttls", N_("STARTTLS, usual with port 587")),
                ("tls", N_("TLS, usual with port 465")),
                ("none", N_("None: only inside your own network")),
            )),
        Question("mail_user", N_("User name"), "mail.user", optional=True, when=_has("mail_host")),
        Question("mail_password", N_("Password"), "mail.password",
            secret=True, optional=True, when=_has("mail_user")),
        Question("mail_sender", N_("Sender of the mails"), "mail.sender", reads.email,
            hint=N_("An address that the server lets you send from."),
            default=_mail_sender, when=_has("mail_host")),
    ), tried=N_("Signing in at the mail server"), has_to_try=_has("mail_host")),
    FirstRunStep("operator", N_("You"),
        N_("You run this service, and you own its first organization."), (
        Question("operator", N_("Your e-mail address"), "", reads.email),
        Question("organization", N_("Name of your organization"), "", reads.organization,
            hint=N_("The messages and their keys belong to it."), default="My organization"),
    )),
    FirstRunStep("phone", N_("Your phone"),
        N_("At the end Risala sends you one SMS, and waits until it has arrived."), (
        Question("phone", N_("Your own number"), "", reads.phone,
            hint=N_("Empty: no SMS is sent."), optional=True),
    )),
)
# fmt: on
"""In the order in which they are asked."""
QUESTIONS: Final[Mapping[str, Question]] = {
    each.name: each for step in STEPS for each in step.questions
}


def steps_of(answers: Answers) -> tuple[FirstRunStep, ...]:
    """The steps that these answers need."""
    return tuple(step for step in STEPS if step.when(answers))
