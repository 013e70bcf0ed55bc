"""The table of static caches: what is counted, and what is not said of the unseen half."""

from __future__ import annotations

from pathlib import Path

from benchmarks.static_caches import Row, decoders, page, row_of
from tests.edits import small_decoders as small

SAME = "32 of 32 tokens, 1e-07"
ROWS = [
    Row("optimum", "llama", "seen", {"64": SAME, "1024": "refused: a | b"}, {"rknn": "0"}),
    Row("optimum", "gpt2", "seen", {"64": SAME, "1024": SAME}, {"rknn": "1: reject  1 x Mul"}),
    Row("optimum", "opt", "unseen", {"64": "refused: why", "1024": SAME}, {"rknn": "1: why"}),
    Row("genai", "phi", "unseen", {"64": SAME, "1024": SAME}, {}),
]


def test_what_the_tables_say() -> None:
    assert list(page(ROWS)) == [
        "| exporter | half | files | same at 64 | same at 1024 | rknn |",
        "|---|---|---|---|---|---|",
        "| optimum | seen | 2 | 2 of 2 | 1 of 2 | 1 of 2 |",
        "| optimum | unseen | 1 | 0 of 1 | 1 of 1 | 0 of 1 |",
        "| genai | unseen | 1 | 1 of 1 | 1 of 1 | 0 of 0 |",
        "",
        "| decoder | 64 | 1024 | rknn |",
        "|---|---|---|---|",
        f"| optimum llama | {SAME} | refused: a / b | 0 |",
        f"| optimum gpt2 | {SAME} | {SAME} | 1: reject  1 x Mul |",
        f"| optimum opt | refused | {SAME} | 1 |",
        f"| genai phi | {SAME} | {SAME} |  |",
    ]


def test_a_row_of_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "hand"
    folder.mkdir()
    for name in ("gpt_oss", "gpt_oss_merged"):
        model = small.decoder(small.PLAIN)
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
    (path,) = decoders([folder])
    row = row_of(path, (48, 72), ())
    assert (row.exporter, row.name, row.side, row.ends) == ("hand", "gpt_oss", "seen", {})
    assert row.said["48"].startswith("32 of 32 tokens, ")
    refused = "refused: Gather 'place' has rows for 64 places, fewer than 72"
    assert row.said["72"].startswith(refused)
