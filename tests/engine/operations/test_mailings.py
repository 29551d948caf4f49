"""The arguments of mailings, and which of them are refused."""

import pytest

from cases import sweep
from risala.engine.features.mailings.operations.mailings import (
    CreateMailing,
    ReadMailing,
    SetMailing,
)
from risala.engine.features.mailings.operations.rows import (
    ListMailingRows,
    MendRow,
    ShowPerson,
    WriteWorkbook,
)
from risala.engine.features.tables.records import Chosen
from risala.engine.kernel.arguments import parse
from risala.engine.model.errors import Invalid

OF = {"mailing_id": "mlg_1"}
WRONG = (
    (SetMailing, {"pace": 0}, "pace", "out_of_range"),
    (SetMailing, {"pace": 60_001}, "pace", "out_of_range"),
    (SetMailing, {"pace": True}, "pace", "invalid_number"),
    (SetMailing, {"from_hour": 24}, "from_hour", "out_of_range"),
    (SetMailing, {"to_hour": 0}, "to_hour", "out_of_range"),
    (SetMailing, {"to_hour": 25}, "to_hour", "out_of_range"),
    (SetMailing, {"send_at": "soon"}, "send_at", "invalid_time"),
    (SetMailing, {"from": "no sender at all"}, "from", "invalid_sender"),
    (SetMailing, {"name": "x" * 101}, "name", "invalid_length"),
    (SetMailing, {"text": "x" * 1601}, "text", "too_long"),
    (SetMailing, {"text": "a\0"}, "text", "invalid_characters"),
    (ReadMailing, {"encoding": "ebcdic"}, "encoding", "invalid_encoding"),
    (ReadMailing, {"separator": "x"}, "separator", "invalid_separator"),
    (ReadMailing, {"number_column": 100}, "number_column", "out_of_range"),
    (ReadMailing, {"number_column": -1}, "number_column", "out_of_range"),
    (ReadMailing, {"has_header": "yes"}, "has_header", "invalid_flag"),
    (MendRow, {"row": 0, "cells": []}, "row", "out_of_range"),
    (MendRow, {"row": 1, "cells": "x"}, "cells", "invalid_list"),
    (MendRow, {"row": 1, "cells": ["x"] * 101}, "cells", "invalid_list"),
    (MendRow, {"row": 1, "cells": ["x" * 1001]}, "cells", "too_long"),
    (MendRow, {"row": 1, "cells": [None]}, "cells", "invalid_text"),
    (ListMailingRows, {"state": "good"}, "state", "invalid_state"),
    (WriteWorkbook, {"words": []}, "words", "invalid_words"),
    (WriteWorkbook, {"words": {"row": "x" * 201}}, "words", "too_long"),
    (WriteWorkbook, {"words": {str(n): "" for n in range(401)}}, "words", "invalid_words"),
    (ShowPerson, {"step": "last"}, "step", "invalid_step"),
)


@sweep(("model", "given", "path", "code"), WRONG)
def test_a_wrong_argument_is_named(model, given, path, code):
    with pytest.raises(Invalid) as refused:
        parse(model, {**OF, **given})
    assert (refused.value.path, refused.value.code) == (path, code)


def test_pasted_lines_have_a_bound():
    with pytest.raises(Invalid) as refused:
        parse(CreateMailing, {"organization_id": "org_1", "numbers": "1" * 800_001})
    assert refused.value.code == "too_long"


def test_what_is_not_chosen_is_looked_for():
    assert parse(ReadMailing, OF).chosen == Chosen()
    given = {"encoding": "utf-16", "separator": "\t", "has_header": False, "number_column": 2}
    chosen = Chosen("utf-16", "\t", None, False, 2)
    assert parse(ReadMailing, {**OF, **given}).chosen == chosen
