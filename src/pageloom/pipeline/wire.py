"""Frames between this process and its child processes: a JSON head and raw bytes, never pickles.

A child decodes strangers' files; whatever it sends is data of a known shape, so that a child taken over by a
hostile file cannot run code in its parent.
"""

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter

from pageloom.model.document import EngineName, Reason
from pageloom.model.geometry import PageSize, Placement
from pageloom.model.image import DrawnPage, EncodedImage, PageImage, PageInfo, PageText, Target
from pageloom.model.reading import Ask, PageRequest, Reading

HEAD = struct.Struct("<II")  # bytes of the JSON head, number of blobs
SIZE = struct.Struct("<Q")
MAX_HEAD = 1 << 30
MAX_BLOB = 1 << 32

Blob = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: what it is about, and large bytes beside it."""

    head: dict[str, Any]
    blobs: tuple[Blob, ...] = ()


def packed(frame: Frame) -> list[Blob]:
    """The pieces to write, in order; pixels are not copied."""
    head = orjson.dumps(frame.head)
    sizes = b"".join(SIZE.pack(len(memoryview(blob).cast("B"))) for blob in frame.blobs)
    return [HEAD.pack(len(head), len(frame.blobs)) + sizes, head, *frame.blobs]


_TEXT: TypeAdapter[PageText | None] = TypeAdapter(PageText | None)
_INFO: TypeAdapter[PageInfo] = TypeAdapter(PageInfo)
_SIZE: TypeAdapter[PageSize] = TypeAdapter(PageSize)
_PLACEMENT: TypeAdapter[Placement] = TypeAdapter(Placement)
_TARGET: TypeAdapter[Target | None] = TypeAdapter(Target | None)
_REASONS: TypeAdapter[list[Reason]] = TypeAdapter(list[Reason])
_READING: TypeAdapter[Reading] = TypeAdapter(Reading)
_ASK: TypeAdapter[Ask] = TypeAdapter(Ask)


def as_text(words: str | Path) -> str:
    """A path or password as text that JSON can carry, also where it is no valid Unicode."""
    return os.fsencode(words).decode("latin-1")


def from_text(text: str) -> str:
    """What `as_text` was given."""
    return os.fsdecode(text.encode("latin-1"))


def target_json(target: Target | None) -> Any:  # noqa: ANN401 - JSON
    """A target as JSON."""
    return _TARGET.dump_python(target, mode="json")


def target_from(value: Any) -> Target | None:  # noqa: ANN401 - JSON
    """A target from JSON."""
    return _TARGET.validate_python(value)


def opened_json(infos: Sequence[PageInfo], remarks: Sequence[Reason]) -> dict[str, Any]:
    """Pages and remarks of an opened source as JSON."""
    return {
        "pages": [[info.number, info.size.width, info.size.height] for info in infos],
        "remarks": _REASONS.dump_python(list(remarks), mode="json"),
    }


def opened_from(head: dict[str, Any]) -> tuple[tuple[PageInfo, ...], tuple[Reason, ...]]:
    """Pages and remarks of an opened source."""
    infos = tuple(PageInfo(int(n), PageSize(float(w), float(h))) for n, w, h in head["pages"])
    return infos, tuple(_REASONS.validate_python(head["remarks"]))


def _image_json(image: PageImage) -> dict[str, Any]:
    height, width = image.rgb.shape[:2]
    return {
        "number": image.number,
        "size": _SIZE.dump_python(image.size, mode="json"),
        "width": width,
        "height": height,
        "dpi": image.dpi,
        "placement": _PLACEMENT.dump_python(image.placement, mode="json"),
        "colour": image.colour,
    }


def _image_from(value: dict[str, Any], pixels: Blob) -> PageImage:
    import numpy as np  # a process that never sees pixels stays small

    rgb = np.frombuffer(pixels, dtype=np.uint8).reshape(int(value["height"]), int(value["width"]), 3)
    return PageImage(
        number=int(value["number"]),
        size=_SIZE.validate_python(value["size"]),
        rgb=rgb,
        dpi=float(value["dpi"]),
        placement=_PLACEMENT.validate_python(value["placement"]),
        colour=bool(value["colour"]),
    )


@dataclass(frozen=True, slots=True)
class PassingImage:
    """Pixels on their way from the process that drew them to the one that reads them."""

    head: dict[str, Any]
    pixels: Blob


def drawn_frame(drawn: DrawnPage) -> Frame:
    """A drawn page as a frame; pixels or JPEG beside the head."""
    blobs: list[Blob] = []
    image: dict[str, Any] | None = None
    if drawn.image is not None:
        import numpy as np

        image = _image_json(drawn.image)
        blobs.append(np.ascontiguousarray(drawn.image.rgb).data.cast("B"))
    encoded: list[int] | None = None
    if drawn.encoded is not None:
        encoded = [drawn.encoded.width_px, drawn.encoded.height_px]
        blobs.append(drawn.encoded.jpeg)
    head = {
        "info": _INFO.dump_python(drawn.info, mode="json"),
        "image": image,
        "encoded": encoded,
        "text": _TEXT.dump_python(drawn.text, mode="json"),
        "notes": list(drawn.notes),
        "readable": drawn.readable,
        "measured": drawn.measured,
    }
    return Frame(head, tuple(blobs))


@dataclass(frozen=True, slots=True)
class Drawn:
    """A drawn page as its parent sees it: pixels are passed on, not looked at."""

    page: DrawnPage
    passing: PassingImage | None


def drawn_from(frame: Frame) -> Drawn:
    """A drawn page from a frame."""
    head, blobs = frame.head, list(frame.blobs)
    passing = PassingImage(head["image"], blobs.pop(0)) if head["image"] is not None else None
    encoded = None
    if head["encoded"] is not None:
        width, height = head["encoded"]
        encoded = EncodedImage(bytes(blobs.pop(0)), int(width), int(height))
    page = DrawnPage(
        info=_INFO.validate_python(head["info"]),
        image=None,
        text=_TEXT.validate_python(head["text"]),
        encoded=encoded,
        notes=tuple(head["notes"]),
        readable=head["readable"],
        measured={str(k): float(v) for k, v in head["measured"].items()},
    )
    return Drawn(page, passing)


def request_frame(request: PageRequest, passing: PassingImage | None) -> Frame:
    """A page request for a worker engine as a frame."""
    head = {
        "number": request.number,
        "image": passing.head if passing else None,
        "text": _TEXT.dump_python(request.text, mode="json"),
        "ask": _ASK.dump_python(request.ask, mode="json"),
        "languages": list(request.languages),
        "attempt": request.attempt,
    }
    return Frame(head, (passing.pixels,) if passing else ())


def request_from(frame: Frame) -> PageRequest:
    """A page request from a frame, pixels as an array over the received bytes."""
    head = frame.head
    return PageRequest(
        number=int(head["number"]),
        image=_image_from(head["image"], frame.blobs[0]) if head["image"] else None,
        text=_TEXT.validate_python(head["text"]),
        ask=_ASK.validate_python(head["ask"]),
        languages=tuple(head["languages"]),
        attempt=head["attempt"],
    )


def reading_frame(reading: Reading) -> Frame:
    """A reading as a frame; crops beside the head."""
    head = _READING.dump_python(replace(reading, assets={}), mode="json")
    return Frame({"reading": head, "assets": list(reading.assets)}, tuple(reading.assets.values()))


def reading_from(frame: Frame) -> Reading:
    """A reading from a frame."""
    reading = _READING.validate_python(frame.head["reading"])
    names = [str(name) for name in frame.head["assets"]]
    return replace(reading, assets={name: bytes(blob) for name, blob in zip(names, frame.blobs, strict=True)})


def engine_json(name: EngineName) -> dict[str, Any]:
    """An engine's name as JSON."""
    return name.model_dump(mode="json")
