"""One OpenAI-style server over HTTP: vLLM's own, or any that speaks chat completions."""

import base64
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import anyio
import orjson

from pageloom.asking.decoding import REPEAT_COUNT, REPEAT_PATTERN, guard_arguments
from pageloom.asking.wire import EventStream, Piece, StreamError, piece_from
from pageloom.errors import EngineTimeout, EngineUnavailable, PageloomError, RecognitionError
from pageloom.model.image import EncodedImage
from pageloom.model.reading import Decoding


class Refused(EngineUnavailable):
    """The server is too busy (429, 503): later. `after_s` is what it asked for, 0 when it did not."""

    def __init__(self, message: str, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.after_s = after_s


class Unreachable(EngineUnavailable):
    """The connection failed or broke off: the server, or the way to it, is not well."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What a server honours, found at its start (`asking.probes`).

    Attributes:
        vllm: version where it is a vLLM server; empty otherwise: it is sent standard fields only.
        guard: the n-gram guard's arguments are honoured.
        repetition: `repetition_detection` is honoured.
        priority: requests may carry a priority.
        logprobs: token probabilities are told.
    """

    vllm: str = ""
    guard: bool = False
    repetition: bool = False
    priority: bool = False
    logprobs: bool = True


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds without progress after which an answer is given up; there is no limit on the whole."""

    connect_s: float = 5.0
    first_token_s: float = 60.0
    stall_s: float = 20.0


def page_body(model: str, picture: EncodedImage, text: str, decoding: Decoding, traits: Traits, priority: int) -> bytes:
    """The request for one page as JSON; the picture travels as a data URL, never as an address.

    vLLM's chat template sends BOS and puts the line break between image and text, so `text` goes without its own.
    """
    url = "data:image/jpeg;base64," + base64.b64encode(picture.jpeg).decode("ascii")
    content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": text.removeprefix("\n")}]
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "user", "content": content}],
        "temperature": decoding.temperature,
        "max_tokens": decoding.max_output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if traits.logprobs:
        body |= {"logprobs": True, "top_logprobs": 0}
    if traits.vllm:
        body["skip_special_tokens"] = False
    if traits.guard:
        body["vllm_xargs"] = guard_arguments(decoding)
    if traits.repetition:
        body["repetition_detection"] = {
            "max_pattern_size": REPEAT_PATTERN,
            "min_pattern_size": 1,
            "min_count": REPEAT_COUNT,
        }
    if traits.priority and priority:
        body["priority"] = priority
    return orjson.dumps(body)


class Server:
    """A connection to one server; `url` is its root or ends in /v1."""

    def __init__(self, session: aiohttp.ClientSession, url: str, limits: Limits) -> None:
        self.root = url.rstrip("/").removesuffix("/v1")
        self.limits = limits
        self._session = session

    async def get(self, path: str, timeout_s: float = 30.0) -> Any:  # noqa: ANN401 - JSON
        """JSON of a GET, or None when the server answers with anything but 200 and JSON.

        Raises:
            Unreachable: the server cannot be reached.
        """
        with _translated(self.root):
            try:
                with anyio.fail_after(timeout_s):
                    async with self._session.get(self.root + path) as response:
                        return orjson.loads(await response.read()) if response.status == 200 else None
            except orjson.JSONDecodeError:
                return None

    async def post(self, path: str, body: Mapping[str, Any], timeout_s: float = 300.0) -> tuple[int, Any]:
        """Status and JSON of a POST (None where it is not JSON).

        Raises:
            Unreachable: the server cannot be reached.
        """
        with _translated(self.root):
            with anyio.fail_after(timeout_s):
                async with self._session.post(self.root + path, data=orjson.dumps(body), headers=_JSON) as response:
                    data = await response.read()
                    status = response.status
            try:
                return status, orjson.loads(data)
            except orjson.JSONDecodeError:
                return status, None

    async def stream(self, body: bytes) -> AsyncGenerator[Piece]:
        """Pieces of a chat completion as they come. Closing the generator closes the connection, which cancels it.

        Raises:
            Refused: 429 or 503.
            Unreachable: the connection failed or broke off.
            EngineTimeout: no token, or no further one, within the limits.
            RecognitionError: the request was refused as such (400), or the stream told an error.
        """
        with _translated(self.root):
            response = await self._opened(body)
            try:
                if response.content_type == "application/json":
                    yield piece_from(orjson.loads(await response.read()))
                    return
                async with aclosing(self._pieces(response)) as pieces:
                    async for piece in pieces:
                        yield piece
            except StreamError as error:
                raise _refusal(error.code, f"{self.root}: {error}") from error
            finally:
                response.close()

    async def _opened(self, body: bytes) -> aiohttp.ClientResponse:
        with _progress(self.limits.first_token_s, f"{self.root}: no answer"):
            response = await self._session.post(self.root + "/v1/chat/completions", data=body, headers=_JSON)
        if response.status == 200:
            return response
        try:
            with _progress(self.limits.stall_s, f"{self.root}: the refusal has no end"):
                message = (await response.read())[:500].decode("utf-8", "replace")
        finally:
            response.close()
        said = f"{self.root} said {response.status}: {message}"
        raise _refusal(response.status, said, _seconds(response.headers.get("Retry-After", "")))

    async def _pieces(self, response: aiohttp.ClientResponse) -> AsyncGenerator[Piece]:
        stream = EventStream()
        limit_s = self.limits.first_token_s
        while not stream.ended:
            with _progress(limit_s, f"{self.root}: no further token"):
                data = await response.content.readany()
            if not data:
                raise Unreachable(f"{self.root} broke off an answer")
            for piece in stream.feed(data):
                if piece.text:
                    limit_s = self.limits.stall_s
                yield piece


_JSON = {"Content-Type": "application/json"}


@contextmanager
def _translated(root: str) -> Iterator[None]:
    """Faults of the connection as ours."""
    try:
        yield
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise Unreachable(f"{root}: {type(error).__name__}: {error}") from error


@contextmanager
def _progress(seconds: float, said: str) -> Iterator[None]:
    try:
        with anyio.fail_after(seconds):
            yield
    except TimeoutError as error:
        raise EngineTimeout(f"{said} within {seconds:g} s") from error


@asynccontextmanager
async def opened_session(limits: Limits, key: str | None) -> AsyncIterator[aiohttp.ClientSession]:
    """A session for all replicas; it sends the key, keeps no cookies, and has no limit on the whole of an answer."""
    timeout = aiohttp.ClientTimeout(total=None, connect=None, sock_connect=limits.connect_s, sock_read=None)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(
        timeout=timeout, headers=headers, connector=connector, cookie_jar=aiohttp.DummyCookieJar()
    ) as session:
        yield session


def _refusal(code: int, said: str, after_s: float = 0.0) -> PageloomError:
    """What a status, or an error's code in the stream, means for the page."""
    if code in {429, 503}:
        return Refused(said, after_s)
    return Unreachable(said) if code >= 500 else RecognitionError(said)


def _seconds(text: str) -> float:
    """A Retry-After in seconds; dates and nonsense are taken for none."""
    return min(60.0, float(text)) if text.isdigit() else 0.0
