"""where-through-int64: integers that are chosen as int64."""

import graphfix
from graphfix.testing import parse


def _text(kind: str, opset: int = 17, size: str = "2,3", body: str = "y = Where (c, a, b)") -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (bool[{size}] c, {kind}[{size}] a, '
        f"{kind}[3] b) => ({kind}[{size}] y) {{ {body} }}"
    )


def test_it_repairs_for_the_engine() -> None:
    result = graphfix.run(parse(_text("int32")), target="rknn2.3")
    assert "dtype:Where.int32" in [finding.feature for finding in result.report.findings_before]
    assert result.report.findings_after == ()
