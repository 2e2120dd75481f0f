"""Picture files: every mode comes out as it is meant to look, limits hold before anything is decoded."""

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pageloom.contracts import SourceOptions
from pageloom.errors import DamagedDocument, DocumentTooLarge, EmptyDocument, PageNotFound
from pageloom.model.image import Target
from pageloom.sources.detect import open_source
from pageloom.sources.image import ImageSource

WIDE = Target(dpi=150, longest_px=4000, shortest_px=1)


def opened(path: Path, **options: object) -> ImageSource:
    source = open_source(path, None, SourceOptions.model_validate(options))
    assert isinstance(source, ImageSource)
    return source


def pixels(path: Path, number: int = 1, target: Target = WIDE) -> np.ndarray:
    image = opened(path).draw(number, target).image
    assert image is not None
    assert image.rgb.dtype == np.uint8
    return image.rgb


def arrow() -> Image.Image:
    """Red in the upper left corner, blue in the upper right one, 60 x 40."""
    picture = Image.new("RGB", (60, 40), "white")
    picture.paste((200, 0, 0), (0, 0, 20, 10))
    picture.paste((0, 0, 200), (40, 0, 60, 10))
    return picture


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_turn_is_undone(tmp_path: Path, orientation: int) -> None:
    undo = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # how the stored picture differs from the shown one
    picture = arrow()
    if orientation != 1:
        picture = picture.transpose(Image.Transpose(undo[orientation]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    picture.save(tmp_path / "turned.png", exif=exif)
    source = opened(tmp_path / "turned.png")
    rgb = pixels(tmp_path / "turned.png")
    assert rgb.shape == (40, 60, 3)
    assert source.pages[0].size.width > source.pages[0].size.height
    assert tuple(rgb[3, 3]) == (200, 0, 0)
    assert tuple(rgb[3, 56]) == (0, 0, 200)


@pytest.mark.parametrize("top", [65535, 4095, 255])
def test_deep_grey_is_scaled_to_its_range(tmp_path: Path, top: int) -> None:
    values = np.linspace(0, top, 100, dtype=np.uint16).reshape(10, 10)
    Image.fromarray(values).save(tmp_path / "deep.png")
    rgb = pixels(tmp_path / "deep.png")
    assert (rgb[0, 0, 0], rgb[-1, -1, 0]) == (0, 255)
    assert abs(int(rgb[5, 0, 0]) - 129) < 4


def test_float_grey_is_scaled(tmp_path: Path) -> None:
    values = np.array([[0.0, 0.5], [1.0, np.nan]], np.float32).repeat(10, 0).repeat(10, 1)
    Image.fromarray(values).save(tmp_path / "deep.tiff")
    assert pixels(tmp_path / "deep.tiff")[5::10, 5::10, 0].tolist() == [[0, 128], [255, 0]]


def test_cmyk_is_not_inverted(tmp_path: Path) -> None:
    arrow().convert("CMYK").save(tmp_path / "print.jpg", quality=95)
    rgb = pixels(tmp_path / "print.jpg").astype(int)
    assert rgb[30, 30].min() > 240
    assert rgb[4, 8, 0] > 150 > rgb[4, 8, 2] + 50


@pytest.mark.parametrize(("ink", "ground"), [(0, 255), (255, 0), (120, 255)])
def test_transparency_leaves_the_ink_readable(tmp_path: Path, ink: int, ground: int) -> None:
    picture = Image.new("RGBA", (100, 100), (ink, ink, ink, 0))
    picture.paste((ink, ink, ink, 255), (40, 40, 60, 60))
    picture.save(tmp_path / "clear.png")
    rgb = pixels(tmp_path / "clear.png")
    assert rgb[0, 0].tolist() == [ground] * 3
    assert rgb[50, 50].tolist() == [ink] * 3


def test_palette_with_transparency(tmp_path: Path) -> None:
    picture = Image.new("P", (50, 50), 0)
    picture.putpalette([9, 9, 9, 10, 20, 30])
    picture.paste(1, (20, 20, 30, 30))
    picture.save(tmp_path / "palette.png", transparency=0)
    rgb = pixels(tmp_path / "palette.png")
    assert rgb[0, 0].tolist() == [255, 255, 255]
    assert rgb[25, 25].tolist() == [10, 20, 30]


@pytest.mark.parametrize("suffix", ["gif", "tiff"])
def test_every_frame_is_a_page(tmp_path: Path, suffix: str) -> None:
    frames = [Image.new("L", (30, 20), level) for level in (0, 100, 200)]
    frames[0].save(tmp_path / f"frames.{suffix}", save_all=True, append_images=frames[1:], duration=100)
    source = opened(tmp_path / f"frames.{suffix}")
    assert [page.number for page in source.pages] == [1, 2, 3]
    for number, level in ((3, 200), (1, 0), (2, 100)):
        assert abs(int(pixels(tmp_path / f"frames.{suffix}", number)[5, 5, 0]) - level) <= 1
    with pytest.raises(PageNotFound):
        source.draw(4, WIDE)


def test_bilevel_tiff(tmp_path: Path) -> None:
    picture = Image.new("1", (64, 64), 1)
    picture.paste(0, (10, 10, 20, 20))
    for compression in ("group4", "packbits"):
        picture.save(tmp_path / "fax.tiff", compression=compression)
        rgb = pixels(tmp_path / "fax.tiff")
        assert (rgb[0, 0, 0], rgb[15, 15, 0]) == (255, 0)


def bomb(width: int, height: int) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"never looked at") + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [10_001, 30_000, 2_000_000])
def test_pixels_are_counted_before_they_are_decoded(tmp_path: Path, side: int) -> None:
    (tmp_path / "bomb.png").write_bytes(bomb(side, side))
    with pytest.raises(DocumentTooLarge, match="max_megapixels"):
        opened(tmp_path / "bomb.png")


def test_pixel_limit_is_the_callers(tmp_path: Path) -> None:
    arrow().save(tmp_path / "a.png")
    with pytest.raises(DocumentTooLarge):
        opened(tmp_path / "a.png", max_pixels=60 * 40 - 1)
    assert len(opened(tmp_path / "a.png", max_pixels=60 * 40).pages) == 1


def test_too_many_frames_are_refused(tmp_path: Path) -> None:
    frames = [Image.new("L", (4, 4), level) for level in range(5)]
    frames[0].save(tmp_path / "long.tiff", save_all=True, append_images=frames[1:])
    with pytest.raises(DocumentTooLarge, match="max_pages"):
        opened(tmp_path / "long.tiff", max_pages=4)


@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_cut_picture_is_drawn_as_far_as_it_goes(tmp_path: Path, suffix: str) -> None:
    noise = np.random.default_rng(1).integers(0, 120, (400, 300, 3), np.uint8)
    path = tmp_path / f"cut.{suffix}"
    Image.fromarray(noise).save(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    page = opened(path).draw(1, WIDE)
    assert page.notes == ("truncated_image",)
    assert page.image is not None
    assert page.image.rgb[:100].std() > 20


def test_whole_picture_has_no_remark(tmp_path: Path) -> None:
    arrow().save(tmp_path / "a.jpg")
    assert opened(tmp_path / "a.jpg").draw(1, WIDE).notes == ()


def test_broken_header_is_damage_without_a_path(tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00")
    with pytest.raises(DamagedDocument) as error:
        opened(tmp_path / "broken.png")
    assert str(tmp_path) not in str(error.value)


def test_no_bytes_are_empty(tmp_path: Path) -> None:
    (tmp_path / "nothing.png").write_bytes(b"")
    with pytest.raises(EmptyDocument):
        opened(tmp_path / "nothing.png")


def test_one_pixel_is_drawn(tmp_path: Path) -> None:
    Image.new("RGB", (1, 1), "black").save(tmp_path / "dot.png")
    assert pixels(tmp_path / "dot.png").min() == 0


@pytest.mark.parametrize(
    ("size_px", "dpi", "width_pt"),
    [
        ((1240, 1754), (150, 150), 1240 * 72 / 150),
        ((2480, 3508), (300, 300), 2480 * 72 / 300),
        ((1200, 800), (1, 1), 1200 * 72 / 150),
        ((4000, 3000), (72, 72), 4000 * 72 / 150),
        ((1000, 1000), None, 1000 * 72 / 150),
    ],
)
def test_points_come_from_believable_tags(
    tmp_path: Path, size_px: tuple[int, int], dpi: tuple[int, int] | None, width_pt: float
) -> None:
    Image.new("L", size_px, 255).save(tmp_path / "a.jpg", **({"dpi": dpi} if dpi else {}))
    assert opened(tmp_path / "a.jpg").pages[0].size.width == pytest.approx(width_pt)


def test_fax_with_oblong_pixels_keeps_its_shape(tmp_path: Path) -> None:
    Image.new("1", (1728, 1078), 1).save(tmp_path / "fax.tiff", compression="group4", dpi=(204, 98))
    source = opened(tmp_path / "fax.tiff")
    size = source.pages[0].size
    assert size.height / size.width == pytest.approx(11 / 8.47, rel=0.01)
    image = source.draw(1, Target()).image
    assert image is not None
    assert image.rgb.shape[0] / image.rgb.shape[1] == pytest.approx(size.height / size.width, rel=0.01)


def test_scan_is_brought_to_the_wished_dpi_and_a_photo_only_to_the_longest_side(tmp_path: Path) -> None:
    Image.new("L", (2480, 3508), 255).save(tmp_path / "scan.jpg", dpi=(300, 300))
    Image.new("L", (4000, 3000), 255).save(tmp_path / "photo.jpg", dpi=(72, 72))
    Image.new("L", (300, 200), 255).save(tmp_path / "small.png")
    assert pixels(tmp_path / "scan.jpg", target=Target()).shape == (1754, 1240, 3)
    assert pixels(tmp_path / "photo.jpg", target=Target()).shape == (1728, 2304, 3)
    assert pixels(tmp_path / "small.png", target=Target()).shape == (200, 300, 3)


def test_text_alone_of_a_picture_is_none(tmp_path: Path) -> None:
    arrow().save(tmp_path / "a.png")
    page = opened(tmp_path / "a.png").draw(1, None)
    assert (page.image, page.text) == (None, None)


def test_pillows_own_switches_are_put_back(tmp_path: Path) -> None:
    before = Image.MAX_IMAGE_PIXELS
    (tmp_path / "bomb.png").write_bytes(bomb(30_000, 30_000))
    with pytest.raises(DocumentTooLarge):
        opened(tmp_path / "bomb.png")
    assert before == Image.MAX_IMAGE_PIXELS


def test_thumbnail_in_a_tiff_is_no_page(tmp_path: Path) -> None:
    small, large = Image.new("L", (20, 30), 90), Image.new("L", (200, 300), 180)
    small.encoderinfo = {"tiffinfo": {254: 1}}
    large.save(tmp_path / "camera.tiff", save_all=True, append_images=[small, large])
    source = opened(tmp_path / "camera.tiff")
    assert [page.number for page in source.pages] == [1, 2]
    assert pixels(tmp_path / "camera.tiff", 2)[5, 5, 0] == 180


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "CMYK", "1", "P"])
def test_large_picture_is_brought_to_size_in_every_mode(tmp_path: Path, mode: str) -> None:
    suffix = "tiff" if mode == "CMYK" else "png"
    picture = Image.new("L", (3000, 2000), 255)
    picture.paste(0, (0, 0, 1500, 1000))
    picture.convert(mode).save(tmp_path / f"large.{suffix}")
    rgb = pixels(tmp_path / f"large.{suffix}", target=Target(longest_px=600))
    assert rgb.shape == (400, 600, 3)
    assert (rgb[50, 50].max() < 60, rgb[350, 550].min() > 240) == (True, True)
