"""Measure what is left of networks that hold equal weights, next to onnxsim and OnnxSlim.

    python -m benchmarks.tied FOLDER [--tool onnxsim="python -m onnxsim {in} {out}"] > page.md

Of each file of FOLDER that holds weights of 64 bytes and more twice, a row says the bytes of the
file and of its weights as it is, after `graphfix run --target ort`, without and with `--strip`, and
after each tool: a command in which {in} and {out} are files.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx

from graphfix.ir.model import Model
from graphfix.ir.storage.equal_weights import equal_sets
from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.weights import stored_bytes

_LEAST = 64
_OURS = f"{sys.executable} -m graphfix run {{in}} --target ort -o {{out}} --force"
_LONGEST = 300


def spared(path: Path) -> int:
    """Return the bytes of weights that a file holds more than once."""
    model = Model(onnx.ModelProto.FromString(path.read_bytes()), base_dir=str(path.parent))
    held = [(one, one.weights) for graph in model.graphs() for one in graph.initializers]
    sets = equal_sets((one, weights) for one, weights in held if weights.nbytes >= _LEAST)
    return sum(one.weights.nbytes for equal in sets for one in equal[1:])


def measured(path: Path) -> tuple[int, int] | None:
    """Return the bytes of a file and of its weights; None where there is no file."""
    if not path.is_file():
        return None
    weights = sum(
        stored_bytes(tensor)
        for tensor in walk_tensors(onnx.ModelProto.FromString(path.read_bytes()))
    )
    return path.stat().st_size, weights


def made_by(command: str, path: Path) -> tuple[int, int] | None:
    """Run a tool on a file, and measure what it writes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.onnx"
        words = [word.format_map({"in": path, "out": out}) for word in shlex.split(command)]
        try:
            subprocess.run(words, capture_output=True, timeout=_LONGEST, check=False)
        except subprocess.TimeoutExpired:
            return None
        return measured(out)


def rows(folder: Path, tools: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of the table."""
    names = ["as it is", "graphfix", "graphfix --strip", *tools]
    yield f"| network | {' | '.join(names)} |"
    yield "|---" * (len(names) + 1) + "|"
    for path in sorted(folder.rglob("*.onnx"), key=lambda each: each.stat().st_size):
        if not spared(path):
            continue
        cells = [measured(path), made_by(_OURS, path), made_by(f"{_OURS} --strip", path)]
        cells += [made_by(command, path) for command in tools.values()]
        shown = ["fails" if each is None else f"{each[0]:,} ({each[1]:,})" for each in cells]
        yield f"| {path.stem} | {' | '.join(shown)} |"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=COMMAND")
    given = parser.parse_args()
    tools = dict(text.split("=", 1) for text in given.tool)
    for line in rows(given.folder, tools):
        print(line, flush=True)


if __name__ == "__main__":
    main()
