"""What the doctor says of the languages that codes are in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from risala.config.model import Settings
from risala.config.verify import VerifySection
from risala.engine.features.session_details.stored_texts import examined
from risala.engine.model.findings import Grade, Patient

AMHARIC = 'name = "A"\ncode = "{{code}}"\nnever_share = "x"\n' + (
    'payment = "{{amount}} {{currency}} {{payee}}"\n'
)


@pytest.fixture
def patient(tmp_path):
    return Patient(tmp_path, 0, running=False)


def findings(house, patient) -> list[tuple[Grade, str]]:
    reader = house.gateway.services.repositories._store.reader
    return [(each.state, each.text) for each in examined(reader, patient)]


async def test_a_language_without_a_file_is_told(open_house, patient, tmp_path, autojump_clock):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("am", "de", "xx"):
        (folder / f"{name}.toml").write_text(AMHARIC)
    verify = VerifySection(texts_folder=folder)
    async with open_house(verify=verify) as house:
        assert findings(house, patient) == []
        whose = {"organization_id": house.principal.organization_id}
        perform = house.gateway.perform
        await perform("verify.config", {**whose, "language": "am"})
        await perform("verify.config", {**whose, "templates": {"de": "{{code}}", "fr": "{{code}}"}})
        named = {"name": "login", "language": "xx", "text": "{{code}}"}
        await perform("verify.templates", {**whose, **named})
        ((state, text),) = findings(house, patient)
        assert state is Grade.WARN
        assert "texts of codes in am, de, xx, of which there is no file" in text
        healthy = replace(patient, known_settings=Settings(verify=verify))
        ((state, text),) = findings(house, healthy)
        assert (state, text[:26]) == (Grade.OK, "Codes speak 12 languages: ")
