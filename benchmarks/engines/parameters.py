"""Ask a real engine which inputs it takes as constants alone: a model of each that is given one.

    python -m benchmarks.engines.parameters --engine tvm0.27

Written is ``facts/constants.json`` of the family: operator -> the inputs with which a model was
refused that the engine takes where they are constants.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.engines.kernels import Asker, family_of
from graphfix.learning.constants import MODELS, pair


def asked(asker: Asker, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the operators and inputs that are taken as constants and refused otherwise."""
    for name in MODELS:
        questions = pair(name)
        assert questions is not None, name
        verdicts: list[str] = []
        for model, inputs, expected in questions:
            path = folder / "model.onnx"
            path.write_bytes(model.SerializeToString())
            verdicts.append(asker.verdict(path, inputs, expected)[0])
        if verdicts[0] == "equal" and verdicts[1] != "equal":
            op, _, parameter = name.partition(".")
            yield op, parameter


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", required=True, metavar="TARGET")
    given = parser.parse_args()
    asker = Asker(given.engine, seconds=60.0)
    found: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for op, parameter in asked(asker, Path(folder)):
            found.setdefault(op, []).append(parameter)
    asker.close()
    lines = ",\n".join(f" {json.dumps(op)}: {json.dumps(names)}" for op, names in found.items())
    family = family_of(given.engine).folder
    assert family is not None
    path = family / "facts" / "constants.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
