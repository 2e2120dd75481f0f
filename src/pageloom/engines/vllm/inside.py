"""VLLM inside this process (`AsyncLLM`): for those who embed Pageloom where vLLM runs already.

The prompt is sent as token ids with BOS in front, so no chat template can lose it. Pictures are decoded in a thread,
and vLLM prepares them in its own; the event loop only passes tokens on.
"""

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from pageloom.asking.answer import Answer, Usage
from pageloom.asking.decoding import REPEAT_COUNT, REPEAT_PATTERN, decoding_for, guard_arguments
from pageloom.asking.picture import pixels
from pageloom.asking.probes import read_canary
from pageloom.contracts import Dialect, ImageSize
from pageloom.engines.vllm.plan import CONTEXT_TOKENS, OUR_GUARD, STOCK_GUARD
from pageloom.errors import EngineDead, EngineTimeout, EngineUnavailable, MissingExtra
from pageloom.model.document import EngineName
from pageloom.model.reading import BlockEvent, Delta, PageRequest, Reading

if TYPE_CHECKING:
    from pageloom.engines.vllm import VllmOptions

log = logging.getLogger(__name__)

DEFAULT_SEQUENCES = 64


class InsideEngine:
    """Reads pages with an `AsyncLLM`."""

    def __init__(self, engine: Any, name: EngineName, dialect: Dialect, options: "VllmOptions") -> None:  # noqa: ANN401
        self.name = name
        self.capacity = options.sequences or DEFAULT_SEQUENCES
        self._engine = engine
        self._dialect = dialect
        self._options = options
        self._asked = 0

    async def read(self, request: PageRequest) -> AsyncIterator[BlockEvent | Delta | Reading]:
        """Read a page; closing the iterator aborts it in the engine.

        Raises:
            EngineDead: the engine core has died.
            EngineTimeout: no token within the limits.
        """
        from vllm.v1.engine.exceptions import EngineDeadError

        try:
            async with aclosing(self._told(request)) as events:
                async for event in events:
                    yield event
        except EngineDeadError as error:
            raise EngineDead(f"page {request.number}: vLLM's engine core has died") from error

    async def _told(self, request: PageRequest) -> AsyncGenerator[BlockEvent | Delta | Reading]:
        prompt, parameters = await anyio.to_thread.run_sync(self._prepared, request)
        answer = Answer(request, self._dialect, self.name)
        self._asked += 1
        outputs = self._engine.generate(
            prompt, parameters, f"{request.attempt}-{self._asked}", priority=request.priority
        )
        finish, limit_s, usage = "stop", self._options.first_token_s, Usage()
        async with aclosing(outputs):
            while not answer.loop:
                try:
                    with anyio.fail_after(limit_s):
                        output = await anext(outputs, None)
                except TimeoutError as error:
                    raise EngineTimeout(f"page {request.number}: no token within {limit_s:g} s") from error
                if output is None:
                    break
                limit_s = self._options.stall_s
                step = output.outputs[0]
                usage = Usage(len(output.prompt_token_ids or ()), usage.output_tokens + len(step.token_ids))
                for event in answer.take(step.text, _logprobs(step)):
                    yield event
                finish = step.finish_reason or finish
        yield answer.reading(finish, usage)

    def _prepared(self, request: PageRequest) -> tuple[Any, Any]:
        """The prompt as token ids with its picture, and how it is sampled; runs in a thread."""
        from PIL import Image
        from vllm.sampling_params import RepetitionDetectionParams, RequestOutputKind

        from vllm import SamplingParams

        rgb = pixels(request, None if request.tiles else self._dialect.untiled_px)
        prompt = self._dialect.ask(request.ask, ImageSize(rgb.shape[1], rgb.shape[0]))
        decoding = decoding_for(prompt, request.decoding)
        ids = self._dialect.special_tokens
        words = self._engine.get_tokenizer().encode(prompt.text, add_special_tokens=False)
        parameters = SamplingParams(
            temperature=decoding.temperature,
            max_tokens=decoding.max_output_tokens,
            skip_special_tokens=False,
            logprobs=0 if self._options.logprobs else None,
            extra_args=guard_arguments(decoding),
            output_kind=RequestOutputKind.DELTA,
            repetition_detection=RepetitionDetectionParams(
                max_pattern_size=REPEAT_PATTERN, min_pattern_size=1, min_count=REPEAT_COUNT
            ),
        )
        tokens = [0, ids["<image>"], *words]
        return {"prompt_token_ids": tokens, "multi_modal_data": {"image": Image.fromarray(rgb)}}, parameters


def _logprobs(step: Any) -> list[float]:  # noqa: ANN401 - vLLM's CompletionOutput
    """Log-probabilities of a step's own tokens, where they were asked for."""
    told = step.logprobs or ()
    return [found[token].logprob for token, found in zip(step.token_ids, told, strict=False) if token in found]


def _check_tokens(tokenizer: Any, dialect: Dialect) -> None:  # noqa: ANN401 - a tokenizer of transformers
    for token, expected in dialect.special_tokens.items():
        got = tokenizer.convert_tokens_to_ids(token)
        if got != expected:
            raise EngineUnavailable(
                f"token {token!r} is {got}, the model knows it as {expected}: wrong tokenizer files"
            )


@asynccontextmanager
async def opened_inside(options: "VllmOptions", dialect: Dialect) -> AsyncIterator[InsideEngine]:
    """An engine in this process; it ends with the block.

    Raises:
        MissingExtra: vLLM is not installed.
        EngineUnavailable: it does not start, or does not pass its probes.
    """
    try:
        from vllm.platforms import current_platform
        from vllm.v1.engine.async_llm import AsyncLLM

        from vllm import AsyncEngineArgs
        from vllm import __version__ as version
    except ModuleNotFoundError as error:
        raise MissingExtra(f"engine 'vllm' ({error.name})", "vllm") from error
    from importlib.util import find_spec

    arguments = AsyncEngineArgs(
        model=options.model,
        dtype=options.dtype,
        max_model_len=CONTEXT_TOKENS,
        max_num_seqs=options.sequences or DEFAULT_SEQUENCES,
        gpu_memory_utilization=options.gpu_share,
        tensor_parallel_size=options.tensor_parallel,
        quantization=options.quantization,
        limit_mm_per_prompt={"image": 1},
        enable_prefix_caching=False,
        mm_processor_cache_gb=0,
        scheduling_policy="priority",
        logits_processors=[OUR_GUARD if find_spec("pageloom_vllm") else STOCK_GUARD],
        enforce_eager=current_platform.is_cpu(),  # nothing there pays for its compilation
    )
    try:
        engine = await anyio.to_thread.run_sync(AsyncLLM.from_engine_args, arguments)
    except (RuntimeError, ValueError, OSError) as error:
        raise EngineUnavailable(f"vLLM does not start: {error}") from error
    try:
        _check_tokens(engine.get_tokenizer(), dialect)
        name = EngineName(name="vllm", version=f"vllm {version}", model=options.model)
        inside = InsideEngine(engine, name, dialect, options)
        if options.canary:
            result = await read_canary(inside, dialect.canary(), options.canary_s)
            if not result.ready:
                raise EngineUnavailable(f"engine 'vllm' is not ready: {result.told()}; are these the trained weights?")
        yield inside
    finally:
        engine.shutdown()
