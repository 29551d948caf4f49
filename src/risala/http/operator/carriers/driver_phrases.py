"""Words of our own drivers that are no sentences: reasons, values, names of facts, commands."""

from __future__ import annotations

from typing import Final

from risala.http.web.languages import N_

OURS: Final = frozenset({"smpp", "modem"})
"""The drivers whose facts have these names; other drivers may use the names differently."""
COMMANDS: Final = (
    N_("Connect and bind now, without waiting."),
    N_("Dial a code of the SIM's network, and choose from its menus."),
    N_("Ask now for the SIM's balance."),
    N_("Use this after correcting the PIN in the settings: it types the PIN once more."),
)
"""The descriptions of a driver's commands."""
FACTS: Final = {
    "attention": N_("Needs attention"),
    "again_s": N_("Next try, in seconds"),
    "bind": N_("Bind"),
    "command_status": N_("Status of the bind"),
    "links": N_("Links bound"),
    "peer": N_("Address"),
    "smsc": N_("SMSC"),
    "receipts_dropped": N_("Receipts dropped: they name no message"),
    "receipts_unfinal": N_("Receipts that end no message"),
    "user_message_reference": N_("References (user_message_reference)"),
    "iccid": N_("SIM card’s number (ICCID)"),
    "imei": N_("Modem’s number (IMEI)"),
    "imsi": N_("Subscriber’s number (IMSI)"),
    "model": N_("Model"),
    "number": N_("Phone number"),
    "operator": N_("Network"),
    "recipients_per_month_max": N_("Recipients a month at most"),
    "recipients_this_month": N_("Recipients this month"),
    "registration": N_("Registration"),
    "reports": N_("Delivery reports"),
    "segments_per_day_max": N_("Parts a day at most"),
    "segments_today": N_("Parts today"),
    "signal_dbm": N_("Signal, in dBm"),
    "sim_balance": N_("SIM balance"),
    "sim_balance_is": N_("The balance is"),
    "storage": N_("Storage, used of all"),
    "ussd": N_("The network’s answer (USSD)"),
    "links that connect now": N_("Links that connect now"),
    "amount": N_("Amount"),
    "is": N_("It is"),
    "text": N_("Text"),
}
"""Facts of a link (``Health.details``), and of a command's answer."""
PHRASES: Final = (
    N_("nothing listens there, or a firewall refuses us"),
    N_("there is no route to it"),
    N_("there is no route to it; is this machine online?"),
    N_("there is no answer"),
    N_("it was closed at once"),
    N_("the peer closed the connection"),
    N_("the connection broke"),
    N_("the peer takes no more octets"),
    N_("a fault of our own"),
    N_("unbound"),
    N_("stopped"),
    N_("it is bound again"),
    N_("paused"),
    N_("draining"),
    N_("open"),
    N_("escape and resync"),
    N_("soft reset (ATZ)"),
    N_("restart of the modem (AT+CFUN=1,1)"),
    N_("reset of the USB device"),
    N_("reopening the port"),
    N_("not known yet"),
    N_("repeated in receipts"),
    N_("repeated in receipts, its low octet alone"),
    N_("not repeated in receipts"),
    N_("not taken by the carrier"),
    N_("not taken: the carrier speaks SMPP 3.3"),
    N_("not used: no receipts are asked for"),
    N_("can be reached again"),
    N_("may not receive messages"),
    N_("cannot be reached"),
    N_("has an unknown state"),
    N_("off"),
    N_("yes"),
    N_("no"),
    N_("low"),
    N_("fine"),
    N_("not found in the text by the pattern"),
)
"""Values of the placeholders in sentences, and of facts."""
REGISTRATIONS: Final = {
    "home": N_("Registered, home network"),
    "roaming": N_("Registered, roaming"),
    "searching": N_("Searching for the network"),
    "denied": N_("Refused by the network"),
    "idle": N_("Not registered"),
    "sms_only_home": N_("Registered for SMS alone, home network"),
    "sms_only_roaming": N_("Registered for SMS alone, roaming"),
}
"""The words of a modem for its state in the network."""
