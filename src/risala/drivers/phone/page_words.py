"""The words of a phone's part of its carrier's page, in each language of the console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from risala.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of one language. Holes are in braces."""

    stopped: str
    last_seen: str
    never: str
    silent: str
    minutes: str
    in_hand: str
    today: str
    of_quota: str
    nameless: str
    sims: tuple[str, str, str, str]
    no_sims: str
    another: str
    another_text: str
    replace: str
    replace_confirm: str
    forget: str
    forget_confirm: str
    pairing: str
    pairing_text: str
    token: str
    """What stands in place of the private token."""
    steps: tuple[str, ...]
    """What to do on the phone, in the words that the app shows; the terminal says the same."""


_ENGLISH: Final = PageWords(
    stopped="The driver is not running.",
    last_seen="Last seen",
    never="not since the start",
    silent="Silent for",
    minutes="{n} min",
    in_hand="In hand",
    today="Segments today",
    of_quota="{n} of {most}",
    nameless="A phone without a name",
    sims=("SIM", "Network", "Number", "Sends"),
    no_sims="The phone has named no SIM.",
    another="Another phone waits: {name}",
    another_text=(
        "It has registered with the private token. It gets no message until it takes the present "
        "phone's place."
    ),
    replace="Let it take the place of {name}",
    replace_confirm=(
        "The present phone can no longer call. What it fetched and has not reported stays "
        "uncertain."
    ),
    forget="Forget {name}",
    forget_confirm=(
        "It can no longer call, and this carrier sends nothing until a phone is paired. What it "
        "fetched and has not reported stays uncertain."
    ),
    pairing="Pair a phone",
    pairing_text="No phone is registered yet. On the phone:",
    token="the value of the variable that token_env names in this carrier's settings",  # noqa: S106
    steps=(
        "Install SMSGate on the phone, from github.com/capcom6/android-sms-gateway, and allow what "
        "it asks for: SMS and phone.",
        "SETTINGS, Cloud server…, API URL: {url}",
        "There, Private Token: {token}",
        "There, Notification channel: SSE Only",
        "SETTINGS, System, Battery optimization: let Android not stop the app.",
        "Home: switch Cloud server on, press Offline so that it says Online, and under Sign Up "
        "press Continue.",
    ),
)
_FRENCH: Final = PageWords(
    stopped="Le pilote ne tourne pas.",
    last_seen="Vu",
    never="pas depuis le démarrage",
    silent="Muet depuis",
    minutes="{n} min",
    in_hand="En main",
    today="Segments aujourd’hui",
    of_quota="{n} sur {most}",
    nameless="Un téléphone sans nom",
    sims=("SIM", "Réseau", "Numéro", "Envoie"),
    no_sims="Le téléphone n’a nommé aucune carte SIM.",
    another="Un autre téléphone attend\u00a0: {name}",
    another_text=(
        "Il s’est inscrit avec le jeton privé. Il ne reçoit aucun message tant qu’il n’a pas pris "
        "la place du téléphone actuel."
    ),
    replace="Lui donner la place de {name}",
    replace_confirm=(
        "Le téléphone actuel ne pourra plus appeler. Ce qu’il a pris sans dire ce que c’est devenu "
        "reste incertain."
    ),
    forget="Oublier {name}",
    forget_confirm=(
        "Il ne pourra plus appeler, et cet opérateur n’enverra rien avant qu’un téléphone soit "
        "relié. Ce qu’il a pris sans dire ce que c’est devenu reste incertain."
    ),
    pairing="Relier un téléphone",
    pairing_text="Aucun téléphone n’est encore inscrit. Sur le téléphone\u00a0:",
    token="la valeur de la variable que token_env nomme dans les réglages de cet opérateur",  # noqa: S106
    steps=(
        "Installez SMSGate sur le téléphone, depuis github.com/capcom6/android-sms-gateway, et "
        "autorisez ce qu’il demande\u00a0: SMS et téléphone. L’application n’est pas en "
        "français\u00a0; voici ses mots anglais.",
        "SETTINGS, Cloud server…, API URL\u00a0: {url}",
        "Au même endroit, Private Token\u00a0: {token}",
        "Au même endroit, Notification channel\u00a0: SSE Only",
        "SETTINGS, System, Battery optimization\u00a0: qu’Android n’arrête pas l’application.",
        "Home\u00a0: activez Cloud server, touchez Offline pour qu’il affiche Online, puis, sous "
        "Sign Up, touchez Continue.",
    ),
)
_ARABIC: Final = PageWords(
    stopped="برنامج التشغيل لا يعمل.",
    last_seen="آخر ظهور",
    never="لم يظهر منذ البدء",
    silent="صامت منذ",
    minutes="{n} د",
    in_hand="لديه",
    today="أجزاء اليوم",
    of_quota="{n} من {most}",
    nameless="هاتف بلا اسم",
    sims=("الشريحة", "الشبكة", "الرقم", "ترسل"),
    no_sims="لم يذكر الهاتف أي شريحة.",
    another="هاتف آخر ينتظر: {name}",
    another_text="سجل نفسه بالرمز الخاص. لا تصله أي رسالة حتى يأخذ مكان الهاتف الحالي.",
    replace="اجعله مكان {name}",
    replace_confirm="لن يستطيع الهاتف الحالي الاتصال بعد ذلك. وما جلبه ولم يخبر عنه يبقى غير مؤكد.",
    forget="انس {name}",
    forget_confirm=(
        "لن يستطيع الاتصال بعد ذلك، ولن ترسل شركة الاتصال هذه شيئا حتى يُربط هاتف. وما جلبه ولم "
        "يخبر عنه يبقى غير مؤكد."
    ),
    pairing="اربط هاتفا",
    pairing_text="لم يسجل أي هاتف نفسه بعد. على الهاتف:",
    token="قيمة المتغير الذي يسميه token_env في إعدادات شركة الاتصال هذه",  # noqa: S106
    steps=(
        "ثبّت SMSGate على الهاتف من github.com/capcom6/android-sms-gateway، واسمح له بما يطلبه: "
        "الرسائل والهاتف.",
        "الإعدادات، خادم السحاب…، رابط API: {url}",
        "في المكان نفسه، الرمز الخاص: {token}",
        "في المكان نفسه، قناة الإشعارات: SSE Only",
        "الإعدادات، النظام، تحسين البطارية: حتى لا يوقف أندرويد التطبيق.",
        "الشاشة الأولى: شغّل خادم السحاب، واضغط «غير متصل» حتى يظهر «متصل»، ثم تحت «إنشاء حساب» "
        "اضغط «استمرار».",
    ),
)
WORDS: Final[Mapping[str, PageWords]] = {"en": _ENGLISH, "fr": _FRENCH, "ar": _ARABIC}
