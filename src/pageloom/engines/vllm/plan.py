"""The `vllm serve` line for a machine: arithmetic of memory, only flags that the installed version has."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

GIB = 2**30
# config.json of DeepSeek-OCR-2: 12 layers, 10 heads of 128, keys and values, two bytes each
KV_BYTES_PER_TOKEN = 12 * 2 * 10 * 128 * 2
WEIGHTS_GIB = 6.4  # 3.4 billion parameters in bfloat16
LANGUAGE_SHARE = 0.85  # of the weights; fp8 halves these, the vision tower stays as it is
ACTIVATIONS_GIB = 3.0  # eight pages encoded at once and CUDA graphs; measured on one H200
CONTEXT_TOKENS = 8192
PAGE_TOKENS = 1121 + 1500  # visual tokens of a page with six tiles, and what a dense page is written in
MOST_SEQUENCES = 256  # one H200 gives 42 pages/s at 256 in flight, 47 at 512, 27 at 64 (language model alone)
MOST_API_SERVERS = 8  # each resizes 8 to 14 pages a second on one core
GPU_SHARE = 0.9  # vLLM's default is 0.92; the vision tower's activations want air
STOCK_GUARD = "vllm.model_executor.models.deepseek_ocr:NGramPerReqLogitsProcessor"
OUR_GUARD = "pageloom_vllm.guard:NGramGuard"


@dataclass(frozen=True, slots=True)
class Gpu:
    """A graphics processor and its memory in GiB."""

    name: str
    memory_gib: float


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed vLLM.

    Attributes:
        command: how `vllm` is called.
        version: as its distribution says, e.g. "0.32.0+cpu".
        flags: every option that its `serve --help=all` names; empty = not known, nothing is left out.
        pageloom_vllm: our plug-in is installed beside it.
    """

    command: tuple[str, ...]
    version: str = ""
    flags: frozenset[str] = frozenset()
    pageloom_vllm: bool = False

    @property
    def cpu(self) -> bool:
        """A build for processors without a GPU."""
        return "cpu" in self.version


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user wants of the server.

    Attributes:
        memory_gib: memory to plan for; None = what the GPU has.
        gpu_share: part of the GPU's memory that the server may take, 0-1.
        quantization: e.g. "fp8" (on the fly); None = as the checkpoint is.
        extra: further arguments, passed on as they are.
    """

    model: str
    served_name: str = "deepseek-ocr-2"
    host: str = "127.0.0.1"
    port: int = 8000
    memory_gib: float | None = None
    gpu_share: float = GPU_SHARE
    tensor_parallel: int = 1
    data_parallel: int = 1
    api_servers: int = 0
    sequences: int = 0
    quantization: str | None = None
    dtype: str = "bfloat16"
    extra: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A line to start a server, and why it is as it is."""

    environment: Mapping[str, str]
    arguments: tuple[str, ...]
    sequences: int
    why: tuple[str, ...]
    left_out: tuple[str, ...] = field(default=())


def kv_tokens(memory_gib: float, share: float, weights_gib: float) -> int:
    """Tokens of key-value cache that fit beside weights and activations; 0 when the model does not fit."""
    left = memory_gib * share - weights_gib - ACTIVATIONS_GIB
    return max(0, int(left * GIB / KV_BYTES_PER_TOKEN))


def weights_gib(model: str, quantization: str | None) -> tuple[float, str]:
    """Size of the weights, and where the number comes from; files on this disk are measured."""
    folder = Path(model)
    files = list(folder.glob("*.safetensors")) if folder.is_dir() else []
    size = sum(file.stat().st_size for file in files) / GIB if files else WEIGHTS_GIB
    source = f"{len(files)} files on this disk" if files else "3.4 billion parameters in bfloat16"
    if quantization == "fp8":
        return size * (1 - LANGUAGE_SHARE / 2), f"{source}, the language model halved by fp8"
    return size, source


def quantized_as(model: str) -> str | None:
    """Method of a checkpoint that is quantised already (awq, gptq, fp8 ...), from its config.json; else None."""
    config = Path(model) / "config.json"
    if not config.is_file():
        return None
    try:
        told: dict[str, Any] = json.loads(config.read_text(encoding="utf-8"))
    except ValueError:
        return None
    found = told.get("quantization_config") or (told.get("language_config") or {}).get("quantization_config") or {}
    return str(found.get("quant_method")) if found.get("quant_method") else None


_FLAG = re.compile(r"(?<![\w-])--?[a-zA-Z][\w.-]*")


def flags_in(help_text: str) -> frozenset[str]:
    """Every option that a help text names."""
    return frozenset(_FLAG.findall(help_text))


def plan(wish: Wish, installed: Installed, gpu: Gpu | None, cores: int) -> Plan:
    """The line for this machine."""
    why: list[str] = []
    sequences = wish.sequences or _sequences(wish, gpu, why)
    servers = wish.api_servers or max(1, min(MOST_API_SERVERS, cores // 2))
    if not installed.cpu:
        why.append(f"{servers} API servers for {cores} cores: pictures are resized there, on one core each")
    guard = OUR_GUARD if installed.pageloom_vllm else STOCK_GUARD
    why.append("n-gram guard of pageloom-vllm" if installed.pageloom_vllm else "n-gram guard that vLLM carries")
    options = _options(wish, sequences, guard)
    options += _accelerated(wish, servers) if not installed.cpu else [("--enforce-eager", None)]
    kept, left_out = _known(options, installed.flags)
    arguments = ("serve", wish.model, *(word for option in kept for word in option if word is not None), *wish.extra)
    environment = {"VLLM_NO_USAGE_STATS": "1"}
    if not installed.cpu:
        environment["VLLM_USE_V2_MODEL_RUNNER"] = "0"
        why.append("Model Runner V1: V2 refuses the guard (vLLM 0.32, 0.33)")
    return Plan(environment, (*installed.command, *arguments), sequences, tuple(why), left_out)


def _sequences(wish: Wish, gpu: Gpu | None, why: list[str]) -> int:
    """Pages at once: what the key-value cache holds, told with its arithmetic."""
    memory = wish.memory_gib or (gpu.memory_gib if gpu else 0.0)
    if not memory:
        why.append("no GPU found and no memory named: 8 pages at once")
        return 8
    weights, source = weights_gib(wish.model, wish.quantization)
    tokens = kv_tokens(memory * wish.tensor_parallel, wish.gpu_share, weights)
    pages = tokens // PAGE_TOKENS
    sequences = max(1, min(MOST_SEQUENCES, pages))
    why.append(
        f"memory {memory:g} GiB x {wish.gpu_share:g} - weights {weights:.1f} GiB ({source})"
        f" - activations {ACTIVATIONS_GIB:g} GiB = {tokens * KV_BYTES_PER_TOKEN / GIB:.1f} GiB of key-value cache"
        f" = {tokens} tokens of {KV_BYTES_PER_TOKEN} bytes"
    )
    why.append(f"{tokens} tokens / {PAGE_TOKENS} a page = {pages} pages; at once: {sequences} (most: {MOST_SEQUENCES})")
    if not tokens:
        why.append("the model does not fit: more memory, a larger share, or --quantization fp8")
    return sequences


Option = tuple[str, str | None]


def _options(wish: Wish, sequences: int, guard: str) -> list[Option]:
    options: list[Option] = [
        ("--served-model-name", wish.served_name),
        ("--host", wish.host),
        ("--port", str(wish.port)),
        ("--dtype", wish.dtype),
        ("--max-model-len", str(CONTEXT_TOKENS)),
        ("--max-num-seqs", str(sequences)),
        ("--limit-mm-per-prompt", '{"image": 1}'),
        ("--no-enable-prefix-caching", None),  # every page is another picture
        ("--mm-processor-cache-gb", "0"),
        ("--scheduling-policy", "priority"),
        ("--logits-processors", guard),
        ("--max-num-queued-reqs", str(max(512, 2 * sequences))),
        ("--stream-interval", "12"),  # tokens an event: a tenth of the client's work for one each
        ("--shutdown-timeout", "10"),
        ("--skip-mm-profiling", None),
    ]
    if wish.quantization:
        options.append(("--quantization", wish.quantization))
    if wish.tensor_parallel > 1:
        options.append(("--tensor-parallel-size", str(wish.tensor_parallel)))
    if wish.data_parallel > 1:
        options.append(("--data-parallel-size", str(wish.data_parallel)))
    return options


def _accelerated(wish: Wish, api_servers: int) -> list[Option]:
    return [
        ("--gpu-memory-utilization", f"{wish.gpu_share:g}"),
        ("--max-num-batched-tokens", "16384"),
        ("--api-server-count", str(api_servers)),
    ]


def _known(options: Iterable[Option], flags: frozenset[str]) -> tuple[list[Option], tuple[str, ...]]:
    """Options that the installed version has, and the names of the others."""
    if not flags:
        return list(options), ()
    kept = [option for option in options if option[0] in flags]
    return kept, tuple(name for name, _ in options if name not in flags)
