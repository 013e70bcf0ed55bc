"""How many lines `graphfix run` and `graphfix check` print by default, and with -v.

    python -m benchmarks.printed CORPUS [-o FILE]

CORPUS is a folder of models (`../shared/corpus/open`). Twelve networks of it, of all sorts, are
given to the command line, each for one target. Writes `results/printed.md` and ends with 1 where a
default output has more than 20 lines, or does not say whether the engine was run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import RESULTS

MOST = 20
NETWORKS = (
    ("exported/gpt2__ts__op17.onnx", "trt10.3"),
    ("exported/mamba__dynamo__op18.onnx", "trt8"),
    ("exported/convnext__ts__op17.onnx", "tflite"),
    ("exported/bert__ts__op17.onnx", "qnn"),
    ("exported/whisper_encoder__ts__op14.onnx", "openvino"),
    ("thirdparty/burn-onnx--opset_22.onnx", "trt8"),
    ("thirdparty/burn-onnx--opset_24.onnx", "trt7.0"),
    ("thirdparty/emx-onnx-cgen--micro_kws_m_static_qdq.onnx", "trt8"),
    ("thirdparty/BlazeFaceBarra--face_detection_front_128x128_barracuda.onnx", "opencv"),
    ("thirdparty/onnx2c--lesson14.onnx", "ncnn"),
    ("thirdparty/onnxruntime--3layer_bloom_optimized_training.onnx", "trt8"),
    ("thirdparty/onnxruntime--dummy_t5.onnx", "trt8"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """What was printed of one model."""

    model: str
    target: str
    run: str
    whole: str
    check: str

    @property
    def is_right(self) -> bool:
        """Whether the default outputs are short, and say whether the engine was run."""
        return all(
            len(text.splitlines()) <= MOST and "\n  engine  " in text
            for text in (self.run, self.check)
        )


def rows_of(corpus: Path, work: Path) -> Iterator[Row]:
    """Yield a row for each network."""
    for name, target in NETWORKS:
        out = ["-o", str(work / "out.onnx"), "--force"]
        words = [str(corpus / name), "--target", target]
        yield Row(
            name,
            target,
            printed("run", *words, *out),
            printed("run", *words, *out, "-v"),
            printed("check", *words),
        )


def printed(*words: str) -> str:
    """Return what a command prints on stdout."""
    line = [sys.executable, "-m", "graphfix", *words, "--no-settings"]
    return subprocess.run(line, capture_output=True, text=True, check=False).stdout


def page(rows: Sequence[Row]) -> str:
    """Return the table as Markdown."""
    lines = [
        "# Lines that commands print",
        "",
        "`python -m benchmarks.printed ../shared/corpus/open`: lines that `graphfix run` and",
        f"`check` print of a model by default ({MOST} at most), and those of `run -v`.",
        "",
        "| model | target | verdict | run | run -v | check |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        counts = (len(text.splitlines()) for text in (row.run, row.whole, row.check))
        verdict = row.run.partition(":")[0]
        cells = (f"`{row.model}`", row.target, verdict, *map(str, counts))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.printed")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "printed.md")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphfix-") as work:
        rows = list(rows_of(asked.corpus, Path(work)))
    asked.output.write_text(page(rows), encoding="utf-8")
    for row in rows:
        if not row.is_right:
            print(f"{row.model}: too long, or silent about the engine", file=sys.stderr)
    return int(not all(row.is_right for row in rows))


if __name__ == "__main__":
    sys.exit(main())
