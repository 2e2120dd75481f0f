"""An OpenAI-style answer on the wire: server-sent events to pieces of text."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

MAX_EVENT = 4_000_000  # bytes; a longer line is no event of a text stream


@dataclass(frozen=True, slots=True)
class Piece:
    """One step of an answer.

    Attributes:
        tokens: text and log-probability of each token, where the server tells them.
        finish: how the answer ended, with its last piece.
        token_ids: ids of the step's tokens, where the server tells them.
    """

    text: str = ""
    tokens: tuple[tuple[str, float], ...] = ()
    finish: str | None = None
    prompt_tokens: int = 0
    output_tokens: int = 0
    token_ids: tuple[int, ...] = ()

    def worded(self) -> Iterator[tuple[str, tuple[float, ...]]]:
        """Text with its log-probabilities; token by token where a place mark may stand among the words."""
        logprobs = tuple(logprob for _, logprob in self.tokens)
        if "<" in self.text and "".join(text for text, _ in self.tokens) == self.text:
            yield from ((text, (logprob,)) for text, logprob in self.tokens)
        elif self.text:
            yield self.text, logprobs


class StreamError(ValueError):
    """The stream is no stream of chat completions, or tells an error.

    vLLM sends its status line before it asks the engine: "busy" and "dead" then come as an event, with their `code`.
    """

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class EventStream:
    """Takes bytes as they come from the socket and gives pieces."""

    def __init__(self) -> None:
        self._rest = b""
        self.ended = False

    def feed(self, data: bytes) -> Iterator[Piece]:
        """The pieces whose lines are whole.

        Raises:
            StreamError: a line that is no event, or an error told in the stream.
        """
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > MAX_EVENT:
            raise StreamError("a line of the stream has no end")
        for line in lines:
            if line.startswith(b"data:"):
                yield from self._event(line[5:].strip())

    def _event(self, data: bytes) -> Iterator[Piece]:
        if data == b"[DONE]":
            self.ended = True
            return
        try:
            told = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise StreamError(f"not JSON: {data[:80]!r}") from error
        yield piece_from(told)


def piece_from(told: Any) -> Piece:  # noqa: ANN401 - JSON
    """A chunk of a streamed chat completion.

    Raises:
        StreamError: an error object, or no chunk.
    """
    if not isinstance(told, dict) or "error" in told:
        detail = told.get("error") if isinstance(told, dict) else told
        message = detail.get("message") if isinstance(detail, dict) else detail
        code = detail.get("code") if isinstance(detail, dict) else None
        raise StreamError(str(message)[:300], code if isinstance(code, int) else 0)
    usage = told.get("usage") or {}
    choices = told.get("choices") or [{}]
    choice = choices[0]
    delta = choice.get("delta") or choice.get("message") or {}
    logprobs = choice.get("logprobs") or {}
    tokens = tuple((str(one["token"]), float(one["logprob"])) for one in logprobs.get("content") or ())
    return Piece(
        text=delta.get("content") or "",
        tokens=tokens,
        finish=choice.get("finish_reason"),
        prompt_tokens=int(usage.get("prompt_tokens") or 0),
        output_tokens=int(usage.get("completion_tokens") or 0),
        token_ids=tuple(choice.get("token_ids") or ()),
    )
