"""Each cause as a sentence, in the three languages of contract §7. All wording is here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from risala.sms.cause import Cause

Language = Literal["en", "fr", "ar"]

_ROWS: Final = (
    (
        Cause.UNKNOWN_NUMBER,
        "This number is not in use.",
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
        "The phone's memory is full, or the phone does not accept the message.",
        "La mémoire du téléphone est pleine, ou le téléphone n'accepte pas le message.",
        "ذاكرة الهاتف ممتلئة، أو أن الهاتف لا يقبل الرسالة.",
    ),
    (
        Cause.BARRED,
        "This recipient is barred from receiving the message.",
        "Ce destinataire n'est pas autorisé à recevoir le message.",
        "هذا المستلم محجوب عن استقبال الرسالة.",
    ),
    (
        Cause.EXPIRED,
        "The carrier accepted it, but could not deliver it before it expired.",
        "L'opérateur l'a accepté, mais n'a pas pu le livrer avant la fin de sa validité.",
        "قبِلتها شركة الاتصال، لكنها لم تتمكن من تسليمها قبل انتهاء صلاحيتها.",
    ),
    (
        Cause.DELETED,
        "The carrier accepted it, then deleted it without delivering it.",
        "L'opérateur l'a accepté, puis l'a supprimé sans le livrer.",
        "قبِلتها شركة الاتصال ثم حذفتها دون تسليمها.",
    ),
    (
        Cause.UNDELIVERABLE,
        "The carrier accepted it, but could not deliver it.",
        "L'opérateur l'a accepté, mais n'a pas pu le livrer.",
        "قبِلتها شركة الاتصال، لكنها لم تتمكن من تسليمها.",
    ),
    (
        Cause.UNTRACED,
        "The carrier accepted it, but no longer knows what happened to it.",
        "L'opérateur l'a accepté, mais ne sait plus ce qu'il est devenu.",
        "قبِلتها شركة الاتصال، لكنها لم تعد تعرف مصيرها.",
    ),
    (
        Cause.REJECTED,
        "The carrier refused it.",
        "L'opérateur l'a refusé.",
        "رفضتها شركة الاتصال.",
    ),
    (
        Cause.RECIPIENT_REFUSED,
        "The carrier does not accept the recipient's number.",
        "L'opérateur n'accepte pas le numéro du destinataire.",
        "لا تقبل شركة الاتصال رقم المستلم.",
    ),
    (
        Cause.SENDER_REFUSED,
        "The carrier does not allow this sender.",
        "L'opérateur n'autorise pas cet expéditeur.",
        "لا تسمح شركة الاتصال بهذا المرسِل.",
    ),
    (
        Cause.CONTENT_REFUSED,
        "The carrier does not allow this text.",
        "L'opérateur n'autorise pas ce texte.",
        "لا تسمح شركة الاتصال بهذا النص.",
    ),
    (
        Cause.DUPLICATE,
        "The carrier treated it as a duplicate of a message that it already has.",
        "L'opérateur l'a considéré comme un doublon d'un message déjà reçu.",
        "اعتبرتها شركة الاتصال نسخة مكررة من رسالة لديها.",
    ),
    (
        Cause.NOT_ALLOWED,
        "The carrier does not allow our account or SIM to do this.",
        "L'opérateur ne permet pas cette opération à notre compte ou à notre SIM.",
        "لا تسمح شركة الاتصال بذلك لحسابنا أو لشريحتنا.",
    ),
    (
        Cause.NO_CREDIT,
        "Our account or SIM has no credit left at the carrier.",
        "Notre compte ou notre SIM n'a plus de crédit chez l'opérateur.",
        "نفد رصيد حسابنا أو شريحتنا لدى شركة الاتصال.",
    ),
    (
        Cause.QUOTA_USED,
        "The line has used up its quota for this period.",
        "La ligne a épuisé son quota pour cette période.",
        "استنفد الخط حصته لهذه الفترة.",
    ),
    (
        Cause.UNSUPPORTED,
        "The carrier does not accept this kind of message.",
        "L'opérateur n'accepte pas ce type de message.",
        "لا تقبل شركة الاتصال هذا النوع من الرسائل.",
    ),
    (
        Cause.NOT_ENCODABLE,
        "The text has characters that this carrier's alphabet does not have.",
        "Le texte contient des caractères que l'alphabet de cet opérateur n'a pas.",
        "في النص حروف لا توجد في أبجدية شركة الاتصال هذه.",
    ),
    (
        Cause.TOO_LONG,
        "The text is longer than this carrier can send.",
        "Le texte est plus long que ce que cet opérateur peut envoyer.",
        "النص أطول مما تستطيع شركة الاتصال هذه إرساله.",
    ),
    (
        Cause.VALIDITY_OVER,
        "It expired before a carrier accepted it.",
        "Il a expiré avant qu'un opérateur ne l'accepte.",
        "انتهت صلاحيتها قبل أن تقبلها أي شركة اتصال.",
    ),
    (
        Cause.RETRIES_EXHAUSTED,
        "It was temporarily refused too many times.",
        "Il a été refusé temporairement un trop grand nombre de fois.",
        "رُفضت مؤقتا مرات أكثر من المسموح به.",
    ),
    (
        Cause.UNCERTAIN,
        "It is not known whether the carrier accepted it: it may have been delivered.",
        "On ignore si l'opérateur l'a accepté : il a peut-être été livré.",
        "لا يُعرف هل قبِلتها شركة الاتصال: ربما سُلِّمت.",
    ),
    (
        Cause.RESTORED,
        "Restored from a backup: it may already have been sent, so it is not sent again.",
        "Restauré d'une sauvegarde : il a peut-être déjà été envoyé, donc il n'est pas renvoyé.",
        "استُعيدت من نسخة احتياطية: ربما سبق إرسالها، لذلك لا يعاد إرسالها.",
    ),
    (
        Cause.DRIVER_FAULT,
        "The carrier's driver failed while submitting the message.",
        "Le pilote de l'opérateur a échoué pendant l'envoi du message.",
        "تعطّل برنامج الربط بشركة الاتصال أثناء إرسال الرسالة.",
    ),
    (
        Cause.THROTTLED,
        "The carrier asks us to slow down.",
        "L'opérateur nous demande de ralentir.",
        "تطلب شركة الاتصال أن نبطئ.",
    ),
    (
        Cause.CARRIER_FAULT,
        "The carrier has a technical fault.",
        "L'opérateur a une panne technique.",
        "لدى شركة الاتصال عطل تقني.",
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
        "La liaison avec l'opérateur est coupée ; rien n'a été envoyé.",
        "الاتصال بالشركة مقطوع؛ لم يُرسَل شيء.",
    ),
    (
        Cause.BUSY,
        "The line is busy with something else; nothing was sent.",
        "La ligne est occupée à autre chose ; rien n'a été envoyé.",
        "الخط مشغول بشيء آخر؛ لم يُرسَل شيء.",
    ),
    (
        Cause.NO_ANSWER,
        "The message was submitted, but no answer came back.",
        "Le message a été transmis, mais aucune réponse n'est venue.",
        "حُوّلت الرسالة إلى الشركة، لكن لم يأتِ رد.",
    ),
    (
        Cause.LINK_LOST,
        "The message was submitted, but the link was lost before the answer came.",
        "Le message a été transmis, mais la liaison s'est coupée avant la réponse.",
        "حُوّلت الرسالة إلى الشركة، لكن الاتصال انقطع قبل الرد.",
    ),
    (
        Cause.NOT_ACKNOWLEDGED,
        "The message was submitted, but the network did not acknowledge it in time.",
        "Le message a été transmis, mais le réseau n'en a pas accusé réception à temps.",
        "حُوّلت الرسالة إلى الشبكة، لكنها لم تؤكد استلامها في الوقت المناسب.",
    ),
    (
        Cause.SERVICE_STOPPED,
        "The service stopped while waiting for the carrier's answer.",
        "Le service s'est arrêté en attendant la réponse de l'opérateur.",
        "توقفت الخدمة أثناء انتظار رد شركة الاتصال.",
    ),
)

CAUSE_SENTENCES: Final[Mapping[Cause, Mapping[Language, str]]] = {
    cause: {"en": english, "fr": french, "ar": arabic} for cause, english, french, arabic in _ROWS
}


def cause_sentence(cause: Cause, language: Language = "en") -> str:
    """The sentence of a cause in a language."""
    return CAUSE_SENTENCES[cause][language]


_SAID_MIN: Final = 4
"""Characters of a sentence that are looked for: fewer are in nearly all."""


def causes_saying(text: str) -> list[str]:
    """The codes of the causes whose sentence, in any language, contains a text."""
    part = text.casefold()
    if len(part) < _SAID_MIN:
        return []
    return [
        cause.value
        for cause, sentences in CAUSE_SENTENCES.items()
        if any(part in each.casefold() for each in sentences.values())
    ]


def cause_text(word: str | None) -> str | None:
    """The API's ``errorText`` for an ``errorCode``: the cause's English sentence; None if there is
    no code, or an unknown one."""
    if word is None or word not in CAUSE_SENTENCES:
        return None
    return CAUSE_SENTENCES[Cause(word)]["en"]
