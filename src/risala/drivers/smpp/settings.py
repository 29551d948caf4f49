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
    port: Annotated[int, Field(ge=1, le=65535)]
    system_id: SystemId
    """What the carrier calls itself."""
    password: SecretStr


class SmppSettings(BaseModel):
    """One account at one SMSC."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    host: str
    port: Annotated[int, Field(ge=1, le=65535)] = 2775
    system_id: SystemId
    password: SecretStr = SecretStr("")
    """8 characters by the standard; longer ones are in use and are sent as they are."""
    system_type: Annotated[str, Field(pattern=r"^[ -~]{0,12}$")] = ""
    bind: Literal["transceiver", "transmitter_receiver"] = "transceiver"
    """One bind both ways, or one to send and one to receive."""
    links: Annotated[int, Field(ge=0, le=32)] = 1
    """How many binds (or pairs of them) are held at once; they share ``window_max`` and the pace. 0
    where the carrier connects to us: see ``outbind``."""
    interface_version: Octet = 0x34
    """0x34 or 0x50; the SMSC may answer with the other."""
    address_range: Annotated[str, Field(pattern=r"^[ -~]{0,40}$")] = ""
    """The numbers whose messages we take (``address_range`` of the bind, §4.1), where the carrier
    asks for it."""
    address_range_ton: Octet = 0
    address_range_npi: Octet = 0
    source_address: str | None = None
    """Connect from this address of this machine: the one on the carrier's list."""
    outbind: OutbindSettings | None = None
    """The address to which the carrier connects, and the name that it gives."""
    tls: bool = False
    tls_ca_file: Path | None = None
    """Certificates to trust instead of the system's."""
    tls_server_name: Annotated[str, Field(pattern=r"^[!-~]{1,253}$")] | None = None
    """The name that the carrier's certificate has, where ``host`` is another or an address."""
    tls_cert_file: Path | None = None
    """Our own certificate, where the carrier wants to see one; maybe with its chain and key."""
    tls_key_file: Path | None = None
    """The key of our certificate, where it stands in another file."""
    tls_key_password: SecretStr = SecretStr("")
    """The password of that key, where it has one."""

    connect_timeout_s: Seconds = 10.0
    response_timeout_s: Seconds = 10.0
    """Seconds for an answer; after that a submit is uncertain, and a silent link is given up."""
    transaction_mode: bool = False
    """True: submits carry ``esm_class`` 2, and the carrier answers once the phone has. An accepted
    message is delivered then, and no receipts are asked for. Only for a carrier that has it."""
    transaction_timeout_s: Annotated[float, Field(gt=0, le=1800)] = 120.0
    """Seconds for the answer to a submit in transaction mode: paging, the transfer and the
    network's own repetitions are in it."""
    enquire_link_s: Seconds = 30.0
    quiet_s: Annotated[float, Field(ge=0, le=86400)] = 1800.0
    """Seconds without any receipt or message, though receipts are awaited, until receiving links
    are bound again; then twice as long each time. 0: never."""
    reconnect_first_s: Seconds = 1.0
    reconnect_max_s: Seconds = 60.0
    bind_refused_wait_s: Seconds = 300.0
    """Seconds before the next bind after a wrong password and the like: carriers block accounts
    that try again and again."""
    window_max: Annotated[int, Field(ge=1, le=10000)] = 10
    """Submits unanswered at once, over all links."""

    default_alphabet: DefaultAlphabet = DefaultAlphabet.GSM7
    long_messages: Concatenating = Concatenating.UDH
    text_in: TextField = TextField.SHORT_MESSAGE
    validity: Validity = Validity.RELATIVE
    service_type: Annotated[str, Field(pattern=r"^[ -~]{0,5}$")] = ""
    priority_flag: Annotated[int, Field(ge=0, le=3)] = 0
    priority_flag_code: Annotated[int, Field(ge=0, le=3)] = 1
    """``priority_flag`` of one-time codes (§5.2.14)."""
    protocol_id: Octet = 0
    registered_delivery: Octet = 1
    """1: a receipt whatever becomes of it; 0x11 intermediate notifications too. In transaction mode
    it is not used."""
    replace_if_present: bool = False
    """A message replaces one from the same sender to the same number that waits at the carrier."""
    extra_tlvs: dict[str, int | str] = {}
    """Optional parameters for every submit, by their standard name or ``0x`` tag: a number, a text,
    or ``hex:…``."""
    source_ton: Octet | None = None
    source_npi: Octet | None = None
    dest_ton: Octet | None = None
    dest_npi: Octet | None = None
    message_id_form: IdForm = IdForm.SAME
    status_verdicts: dict[StatusCode, StatusVerdict] = {}
    """What this carrier means by its codes: ``{"0x45" = "final"}``."""
    status_causes: dict[StatusCode, Cause] = {}
    """Why this carrier refuses with a code: ``{"0x410" = "NO_CREDIT"}``, a word of the error codes.
    """
    receipt_causes: dict[str, Cause] = {}
    """Why it gave up, by the ``err`` of its receipts: ``{"127" = "CONTENT_REFUSED"}``. The mobile
    network's own errors (001, 006, 027 …) are known."""
    receipt_states: Annotated[dict[StateWord, ReceiptState], Field(max_length=100)] = {}
    """What this carrier means by the words of its receipts (``stat``): ``{"BOUNCED" =
    "UNDELIVERABLE"}``. It counts before the standard's words and ``message_state``."""
    inbound_coding: InboundCoding = InboundCoding.AUTO
    """How receipts and inbound texts are read: ``auto`` believes ``data_coding`` and ``esm_class``
    unless the content is evidently something else; ``declared`` believes them always; a form
    (``gsm7``, ``utf8``, ``latin1``, ``ucs2``, ``ucs2_le``) is used for every text."""
    parts_timeout_s: Seconds = 3600.0
    """An inbound message of which no other part came for this long is stored incomplete."""
    query: bool = False
    """True where the carrier answers ``query_sm``."""
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
