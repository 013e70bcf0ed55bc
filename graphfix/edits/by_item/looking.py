"""What is shown of a model whose size was made free, for how many items, and which sizes to try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onnx import ModelProto

from graphfix.edits.by_item.walk import Found, Walk
from graphfix.edits.free_sizes import Freed
from graphfix.edits.known_tensors import measured_shapes, shapes_of, types_of
from graphfix.ir.inlining import inline
from graphfix.ir.protos import copied
from graphfix.reduction.tensor_types import Typist


@dataclass(frozen=True, slots=True)
class Shown:
    """For which sizes it is shown that each item is computed by itself.

    Attributes:
        step: Sizes are multiples of this: 1 where rows are by themselves, the old size where only
            as many as there were are.
        found: What the walk found.
    """

    step: int
    found: Found

    @property
    def every(self) -> bool:
        """Whether it is shown for every size."""
        return self.step == 1 and not self.found.doubts

    def sizes(self, size: int) -> tuple[int, ...]:
        """Return the sizes around which something may change, as multiples of the old one."""
        near = {each * self.step for d in self.found.doubts for each in d.near}
        near |= set(self.found.constants)
        wanted = {
            max(1, (each + more) // size) * size for each in near for more in (-1, 0, 1, size)
        }
        return tuple(sorted(wanted))


def look(
    freed: Freed, before: ModelProto, base_dir: str, axes: Mapping[str, int], size: int
) -> Shown:
    """Look at a model whose size is free.

    Args:
        freed: The model.
        before: The model as it was.
        base_dir: Where its external data lies.
        axes: Input -> the axis whose size is free.
        size: The size that it had.
    """
    bound = copied(freed.proto)
    for info in bound.graph.input:
        if info.name in axes:
            info.type.tensor_type.shape.dim[axes[info.name]].dim_value = size
    for info in bound.graph.output:
        axis = freed.axes.get(info.name)
        if axis is not None and axis < len(info.type.tensor_type.shape.dim):
            info.type.tensor_type.shape.dim[axis].ClearField("value")
    if bound.functions:
        bound = inline(bound)
    shapes = shapes_of(bound)
    given = [shapes.get(info.name, ("?",)) for info in bound.graph.input]
    if all(isinstance(each, int) for shape in given for each in shape):
        shapes |= measured_shapes(bound, base_dir, shapes)
    kinds = types_of(bound)

    def measured() -> Mapping[str, Any]:
        small = [n for n in kinds if n in shapes and len(shapes[n]) < 2]
        made = {name for node in bound.graph.node for name in node.output}
        return Typist(base_dir).values(bound, [name for name in small if name in made])

    def walked(count: int) -> Found:
        overridable = before.ir_version >= 4
        walk = Walk(bound, dict(axes), dict(shapes), kinds, count, measured, overridable)
        return walk.found(freed.axes)

    rows = walked(size)
    if not rows.doubts or size == 1:
        return Shown(1, rows)
    blocks = walked(1)
    return Shown(size, blocks) if not blocks.doubts else Shown(1, rows)
