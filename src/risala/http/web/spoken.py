"""The engine's own sentences that a page may show, so that the catalogues have them.

A test reads each refusal of the engine: it must be here, or be none that a page can meet.
"""

from __future__ import annotations

from typing import Final

from risala.http.web.languages import N_

SPOKEN: Final = (
    N_("It was not answered by itself: the sender is a name or a short number."),
    N_("It was not answered by itself: it answers a one-time code."),
    N_(
        "It was not answered by itself: two automatic answers to this number left within an"
        " hour, and it may be a machine. No more leave for a day."
    ),
    N_(
        "It was not answered by itself: this number has got all automatic answers that it may"
        " get within a day."
    ),
    N_(
        "It was not answered by itself: the organization has sent all automatic answers that it"
        " may send within an hour."
    ),
    N_("It was not answered by itself: too many automatic answers waited."),
    N_("It was not answered by itself: the answer could not leave for an hour."),
    N_("It was not answered by itself: the carrier that brought it sends nothing now."),
    N_("It was not forwarded: it answers a one-time code."),
    N_("It was not forwarded: texts of this number are forwarded to it, or come back from it."),
    N_(
        "It was not forwarded: as many texts of this number were forwarded by SMS within a day"
        " as may be."
    ),
    N_(
        "It was not forwarded: the organization has forwarded as many texts as it may within an"
        " hour."
    ),
    N_("It was not forwarded: too many texts waited to be forwarded."),
    N_("It was not forwarded: its receiver did not take it for a day."),
    N_("It was not forwarded: the rule was changed or deleted meanwhile."),
    N_("It was not forwarded: the text is no longer kept."),
    N_("It was not forwarded: the address is no member’s any more."),
    N_("It was not forwarded: this service sends no mails."),
    N_("It was not forwarded: this service makes no calls."),
    N_("It was not forwarded: the token or the secret of the rule is lost. Enter it again."),
    N_("It was not forwarded: Telegram does not know the token of the bot."),
    N_(
        "It was not forwarded: Telegram refuses the chat. Its id is wrong, or the bot is not in it."
    ),
    N_("It was not forwarded: the receiver says that its address has ended (410)."),
    N_(
        "An invoice needs the name, tax number and series of who issues it. Set `legal.name`,"
        " `legal.tax_id` and `legal.invoice_series` in the settings, and restart."
    ),
    N_("The month is not over yet: it can have an invoice from {time}."),
    N_("Nothing was charged or refunded in this month, so it has no invoice."),
    N_(
        "The costs of {month} have no invoice yet. Issue that one first, so that the numbers are in"
        " the order of the months."
    ),
    N_("Automatic answers to this number are not paused."),
    N_("An organization can have at most {count} rules. Delete one first."),
    N_("An organization can have at most {count} repeats. Delete one first."),
    N_("An organization can have at most {count} alarm chains. Delete one first."),
    N_("At most {count} alarms of an organization go on together. End one first."),
    N_("This alarm has ended."),
    N_("This repeat is active."),
    N_("This repeat is paused."),
    N_("This repeat is not paused."),
    N_("This repeat has ended."),
    N_("Its mailing was deleted or stopped before it was started."),
    N_("The service was restored from a backup before this mailing was started. Start it by hand."),
    N_(
        "The conversation has gone on since you read it. Read what is new, then send your answer"
        " again."
    ),
    N_(
        "The sender is a name or a short number, and no phone: nobody gets an answer. Write to the"
        " person's own number."
    ),
    N_(
        "The carrier that brought the last text sends nothing now: it was removed or disabled, or"
        " only receives. Write to the number with a new message."
    ),
    N_("A message can be scheduled at most {count} days ahead."),
    N_("A user can own at most {count} organizations."),
    N_("They are already a member."),
    N_("An organization can have at most {count} members."),
    N_("An organization can have at most {count} members and invitations."),
    N_("A user can be in at most {count} organizations."),
    N_("An organization needs an owner. Make somebody else an owner first."),
    N_("There is already a user {address}."),
    N_("This request is already decided, or its time is over."),
    N_("The same is already asked for: it waits for another operator."),
    N_("Too many requests are waiting. Decide some of them first."),
    N_("Things changed since this was requested. Refuse it and ask for a new request."),
    N_("Somebody else must confirm it."),
    N_("The operators need an administrator. Make another operator an administrator first."),
    N_("The domain is another organization’s. Take it away from that one first."),
    N_("The organization is deleted."),
    N_("A key can have at most {count} allowed addresses."),
    N_("A key can have at most {count} allowed origins."),
    N_("At most {count} deletions can run at a time. Wait until one has ended."),
    N_("A file is already being written. Wait until it is ready."),
    N_("There are already {count} files. Delete one first."),
    N_("The file cannot be written because the service is not running. Start the service first."),
    N_("These codes are no longer valid. Request the change again."),
    N_("An organization can have at most {count} open payments at once. Finish one first."),
    N_("This payment no longer needs anything from you."),
    N_("No further codes are sent for this payment. We check it by hand."),
    N_("No code was sent for this payment. Request one."),
    N_("The provider cannot be asked about this payment."),
    N_("The text is already credited."),
    N_(
        "The customer has not proven that the payer's number is theirs. If you know whose money "
        "it is, confirm the payment as unchecked."
    ),
    N_("The reference {reference} was already credited: {sum} to {organization}, at {time}."),
    N_("The balance is {sum}, and this adjustment would make it negative."),
    N_("The sender {name} was denied. It must be requested again."),
    N_("The name {name} is already used by the organization {organization}."),
    N_("The payment is confirmed and credited. Correct it with an adjustment."),
    N_("The hook is unknown, or the secret is wrong."),
    N_("The hook may not be used from this address. It came from {address}."),
    N_("The hook is disabled, or its organization is not active."),
    N_("The address is not this hook's."),
    N_("The header {header} is missing."),
    N_("The header {header} is missing, or has no password."),
    N_("The address ends without the hook's secret."),
    N_("The secret is not this hook's."),
    N_("The headers {headers} are needed."),
    N_("The signature has the wrong format."),
    N_("No signature is made with this hook's secret."),
    N_("The signature's time is more than five minutes from ours: check both clocks."),
    N_("The list {field} is empty."),
    N_("The body must be JSON."),
    N_("A form or query has at most {count} fields."),
    N_("One request sends at most {count} messages."),
    N_("{field} must be one phone number."),
    N_("{field} must be a code of at most {count} characters, without spaces."),
    N_("The text can have at most {count} characters."),
    N_("{field} must be a text or a number."),
    N_("{field} can have at most {count} characters."),
    N_("{field} is missing or empty."),
    N_("{program} authenticates with {proofs}."),
    N_("{program} names no recipient: give the numbers that get its messages."),
    N_("{program} names the recipient in each request: give no numbers."),
    N_("A hook sends to at most {count} numbers."),
    N_("{program} makes the secret itself: give the one that it shows."),
    N_("The secret is not one that its program makes: copy it whole, and nothing else."),
    N_("A secret has {least} to {count} characters."),
    N_("An organization can have at most {count} lists. Delete one first."),
    N_("An organization can have at most {count} saved texts. Delete one first."),
    N_("A list can have at most {count} people."),
    N_("A list can have at most {count} columns."),
    N_("A user can have at most {count} factors."),
    N_("This passkey is already here."),
    N_("Operators need a second factor here. Set up another one first."),
    N_("Nobody resets their own factors. Remove them on your own page."),
    N_("This took too long. Begin again."),
    N_("Recovery codes belong to a factor. Set up a factor first."),
    # keys, senders, credentials and hooks
    N_("An organization can have at most {count} keys. Delete one first."),
    N_("An organization can have at most {count} senders, including denied ones."),
    N_("The sender {name} is already on the account: {state}."),
    N_(
        "This is the default sender of the service. Every organization may use it without a "
        "request."
    ),
    N_("A sender ID has 1 to {count} characters."),
    N_("A sender ID has only the letters A-Z and a-z, the digits 0-9 and spaces."),
    N_("A sender ID is not made of spaces only."),
    N_("A sender ID has at least one letter; digits alone would be a numeric sender."),
    N_("An organization can have at most {count} credentials. Revoke one first."),
    N_("There is already a credential with this name. Choose another name."),
    N_("An organization can have at most {count} hooks. Delete one first."),
    N_(
        "A code that was sent to this number has been entered: it is somebody's account. Take a "
        "number that only your reviewers use."
    ),
    N_("An organization can have at most {count} numbers with a fixed code. Remove one first."),
    N_(
        "Codes of this organization prove who pays: a number of it has no fixed code. Take "
        "another organization for your app."
    ),
    N_("There is already an account with this address."),
    N_("The organization is not active."),
    N_("This is not a sandbox card."),
    N_(
        "{count} organizations use this service, and this changes what each of them pays. "
        "Confirm it once more."
    ),
    N_(
        "These organizations have no price: {names}. Set `pricing.per_segment` and `prices` in "
        "the settings, or prices of their own, then change who pays."
    ),
    N_(
        "Nobody pays for messages here, so there is no balance. `risala payer set customers` "
        "changes that."
    ),
    # messages
    N_("The message is {state}. Only a pending message can be withdrawn."),
    N_("The carrier already has some parts of the message."),
    N_("The message has not been sent yet. Its text is needed until it is sent or canceled."),
    # mailings
    N_(
        "An organization can have at most {count} mailings that have not ended. Delete drafts "
        "that you do not need."
    ),
    N_("A mailing can be scheduled at most {count} days ahead."),
    N_("The former rows of this mailing are still being deleted."),
    N_("The rows of this mailing are still being checked."),
    N_("The rows of this mailing are no longer kept."),
    N_("Some rows of this mailing are still ready."),
    N_("This row is already being sent."),
    N_("This mailing has not been started."),
    N_("This mailing is being sent. Pause it first."),
    N_("This mailing is paused."),
    N_("This mailing has been stopped."),
    N_("This mailing has ended."),
    N_("This mailing is being read. Try again in a moment."),
    N_("This mailing was not made of a file."),
    N_("This is possible only with a draft."),
    N_("No row of this mailing can be sent. Fix the bad ones first."),
    N_("No message of this mailing has failed."),
    N_("The file of this mailing is no longer kept."),
    N_("There is nobody on this list yet."),
    N_("The table has no column for {names}."),
    N_("This upload is used already. Upload the file again."),
    N_("There is no such upload. Upload the file again."),
    N_(
        "The organization stores as much as it may. Delete ended mailings, drafts or lists that it "
        "does not need."
    ),
    N_("{count} uploaded files wait for a mailing already. Use them or try again tomorrow."),
    # webhooks
    N_("An organization can have at most {count} webhook endpoints. Delete one first."),
    N_("An endpoint needs at least one event type."),
    N_("An endpoint can have at most {count} custom headers."),
    N_("A header has a name that is not allowed."),
    N_("A header value must have 1 to {count} printable ASCII characters."),
    N_("A header is given twice."),
    N_("A header has a name and a value."),
    N_("{field} must be the name of a header field that nothing else uses."),
    N_("With another shape than {event}, an endpoint gets only {type}."),
    N_("The endpoint is disabled. Enable it first."),
    N_("The event is no longer kept."),
    N_("The delivery is pending. It is attempted automatically."),
    N_(
        "The secret was rotated within the last 24 hours and the old one still signs; rotate "
        "again later, or end the old secrets at once."
    ),
    # the console
    N_("An organization can have at most {count} prices. Drop one first."),
    N_("There can be at most {count} mutes. Remove one first."),
    N_("There can be at most {count} routes. Remove one first."),
    N_("There can be at most {count} words of your own. Remove one first."),
    N_("At most {count} networks can ask for something. Remove one first."),
    N_("{field} is one word of 1 to 20 letters."),
    N_("{field} is one of ours: digits, with or without +."),
    N_("{field} must be from 1 to {most}."),
    N_("{field} is from 1 to {most}."),
    N_("A route already gives these messages to {organization}. Remove that route first."),
    N_("No override is set for {carrier}."),
    N_("{carrier} is being removed: it finishes its current messages, then stops."),
    N_("{carrier} is busy with another command. Try again in a moment."),
    N_("{carrier} did not answer within {count} seconds."),
    N_("The driver of {carrier} failed. See the log for the cause."),
    N_("Nothing was changed. {why}"),
    N_("The settings have changed since you looked at them. Look again."),
    N_("The service is stopping."),
    N_("{address} is not an operator."),
    N_(
        "The payment is already confirmed: {sum} with the reference {reference}. Nothing was "
        "credited now. To credit other money, make a top-up with its own reference."
    ),
    N_(
        "The server key comes from the environment variable {name}: change it there, and start "
        "the service again. Codes that are under way end by that."
    ),
    N_(
        "The sealing key comes from the environment variable {name}: change it there (the new "
        "key, a comma, the old key), start the service again, and rotate then."
    ),
    N_("The sealing keys are being changed. Wait until that has ended."),
    N_(
        "Some secrets cannot be opened now. Bring their key back or make them anew, before "
        "former keys are deleted. {command} lists them."
    ),
)
"""Refusals in the engine's own words, with placeholders for the values."""
