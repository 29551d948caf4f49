"""The sentences of our own drivers, and the engine's lines about their links, in English.

Each has placeholders for variable parts. A driver's text may have several of them, one after the
other. Drivers do not use these tables: `tests/http/operator/test_driver_words.py` compares them
with the drivers' texts.
"""

from __future__ import annotations

from typing import Final

from risala.http.web.languages import N_
from risala.http.web.messages.driver_notes import LTE, NOTES, UNTRUSTED

LINKS: Final = (
    N_("Not connected yet."),
    N_("The driver is not running."),
    N_("Bound."),
    N_("Bound by {links} links of {all}."),
    N_("Bound to receive, but not to send."),
    N_("Bound to send, but not to receive: receipts wait at the carrier."),
    N_("Bound to {peer} as {kind}; the SMSC is {smsc}."),
    N_("Bound to {peer} as {kind}; the SMSC is {smsc} and speaks version {version}."),
    N_("Binding again at {peer}."),
    N_("Connecting to {peer}."),
    N_("The link to {peer} ended: {reason}."),
    N_("{peer} ended the session."),
    N_("No bind with {peer}: no answer within {wait} s."),
    N_("No bind with {peer}: {reason}."),
    N_(
        "If it goes on, ask whether this machine's address is on its list, and whether the port is"
        " one of TLS (tls = true)."
    ),
    N_("No connection to {peer}: the name {host} is not known here."),
    N_("No connection to {peer}: nobody answered within {wait} s."),
    N_("No connection to {peer}: {reason}."),
    N_("No connection to {peer}."),
    N_("This machine has no address {address}: see source_address."),
    N_("Trying again in {wait} s."),
    N_("Waiting for the carrier's outbind."),
    N_("Listening on {address} for outbind."),
    N_("{address} cannot be listened on for outbind."),
    N_("A bind after outbind was refused: {status}."),
    N_("A connection for outbind came to nothing: {reason}."),
    N_("The bind was refused."),
    N_("The carrier refused the bind."),
    N_("The carrier says that this account is bound already."),
    N_("An older link may still be open there; the carrier closes it in time."),
    N_(
        "If this continues, ask the carrier whether the account is enabled and this machine's "
        "address is on its list."
    ),
    N_("The carrier has a technical fault."),
    N_("The carrier says that the password is wrong. Correct it in this carrier's settings."),
    N_("The carrier does not know this system_id. Correct it in this carrier's settings."),
    N_("The carrier does not know {request}. Set bind = {bind} in this carrier's settings."),
    N_("{peer} does not use TLS on this port."),
    N_("{peer} closed the connection instead of speaking TLS: perhaps the port is a plain one."),
    N_(
        "{peer} took the connection, but did not speak TLS within {wait} s: perhaps the port is a"
        " plain one."
    ),
    N_("Ask the carrier for its TLS port, or set tls = false."),
    N_("{peer} speaks TLS on this port: set tls = true."),
    N_("The carrier broke the protocol: {fault}."),
    N_("The carrier is congested (congestion_state {percent}). The service slows down."),
    N_("The carrier is no longer congested (congestion_state {percent})."),
    N_("The loopback carrier is always up."),
    N_("Test keys work."),
)
"""Sentences about SMPP links, and those common to all drivers."""
RECEIPTS: Final = (
    N_("Receipts match no message: set message_id_form = {form}."),
    N_(
        "The carrier accepts messages without giving an id: receipts find them only by recipient"
        " and user_message_reference."
    ),
    N_(
        "The carrier gives every message the same id: receipts find them only by recipient and"
        " user_message_reference."
    ),
    N_(
        "Messages are accepted, but no receipts or messages come over this carrier's links, "
        "even after binding again. Ask the carrier where it sends them."
    ),
    N_("No receipt and no message has come for a long time: binding again."),
    N_("Receipts or messages are coming again."),
    N_(
        "Receipts repeat user_message_reference: they tell what became of submits without an"
        " answer."
    ),
    N_(
        "Receipts repeat the low octet of user_message_reference: set user_message_reference ="
        " {setting}, and it is whole."
    ),
    N_(
        "Receipts do not repeat user_message_reference: they cannot tell what became of submits"
        " without an answer."
    ),
    N_(
        "The carrier takes no user_message_reference: receipts cannot tell what became of submits"
        " without an answer."
    ),
    N_(
        "The carrier speaks SMPP 3.3, which has no user_message_reference: receipts cannot tell"
        " what became of submits without an answer."
    ),
    N_("user_message_reference: {state}."),
    N_("The receipt of {id} says more: {facts}."),
    N_("Further ones are not shown."),
    N_("Further ones are not shown for a minute."),
    N_("alert_notification: {number} {state}."),
    N_("A receipt named no message and was dropped."),
    N_(
        "Receipts have words that nobody knows, so their messages stay sent: {words}. "
        "Ask the carrier what they mean, and set receipt_states."
    ),
    N_(
        "Receipts name no message, and were dropped in this hour: {count}. "
        "Ask the carrier where they have the message's id."
    ),
    N_(
        "Receipts of this hour only say that messages are under way: {count}. "
        "Ask the carrier for those that say the end."
    ),
    N_("The carrier's receipts end messages again."),
    N_("Not as declared, {count} so far: {what}: {note}."),
    N_("The network's answer is not as declared: {declared}, read as {believed}."),
    N_(
        "The network's answer about the balance does not read as text, so no amount is taken "
        "from it."
    ),
    N_("A late answer was dropped because there were too many at once."),
    N_("A message of {parts} parts is incomplete: only {came} came."),
)
"""Sentences about messages received over SMPP links."""
MODEMS: Final = (
    N_("The network denies this SIM; ask its operator."),
    N_("The network gives this SIM emergency calls alone; ask its operator whether it is active."),
    N_(
        "The network gives this SIM restricted local services alone; ask its operator whether it is"
        " active."
    ),
    N_("Searching for a network."),
    N_("{modem} is ready."),
    N_("{modem} is ready on {network}."),
    N_("It gives no delivery reports (reports = false)."),
    N_("It gives no delivery reports, because the modem does not pass them on."),
    N_("The SIM's balance is low: {amount}."),
    N_("The SIM's balance is not known: {reason}"),
    N_("The SIM's segments of today are used up (segments_per_day_max = {limit})."),
    N_(
        "The SIM's segments of today are used up (segments_per_day_max = {limit}); it goes on at"
        " midnight UTC."
    ),
    N_(
        "{used} of the SIM's {all} segments of today are used up (segments_per_day_max = {limit}),"
        " and the next message needs more."
    ),
    N_(
        "{used} of the SIM's {all} segments of today are used up (segments_per_day_max = {limit}),"
        " and the next message needs more; it goes on at midnight UTC."
    ),
    N_("The SIM's recipients of this month are used up (recipients_per_month_max = {limit})."),
    N_(
        "The SIM's recipients of this month are used up (recipients_per_month_max = {limit}):"
        " messages to further ones wait until {day} (UTC)."
    ),
    N_("The SIM needs its PIN. Set pin_env."),
    N_("The PIN is wrong."),
    N_("The PIN was not taken."),
    N_("A wrong PIN was typed before; {tries} tries are left."),
    N_("A wrong PIN was typed before; 1 try is left."),
    N_(
        "It is not typed again: three wrong ones block the SIM. Correct the setting, restart, and"
        " run `risala carriers ask NAME retry-pin`; or unlock the SIM with a phone."
    ),
    N_(
        "Two PINs were typed and not seen to be right, and the modem does not tell how many tries"
        " are left: a third may block the SIM. It is not typed; unlock the SIM with a phone."
    ),
    N_("The PIN is not typed: that it was typed could not be written down."),
    N_(
        "The SIM is blocked and needs its PUK. Put it into a phone and type the PUK there; Risala"
        " never does."
    ),
    N_("The modem wants {word} and cannot be used with this SIM."),
    N_("There is no SIM in the modem."),
    N_("The SIM failed."),
    N_("The modem does not take this SIM."),
    N_("The SIM does not become ready."),
    N_("The SIM has no SMSC number; ask its operator, and set smsc_number."),
    N_("The {modem} has no PDU mode for messages."),
    N_("Opening {port}."),
    N_("Opening again in {wait} s."),
    N_("{port} does not open in time."),
    N_("{port} does not exist. Check that the modem is plugged in."),
    N_("This user may not open {port}. Add the user to the group dialout."),
    N_(
        "{port} is in use by another program, often ModemManager or a second Risala. Stop it, "
        "or keep it from using this port."
    ),
    N_("{port} does not exist: the modem is unplugged or starting. Waiting for it."),
    N_("{port} is back."),
    N_("The modem does not answer."),
    N_("The modem answers again."),
    N_("A call from …{number} was hung up."),
    N_("A call from a number that is withheld was hung up."),
    N_("The modem does not hang up a call; it rings until its caller does."),
    N_("Too many lines about calls came at once; later ones count."),
    N_("The connection to the modem was lost."),
    N_("The connection to the modem was lost (unplugged or restarting)."),
    N_("The modem started anew."),
    N_("Recovery: {step}."),
    N_("Recovery: {step}, and reopening the port."),
    N_("The USB device did not come back after its reset."),
    N_("init: the modem does not take {command}."),
    N_("The network says: {text}"),
    N_("Too much came at once; what lies in the storage is read later."),
    N_("A message came that cannot be read: {reason}."),
    N_("The message at {place} cannot be read and is left there: {reason}."),
    N_("The unreadable message at {place} is deleted."),
    N_("The modem does not delete the message at {place}."),
    N_("A long message is handed over without {missing} of its parts: {reason}."),
    N_("ModemManager sees no modem. Is it plugged in? `mmcli -L` lists what it sees."),
    N_("ModemManager does not see the modem of the settings. It sees: {modems}."),
    N_("ModemManager has several modems that fit: set modem to the IMEI of one: {modems}."),
    N_(
        "ModemManager does not run. `sudo systemctl start ModemManager`; where it is not wanted,"
        ' take driver = "modem".'
    ),
    N_("ModemManager does not answer."),
    N_("ModemManager refuses: {error}."),
    N_("ModemManager prepares the modem."),
    N_("ModemManager says that the modem or its SIM failed."),
    N_("ModemManager cannot send texts by this modem; mostly another port of it can."),
    N_("The SIM was unlocked; the modem starts."),
    N_(
        "This user may not use the modem: a rule of polkit must let it do"
        " org.freedesktop.ModemManager1.Messaging and .Device.Control."
    ),
    N_("There is no D-Bus: {reason}. ModemManager is asked over it."),
)
"""Sentences about modems and their SIMs."""
HTTP: Final = (
    N_("The carrier answers."),
    N_("The carrier answers {status}."),
    N_("The carrier answers; it does not show the account ({status})."),
    N_("The carrier answers with a redirect, which is not followed: check `url`."),
    N_("The carrier takes connections."),
    N_("The carrier refuses our credentials: check `user`, `password` or `token`."),
    N_("`tls_ca_file` cannot be used: {reason}."),
    N_(
        "Receipts do not come: set `secret_address` to what `risala carriers rotate {carrier}`"
        " prints."
    ),
    N_("A call told nothing that we know."),
    N_("A list could not be read: {kind}."),
)
"""Sentences about HTTP carriers."""
PHONES: Final = (
    N_("No phone is registered yet: {command} says how."),
    N_("A phone called with another private token than this carrier's."),
    N_("{phone} is connected."),
    N_("{phone} is connected, but does not fetch its messages."),
    N_("Open SMSGate on it once."),
    N_("{phone} has not called since this service started."),
    N_("{phone} has not called for {wait} minutes."),
    N_(
        "See whether it has power and network, whether SMSGate is on, and whether Android may stop"
        " the app to save battery."
    ),
    N_("{phone} has lost its connection, and connects again by itself."),
    N_("If it never listens, set the app's notification channel to SSE Only, and restart the app."),
    N_("{carrier}, whose phone this is, is not running: its page says why."),
    N_("The private token is not that of {carrier}, whose phone this is."),
    N_("Leave it out of the settings."),
    N_("The private token could not be written: the disk is full or has a fault."),
    N_("Another phone ({phone}) has registered with the private token."),
    N_("If it is to replace this one: {command}."),
    N_("The phone has no SIM {sim}, which the settings name."),
    N_("The phone's clock is {wait} minutes ahead."),
    N_("The phone's clock is {wait} minutes behind."),
    N_("Let it take the time from the network."),
    N_("A phone has registered: {phone}."),
    N_(
        "The phone's segments of today are used up (per_day_max = {limit}); operators disconnect"
        " SIMs that send more."
    ),
    N_(
        "The phone has sent {count} segments in half an hour (per_minute = {rate}); beyond some 30"
        " Android asks on its screen."
    ),
)
"""Sentences about Android phones."""
STICKS: Final = (
    N_("The stick is ready."),
    N_("The stick has no network."),
    N_("The stick answered with error {status}."),
    N_("The stick's storage is full, and it receives nothing."),
    N_("Delete messages on its page, or let Risala take them over: inbound = true."),
    N_("This stick has no delivery reports: texts stay sent."),
    N_("The stick does not answer at its address."),
    N_("See whether it has power."),
    N_("The connection to the stick was lost."),
    N_("What answers at the address is no HiLink stick: check url."),
    N_("The stick wants a password."),
    N_("Set password_env."),
    N_("The stick refuses the user or the password."),
    N_(
        "It is not tried again, since the stick locks itself after some tries: correct the setting,"
        " and restart."
    ),
    N_("The stick takes no password for some minutes: too many wrong ones were tried."),
    N_("Somebody else is signed in to the stick; it takes one at a time."),
    N_("The stick sees no SIM, or one that it cannot read."),
    N_("What the stick has received could not be stored; it keeps it."),
    N_("The stick is busy."),
    N_("The stick is busy with another message."),
    N_("The stick does not take this number or text."),
    N_("The stick's storage is full; nothing was sent."),
    N_("The stick could not send it, and does not say why."),
)
"""Sentences about HiLink sticks; those about their SIM are a modem's."""
CHANNELS: Final = (
    N_("Codes go by the mail server."),
    N_("No mail server is set: fill in [mail] and restart the service."),
    N_("Codes go by Telegram."),
    N_("Telegram does not know the token: set it again."),
    N_("The account at Telegram has no money left."),
    N_("Codes go by WhatsApp."),
    N_("WhatsApp refuses the access token or the account: see its Manager."),
    N_("The account at WhatsApp cannot pay: see its billing."),
    N_("WhatsApp lets this number send no more for now: see its Manager."),
    N_("WhatsApp does not take the template: see its Manager."),
    N_("WhatsApp does not take the request: check phone_number_id and template."),
    N_("WhatsApp has not approved the template in each language: see its Manager."),
)
"""Sentences about the channels of codes."""
LIFE: Final = (
    N_("up: {said}"),
    N_("down: {said}"),
    N_("sick: {said}"),
    N_("the operator asked it to reconnect"),
    N_("the operator set it to {gate}"),
    N_(
        "A receipt could not be stored: {fault}. The carrier is asked to send it again. Please "
        "report the details in the log."
    ),
    N_("the operator asked for {command}"),
)
"""The engine's own lines in a link's life; ``said`` is the driver's text."""
SENTENCES: Final = (
    *(*LINKS, *RECEIPTS, *MODEMS, *STICKS, *HTTP, *CHANNELS, *NOTES, *LTE),
    *(UNTRUSTED, *PHONES, *LIFE),
)
