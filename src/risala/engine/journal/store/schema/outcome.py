"""Lines of the timeline as kind and values, and causes as words of the closed list."""

from __future__ import annotations

from typing import Final

UNCERTAIN: Final = """
-- Submits without an answer, also of messages that ended so: a receipt may tell of them later.
CREATE INDEX segments_uncertain ON segments (carrier, updated_at) WHERE state = 'uncertain';
"""

OUTCOME: Final = """
-- Kind 0: a sentence that an earlier version wrote stands in ``text``; in all others it is empty.
ALTER TABLE timeline ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
-- JSON: the cause, and the values of the kind; null where there is nothing to add.
ALTER TABLE timeline ADD COLUMN details TEXT;

ALTER TABLE messages ADD COLUMN carrier_code TEXT;
-- What earlier versions wrote was a carrier's word wherever it is none of these four.
UPDATE messages SET
    carrier_code = CASE
      WHEN error_code IN ('EXPIRED', 'RETRIES_EXHAUSTED', 'RESTORED', 'UNCERTAIN',
        'DRIVER_FAULT') AND status = 'failed' THEN NULL
      ELSE error_code END,
    error_code = CASE
      WHEN status <> 'failed' AND error_code LIKE '%EXPIRED%' THEN 'EXPIRED'
      WHEN status <> 'failed' AND error_code LIKE '%REJECT%' THEN 'REJECTED'
      WHEN status <> 'failed' THEN 'UNDELIVERABLE'
      WHEN error_code = 'EXPIRED' THEN 'VALIDITY_OVER'
      WHEN error_code IN ('RETRIES_EXHAUSTED', 'RESTORED', 'UNCERTAIN', 'DRIVER_FAULT')
        THEN error_code
      ELSE 'REJECTED' END,
    error_text = NULL
  WHERE error_code IS NOT NULL;
"""
