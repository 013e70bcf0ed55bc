"""Matrices of the discrete Fourier transform on numbers written as (real, imaginary) pairs."""

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse


def fourier_matrix(
    rows: int, length: int, bins: int, *, complex_input: bool, inverse: bool
) -> Array:
    """Return the float64 matrix that takes a signal of pairs to its spectrum of pairs.

    Args:
        rows: How many samples of the signal there are; those missing count as zero.
        length: The length of the transform.
        bins: How many bins of the spectrum are wanted.
        complex_input: Whether each sample is a pair, else one number.
        inverse: Whether the transform is the inverse one.

    Returns:
        [rows * 2, bins * 2] with pairs as samples, else [rows, bins * 2].
    """
    # Multiples of a whole turn are taken off as integers, so that large angles are exact.
    turns = np.outer(np.arange(rows), np.arange(bins)) % length
    angle = turns * (2 * np.pi / length)
    cosine, sine = np.cos(angle), np.sin(angle)
    if inverse:
        cosine, sine = cosine / length, -sine / length
    real = np.stack([cosine, -sine], axis=-1)
    if not complex_input:
        return real.reshape(rows, bins * 2)
    imaginary = np.stack([sine, cosine], axis=-1)
    return np.stack([real, imaginary], axis=1).reshape(rows * 2, bins * 2)


def real_inverse_matrix(rows: int, length: int) -> Array:
    """Return the float64 matrix that takes one side of a spectrum to its real signal.

    The other side is the conjugate of this one; of the bin of no frequency, and of half the
    length, only the real part counts.

    Args:
        rows: How many bins there are, ``length // 2 + 1``.
        length: The length of the signal.

    Returns:
        [rows * 2, length], for pairs as bins.
    """
    bins = np.arange(rows)
    angle = (np.outer(bins, np.arange(length)) % length) * (2 * np.pi / length)
    alone = 2 * bins % length == 0
    real = np.where(alone, 1, 2)[:, None] * np.cos(angle) / length
    imaginary = np.where(alone, 0, -2)[:, None] * np.sin(angle) / length
    return np.stack([real, imaginary], axis=1).reshape(rows * 2, length)


def axis_of(node: NodeView, build: Builder, rank: int) -> int:
    """Return the axis that a DFT transforms.

    Raises:
        Refuse: It is computed at run time, or not there.
    """
    if build.opset < 20:
        axis = int(node.attr("axis", 1))
    else:
        given = node.input(2)
        axis = -2 if given is None else int(build.need_const(given, "the axis").reshape(()))
    if not -rank <= axis < rank or axis % rank == rank - 1:
        raise Refuse(f"the axis must lie in rank {rank}, before the last; it is {axis}")
    return axis % rank
