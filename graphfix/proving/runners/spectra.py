"""What STFT computes, also of signals of rank 2.

PyTorch writes a signal without an axis for its parts, which onnxruntime takes. The evaluator of
onnx 1.23 takes the signals of a batch for the samples of one there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphfix.proving.values.kinds import Array


def short_time_spectra(inputs: list[Any], attributes: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the spectrum of each frame, [batch, frames, bins, 2].

    Args:
        inputs: The signal [batch, samples], or with an axis of one or two parts after; the step;
            the window or None; the length of a frame or None.
        attributes: `onesided`.

    Raises:
        ValueError: The window is of another length than a frame.
    """
    x: Array = inputs[0]
    window: Array | None = inputs[2] if len(inputs) > 2 else None
    size = inputs[3] if len(inputs) > 3 else None
    length = int(size) if size is not None else 0 if window is None else len(window)
    if window is not None and len(window) != length:
        raise ValueError(f"a window of {len(window)} for frames of {length}")
    parts: Array = x[..., None] if x.ndim == 2 else x
    signal: Array = parts[..., 0] if parts.shape[2] == 1 else parts[..., 0] + 1j * parts[..., 1]
    starts = range(0, signal.shape[1] - length + 1, int(inputs[1]))
    frames: Array = np.stack([signal[:, at : at + length] for at in starts], axis=1)
    windowed: Array = frames if window is None else frames * window
    spectra: np.ndarray[Any, np.dtype[np.complex128]] = np.fft.fft(windowed)
    if attributes.get("onesided", 1):
        spectra = spectra[..., : length // 2 + 1]
    return (np.stack([spectra.real, spectra.imag], axis=-1).astype(x.dtype),)
