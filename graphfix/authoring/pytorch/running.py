"""Running one call with PyTorch on arrays."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

from graphfix.authoring.pytorch.call import Argument, OperatorCall, bound
from graphfix.errors import EngineFailed

Array = np.ndarray[Any, Any]
_MOST_NUMBERS = 64
_BFLOAT16 = "bfloat16"
_TEXTS = "OSU"


def run_in_pytorch(
    operator: str,
    overload: str | None,
    inputs: Sequence[Any],
    attributes: Sequence[tuple[str, Argument]] = (),
) -> tuple[Array, ...]:
    """Call an operator.

    Args:
        operator: Its name.
        overload: Its overload; empty for the default one, None where none is named.
        inputs: Arrays, lists of arrays, None for what is left out.
        attributes: Further arguments by name.

    Returns:
        The outputs as arrays.

    Raises:
        EngineFailed: PyTorch has no such operator, or none of its overloads takes that, or several
            do.
    """
    torch: Any = importlib.import_module("torch")
    given = tuple(_given(value) for value in inputs)
    call = OperatorCall(operator, overload, given, tuple(attributes), outputs=0)
    tensors = [_tensor(torch, array) for value in inputs for array in _arrays(value)]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # several race for a place that an index names twice
    try:
        with torch.no_grad():
            results = bound(call).call(*tensors)
    except EngineFailed:
        raise
    except Exception as error:  # PyTorch's exceptions have no common base
        raise EngineFailed(f"{operator}: {str(error).partition(chr(10))[0]}") from error
    finally:
        torch.set_num_threads(threads)
    return tuple(_array(torch, result) for result in results)


def _arrays(value: Any) -> list[Array]:
    entries = [value] if _is_single(value) else list(value)
    arrays = [np.asarray(entry) for entry in entries if entry is not None]
    return [array for array in arrays if array.dtype.kind not in _TEXTS]


def _is_single(value: Any) -> bool:
    return value is None or isinstance(value, np.ndarray | np.generic)


def _given(value: Any) -> Argument | None:
    if value is None:
        return None
    if not _is_single(value):
        return Argument(tensors=tuple(_given(one) for one in value))
    array = np.asarray(value)
    if array.dtype.kind in _TEXTS and array.size == 1:
        text = array.reshape(-1)[0]
        return Argument(text=text.decode() if isinstance(text, bytes) else str(text))
    few = array.size <= _MOST_NUMBERS and array.dtype.kind in "biuf"
    numbers = tuple(array.ravel().tolist()) if few else None
    kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    return Argument(kind, array.shape, numbers, not array.shape)


def _tensor(torch: Any, array: Array) -> Any:
    whole = np.ascontiguousarray(array).reshape(array.shape)
    if array.dtype.name == _BFLOAT16:
        return torch.from_numpy(whole.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(whole if whole.flags.writeable else whole.copy())


def _array(torch: Any, tensor: Any) -> Array:
    kept = tensor.detach().contiguous()
    if kept.dtype == torch.bfloat16:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.BFLOAT16)
        return np.asarray(kept.view(torch.int16).numpy()).view(dtype)
    return np.asarray(kept.resolve_conj().numpy())
