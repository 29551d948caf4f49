"""``make test CHANGED=1`` runs what a change reaches in two steps and what lies beside it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from proofs import changed as tool
from proofs.changed import (
    ALL,
    BESIDE,
    CHANGED,
    IMPORTS,
    IN_TWO,
    NAMES_IT,
    PAGE,
    READS_ALL,
    ROOT,
    TEXT,
    chosen,
    told,
)

LEAF = "src/risala/sms/leaf.py"
FILES = {
    LEAF: "LEAF = 1\n",
    "src/risala/sms/__init__.py": "",
    "src/risala/sms/hub.py": "HUB = 1\n",
    "src/risala/sms/near.py": "from risala.sms.leaf import LEAF\nfrom risala.sms import hub\n",
    "src/risala/http/far.py": "import risala.sms.near\n",
    "src/risala/http/pages/one.html": "<p>",
    "src/risala/http/hub1.py": "from risala.sms.hub import HUB\n",
    "src/risala/http/hub2.py": "from risala.sms.hub import HUB\n",
    "src/risala/engine/features/lists/stored/rows.py": "",
    "tests/conftest.py": "",
    "tests/support/helper.py": "from risala.sms.near import LEAF\n",
    "tests/app/conftest.py": "import risala.sms.leaf\n",
    "tests/app/test_fixture.py": "",
    "tests/app/test_helped.py": "import helper\n",
    "tests/cli/test_step.py": "from risala.sms.leaf import LEAF\n",
    "tests/cli/test_two.py": "from risala.sms.near import LEAF\n",
    "tests/cli/test_three.py": "import risala.http.far\n",
    "tests/cli/test_much_used.py": "from risala.sms import hub\n",
    "tests/cli/test_leaf_shown.py": "",
    "tests/docs/test_links.py": "",
    "tests/docs/test_nouns.py": "from sources import trees\n",
    "tests/engine/features/lists/test_lists.py": "",
    "tests/engine/features/lists/rules/test_sorting.py": "",
    "tests/http/pages/test_forms.py": "",
    "tests/http/web/test_assets.py": "",
    "tests/lab/test_named.py": 'SLOW = "sms/leaf.py"\n',
    "tests/lab/test_module_named.py": 'SLOW = "risala.sms.leaf:LEAF"\n',
    "tests/lab/test_longer_name.py": 'SLOW = "risala.sms.leaf.more"\n',
    "tests/sms/test_beside.py": "",
    "tests/sms/deep/test_deep.py": "",
}
CACHES = (tool._tests, tool._readers, tool._python, tool._text, tool._importers)


@pytest.fixture
def a_tree(tmp_path, monkeypatch):
    """A house of a few rooms, as the real one takes seconds. More than three importers: a hub."""
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(tool, "HUB_IMPORTERS", 3)
    for each in CACHES:
        each.cache_clear()
    yield
    for each in CACHES:
        each.cache_clear()


def test_two_steps_and_what_lies_beside(a_tree):
    assert chosen([LEAF]).why == {
        "tests/cli/test_step.py": IMPORTS,
        "tests/app/test_fixture.py": IN_TWO,
        "tests/app/test_helped.py": IN_TWO,
        "tests/cli/test_two.py": IN_TWO,
        "tests/cli/test_leaf_shown.py": BESIDE,
        "tests/sms/test_beside.py": BESIDE,
        "tests/lab/test_named.py": NAMES_IT,
        "tests/lab/test_module_named.py": NAMES_IT,
        "tests/docs/test_nouns.py": READS_ALL,
    }


def test_no_step_goes_through_a_hub(a_tree):
    choice = chosen(["src/risala/sms/hub.py"])
    assert "tests/cli/test_much_used.py" not in choice.why
    assert choice.why["tests/sms/test_beside.py"] == BESIDE
    assert choice.hubs == {"src/risala/sms/hub.py": 4}


@pytest.mark.parametrize(
    ("path", "reached"),
    [
        (
            "src/risala/engine/features/lists/stored/rows.py",
            {
                "tests/engine/features/lists/test_lists.py": BESIDE,
                "tests/engine/features/lists/rules/test_sorting.py": BESIDE,
                "tests/docs/test_nouns.py": READS_ALL,
            },
        ),
        (
            "src/risala/http/pages/one.html",
            {
                "tests/http/pages/test_forms.py": BESIDE,
                "tests/docs/test_nouns.py": READS_ALL,
                "tests/http/web/test_assets.py": PAGE,
            },
        ),
        ("tests/sms/test_beside.py", {"tests/sms/test_beside.py": CHANGED}),
        ("tests/support/helper.py", {"tests/app/test_helped.py": IMPORTS}),
        (
            "tests/app/conftest.py",
            {f"tests/app/test_{n}.py": IMPORTS for n in ("fixture", "helped")},
        ),
        (
            "docs/how-to/upgrade.md",
            {f"tests/docs/test_{name}.py": TEXT for name in ("links", "nouns")},
        ),
        ("deploy/nowhere.sh", {}),
        ("tests/sms/test_gone.py", {}),
    ],
)
def test_what_else_is_reached(a_tree, path, reached):
    assert chosen([path]).why == reached


def test_what_concerns_everything(a_tree):
    choice = chosen(["pyproject.toml", "docs/how-to/upgrade.md"])
    assert choice.why == {path: ALL for path in FILES if "/test_" in path}


def test_it_says_how_many_and_why(a_tree):
    tests = sum("/test_" in path for path in FILES)
    assert [*told(chosen([LEAF]), tests)] == [
        f"9 of {tests} test files: 1 import what was changed, 3 import a file that imports it, "
        "2 lie beside it or bear its name, 2 name it, or miss its guards, 1 read the whole source.",
        "Run all of `make test` before the change lands.",
    ]
    assert [*told(chosen(["src/risala/sms/hub.py"]), tests)][1] == (
        "Not followed: src/risala/sms/hub.py (imported by 4 files)."
    )


@pytest.mark.long
def test_a_word_in_a_leaf_does_not_run_everything():
    leaves = [*(ROOT / "src/risala/sms").glob("*.py"), *(ROOT / "src/risala").glob("cli/**/*.py")]
    for leaf in leaves:
        found = chosen([str(leaf.relative_to(ROOT))]).why
        assert 0 < len(found) < len(tool._tests()) / 6, leaf


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "reached", "reason"),
    [
        ("drivers/smpp/habits.py", "drivers/smpp/test_habits.py", IMPORTS),
        ("engine/operations/webhooks.py", "cli/test_webhooks.py", BESIDE),
        ("engine/journal/store/opening.py", "engine/journal/store/test_lock.py", IN_TWO),
        ("http/dashboard/webhooks.py", "http/dashboard/test_webhooks.py", IMPORTS),
    ],
)
def test_what_is_reached_here(path, reached, reason):
    assert chosen([f"src/risala/{path}"]).why[f"tests/{reached}"] == reason


def test_what_differs_is_told_committed_or_not(tmp_path, monkeypatch):
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(("git", *who, *words), cwd=tmp_path, check=True, capture_output=True)

    git("init", "-b", "main")
    for name in ("same", "other"):
        (tmp_path / name).write_text("1")
    git("add", ".")
    git("commit", "-m", "first")
    git("checkout", "-b", "work")
    (tmp_path / "committed").write_text("1")
    git("add", ".")
    git("commit", "-m", "second")
    (tmp_path / "other").write_text("2")
    (tmp_path / "new").write_text("1")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    assert tool.changed("main") == {"committed", "other", "new"}


def test_make_runs_only_these():
    said = subprocess.run(
        ("make", "-n", "-o", ".venv/.stamp-dev", "test", "CHANGED=1"),
        cwd=Path(ROOT),
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "-m proofs.changed" in said
    assert "No test sees what was changed." in said
