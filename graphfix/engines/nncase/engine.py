"""nncase, the compiler for Kendryte's chips."""

from __future__ import annotations

from graphfix.engines.tables import TabledEngine


class Nncase(TabledEngine):
    """The compiler with its importer of ONNX files."""

    family = "nncase"
    title = "nncase"
