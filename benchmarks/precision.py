"""float16 of networks: `graphfix edit --to float16` next to onnxconverter-common's.

    python -m benchmarks.precision CORPUS [--converter PYTHON] [-o FILE]

CORPUS is a folder of models (`../shared/corpus/open`), PYTHON an interpreter that has
onnxconverter-common (1.16.0 was measured). Both convert the same files with inputs and outputs as
they are; both results run in onnxruntime on the same made inputs, and each output is compared with
that of the file by the largest number in it. Writes `results/float16.md`.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from onnx import ModelProto

from benchmarks import RESULTS
from graphfix import edits
from graphfix.edits.options.precision import TOLERANCES
from graphfix.edits.precision.loss import Feeds, difference, feeds_of, ran
from graphfix.errors import GraphfixError
from graphfix.pipeline.model_files import load
from graphfix.report import Verification

NETWORKS = (
    "exported/resnet__dynamo__op18.onnx",
    "exported/mobilenetv2__ts__op11.onnx",
    "exported/bert__ts__op17.onnx",
    "exported/gpt2__ts__op17.onnx",
    "exported/swin__ts__op17.onnx",
    "exported/detr__ts__op17.onnx",
)
CONVERT = """
import sys
import onnx
from onnxconverter_common import float16
model = onnx.load(sys.argv[1])
onnx.save(float16.convert_float_to_float16(model, keep_io_types=True), sys.argv[2])
"""


@dataclass(frozen=True)
class Row:
    """One network: what of it is float16, and how far its outputs move."""

    network: str
    rounded: str
    ours: str
    theirs: str
    half: str
    kept: str


def main() -> int:
    """Measure and write the table; 1 where one of ours does not stay within the tolerance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--converter", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "float16.md")
    asked = parser.parse_args()
    rows = [_row(asked.corpus / name, asked.converter) for name in NETWORKS]
    asked.output.write_text(_table(rows), encoding="utf-8")
    return int(any("no" in row.ours for row in rows))


def _row(path: Path, converter: Path | None) -> Row:
    model = load(path)
    before = model.to_proto()
    feeds = feeds_of(before, model.base_dir, None)
    done = edits.to(model, "float16")
    kept = "; ".join(text.removeprefix("kept, ") for text in done.steps[0].said[1:])
    ours = _said(_moved(before, done.model.to_proto(), model.base_dir, feeds))
    theirs = "not measured"
    if converter is not None:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "half.onnx"
            command = [str(converter), "-c", CONVERT, str(path), str(out)]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            if ran.returncode:
                theirs = f"does not convert: {(ran.stderr.strip().splitlines() or [''])[-1][:80]}"
            else:
                other = ModelProto.FromString(out.read_bytes())
                theirs = _said(_moved(before, other, model.base_dir, feeds))
    rounded = _said(done.proofs[0].verification)
    return Row(path.stem, rounded, ours, theirs, done.steps[0].said[0].partition(" nodes")[0], kept)


def _moved(
    before: ModelProto, after: ModelProto, base_dir: str, feeds: Feeds
) -> Verification | str:
    try:
        given = ran(after, base_dir, feeds)
    except GraphfixError as error:
        return f"does not run: {error.message[:80]}"
    return difference(ran(before, base_dir, feeds), given, TOLERANCES["float16"])


def _said(found: Verification | str) -> str:
    if isinstance(found, str):
        return found
    most = max((row.max_rel for row in found.outputs if row.max_rel is not None), default=0.0)
    return f"{most:.1e}" if found.status == "equal" else f"{most:.1e}, no: {found.reason}"


def _table(rows: list[Row]) -> str:
    lines = [
        "# float16 of networks",
        "",
        "`python -m benchmarks.precision ../shared/corpus/open --converter PYTHON` on CPU: how far",
        "the outputs move, of the largest number in them (the worst of each network), on two made",
        f"inputs in onnxruntime. `--to float16` promises {TOLERANCES['float16']:g} where each node",
        "rounds; onnxruntime's CPU leaves that out between many of them.",
        "onnxconverter-common 1.16.0 with `keep_io_types=True` and nothing else.",
        "",
        "| network | graphfix, each node rounds | graphfix | onnxconverter-common | in float16 |",
        "|---|---|---|---|---|",
        *(
            f"| {row.network} | {row.rounded} | {row.ours} | {row.theirs} | {row.half} |"
            for row in rows
        ),
        "",
        "Nodes that stay in float32, and why:",
        "",
        *(f"- {row.network}: {_shorter(row.kept) or 'none'}" for row in rows),
        "",
    ]
    return "\n".join(lines)


def _shorter(text: str, most: int = 1500) -> str:
    return text if len(text) <= most else f"{text[:most]} ..."


if __name__ == "__main__":
    raise SystemExit(main())
