"""Compare the parts that graphfix counts with those that onnxruntime makes.

    python -m benchmarks.partitions --cases FOLDER --corpus FOLDER --node FOLDER --icd FILE

All files of --cases, and 20 of --corpus: evenly spaced among its networks of 10 nodes and more, of
fixed sizes, operators of ONNX alone and an opset that the oldest package here reads. Each is first
optimized as onnxruntime does before it shares a graph out (its basic level), and its nodes are
named, so that both sides speak of the same nodes. FOLDER of --node holds the packages
`onnxruntime-node@1.30.0` (WebGPU) and `onnxruntime-web@1.16.3`, the last one with XNNPACK; FILE of
--icd is a driver of Vulkan for machines without a GPU, such as SwiftShader in Debian's package
chromium-common. QNN is asked in the environment of $GRAPHFIX_ENGINES.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError

from benchmarks import RESULTS
from benchmarks.partitions.reported import FUSED, Reported, by_log, by_qnn
from graphfix.engines.placement import LEFT, Groups, is_computed_early
from graphfix.ir.model import Model
from graphfix.pipeline.files import CheckRequest, check_file
from graphfix.pipeline.findings import findings_of
from graphfix.pipeline.settings import RunOptions
from graphfix.report import Placement

onnxruntime: Any = import_module("onnxruntime")

_TARGETS = ("webgpu1.30", "qnn2", "xnnpack1.30", "coreml-nn1.31")
_LOGGED = {
    "webgpu1.30": ("onnxruntime-node", "webgpu"),
    "xnnpack1.30": ("onnxruntime-web", "xnnpack"),
}
_NETWORKS, _LEAST, _NEWEST, _LARGEST = 20, 10, 19, 8_000_000


@dataclass(frozen=True)
class Sides:
    """Parts, nodes of the provider and nodes of the CPU."""

    parts: int
    provider: int
    cpu: int

    def __str__(self) -> str:
        """Return it as a cell shows it."""
        return f"{self.parts}: {self.provider} + {self.cpu}"


def networks(folder: Path, loads: Callable[[Path], object]) -> list[Path]:
    """Return the networks of a corpus that are measured; each is the next one that is loaded."""
    found = [path for path in sorted(folder.rglob("*.onnx")) if _is_measured(path)]
    starts = (index * len(found) // _NETWORKS for index in range(_NETWORKS))
    return [next(path for path in found[start:] if loads(path)) for start in starts]


def _is_measured(path: Path) -> bool:
    if path.stat().st_size > _LARGEST:
        return False
    try:
        model = onnx.ModelProto.FromString(path.read_bytes())
    except DecodeError:
        return False
    opsets = {each.domain: each.version for each in model.opset_import}
    sizes = [d for each in model.graph.input for d in each.type.tensor_type.shape.dim]
    return (
        len(model.graph.node) >= _LEAST
        and opsets.get("", _NEWEST + 1) <= _NEWEST
        and not set(opsets) - {"", "ai.onnx"}
        and not model.functions
        and all(dim.HasField("dim_value") for dim in sizes)
    )


def optimized(path: Path, folder: Path) -> Path | None:
    """Write a file as onnxruntime shares it out, with a name for each node; None where it fails."""
    out = folder / path.name
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(out)
    try:
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception:  # onnxruntime's have no common base
        return None
    source = onnx.ModelProto.FromString(path.read_bytes())
    model = onnx.ModelProto.FromString(out.read_bytes())
    model.ir_version = max(4, source.ir_version)  # as before, but weights are no inputs
    kept = {node.domain for node in model.graph.node} | {
        each.domain for each in source.opset_import
    }
    opsets = [each for each in model.opset_import if each.domain in kept]
    del model.opset_import[:]
    model.opset_import.extend(opsets)
    for index, node in enumerate(model.graph.node):
        node.name = f"n{index}"
    out.write_bytes(model.SerializeToString())
    return out


def counted(path: Path, target: str) -> Sides | None:
    """Return what graphfix counts."""
    placed: Placement | None = check_file(CheckRequest(path, target=target)).placed
    return None if placed is None else Sides(placed.parts, placed.provider, placed.cpu)


def of_report(path: Path, target: str, said: Reported) -> Sides:
    """Return what onnxruntime's report comes to; parts that it does not count are made of it.

    Nodes that are merged with others while layouts change are where graphfix counts them.
    """
    model = Model(onnx.ModelProto.FromString(path.read_bytes()), base_dir=str(path.parent))
    settings = RunOptions(target=target).settings()
    left = {each.node.name for each in findings_of(model, settings) if each.severity in LEFT}
    nodes = [node for node in model.graph.nodes if not is_computed_early(node)]
    gone = {node.name for node in nodes} - said.provider - said.cpu
    cpu = {
        id(node)
        for node in nodes
        if node.name in said.cpu or (node.name in gone & left and node.op not in FUSED)
    }
    groups = Groups(model.graph, nodes, cpu)
    parts = len(groups.taken) if said.parts is None else said.parts
    return Sides(parts, len(nodes) - len(cpu), len(cpu))


def measured(files: Mapping[str, Path], given: argparse.Namespace) -> dict[tuple[str, str], Any]:
    """Return for each file and target what graphfix counts, and what is reported or why not."""
    python = Path(os.environ["GRAPHFIX_ENGINES"]) / "qnn2" / "bin" / "python"
    qnn = dict(zip(files, by_qnn(python, "ORT_DISABLE_ALL", list(files.values())), strict=True))
    found: dict[tuple[str, str], Any] = {}
    for name, path in files.items():
        for target in _TARGETS:
            said: Reported | None = qnn[name] if target == "qnn2" else None
            if target in _LOGGED:
                package, provider = _LOGGED[target]
                icd = given.icd if target == "webgpu1.30" else None
                said = by_log(given.node / "node_modules" / package, provider, path, icd)
            theirs: Sides | str = "" if said is None else said.error
            if said is not None and not said.error:
                theirs = of_report(path, target, said)
            found[name, target] = counted(path, target), theirs
    return found


def page(found: Mapping[tuple[str, str], Any], lost: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# Parts of a graph, counted and reported\n"
    yield "`python -m benchmarks.partitions --cases DIR --corpus DIR --node DIR --icd FILE`;"
    yield "a cell is parts: nodes of the provider + nodes of the CPU, as graphfix counts; where"
    yield "onnxruntime reports something else, that is after it. QNN reports parts; for the others"
    yield "they follow from the reported place of each node.\n"
    yield "| target | files | reported | parts equal | nodes equal as well |"
    yield "|---|---|---|---|---|"
    for target in _TARGETS:
        both = [pair for (_, of), pair in found.items() if of == target]
        asked = [(ours, said) for ours, said in both if isinstance(said, Sides)]
        parts = sum(ours is not None and ours.parts == said.parts for ours, said in asked)
        nodes = sum(ours == said for ours, said in asked)
        yield f"| {target} | {len(both)} | {len(asked)} | {parts} | {nodes} |"
    yield f"\n| file | {' | '.join(_TARGETS)} |"
    yield f"|---|{'---|' * len(_TARGETS)}"
    for name in dict.fromkeys(name for name, _ in found):
        cells = (_cell(*found[name, target]) for target in _TARGETS)
        yield f"| {name} | {' | '.join(cells)} |"
    if lost:
        yield f"\nonnxruntime itself loads none of these: {', '.join(lost)}."
    explained = tomllib.loads(Path(__file__).with_name("explained.toml").read_text("utf-8"))
    yield ""
    for target, texts in explained.items():
        for name, text in texts.items():
            yield f"- {target}{'' if name == '*' else f', {name}'}: {text}"


def _cell(ours: Sides | None, said: Sides | str) -> str:
    if isinstance(said, str):
        return f"{ours} (not loaded: {said})" if said else str(ours)
    if ours == said:
        return str(ours)
    same = ours is not None and ours.parts == said.parts
    return f"{ours} ({said})" if same else f"**{ours}** ({said})"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--node", type=Path, required=True)
    parser.add_argument("--icd", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="partitions-") as folder:
        made = {
            path.stem: optimized(path, Path(folder)) for path in sorted(given.cases.glob("*.onnx"))
        }
        for path in networks(given.corpus, lambda each: optimized(each, Path(folder))):
            made[path.stem] = optimized(path, Path(folder))
        files = {name: path for name, path in made.items() if path is not None}
        found = measured(files, given)
    lost = [name for name, path in made.items() if path is None]
    text = "\n".join(page(found, lost))
    (RESULTS / "partitions.md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
