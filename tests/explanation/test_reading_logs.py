"""Logs: whose they are, which messages they hold, at which node, and what they are near."""

from __future__ import annotations

import re

import pytest

from graphfix.engines.known_rules import all_rules
from graphfix.explanation.diagnosis import in_order, read_log
from graphfix.explanation.knowledge import messages

# Not rules: what converters say before there is a file.
CONVERTERS = {"", "export-operator", "opset-conversion"}


def test_every_written_message_is_of_a_rule_and_compiles() -> None:
    known = {rule.id for rule in all_rules()} | CONVERTERS
    assert {message.rule for message in messages()} <= known
    assert len(messages()) > 500


@pytest.mark.parametrize(
    ("log", "target", "rule", "op", "node"),
    [
        (
            'While parsing node number 7 [Mod -> "y"]:\n'
            "ERROR: ModelImporter.cpp:134 In function parseGraph:\n"
            "[8] No importer registered for op: Mod\nTensorRT version: 7.2.3",
            "trt7.2",
            "operator-not-supported",
            "Mod",
            "y",
        ),
        (
            "[TRT] [E] ModelImporter.cpp:771: ERROR: builtin_op_importers.cpp:3609 In function "
            'importResize:\n[8] Assertion failed: scales.is_weights() && "Resize scales must be an '
            'initializer!"',
            "trt8.6",
            "resize-scales",
            "Resize",
            "",
        ),
        (
            "onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented: [ONNXRuntimeError] : 9 : "
            "NOT_IMPLEMENTED : Could not find an implementation for EyeLike(9) node with name "
            "'/blocks.0/EyeLike'",
            "",
            "no-kernel",
            "EyeLike",
            "/blocks.0/EyeLike",
        ),
        (
            "Check 'unknown_operators.empty()' failed at src/frontends/onnx/frontend/src/core/"
            "graph.cpp:213:\nOpenVINO does not support the following ONNX operations: "
            "com.microsoft.QLinearAdd",
            "",
            "stated-operator",
            "com.microsoft.QLinearAdd",
            "",
        ),
        (
            "cv2.error: OpenCV(4.10.0) onnx_importer.cpp:1040: error: (-2:Unspecified error) in "
            "function 'handleNode'\n> Node [Mod@ai.onnx]:(onnx_node!/m/Mod) parse error: OpenCV",
            "opencv4.10",
            "stated-operator",
            "Mod",
            "/m/Mod",
        ),
        (
            "torch.onnx.errors.UnsupportedOperatorError: Exporting the operator 'aten::tile' to "
            "ONNX opset version 17 is not supported.",
            "",
            "export-operator",
            "aten::tile",
            "",
        ),
        (
            "writeFb.cpp:687: These Op Not Support: ONNX::Not | ONNX::RandomUniform",
            "mnn3.6",
            "stated-operator",
            "Not",
            "",
        ),
        ("onnx2ncnn m.onnx\nShape not supported yet!", "ncnn1.0", "stated-operator", "Shape", ""),
        (
            "IPluginRegistry::getCreator: Error Code 4: API Usage Error (Cannot find plugin: "
            "grid_sampler, version: 1, namespace:.) [TRT]",
            "",
            "operator-not-supported",
            "grid_sampler",
            "",
        ),
        (
            "[TRT] onnx2trt_utils.cpp:467: Found unsupported datatype (11) when importing "
            "initializer: recip:0\nAssertion failed: convertOnnxWeights(initializer, &weights)",
            "",
            "initializer-type",
            "",
            "",
        ),
        (
            "[ONNXRuntimeError] : 1 : FAIL : Type Error: Type parameter (T) of Optype (Add) bound "
            "to different types (tensor(double) and tensor(float) in node (/m/Add).",
            "",
            "types-differ",
            "Add",
            "/m/Add",
        ),
        (
            "[ONNXRuntimeError] : 10 : INVALID_GRAPH : Error in Node:n : No Op registered for "
            "MyOp with domain_version of 12",
            "",
            "not-registered",
            "MyOp",
            "",
        ),
    ],
)
def test_a_message_is_known(log: str, target: str, rule: str, op: str, node: str) -> None:
    found = read_log(log)
    first = found.matches[0]
    assert (first.message.rule, first.op, first.node) == (rule, op, node)
    assert not target or found.target == target


def test_a_message_of_another_importer_is_not_taken_for_the_one_that_complains() -> None:
    assertion = "Assertion failed: dims.nbDims == 3"
    log = f"[TRT] Description of the error: {assertion}\nFunc of the error:import%s\n"
    assert read_log(log % "MatMul").matches == ()
    assert in_order(read_log(log % "GlobalAveragePool").matches) == ("global-pool-rank",)


def test_what_a_log_calls_a_warning_comes_after_its_errors() -> None:
    warning = "[W] [TRT] One or more weights outside the range of INT32 was clamped"
    error = (
        "[E] [TRT] Concat_393: concat input tensors 0 and 2 have incompatible types Float and Int32"
    )
    found = read_log(f"{warning}\n{error}\n")
    assert in_order(found.matches) == ("mixed-types", "weights-clamped")


def test_a_message_is_read_where_the_log_does_not_only_note_it() -> None:
    note = "[I] [TRT] No checker registered for op: grid_sampler. Attempting to check as plugin."
    error = "[E] [TRT] API Usage Error (Cannot find plugin: grid_sampler, version: 1, namespace:.)"
    (first, *_) = read_log(f"{note}\n{error}\n").matches
    assert (first.message.rule, first.line) == ("operator-not-supported", 2)


def test_what_is_general_is_no_answer_next_to_what_says_more() -> None:
    general = "ERROR: ModelImporter.cpp:195 In function parseGraph:\n[6] Invalid Node - /If\n"
    more = (
        "/If_OutputLayer: IIfConditionalOutputLayer inputs must have the same shape. "
        "Shapes are [-1] and [-1,1]."
    )
    assert in_order(read_log(general + more).matches) == ("if-shapes",)
    (alone,) = read_log(general).matches
    assert (alone.message.rule, alone.message.rank, alone.node) == ("", 0, "/If")


def test_a_note_on_the_node_says_more_than_where_the_parser_stopped() -> None:
    note = "[I] [TRT] No importer registered for op: LayerNorm. Attempting to import as plugin."
    stop = '[E] [TRT] ModelImporter.cpp:726: While parsing node number 23 [%s -> "y"]:'
    about = read_log(f"{note}\n{stop % 'LayerNorm'}").matches
    other = read_log(f"{note}\n{stop % 'TopK'}").matches
    assert in_order(about) == ("operator-not-supported",)
    assert in_order(other)[0] == ""


def test_messages_of_an_engine_that_another_one_runs_are_read() -> None:
    log = (
        "[E:onnxruntime:Default] getPluginCreator could not find plugin: GroupNorm_X version: 1\n"
        "[ONNXRuntimeError] : 6 : NnapiExecutionProvider could not compile its part.\n"
    )
    families = {match.message.family for match in read_log(log).matches}
    assert families == {"trt", "ort"}


def test_a_rule_on_other_operators_is_no_answer_for_a_node_that_is_named() -> None:
    log = "[ONNXRuntimeError] : Non-zero status code returned while running %s node. Name:'n'"
    rules = {op: in_order(read_log(log % op).matches) for op in ("Mul", "QLinearAveragePool")}
    assert rules == {"Mul": ("",), "QLinearAveragePool": ("int8-means",)}


def test_a_short_text_of_a_rule_is_no_answer_in_a_log_of_no_one_knows_what() -> None:
    assert "constants-of-the-outer-graph" not in in_order(read_log("KeyError: 'out'").matches)


@pytest.mark.parametrize(
    ("log", "advice"),
    [
        (
            "[TRT] only supports TensorRT INetworkDefinitions with an explicit batch dimension",
            "EXP",
        ),
        ("[TRT] In node 614 (parseGraph): INVALID_NODE: Invalid Node - /ArgMax", "graphfix reduce"),
        ("[TRT] std::bad_alloc", "--shape"),
        ("ncnn: find_blob_index_by_name images failed", ".param"),
        (
            "[TRT] Network has dynamic or shape inputs, but no optimization profile has been "
            "defined.",
            "--minShapes",
        ),
        ("[TRT] Serialization Error in verifyHeader: 0 (Version tag does not match)", "again"),
        ("[TRT] Serialization assertion creator failed. Cannot deserialize plugin", "library"),
        ("[ONNXRuntimeError] : 7 : INVALID_PROTOBUF : Protobuf parsing failed.", "git lfs"),
        ("[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : Invalid Feed Input Name:x", "inspect"),
        (
            "Non-zero status code returned while running Add node. Name:'a' Status Message: "
            "bad allocation",
            "memory",
        ),
        ('[ ERROR ]  Cannot infer shapes or values for node "Slice_34".', "convert_model"),
        (
            "OpenCV(4.5.5) onnx_importer.cpp:709: error: (-215:Assertion failed) "
            "model_proto.has_graph() in function 'populateNet'",
            "git lfs",
        ),
        ("error: 'tf.AddV2' op is neither a custom op nor a flex op", "--target tflite"),
        ("no available backend found. ERR: [webgl] backend not found", "bundle"),
        ("E Calc node Conv : /c/Conv output shape fail\nE rknn", "--target rknn"),
        ("############# pass_ncnn\nSegmentation fault (core dumped)", "pnnx"),
        ("parse layer_type failed", "pnnx"),
    ],
)
def test_what_is_no_fault_of_the_model_has_advice(log: str, advice: str) -> None:
    (first, *_) = read_log(log).matches
    assert first.message.rule == ""
    assert advice in first.message.advice


def test_the_target_is_the_users_where_it_is_named() -> None:
    found = read_log("No importer registered for op: Foo", "trt10.1")
    assert (found.family, found.target) == ("trt", "trt10.1")


def test_what_only_follows_is_last() -> None:
    found = read_log(
        "[TRT] Network must have at least one output\n[TRT] No importer registered for op: Foo"
    )
    assert in_order(found.matches) == ("operator-not-supported", "no-outputs")


def test_numbers_that_come_out_wrong_lead_to_silent_rules() -> None:
    found = read_log("TensorRT 8.6: incorrect results of ReduceMax with axes as an input")
    assert "reduce-axes-input" in in_order(found.matches)
    assert not any(match.exact for match in found.matches)


def test_what_is_not_known_has_neighbours() -> None:
    found = read_log("[TRT] the scales tensor for Resize is to be an initializer in this release")
    assert found.matches == ()
    assert "resize-scales" in {match.message.rule for match in found.nearest}


@pytest.mark.parametrize("log", ["hello", "\x00\xff", "(" * 5000, "[TRT]\n" * 300, "a" * 100_000])
def test_nothing_is_read_out_of_noise(log: str) -> None:
    assert read_log(log).matches == ()


def test_no_pattern_takes_what_it_wants_from_a_long_line() -> None:
    import time

    log = "Error Code 4: Internal Error (x" * 2000 + "importer registered " * 2000
    start = time.perf_counter()
    read_log(log)
    assert time.perf_counter() - start < 20


def test_each_text_of_a_rule_is_found_as_it_is_printed() -> None:
    lost: list[str] = []
    for rule in all_rules():
        text = re.sub(r"\{(\w+)\}", "Thing", rule.text)
        known = [m for m in messages() if m.rule == rule.id and m.text]
        if rule.text and known and not any(m.pattern.search(text) for m in known):
            lost.append(rule.id)
    assert lost == []


@pytest.mark.parametrize(
    ("log", "rule", "line"),
    [
        ("[I] built\n[E] [TRT] the axes of the reduction are no constant", "log-sum-exp-axes", 2),
        ("[E] [TRT] Slice: starts tensor is not constant", "slice-inputs", 1),
        (
            "OpenCV(4.10.0) error: (-215:Assertion failed) inputs.size() == 3",
            "layer-of-constants",
            1,
        ),
    ],
)
def test_an_unknown_message_of_an_engine_is_near_known_ones(log: str, rule: str, line: int) -> None:
    found = read_log(log)
    assert not found.matches
    near = {match.message.rule: match for match in found.nearest}
    assert 0 < len(near) <= 3
    assert near[rule].line == line
    assert near[rule].said == log.splitlines()[line - 1]
    assert all(match.message.family in ("", found.family) for match in found.nearest)


def test_a_message_without_a_node_is_reported_by_the_one_that_names_it() -> None:
    log = (
        '[8] Assertion failed: creator && "Plugin not found, are the plugin name, version, and '
        'namespace correct?"\n[I] No importer registered for op: Mod. Attempting to import it.'
    )
    assert [(m.message.rule, m.op) for m in read_log(log).matches] == [
        ("operator-not-supported", "Mod")
    ]
    assert [m.op for m in read_log(log.splitlines()[0]).matches] == [""]
