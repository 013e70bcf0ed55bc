"""The examples of CONTRIBUTING.md work: they are put into a copy of the tree as a newcomer would.

A block whose first line names a file is that file, whole; where the file is in the tree, the block
is a part of it, or, for the list of commands, a line that goes into it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphfix.authoring.pass_docs import HEADINGS, page_of
from graphfix.authoring.registry import shipped_passes
from graphfix.rendering.pass_pages import sections

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = dict(
    re.findall(r"^```(?:python|toml|text)\n# (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)
COMMANDS = "graphfix/cli/program.py"
QUIET = ("-p", "no:cacheprovider")
ROWS = ("tests/engines/test_rows.py", "tests/engines/test_row_words.py")
PROFILES = "tests/engines/test_profiles.py"
EDITS = ("tests/edits/small_models.py", "graphfix/rendering/schemas/recipe.schema.json")
SUPPORT = (
    *EDITS,
    "tests/engines/cases.py",
    "tests/engines/conftest.py",
    "tests/text_items.py",
    "tests/opset/conversion.py",
    "pyproject.toml",
    PROFILES,
    *ROWS,
)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the tree with the examples in it."""
    made = tmp_path_factory.mktemp("clone")
    ignored = shutil.ignore_patterns("facts")
    for name in ("graphfix", "passes"):  # compiled files too: they are valid in a copy
        shutil.copytree(ROOT / name, made / name, symlinks=True, ignore=ignored)
    for name in SUPPORT:
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, made / name)
    (made / "graphfix/engines/acme").mkdir()
    (made / "graphfix/engines/acme/__init__.py").write_text("", encoding="utf-8")
    for name, text in BLOCKS.items():
        if not (ROOT / name).exists():
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_text(text, encoding="utf-8")
    program = (made / COMMANDS).read_text(encoding="utf-8")
    begin = "LINES = {\n"
    assert program.count(begin) == 1
    written = program.replace(begin, begin + BLOCKS[COMMANDS])
    (made / COMMANDS).write_text(written, encoding="utf-8")
    listing = [sys.executable, "-m", "graphfix.edits.listing"]
    subprocess.run(listing, cwd=made, env={**os.environ, "PYTHONPATH": str(made)}, check=True)
    return made


def test_there_is_an_example_of_each_recipe() -> None:
    folders = {name.rpartition("/")[0] for name in BLOCKS}
    assert folders >= {
        "passes/activations",
        "graphfix/engines/tensorrt/rules",
        "graphfix/engines/acme",
        "graphfix/edits/options",
        "graphfix/opset/adapters",
        "graphfix/cli",
    }


def test_what_is_quoted_is_in_the_tree() -> None:
    quoted = [name for name in BLOCKS if (ROOT / name).exists() and name != COMMANDS]
    assert quoted == ["graphfix/opset/adapters/opset_18.py"]
    for name in quoted:
        assert BLOCKS[name] in (ROOT / name).read_text(encoding="utf-8")


def test_the_examples_of_passes_have_the_fixed_headings() -> None:
    texts = [text for name, text in BLOCKS.items() if name.startswith("passes/")]
    assert len(texts) == 2
    for text in texts:
        assert list(sections(page_of(text.split('"""')[1]))) == ["", *HEADINGS]
    shipped = {known.id for known in shipped_passes()}
    assert not {"softsign-to-arithmetic", "gate-to-plugin"} & shipped


def test_the_tests_of_the_examples_pass(tree: Path) -> None:
    tests = sorted(name for name in BLOCKS if name.startswith("tests/"))
    assert len(tests) == 7
    schema = f"{PROFILES}::test_every_profile_follows_the_schema"
    asked_of_rows = "acme or not rows and not row_words"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", asked_of_rows, *QUIET, *tests, *ROWS, schema],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^20 passed", done.stdout, re.MULTILINE), done.stdout
