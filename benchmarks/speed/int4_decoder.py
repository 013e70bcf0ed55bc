"""Repair a decoder of 2 GB of 4-bit weights, and measure what that takes; write a table.

    python -m benchmarks.speed.int4_decoder [-o benchmarks/results/int4-decoder.md] [--layers 10]
        [--targets trt10.0 trt11.1 openvino2026.4] [--folder FOLDER]

The model is one as onnxruntime-genai's builder writes it for CPUs: layers of Llama's kind with
random weights in a data file, MatMulNBits at accuracy_level 4 in blocks of 32, a table read by
GatherBlockQuantized, GroupQueryAttention with past and rotary caches, and
SkipSimplifiedLayerNormalization. Scales have both signs, as onnxruntime's quantizer gives them.
Memory is the peak of all processes together, sampled from /proc: what processes own, and that with
what they have mapped of files, a page that several of them hold being counted once (Pss). Needs
6 GB of disk and Linux. Ends with 1 where a run ended otherwise than with 0, or took more than 1.1
times the bytes, 8 GiB or 5 minutes.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from onnx import GraphProto, NodeProto, TensorProto, helper

from benchmarks import RESULTS, ROOT
from benchmarks.speed.big_models import memory_of, tree_of

MOST_BYTES, MOST_MEMORY, MOST_SECONDS = 1.1, 8 * 2**30, 300.0
_TARGETS = ("trt10.0", "trt11.1", "openvino2026.4")
_HIDDEN, _INNER, _WORDS, _BLOCK = 4096, 14336, 128256, 32
_HEADS, _KEPT, _LENGTH = 32, 8, 4096
_SIZE = _HIDDEN // _HEADS
_CHUNK = 1 << 26
_PAUSE = 0.1
_CONTRIB = "com.microsoft"
_FUSED = (
    "GatherBlockQuantized",
    "GroupQueryAttention",
    "MatMulNBits",
    "SkipSimplifiedLayerNormalization",
)


class Row(Struct, frozen=True):
    """What became of the model for a target (bytes, seconds)."""

    target: str
    code: int
    given: int
    written: int
    own: int
    resident: int
    seconds: float
    cpu: float
    said: str

    def holds(self) -> bool:
        """Say whether it is within what is asked for."""
        return (
            self.code == 0
            and self.written <= MOST_BYTES * self.given
            and self.resident <= MOST_MEMORY
            and self.seconds <= MOST_SECONDS
        )


class Decoder:
    """A graph that grows, and its weights, written piece by piece to one data file."""

    def __init__(self, path: Path) -> None:
        """Begin a model without layers."""
        self.graph = GraphProto(name="decoder")
        self._stream = path.open("wb")
        self._name = path.name
        self._random = np.random.default_rng(4)

    def node(self, op: str, inputs: Sequence[str], *outputs: str, **attributes: Any) -> str:
        """Add an operator, one of com.microsoft where it is fused; return its first output."""
        domain = _CONTRIB if op in _FUSED else ""
        made = NodeProto(op_type=op, domain=domain, name=f"/{outputs[0]}/{op}")
        made.input.extend(inputs)
        made.output.extend(outputs)
        for name, value in attributes.items():
            made.attribute.append(helper.make_attribute(name, value))
        self.graph.node.append(made)
        return outputs[0]

    def floats(self, name: str, numbers: Any) -> str:
        """Store float32 numbers."""
        array = np.ascontiguousarray(numbers, np.float32)
        self._begin(name, TensorProto.FLOAT, array.shape)
        self._stream.write(array.data)
        return name

    def packed(self, name: str, rows: int, columns: int, *, matrix: bool = True) -> list[str]:
        """Store weights of 4 bits, and their scales; return both names."""
        blocks, half = columns // _BLOCK, _BLOCK // 2
        shape = (rows, blocks, half) if matrix else (rows, columns // 2)
        self._begin(f"{name}_Q4", TensorProto.UINT8, shape)
        left = rows * columns // 2
        while left:
            self._stream.write(self._random.bytes(min(left, _CHUNK)))
            left -= min(left, _CHUNK)
        scales = self._random.uniform(0.8, 1.2, (rows, blocks)).astype(np.float32)
        scales *= self._random.choice(np.array([-1, 1], np.float32), (rows, blocks))
        return [f"{name}_Q4", self.floats(f"{name}_scales", scales / (4.6 * np.sqrt(columns)))]

    def product(self, x: str, name: str, rows: int, columns: int) -> str:
        """Multiply by packed weights."""
        how = {"K": columns, "N": rows, "bits": 4, "block_size": _BLOCK, "accuracy_level": 4}
        return self.node("MatMulNBits", [x, *self.packed(name, rows, columns)], name, **how)

    def close(self) -> None:
        """End the data file."""
        self._stream.close()

    def _begin(self, name: str, kind: int, shape: Sequence[int]) -> None:
        size = int(np.prod(shape)) * (1 if kind == TensorProto.UINT8 else 4)
        self._stream.seek(-(-self._stream.tell() // 4096) * 4096)
        tensor = self.graph.initializer.add(name=name, dims=shape, data_type=kind)
        tensor.data_location = TensorProto.EXTERNAL
        place = {"location": self._name, "offset": self._stream.tell(), "length": size}
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))


def build(folder: Path, layers: int) -> Path:
    """Write the model; return its file."""
    net = Decoder(folder / "model.onnx.data")
    graph, integer = net.graph, TensorProto.INT64
    for name, length in (("input_ids", ""), ("attention_mask", "total_")):
        sizes = ["batch_size", f"{length}sequence_length"]
        graph.input.append(helper.make_tensor_value_info(name, integer, sizes))
    for name, value in (("one", [1]), ("minus", [1])):
        graph.initializer.append(helper.make_tensor(name, integer, [1], value))
    graph.initializer.append(helper.make_tensor("second", integer, [], [1]))
    lengths = net.node("ReduceSum", ["attention_mask", "one"], "lengths", keepdims=0)
    last = net.node(
        "Cast", [net.node("Sub", [lengths, "minus"], "before")], "last", to=TensorProto.INT32
    )
    total = net.node(
        "Gather", [net.node("Shape", ["attention_mask"], "shape"), "second"], "total64"
    )
    total = net.node("Cast", [total], "total", to=TensorProto.INT32)
    angles = np.outer(np.arange(_LENGTH), 5e5 ** -(np.arange(_SIZE // 2) / (_SIZE // 2)))
    caches = [net.floats("cos_cache", np.cos(angles)), net.floats("sin_cache", np.sin(angles))]
    table, scales = net.packed("embed", _WORDS, _HIDDEN, matrix=False)
    x = net.node(
        "GatherBlockQuantized", [table, "input_ids", scales], "embedded",
        bits=4, block_size=_BLOCK, gather_axis=0, quantize_axis=1,
    )  # fmt: skip
    weight = net.floats("first_norm", np.ones(_HIDDEN))
    y = net.node(
        "SimplifiedLayerNormalization", [x, weight], "normal", axis=-1, epsilon=1e-5, stash_type=1
    )
    for n in range(layers):
        x, y = _layer(net, n, x, y, [last, total, *caches])
    net.product(y, "logits", _WORDS, _HIDDEN)
    made: list[str | int | None] = ["batch_size", "sequence_length", _WORDS]
    graph.output.insert(0, helper.make_tensor_value_info("logits", TensorProto.FLOAT, made))
    net.close()
    imports = [helper.make_opsetid("", 21), helper.make_opsetid(_CONTRIB, 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def _layer(net: Decoder, n: int, x: str, y: str, shared: Sequence[str]) -> tuple[str, str]:
    joined = net.product(y, f"layers.{n}.qkv", (_HEADS + 2 * _KEPT) * _SIZE, _HIDDEN)
    cached: list[str] = []
    for name in ("key", "value"):
        kept = f"past_key_values.{n}.{name}"
        for side, made, length in (
            (net.graph.input, kept, "past_sequence_length"),
            (net.graph.output, f"present.{n}.{name}", "total_sequence_length"),
        ):
            shape: list[str | int | None] = ["batch_size", _KEPT, length, _SIZE]
            side.append(helper.make_tensor_value_info(made, TensorProto.FLOAT, shape))
        cached.append(kept)
    mixed = net.node(
        "GroupQueryAttention", [joined, "", "", *cached, *shared],
        f"layers.{n}.attention", f"present.{n}.key", f"present.{n}.value",
        num_heads=_HEADS, kv_num_heads=_KEPT, scale=_SIZE**-0.5, do_rotary=1, rotary_interleaved=0,
    )  # fmt: skip
    out = net.product(mixed, f"layers.{n}.o", _HIDDEN, _HIDDEN)
    y, x = _normal(net, f"layers.{n}.middle", x, out)
    gate = net.product(y, f"layers.{n}.gate", _INNER, _HIDDEN)
    wide = net.product(y, f"layers.{n}.up", _INNER, _HIDDEN)
    share = net.node("Sigmoid", [gate], f"layers.{n}.share")
    silu = net.node("Mul", [gate, share], f"layers.{n}.silu")
    inner = net.node("Mul", [silu, wide], f"layers.{n}.inner")
    y, x = _normal(
        net, f"layers.{n}.end", x, net.product(inner, f"layers.{n}.down", _HIDDEN, _INNER)
    )
    return x, y


def _normal(net: Decoder, name: str, x: str, more: str) -> tuple[str, str]:
    weight = net.floats(f"{name}.weight", np.ones(_HIDDEN))
    net.node(
        "SkipSimplifiedLayerNormalization", [x, more, weight],
        f"{name}.normal", "", "", f"{name}.sum", epsilon=1e-5,
    )  # fmt: skip
    return f"{name}.normal", f"{name}.sum"


def repaired(path: Path, target: str) -> Row:
    """Repair the model for a target."""
    with tempfile.TemporaryDirectory(prefix="int4-", dir=path.parent) as scratch:
        out = Path(scratch)
        words = ["run", str(path), "--target", target, "-o", str(out / "out.onnx"), "--json"]
        begun, own, resident = time.monotonic(), 0, 0
        spent = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        with (out / "said").open("wb") as said, (out / "error").open("wb") as error:
            child = subprocess.Popen(
                [sys.executable, "-m", "graphfix", *words], stdout=said, stderr=error
            )
            while child.poll() is None:
                held = [memory_of(pid) for pid in tree_of(child.pid)]
                own = max(own, sum(anonymous for anonymous, _ in held))
                resident = max(resident, sum(everything for _, everything in held))
                time.sleep(_PAUSE)
        seconds = time.monotonic() - begun
        cpu = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - spent
        written = sum(file.stat().st_size for file in out.glob("out.onnx*"))
        written += sum(file.stat().st_size for file in out.glob("model.onnx*"))
        text = (out / "said").read_text(encoding="utf-8")
    given = sum(file.stat().st_size for file in path.parent.glob("model.onnx*"))
    return Row(target, child.returncode, given, written, own, resident, seconds, cpu, _said(text))


def _said(text: str) -> str:
    try:
        report: dict[str, Any] = json.loads(text)
        found = report["verification"]
    except (ValueError, KeyError):
        return " ".join(text.split())[:200]
    proofs = [
        site["certificate"]["status"]
        for outcome in report["outcomes"]
        for site in outcome["sites"]
        if site["certificate"] is not None
    ]
    equal = f"{proofs.count('equal')} of {len(proofs)} places equal"
    return f"{equal}; whole: {found['status']} {found['reason']}".strip()


def render(rows: Sequence[Row], layers: int) -> str:
    """Return the table as Markdown."""
    lines = [
        "# A decoder of 4-bit weights",
        "",
        f"`python -m benchmarks.speed.int4_decoder --layers {layers}`, Python "
        f"{platform.python_version()}, {os.cpu_count()} CPUs. Memory is the peak of all processes:",
        "what they own, and that with the pages of files that they have mapped, a page that",
        "several of them hold being counted once. Seconds are by the clock, and of processors; the "
        "load of the machine at the end was "
        f"{os.getloadavg()[0]:.0f}. At most",
        f"{MOST_BYTES} times the bytes, {MOST_MEMORY >> 30} GiB and {MOST_SECONDS:.0f} s are asked",
        "for.",
        "",
        "| target | exit | given | written | times | own | resident | seconds | CPU | compared "
        "| holds |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row.target} | {row.code} | {row.given / 1e9:.2f} GB | {row.written / 1e9:.2f} GB "
            f"| {row.written / row.given:.3f} | {row.own / 2**30:.2f} GiB "
            f"| {row.resident / 2**30:.2f} GiB | {row.seconds:.0f} | {row.cpu:.0f} "
            f"| {row.said} "
            f"| {'yes' if row.holds() else '**no**'} |"
        )
    return "\n".join([*lines, ""])


def main(words: Sequence[str]) -> int:
    """Measure and write; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "int4-decoder.md")
    parser.add_argument("--layers", type=int, default=10, help="10 layers are 2 GB")
    parser.add_argument("--targets", nargs="*", default=_TARGETS)
    parser.add_argument("--folder", type=Path, help="where the model lies, and stays")
    given = parser.parse_args(words)
    output = given.output.absolute()
    os.environ["PYTHONPATH"] = str(ROOT)  # for `python -m graphfix` from a checkout
    with tempfile.TemporaryDirectory(prefix="int4-") as scratch:
        folder: Path = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "model.onnx"
        path = path.absolute() if path.is_file() else build(folder, given.layers).absolute()
        rows = [repaired(path, target) for target in given.targets]
    text = render(rows, given.layers)
    output.write_text(text, encoding="utf-8")
    print(text)
    return 0 if all(row.holds() for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
