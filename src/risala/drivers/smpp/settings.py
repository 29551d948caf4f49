"""The settings of ``[carriers.smpp]``. Units are in the names; unknown keys are faults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)

from risala.drivers.smpp.protocol.receipt import IdForm
from risala.drivers.smpp.protocol.references import Wanted
from risala.drivers.smpp.protocol.status import StatusVerdict
from risala.drivers.smpp.protocol.submit import (
    Concatenating,
    DefaultAlphabet,
    FlashBy,
    SubmitOptions,
    TextField,
    Validity,
)
from risala.drivers.smpp.protocol.tlv import USER_MESSAGE_REFERENCE
from risala.drivers.smpp.protocol.tlv_names import make_tlv
from risala.sms.cause import Cause
from risala.sms.evident import InboundCoding
from risala.sms.receipt import ReceiptState

Octet = Annotated[int, Field(ge=0, le=255)]
Seconds = Annotated[float, Field(gt=0, le=86400)]
# Sizes as in SMPP 3.4 §4.1.1, without the NUL at the end; ASCII without control characters.
SystemId = Annotated[str, Field(pattern=r"^[ -~]{1,15}$")]
StateWord = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]{1,20}$")]
StatusCode = Annotated[str, Field(pattern=r"^0x[0-9A-Fa-f]{1,8}$")]


class OutbindSettings(BaseModel):
    """A port of ours that the carrier connects to, to say ``outbind``."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    host: str = "0.0.0.0"  # noqa: S104 - the carrier comes from outside
    """Where to listen."""
    port: Annotated[int, Field(ge=1, le=65535)]
    """The port that the carrier connects to."""
    system_id: SystemId
    """What the carrier must say, its name for itself."""
    password: SecretStr
    """What it must say too; better by ``password_env``."""


class SmppSettings(BaseModel):
    """One account at one SMSC."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    host: str
    """The SMSC."""
    port: Annotated[int, Field(ge=1, le=65535)] = 2775
    """Its port."""
    system_id: SystemId
    """Who we are, 1 to 15 characters."""
    password: SecretStr = SecretStr("")
    """Better by ``password_env``, the name of a variable. 8 characters by the standard; longer ones
    are in use and are sent as they are."""
    system_type: Annotated[str, Field(pattern=r"^[ -~]{0,12}$")] = ""
    """Up to 12 characters, where the carrier asks for it."""
    bind: Literal["transceiver", "transmitter_receiver"] = "transceiver"
    """One bind both ways; ``transmitter_receiver``: a pair of binds, one to send and one to
    receive."""
    links: Annotated[int, Field(ge=0, le=32)] = 1
    """So many binds (or pairs of them) at once, up to 32. Submits go to the least busy; receipts
    may come on any, those of another carrier with this host and ``system_id`` too. 0 where the
    carrier connects to us: see ``outbind``."""
    interface_version: Octet = 0x34
    """0x34 (52), or 0x50 (80) where the carrier wants SMPP 5.0; what it answers does not matter."""
    address_range: Annotated[str, Field(pattern=r"^[ -~]{0,40}$")] = ""
    """The numbers whose messages we take (``address_range`` of the bind, §4.1), where the carrier
    asks for it."""
    address_range_ton: Octet = 0
    """The type of number of ``address_range``."""
    address_range_npi: Octet = 0
    """The numbering plan of ``address_range``."""
    source_address: str | None = None
    """The address of this machine to connect from: the one on the carrier's list."""
    outbind: OutbindSettings | None = None
    """A port of ours that the carrier connects to: see ``[carriers.smpp.outbind]``."""
    tls: bool = False
    """TLS 1.2 or newer from the first octet."""
    tls_ca_file: Path | None = None
    """Certificates to trust in place of the system's: the carrier's CA, or its own certificate
    where that is signed by itself."""
    tls_server_name: Annotated[str, Field(pattern=r"^[!-~]{1,253}$")] | None = None
    """The name that the carrier's certificate has, where ``host`` is an address or another name."""
    tls_cert_file: Path | None = None
    """Our own certificate as PEM, where the carrier wants to see one; maybe with its chain and key.
    """
    tls_key_file: Path | None = None
    """The key of our certificate, where it stands in another file."""
    tls_key_password: SecretStr = SecretStr("")
    """The password of that key, where it has one; better by ``tls_key_password_env``."""

    connect_timeout_s: Seconds = 10.0
    """Seconds for TCP, and again for the handshake of TLS."""
    response_timeout_s: Seconds = 10.0
    """Seconds for an answer; after that a submit is uncertain, and a silent link is given up."""
    transaction_mode: bool = False
    """True: the answer to a submit is the phone's (``esm_class`` 2): an accepted message is
    delivered, and no receipts are asked for. Only for a carrier that has it."""
    transaction_timeout_s: Annotated[float, Field(gt=0, le=1800)] = 120.0
    """Seconds for the answer to a submit in transaction mode, never less than
    ``response_timeout_s``: paging, the transfer and the network's own repetitions are in it."""
    enquire_link_s: Seconds = 30.0
    """How often we ask whether the link lives. Without any answer for ``response_timeout_s`` it
    does not."""
    quiet_s: Annotated[float, Field(ge=0, le=86400)] = 1800.0
    """Seconds without any receipt or message, though submits are accepted, until receiving links
    are bound again; then twice as long each time. 0: never."""
    reconnect_first_s: Seconds = 1.0
    """Seconds between the first two attempts to connect; each further wait is twice as long, less
    up to half of it by chance."""
    reconnect_max_s: Seconds = 60.0
    """The longest of these waits."""
    bind_refused_wait_s: Seconds = 300.0
    """Seconds before the next bind after a wrong password or ``system_id``, or a kind of bind that
    the carrier does not know: carriers block accounts that try again and again. Other refusals have
    the ordinary waits."""
    window_max: Annotated[int, Field(ge=1, le=10000)] = 10
    """Submits unanswered at once, over all links."""

    default_alphabet: DefaultAlphabet = DefaultAlphabet.GSM7
    """What this carrier takes ``data_coding`` 0 for: ``gsm7`` (unpacked) or ``latin1``."""
    long_messages: Concatenating = Concatenating.UDH
    """Parts have a user data header with an 8-bit reference; ``udh16``: with a 16-bit one; ``sar``:
    the ``sar_…`` parameters."""
    text_in: TextField = TextField.SHORT_MESSAGE
    """Or ``message_payload``: the octets of each part go there."""
    validity: Validity = Validity.RELATIVE
    """``validity_period`` as a span, as an ``absolute`` time in UTC, or ``none``: the carrier's
    own."""
    flash: FlashBy = FlashBy.DATA_CODING
    """How flash messages (class 0) are marked: by ``data_coding``, 0xF0 in GSM 03.38 and 0x18 in
    UCS-2, or by ``dest_addr_subunit``; ``none``: this carrier takes none."""
    service_type: Annotated[str, Field(pattern=r"^[ -~]{0,5}$")] = ""
    """Up to 5 characters."""
    priority_flag: Annotated[int, Field(ge=0, le=3)] = 0
    """Of messages, 0 to 3."""
    priority_flag_code: Annotated[int, Field(ge=0, le=3)] = 1
    """Of one-time codes, 0 to 3 (§5.2.14)."""
    protocol_id: Octet = 0
    """Of all submits."""
    registered_delivery: Octet = 1
    """1: a receipt whatever becomes of it; 0x11 (17) intermediate notifications too; 0: none, and
    messages stay ``sent``."""
    replace_if_present: bool = False
    """A message replaces one from the same sender to the same number that waits at the carrier."""
    extra_tlvs: dict[str, int | str] = {}
    """Optional parameters for every submit, by their standard name or ``0x`` tag: a number, a text,
    or ``hex:…``."""
    source_ton: Octet | None = None
    """The sender's type of number, in place of: alphanumeric 5, international 1, short code 0."""
    source_npi: Octet | None = None
    """Its numbering plan, in place of: alphanumeric 0, international 1, short code 0."""
    dest_ton: Octet | None = None
    """The recipient's type of number, in place of 1."""
    dest_npi: Octet | None = None
    """Its numbering plan, in place of 1."""
    message_id_form: IdForm = IdForm.SAME
    """How receipts write the ids of answers: ``same``, ``resp_hex_receipt_dec`` or
    ``resp_dec_receipt_hex``. Case and leading zeros never matter. Where another form would match,
    ``risala carriers`` says which. Once it is set, by a restart or a reload, receipts that matched
    nothing so far, the latest 1,000 of seven days, find their messages."""
    status_verdicts: dict[StatusCode, StatusVerdict] = {}
    """What this carrier means by a code: ``{ "0x45" = "final" }``; ``throttled``, ``now``,
    ``carrier`` or ``final``."""
    status_causes: dict[StatusCode, Cause] = {}
    """Why this carrier refuses with a code: ``{ "0x410" = "NO_CREDIT" }``, a word of the error
    codes."""
    receipt_causes: dict[str, Cause] = {}
    """Why it gave up, by the ``err`` of its receipts: ``{ "127" = "CONTENT_REFUSED" }``. The mobile
    network's own errors (001, 006, 027 …) are known."""
    receipt_states: Annotated[dict[StateWord, ReceiptState], Field(max_length=100)] = {}
    """What this carrier means by a word of its receipts (``stat``): ``{ "BOUNCED" = "UNDELIVERABLE"
    }``. It counts before the standard's words and ``message_state``."""
    inbound_coding: InboundCoding = InboundCoding.AUTO
    """How receipts and inbound texts are read: ``auto`` believes ``data_coding`` and ``esm_class``
    unless the content is evidently something else; ``declared`` believes them always; a form
    (``gsm7``, ``utf8``, ``latin1``, ``ucs2``, ``ucs2_le``) is used for every text."""
    parts_timeout_s: Seconds = 3600.0
    """Seconds without another part after which an incomplete inbound message is stored as it is,
    with ``[…]`` for what is missing."""
    query: bool = False
    """True where the carrier answers ``query_sm``: messages without a receipt are asked for."""
    user_message_reference: bool | Wanted = Wanted.AUTO
    """Give each submit a ``user_message_reference``; the receipts of a carrier that repeats it tell
    what became of submits without an answer. ``auto``: as long as the carrier may repeat it.
    ``octet``: numbers of 1 to 255, where the carrier keeps one octet of it."""

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.links == 0 and self.outbind is None:
            raise ValueError("links = 0 needs outbind: the carrier must connect to us")
        if self.user_message_reference in (True, Wanted.OCTET) and self._has_a_reference_of_its_own:
            raise ValueError("user_message_reference is given twice: extra_tlvs has it too")
        return self

    @model_validator(mode="after")
    def _has_tls_where_it_speaks_of_it(self) -> Self:
        if self.tls_key_file is not None and self.tls_cert_file is None:
            raise ValueError("tls_key_file needs tls_cert_file")
        if not self.tls and (self.tls_cert_file or self.tls_server_name):
            raise ValueError("tls_cert_file and tls_server_name mean nothing without tls = true")
        return self

    @field_validator("extra_tlvs")
    @classmethod
    def _are_parameters(cls, value: dict[str, int | str]) -> dict[str, int | str]:
        for name, parameter in value.items():
            make_tlv(name, parameter)
        return value

    @property
    def _has_a_reference_of_its_own(self) -> bool:
        return any(
            make_tlv(name, value).tag == USER_MESSAGE_REFERENCE
            for name, value in self.extra_tlvs.items()
        )

    @property
    def references(self) -> Wanted | bool:
        """The setting ``user_message_reference``; where that is ``auto`` and ``extra_tlvs`` has the
        parameter, False: all submits have the same one then."""
        if self.user_message_reference is Wanted.AUTO and self._has_a_reference_of_its_own:
            return False
        return self.user_message_reference

    @property
    def submit_options(self) -> SubmitOptions:
        return SubmitOptions(
            default_alphabet=self.default_alphabet,
            long_messages=self.long_messages,
            text_in=self.text_in,
            validity=self.validity,
            service_type=self.service_type,
            source_ton=self.source_ton,
            source_npi=self.source_npi,
            dest_ton=self.dest_ton,
            dest_npi=self.dest_npi,
            priority_flag=self.priority_flag,
            priority_flag_code=self.priority_flag_code,
            protocol_id=self.protocol_id,
            registered_delivery=0 if self.transaction_mode else self.registered_delivery,
            replace_if_present_flag=int(self.replace_if_present),
            extra_tlvs=tuple(make_tlv(name, value) for name, value in self.extra_tlvs.items()),
            is_reference_octet=self.user_message_reference is Wanted.OCTET,
            is_transaction=self.transaction_mode,
            flash=self.flash,
        )

    @property
    def submit_timeout_s(self) -> float:
        """Seconds for the answer to a submit, never less than for any other answer."""
        if not self.transaction_mode:
            return self.response_timeout_s
        return max(self.transaction_timeout_s, self.response_timeout_s)

    @property
    def causes(self) -> dict[int, Cause]:
        return {int(code, 16): cause for code, cause in self.status_causes.items()}

    @property
    def states(self) -> dict[str, ReceiptState]:
        return {word.upper(): state for word, state in self.receipt_states.items()}

    @property
    def verdicts(self) -> dict[int, StatusVerdict]:
        return {int(code, 16): verdict for code, verdict in self.status_verdicts.items()}
