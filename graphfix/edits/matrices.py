"""Stored matrices, as they are and transposed."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
from onnx import NodeProto, TensorProto, numpy_helper

from graphfix.difference.scopes import Stored
from graphfix.ir.protos import normal_domain
from graphfix.ir.storage.weights import dtype_of, load_array, stored_bytes


def is_matrix(stored: Stored) -> TypeGuard[TensorProto]:
    """Say whether a stored tensor is dense, of two dimensions, and of numbers of whole bytes."""
    if not isinstance(stored, TensorProto) or len(stored.dims) != 2:
        return False
    dtype = dtype_of(stored.data_type)
    whole = stored_bytes(TensorProto(data_type=stored.data_type, dims=[8])) >= 8
    return whole and dtype is not None and dtype.kind != "O"


def transposes(node: NodeProto) -> bool:
    """Say whether a node transposes a matrix."""
    orders = [list(each.ints) for each in node.attribute if each.name == "perm"]
    named = (node.op_type, normal_domain(node.domain)) == ("Transpose", "")
    return named and orders in ([], [[1, 0]])


def transposed(stored: TensorProto, base_dir: str, name: str) -> TensorProto:
    """Return the transpose of a stored matrix, inside of the proto.

    Raises:
        InvalidModel: External data cannot be read or is too short.
    """
    turned = np.ascontiguousarray(load_array(stored, base_dir).T)
    found = numpy_helper.from_array(turned, name)
    found.data_type = stored.data_type
    return found
