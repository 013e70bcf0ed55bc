"""gather-by-constants-to-slices: runs of indices cut out and joined."""

from onnx import parser

import graphfix

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[{x}] x) => (float[{y}] y) '


def text(indices: str, axis: int, y: str, x: str = "3,5") -> str:
    head = HEAD.format(x=x, y=y)
    return head + f"<int64{indices}> {{ y = Gather <axis = {axis}> (x, i) }}"


def test_ncnn_takes_one_index_and_gets_several_in_slices() -> None:
    model = parser.parse_model(text("[3] i = {0, 1, 4}", 1, "3,3"))
    assert [f.feature for f in graphfix.check(model, "ncnn1.0")] == ["form:Gather.indices"]
    assert graphfix.run(model, "ncnn1.0", trust_rules=True).exit_code == 0
    assert not graphfix.check(parser.parse_model(text("[1] i = {4}", 1, "3,1")), "ncnn1.0")
