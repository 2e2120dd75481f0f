"""One checkpoint, three engines, the same words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from tests.vllm.pictures import SMALL, TILED, page

from pageloom.asking.decoding import decoding_for
from pageloom.asking.server import page_body
from pageloom.contracts import ImageSize
from pageloom.dialects.deepseek_ocr2 import DIALECT
from pageloom.model.reading import Ask, Decoding, PageRequest

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from pageloom.engines.transformers.engine import TransformersEngine
    from pageloom.engines.vllm.inside import InsideEngine
    from pageloom.engines.vllm.managed import ManagedEngine

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]  # a start takes minutes on a busy machine
TOKENS = 64


def request(size: tuple[int, int]) -> PageRequest:
    return PageRequest(1, None, None, encoded=page(size), decoding=Decoding(TOKENS), attempt=f"same-{size}")


async def over_http(engine: ManagedEngine, size: tuple[int, int]) -> list[int]:
    asked = request(size)
    assert asked.encoded is not None
    prompt = DIALECT.ask(Ask(), ImageSize(*size))
    decoding = decoding_for(prompt, asked.decoding)
    told = orjson.loads(page_body(engine.name.model, asked.encoded, prompt.text, decoding, engine.served.traits, 0))
    body = orjson.dumps(told | {"return_token_ids": True, "ignore_eos": True})
    (server,) = engine.served.servers.values()
    ids: list[int] = []
    async for piece in server.stream(body):
        ids.extend(piece.token_ids)
    return ids


async def in_process(engine: InsideEngine, size: tuple[int, int]) -> list[int]:
    prompt, parameters = engine._prepared(request(size))
    parameters.ignore_eos = True
    ids: list[int] = []
    async for output in engine._engine.generate(prompt, parameters, f"same-{size}"):
        ids.extend(output.outputs[0].token_ids)
    return ids


async def in_transformers(engine: TransformersEngine, size: tuple[int, int]) -> list[int]:
    from pageloom.engines.transformers.batch import Row, write

    waiting = engine._prepared(request(size))
    row = Row(waiting.decoding, lambda words, finish, tokens: None)
    write(engine.loaded.model, engine.loaded.inputs([waiting]), [row], engine.loaded.decode)
    return row.tokens


@pytest.mark.parametrize("size", [TILED, SMALL], ids=["tiled page", "small image"])
def test_three_engines_write_the_same_64_tokens(
    managed: ManagedEngine,
    inside: InsideEngine,
    hugging_face: TransformersEngine,
    portal: BlockingPortal,
    size: tuple[int, int],
) -> None:
    ways: dict[str, Any] = {
        "HTTP": portal.call(over_http, managed, size),
        "AsyncLLM": portal.call(in_process, inside, size),
        "transformers": portal.call(in_transformers, hugging_face, size),
    }
    assert {name: len(ids) for name, ids in ways.items()} == dict.fromkeys(ways, TOKENS)
    assert ways["AsyncLLM"] == ways["HTTP"]
    assert ways["transformers"] == ways["HTTP"]
