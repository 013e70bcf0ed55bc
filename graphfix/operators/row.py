"""What can be said of an operator of the default domain."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import inf

from msgspec import Struct


class Motion(Enum):
    """What an operator does with the elements of its data."""

    SAME = "gives all of them in the same order"
    ORDERED = "gives all of them in another order"
    RANGE = "gives those of ranges along axes"
    PICKED = "gives those at places that another input names"
    COPIED = "gives each of them some times"
    JOINED = "gives all of several inputs"
    CHOSEN = "gives some of them, of limits or zeros, by what they are or by where they are"


class Draws(Enum):
    """Whether two runs of an operator differ."""

    ALWAYS = "draws"
    TRAINING = "draws where it is told that it is trained"


class Operator(Struct, frozen=True):
    """One row of the table.

    Attributes:
        name: The operator, of the default domain.
        motion: What becomes of the elements of its data; None where it computes others. Holds for
            every output, but for the places that CHOSEN ones give next to the elements.
        data: The places of the inputs that the elements come from; empty without a motion and
            where every input is one.
        sizes: The places of the inputs whose values decide about sizes of the result.
        axes: The place of the input that names axes; None where it has none.
        draws: Whether it draws at random; None where it does not.
        draws_by_data: Whether what it draws depends on the values of its first input.
        reads_shape: Whether the shape of its first input is all that it reads of it.
        compares: Whether it says of pairs of numbers how they are to each other.
        elementwise: Whether each element of the result comes of those at its place of inputs that
            are broadcast, and of nothing else.
        commutes: Whether two operands may be the other way round.
        rounds: Whether it adds, multiplies or divides, so that what is written in another way may
            differ from it in the last digits.
        low: What no number of the results is below, whatever the input.
        high: What none is above.
        places: The place of the output of which each element is a size or a position, not
            negative; None where it has none.
    """

    name: str
    motion: Motion | None = None
    data: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    axes: int | None = None
    draws: Draws | None = None
    draws_by_data: bool = False
    reads_shape: bool = False
    compares: bool = False
    elementwise: bool = False
    commutes: bool = False
    rounds: bool = False
    low: float = -inf
    high: float = inf
    places: int | None = None

    def data_places(self, inputs: int) -> Sequence[int]:
        """Return the places of the data among so many inputs; of what has no motion, of all."""
        return self.data or range(inputs)
