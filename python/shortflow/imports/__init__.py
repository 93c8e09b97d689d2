"""Files of other tools as scenarios. Each format is a module and an entry of `formats.FORMATS`."""

from typing import TYPE_CHECKING

from shortflow.lazy import modules

if TYPE_CHECKING:
    from shortflow.imports import formats as formats
    from shortflow.imports import own as own

__getattr__ = modules(__name__)
