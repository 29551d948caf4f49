"""The configuration of a simulated SMSC."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from risala.drivers.smpp.protocol.submit import DefaultAlphabet
from risala.drivers.smpp.protocol.tlv import Tlv
from risala.lab.smsc.receipts import IdStyle
from risala.sms.receipt import ReceiptState


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorConfig:
    """The settings of one simulated SMSC."""

    host: str = "127.0.0.1"
    """Where it listens."""
    port: int = 0
    """0 takes a free one; :class:`Listening` reports which."""
    tls: ssl.SSLContext | None = None
    """Speak TLS: see :func:`risala.drivers.smpp.server_tls.server_context`."""
    name: str = "simulator"
    """The value of :attr:`ReceivedMessage.carrier`."""
    system_id: str = "RISALA-SIM"
    """The ``system_id`` in bind responses."""
    accounts: Mapping[str, str] | None = None
    """``system_id`` → password; None accepts anybody."""
    hold_s: float = 0.0
    """Seconds from a submit, or from its ``schedule_delivery_time``, until the phone has the
    message; until then it can be cancelled and replaced."""
    distribution_lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Numbers by the name that a ``submit_multi`` may use for them."""
    answer_after_s: float = 0.0
    """Seconds from a submit to its answer."""
    receipt_after_s: float = 0.5
    """Seconds from the answer to the receipt."""
    receipt_state: ReceiptState = ReceiptState.DELIVERED
    """What receipts say."""
    rate_per_s: float | None = None
    """Submits above it are answered ESME_RTHROTTLED; None: no limit."""
    id_form: IdStyle = IdStyle.SAME
    """The form in receipts of the ids from answers: ``same``, ``resp_hex_receipt_dec``,
    ``resp_dec_receipt_hex``, ``receipt_upper``, ``receipt_padded``, ``uuid``, ``none`` (no id in
    answers), ``one_for_all`` (the same id in all answers)."""
    receipt_tlvs: tuple[Tlv, ...] = ()
    """Parameters of the carrier's own, in every receipt."""
    repeats_references: bool = True
    """Receipts have the ``user_message_reference`` of their submit."""
    cuts_references: bool = False
    """Receipts have only the low octet of the ``user_message_reference``."""
    silent_states: tuple[ReceiptState, ...] = ()
    """States without receipts, even if receipts are requested: ``["UNKNOWN", "EXPIRED"]``."""
    ignores_validity: bool = False
    """Messages are delivered also after their ``validity_period``."""
    bind_answered_as: Literal["transmitter", "receiver", "transceiver"] | None = None
    """Every bind is answered by the response of this one: ``transmitter``, ``receiver`` or
    ``transceiver``."""
    deaf_binds: int = 0
    """The first so many binds get answers to their requests, but no receipts and messages: those
    wait for the next bind."""
    delivers_to_last: bool = False
    """The last one of several binds of an account alone gets receipts and messages."""
    interface_version: int = 0x34
    """The version in bind responses: 52 is 0x34."""
    piece_octets: int | None = None
    """Write in pieces of so many octets."""
    piece_after_s: float = 0.0
    """Seconds between these pieces."""
    default_alphabet: DefaultAlphabet = DefaultAlphabet.GSM7
    """What ``data_coding`` 0 means: ``gsm7`` (unpacked) or ``latin1``."""
    connections_max: int = 64
    """The most connections; further ones are closed."""
    unanswered_max: int = 10_000
    """Submits whose answer is delayed; above it they are answered ESME_RMSGQFUL."""
    store_max: int = 100_000
    """Planned steps of messages, and receipts that wait for their ESME; above it submits are
    answered ESME_RMSGQFUL."""
    messages_max: int = 20_000
    """Messages whose state can be queried; the oldest are forgotten."""
    accounts_max: int = 1000
    """The most values of ``system_id``; further ones are answered ESME_RBINDFAIL."""
    deliver_window_max: int = 50
    """Receipts that may be unanswered at once, for each account."""
    receipt_retry_s: float = 1.0
    """Seconds from an ESME's refusal of a receipt to the next try; after ten refusals it is
    dropped."""
    bind_timeout_s: float = 30.0
    """Seconds after which a connection that has not bound is closed."""
    enquire_link_s: float = 30.0
    """Seconds between questions whether a client lives; one that does not answer is left."""
    response_timeout_s: float = 10.0
    """Seconds for an answer: a receipt or message without one is taken as not delivered and sent
    again at once; an answer that comes later is a :class:`Trouble`."""
