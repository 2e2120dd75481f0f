"""What is found out about a server before its first page: its tokens, what it honours, whether it can read.

"HTTP 200 and gibberish" is the usual fault after an upgrade (PEERS.md 5b): a wrong tokenizer class, a guard that is
skipped without a word, a BOS that no longer comes. Each has its probe here; none depends on how good the weights are,
except the canary, which is there to find exactly that.
"""

import base64
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from pageloom.asking.picture import picture
from pageloom.asking.server import Server, Traits
from pageloom.contracts import Canary, Dialect, Engine, ImageSize
from pageloom.errors import EngineUnavailable
from pageloom.model.blocks import box_on, text_of
from pageloom.model.geometry import Box
from pageloom.model.reading import Ask, Decoding, PageRequest, Reading

log = logging.getLogger(__name__)

FORCED_TOKENS = 6
REPEATED_TOKENS = 40
CANARY_ERROR = 0.02  # character error rate that a ready engine stays below on the known page
CANARY_TOKENS = 400  # the known page is written in about 250; rubbish would go on to the end of the context
CANARY_OVERLAP = 0.5  # intersection over union that its boxes reach


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """How an engine read the known page.

    Attributes:
        error: character error rate, 0-1 and above.
        overlap: least intersection over union of a block's box with its true one; None when boxes were not asked for.
    """

    error: float
    overlap: float | None
    seconds: float

    @property
    def ready(self) -> bool:
        """Whether the engine may be given pages."""
        return self.error <= CANARY_ERROR and (self.overlap is None or self.overlap >= CANARY_OVERLAP)

    def told(self) -> str:
        """One sentence with the numbers and their limits."""
        boxes = "" if self.overlap is None else f", least box overlap {self.overlap:.2f} (limit {CANARY_OVERLAP})"
        wrong = f"{self.error:.1%} of the characters wrong (limit {CANARY_ERROR:.0%})"
        return f"known page: {wrong}{boxes}, {self.seconds:.1f} s"


async def read_canary(engine: Engine, canary: Canary, limit_s: float) -> CanaryResult:
    """Let an engine read the known page.

    Raises:
        EngineUnavailable: it did not end within `limit_s`.
    """
    short = Decoding(max_output_tokens=CANARY_TOKENS)
    request = PageRequest(number=1, image=canary.image, text=None, decoding=short, attempt="canary")
    began = anyio.current_time()
    reading: Reading | None = None
    try:
        with anyio.fail_after(limit_s):
            async for item in engine.read(request):
                if isinstance(item, Reading):
                    reading = item
    except TimeoutError as error:
        raise EngineUnavailable(f"the known page was not read within {limit_s:g} s") from error
    if reading is None:
        raise EngineUnavailable("the known page came back without a reading")
    return judged(reading, canary, anyio.current_time() - began)


def judged(reading: Reading, canary: Canary, seconds: float) -> CanaryResult:
    """Compare a reading of the known page with what stands on it."""
    truth = "".join("".join(text for text, _ in canary.blocks).split())
    read = "".join("".join(text_of(block) for block in reading.blocks).split())
    error = edits(truth, read[: 4 * len(truth)]) / len(truth)
    boxes = [box for block in reading.blocks if (box := box_on(block, 1)) is not None]
    return CanaryResult(round(error, 4), _least_overlap([box for _, box in canary.blocks], boxes), round(seconds, 2))


def edits(truth: str, read: str) -> int:
    """Characters to insert, delete or replace; for one known page, so the plain table is quick enough."""
    row = list(range(len(read) + 1))
    for number, wanted in enumerate(truth, 1):
        diagonal, row[0] = row[0], number
        for place, written in enumerate(read, 1):
            diagonal, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, diagonal + (wanted != written))
    return row[-1]


def _least_overlap(truth: Sequence[Box], read: Sequence[Box]) -> float:
    return round(min(max((box.iou(one) for one in read), default=0.0) for box in truth), 3)


async def look(server: Server, dialect: Dialect, model: str) -> Traits:
    """What a server honours. One that is no vLLM server is taken at its word: it can only be asked, not looked into.

    Raises:
        EngineUnavailable: it cannot be reached, lacks the model, or its tokenizer is not the model's.
    """
    version = await server.get("/version")
    if not isinstance(version, Mapping) or "version" not in version:
        return Traits()
    await _check_tokens(server, dialect, model)
    await _check_prompt(server, dialect, model)
    guard = await _guard_holds(server, model)
    repetition = await _repetition_stops(server, model)
    priority = (await _short(server, model, {"priority": 1}))[0] == 200
    traits = Traits(vllm=str(version["version"]), guard=guard, repetition=repetition, priority=priority)
    log.info("server looked at", extra={"server": server.root, "traits": str(traits)})
    return traits


async def served_model(server: Server, wanted: str) -> str:
    """The name under which a server has the model; `wanted` may be empty when there is only one.

    Raises:
        EngineUnavailable: the server lists other models, or none.
    """
    told = await server.get("/v1/models")
    entries = told.get("data") if isinstance(told, Mapping) else None
    names = [str(entry.get("id")) for entry in entries or () if isinstance(entry, Mapping)]
    if wanted and (wanted in names or not names):
        return wanted
    if not wanted and len(names) == 1:
        return names[0]
    raise EngineUnavailable(f"{server.root} serves {', '.join(names) or 'no model'}; name one of them (option model)")


async def _check_tokens(server: Server, dialect: Dialect, model: str) -> None:
    """The special tokens must have the ids the model was trained with."""
    for token, expected in dialect.special_tokens.items():
        body = {"model": model, "prompt": token, "add_special_tokens": False}
        status, told = await server.post("/tokenize", body)
        ids = told.get("tokens") if status == 200 and isinstance(told, Mapping) else None
        if ids != [expected]:
            raise EngineUnavailable(
                f"{server.root}: token {token!r} is {ids}, the model knows it as [{expected}]: wrong tokenizer"
                " (vLLM and transformers versions do not fit, or these are not the model's files)"
            )


async def _check_prompt(server: Server, dialect: Dialect, model: str) -> None:
    """The server's chat template must send BOS once, one image, and our words unchanged."""
    shown = picture(PageRequest(1, dialect.canary().image, None), dialect.untiled_px)
    prompt = dialect.ask(Ask(), ImageSize(shown.width_px, shown.height_px))
    url = "data:image/jpeg;base64," + base64.b64encode(shown.jpeg).decode("ascii")
    words = prompt.text.removeprefix("\n")
    content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": words}]
    status, told = await server.post("/tokenize", {"model": model, "messages": [{"role": "user", "content": content}]})
    if status != 200 or not isinstance(told, Mapping):
        raise EngineUnavailable(f"{server.root}: the prompt cannot be tokenized: {told}")
    ids = list(told.get("tokens") or ())
    _, plain = await server.post("/tokenize", {"model": model, "prompt": prompt.text, "add_special_tokens": False})
    after = list(plain["tokens"])
    image = dialect.special_tokens["<image>"]
    pictures = ids.count(image)
    if ids[:1] != [0] or ids.count(0) != 1 or pictures not in {1, prompt.visual_tokens} or ids[1 + pictures :] != after:
        raise EngineUnavailable(
            f"{server.root}: the prompt arrives as {ids[:3]}...{ids[-len(after) - 1 :]} ({pictures} image tokens);"
            f" it must be BOS, {prompt.visual_tokens} image tokens and {after}: the server uses another chat template"
        )


async def _short(server: Server, model: str, more: Mapping[str, Any]) -> tuple[int, Any]:
    body = {
        "model": model,
        "messages": [{"role": "user", "content": "a"}],
        "max_tokens": 1,
        "temperature": 0,
        **more,
    }
    return await server.post("/v1/chat/completions", body)


FORCED = 1000  # any ordinary token: the bias makes the model write nothing else


async def _guard_holds(server: Server, model: str) -> bool:
    """Whether `vllm_xargs` reach an n-gram guard: a token that is forced three times must then be refused."""
    more = {
        "max_tokens": FORCED_TOKENS,
        "ignore_eos": True,
        "logit_bias": {str(FORCED): 100},
        "return_token_ids": True,
        "vllm_xargs": {"ngram_size": 2, "window_size": 50},
    }
    status, told = await _short(server, model, more)
    ids = _answer_ids(told) if status == 200 else []
    return len(ids) == FORCED_TOKENS and ids.count(FORCED) < FORCED_TOKENS


def _answer_ids(told: Any) -> list[int]:  # noqa: ANN401 - JSON
    try:
        return list(told["choices"][0]["token_ids"] or ())
    except (KeyError, IndexError, TypeError):
        return []


async def _repetition_stops(server: Server, model: str) -> bool:
    """Whether `repetition_detection` ends an answer that is one token without end."""
    more = {
        "max_tokens": REPEATED_TOKENS,
        "ignore_eos": True,
        "logit_bias": {str(FORCED): 100},
        "repetition_detection": {"max_pattern_size": 2, "min_pattern_size": 1, "min_count": 8},
    }
    status, told = await _short(server, model, more)
    try:
        return status == 200 and told["choices"][0]["finish_reason"] == "repetition"
    except (KeyError, IndexError, TypeError):
        return False
