"""The program of a child process: opens and draws strangers' files, or reads pages with a worker engine.

Started as `python -m pageloom.pipeline.child`; requests come in on stdin, answers go out on what was stdout.
It holds at most two open documents and one set of engines, does one thing at a time and knows nothing of tasks.
"""

import hashlib
import os
import sys
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from pageloom.contracts import EngineFactory, PageSource, SourceOptions, WorkerEngine
from pageloom.errors import DamagedDocument, PageloomError
from pageloom.model.geometry import Box
from pageloom.model.image import DrawnPage
from pageloom.pipeline import limits, wire
from pageloom.pipeline.wire import HEAD, MAX_BLOB, MAX_HEAD, SIZE, Frame
from pageloom.plugins import load, names

OPEN_DOCUMENTS = 2  # opening again costs 5-12 ms (page tree), keeping one costs its caches


def read_frame(stream: BinaryIO) -> Frame | None:
    """The next frame, or None at the end of the stream."""
    start = stream.read(HEAD.size)
    if len(start) < HEAD.size:
        return None
    length, count = HEAD.unpack(start)
    sizes = [SIZE.unpack(stream.read(SIZE.size))[0] for _ in range(count)]
    if length > MAX_HEAD or any(size > MAX_BLOB for size in sizes):
        return None
    head = orjson.loads(stream.read(length))
    return Frame(head, tuple(stream.read(size) for size in sizes))


def write_frame(stream: BinaryIO, frame: Frame) -> None:
    """Write one frame."""
    for piece in wire.packed(frame):
        stream.write(piece)
    stream.flush()


class Child:
    """Open documents and loaded engines of this process."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, str | None], PageSource] = OrderedDict()
        self._engines: dict[str, WorkerEngine] = {}
        self._does: dict[str, Callable[[Frame], Frame]] = {
            "open": self.open,
            "draw": self.draw,
            "load": self.load,
            "read": self.read,
            "draw_read": self.draw_read,
            "crop": self.crop,
        }

    def answer(self, frame: Frame) -> Frame:
        """Do what a frame asks; every fault becomes an answer with its code."""
        try:
            limits.allow_cpu(float(frame.head["cpu_s"]))
            return self._does[frame.head["do"]](frame)
        except PageloomError as error:
            return Frame({"error": {"code": error.code, "text": str(error)}})
        except MemoryError:
            self._open.clear()
            return Frame({"error": {"code": "render_crashed", "text": "out of memory"}})
        except Exception as error:  # noqa: BLE001 - a library's fault on a stranger's file; the page fails, not the run
            return Frame({"error": {"code": "internal", "text": f"{type(error).__name__}: {error}"}})

    def _source(self, head: dict[str, Any]) -> PageSource:
        password = wire.from_text(head["password"]) if head["password"] else head["password"]
        key = (wire.from_text(head["path"]), password)
        if key in self._open:
            self._open.move_to_end(key)
            return self._open[key]
        while len(self._open) >= OPEN_DOCUMENTS:
            self._open.popitem(last=False)[1].close()
        from pageloom.sources.detect import open_source

        options = SourceOptions.model_validate(head["options"])
        self._open[key] = open_source(Path(key[0]), password, options)
        return self._open[key]

    def open(self, frame: Frame) -> Frame:
        """Open a document: its pages and remarks."""
        from pageloom.sources.detect import media_type_of

        path = Path(wire.from_text(frame.head["path"]))
        source = self._source(frame.head)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        about = {"media_type": media_type_of(path), "sha256": digest}
        return Frame({**wire.opened_json(source.pages, source.remarks), **about})

    def _drawn(self, head: dict[str, Any]) -> DrawnPage:
        from pageloom.pipeline.tidy import tidied

        number = int(head["number"])
        source = self._source(head)
        if not any(info.number == number for info in source.pages):
            raise DamagedDocument(f"page {number} is not in the document")
        return tidied(source.draw(number, wire.target_from(head["target"])), head["form"])

    def draw(self, frame: Frame) -> Frame:
        """Draw a page, judge its pixels, read its text layer."""
        return wire.drawn_frame(self._drawn(frame.head))

    def _engine(self, name: str, options: dict[str, Any]) -> WorkerEngine:
        if name not in self._engines:
            factory: EngineFactory = load("engines", name)
            self._engines[name] = factory.load(factory.options.model_validate(options))
        return self._engines[name]

    def load(self, frame: Frame) -> Frame:
        """Load an engine ahead of its first page."""
        engine = self._engine(frame.head["engine"], frame.head["engine_options"])
        return Frame({"engine": wire.engine_json(engine.name)})

    def read(self, frame: Frame) -> Frame:
        """Read a page that another process drew."""
        from pageloom.pipeline.tidy import with_crops

        request = wire.request_from(frame)
        engine = self._engine(frame.head["engine"], frame.head["engine_options"])
        reading = engine.read(request)
        return wire.reading_frame(with_crops(reading, request.image))

    def draw_read(self, frame: Frame) -> Frame:
        """Read a page's text layer here and now; no pixels leave or enter this process."""
        from pageloom.model.reading import PageRequest

        drawn = self._drawn(frame.head)
        engine = self._engine(frame.head["engine"], frame.head["engine_options"])
        request = PageRequest(drawn.info.number, None, drawn.text, languages=tuple(frame.head["languages"]))
        reading = wire.reading_frame(engine.read(request))
        health = wire.drawn_frame(drawn)
        return Frame({"drawn": health.head, **reading.head}, reading.blobs)

    def crop(self, frame: Frame) -> Frame:
        """Cut regions out of a page that is drawn again for it."""
        from pageloom.pipeline.tidy import cut

        image = self._drawn(frame.head).image
        if image is None:
            raise DamagedDocument("no pixels to crop from")
        boxes = [Box(*map(float, corners)) for corners in frame.head["boxes"]]
        cuts = [cut(image, box) for box in boxes]
        return Frame({"suffixes": [suffix for suffix, _ in cuts]}, tuple(data for _, data in cuts))


def main() -> None:
    """Serve frames until stdin ends."""
    limits.die_with_parent()
    limits.quiet_interrupts()
    limits.hold_memory(int(sys.argv[1]))
    channel = os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # a library that prints must not break a frame
    child = Child()
    names("engines")  # reads the entry points once, before any file is open
    write_frame(channel, Frame({"ready": True}))
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        answer = child.answer(frame)
        answer.head["resident_mb"] = limits.resident_mb()
        write_frame(channel, answer)


if __name__ == "__main__":
    main()
