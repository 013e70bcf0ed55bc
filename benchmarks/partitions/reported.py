"""What onnxruntime reports of where nodes run: QNN by its own record, the others by their log."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

_HERE = Path(__file__).parent
_SIDE = re.compile(r"placed on \[(\w+)\]")
_NODE = re.compile(r"AnEp\]\s+\S+ \((?P<name>.*)\)\s*$")
_LOGGED = "VerifyEachNodeIsAssignedToAnEp"
_CPU = "CPUExecutionProvider"
_SECONDS = 300
_NEWEST_IR = 9  # of onnxruntime-web 1.16.3
# What XNNPACK and the layout transformer put one fused node of another name in place of.
FUSED = ("AveragePool", "Clip", "Conv", "MaxPool", "Relu")


@dataclass(frozen=True)
class Reported:
    """Where the nodes of a model run, by the names that the model gives them.

    Attributes:
        provider: Those of the provider.
        cpu: Those of the CPU.
        parts: How many parts are reported; None where only nodes are.
        error: Why it was not loaded; empty where it was.
    """

    provider: frozenset[str] = frozenset()
    cpu: frozenset[str] = frozenset()
    parts: int | None = None
    error: str = ""


def by_qnn(python: Path, level: str, paths: Sequence[Path]) -> list[Reported]:
    """Ask QNN's provider in its simulator about models, optimized as far as a level says."""
    program = [str(python), str(_HERE / "qnn_placed.py"), level, *map(str, paths)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=3600)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [_of_record(line) for line in lines]


def _of_record(said: dict[str, Any]) -> Reported:
    if "error" in said:
        return Reported(error=" ".join(str(said["error"]).split())[:90])
    provider = frozenset(_own(name) for part in said["parts"] for name in part)
    return Reported(provider, frozenset(map(_own, said["cpu"])), len(said["parts"]))


def _own(name: str) -> str:
    """Return the name that a node had before the layout of its inputs was changed."""
    return name.partition("_token_")[0]


def by_log(package: Path, provider: str, path: Path, icd: Path | None) -> Reported:
    """Load a model in Node.js with a package of onnxruntime, and read its log.

    Args:
        package: The folder of ``onnxruntime-node`` or ``onnxruntime-web``.
        provider: What the package calls the provider.
        path: The model.
        icd: The file that describes a driver of Vulkan, for WebGPU without a device.
    """
    if package.name == "onnxruntime-web":
        path = _older(path)
    words = ["node", str(_HERE / "placed.js"), str(package), provider, str(path)]
    driver = {} if icd is None else {"VK_ICD_FILENAMES": str(icd), "XDG_RUNTIME_DIR": "/tmp"}
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=_SECONDS,
        env={**os.environ, **driver},
    )
    return of_log(done.stdout + done.stderr, [node.name for node in _nodes(path)])


def of_log(text: str, names: Sequence[str]) -> Reported:
    """Return what a log of onnxruntime says of the nodes of these names."""
    sides: dict[str, set[str]] = {}
    side = ""
    for line in text.splitlines():
        if _LOGGED not in line:
            continue
        found = _SIDE.search(line)
        if found is not None:
            side = found[1]
            sides.setdefault(side, set())
            if "All nodes placed" in line:
                sides[side] = set(names)
            continue
        named = _NODE.search(line)
        if named is not None and side:
            sides[side].add(_own(named["name"]))
    if not sides:
        last = [line for line in text.splitlines() if line.startswith("ERROR")]
        return Reported(error=last[-1][:90] if last else "nothing is logged")
    cpu = frozenset(sides.pop(_CPU, set()))
    return Reported(frozenset(name for each in sides.values() for name in each), cpu)


def _nodes(path: Path) -> list[onnx.NodeProto]:
    return list(onnx.ModelProto.FromString(path.read_bytes()).graph.node)


def _older(path: Path) -> Path:
    """Write a model with an IR version that the last package with XNNPACK reads."""
    model = onnx.ModelProto.FromString(path.read_bytes())
    model.ir_version = min(model.ir_version, _NEWEST_IR)
    older = path.with_suffix(".older.onnx")
    older.write_bytes(model.SerializeToString())
    return older
