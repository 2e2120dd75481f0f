"""What the layout room is given: the found lines of one page, its pixels, its rulings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pageloom.model.geometry import Box, PageSize
from pageloom.model.image import PageImage, Ruling, TextLine

Reread = Callable[[Box, int], Sequence[TextLine]]
"""Read one region again: box in the image's frame, degrees clockwise it is turned first (0/90/180/270)."""


@dataclass(frozen=True, slots=True)
class LayoutPage:
    """One page whose lines are to become blocks.

    Everything here is in the frame of `image` (or, without pixels, of the page as shown): fractions 0-1 of it. The
    caller maps the blocks to the page afterwards (`model.placing`).

    Attributes:
        image: upright and deskewed pixels, or None where only a text layer is there.
        lines: in no particular order; rotated lines tell their `angle`.
        rulings, pictures: vector rulings and image boxes where a PDF tells them.
        basis: what the lines come from.
        reread: how a region can be read again (table cells cut across by a line, turned regions), or None.
    """

    number: int
    size: PageSize
    lines: tuple[TextLine, ...]
    image: PageImage | None = None
    rulings: tuple[Ruling, ...] = ()
    pictures: tuple[Box, ...] = ()
    basis: str = "recogniser"
    languages: tuple[str, ...] = ()
    reread: Reread | None = None
