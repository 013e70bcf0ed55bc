"""Ask a real engine about the probes of its rules that are rows.

    python -m benchmarks.engines.rule_probes --engine tract0.23

Of each rule it is counted of how many of the examples that it fires on the engine says no: it does
not take them, or computes them wrongly on one of several inputs. ``probed.json`` of the family
takes that, and the pages of targets say it. A line is printed for each example that the engine
takes and computes as ONNX does: what it refutes is to be narrowed, or to go.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import chain

import numpy as np
from onnx import ModelProto

from benchmarks.differential.judge import run, session
from benchmarks.engines.asked import feed_of, settled
from benchmarks.engines.kernels import Asker, written
from graphfix.engines.engine import engine_of
from graphfix.engines.known_rules import rows_of
from graphfix.engines.rule_rows import Row, model_of_probe, parts_of_probe
from graphfix.engines.targets import load_target
from graphfix.learning.verdicts import Array
from graphfix.rendering.rule_origins import PROBED
from graphfix.report import Severity

_BLOCKING = (Severity.REJECT, Severity.BUILDER, Severity.WRONG)
_Case = tuple[dict[str, Array], dict[str, Array]]  # inputs, and what they give
_SAYS_NO = frozenset({"refused", "crashed", "wrong"})


def answers(asker: Asker, rows: tuple[Row, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield rule, probe and verdict: what the engine says on the first inputs that show a no.

    What onnxruntime does not run is no question where it is the numbers that are wrong.

    Args:
        asker: The engine.
        rows: Its rules.
    """
    for row in rows:
        for probe in row.fires if row.rule.severity in _BLOCKING else ():
            try:
                _, model, feed, results = settled(*parts_of_probe(probe))
                cases: Iterator[_Case] = chain([(feed, results)], _further(model, feed))
            except Exception:  # of onnxruntime
                if row.rule.severity is Severity.WRONG:
                    continue
                model = model_of_probe(probe)
                if not all(info.type.HasField("tensor_type") for info in model.graph.input):
                    continue  # nothing draws sequences
                cases = iter([(feed_of(model), dict[str, Array]())])
            with written(model) as path:
                said = (asker.verdict(path, given, computed)[0] for given, computed in cases)
                first = next(said)
                verdict = next(filter(_SAYS_NO.__contains__, chain([first], said)), first)
            yield row.rule.id, probe, verdict


def _further(model: ModelProto, feed: dict[str, Array]) -> Iterator[_Case]:
    """Yield inputs with ties and halves, near to 0, far below it, and infinite ones."""
    names = [output.name for output in model.graph.output]
    for change in (_halves, _small, _low, _infinite):
        given = {
            k: change(x).astype(x.dtype) if x.dtype.kind == "f" else x for k, x in feed.items()
        }
        try:
            results = run(session(model), given)
        except Exception:  # of onnxruntime
            continue
        yield given, {n: np.asarray(r) for n, r in zip(names, results, strict=True)}


def _halves(x: Array) -> Array:
    return np.asarray(np.round(x) / 2)


def _small(x: Array) -> Array:
    return np.asarray(x / 100)


def _low(x: Array) -> Array:
    return np.asarray(-abs(x) - 20)


def _infinite(x: Array) -> Array:
    return np.asarray(np.where(np.round(x * 8) % 3 == 0, x, np.copysign(np.inf, x)))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", required=True, metavar="TARGET")
    given = parser.parse_args()
    target = load_target(given.engine)
    rows = tuple(row for row in rows_of(engine_of(target.family)) if row.rule.holds_for(target))
    asker = Asker(given.engine)
    counts: dict[str, list[int]] = {}
    for rule, probe, verdict in answers(asker, rows):
        asked, agreed = counts.get(rule, (0, 0))
        counts[rule] = [asked + 1, agreed + (verdict in _SAYS_NO)]
        if verdict not in _SAYS_NO:
            print(f"{rule}: {verdict}: {probe}", flush=True)
    asker.close()
    folder = engine_of(target.family).folder
    assert folder is not None, "rows lie in it"
    path = folder / PROBED
    known: dict[str, object] = (
        json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    )
    known[target.name] = dict(sorted(counts.items()))
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
