"""Type aliases of NumPy arrays, for signatures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]  #: an array of bool
Int8s = NDArray[np.int8]  #: an array of int8
Int32s = NDArray[np.int32]  #: an array of int32
Int64s = NDArray[np.int64]  #: an array of int64
Float32s = NDArray[np.float32]  #: an array of float32
Float64s = NDArray[np.float64]  #: an array of float64
