"""The forms of layers: windows, sizes, quantization, recurrences."""

from __future__ import annotations

from benchmarks.attack.families.form import Form, Forms, Input, K, data, typed


def layer_forms() -> list[Form]:
    """Return the forms."""
    made = Forms()
    add = made.add
    image = data("N", 2, 5, 6)
    weights = K([[[[0.5, -1.0], [0.25, 2.0]], [[1.0, 0.0], [-0.5, 0.125]]]] * 2, "T")
    for attrs in (
        {},
        {"pads": [1, 0, 2, 1]},
        {"strides": [2, 3]},
        {"dilations": [2, 3]},
        {"auto_pad": "SAME_UPPER"},
        {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
        {"auto_pad": "VALID"},
        {"auto_pad": "SAME_LOWER", "dilations": [2, 1]},
    ):
        add("Conv", [image, weights], attrs, opsets=(9, 11), kinds=("f",))
        add("Conv", [image, weights, K([0.5, -0.5], "T")], attrs, opsets=(11, 22))
        if "auto_pad" not in attrs:
            add("ConvTranspose", [image, weights], attrs, opsets=(9, 11))
            add(
                "ConvTranspose",
                [image, weights, K([0.5, -0.5], "T")],
                {**attrs, "output_padding": [1, 1], "strides": [2, 2]},
                opsets=(11,),
            )
        for op in ("MaxPool", "AveragePool", "LpPool"):
            if op != "MaxPool" and "dilations" in attrs:
                continue
            for ceil in (0, 1):
                if op == "LpPool" and ceil:
                    continue
                more = {"ceil_mode": ceil} if ceil else {}
                add(
                    op,
                    [image],
                    {**attrs, "kernel_shape": [3, 2], **more},
                    opsets=(10, 12) if op != "LpPool" else (11,),
                )
                if op == "AveragePool":
                    add(
                        op,
                        [image],
                        {**attrs, "kernel_shape": [3, 2], "count_include_pad": 1, **more},
                        opsets=(10, 11, 19),
                    )
    add(
        "MaxPool",
        [image],
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        opsets=(10, 12),
        outputs=2,
        gives=("T", "i64"),
    )
    add(
        "MaxPool",
        [image],
        {"kernel_shape": [2, 2], "storage_order": 1},
        opsets=(12,),
        outputs=2,
        gives=("T", "i64"),
    )
    add(
        "MaxPool",
        [typed("u8", 1, 2, 5, 6)],
        {"kernel_shape": [2, 3], "pads": [1, 1, 1, 1]},
        opsets=(12,),
        gives=("u8",),
    )
    add(
        "MaxPool",
        [typed("i8", 1, 2, 5, 6)],
        {"kernel_shape": [2, 3], "pads": [1, 1, 1, 1]},
        opsets=(12,),
        gives=("i8",),
    )
    add("AveragePool", [image], {"kernel_shape": [2, 2], "dilations": [2, 1]}, opsets=(19,))
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        add(op, [data("N", 2, "M", "K")], opsets=(9, 13))
    modes = (
        ("nearest", "asymmetric", "floor"),
        ("nearest", "half_pixel", "round_prefer_floor"),
        ("nearest", "half_pixel", "round_prefer_ceil"),
        ("nearest", "align_corners", "ceil"),
        ("linear", "half_pixel", ""),
        ("linear", "align_corners", ""),
        ("linear", "pytorch_half_pixel", ""),
        ("linear", "asymmetric", ""),
        ("cubic", "half_pixel", ""),
        ("cubic", "align_corners", ""),
        ("nearest", "asymmetric", "ceil"),
    )
    for mode, coordinates, nearest in modes:
        at = {
            "mode": mode,
            "coordinate_transformation_mode": coordinates,
            **({"nearest_mode": nearest} if nearest else {}),
        }
        for scales in (
            [1.0, 1.0, 2.0, 2.0],
            [1.0, 1.0, 0.5, 1.5],
            [1.0, 1.0, 0.6, 0.61],
            [1.0, 1.0, 1.0, 2.3],
        ):
            add(
                "Resize",
                [data(1, 2, 5, 6), K([], "f"), K(scales, "f")],
                at,
                opsets=(11, 13, 18),
            )
        for sizes in ([1, 2, 7, 3], [1, 2, 1, 1], [1, 2, 5, 6], [1, 2, 10, 13]):
            add(
                "Resize",
                [data(1, 2, 5, 6), K([], "f"), K([], "f"), K(sizes)],
                at,
                opsets=(11, 13, 18),
            )
        add(
            "Resize",
            [data(1, 2, "M", "K"), None, K([1.0, 1.0, 2.0, 2.0], "f")],
            at,
            opsets=(13, 19),
        )
        add("Resize", [data(1, 2, "M", "K"), None, None, K([1, 2, 4, 4])], at, opsets=(13, 19))
        add(
            "Resize",
            [data(1, 2, "M", "K"), None, K([1.5, 0.7], "f")],
            {**at, "axes": [2, -1]},
            opsets=(18,),
        )
        add(
            "Resize",
            [data(1, 2, 5, 6), None, None, K([7, 9])],
            {**at, "axes": [3, 2], "keep_aspect_ratio_policy": "not_larger"},
            opsets=(18,),
        )
    for mode in ("nearest", "linear"):
        add(
            "Upsample",
            [data(1, 2, "M", 6), K([1.0, 1.0, 2.0, 1.5], "f")],
            {"mode": mode},
            opsets=(9,),
        )
        add(
            "Resize", [data(1, 2, 5, 6), K([1.0, 1.0, 0.7, 1.5], "f")], {"mode": mode}, opsets=(10,)
        )
    one = [K([1.5, -2.0], "T"), K([0.5, 0.0], "T"), K([0.1, -1.0], "T"), K([0.25, 4.0], "T")]
    add("BatchNormalization", [data("N", 2, "M"), *one], opsets=(9, 14, 15))
    add("BatchNormalization", [data("N", 2), *one], {"epsilon": 0.0}, opsets=(9, 15))
    add(
        "BatchNormalization",
        [data("N", 2, "M"), *one],
        {"training_mode": 1, "momentum": 0.5},
        opsets=(14, 15),
        outputs=3,
        gives=("T", "T", "T"),
    )
    add("InstanceNormalization", [data("N", 2, "M"), *one[:2]], opsets=(9, 13))
    for axis in (-1, 1, 0, -2):
        add(
            "LayerNormalization",
            [data("N", 2, 2), K([1.0, 2.0], "T")],
            {"axis": axis} if axis == -1 else {"axis": axis, "epsilon": 1e-3},
            opsets=(17,),
            kinds=("f", "d"),
        )
        add("LpNormalization", [data("N", 2, "M")], {"axis": axis, "p": 1}, opsets=(9,))
        add("LpNormalization", [data("N", 2, "M")], {"axis": axis, "p": 2}, opsets=(9,))
    add(
        "GroupNormalization",
        [data("N", 4, "M"), K([1.0, 2.0, 3.0, 0.5], "T"), K([0.0, 1.0, 0.0, -1.0], "T")],
        {"num_groups": 2},
        opsets=(21,),
    )
    add("MeanVarianceNormalization", [data("N", 2, 3, 2)], opsets=(9, 13))
    add(
        "LRN",
        [data("N", 5, 2, 2)],
        {"size": 3, "alpha": 0.5, "beta": 0.6, "bias": 2.0},
        opsets=(9, 13),
    )
    for kind in ("u8", "i8"):
        zero = K(128 if kind == "u8" else -3, kind)
        for scale in (0.1, 2.5, 1e-6):
            add(
                "QuantizeLinear",
                [data("N", "M"), K(scale, "f"), zero],
                opsets=(10, 13, 19, 21),
                gives=(kind,),
            )
            add(
                "DequantizeLinear",
                [typed(kind, "N", "M"), K(scale, "f"), zero],
                opsets=(10, 13, 19, 21),
                gives=("f",),
            )
        two = K([3, 5], kind)
        add(
            "QuantizeLinear",
            [data("N", 2, "M"), K([0.5, 0.01], "f"), two],
            {"axis": -2},
            opsets=(13, 19),
            gives=(kind,),
        )
        add(
            "DequantizeLinear",
            [typed(kind, "N", 2, "M"), K([0.5, 0.01], "f"), two],
            {"axis": 1},
            opsets=(13, 19),
            gives=("f",),
        )
        add(
            "MatMulInteger",
            [
                typed(kind, "N", "M"),
                typed("i8" if kind == "i8" else "u8", "M", "K"),
                zero,
                K(1, kind),
            ],
            opsets=(10,),
            gives=("i32",),
        )
        add(
            "QLinearMatMul",
            [
                typed(kind, "N", 2),
                K(0.1, "f"),
                zero,
                K([[1, 2, 3], [4, 5, 100]], kind),
                K(0.2, "f"),
                K(7, kind),
                K(0.3, "f"),
                zero,
            ],
            opsets=(10, 21),
            gives=(kind,),
        )
        add(
            "QLinearMatMul",
            [
                typed(kind, "N", 2),
                K(0.1, "f"),
                zero,
                K([[1, 2, 3], [4, 5, 100]], kind),
                K([0.2, 0.01, 3.0], "f"),
                K([7, 1, 0], kind),
                K(0.3, "f"),
                zero,
            ],
            opsets=(10,),
            gives=(kind,),
        )
        add(
            "QLinearConv",
            [
                typed(kind, 1, 2, 4, 4),
                K(0.1, "f"),
                zero,
                K([[[[1, 2], [3, 4]], [[5, 6], [7, 100]]]], kind),
                K(0.2, "f"),
                K(0 if kind == "i8" else 3, kind),
                K(0.3, "f"),
                zero,
                K([100], "i32"),
            ],
            {"pads": [1, 1, 0, 0]},
            opsets=(10,),
            gives=(kind,),
        )
        add(
            "ConvInteger",
            [typed(kind, 1, 2, 4, 4), K([[[[1, 2], [3, 4]], [[5, 6], [7, 100]]]], kind), zero],
            {"pads": [1, 1, 0, 0]},
            opsets=(10,),
            gives=("i32",),
        )
    add("QuantizeLinear", [data("N", "M"), K(0.1, "f")], opsets=(10, 13), gives=("u8",))
    add(
        "DequantizeLinear", [typed("i32", "N", "M"), K(0.1, "f")], opsets=(10, 13, 19), gives=("f",)
    )
    add(
        "QuantizeLinear",
        [data("N", "M"), K(0.1, "f"), K(-300, "i16")],
        opsets=(21,),
        gives=("i16",),
    )
    add(
        "DequantizeLinear",
        [typed("u16", "N", "M"), K(0.1, "f"), K(40000, "u16")],
        opsets=(21,),
        gives=("f",),
    )
    add(
        "QuantizeLinear",
        [typed("f", 4, 2), K([[0.5, 0.1], [2.0, 0.01]], "f"), K([[1, 2], [3, 4]], "u8")],
        {"axis": 0, "block_size": 2},
        opsets=(21,),
        gives=("u8",),
    )
    add("DynamicQuantizeLinear", [data("N", "M")], opsets=(11,), outputs=3, gives=("u8", "f", "u8"))
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        w = [[[0.1 * ((i + j) % 5 - 2) for j in range(3)] for i in range(2 * gates)]]
        r = [[[0.2 * ((i * j) % 3 - 1) for j in range(2)] for i in range(2 * gates)]]
        b = [[0.05 * (i % 7 - 3) for i in range(4 * gates)]]
        for direction in ("forward", "reverse", "bidirectional"):
            n = 2 if direction == "bidirectional" else 1
            count = 3 if op == "LSTM" else 2
            base: list[Input] = [typed("f", 4, "M", 3), K(w * n, "f"), K(r * n, "f")]
            how: dict[str, object] = {"hidden_size": 2, "direction": direction}
            add(op, base, how, opsets=(7, 14), outputs=count, gives=("f",) * count)
            add(
                op,
                [*base, K(b * n, "f")],
                {**how, "clip": 0.2},
                opsets=(7, 14),
                outputs=count,
                gives=("f",) * count,
            )
            add(
                op,
                [typed("f", 4, 2, 3), *base[1:], None, K([2, 4], "i32")],
                how,
                opsets=(7, 14),
                outputs=count,
                gives=("f",) * count,
            )
            add(
                op,
                [typed("f", "N", 4, 3), *base[1:]],
                {**how, "layout": 1},
                opsets=(14,),
                outputs=count,
                gives=("f",) * count,
            )
            if op == "GRU":
                add(
                    op,
                    [*base, K(b * n, "f")],
                    {**how, "linear_before_reset": 1},
                    opsets=(7, 14),
                    outputs=count,
                    gives=("f",) * count,
                )
    for mode in ("bilinear", "nearest", "bicubic"):
        for pad in ("zeros", "border", "reflection"):
            for align in (0, 1):
                add(
                    "GridSample",
                    [typed("f", "N", 2, 4, 5), typed("f", "N", 3, 2, 2)],
                    {"mode": mode, "padding_mode": pad, "align_corners": align},
                    opsets=(16,),
                )
    add(
        "RoiAlign",
        [typed("f", 2, 2, 5, 6), typed("f", "N", 4), typed("i64", "N")],
        {"output_height": 2, "output_width": 3, "sampling_ratio": 2},
        opsets=(10, 16),
        gives=("f",),
    )
    for a in ({}, {"axis": 0}, {"axis": 1, "sorted": 0}, {"sorted": 0}):
        add(
            "Unique",
            [data("N", "M")],
            a,
            opsets=(11,),
            outputs=4,
            gives=("T", "i64", "i64", "i64"),
            kinds=("f", "i64"),
        )
    return made
