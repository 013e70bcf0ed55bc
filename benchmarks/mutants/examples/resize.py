"""Resize and Upsample."""

from __future__ import annotations

import numpy as np

from benchmarks.mutants.examples.example import Example

_IMAGE = "g (T[N, 3, 10, 12] x) => (T[N, 3, A, B] y)"
_N = {"N": (2, 12)}


def _f(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def _i(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def _scaled(unit: str, attributes: str, scales: np.ndarray, **more: object) -> Example:
    text = f"{_IMAGE} {{ y = Resize <{attributes}> (x, , s) }}"
    return Example(unit, text, sizes=_N, arrays={"s": scales}, **more)  # type: ignore[arg-type]


def _sized(unit: str, attributes: str, sizes: np.ndarray, **more: object) -> Example:
    text = f"{_IMAGE.replace('N,', '4,')} {{ y = Resize <{attributes}> (x, , , s) }}"
    return Example(unit, text, arrays={"s": sizes}, **more)  # type: ignore[arg-type]


_LINEAR, _CUBIC = 'mode = "linear"', 'mode = "cubic"'
_HALF = 'coordinate_transformation_mode = "half_pixel"'
_CORNERS = 'coordinate_transformation_mode = "align_corners"'
_ASYMMETRIC = 'coordinate_transformation_mode = "asymmetric"'

EXAMPLES = (
    _scaled("resize-linear-to-matmul", f"{_LINEAR}, {_HALF}", _f(1, 1, 2, 2.5)),
    _sized("resize-linear-to-matmul", f"{_LINEAR}, {_CORNERS}", _i(4, 3, 17, 7)),
    _scaled("resize-linear-to-matmul", f"{_LINEAR}, {_ASYMMETRIC}", _f(1, 1, 0.5, 3)),
    _sized("resize-linear-to-matmul", f"{_LINEAR}, antialias = 1", _i(4, 3, 5, 9), opset=18),
    _scaled("resize-linear-to-matmul", 'mode = "nearest"', _f(1, 1, 2, 2)),
    _scaled("resize-cubic-to-matmul", f"{_CUBIC}, {_HALF}", _f(1, 1, 2, 1.5)),
    _sized(
        "resize-cubic-to-matmul",
        f"{_CUBIC}, {_ASYMMETRIC}, cubic_coeff_a = -0.5, exclude_outside = 1",
        _i(4, 3, 20, 6),
    ),
    Example(
        "resize-nearest-to-gather",
        'g (T[4, 3, 10, 12] x) => (T[4, 3, A, B] y) { y = Resize <mode = "nearest", '
        f'{_ASYMMETRIC}, nearest_mode = "floor"> (x, , s) }}',
        types=("float", "uint8", "int32"),
        arrays={"s": _f(1, 1, 2, 0.5)},
    ),
    _sized("resize-nearest-to-gather", f'mode = "nearest", {_HALF}', _i(4, 3, 20, 36)),
    _sized(
        "resize-nearest-to-gather",
        f'mode = "nearest", {_ASYMMETRIC}, nearest_mode = "ceil"',
        _i(4, 3, 15, 6),
    ),
    _sized("resize-nearest-to-gather", f"{_LINEAR}", _i(4, 3, 15, 6)),
    _scaled("resize-scales-to-sizes", f'mode = "nearest", {_ASYMMETRIC}', _f(1, 1, 2, 3)),
    _sized("resize-sizes-to-scales", f"{_LINEAR}, {_HALF}", _i(4, 3, 15, 30)),
    _sized("resize-sizes-to-scales", f'mode = "nearest", {_ASYMMETRIC}', _i(4, 3, 20, 6)),
    _sized("resize-axes-to-full", f"{_LINEAR}, axes = [2, 3]", _i(15, 30), opset=18),
    _scaled("resize-axes-to-full", f"{_LINEAR}, axes = [3, 1]", _f(1.5, 2), opset=18),
    _sized(
        "resize-axes-to-full",
        f'{_LINEAR}, axes = [2, 3], keep_aspect_ratio_policy = "not_larger"',
        _i(25, 24),
        opset=18,
    ),
    _sized(
        "resize-axes-to-full",
        f'{_LINEAR}, axes = [2, 3], keep_aspect_ratio_policy = "not_smaller"',
        _i(20, 36),
        opset=18,
    ),
    Example(
        "upsample-to-resize",
        f'{_IMAGE} {{ y = Upsample <mode = "nearest"> (x, s) }}',
        opset=9,
        ir=4,
        sizes=_N,
        arrays={"s": _f(1, 1, 2, 3)},
    ),
    Example(
        "upsample-to-resize",
        'g (T[2, 3, 8, 8] x) => (T[2, 3, 16, 16] y) { y = Upsample <mode = "linear"> (x, s) }',
        opset=9,
        ir=4,
        arrays={"s": _f(1, 1, 2, 2)},
    ),
    *(
        Example(
            unit,
            "g (T[8, 8, 8, 8] x) => (T[8, 8, A, B] y) "
            f"{{ y = Resize <{attributes}> (x, {given}) }}",
            opset=opset,
            arrays={"s": array},
        )
        for unit, attributes, given, array, opset in (
            ("resize-linear-to-matmul", _LINEAR, ", s", _f(1, 1, 2, 2), 17),
            ("resize-linear-to-matmul", f"{_LINEAR}, {_CORNERS}", ", , s", _i(8, 8, 5, 5), 17),
            ("resize-linear-to-matmul", f"{_LINEAR}, axes = [2, 3]", ", s", _f(0.5, 0.5), 18),
            ("resize-cubic-to-matmul", _CUBIC, ", s", _f(1, 1, 2, 2), 17),
            ("resize-cubic-to-matmul", f"{_CUBIC}, {_CORNERS}", ", , s", _i(8, 8, 11, 11), 17),
            (
                "resize-nearest-to-gather",
                f'mode = "nearest", {_ASYMMETRIC}',
                ", s",
                _f(1, 1, 3, 3),
                17,
            ),
            (
                "resize-nearest-to-gather",
                'mode = "nearest", nearest_mode = "round_prefer_ceil"',
                ", , s",
                _i(8, 8, 4, 4),
                17,
            ),
            ("resize-scales-to-sizes", _LINEAR, ", s", _f(1, 1, 2.5, 2.5), 17),
            ("resize-scales-to-sizes", f'mode = "nearest", {_HALF}', ", s", _f(1, 1, 1.6, 1.6), 17),
            ("resize-sizes-to-scales", f"{_LINEAR}, {_ASYMMETRIC}", ", , s", _i(8, 8, 13, 13), 17),
            (
                "resize-sizes-to-scales",
                f"{_CUBIC}, cubic_coeff_a = -0.5",
                ", , s",
                _i(8, 8, 5, 12),
                17,
            ),
            ("resize-axes-to-full", f"{_CUBIC}, axes = [3, 2]", ", s", _f(2, 2), 18),
        )
    ),
    Example(
        "resize-linear-to-rank3",
        f"{_IMAGE.replace('N,', '4,')} {{ y = Resize <{_LINEAR}, {_HALF}> (x, , s) }}",
        arrays={"s": _f(1, 1, 2, 1.5)},
    ),
    Example(
        "resize-clear-roi",
        f"{_IMAGE} {{ y = Resize <{_LINEAR}, {_HALF}> (x, r, s) }}",
        sizes=_N,
        arrays={"s": _f(1, 1, 2, 1.5), "r": _f(0, 0, 0, 0, 1, 1, 1, 1)},
    ),
)
