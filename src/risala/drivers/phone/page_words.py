"""The words of a phone's part of its carrier's page, in each language of the console; those of
pairing are the terminal's and the first run's too."""

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
    """Said of a phone that has not called since the start."""
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
    forget_stays: str
    """What is added where the settings have the private token."""
    pairing: str
    pairing_text: str
    plain: str
    """What is added where the carrier's address is not https."""
    again: str
    show: str
    token: str
    """What the page says in place of the private token."""
    steps: tuple[str, ...]
    """What to do on the phone, in the words that the app shows. ``url`` is the app's API URL."""


_ENGLISH: Final = PageWords(
    stopped="The driver is not running.",
    last_seen="Last seen: {when}.",
    never="It has not called since this service started.",
    silent="Silent for",
    minutes="{n} min",
    in_hand="In hand",
    today="Parts today",
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
        "The present phone gets no more messages. What it fetched and has not reported stays "
        "uncertain."
    ),
    forget="Forget {name}",
    forget_confirm=(
        "It can no longer call, and this carrier sends nothing until a phone is paired. What it "
        "fetched and has not reported stays uncertain."
    ),
    forget_stays=(
        "The settings have the private token: first set another one there, else the app registers "
        "again by itself."
    ),
    pairing="Pair a phone",
    pairing_text="No phone is registered yet. On the phone:",
    plain="The address is not https, so the app does not call it: set http.public_url.",
    again="For another phone, or the app installed again: what it registers with.",
    show="Show the private token",
    token="the button below shows it",  # noqa: S106
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
    last_seen="Vu pour la dernière fois\u00a0: {when}.",
    never="Il n’a pas appelé depuis le démarrage de ce service.",
    silent="Muet depuis",
    minutes="{n} min",
    in_hand="En main",
    today="Parties aujourd’hui",
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
        "Le téléphone actuel ne recevra plus de messages. Ce qu’il a pris sans dire ce que c’est "
        "devenu reste incertain."
    ),
    forget="Oublier {name}",
    forget_confirm=(
        "Il ne pourra plus appeler, et cet opérateur n’enverra rien avant qu’un téléphone soit "
        "relié. Ce qu’il a pris sans dire ce que c’est devenu reste incertain."
    ),
    forget_stays=(
        "Le jeton privé est dans les réglages\u00a0: mettez-y d’abord un autre, sinon "
        "l’application s’inscrit de nouveau d’elle-même."
    ),
    pairing="Relier un téléphone",
    pairing_text="Aucun téléphone n’est encore inscrit. Sur le téléphone\u00a0:",
    plain=(
        "L’adresse n’est pas en https, donc l’application ne l’appelle pas\u00a0: réglez "
        "http.public_url."
    ),
    again="Pour un autre téléphone, ou l’application réinstallée\u00a0: ce avec quoi il s’inscrit.",
    show="Montrer le jeton privé",
    token="le bouton ci-dessous le montre",  # noqa: S106
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
    last_seen="آخر ظهور: \u2068{when}\u2069.",
    never="لم يتصل منذ بدء هذه الخدمة.",
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
    replace_confirm="لن تصل الهاتف الحالي رسائل بعد ذلك. وما جلبه ولم يخبر عنه يبقى غير مؤكد.",
    forget="انس {name}",
    forget_confirm=(
        "لن يستطيع الاتصال بعد ذلك، ولن ترسل شركة الاتصال هذه شيئا حتى يُربط هاتف. وما جلبه ولم "
        "يخبر عنه يبقى غير مؤكد."
    ),
    forget_stays=(
        "الرمز الخاص مكتوب في الإعدادات: ضع فيها رمزا آخر أولا، وإلا سجل التطبيق نفسه من جديد."
    ),
    pairing="اربط هاتفا",
    pairing_text="لم يسجل أي هاتف نفسه بعد. على الهاتف:",
    plain="ليس العنوان بـ https فلا يتصل به التطبيق: اضبط http.public_url.",
    again="لهاتف آخر، أو لتطبيق أعيد تثبيته: ما يسجل به نفسه.",
    show="أظهر الرمز الخاص",
    token="يظهره الزر أدناه",  # noqa: S106
    steps=(
        "ثبّت SMSGate على الهاتف من github.com/capcom6/android-sms-gateway، واسمح له بما يطلبه: "
        "الرسائل والهاتف.",
        "الإعدادات، خادم السحاب…، رابط API:\u200f {url}",
        "في المكان نفسه، الرمز الخاص: {token}",
        "في المكان نفسه، قناة الإشعارات: SSE Only",
        "الإعدادات، النظام، تحسين البطارية: حتى لا يوقف أندرويد التطبيق.",
        "الشاشة الأولى: شغّل خادم السحاب، واضغط «غير متصل» حتى يظهر «متصل»، ثم تحت «إنشاء حساب» "
        "اضغط «استمرار».",
    ),
)
WORDS: Final[Mapping[str, PageWords]] = {"en": _ENGLISH, "fr": _FRENCH, "ar": _ARABIC}
