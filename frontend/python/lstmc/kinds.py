"""Types of arguments, for annotations."""

import os
from collections.abc import Sequence
from typing import Any, Optional, Union

Shape = Union[int, Sequence[Optional[int]]]
DType = Any  # a class or dtype of NumPy, or a name
Path = Union[str, "os.PathLike[str]"]
