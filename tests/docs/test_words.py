"""Words that docs/words.md asks not to use are nowhere: in names, messages, comments and pages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphfix.authoring.registry import shipped_passes
from graphfix.engines.known_rules import all_rules

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "words.md"
FOLDERS = ("graphfix", "passes", "tests", "benchmarks", "docs")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "action.yml", "mkdocs.yml")
WORD = r"\b"
KINDS = (".py", ".md", ".toml", ".yml")
# What commands measured, and what engines and their documents say, are quoted as they are.
QUOTED = ("benchmarks/results", "/facts/", "messages.toml")


def rows() -> list[tuple[str, str, str]]:
    """Return patterns, what is used instead of them, and why."""
    found: list[tuple[str, str, str]] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 3 and cells[0].startswith("`"):
            patterns = re.findall(r"`([^`]+)`", cells[0].replace(r"\|", "|"))
            found += [(pattern, cells[1], cells[2]) for pattern in patterns]
    return found


# All begin at a word, which is looked for once: fifteen times as fast as each on its own.
BANNED = re.compile(rf"\b(?:{'|'.join(pattern.removeprefix(WORD) for pattern, _, _ in rows())})")


def public_names() -> re.Pattern[str]:
    """Return a pattern of the names of rules and passes that hold such a word: they are public."""
    ids = {rule.id for rule in all_rules()}
    ids |= {known.id for known in shipped_passes()}
    names = {name for name in ids if BANNED.search(name.replace("-", " "))}
    either = sorted((name.replace("-", "[-_]") for name in names), key=len, reverse=True)
    return re.compile("|".join(either) or "(?!)")


PUBLIC = public_names()


def files() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (path for path in (ROOT / folder).rglob("*") if path.suffix in KINDS)
    yield from (ROOT / page for page in PAGES)


def quoted_lines(text: str, *, measured: bool) -> set[int]:
    """Return the lines of a module that hold the text of an engine.

    Those of a benchmark hold words of pages that were measured before, and of their rows.
    """
    tree = ast.parse(text)
    nodes: list[ast.expr] = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg in ("text", "engine_text")
    ]
    if measured:
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in prose)
        nodes += [node for node in texts if isinstance(node.value, str)]
    return {
        line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def as_words(text: str) -> str:
    return text.lower().replace("_", " ")


def is_hit(text: str) -> bool:
    return BANNED.search(as_words(text)) is not None and bool(words_in(text))


def words_in(text: str) -> list[str]:
    """Return each such word, and what the table says of it: ``'stands': write 'is' (why)``."""
    words = as_words(PUBLIC.sub("", text))
    return [
        f"{found.group()!r}: write {instead!r} ({why})"
        for pattern, instead, why in rows()
        for found in re.finditer(pattern, words)
    ]


def hits(path: Path) -> list[str]:
    """Return the place and the word of each hit; that of a file's name is its line 0."""
    name = path.relative_to(ROOT).as_posix()
    if path in (PAGE, Path(__file__)) or any(part in name for part in QUOTED):
        return []
    found = [f"{name}:0: {said}" for said in words_in(name)] if is_hit(name) else []
    text = path.read_text(encoding="utf-8")
    if not is_hit(text):
        return found
    quoted = set[int]()
    if path.suffix == ".py":
        quoted = quoted_lines(text, measured=name.startswith("benchmarks/"))
    return found + [
        f"{name}:{number}: {said}"
        for number, line in enumerate(text.splitlines(), 1)
        if number not in quoted and is_hit(line)
        for said in words_in(line)
    ]


def test_the_words_of_the_table_are_nowhere() -> None:
    found = [hit for path in files() for hit in hits(path)]
    assert not found, "see docs/words.md:\n" + "\n".join(found[:40])


def test_the_table_is_read_and_finds_what_it_names() -> None:
    assert len(rows()) >= 25
    assert all(pattern.startswith(WORD) for pattern, _, _ in rows())
    assert all(instead and why for _, instead, why in rows())
    for sentence in (
        "a node behind it",
        "it is told at its node",
        "what stands in the way",
        "it computes other numbers",
        "what pnnx makes of it",
    ):
        assert BANNED.search(sentence), sentence
    for sentence in ("a stand-in", "next to it", "the Loop bodies", "the symbol stands for a size"):
        assert not BANNED.search(sentence), sentence


def test_a_hit_names_its_place_and_word_and_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.docs.test_words.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("A node.\nIt stands there, its_pool behind it.\n", encoding="utf-8")
    assert hits(page) == [
        "page.md:2: 'behind': write 'after, past (the end), fallback (the engine behind)' "
        "(a graph has no front)",
        "page.md:2: 'stands': write 'is, are' (nodes do not stand)",
    ]


def test_names_are_read_as_words() -> None:
    assert is_hit("def nodes_behind_it() -> None:")
    assert not is_hit("def counted_behind(node: NodeView) -> Answer:")
