"""The state of event sinks, as a page of the console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from risala.plugins.page import (
    PageBlock,
    PageFigures,
    PageService,
    PageTable,
    PageText,
)

TITLE: Final = {"en": "Event sinks", "fr": "Récepteurs d’événements", "ar": "مستقبلات الأحداث"}
_STATES: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {"running": "running", "failing": "failing", "stuck": "stuck"},
    "fr": {"running": "en marche", "failing": "en échec", "stuck": "bloqué"},
    "ar": {"running": "يعمل", "failing": "يفشل", "stuck": "متوقف"},
}


@dataclass(frozen=True, slots=True)
class _Words:
    told: str
    columns: tuple[str, ...]
    none: str
    waiting: str
    lost: str


_WORDS: Final = {
    "en": _Words(
        "Every event goes to each sink, at least once and in order.",
        ("Sink", "State", "Taken", "Waiting", "Lost", "What is wrong"),
        "No event sink is configured.",
        "Events that wait",
        "Events that were lost",
    ),
    "fr": _Words(
        "Chaque événement va à chaque récepteur, au moins une fois et dans l’ordre.",
        ("Récepteur", "État", "Reçus", "En attente", "Perdus", "Ce qui ne va pas"),
        "Aucun récepteur d’événements n’est configuré.",
        "Événements en attente",
        "Événements perdus",
    ),
    "ar": _Words(
        "كل حدث يصل إلى كل مستقبل مرة واحدة على الأقل وبالترتيب.",
        ("المستقبل", "الحالة", "استلم", "ينتظر", "فُقد", "ما الخلل"),
        "لا يوجد مستقبل أحداث في الإعدادات.",
        "أحداث تنتظر",
        "أحداث فُقدت",
    ),
}


class SinksPage:
    """A :class:`risala.plugins.page.ConsolePage`."""

    async def show(self, service: PageService) -> Sequence[PageBlock]:
        words = _WORDS.get(service.language, _WORDS["en"])
        states = _STATES.get(service.language, _STATES["en"])
        found = (await service.look("statistics")).get("sinks", [])
        waiting = sum(each["behind"] or 0 for each in found)
        lost = sum(each["missed"] or 0 for each in found)
        return (
            PageText(words.told),
            PageFigures(((words.waiting, waiting), (words.lost, lost))),
            PageTable(
                words.columns,
                tuple(
                    (
                        *(each["name"], states.get(each["state"], each["state"]), each["taken"]),
                        *(each["behind"], each["missed"], each["text"] or None),
                    )
                    for each in found
                ),
                words.none,
            ),
        )
