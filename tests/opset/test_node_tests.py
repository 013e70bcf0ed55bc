"""Operators that an older opset lacks, by the node tests that come with onnx.

Each is converted as `graphfix run --opset` does, whole and with all inputs but the first stored,
and has to give the outputs that the test expects.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto

from graphfix import run
from graphfix.testing import outputs_of
from tests.node_tests import node_tests
from tests.opset.conversion import check

# name of the test, target
TESTS = [
    ("affine_grid_2d", 13),
    ("affine_grid_3d_align_corners", 13),
    ("averagepool_2d_ceil_last_window_starts_on_pad", 13),
    ("averagepool_2d_dilations", 13),
    ("averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True", 13),
    ("averagepool_3d_dilations_large_count_include_pad_is_0_ceil_mode_is_False", 13),
    ("attention_4d_causal", 26),
    ("basic_deform_conv_with_padding", 13),
    ("batchnorm_example_training_mode", 13),
    ("bitcast_bool_to_uint8", 13),
    ("bitcast_float64_to_int64", 13),
    ("bitcast_int32_to_float32", 13),
    ("bitcast_uint32_to_int32", 13),
    ("bitshift_left_int8_shift_ge_width", 13),
    ("bitshift_right_int32_negative_input", 13),
    ("bitwise_and_i16_3d", 13),
    ("bitwise_or_i32_2d", 13),
    ("bitwise_xor_ui8_bcast_4v3d", 13),
    ("center_crop_pad_crop_axes_hwc", 13),
    ("cumprod_2d_axis_1", 13),
    ("cumprod_2d_negative_axis", 13),
    ("deform_conv_with_mask_bias", 13),
    ("deform_conv_with_multiple_offset_groups", 13),
    ("dequantizelinear_blocked", 13),
    ("dequantizelinear_int16", 13),
    ("dft_axis", 15),
    ("div_int8", 13),
    ("equal_string_broadcast", 13),
    ("identity_sequence", 13),
    ("linear_attention_gated_delta_gqa", 13),
    ("lppool_2d_dilations", 13),
    ("maxpool_2d_ceil_output_size_reduce_by_one", 13),
    ("mul_uint16", 13),
    ("optional_get_element_tensor", 13),
    ("optional_has_element_empty_no_input_tensor_input", 13),
    ("qlinearmatmul_2D_int8_float16", 13),
    ("quantizelinear_blocked_asymmetric", 13),
    ("quantizelinear_uint16", 13),
    ("range_float16_type_positive_delta", 13),
    ("reduce_max_empty_set_bool", 13),
    ("reduce_prod_negative_axes_keepdims_random", 13),
    ("resize_tf_crop_and_resize_axes_2_3", 13),
    ("resize_upsample_scales_nearest_axes_2_3", 13),
    ("resize_upsample_sizes_nearest_not_larger", 13),
    ("rotary_embedding_interleaved", 13),
    ("scan9_sum", 26),
    ("scatter_with_axis", 26),
    ("sequence_map_add_2_sequences", 13),
    ("tensorscatter_circular", 13),
    ("wrap_pad", 13),
]


@cache
def by_name() -> dict[str, Any]:
    """Return the node tests by name."""
    return {test.name: test for test in node_tests()}


def stored(model: ModelProto, feed: dict[str, Any]) -> tuple[ModelProto, dict[str, Any]]:
    """Make initializers of all inputs but the first, sequences left alone."""
    result = ModelProto()
    result.CopyFrom(model)
    kept = [n for p, (n, v) in enumerate(feed.items()) if not p or isinstance(v, list)]
    del result.graph.input[:]
    result.graph.input.extend(i for i in model.graph.input if i.name in kept)
    for name, value in feed.items():
        if name not in kept:
            result.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    return result, {name: feed[name] for name in kept}


@pytest.mark.parametrize("variant", ["whole", "initializers"])
@pytest.mark.parametrize(("name", "target"), TESTS)
def test_gives_what_the_test_expects(name: str, target: int, variant: str) -> None:
    found = by_name()[f"test_{name}"]
    model = ModelProto()
    model.CopyFrom(found.model)
    model.ir_version = min(model.ir_version, 13)  # onnxruntime 1.31 takes no newer one
    ((inputs, expected),) = found.data_sets
    feed: dict[str, Any] = {}
    for info, value in zip(model.graph.input, inputs, strict=True):
        feed[info.name] = value if isinstance(value, list) else np.asarray(value)
    if variant == "initializers":
        model, feed = stored(model, feed)
    result = run(model, opset=target, verify="off")
    assert result.model.opset == target, result.report.outcomes
    proto = result.model.to_proto()
    check(proto)
    given = outputs_of(proto, feed)
    for (label, one), other in zip(given.items(), expected, strict=True):
        for part, wanted in zip(_parts(one), _parts(other), strict=True):
            assert part.dtype == wanted.dtype
            assert part.shape == wanted.shape
            if wanted.dtype.kind == "f":
                np.testing.assert_allclose(part, wanted, rtol=2e-3, atol=1e-5, err_msg=label)
            else:
                np.testing.assert_array_equal(part, wanted, err_msg=label)


def _parts(value: Any) -> list[Any]:
    if type(value) is list:
        parts: list[Any] = [*value]
        return [np.asarray(part) for part in parts]
    return [np.asarray(value)]
