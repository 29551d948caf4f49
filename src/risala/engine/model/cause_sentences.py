"""Each cause as a sentence, in the three languages of contract §7. All wording is here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from risala.sms.cause import Cause

Language = Literal["en", "fr", "ar"]

_ROWS: Final = (
    (
        Cause.UNKNOWN_NUMBER,
        "Nobody has this number.",
        "Ce numéro n'est attribué à personne.",
        "هذا الرقم غير مخصص لأحد.",
    ),
    (
        Cause.ABSENT,
        "The phone is switched off or out of reach.",
        "Le téléphone est éteint ou hors de portée.",
        "الهاتف مغلق أو خارج التغطية.",
    ),
    (
        Cause.PHONE_FULL,
        "The phone has no room for the message, or does not take it.",
        "Le téléphone n'a plus de place pour le message, ou ne l'accepte pas.",
        "لا مكان في الهاتف للرسالة، أو أنه لا يقبلها.",
    ),
    (
        Cause.BARRED,
        "This recipient is barred from receiving the message.",
        "Ce destinataire n'est pas autorisé à recevoir le message.",
        "هذا المستلم محجوب عن استقبال الرسالة.",
    ),
    (
        Cause.EXPIRED,
        "The carrier accepted it, and could not deliver it before its validity ended.",
        "L'opérateur l'a accepté, et n'a pas pu le remettre avant la fin de sa validité.",
        "قبِلها المشغّل، ولم يتمكن من تسليمها قبل انتهاء صلاحيتها.",
    ),
    (
        Cause.DELETED,
        "The carrier accepted it, then deleted it undelivered.",
        "L'opérateur l'a accepté, puis supprimé sans le remettre.",
        "قبِلها المشغّل ثم حذفها دون تسليمها.",
    ),
    (
        Cause.UNDELIVERABLE,
        "The carrier accepted it, then gave up.",
        "L'opérateur l'a accepté, puis y a renoncé.",
        "قبِلها المشغّل ثم تخلّى عن تسليمها.",
    ),
    (
        Cause.UNTRACED,
        "The carrier accepted it, and no longer knows what became of it.",
        "L'opérateur l'a accepté, et ne sait plus ce qu'il est devenu.",
        "قبِلها المشغّل، ولم يعد يعرف ما آلت إليه.",
    ),
    (
        Cause.REJECTED,
        "The carrier refused it.",
        "L'opérateur l'a refusé.",
        "رفضها المشغّل.",
    ),
    (
        Cause.RECIPIENT_REFUSED,
        "The carrier does not accept the recipient's address.",
        "L'opérateur n'accepte pas l'adresse du destinataire.",
        "لا يقبل المشغّل عنوان المستلم.",
    ),
    (
        Cause.SENDER_REFUSED,
        "The carrier does not allow this sender.",
        "L'opérateur n'autorise pas cet expéditeur.",
        "لا يسمح المشغّل بهذا المرسِل.",
    ),
    (
        Cause.CONTENT_REFUSED,
        "The carrier does not allow this text.",
        "L'opérateur n'autorise pas ce texte.",
        "لا يسمح المشغّل بهذا النص.",
    ),
    (
        Cause.DUPLICATE,
        "The carrier took it for a message that it has already.",
        "L'opérateur l'a pris pour un message qu'il a déjà.",
        "ظنّها المشغّل رسالة سبق أن تسلّمها.",
    ),
    (
        Cause.NOT_ALLOWED,
        "The carrier does not let our account or SIM do this.",
        "L'opérateur ne le permet pas à notre compte ou à notre SIM.",
        "لا يسمح المشغّل بذلك لحسابنا أو لشريحتنا.",
    ),
    (
        Cause.NO_CREDIT,
        "Our account or SIM has no credit left at the carrier.",
        "Notre compte ou notre SIM n'a plus de crédit chez l'opérateur.",
        "نفد رصيد حسابنا أو شريحتنا لدى المشغّل.",
    ),
    (
        Cause.QUOTA_USED,
        "The line has sent as much as it may in this period.",
        "La ligne a envoyé tout ce qu'elle peut envoyer dans cette période.",
        "أرسل الخط كل ما يُسمح له به في هذه الفترة.",
    ),
    (
        Cause.UNSUPPORTED,
        "The carrier does not take a message of this form.",
        "L'opérateur n'accepte pas un message de cette forme.",
        "لا يقبل المشغّل رسالة بهذا الشكل.",
    ),
    (
        Cause.NOT_ENCODABLE,
        "This carrier's alphabet cannot carry the text.",
        "L'alphabet de cet opérateur ne peut pas transporter le texte.",
        "لا تستطيع أبجدية هذا المشغّل حمل النص.",
    ),
    (
        Cause.VALIDITY_OVER,
        "Its validity ended before a carrier accepted it.",
        "Sa validité a pris fin avant qu'un opérateur ne l'accepte.",
        "انتهت صلاحيتها قبل أن يقبلها أي مشغّل.",
    ),
    (
        Cause.RETRIES_EXHAUSTED,
        "It was refused for the moment as often as it may be.",
        "Il a été refusé pour le moment autant de fois que permis.",
        "رُفضت مؤقتًا بعدد المرات المسموح به.",
    ),
    (
        Cause.UNCERTAIN,
        "Whether the carrier took it could not be found out: it may have been delivered.",
        "On n'a pas pu savoir si l'opérateur l'a pris : il a peut-être été remis.",
        "لم يتسنَّ معرفة ما إذا كان المشغّل قد أخذها: ربما سُلِّمت.",
    ),
    (
        Cause.RESTORED,
        "Restored from a backup: it may have been sent since, and is not sent again.",
        "Restauré d'une sauvegarde : il a pu être envoyé depuis, et n'est pas renvoyé.",
        "استُعيدت من نسخة احتياطية: ربما أُرسلت منذ ذلك الحين، ولا يعاد إرسالها.",
    ),
    (
        Cause.DRIVER_FAULT,
        "The carrier's driver failed while it submitted the message.",
        "Le pilote de l'opérateur a échoué pendant l'envoi du message.",
        "تعطّل برنامج الربط بالمشغّل أثناء إرسال الرسالة.",
    ),
    (
        Cause.THROTTLED,
        "The carrier asks us to slow down.",
        "L'opérateur nous demande de ralentir.",
        "يطلب المشغّل أن نبطئ.",
    ),
    (
        Cause.CARRIER_FAULT,
        "The carrier has a fault of its own.",
        "L'opérateur a une panne.",
        "لدى المشغّل عطل.",
    ),
    (
        Cause.NO_SERVICE,
        "The line has no network.",
        "La ligne n'a pas de réseau.",
        "لا شبكة لدى الخط.",
    ),
    (
        Cause.DEVICE_FAULT,
        "The modem or its SIM has a fault.",
        "Le modem ou sa SIM a une panne.",
        "في المودم أو شريحته عطل.",
    ),
    (
        Cause.LINK_DOWN,
        "The carrier's link is down; nothing was sent.",
        "La liaison avec l'opérateur est coupée ; rien n'a été envoyé.",
        "الوصلة بالمشغّل مقطوعة؛ لم يُرسَل شيء.",
    ),
    (
        Cause.BUSY,
        "The line is busy with something else; nothing was sent.",
        "La ligne est occupée à autre chose ; rien n'a été envoyé.",
        "الخط مشغول بشيء آخر؛ لم يُرسَل شيء.",
    ),
    (
        Cause.NO_ANSWER,
        "The message left, but no answer came back.",
        "Le message est parti, mais aucune réponse n'est venue.",
        "غادرت الرسالة، لكن لم يأتِ رد.",
    ),
    (
        Cause.LINK_LOST,
        "The message left, and the link was lost before the answer came.",
        "Le message est parti, et la liaison s'est coupée avant la réponse.",
        "غادرت الرسالة، وانقطعت الوصلة قبل الرد.",
    ),
    (
        Cause.NOT_ACKNOWLEDGED,
        "The message left, and the network did not acknowledge it in time.",
        "Le message est parti, et le réseau n'en a pas accusé réception à temps.",
        "غادرت الرسالة، ولم تؤكد الشبكة استلامها في الوقت المناسب.",
    ),
    (
        Cause.SERVICE_STOPPED,
        "The service stopped while it waited for the carrier's answer.",
        "Le service s'est arrêté en attendant la réponse de l'opérateur.",
        "توقفت الخدمة وهي تنتظر رد المشغّل.",
    ),
)

CAUSE_SENTENCES: Final[Mapping[Cause, Mapping[Language, str]]] = {
    cause: {"en": english, "fr": french, "ar": arabic} for cause, english, french, arabic in _ROWS
}


def cause_sentence(cause: Cause, language: Language = "en") -> str:
    """The sentence of a cause in a language."""
    return CAUSE_SENTENCES[cause][language]


def cause_text(word: str | None) -> str | None:
    """The API's ``errorText`` for an ``errorCode``: the cause's English sentence; None if there is
    no code, or an unknown one."""
    if word is None or word not in CAUSE_SENTENCES:
        return None
    return CAUSE_SENTENCES[Cause(word)]["en"]
