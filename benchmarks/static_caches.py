"""Give decoders caches of a fixed length, decode with them, and run the results for targets.

    python -m benchmarks.static_caches FOLDER... [--rows ROWS.jsonl] [--length 64 --length 1024]
        [--target trt10 ...] [--share P] [--seconds S] > page.md

Takes each decoder with a cache that is in a folder EXPORTER (as `benchmarks.pipelines.generate`
makes them), but for merged ones, which are first parted. A row says what the proof of `graphfix
edit --static-cache` says for each length (it decodes 32 tokens greedily with the file and with the
result), and how `graphfix run` on the result of the first length ends for each target: 0, 0 * where
the engine itself did not run it, or with what is left. P is the share of the files that are run for
targets, the same ones in each run. Of a decoder with an encoder, `encoder_sequence_length` is fixed
to 16 first. ROWS takes a line for each file that is done, and a further run does those that lack a
target; after S seconds nothing is begun, and no page is written (3). Of the unseen half no reason
is shown.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.pipelines.catalogue import drawn, half
from graphfix import edits, save
from graphfix.errors import GraphfixError
from graphfix.ir.model import Model
from graphfix.pipeline.model_files import load

_TARGETS = ("trt10", "openvino", "qnn", "rknn")
_LENGTHS = (64, 1024)
_ENCODED, _ENCODED_SIZE = "encoder_sequence_length", 16
_LONGEST = 180
_UNFINISHED = 3
_SAME = "32 of 32 tokens"
# Of the unseen half by the hash, and looked into since.
_LOOKED_INTO = frozenset({"gpt_oss"})


class Row(Struct, frozen=True):
    """What became of a decoder.

    Attributes:
        exporter: Who wrote it.
        name: What it is.
        side: `seen` or `unseen`.
        said: By length, what the proof says, or why there is none.
        ends: By target, how a run of the result ends.
    """

    exporter: str
    name: str
    side: str
    said: dict[str, str]
    ends: dict[str, str]


def decoders(folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the files that have a cache as an input, by their names."""
    for folder in folders:
        for path in sorted(folder.glob("*.onnx")):
            inputs = load(path).to_proto().graph.input
            if not path.stem.endswith("_merged") and any("past_key" in i.name for i in inputs):
                yield path


def edited(path: Path, length: int) -> tuple[Model | None, str]:
    """Return the static form, and what its proof says, or why there is none."""
    try:
        model = load(path)
        kinds = [info.type.tensor_type for info in model.to_proto().graph.input]
        if any(dim.dim_param == _ENCODED for kind in kinds for dim in kind.shape.dim):
            model = edits.dim(model, _ENCODED, _ENCODED_SIZE, verify="off").model
        found = edits.static_cache(model, length)
    except GraphfixError as error:
        return None, f"refused: {error.message}"
    (proof,) = found.proofs
    if not proof.equal:
        return found.model, f"{proof.verification.status}: {proof.verification.reason}"
    (scores,) = proof.verification.outputs
    said = proof.verification.method.removeprefix("onnxruntime, ")
    return found.model, f"{said.removesuffix(' are the same')}, {scores.max_abs or 0:.1g}"


def ended(path: Path, target: str) -> str:
    """Return how a run ends, and of what is left the first line."""
    words = ["run", str(path), "--target", target, "-o", str(path.with_suffix(".out")), "--force"]
    command = [sys.executable, "-m", "graphfix", *words]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        return f"over {_LONGEST} s"
    if not done.returncode:
        return "0" if " itself ran the result" in done.stdout or target.startswith("trt") else "0 *"
    lines = done.stdout.splitlines()
    left = [at for at, line in enumerate(lines) if line.startswith("Problems left")]
    why = lines[left[0] + 1].strip() if left else next(iter(lines), "")
    return f"{done.returncode}: {' '.join(why.split())[:60]}"


def row_of(path: Path, lengths: Sequence[int], targets: Sequence[str]) -> Row:
    """Edit a decoder, and run the result of the first length."""
    said: dict[str, str] = {}
    ends: dict[str, str] = {}
    architecture = path.stem.partition("+")[0]
    side = "seen" if architecture in _LOOKED_INTO else half(architecture)
    for length in lengths:
        model, said[str(length)] = edited(path, length)
        if model is None or length != lengths[0]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "static.onnx"
            save(model, out)
            ends = {target: ended(out, target) for target in targets}
    return Row(path.parent.name, path.stem, side, said, ends)


def page(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of both tables."""
    lengths = list(dict.fromkeys(length for row in rows for length in row.said))
    targets = list(dict.fromkeys(target for row in rows for target in row.ends))
    yield f"| exporter | half | files | {' | '.join(f'same at {x}' for x in lengths)} | " + (
        " | ".join(targets) + " |"
    )
    yield "|---" * (3 + len(lengths) + len(targets)) + "|"
    for exporter, side in dict.fromkeys((row.exporter, row.side) for row in rows):
        some = [row for row in rows if (row.exporter, row.side) == (exporter, side)]
        same = [sum(row.said.get(x, "").startswith(_SAME) for row in some) for x in lengths]
        cells = [f"{number} of {len(some)}" for number in same]
        for target in targets:
            run = [row.ends[target] for row in some if target in row.ends]
            cells.append(f"{sum(end[0] == '0' for end in run)} of {len(run)}")
        yield f"| {exporter} | {side} | {len(some)} | {' | '.join(cells)} |"
    yield ""
    yield f"| decoder | {' | '.join(lengths)} | {' | '.join(targets)} |"
    yield "|---" * (1 + len(lengths) + len(targets)) + "|"
    for row in rows:
        cells = [row.said.get(x, "") for x in lengths] + [row.ends.get(t, "") for t in targets]
        if row.side == "unseen":
            cells = [x if x.startswith((_SAME, "0")) else x.partition(":")[0] for x in cells]
        yield f"| {row.exporter} {row.name} | {' | '.join(x.replace('|', '/') for x in cells)} |"


def main() -> int:
    """Run from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--rows", type=Path, default=Path("static-caches.jsonl"))
    parser.add_argument("--length", type=int, action="append")
    parser.add_argument("--target", action="append")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    kept: Path = given.rows
    lines = kept.read_bytes().splitlines() if kept.exists() else []
    rows = {(r.exporter, r.name): r for r in (msgspec.json.decode(x, type=Row) for x in lines)}
    for path in decoders(given.folders):
        who = (path.parent.name, path.stem)
        is_run = drawn("/".join(who)) < given.share
        targets: Sequence[str] = (given.target or _TARGETS) if is_run else ()
        if who in rows and set(targets) <= set(rows[who].ends):
            continue
        if time.monotonic() > until:
            return _UNFINISHED
        rows[who] = row_of(path, given.length or _LENGTHS, targets)
        with kept.open("ab") as stream:
            stream.write(msgspec.json.encode(rows[who]) + b"\n")
        print(*who, rows[who].said, rows[who].ends, file=sys.stderr, flush=True)
    print("\n".join(page([rows[who] for who in sorted(rows)])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
