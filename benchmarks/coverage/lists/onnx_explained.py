"""Who is right where a result of `onnx_operators` is not what its node test expects, and why.

Measured with onnx 1.23.2 and onnxruntime 1.32.0, on the models as they are and on the results.
"""

from __future__ import annotations

from collections.abc import Mapping

_ALIGNED = (
    "the definition can be read both ways: `length_resized` is 2.4 and 3.2 (length times scale) in "
    "the test, which onnx says is meant (onnx/onnx#2462), and 2 and 3 (of the output) in "
    "onnxruntime, which leaves the test out (`results mismatch with onnx tests` in its "
    "onnx_test_runner). The node is kept, and computes in each of the two what the model did there"
)
_CAUSAL = (
    "the test is right: what the causal mask hides is minus infinity. onnxruntime gives the lowest "
    "float32 there, for the model as it is too, and leaves the test out (`location of infinities` "
    "in its onnx_backend_test_series_filters.jsonc). The other outputs are equal, nothing is "
    "repaired, and what the node is written out to computes minus infinity there"
)
_LOCALE = (
    "the machine: onnxruntime wants its locale en_US.UTF-8 to change the case of letters, and that "
    "was not installed; onnx's evaluator gives for the result what is expected"
)
_LOST = (
    "the result is right: onnxruntime's Gather of texts moves the first of each run of entries and "
    "leaves the others empty, and what is expected here is what it gave. onnx's evaluator gives "
    "what the result gives"
)
_NO_KERNEL = (
    "onnxruntime has no kernel of int32, which the bytes become by consent, at this opset; "
    "TensorRT takes it, and nothing else here computes a file of another interface"
)

EXPLAINED: Mapping[str, str] = {
    "Attention-23/attention_4d_with_past_and_present_qk_matmul_bias_3d_mask_causal": _CAUSAL,
    "Attention-23/attention_4d_with_past_and_present_qk_matmul_bias_4d_mask_causal": _CAUSAL,
    "DepthToSpace-11/uint8--1-0": _NO_KERNEL,
    "DepthToSpace-13/uint8--1-0": _NO_KERNEL,
    "Gather-1/string--1-0": _LOST,
    "Gather-11/string--1-0": _LOST,
    "GlobalLpPool-22/plain": "nothing that runs here has the operator: onnxruntime has a kernel of "
    "its opset 2 alone, onnx's evaluator none. TensorRT imports it by name, so the model is left "
    "as it is; lowered for `ort-` targets, the same form is exact",
    "MaxUnpool-22/maxunpool_export_with_output_shape": "onnx's evaluator agrees with the test: it "
    "unpools into the shape that the kernel gives and copies that into `output_shape`. onnxruntime "
    "counts the indices in `output_shape`, for the model as it is too, as it holds the test to be "
    "wrong (onnx/onnx#2398, microsoft/onnxruntime#2193). The repair keeps the node, and computes "
    "in each of the two what the model did there",
    "Pow-15/int32--1-0": "nobody: a power of 0 below 0, which is not defined. onnxruntime casts "
    "the infinity of its floats to the lowest int32, the result gives 0; all else is equal",
    "Resize-18/uint8--1-0": "the result is off by one at 2 of 100 bytes, next to a whole number, "
    "where the sum of two products is cut off: the repair is labelled approximate",
    "Resize-19/resize_downsample_scales_cubic_align_corners": _ALIGNED,
    "Resize-19/resize_downsample_scales_linear_align_corners": _ALIGNED,
    "SpaceToDepth-13/uint8--1-0": _NO_KERNEL,
    "Sub-14/range_bfloat16_type_positive_delta_expanded": "the test and the result are right: "
    "onnxruntime gives [1, 3] for it with casts around it, as `graphfix run` does. Its Python "
    "interface takes no bfloat16, so the page asks onnx's evaluator, which stacks the scalars that "
    "a Loop gives out to [2, 1], for the model as it is too, and in float32 and int32 as well",
    "StringNormalizer-10/strnormalizer_export_monday_casesensintive_lower": _LOCALE,
    "StringNormalizer-10/strnormalizer_export_monday_casesensintive_upper": _LOCALE,
    "StringNormalizer-10/strnormalizer_export_monday_empty_output": _LOCALE,
    "StringNormalizer-10/strnormalizer_export_monday_insensintive_upper_twodim": _LOCALE,
}
