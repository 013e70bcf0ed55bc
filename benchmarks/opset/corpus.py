"""Models of a folder to convert, compared with what each file itself computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from benchmarks.opset.comparison import opset_of, run
from benchmarks.opset.conversions import Row, complains, judge
from graphfix.proving.inputs import make_feeds


def corpus_rows(name: str, path: Path, targets: Sequence[int]) -> list[Row]:
    """Return the rows of one file; none where onnxruntime does not run it."""
    try:
        proto = onnx.ModelProto.FromString(path.read_bytes())
    except Exception:
        return []
    targets = [target for target in targets if target < opset_of(proto)]
    if not targets:
        return []
    sets: list[tuple[dict[str, Any], list[Any]]] = []
    for feed in _feeds(proto, path):
        try:
            sets.append((feed, run(proto, feed)))
        except Exception:
            continue
    if not sets:
        return []
    complained = bool(complains(proto))
    return [replace(judge(proto, target, sets, False, complained), name=name) for target in targets]


def _feeds(proto: onnx.ModelProto, path: Path) -> list[dict[str, Any]]:
    stored = path.with_suffix(".npz")
    if stored.is_file():
        with np.load(stored, allow_pickle=False) as opened:
            arrays = dict(opened)
        own = {t.name for t in proto.graph.initializer}
        names = [info.name for info in proto.graph.input if info.name not in own]
        feed: dict[str, Any] = {}
        for position, name in enumerate(names):
            number = name[1:] if name[1:].isdigit() else str(position)
            key = f"in_{name}" if f"in_{name}" in arrays else f"in_{number}"
            if key in arrays:
                feed[name] = arrays[key]
        return [feed]
    try:
        return list(make_feeds(proto, samples=2))
    except Exception:
        return []
