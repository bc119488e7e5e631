"""A picture from whatever a data set or a generator holds: a file, bytes, ``{"bytes", "path"}``, an array, a PIL image.

Pictures come from outside: only plain raster formats are opened (PIL would start Ghostscript for EPS), only up to a size,
and nothing is fetched from the network.

>>> open_picture(None)
Traceback (most recent call last):
...
rlvr_cli.verifiers.image.pictures.NoPicture: the row has no picture
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from rlvr_cli.errors import MissingDependency

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM")
MOST_PIXELS = 50_000_000


class NoPicture(Exception):
    """There is no picture to judge. ``of_completion``: because the answer led to none, so it earns nothing."""

    def __init__(self, what: str, *, of_completion: bool = False):
        super().__init__(what)
        self.of_completion = of_completion


def open_picture(value: Any, root: str | None = None) -> Any:
    """An RGB ``PIL.Image``. ``root``: folder of relative file names (the working folder). Raises NoPicture."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependency("judging images needs Pillow", fix="pip install 'rlvr[vision]'") from error
    if isinstance(value, (list, tuple)) and len(value) == 1:
        value = value[0]
    if value is None or (isinstance(value, (list, tuple)) and not value):
        raise NoPicture("the row has no picture")
    try:
        picture = value if isinstance(value, Image.Image) else _decoded(Image, value, root)
        if picture.width * picture.height > MOST_PIXELS:
            raise NoPicture(f"the picture has {picture.width}x{picture.height} pixels, more than {MOST_PIXELS}")
        return picture.convert("RGB")
    except NoPicture:
        raise
    except Exception as error:  # a decoder may raise anything on a broken file
        raise NoPicture(f"the picture can not be read: {type(error).__name__}: {str(error)[:100]}") from error


def _decoded(image: Any, value: Any, root: str | None) -> Any:
    if isinstance(value, dict):
        value = value.get("bytes") if value.get("bytes") is not None else value.get("path")
    if isinstance(value, (bytes, bytearray)):
        return image.open(io.BytesIO(value), formats=FORMATS)
    if hasattr(value, "__array_interface__"):
        return image.fromarray(value)
    if isinstance(value, (str, Path)):
        if "://" in str(value):
            raise NoPicture(f"a picture is a file, not an address: {str(value)[:80]}")
        return image.open(Path(root or ".") / value, formats=FORMATS)
    raise NoPicture(f"a {type(value).__name__} is no picture")
