"""Give decoders caches of a fixed length, decode with them, and run the results for targets.

    python -m benchmarks.static_caches FILE... [--length 64] [--target trt10 ...] > page.md

A row for each file: what the proof of `graphfix edit --static-cache` says (which decodes 32 tokens
greedily with the file and with the result), the largest difference of a score, and how `graphfix
run` on the result ends for each target: 0, 0 * where the engine itself did not run it, or with what
is left. Of a decoder with an encoder,
`encoder_sequence_length` is fixed to 16 first.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from graphfix import edits, save
from graphfix.errors import GraphfixError
from graphfix.ir.model import Model
from graphfix.pipeline.model_files import load

_TARGETS = ("trt10", "openvino", "qnn", "rknn")
_ENCODED, _ENCODED_SIZE = "encoder_sequence_length", 16
_LONGEST = 180


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
    return f"{done.returncode}: {why[:60]}"


def rows(files: Sequence[Path], length: int, targets: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"| decoder | 32 tokens | {' | '.join(targets)} |"
    yield "|---" * (len(targets) + 2) + "|"
    for file in files:
        model, said = edited(file, length)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "static.onnx"
            if model is not None:
                save(model, path)
            cells = [ended(path, target) if model is not None else "" for target in targets]
        yield f"| {file.parent.name} {file.stem} | {said} | {' | '.join(cells)} |"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--target", action="append")
    given = parser.parse_args()
    for line in rows(given.files, given.length, given.target or _TARGETS):
        print(line, flush=True)


if __name__ == "__main__":
    main()
