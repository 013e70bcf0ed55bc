"""Ask a real engine what nodes do next to others: the graphs that are kept with its facts.

    python -m benchmarks.engines.neighbours --engine ncnn1.0 [--again]

``facts/neighbours.json`` of the family is a list of graphs in the text of `onnx.parser`, each with
its ``opset``, and how the engine reads it: ``verdict`` and ``words``, as in
`benchmarks.engines.kernels`. A graph that is there without a verdict is asked about, and with
``--again`` all are. ``~`` after a constant stands for numbers that are drawn. Tests hold the rules
of the family to these verdicts.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from onnx import ModelProto, parser

from benchmarks.engines.kernels import Asker, facts_of, written
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.models import run_model

_DRAWN = re.compile(r"float\[([\d,]+)\] (\w+) = ~")
_WORDS = 120
Row = dict[str, Any]


def model_of(row: Row) -> ModelProto:
    """Return the model of a graph that is kept, with numbers in it."""
    numbers = np.random.default_rng(0)

    def drawn(found: re.Match[str]) -> str:
        values = numbers.standard_normal(prod(map(int, found[1].split(","))))
        return f"float[{found[1]}] {found[2]} = {{{', '.join(f'{value:.3f}' for value in values)}}}"

    head = f'<ir_version: 8, opset_import: ["" : {row["opset"]}]> g '
    return parser.parse_model(head + _DRAWN.sub(drawn, row["graph"]))


def asked(row: Row, asker: Asker) -> Row:
    """Return a graph with how the engine reads it."""
    model = model_of(row)
    feed: dict[str, Any] = FeedMaker(model).draw(0, 0)
    with written(model) as path:
        verdict, words = asker.verdict(path, feed, run_model(path, [feed])[0])
    kept = {"opset": row["opset"], "graph": row["graph"], "verdict": verdict}
    return {**kept, "words": _brief(words)}


def _brief(words: str) -> str:
    """Return the words without what is another at each run."""
    ended = re.match(r"convert: pnnx ended with -?\d+", words)
    return ended[0] if ended else words.partition("\n")[0][:_WORDS]


def _answered(rows: list[Row], asker: Asker, *, again: bool) -> Iterator[Row]:
    for row in rows:
        yield asked(row, asker) if again or "verdict" not in row else row


def main() -> None:
    """Run from the command line."""
    line = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    line.add_argument("--engine", required=True, metavar="TARGET")
    line.add_argument("--again", action="store_true", help="ask about all of them")
    given = line.parse_args()
    path = facts_of(given.engine, "neighbours.json")
    asker = Asker(given.engine)
    rows = list(_answered(json.loads(path.read_text(encoding="utf-8")), asker, again=given.again))
    asker.close()
    text = ",\n".join(" " + json.dumps(row) for row in rows)
    path.write_text(f"[\n{text}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
