"""TOML files of graphfix are kept in the user's cache, and read again when they change."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from graphfix.errors import UsageError
from graphfix.ir.storage import toml_files
from graphfix.ir.storage.toml_files import read_shipped_toml

TEXT = """
[rule]
a.0.rank = "5.."
text = 'says "no" with \\ in it'
lists = ["é", "x"]
yes = true
number = 1.5
"""


def written(path: Path, text: str, time: int) -> Path:
    path.write_text(text, encoding="utf-8")
    os.utime(path, (time, time))
    return path


def test_what_it_holds_is_read_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setattr(toml_files, "TABLES", tmp_path / "cache" / "tables")
    path = written(tmp_path / "rules.toml", TEXT, 1_000)
    assert read_shipped_toml(path) == tomllib.loads(TEXT)
    assert [each.name for each in tmp_path.iterdir() if each != path] == ["cache"]
    (kept,) = (tmp_path / "cache" / "tables").iterdir()

    def parse(text: str) -> dict[str, object]:
        raise AssertionError(text)

    with monkeypatch.context() as patched:
        patched.setattr(tomllib, "loads", parse)
        assert read_shipped_toml(path)["rule"]["yes"] is True
    kept.write_bytes(kept.read_bytes()[:-9])  # half of it
    assert read_shipped_toml(path) == tomllib.loads(TEXT)


def test_nothing_is_kept_where_it_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    (tmp_path / "cache").write_text("no folder")
    monkeypatch.setattr(toml_files, "TABLES", tmp_path / "cache" / "tables")
    path = written(tmp_path / "rules.toml", "when = 2020-01-01", 1_000)
    assert read_shipped_toml(path) == tomllib.loads("when = 2020-01-01")
    monkeypatch.setattr(toml_files, "TABLES", tmp_path / "other")
    assert read_shipped_toml(path) == tomllib.loads("when = 2020-01-01")
    assert not list(tmp_path.rglob("rules.toml-*"))


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path / "rules.toml", "a = 1", 1_000)
    assert read_shipped_toml(path) == {"a": 1}
    assert read_shipped_toml(written(path, "a = 2", 2_000)) == {"a": 2}
    assert read_shipped_toml(written(path, "a = 12", 2_000)) == {"a": 12}


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_shipped_toml(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="is no TOML"):
        read_shipped_toml(written(tmp_path / "bad.toml", "a = ", 1_000))
    (tmp_path / "bytes.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(UsageError, match="cannot be read"):
        read_shipped_toml(tmp_path / "bytes.toml")
