"""What certificates cost: a model with 200 sites that all differ, proved in two children."""

from __future__ import annotations

import os
import resource
import statistics
from collections import Counter
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import onnx
from onnx import helper

from graphfix.pipeline.finishing import prove
from graphfix.pipeline.model_files import load
from graphfix.pipeline.original import Original
from graphfix.pipeline.run import Run
from graphfix.pipeline.running import execute
from graphfix.pipeline.settings import RunOptions
from graphfix.pipeline.verifying import original_on_disk
from graphfix.proving.sites.cases import WholeModel
from graphfix.proving.sites.prover import Prover
from graphfix.worker.service import end_template

SITES = 200
# Seconds for all sites on two cores, and for the median one.
MOST_SECONDS = 15.0
MOST_MEDIAN = 0.050
_PASSES = (
    "hardswish-to-hardsigmoid",
    "celu-to-elu",
    "layer-normalization-to-arithmetic",
    "mod-elimination",
    "xor-to-and",
    "resize-linear-to-matmul",
)


@dataclass(frozen=True)
class Cost:
    """What 200 sites cost.

    Attributes:
        wall: Seconds of wall time for the proofs.
        cpu: Seconds of CPU time of all children and of what forks them.
        load: The load average when it began, over which wall time has no say.
        costs: CPU seconds of each site.
        megabytes: The most memory that a child had.
        statuses: How many sites came out as what.
    """

    wall: float
    cpu: float
    load: float
    costs: tuple[float, ...]
    megabytes: float
    statuses: dict[str, int]

    @property
    def on_two_cores(self) -> float:
        """Return the seconds on two idle cores: the wall time, or half of the CPU time if less."""
        return min(self.wall, self.cpu / 2)

    def holds(self) -> bool:
        """Say whether the limits are kept and all sites are equal."""
        return (
            self.statuses == {"equal": SITES}
            and 0 < self.on_two_cores < MOST_SECONDS
            and statistics.median(self.costs) < MOST_MEDIAN
        )


def model() -> onnx.ModelProto:
    """Return 200 nodes of six kinds, no two of which have the same shapes."""
    nodes: list[onnx.NodeProto] = []
    inputs: list[onnx.ValueInfoProto] = []
    outputs: list[onnx.ValueInfoProto] = []
    weights: list[onnx.TensorProto] = []
    for number in range(SITES):
        kind = number % len(_PASSES)
        shape, element = [2, 3 + number, 4 + number % 5], onnx.TensorProto.FLOAT
        names = [f"x{number}"]
        if kind == 2:
            names += [f"scale{number}"]
            scale = np.linspace(0.5, 1.5, shape[-1], dtype=np.float32)
            weights.append(onnx.numpy_helper.from_array(scale, names[1]))
        elif kind == 3:
            element = onnx.TensorProto.INT32
            names += [f"divisor{number}"]
            divisor = np.array(3 + number, np.int32)
            weights.append(onnx.numpy_helper.from_array(divisor, names[1]))
        elif kind == 4:
            element = onnx.TensorProto.BOOL
            names += [f"second{number}"]
            inputs.append(helper.make_tensor_value_info(names[1], element, shape))
        elif kind == 5:
            shape = [1, 2, 3 + number % 7, 3 + number // 7]
            names += ["", f"scales{number}"]
            scales = np.array([1, 1, 2, 3], np.float32)
            weights.append(onnx.numpy_helper.from_array(scales, names[2]))
        nodes.append(_node(kind, names, f"y{number}"))
        inputs.append(helper.make_tensor_value_info(names[0], element, shape))
        result = shape if kind != 5 else [1, 2, 2 * shape[2], 3 * shape[3]]
        outputs.append(helper.make_tensor_value_info(f"y{number}", element, result))
    graph = helper.make_graph(nodes, "sites", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _node(kind: int, inputs: list[str], output: str) -> onnx.NodeProto:
    ops = ("HardSwish", "Celu", "LayerNormalization", "Mod", "Xor", "Resize")
    attributes: dict[str, Any] = {"mode": "linear"} if kind == 5 else {}
    return helper.make_node(ops[kind], inputs, [output], **attributes)


def measure() -> Cost:
    """Rewrite and prove the 200 sites; see `Cost`."""
    settings = RunOptions(passes=_PASSES, verify="sites").settings()
    loaded = load(model())
    before = Original.of(loaded, settings.available)
    whole = WholeModel(lambda prepared: original_on_disk(before, prepared))
    prover = Prover(before.evaluators, whole=whole)
    run = Run(loaded, settings)
    execute(run)
    busy = os.getloadavg()[0]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = perf_counter()
    proved = prove(run, settings, prover, run.journal.applied)
    wall = perf_counter() - start
    # What its children took is added to its own when it is gone.
    end_template()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    statuses = Counter(str(each.certificate.status) for each in proved if each.certificate)
    return Cost(
        wall,
        spent.ru_utime + spent.ru_stime - used.ru_utime - used.ru_stime,
        busy,
        tuple(prover.memory.costs.values()),
        spent.ru_maxrss / 1024,
        dict(statuses),
    )


def render(cost: Cost) -> str:
    """Return the measurement as Markdown."""
    text = ", ".join(f"{count} {status}" for status, count in sorted(cost.statuses.items()))
    median = 1000 * statistics.median(cost.costs)
    most = 1000 * statistics.quantiles(cost.costs, n=20)[-1]
    rows = [
        ("sites", text, f"{SITES} equal"),
        ("different ones, each run for itself", str(len(cost.costs)), ""),
        ("CPU time of one, median", f"{median:.1f} ms", f"below {1000 * MOST_MEDIAN:.0f} ms"),
        ("CPU time of one, 95%", f"{most:.1f} ms", ""),
        ("CPU time of all, start of the children included", f"{cost.cpu:.1f} s", ""),
        ("wall time of all", f"{cost.wall:.1f} s at a load of {cost.load:.1f}", ""),
        (
            "wall time, or half the CPU time if less",
            f"{cost.on_two_cores:.1f} s",
            f"below {MOST_SECONDS:.0f} s",
        ),
        ("most memory of a child", f"{cost.megabytes:.0f} MB", ""),
    ]
    lines = [f"| {what} | {result} | {limit} |" for what, result, limit in rows]
    head = [
        "# What certificates cost",
        "",
        "`python -m benchmarks.certificates cost`: 200 nodes of six kinds in 200 shapes,",
        f"each rewritten and proved in two children. The limits {_held(cost)}.",
        "",
        "| what | measured | limit |",
        "|---|---|---|",
    ]
    return "\n".join([*head, *lines, ""])


def _held(cost: Cost) -> str:
    return "hold" if cost.holds() else "**do not hold**"
