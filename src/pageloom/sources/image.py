"""Pictures as documents: PNG, JPEG, WebP, GIF, BMP, TIFF, HEIC; each frame is a page, one decoded at a time."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pi_heif
from PIL import Image, ImageFile

from pageloom.contracts import SourceOptions
from pageloom.errors import DamagedDocument, DocumentTooLarge, EmptyDocument, PageNotFound, UnsupportedFormat
from pageloom.model.document import Reason
from pageloom.model.geometry import PageSize
from pageloom.model.image import DrawnPage, PageImage, PageInfo, Target
from pageloom.sources.colours import to_rgb
from pageloom.sources.detect import media_type_of
from pageloom.sources.pixels import drawn_size, has_colour

pi_heif.register_heif_opener()
# Pillow opens nothing but the kind that the bytes say; its other 40 decoders stay shut.
_PILLOW_FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/webp": "WEBP",
    "image/gif": "GIF",
    "image/bmp": "BMP",
    "image/tiff": "TIFF",
}
_ORIENTATION = 0x0112  # EXIF
_TURNS_SIDEWAYS = frozenset({5, 6, 7, 8})
_FOREIGN = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    EOFError,
    ZeroDivisionError,
    RuntimeError,
)

_REDUCIBLE = frozenset({"L", "LA", "RGB", "RGBA", "CMYK", "YCbCr"})

ASSUMED_DPI = 150.0
# A dpi tag is believed when it makes a page between a visiting card and A2 in size.
_BELIEVED_DPI = (50.0, 1250.0)
_BELIEVED_INCHES = (1.5, 24.0)
# ... and pixels above the wished dpi are given up only for pages of a scanner's size: A5 to A3.
_SCANNED_INCHES = (7.0, 17.5)


@dataclass(frozen=True, slots=True)
class _Frame:
    """A frame before it is decoded.

    Attributes:
        width, height: pixels as shown, after the EXIF turn.
        orientation: EXIF orientation, 1-8.
        dpi: horizontal and vertical, as believed; None where the tags say nothing or nonsense.
        place: in the file, from 0.
    """

    width: int
    height: int
    orientation: int
    dpi: tuple[float, float] | None
    place: int


class ImageSource:
    """An open picture file.

    Attributes:
        pages: one for each frame (JPEG and WebP and PNG: the first picture only, GIF and TIFF: all of them).
        remarks: code `truncated_image` once a cut file was drawn as far as it goes.
    """

    def __init__(self, path: Path, kind: str, options: SourceOptions) -> None:
        self._path = path
        self._kind = kind
        self._options = options
        self._frames = tuple(self._look())
        if not self._frames:
            raise EmptyDocument("the picture file has no frames")
        self.pages: Sequence[PageInfo] = tuple(
            PageInfo(number, _size(frame)) for number, frame in enumerate(self._frames, start=1)
        )
        self.remarks: Sequence[Reason] = ()

    def draw(self, number: int, target: Target | None) -> DrawnPage:
        """Decode one frame; a picture is made smaller to fit the target, never larger than it is.

        Raises:
            DamagedDocument: nothing of the frame can be decoded.
            PageNotFound: there is no such frame.
        """
        if not 1 <= number <= len(self.pages):
            raise PageNotFound(f"page {number}: the document has {len(self.pages)} pages")
        info = self.pages[number - 1]
        if target is None:
            return DrawnPage(info, None, None)
        frame = self._frames[number - 1]
        width, height, dpi = _drawn(frame, info.size, target, self._options.max_pixels)
        with _allowing(self._options.max_pixels), self._opened() as picture:
            shown, cut = self._decoded(picture, number, frame, (width, height))
        rgb = np.ascontiguousarray(np.asarray(shown, np.uint8))
        notes = ("truncated_image",) if cut else ()
        image = PageImage(number, info.size, rgb, dpi, colour=has_colour(rgb))
        return DrawnPage(info, image, None, notes=notes)

    def close(self) -> None:
        """Nothing is held between pages."""

    # --- looking ---

    def _look(self) -> Iterator[_Frame]:
        """Sizes of all frames from their headers, nothing decoded."""
        with _allowing(self._options.max_pixels), self._opened() as picture:
            count = self._count(picture)
            if count > self._options.max_pages:
                raise DocumentTooLarge(
                    f"the picture file has {count} frames; at most {self._options.max_pages} are taken "
                    "(limits.max_pages)"
                )
            for at in range(count):
                if at:
                    self._seek(picture, at)
                if count == 1 or not _is_thumbnail(picture):
                    yield self._measured(picture, at)

    def _measured(self, picture: Image.Image, place: int) -> _Frame:
        width, height = picture.size
        if width * height > self._options.max_pixels:
            raise DocumentTooLarge(
                f"the picture has {width * height / 1e6:.0f} megapixels ({width} x {height}); at most "
                f"{self._options.max_pixels / 1e6:g} are taken (limits.max_megapixels)"
            )
        orientation = self._orientation(picture)
        dpi = _believed_dpi(picture)
        if orientation in _TURNS_SIDEWAYS:
            width, height = height, width
            dpi = (dpi[1], dpi[0]) if dpi else None
        return _Frame(width, height, orientation, dpi, place)

    def _orientation(self, picture: Image.Image) -> int:
        if self._kind == "image/heic":  # libheif has turned it already
            return 1
        try:
            turn = picture.getexif().get(_ORIENTATION, 1)
        except _FOREIGN:  # an EXIF block that cannot be read turns nothing
            return 1
        return turn if isinstance(turn, int) and 1 <= turn <= 8 else 1

    def _count(self, picture: Image.Image) -> int:
        if self._kind not in {"image/gif", "image/tiff", "image/heic"}:
            return 1
        try:
            return int(getattr(picture, "n_frames", 1))
        except _FOREIGN:  # a chain of frames that breaks off: what is sure is the first
            return 1

    # --- opening and decoding ---

    @contextmanager
    def _opened(self) -> Iterator[Image.Image]:
        try:
            picture = self._open()
        except Image.DecompressionBombError as error:
            most = self._options.max_pixels / 1e6
            raise DocumentTooLarge(f"the picture has more than {most:g} megapixels (limits.max_megapixels)") from error
        except _FOREIGN as error:
            raise DamagedDocument(f"the picture is damaged: its {self._kind} header cannot be read") from error
        with picture:
            yield picture

    def _open(self) -> Image.Image:
        if self._kind == "image/heic":
            return Image.open(self._path, formats=("HEIF",))
        return Image.open(self._path, formats=(_PILLOW_FORMATS[self._kind],))

    def _seek(self, picture: Image.Image, at: int) -> None:
        try:
            picture.seek(at)
        except _FOREIGN as error:
            raise DamagedDocument(f"page {at + 1}: this frame of the picture file is broken") from error

    def _decoded(
        self, picture: Image.Image, number: int, frame: _Frame, size: tuple[int, int]
    ) -> tuple[Image.Image, bool]:
        """RGB of one frame, upright, at the wished size; and whether the file was cut short."""
        if frame.place:
            self._seek(picture, frame.place)
        if self._kind == "image/jpeg":  # decode no more of it than will be kept
            sideways = frame.orientation in _TURNS_SIDEWAYS
            picture.draft("RGB", (size[1], size[0]) if sideways else size)
        cut = self._load(picture, number)
        try:
            shown = to_rgb(_reduced(picture, size, frame))
            if frame.orientation != 1:
                shown = _turned(shown, frame.orientation)
            if shown.size != size:
                shown = shown.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)
        except _FOREIGN as error:
            raise DamagedDocument(f"page {number}: the picture cannot be decoded") from error
        return shown, cut

    def _load(self, picture: Image.Image, number: int) -> bool:
        """Decode; a file that breaks off is decoded as far as it goes. Returns whether it broke off."""
        try:
            picture.load()
        except _FOREIGN:
            pass
        else:
            return False
        with _allowing(self._options.max_pixels, cut=True):
            try:
                picture.load()
            except _FOREIGN as error:
                raise DamagedDocument(f"page {number}: the picture cannot be decoded") from error
        return True


@contextmanager
def _allowing(max_pixels: int, *, cut: bool = False) -> Iterator[None]:
    """Pillow's own switches, set for one call and put back: its pixel limit, and whether cut files are decoded."""
    before = Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES
    Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES = max_pixels, cut
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of odd metadata; what matters is raised
            yield
    finally:
        Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES = before


def _is_thumbnail(picture: Image.Image) -> bool:
    """Whether a TIFF frame is a small copy of another (NewSubfileType bit 0, TIFF 6.0 section 8)."""
    tags = getattr(picture, "tag_v2", {})
    kind = tags.get(254, 0)
    return isinstance(kind, int) and bool(kind & 1)


def _reduced(picture: Image.Image, size: tuple[int, int], frame: _Frame) -> Image.Image:
    """A picture of many pixels made smaller by a whole factor, before colour conversion copies it several times."""
    width, height = (size[1], size[0]) if frame.orientation in _TURNS_SIDEWAYS else size
    factor = min(picture.width // width, picture.height // height)
    return picture.reduce(factor) if factor > 1 and picture.mode in _REDUCIBLE else picture


def _believed_dpi(picture: Image.Image) -> tuple[float, float] | None:
    claimed = picture.info.get("dpi")
    try:
        across, down = (float(value) for value in claimed) if claimed else (0.0, 0.0)
    except _FOREIGN:
        return None
    low, high = _BELIEVED_DPI
    if not (low <= across <= high and low <= down <= high):
        return None
    # Fax pages have oblong pixels (204 x 98 dpi, ITU-T T.4); elsewhere unequal tags are a mistake.
    oblong = picture.format == "TIFF" and 0.4 < across / down < 2.5
    if not oblong and not 0.95 < across / down < 1.05:
        return None
    inches = max(picture.size[0] / across, picture.size[1] / down)
    return (across, down) if _BELIEVED_INCHES[0] <= inches <= _BELIEVED_INCHES[1] else None


def _size(frame: _Frame) -> PageSize:
    across, down = frame.dpi or (ASSUMED_DPI, ASSUMED_DPI)
    return PageSize(frame.width * 72.0 / across, frame.height * 72.0 / down)


def _drawn(frame: _Frame, size: PageSize, target: Target, max_pixels: int) -> tuple[int, int, float]:
    """Pixels at which a frame is drawn: no more than it has, and no more than asked for."""
    own_dpi = max(frame.dpi) if frame.dpi else ASSUMED_DPI
    longer_px = max(size.width, size.height) * own_dpi / 72.0
    inches = longer_px / own_dpi
    scanned = frame.dpi is not None and _SCANNED_INCHES[0] <= inches <= _SCANNED_INCHES[1]
    if not scanned or own_dpi <= target.dpi:
        target = Target(own_dpi, target.longest_px, 1)
    else:
        target = Target(target.dpi, target.longest_px, min(target.shortest_px, int(longer_px)))
    return drawn_size(size, target, max_pixels)


def _turned(picture: Image.Image, orientation: int) -> Image.Image:
    """EXIF orientations 2-8 undone (Exif 2.32, table of tag 0x0112)."""
    moves = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    return picture.transpose(moves[orientation])


class ImageFactory:
    """Opens picture files."""

    media_types: ClassVar[frozenset[str]] = frozenset({*_PILLOW_FORMATS, "image/heic"})

    def open(self, path: Path, password: str | None, options: SourceOptions) -> ImageSource:  # noqa: ARG002 - contract
        """Open a picture file; pictures have no passwords.

        Raises:
            DamagedDocument, EmptyDocument, DocumentTooLarge, UnsupportedFormat
        """
        kind = media_type_of(path)
        if kind not in self.media_types:
            raise UnsupportedFormat(f"{kind} is no picture")
        return ImageSource(path, kind, options)


FACTORY = ImageFactory()
