"""Pages gathered into batches, batches written in a thread, words told on the event loop."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import torch
import transformers
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from pageloom.asking.answer import Answer, Usage
from pageloom.asking.decoding import decoding_for
from pageloom.asking.picture import pixels
from pageloom.asking.probes import read_canary
from pageloom.contracts import Dialect, ImageSize
from pageloom.engines.transformers.batch import Row, write
from pageloom.engines.transformers.config import BOS, native_fields, read_config
from pageloom.errors import EngineDead, EngineUnavailable, ModelsMissing
from pageloom.model.document import EngineName
from pageloom.model.reading import BlockEvent, Decoding, Delta, PageRequest, Reading

if TYPE_CHECKING:
    from pageloom.engines.transformers import TransformersOptions
    from pageloom.model.image import Pixels

log = logging.getLogger(__name__)

GPU_BATCH = 8  # one H200: 0.055 pages/s alone, 0.46 at 8, 1.99 at 32 (62 GB); 8 need 21 GB

Step = tuple[str, str | None, int]
"""Words, how the answer ended or None, tokens so far."""


@dataclass(slots=True)
class Waiting:
    """A page that waits for a batch."""

    rgb: "Pixels"
    text: str
    decoding: Decoding
    send: MemoryObjectSendStream[Step]
    receive: MemoryObjectReceiveStream[Step]
    row: Row | None = None
    gone: bool = False


@dataclass(slots=True)
class Loaded:
    """The model with what prepares its input."""

    model: Any
    processor: Any
    device: str

    def inputs(self, pages: list[Waiting]) -> Any:  # noqa: ANN401 - a BatchFeature
        """Token ids and pictures of a batch, padded on the left."""
        bos = self.processor.tokenizer.convert_ids_to_tokens(BOS)
        ready = self.processor(
            images=[page.rgb for page in pages],
            text=[f"{bos}<image>{page.text}" for page in pages],
            return_tensors="pt",
            padding=True,
            padding_side="left",
        )
        return ready.to(self.device, dtype=self.model.dtype)

    def decode(self, ids: list[int]) -> str:
        """Words of some tokens, special tokens among them."""
        words: str = self.processor.tokenizer.decode(ids, skip_special_tokens=False)
        return words


@dataclass(slots=True)
class TransformersEngine:
    """Reads pages in static batches: the page that finds the model idle takes those that wait with it."""

    name: EngineName
    capacity: int
    loaded: Loaded
    dialect: Dialect
    wait_s: float
    _queue: list[Waiting] = field(default_factory=list)
    _busy: bool = False
    _batch: "asyncio.Future[None] | None" = None

    async def read(self, request: PageRequest) -> AsyncIterator[BlockEvent | Delta | Reading]:
        """Read a page; closing the iterator ends its row of the batch."""
        page = await anyio.to_thread.run_sync(self._prepared, request)
        self._queue.append(page)
        try:
            async with aclosing(self._answer(request, page)) as events:
                async for event in events:
                    yield event
        finally:
            page.gone = True
            if page.row is not None:
                page.row.stopped = True
            elif page in self._queue:
                self._queue.remove(page)

    async def _answer(self, request: PageRequest, page: Waiting) -> AsyncGenerator[BlockEvent | Delta | Reading]:
        answer = Answer(request, self.dialect, self.name)
        finish, tokens = None, 0
        while finish is None and not answer.loop:
            step = await self._step(page)
            words, finish, tokens = step
            for event in answer.take(words):
                yield event
        yield answer.reading(finish or "stop", Usage(0, tokens))

    async def _step(self, page: Waiting) -> Step:
        """The page's next words; whoever finds the model idle runs the next batch meanwhile.

        Raises:
            EngineDead: the batch broke off.
        """
        while True:
            try:
                return page.receive.receive_nowait()
            except anyio.WouldBlock:
                if not self._busy and self._queue:
                    await self._run_batch()
                else:
                    await anyio.sleep(0.01)
            except (anyio.EndOfStream, anyio.ClosedResourceError) as error:
                raise EngineDead("the batch of this page broke off") from error

    async def _run_batch(self) -> None:
        self._busy = True
        await anyio.sleep(self.wait_s)
        pages = self._taken()
        if not pages:
            self._busy = False
            return
        for page in pages:
            page.row = Row(page.decoding, self._teller(page.send))
        # Not awaited: the page that started the batch has words to tell as well, and may go away before its end.
        loop = asyncio.get_running_loop()
        self._batch = loop.run_in_executor(None, self._write, pages, loop)

    def _teller(self, send: MemoryObjectSendStream[Step]) -> Callable[[str, str | None, int], None]:
        loop = asyncio.get_running_loop()

        def told(words: str, finish: str | None, tokens: int) -> None:
            loop.call_soon_threadsafe(_send, send, (words, finish, tokens))

        return told

    def _taken(self) -> list[Waiting]:
        """The pages of the next batch: all have one temperature."""
        pages: list[Waiting] = []
        for page in list(self._queue):
            same = not pages or page.decoding.temperature == pages[0].decoding.temperature
            if same and len(pages) < self.capacity:
                pages.append(page)
                self._queue.remove(page)
        return pages

    def _write(self, pages: list[Waiting], loop: asyncio.AbstractEventLoop) -> None:
        rows = [page.row for page in pages if page.row is not None]
        try:
            write(self.loaded.model, self.loaded.inputs(pages), rows, self.loaded.decode)
        except (RuntimeError, ValueError) as error:  # out of memory, a kernel that fails
            log.warning("a batch failed", extra={"pages": len(pages), "error": f"{type(error).__name__}: {error}"})
        finally:
            loop.call_soon_threadsafe(self._done, pages)

    def _done(self, pages: list[Waiting]) -> None:
        self._busy = False
        for page in pages:
            page.send.close()

    def _prepared(self, request: PageRequest) -> Waiting:
        rgb = pixels(request, None if request.tiles else self.dialect.untiled_px)
        prompt = self.dialect.ask(request.ask, ImageSize(rgb.shape[1], rgb.shape[0]))
        send, receive = anyio.create_memory_object_stream[Step](max_buffer_size=20_000)
        return Waiting(rgb, prompt.text, decoding_for(prompt, request.decoding), send, receive)


def _send(send: MemoryObjectSendStream[Step], step: Step) -> None:
    try:
        send.send_nowait(step)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.WouldBlock):
        log.debug("words of a page that nobody waits for")


def load_model(options: "TransformersOptions", dialect: Dialect) -> Loaded:
    """Load model, tokenizer and image processor from the official files.

    Raises:
        ModelsMissing, EngineUnavailable
    """
    folder = Path(options.model)
    fields = native_fields(read_config(folder))
    device = options.device if options.device != "auto" else ("cuda" if torch.cuda.is_available() else "cpu")
    usual = torch.bfloat16 if device.startswith("cuda") else torch.float32
    dtype = usual if options.dtype == "auto" else getattr(torch, options.dtype)
    try:
        config = transformers.DeepseekOcr2Config(**fields)
        model = transformers.DeepseekOcr2ForConditionalGeneration.from_pretrained(folder, config=config, dtype=dtype)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        processor = transformers.DeepseekOcr2Processor(
            image_processor=transformers.DeepseekOcr2ImageProcessorPil(), tokenizer=tokenizer
        )
    except AttributeError as error:
        raise EngineUnavailable(
            f"transformers {transformers.__version__} lacks DeepSeek-OCR-2: 5.10 or newer"
        ) from error
    except OSError as error:
        raise ModelsMissing(f"the model's files are not all in {folder.name}: {error}") from error
    for token, expected in dialect.special_tokens.items():
        got = tokenizer.convert_tokens_to_ids(token)
        if got != expected:
            raise EngineUnavailable(
                f"token {token!r} is {got}, the model knows it as {expected}: wrong tokenizer files"
            )
    tokenizer.padding_side = "left"
    return Loaded(model.to(device).eval(), processor, device)


@asynccontextmanager
async def opened(options: "TransformersOptions", dialect: Dialect) -> AsyncIterator[TransformersEngine]:
    """The engine with its model loaded and proved; the model is let go at the end of the block.

    Raises:
        ModelsMissing, EngineUnavailable
    """
    loaded = await anyio.to_thread.run_sync(load_model, options, dialect)
    batch = options.batch or (GPU_BATCH if loaded.device.startswith("cuda") else 1)
    name = EngineName(name="transformers", version=f"transformers {transformers.__version__}", model=dialect.model)
    engine = TransformersEngine(name, batch, loaded, dialect, options.wait_s)
    if options.canary:
        result = await read_canary(engine, dialect.canary(), options.canary_s)
        if not result.ready:
            raise EngineUnavailable(
                f"engine 'transformers' is not ready: {result.told()}; are these the trained weights?"
            )
    yield engine
