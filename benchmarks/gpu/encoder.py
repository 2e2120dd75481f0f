"""The page encoder by itself, without a server: is it right, how fast, where does the time go.

Needs vLLM's Python files, but none of its compiled ones; full size, random weights, one GPU.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

from tables import table

ROOT = Path(__file__).resolve().parents[2]
TILES, VIEW_PX, TILE_PX = 6, 1024, 768
DEVICE = "cuda"


def tower(dtype: torch.dtype) -> Any:  # noqa: ANN401 - stands in for vLLM's model
    """The stock vision tower with random weights, and the stock way of calling it."""
    for compiled in ("vllm._C_stable_libtorch", "vllm._moe_C_stable_libtorch"):
        # the tower uses none of them; vLLM's CUDA platform imports them all the same
        home = Path(next(iter(find_spec("vllm").submodule_search_locations)))  # type: ignore[union-attr, arg-type]
        if not list(home.glob(compiled.removeprefix("vllm.") + "*")):
            sys.modules[compiled] = ModuleType(compiled)
    sys.path.insert(0, str(ROOT / "tests" / "vllm"))
    import tiny_checkpoint as checkpoint
    import vllm.model_executor.models.deepseek_ocr2 as stock
    from vllm.config import VllmConfig, set_current_vllm_config

    class Tower(torch.nn.Module):
        """The parts of the stock model that see pixels."""

        tile_tag = "2D"
        _encode_global_features = stock.DeepseekOCR2ForCausalLM._encode_global_features  # noqa: SLF001 - measured as it is
        _encode_local_features = stock.DeepseekOCR2ForCausalLM._encode_local_features  # noqa: SLF001 - measured as it is
        pages = stock.DeepseekOCR2ForCausalLM._pixel_values_to_embedding  # noqa: SLF001

    sizes, draw = checkpoint.VISION["full"], checkpoint.Numbers(0, torch.float32, DEVICE)
    weights = dict(checkpoint.sam_weights(draw, sizes)) | dict(checkpoint.encoder_weights(draw, sizes))
    with torch.device(DEVICE), set_current_vllm_config(VllmConfig()):
        built = Tower()
        built.sam_model = stock.ImageEncoderViT(
            depth=12, embed_dim=768, img_size=1024, mlp_ratio=4, num_heads=12, patch_size=16,
            norm_layer=lambda width: torch.nn.LayerNorm(width, eps=1e-6), qkv_bias=True, use_rel_pos=True,
            global_attn_indexes=(2, 5, 8, 11), window_size=14, out_chans=256, last_conv_output=896,
        )  # fmt: skip
        built.qwen2_model = stock.build_qwen2_decoder_as_encoder()
        projector = SimpleNamespace(projector_type="linear", input_dim=896, n_embed=1280, token_pooling=False)
        built.projector = stock.MlpProjector(projector)
        built.view_seperator = torch.nn.Parameter(torch.randn(1280))
    named = {name.removeprefix("model."): tensor for name, tensor in weights.items()}
    missing = built.load_state_dict(named, strict=False)
    left = [name for name in missing.missing_keys if not name.startswith(("projector", "view"))]
    if left or missing.unexpected_keys:
        raise SystemExit(f"weights do not fit: {left[:3]} {missing.unexpected_keys[:3]}")
    return built.eval().requires_grad_(requires_grad=False).to(dtype)


def pages(count: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Views and tiles as bytes: soft noise, as a page's grey levels lie close to their neighbours'."""
    draw = torch.Generator(DEVICE).manual_seed(seed)

    def soft(number: int, side: int) -> torch.Tensor:
        coarse = torch.rand(number, 3, side // 8, side // 8, generator=draw, device=DEVICE)
        fine = torch.nn.functional.interpolate(coarse, size=side, mode="bilinear")
        noise = torch.rand(number, 3, side, side, generator=draw, device=DEVICE)
        return (fine * 200 + noise * 55).byte().permute(0, 2, 3, 1).contiguous()

    return soft(count, VIEW_PX), soft(count * TILES, TILE_PX)


def normalised(pixels: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """As the stock processor hands them over."""
    return ((pixels.permute(0, 3, 1, 2).float() / 255 - 0.5) / 0.5).to(dtype).contiguous()


def stock_pages(built: Any, views: torch.Tensor, tiles: torch.Tensor) -> list[torch.Tensor]:  # noqa: ANN401
    """The stock way, from its own kind of pixels."""
    crops = torch.tensor([[2, 3]] * len(views))
    return built.pages(views, tiles, crops)


def milliseconds(act: Callable[[], object], repeats: int) -> float:
    """Median wall time, the GPU's work included."""
    act()
    took = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        act()
        torch.cuda.synchronize()
        took.append(time.perf_counter() - start)
    return sorted(took)[len(took) // 2] * 1e3


@torch.inference_mode()
def equality() -> str:
    """Error of stock bf16 and of ours against a float32 run of the same weights."""
    from pageloom_vllm.encoder import PageEncoder

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    views, tiles = pages(2)
    built = tower(torch.float32)
    exact = torch.cat(stock_pages(built, normalised(views, torch.float32), normalised(tiles, torch.float32)))
    rows = []

    def compare(name: str, got: list[torch.Tensor]) -> None:
        found = torch.cat(got).double()
        error = ((found - exact).norm() / exact.norm()).item()
        cosine = torch.cosine_similarity(found, exact.double(), dim=-1)
        rows.append((name, f"{error:.3e}", f"{cosine.min():.6f}", f"{cosine.mean():.7f}"))

    compare("ours, float32", PageEncoder(built).encode(views, tiles, [TILES] * 2))
    built = built.bfloat16()
    theirs = stock_pages(built, normalised(views, torch.bfloat16), normalised(tiles, torch.bfloat16))
    ours = PageEncoder(built).encode(views, tiles, [TILES] * 2)
    compare("stock, bf16", theirs)
    compare("ours, bf16", ours)
    alone = PageEncoder(built).encode(views[1:], tiles[TILES:], [TILES])
    compare("ours, bf16, each page alone", [*PageEncoder(built).encode(views[:1], tiles[:TILES], [TILES]), *alone])
    between = torch.cosine_similarity(torch.cat(ours).double(), torch.cat(theirs).double(), dim=-1)
    rows.append(("ours bf16 against stock bf16", "-", f"{between.min():.6f}", f"{between.mean():.7f}"))
    return table(("visual tokens of two pages", "error to float32 (norm)", "least cosine", "mean cosine"), rows)


@torch.inference_mode()
def speed(stock_too: bool) -> str:  # noqa: FBT001 - one caller, one word
    """Milliseconds a page, by pages encoded at once."""
    from pageloom_vllm.encoder import PageEncoder

    built = tower(torch.bfloat16)
    encoder, recorded = PageEncoder(built), PageEncoder(built)
    recorded.record()
    rows = []
    for count in (1, 2, 4, 8, 14):
        views, tiles = pages(count)
        took = [
            milliseconds(lambda v=views, t=tiles, n=count, e=one: e.encode(v, t, [TILES] * n), 5) / count
            for one in (encoder, recorded)
        ]
        stock = "-"
        if stock_too and count in (1, 8):
            floats = normalised(views, torch.bfloat16), normalised(tiles, torch.bfloat16)
            stock = f"{milliseconds(lambda f=floats: stock_pages(built, *f), 2) / count:.1f}"
        first, second = (one.encode(views, tiles, [TILES] * count)[0] for one in (encoder, recorded))
        rows.append((count, stock, f"{took[0]:.1f}", f"{took[1]:.1f}", torch.equal(first, second)))
    peak = torch.cuda.max_memory_allocated() / 2**30
    return (
        table(
            (
                "pages at once",
                "stock, ms a page",
                "ours, kernel by kernel",
                "ours, recorded (as it serves)",
                "same bits",
            ),
            rows,
        )
        + f"\nPeak memory {peak:.1f} GiB.\n"
    )


def _kernels(act: Callable[[], object]) -> tuple[float, float, list[tuple[str, float, int]]]:
    """Wall and GPU milliseconds of one call, and its kernels by time."""
    act()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        start = time.perf_counter()
        act()
        torch.cuda.synchronize()
        wall = (time.perf_counter() - start) * 1e3
    events = [
        (event.key, event.self_device_time_total / 1e3, event.count)
        for event in profile.key_averages()
        if event.self_device_time_total
    ]
    return wall, sum(event[1] for event in events), sorted(events, key=lambda event: -event[1])


@torch.inference_mode()
def profile(stock_too: bool, count: int = 8) -> str:  # noqa: FBT001
    """Where a call's time goes, before and after."""
    from pageloom_vllm.encoder import PageEncoder

    built = tower(torch.bfloat16)
    encoder = PageEncoder(built)
    encoder.record()
    parts = []
    runs: list[tuple[str, int, Callable[[], object]]] = []
    if stock_too:
        one = [normalised(pixels, torch.bfloat16) for pixels in pages(1)]
        runs.append(("Stock, 1 page", 1, lambda: stock_pages(built, *one)))
    single, several = pages(1), pages(count)
    runs.append(("Ours, 1 page", 1, lambda: encoder.encode(*single, [TILES])))
    runs.append((f"Ours, {count} pages", count, lambda: encoder.encode(*several, [TILES] * count)))
    for name, number, act in runs:
        wall, busy, kernels = _kernels(act)
        calls = sum(kernel[2] for kernel in kernels)
        parts.append(
            f"{name}: {wall / number:.1f} ms a page, of which the GPU computes {busy / number:.1f} "
            f"({min(busy / wall, 1):.0%}); {calls / number:.0f} kernels a page.\n"
        )
        rows = [(f"`{key[:70]}`", f"{ms / number:.2f}", calls) for key, ms, calls in kernels[:12]]
        parts.append(table(("kernel", "ms a page", "calls"), rows))
    return "\n".join(parts)


def _shapes() -> Iterator[tuple[str, dict[str, int]]]:
    """Block sizes worth trying: those that compile for sm_90 without spilling."""
    for m, n, warps, stages in (
        (64, 64, 4, 2), (64, 64, 4, 3), (64, 32, 4, 3), (128, 64, 8, 2), (64, 128, 4, 2), (128, 128, 8, 2),
    ):  # fmt: skip
        yield "window", dict(BLOCK_M=m, BLOCK_N=n, num_warps=warps, num_stages=stages)
    for m, warps, stages in ((128, 8, 3), (128, 8, 2), (64, 4, 2), (64, 4, 3), (64, 4, 4), (128, 8, 4)):
        yield "global", dict(BLOCK_M=m, num_warps=warps, num_stages=stages)
    for m, n, warps, stages in ((64, 64, 4, 2), (128, 64, 8, 2), (64, 64, 4, 3), (64, 32, 4, 2), (128, 32, 4, 2)):
        yield "prefix", dict(BLOCK_M=m, BLOCK_N=n, num_warps=warps, num_stages=stages)


@torch.inference_mode()
def tune() -> str:
    """The kernels' block sizes, timed alone on the tiles and views of eight pages."""
    from pageloom_vllm import kernels

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, device=DEVICE, dtype=torch.bfloat16)

    sides = ((48, 48), (8, 64))  # pictures of 8 pages, patches a side
    qkvs = [drawn(count, side, side, 3 * 768) for count, side in sides]
    windows = [drawn(count, side, side, 12, 54) for count, side in sides]
    globals_ = [drawn(count, side, side, 12, 4 * side - 2) for count, side in sides]
    bias = drawn(3 * 768)
    rows_of = [(drawn(count, n, 896), drawn(count, n, 128), drawn(count, n, 128)) for count, n in ((48, 288), (8, 512))]
    turns = [(torch.rand(n, 32, device=DEVICE), torch.rand(n, 32, device=DEVICE)) for n in (288, 512)]
    acts: dict[str, Callable[[], object]] = {
        "window": lambda: [kernels.window_attention(q, bias, d, 12, 14) for q, d in zip(qkvs, windows, strict=True)],
        "global": lambda: [kernels.global_attention(q, d, 12) for q, d in zip(qkvs, globals_, strict=True)],
        "prefix": lambda: [kernels.prefix_attention(*r, t, 64) for r, t in zip(rows_of, turns, strict=True)],
    }
    layers = {"window": 8, "global": 4, "prefix": 24}
    rows, best = [], {}
    for name, shape in _shapes():
        kernels.SHAPES[name] = shape
        try:
            took = milliseconds(acts[name], 7) * layers[name] / 8
        except Exception as error:  # noqa: BLE001 - too much shared memory and the like
            rows.append((name, shape, type(error).__name__))
            continue
        rows.append((name, shape, f"{took:.2f}"))
        if name not in best or took < best[name][0]:
            best[name] = took, shape
    for name, (_, shape) in best.items():
        kernels.SHAPES[name] = shape
    chosen = "\n".join(f"best {name}: {shape} {took:.2f} ms a page" for name, (took, shape) in best.items())
    return table(("kernel", "shape", "ms a page, all its layers"), rows) + "\n" + chosen + "\n"


def ceilings() -> str:
    """What this card does: matrix product and copy, and the encoder's floor by that."""
    a, b = (torch.randn(8192, 8192, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    teraflops = 2 * 8192**3 / milliseconds(lambda: a @ b, 9) / 1e9
    wide = torch.randn(17920 * 8, 768, device=DEVICE, dtype=torch.bfloat16)
    inner = torch.randn(768, 3072, device=DEVICE, dtype=torch.bfloat16)
    narrow = 2 * len(wide) * 768 * 3072 / milliseconds(lambda: wide @ inner, 9) / 1e9
    big = torch.empty(1 << 31, dtype=torch.uint8, device=DEVICE)
    copied = torch.empty_like(big)
    terabytes = 2 * (1 << 31) / milliseconds(lambda: copied.copy_(big), 9) / 1e9
    rows = [
        ("matrix product 8192 cubed, bf16", f"{teraflops:.0f} TFLOP/s"),
        ("SAM's MLP, 143,360 x 768 x 3072, bf16", f"{narrow:.0f} TFLOP/s"),
        ("copy, read + write", f"{terabytes:.2f} TB/s"),
        ("page encoder, arithmetic", f"{FLOP / 1e12:.2f} TFLOP a page = {FLOP / teraflops / 1e9:.1f} ms"),
    ]
    return table(("ceiling", "measured"), rows)


def _flop() -> float:
    """Multiplications and additions a page of the tower needs, padding and masks left out."""
    total = 0.0
    for count, side in ((TILES, 48), (1, 64)):
        tokens = side * side
        linear = 2 * tokens * 768 * (3 * 768 + 768 + 2 * 4 * 768) * 12
        whole = 4 * tokens * tokens * 768 * 4
        windows = 4 * (-(-side // 14)) ** 2 * 196**2 * 768 * 8
        neck = (
            2 * tokens * (768 * 768 + 768 * 256 + 9 * 256 * 256)
            + tokens / 2 * 9 * 256 * 512
            + tokens / 8 * 9 * 512 * 896
        )
        queries = side * side // 16
        encoder = 2 * 2 * queries * (2 * 896 * 896 + 2 * 896 * 128 + 3 * 896 * 4864) * 24
        seen = 4 * 896 * queries * queries * 2.5 * 24
        total += count * (linear + whole + windows + neck + encoder + seen)
    return total


FLOP = _flop()
