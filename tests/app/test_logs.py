"""Who makes the values of a line asks first whether it will be written."""

import logging

import pytest
import structlog

from risala.app.logs import configure_logs, set_level
from risala.config.model import LogSection


@pytest.fixture
def configured():
    """Logs as a service has them, and afterwards as the tests have them."""
    before, handlers = structlog.get_config(), logging.getLogger().handlers[:]
    level = logging.getLogger().level
    configure_logs(LogSection(level="debug"))
    yield
    set_level(LogSection())
    structlog.configure(**before)
    logging.getLogger().handlers[:] = handlers
    logging.getLogger().setLevel(level)


def test_a_logger_knows_the_level_of_this_moment(configured):
    log = structlog.get_logger("a").bind()
    assert log.is_enabled_for(logging.DEBUG)
    set_level(LogSection(level="info"))
    assert not log.is_enabled_for(logging.DEBUG)
    assert log.is_enabled_for(logging.INFO)
