# SPDX-License-Identifier: Apache-2.0
"""Devices by name, and arrays in their memory.

A device is "cpu", "cuda" (a GPU; on a machine with several GPUs each process takes one), "cuda:N" (GPU number N as the
process counts), or "host-executor", which runs the GPU's kernels as loops on the CPU, for tests: many times slower than
"cpu".
"""

from __future__ import annotations

import difflib
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halocline import _halocline
from halocline.errors import InvalidArgument
from halocline.schema import Unfit

DEVICES = ("cpu", "cuda", "cuda:0", "host-executor")
HALO_POLICIES = (*_halocline.gpu.HALO_POLICIES, "auto")
"""Methods to send faces between GPUs (docs/gpu.md); "auto" times the available ones and keeps the fastest."""
INNER_PRECISIONS = tuple(name for name in _halocline.qcd.INNER_PRECISIONS if name != "auto")
CPU, CUDA = 1, 2  # device types of DLPack


def device_name(value: Any) -> str:
    """A check for run files (schema.py): one of the names above. Does not check that the GPU exists."""
    if isinstance(value, str) and (value in DEVICES or re.fullmatch(r"cuda:\d{1,3}", value)):
        return value
    near = difflib.get_close_matches(value.lower(), DEVICES, n=1, cutoff=0.5) if isinstance(value, str) else []
    raise Unfit(
        '"cpu", "cuda" or "cuda:N" with the number of a GPU' + (f' (did you mean "{near[0]}"?)' if near else "")
    )


def checked_device(name: Any) -> str:
    """Checks a device name in an argument of a function and returns it. Raises InvalidArgument for another name."""
    try:
        return device_name(name)
    except Unfit as unfit:
        raise InvalidArgument(f"device = {name!r}: expected {unfit}.") from None


def refuse_absent(name: str) -> None:
    """Raises InvalidArgument if this machine does not have the device. Not collective.

    Does not open an existing GPU: each process would allocate memory on a GPU that it may not use.
    """
    name = checked_device(name)
    absent_gpu = name.startswith("cuda") and int(name[5:] or 0) >= len(_halocline.gpu.gpus())
    if absent_gpu or (name == "host-executor" and not _halocline.qcd.device_kernels):
        _halocline.qcd.open_device(name)


class DeviceArray:
    """Numbers in the memory of a device, complex128 in C order.

    Other libraries can use it without a copy: through DLPack (`torch.from_dlpack(a)`, `cupy.from_dlpack(a)`,
    `jax.dlpack`), on a GPU also through `__cuda_array_interface__` (`cupy.asarray(a)`, Numba), on the host executor
    through `numpy.from_dlpack(a)`. The numbers are complete when the array exists, so no stream needs to be
    synchronized. The memory lives as long as the array or any array made from it. `numpy()` copies to the host.

    >>> import numpy as np, halocline as hc
    >>> D = hc.qcd.WilsonClover(hc.qcd.unit_links([4, 4, 4, 4]), mass=0.5, device="host-executor")
    >>> x = D.solver.solve_on_device([hc.qcd.point_source(D.geometry, [0, 0, 0, 0], 0, 0)])
    >>> x.shape, x.device, np.array_equal(np.from_dlpack(x), x.numpy())
    ((1, 4, 4, 4, 4, 4, 3), 'host-executor', True)
    """

    def __init__(self, held: Any) -> None:
        """held: an object of the extension; users do not construct this class."""
        self._held = held

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._held.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.complex128)

    @property
    def nbytes(self) -> int:
        return self._held.bytes

    @property
    def device(self) -> str:
        """ "cuda:N" or "host-executor"."""
        return f"cuda:{self._held.ordinal}" if self._held.on_gpu else "host-executor"

    def numpy(self) -> NDArray[np.complex128]:
        """A copy in host memory."""
        return self._held.copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array on a device reaches NumPy by a copy; on the host executor use from_dlpack.")
        return self.numpy().astype(dtype, copy=False) if dtype is not None else self.numpy()

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        here = self.__dlpack_device__()
        elsewhere = dl_device is not None and tuple(dl_device) != here
        if elsewhere and (tuple(dl_device) != (CPU, 0) or copy is False):  # type: ignore[arg-type]
            raise BufferError(
                f"the array is on the DLPack device {here}, and can be copied to (1, 0), the host, alone."
            )
        if elsewhere or (copy and here == (CPU, 0)):
            return self.numpy().__dlpack__(max_version=max_version)
        if copy:
            raise BufferError("a copy on the device itself is not made here; take the array and copy it there.")
        return self._held.exported().__dlpack__(max_version=max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (CUDA, self._held.ordinal) if self._held.on_gpu else (CPU, 0)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if not self._held.on_gpu:
            raise AttributeError("the array is not on a GPU.")
        return {
            "shape": self.shape,
            "typestr": "<c16",
            "data": (self._held.address, False),
            "strides": None,
            "stream": None,
            "version": 3,
        }

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray({' x '.join(map(str, self.shape))} complex128 on {self.device})"
