"""Which models are meant by files, folders, patterns, lists and URLs."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphfix.batch.sources import Source, sources
from graphfix.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with models of which two are called alike, and go there."""
    for name in ("a.onnx", "deep/a.onnx", "deep/er/b.onnx", "note.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_is_searched_to_its_depth_and_names_tell_where(folder: Path) -> None:
    found = sources([str(folder)])
    assert [source.name for source in found] == ["a", "deep/a", "deep/er/b"]
    assert [Path(source.place) for source in found] == sorted(folder.rglob("*.onnx"))


def test_each_model_is_meant_once_and_no_two_have_one_name(folder: Path) -> None:
    assert sources(["a.onnx", "*.onnx", "deep/a.onnx"]) == (
        Source("a.onnx", "a"),
        Source("deep/a.onnx", "a-2"),
    )


def test_a_list_has_a_place_on_each_line(folder: Path) -> None:
    (folder / "list.txt").write_text("# two\na.onnx\n\ndeep/**/*.onnx\n", encoding="utf-8")
    assert [source.place for source in sources(["@list.txt"])] == [
        "a.onnx",
        "deep/a.onnx",
        "deep/er/b.onnx",
    ]


@pytest.mark.usefixtures("folder")
def test_results_are_no_models_of_a_run() -> None:
    found = sources(["."], Path("deep"))
    assert [source.name for source in found] == ["a"]
    assert [s.name for s in sources(["deep/a.onnx"], Path("deep"))] == ["a"]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("gone.onnx", "there is no such file, folder or match"),
        ("x*.onnx", "there is no such file, folder or match"),
        ("@gone.txt", "the list cannot be read"),
        ("empty", "the folder holds no .onnx file"),
        ("noone://x/a.onnx", "the URL cannot be opened"),
    ],
)
def test_what_is_not_there_is_said(folder: Path, place: str, said: str) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(UsageError, match=said):
        sources([place])


def test_a_url_is_opened_by_fsspec(folder: Path) -> None:
    pytest.importorskip("fsspec", reason='fsspec is not here: pip install "graphfix[url]"')
    found = sources([f"file://{folder}/deep"])
    assert [source.name for source in found] == ["a", "b"]
    assert all(source.is_url for source in found)
    assert sources([f"file://{folder}/a.onnx"])[0].name == "a"
