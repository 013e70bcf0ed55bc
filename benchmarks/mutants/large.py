"""Rewrites that are wrong at large sizes alone: do certificates see it?

    python -m benchmarks.mutants.large [-o FILE]

Each pair of models computes the same at a small size and something else at a large one, by
onnxruntime alone: indices that do not fit their type, blocks and tiles of a length, counts that a
float does not hold. The certificate is the one that a run makes where it compares the whole model
too, so that axes may be shorter; it has to differ at the large size, and to be equal at the small
one. Where sizes are free, the certificate has to find a large one by itself.

Writes `results/mutants-large.md` and ends with 1 where fewer than 98% are caught.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import parser

from benchmarks import RESULTS
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.sites.one_site import certify
from graphfix.proving.sites.shorter import shorter
from graphfix.proving.sites.site_proof import Case
from graphfix.report import Certificate, Verdict

LEAST, PART = 12, 0.98
_TYPES = {"int8": (3, 128), "uint8": (2, 256), "int16": (5, 2**15), "uint16": (4, 2**16)}
_HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
_SIZE = (
    "s = Shape (x) at = Constant <value_ints = [1]> () l = Gather (s, at) "
    "n = Squeeze (l) "
    "zero = Constant <value_int = 0> () one = Constant <value_int = 1> () "
)


@dataclass(frozen=True)
class Mutant:
    """A wrong rewrite.

    Attributes:
        kind: What is wrong with it.
        name: What it is.
        before: The body as it was; `N` is the size of axis 1.
        after: The wrong one.
        sizes: One at which it is right, and one at which it is wrong.
        output: The type of y.
    """

    kind: str
    name: str
    before: str
    after: str
    sizes: tuple[int, int]
    output: str = "float[a, b]"


def mutants() -> Iterator[Mutant]:
    """Yield the wrong rewrites."""
    for name, (element, limit) in _TYPES.items():
        sizes = (limit // 2, limit + limit // 4)
        narrow = f"<to = {element}>"
        yield Mutant(
            "index overflow",
            f"reversed places by way of {name}",
            _SIZE + "m = Sub (n, one) i = Range (m, m_end, step) y = Gather <axis = 1> (x, i)",
            _SIZE + f"m = Sub (n, one) i = Range (m, m_end, step) c = Cast {narrow} (i) "
            "w = Cast <to = 7> (c) y = Gather <axis = 1> (x, w)",
            sizes,
        )
        yield Mutant(
            "index overflow",
            f"positions of the largest by way of {name}",
            "y = ArgMax <axis = 1> (x)",
            f"i = ArgMax <axis = 1> (x) c = Cast {narrow} (i) y = Cast <to = 7> (c)",
            sizes,
            "int64[a, b]",
        )
        yield Mutant(
            "index overflow",
            f"a count by way of {name}",
            "y = ReduceMean <axes = [1]> (x)",
            _SIZE + f"c = Cast {narrow} (n) d = Cast <to = 1> (c) "
            "t = ReduceSum (x, at) y = Div (t, d)",
            sizes,
        )
    for block in (64, 256, 1000):
        ends = f"begin = Constant <value_ints = [0]> () end = Constant <value_ints = [{block}]> () "
        rest = f"far = Constant <value_ints = [{2**31}]> () axis = Constant <value_ints = [1]> () "
        yield Mutant(
            "blocks",
            f"nothing is done past the first block of {block}",
            "y = Neg (x)",
            ends + rest + "f = Slice (x, begin, end, axis) g = Slice (x, end, far, axis) "
            "h = Neg (f) y = Concat <axis = 1> (h, g)",
            (block, 2 * block + 7),
        )
        yield Mutant(
            "blocks",
            f"a sum of the first block of {block} alone",
            "y = ReduceSum (x, at)",
            ends + "f = Slice (x, begin, end, at) y = ReduceSum (f, at)",
            (block // 2, block + 1),
        )
    for tile in (128, 512):
        yield Mutant(
            "tiles",
            f"what stands past a tile of {tile} is that of the tile",
            "y = Abs (x)",
            _SIZE + f"i = Range (zero, n, one) t = Constant <value_int = {tile}> () "
            "j = Mod (i, t) g = Gather <axis = 1> (x, j) y = Abs (g)",
            (tile, 3 * tile + 5),
        )
        yield Mutant(
            "tiles",
            f"a largest number of the first tile of {tile}",
            "y = ReduceMax <axes = [1]> (x)",
            _SIZE + f"t = Constant <value_int = {tile}> () k = Min (n, t) "
            "i = Range (zero, k, one) g = Gather <axis = 1> (x, i) y = ReduceMax <axes = [1]> (g)",
            (tile, 2 * tile + 1),
        )
    yield Mutant(
        "floats",
        "places by way of float16",
        "y = Identity (x)",
        _SIZE + "i = Range (zero, n, one) c = Cast <to = 10> (i) w = Cast <to = 7> (c) "
        "y = Gather <axis = 1> (x, w)",
        (2000, 2301),
    )
    yield Mutant(
        "floats",
        "a sum of the places by way of float16",
        _SIZE + "i = Range (zero, n, one) f = Cast <to = 1> (i) y = Mul (x, f)",
        _SIZE + "i = Range (zero, n, one) c = Cast <to = 10> (i) f = Cast <to = 1> (c) "
        "y = Mul (x, f)",
        (2000, 4200),
    )


_EXTRA = "m_end = Constant <value_int = -1> () step = Constant <value_int = -1> () "
_AT = "at = Constant <value_ints = [1]> () "


def model(body: str, size: int | str, output: str) -> onnx.ModelProto:
    """Return a model of a body."""
    extra = _EXTRA if "m_end" in body else ""
    extra += _AT if " at)" in body and "at = " not in body else ""
    text = f"{_HEAD} g (float[3, {size}] x) => ({output} y) {{ {extra}{body} }}"
    return parser.parse_model(text)


def _run(proto: onnx.ModelProto, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    runtime: Any = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    session = runtime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    found: np.ndarray[Any, Any] = session.run(None, {"x": x})[0]
    return found


def differs(mutant: Mutant, size: int) -> bool:
    """Say whether a rewrite is wrong at a size, by onnxruntime alone."""
    x = np.random.default_rng(1).standard_normal((3, size)).astype(np.float32)
    one, two = (_run(model(b, size, mutant.output), x) for b in (mutant.before, mutant.after))
    return one.shape != two.shape or not np.allclose(one, two, rtol=1e-4, atol=1e-4)


def proof(mutant: Mutant, size: int | str) -> Certificate:
    """Return the certificate of a rewrite at a size; N is a free one."""
    before, after = (model(b, size, mutant.output) for b in (mutant.before, mutant.after))
    with np.errstate(all="ignore"):
        return certify(Case(before, after, short=shorter(before, after)), Evaluators({}))


def main(words: Sequence[str]) -> int:
    """Try all of them; see the module."""
    cli = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    cli.add_argument("-o", "--output", type=Path, default=RESULTS / "mutants-large.md")
    given = cli.parse_args(words)
    rows: list[str] = []
    caught = count = 0
    faults: list[str] = []
    for mutant in mutants():
        small, large = mutant.sizes
        if differs(mutant, small) or not differs(mutant, large):
            faults.append(f"{mutant.name}: not wrong at large sizes alone")
            continue
        right = proof(mutant, small)
        if right.status is not Verdict.EQUAL:
            faults.append(f"{mutant.name}: {right.status} at {small}: {right.reason}")
        for size in (large, "N"):
            found = proof(mutant, size)
            seen = found.status is Verdict.MISMATCH
            count, caught = count + 1, caught + seen
            said = "caught" if seen else f"**{found.status}**"
            rows.append(f"| {mutant.kind} | {mutant.name} | {small} | {size} | {said} |")
    kept = count >= LEAST and caught >= PART * count and not faults
    text = "\n".join(
        [
            "# Rewrites that are wrong at large sizes alone",
            "",
            "`python -m benchmarks.mutants.large`: each computes the same at the first size and",
            "something else at the second one, where that is a number; N is a free size, which the",
            "certificate has to choose.",
            "",
            f"**{caught} of {count} are caught** (at least {PART:.0%}: "
            f"{'holds' if kept else 'fails'}).",
            "",
            *([*(f"- {fault}" for fault in faults), ""] if faults else []),
            "| kind | what is wrong | right at | size | certificate |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
    )
    given.output.write_text(text, encoding="utf-8")
    print(text)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
