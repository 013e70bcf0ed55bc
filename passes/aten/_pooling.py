"""The arguments of adaptive pooling, for average and maximum alike."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from graphfix.authoring import NodeView, Refuse, Value, needed

from ._arguments import call_of
from ._axes import sizes_along, spatial_input

SCHEMA = ("self", "output_size")


class Pooling(Struct, frozen=True):
    """An adaptive pooling.

    Attributes:
        x: What is pooled, [N, C, ...] or [C, ...].
        sizes: (input size, output size) of each pooled axis; None where not known.
    """

    x: Value
    sizes: tuple[tuple[int | None, int | None], ...]

    @property
    def is_identity(self) -> bool:
        """Whether every axis stays as it is."""
        return all(self.keeps(position) for position in range(len(self.sizes)))

    def keeps(self, position: int) -> bool:
        """Say whether an axis keeps its size, known or not: each window is one element."""
        size, output = self.sizes[position]
        return size == output

    @property
    def is_global(self) -> bool:
        """Whether one value is left of each channel."""
        return all(output == 1 for _, output in self.sizes)

    @property
    def factors(self) -> tuple[int, ...] | None:
        """The size of the windows where all are equal and do not overlap, else None."""
        found: list[int] = []
        for size, output in self.sizes:
            if not size or not output or size % output:
                return None
            found.append(size // output)
        return tuple(found)

    def known(self, position: int) -> tuple[int, int]:
        """Return input and output size of an axis.

        Raises:
            Refuse: One is not known or zero.
        """
        size, output = self.sizes[position]
        if not size or not output:
            raise Refuse(f"the size of pooled axis {position} of {self.x.name} must be known")
        return size, output


def dimensions_of(operator: str) -> int:
    """Return the number of axes that an operator's name ends in: ``...pool2d``, ``...2d_aa``."""
    return int(operator.removesuffix("_aa")[-2])


def pooling_of(node: NodeView, names: Sequence[str]) -> Pooling:
    """Read an adaptive pooling.

    Raises:
        Refuse: An argument is computed at run time, or rank or dtype are unknown.
    """
    call = call_of(node, dict.fromkeys(names, SCHEMA))
    spatial = dimensions_of(call.operator)
    x = call.need("self")
    spatial_input(x, spatial)
    given = needed(call.entries("output_size"), "output_size must be given")
    output = given * spatial if len(given) == 1 else given
    if len(output) != spatial:
        raise Refuse(
            f"output_size must have an entry for each of {spatial} axes; it has {len(output)}"
        )
    return Pooling(x, sizes_along(x, output))


def pooled_shape(node: NodeView, names: Sequence[str]) -> tuple[int, tuple[Any, ...] | None]:
    """Return element type and shape of what an adaptive pooling gives."""
    pooling = pooling_of(node, names)
    shape = pooling.x.shape
    assert shape is not None  # pooling_of has looked
    kept = shape[: len(shape) - len(pooling.sizes)]
    old = shape[len(kept) :]
    new = tuple(
        output if output is not None else dim
        for (_, output), dim in zip(pooling.sizes, old, strict=True)
    )
    return pooling.x.elem_type, (*kept, *new)
