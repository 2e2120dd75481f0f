"""What happens to a page's pixels in the child process, before an engine sees them and after it has read them."""

from dataclasses import replace
from typing import TYPE_CHECKING

from pageloom.model.blocks import Block, Chart, Figure, Formula, Seal, Signature
from pageloom.model.image import DrawnPage, EncodedImage, PageImage
from pageloom.model.reading import Reading

if TYPE_CHECKING:
    from pageloom.model.image import Pixels

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
    from pageloom.layout.figures import crop

    assets = dict(reading.assets)
    blocks: list[Block] = []
    for block in reading.blocks:
        if isinstance(block, Figure | Chart | Formula | Seal | Signature) and block.regions and len(assets) < MAX_CROPS:
            name = asset_name(block.id)
            assets.setdefault(name, crop(image, block.regions[0].box))
            blocks.append(block.model_copy(update={"asset": name}))
        else:
            blocks.append(block)
    return replace(reading, blocks=tuple(blocks), assets=assets)


def asset_name(block_id: str) -> str:
    """The file name of a block's crop; made from its id alone, never from words of the document."""
    return f"{block_id}.jpg"
