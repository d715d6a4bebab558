"""Pictures that notebooks show."""

from __future__ import annotations

from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from .kinds import Path


class Picture:
    """A picture as bytes of a format: "svg", "png", "pdf" or "dot". Immutable: threads may share
    it."""

    def __init__(self, data: bytes, form: str) -> None:
        self.data = data
        self.format = form

    def _repr_svg_(self):
        return self.data.decode() if self.format == "svg" else None

    def _repr_png_(self):
        return self.data if self.format == "png" else None

    def save(self, path: Path) -> None:
        with open(path, "wb") as file:
            file.write(self.data)
