"""Ask a real engine about the probes of its rules that are rows.

    python -m benchmarks.engines.rule_probes --engine opencv5.0

A line is printed for each probe of which the engine says something else than the rule: it takes
what the rule says it rejects, or computes as ONNX does what the rule calls wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from benchmarks.engines.asked import feed_of, settled
from benchmarks.engines.kernels import Asker, written
from graphfix.engines.engine import engine_of
from graphfix.engines.known_rules import rows_of
from graphfix.engines.rule_rows import Row, model_of_probe, parts_of_probe
from graphfix.engines.targets import load_target
from graphfix.report import Severity

_REFUSED = frozenset({"refused", "crashed"})
# What the engine may say of a model that a rule of a severity finds something of.
_SAID = {
    Severity.REJECT: _REFUSED,
    Severity.BUILDER: _REFUSED,
    Severity.WRONG: frozenset({"wrong"}),
}


def disagreements(asker: Asker, rows: tuple[Row, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield rule, probe and verdict of what the engine says something else of.

    What onnxruntime does not run is no question where it is the numbers that are wrong.

    Args:
        asker: The engine.
        rows: Its rules.
    """
    for row in rows:
        expected = _SAID.get(row.rule.severity)
        for probe in row.fires if expected else ():
            try:
                _, model, feed, results = settled(*parts_of_probe(probe))
            except Exception:  # of onnxruntime
                if row.rule.severity is Severity.WRONG:
                    continue
                model, results = model_of_probe(probe), {}
                if not all(info.type.HasField("tensor_type") for info in model.graph.input):
                    continue  # nothing draws sequences
                feed = feed_of(model)
            with written(model) as path:
                verdict = asker.verdict(path, feed, results)[0]
            if expected is not None and verdict not in expected:
                yield row.rule.id, probe, verdict


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", required=True, metavar="TARGET")
    given = parser.parse_args()
    target = load_target(given.engine)
    rows = tuple(row for row in rows_of(engine_of(target.family)) if row.rule.holds_for(target))
    asker = Asker(given.engine)
    for rule, probe, verdict in disagreements(asker, rows):
        print(f"{rule}: {verdict}: {probe}")
    asker.close()


if __name__ == "__main__":
    main()
