"""What happens to a page's pixels in the child process, before an engine sees them and after it has read them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pageloom.model.blocks import Block, Chart, Figure, Formula, Seal, Signature
from pageloom.model.geometry import Box
from pageloom.model.image import DrawnPage, EncodedImage, PageImage
from pageloom.model.reading import Reading

if TYPE_CHECKING:
    from pageloom.model.image import Pixels

Cut = tuple[str, bytes]
Assets = dict[str, bytes]

JPEG_QUALITY = 90  # SERVING.md 1.3: 4.8 ms a page, 370 KB; PNG costs 10-50 times that
MAX_CROPS = 200  # a page that claims more pictures than this is noise


def tidied(drawn: DrawnPage, form: str) -> DrawnPage:
    """Judge whether a page can be read at all, and bring its pixels into the form that is asked for."""
    if drawn.image is None:
        return drawn
    from pageloom.imaging.readable import judge

    rgb = drawn.image.rgb
    has_content = drawn.text is not None and drawn.text.has_content
    state, measured = judge(rgb, has_content=has_content)
    drawn = replace(drawn, readable=state, measured={**drawn.measured, **measured})
    if form == "jpeg":
        height, width = rgb.shape[:2]
        return replace(drawn, image=None, encoded=EncodedImage(encoded(rgb), width, height))
    return drawn


def encoded(rgb: "Pixels") -> bytes:
    """Pixels as JPEG."""
    import cv2

    done, data = cv2.imencode(
        ".jpg",
        cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR),
        [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY],
    )
    if not done:
        raise MemoryError("the page could not be encoded")
    return bytes(data)


def with_crops(reading: Reading, image: PageImage | None) -> Reading:
    """The reading with a picture of every figure, chart, formula, seal and signature beside it."""
    if image is None:
        return reading
    wanted = pictured(reading.blocks)
    cuts = [cut(image, block.regions[0].box) for block in wanted]
    blocks, assets = named(reading.blocks, wanted, cuts)
    return replace(reading, blocks=blocks, assets={**reading.assets, **assets})


def pictured(blocks: Sequence[Block]) -> Sequence[Block]:
    """The blocks of which a picture is kept."""
    kinds = Figure | Chart | Formula | Seal | Signature
    return [block for block in blocks if isinstance(block, kinds) and block.regions and not block.asset][:MAX_CROPS]


def cut(image: PageImage, box: Box) -> Cut:
    """A region of a page as a picture file: its suffix and bytes; no bytes where the box holds no pixel."""
    from pageloom.layout.figures import crop, on_image

    found = crop(image, on_image(image, box))
    return (found.suffix, found.contents) if found else (".png", b"")


def named(blocks: Sequence[Block], wanted: Sequence[Block], cuts: Sequence[Cut]) -> tuple[tuple[Block, ...], Assets]:
    """Blocks that name their pictures, and the pictures; a name is made of the block's id, never of its words."""
    assets = {f"{block.id}{suffix}": data for block, (suffix, data) in zip(wanted, cuts, strict=True) if data}
    names = {name.rpartition(".")[0]: name for name in assets}
    return tuple(
        block.model_copy(update={"asset": names[block.id]}) if block.id in names else block for block in blocks
    ), assets
