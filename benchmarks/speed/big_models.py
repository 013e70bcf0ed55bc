"""Repair a model of 3.5 GB where 16 GB can be addressed, and compare the whole; write a table.

    python -m benchmarks.speed.big_models [-o benchmarks/results/big-models.md] [--layers 16]

The model is a stack of transformer layers with random float32 weights in a data file, and has a
Gelu in each layer, which TensorRT 8 lacks. Each process may address 16 GB (RLIMIT_AS). The memory
of the process tree is sampled from /proc: what processes own, and that with what they have
mapped of files, a page that several of them hold being counted once (Pss). Wrong results are the
repaired model with two matrices of one layer exchanged, and with one scale of 2,048 off by 5%.
Needs 4 GB of disk next to the output of --folder, and Linux. Ends with 1 when a row is not as it
should be.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, TensorProto, helper

from benchmarks import RESULTS, ROOT

LIMIT = 16 * 10**9
_WIDTH, _INNER, _WORDS = 2048, 8192, 32000
_PAUSE = 0.02


@dataclass(frozen=True)
class Row:
    """What was done, on how many bytes, what it took (bytes, seconds) and what it said."""

    what: str
    size: int
    own: int
    resident: int
    seconds: float
    said: str
    holds: bool


class Weights:
    """Writes random weights piece by piece to one data file."""

    def __init__(self, path: Path, graph: GraphProto) -> None:
        """Begin a file for the initializers of a graph."""
        self._stream = path.open("wb")
        self._name = path.name
        self._graph = graph
        self._rng = np.random.default_rng(1)

    def add(self, name: str, *shape: int, around: float = 0.0) -> str:
        """Add a float32 tensor: a matrix whose products keep their size, or numbers around one."""
        numbers = self._rng.standard_normal(shape, dtype=np.float32)
        if len(shape) == 1:
            numbers = (around + 0.1 * numbers).astype(np.float32)
        else:
            numbers /= np.float32(np.sqrt(shape[0]))
        tensor = self._graph.initializer.add(name=name, dims=shape, data_type=TensorProto.FLOAT)
        tensor.data_location = TensorProto.EXTERNAL
        offset, length = self._stream.tell(), numbers.nbytes
        for key, value in (("location", self._name), ("offset", offset), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        self._stream.write(numbers.data)
        return name

    def close(self) -> int:
        """End the file; return its bytes."""
        size = self._stream.tell()
        self._stream.close()
        return size


def build(folder: Path, layers: int) -> tuple[Path, int]:
    """Write the model; return its file and the bytes of its weights."""
    graph = GraphProto(name="stack")
    weights = Weights(folder / "stack.onnx.data", graph)
    words = helper.make_tensor_value_info("words", TensorProto.INT64, ["batch", "length"])
    graph.input.append(words)

    def node(op: str, inputs: Sequence[str], name: str, **attributes: Any) -> str:
        graph.node.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def norm(x: str, name: str) -> str:
        scale = weights.add(f"{name}.scale", _WIDTH, around=1.0)
        bias = weights.add(f"{name}.bias", _WIDTH)
        return node("LayerNormalization", [x, scale, bias], name)

    def product(x: str, name: str, rows: int, columns: int) -> str:
        return node("MatMul", [x, weights.add(f"{name}.weight", rows, columns)], name)

    x = node("Gather", [weights.add("table", _WORDS, _WIDTH), "words"], "start")
    for n in range(layers):
        y = norm(x, f"{n}.norm")
        q, k, v = (product(y, f"{n}.{name}", _WIDTH, _WIDTH) for name in "qkv")
        turned = node("Transpose", [k], f"{n}.turned", perm=[0, 2, 1])
        scores = node("Softmax", [node("MatMul", [q, turned], f"{n}.scores")], f"{n}.shares")
        mixed = node("MatMul", [scores, v], f"{n}.mixed")
        x = node("Add", [x, product(mixed, f"{n}.out", _WIDTH, _WIDTH)], f"{n}.attended")
        wide = product(norm(x, f"{n}.second"), f"{n}.up", _WIDTH, _INNER)
        biased = node("Add", [wide, weights.add(f"{n}.shift", _INNER)], f"{n}.biased")
        down = product(node("Gelu", [biased], f"{n}.gelu"), f"{n}.down", _INNER, _WIDTH)
        x = node("Add", [x, down], f"{n}.end")
    last = norm(x, "features")
    graph.output.append(
        helper.make_tensor_value_info(last, TensorProto.FLOAT, ["batch", "length", _WIDTH])
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    path = folder / "stack.onnx"
    path.write_bytes(model.SerializeToString())
    return path, weights.close()


def exchange(model: ModelProto, layers: int) -> None:
    """Exchange the matrices that make queries and values in the middle layer."""
    names = {f"{layers // 2}.q.weight", f"{layers // 2}.v.weight"}
    one, two = (tensor for tensor in model.graph.initializer if tensor.name in names)
    one.name, two.name = two.name, one.name


def scale_one(model: ModelProto, layers: int) -> None:
    """Change one number of the last normalisation by 5%."""
    tensor = next(t for t in model.graph.initializer if t.name == "features.scale")
    entries = {entry.key: int(entry.value) for entry in tensor.external_data[1:]}
    path = Path(tensor.external_data[0].value)
    numbers = np.fromfile(path, np.float32, _WIDTH, offset=entries["offset"])
    numbers[7] *= 1.05
    tensor.CopyFrom(onnx.numpy_helper.from_array(numbers, tensor.name))
    del layers


def watched(command: Sequence[str], folder: Path) -> tuple[str, int, int, float]:
    """Run a command; return what it printed, the tree's peak own and resident bytes, seconds."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))

    begun = time.monotonic()
    own = resident = 0
    with (folder / "said.txt").open("wb") as out:
        started = subprocess.Popen(
            command, cwd=folder, stdout=out, stderr=subprocess.DEVNULL, preexec_fn=limit
        )
        while started.poll() is None:
            held = [memory_of(pid) for pid in tree_of(started.pid)]
            own = max(own, sum(anonymous for anonymous, _ in held))
            resident = max(resident, sum(everything for _, everything in held))
            time.sleep(_PAUSE)
    seconds = time.monotonic() - begun
    return (folder / "said.txt").read_text(encoding="utf-8"), own, resident, seconds


def tree_of(root: int) -> list[int]:
    """Return a process and all that it started, and they."""
    found = [root]
    for pid in found:
        try:
            listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
        except OSError:
            continue
        found += [int(word) for word in listed.split()]
    return found


def memory_of(pid: int) -> tuple[int, int]:
    """Return the bytes that a process owns, and those with what it has mapped of files.

    A page that several processes hold counts in parts (Pss), so that a sum counts it once.
    """
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0, 0
    found = {line.split(":")[0]: line.split()[1] for line in lines if line.endswith(" kB")}
    return int(found.get("Pss_Anon", 0)) * 1024, int(found.get("Pss", 0)) * 1024


def repaired(folder: Path, path: Path, size: int) -> Row:
    """Repair the model; the whole has to are equal."""
    command = [sys.executable, "-m", "graphfix", "run", path.name, "--target", "trt8"]
    said, own, resident, seconds = watched([*command, "-o", "out.onnx", "--json"], folder)
    report = json.loads(said)
    found = report["verification"]
    text = f"{found['status']} {found['reason']}".strip() + f" ({found['method']})"
    gone = not any(
        node.op_type == "Gelu"
        for node in onnx.load(folder / "out.onnx", load_external_data=False).graph.node  # pyright: ignore[reportUnknownMemberType]
    )
    holds = found["status"] == "equal" and gone
    return Row("graphfix run --target trt8", size, own, resident, seconds, text, holds)


def wrong(
    folder: Path, path: Path, size: int, layers: int, change: Callable[[ModelProto, int], None]
) -> Row:
    """Compare the model with a wrong result; it has to are as a mismatch."""
    model = onnx.load(folder / "out.onnx", load_external_data=False)  # pyright: ignore[reportUnknownMemberType]
    os.chdir(folder)
    change(model, layers)
    (folder / "wrong.onnx").write_bytes(model.SerializeToString())
    program = (
        "import sys; from pathlib import Path;"
        "from graphfix.proving.models import compare_files;"
        "from graphfix.proving.whole.options import ComparisonOptions;"
        f"options = ComparisonOptions(memory_limit={LIMIT * 4 // 5});"
        "found = compare_files(Path(sys.argv[1]), Path(sys.argv[2]), options);"
        "print(found.status, found.reason, f'({found.method})')"
    )
    said, own, resident, seconds = watched(
        [sys.executable, "-c", program, path.name, "wrong.onnx"], folder
    )
    what = (change.__doc__ or "").rstrip(".")
    return Row(what, size, own, resident, seconds, said.strip(), said.startswith("mismatch"))


def render(rows: Sequence[Row]) -> str:
    """Return the table as Markdown."""
    text = [
        "# Big models",
        "",
        f"`python -m benchmarks.speed.big_models`, Python {platform.python_version()}, "
        f"{os.cpu_count()} CPUs. Each process may address {LIMIT / 1e9:.0f} GB. Memory is the peak "
        "of the process tree:",
        "what the processes own, and that with the pages of files that they have mapped, a page",
        "that several of them hold being counted once.",
        "",
        "| what | weights | own | resident | seconds | verdict on the whole | holds |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        text.append(
            f"| {row.what} | {row.size / 1e9:.2f} GB | {row.own / 1e9:.2f} GB "
            f"| {row.resident / 1e9:.2f} GB | {row.seconds:.0f} | {row.said} "
            f"| {'yes' if row.holds else '**no**'} |"
        )
    return "\n".join([*text, ""])


def main(words: Sequence[str]) -> int:
    """Measure and write; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "big-models.md")
    parser.add_argument("--layers", type=int, default=16, help="16 layers are 3.5 GB")
    parser.add_argument("--folder", type=Path, help="where the models lie meanwhile")
    given = parser.parse_args(words)
    output = given.output.absolute()
    # For `python -m graphfix` from a checkout that is not installed.
    os.environ["PYTHONPATH"] = str(ROOT)
    with tempfile.TemporaryDirectory(prefix="big-", dir=given.folder) as scratch:
        folder = Path(scratch)
        path, size = build(folder, given.layers)
        rows = [repaired(folder, path, size)]
        rows += [wrong(folder, path, size, given.layers, how) for how in (exchange, scale_one)]
        os.chdir(ROOT)
    text = render(rows)
    output.write_text(text, encoding="utf-8")
    print(text)
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
