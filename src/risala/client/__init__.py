"""Send SMS and verify phone numbers by a Risala service.

::

    from risala.client import Risala

    risala = Risala("https://sms.example", os.environ["RISALA_KEY"])
    sent = risala.send_message("+33612345678", "Bonjour")
    print(risala.get_message(sent.message_id).status)

`Risala` is for threads, `AsyncRisala` for tasks of asyncio or Trio; both have the same methods.
Every call ends in an answer or in a `RisalaError`. `Webhook` verifies what the service sends to an
endpoint. It is a distribution of its own, ``risala-client``, which needs httpx2 and nothing of the
service.
"""

from .answers import (
    CheckedCode,
    CodeReport,
    CodeReportItem,
    ConversationMessage,
    ConversationThread,
    EndpointDelivery,
    InboundMessage,
    LedgerLine,
    ListedConversation,
    MarkedConversation,
    Message,
    MessageEstimate,
    MessageStatus,
    OrganizationBalance,
    Page,
    PendingSenderNotice,
    SegmentPrice,
    SenderName,
    SentMessage,
    ServedCountry,
    StartedVerification,
    UnicodeCharacter,
    Verification,
    VerificationStatus,
    WebhookEndpoint,
)
from .asynchronous import AsyncRisala
from .calls import BatchResult, OutgoingMessage
from .challenges import solve_challenge
from .errors import (
    AddressForbiddenError,
    BadRequestError,
    ChallengeRequiredError,
    CountryNotOpenError,
    FieldIssue,
    KeyExpiredError,
    KeyForbiddenError,
    LostAnswerError,
    NotCancelableError,
    NotReachedError,
    OutcomeUnknownError,
    PaymentRequiredError,
    RecipientOptedOutError,
    RefusedError,
    RequestFaultError,
    RisalaError,
    SenderNotApprovedError,
    ServiceFaultError,
    SignatureError,
    SpendCapError,
    TooManyRequestsError,
    UnansweredError,
    UnauthorizedError,
    UnavailableError,
    UnknownIdError,
    UnreadableAnswerError,
)
from .retrying import Retrying
from .synchronous import Risala
from .version import VERSION as __version__
from .webhooks import (
    BalanceEvent,
    ConversationEvent,
    InboundEvent,
    MessageEvent,
    SenderEvent,
    TrialEvent,
    VerificationEvent,
    Webhook,
    WebhookEvent,
)

__all__ = [
    "AddressForbiddenError",
    "AsyncRisala",
    "BadRequestError",
    "BalanceEvent",
    "BatchResult",
    "ChallengeRequiredError",
    "CheckedCode",
    "CodeReport",
    "CodeReportItem",
    "ConversationEvent",
    "ConversationMessage",
    "ConversationThread",
    "CountryNotOpenError",
    "EndpointDelivery",
    "FieldIssue",
    "InboundEvent",
    "InboundMessage",
    "KeyExpiredError",
    "KeyForbiddenError",
    "LedgerLine",
    "ListedConversation",
    "LostAnswerError",
    "MarkedConversation",
    "Message",
    "MessageEstimate",
    "MessageEvent",
    "MessageStatus",
    "NotCancelableError",
    "NotReachedError",
    "OrganizationBalance",
    "OutcomeUnknownError",
    "OutgoingMessage",
    "Page",
    "PaymentRequiredError",
    "PendingSenderNotice",
    "RecipientOptedOutError",
    "RefusedError",
    "RequestFaultError",
    "Retrying",
    "Risala",
    "RisalaError",
    "SegmentPrice",
    "SenderEvent",
    "SenderName",
    "SenderNotApprovedError",
    "SentMessage",
    "ServedCountry",
    "ServiceFaultError",
    "SignatureError",
    "SpendCapError",
    "StartedVerification",
    "TooManyRequestsError",
    "TrialEvent",
    "UnansweredError",
    "UnauthorizedError",
    "UnavailableError",
    "UnicodeCharacter",
    "UnknownIdError",
    "UnreadableAnswerError",
    "Verification",
    "VerificationEvent",
    "VerificationStatus",
    "Webhook",
    "WebhookEndpoint",
    "WebhookEvent",
    "__version__",
    "solve_challenge",
]
