"""Write random networks as PyTorch's exporters do, to be run by a Python that has PyTorch.

    PYTHONPATH=. PYTHON -m benchmarks.unseen.generate FOLDER --seeds 0 200 [--opset N]

Half of them by the TorchScript exporter with an opset of 11 to 18, half by torch.export with 18; a
third with a free batch. What the exporter refuses is left out, and counted.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.unseen.modules import network_of

torch: Any = import_module("torch")


def write(folder: Path, seed: int, wanted: int = 0) -> str:
    """Write the network of a seed; return why there is none, empty where there is.

    Args:
        folder: Where to.
        seed: The seed.
        wanted: Write it by TorchScript at this opset; 0 leaves both to the seed.
    """
    numbers = random.Random(~seed)
    by_dynamo, free = numbers.random() < 0.5, numbers.random() < 0.33
    opset = 18 if by_dynamo else numbers.choice((11, 13, 14, 16, 17, 18))
    if wanted:
        by_dynamo, opset = False, wanted
    name = f"random{seed}__{'dynamo' if by_dynamo else 'ts'}__op{opset}.onnx"
    path = folder / name
    if path.exists():
        return ""
    network = network_of(seed)
    given = torch.randn(network.shape)
    if free and by_dynamo:
        given = torch.randn((2, *network.shape[1:]))
    sizes = {"x": {0: "batch"}} if free and not by_dynamo else None
    dynamic = ({0: torch.export.Dim("batch")},) if free and by_dynamo else None
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                network.module,
                (given,),
                str(path),
                opset_version=opset,
                dynamo=by_dynamo,
                input_names=["x"],
                output_names=["y"],
                dynamic_axes=sizes,
                dynamic_shapes=dynamic,
                external_data=False,
            )
    except Exception as error:  # whatever an exporter raises, there is no file
        path.unlink(missing_ok=True)
        return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
    return ""


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 200), metavar=("FIRST", "END"))
    parser.add_argument("--opset", type=int, default=0, help="by TorchScript, at this opset")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for seed in range(*given.seeds):
        said = write(given.folder, seed, given.opset)
        if said:
            print(f"{seed}: not exported: {said}")


if __name__ == "__main__":
    main()
