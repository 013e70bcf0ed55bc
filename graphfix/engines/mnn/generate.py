"""The MNN profile, made from what the real wheel takes and computes on the CPU.

    python -m graphfix.engines.mnn.generate

Facts: ``facts/kernels.json``, written by ``python -m benchmarks.engines.facts`` from the rows of
``python -m benchmarks.engines.kernels --engine mnn3.6``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphfix.engines.measured import consistent, operator_rows, with_since
from graphfix.engines.versioned import unpacked, write_profiles

FACTS = Path(__file__).parent / "facts" / "kernels.json"
# What these do depends on attributes, parameters and indices that were drawn; rules judge them.
_RULED = (
    "AveragePool",
    "Conv",
    "Cast",
    "ConvTranspose",
    "Dropout",
    "GRU",
    "Gather",
    "GatherElements",
    "GatherND",
    "LSTM",
    "Less",
    "LogSoftmax",
    "LpPool",
    "Max",
    "MaxPool",
    "Min",
    "NonMaxSuppression",
    "OneHot",
    "Pad",
    "RNN",
    "Resize",
    "RoiAlign",
    "ScatterElements",
    "ScatterND",
    "Shape",
    "Slice",
    "Split",
    "Tile",
)
# Asked about in few forms or none: no model and no node test of ONNX with these is taken.
_UNTAKEN = (
    "Bernoulli",
    "CausalConvWithState",
    "DeformConv",
    "LinearAttention",
    "OptionalGetElement",
    "OptionalHasElement",
    "Scan",
    "SwiGLU",
)
_NEWEST = 26  # of the models that were asked for; the number of an opset is not looked at


def profiles() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the names and the tables of the profiles, oldest first."""
    store = json.loads(FACTS.read_text(encoding="utf-8"))
    for release in store["names"]:
        said = unpacked(store, release)
        name = f"mnn{release}"
        refused = consistent(said.get("refused", {}), _RULED)
        rows = operator_rows(refused, consistent(said.get("wrong", {}), _RULED), _NEWEST)
        rows |= {op: {"supported": False} for op in _UNTAKEN if op in rows}
        with_since([(name, rows)])
        table = {
            "name": name,
            "family": "mnn",
            "version": release,
            "title": f"MNN {release}",
            "source": "measured: models of one operator each, run in the wheel",
            "domains": ["", "ai.onnx"],
            "functions": False,
            "opset": {"min": 7, "max": _NEWEST, "rejects_above": False},
            "ops": dict(sorted(rows.items())),
        }
        yield name, table


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, dict(profiles()))
