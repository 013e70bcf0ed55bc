"""Scale what is added to the places of pixels, not the sum of both.

What it does: A grid of GridSample that is a sum with a constant, multiplied, divided, added to and
    taken from by constants, becomes a product and a sum with one constant each: the places are
    scaled before the model is run.
Why engines need it: In float16 a place such as 200.3 pixels is rounded by up to 0.06 pixels, before
    it is made a place from -1 to 1. The simulator of rknn-toolkit2 gives other values from 18
    pixels on.
Before:
    g = Sub (Mul (Div (Add (pixels, flow), [22, 16]), 2), 1)
    y = GridSample (x, g)
After:
    g = Add (Mul (flow, [2 / 22, 2 / 16]), 2 * pixels / [22, 16] - 1)
    y = GridSample (x, g)
When it refuses: A constant is not finite, or what it is divided by is 0. A grid is made otherwise
    than by a sum with a constant and then at least one product or quotient with one.
Accuracy: Exact up to rounding: the constants are computed in float64.
References: measured in the simulator of rknn-toolkit2 2.3.2
    https://onnx.ai/onnx/operators/onnx__GridSample.html
"""

from dataclasses import dataclass, field

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, respell, rewrite

_ARITHMETIC = frozenset({"Add", "Div", "Mul", "Sub"})
_MOST = 2**24


@dataclass
class _Affine:
    """A grid as a multiple of a tensor and a constant added."""

    value: Value
    factor: Array = field(default_factory=lambda: np.array(1.0))
    added: Array = field(default_factory=lambda: np.array(0.0))
    ops: list[str] = field(default_factory=list[str])

    def step(self) -> bool:
        """Take in the node that computes the value; False where it does not fit."""
        maker = self.value.producer
        if maker is None or maker.domain or maker.op not in _ARITHMETIC:
            return False
        left, right = maker.need(0), maker.need(1)
        one, other = left.array(), right.array()
        if (one is None) == (other is None) or (maker.op == "Div" and other is None):
            return False
        number = np.asarray(one if other is None else other).astype(np.float64)
        if maker.op == "Mul":
            self.factor = self.factor * number
        elif maker.op == "Div":
            if not number.all():
                raise Refuse("the divisor of a grid must not be 0; it is")
            self.factor = self.factor / number
        else:
            negative = maker.op == "Sub" and other is not None
            self.added = self.added + self.factor * (-number if negative else number)
            if maker.op == "Sub" and other is None:
                self.factor = -self.factor
        self.value = left if other is not None else right
        self.ops.append(maker.op)
        return True


@rewrite(
    "GridSample", removes="form:GridSample.grid-in-pixels", emits="Add GridSample Mul", since=16
)
def grid_in_pixels_apart(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Compute the scaled places, see the module."""
    grid = node.need(1)
    affine = _Affine(grid)
    while affine.step():
        pass
    sums = [place for place, op in enumerate(affine.ops) if op in ("Add", "Sub")]
    if not sums or not {"Div", "Mul"} & set(affine.ops[: sums[-1]]):
        raise Refuse(
            "the grid must be computed by Add or Sub and then Mul or Div of constants;"
            f" it is by {', '.join(affine.ops) or 'none of them'}"
        )
    if affine.value.shape != grid.shape or grid.dtype is None or grid.dtype.kind != "f":
        raise Refuse(
            f"the first operand must have the shape {grid.shape} of the grid; it has"
            f" {affine.value.shape}"
        )
    constants = [array.astype(grid.dtype) for array in (affine.factor, affine.added)]
    if not all(np.isfinite(array).all() and array.size <= _MOST for array in constants):
        raise Refuse("constants of the grid must be finite and small; one is not")
    return respell(node, build, grid=build.Add(build.Mul(affine.value, constants[0]), constants[1]))
