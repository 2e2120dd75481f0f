"""The Triton kernels compute what `reference.py` says: on a GPU, or in Triton's interpreter on a CPU.

python -m pytest packages/pageloom-vllm/tests      where torch and triton are; CI has no triton
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

if not (find_spec("triton") and find_spec("torch")):
    pytest.skip("needs triton and torch", allow_module_level=True)
GPU = Path("/dev/nvidiactl").exists()
os.environ.setdefault("TRITON_INTERPRET", "0" if GPU else "1")  # read when triton is imported

import torch  # noqa: E402
from pageloom_vllm import kernels, reference  # noqa: E402

DEVICE = "cuda" if GPU else "cpu"
# on a GPU the products of float32 numbers are rounded to tf32
NEAR = 2e-5 if DEVICE == "cpu" else 5e-2


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape))).to(DEVICE)


def close(one: torch.Tensor, other: torch.Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=0, atol=NEAR)


@pytest.mark.parametrize(("height", "width"), [(14, 14), (16, 20), (9, 30)])
def test_windows_at_and_inside_the_edge(height: int, width: int) -> None:
    work = drawn(2, height, width, 3 * 32), drawn(3 * 32), drawn(2, height, width, 2, 64), 2, 14
    close(kernels.window_attention(*work), reference.window_attention(*work))


@pytest.mark.parametrize(("height", "width"), [(12, 12), (16, 16), (10, 24)])
def test_whole_pictures(height: int, width: int) -> None:
    work = drawn(2, height, width, 3 * 32), drawn(2, height, width, 2, 128), 2
    close(kernels.global_attention(*work), reference.global_attention(*work))


@pytest.mark.parametrize("length", [288, 128, 40])
def test_queries_see_the_picture_and_their_past(length: int) -> None:
    angles = drawn(length, 16) * 6
    rows = drawn(2, length, 128), drawn(2, length, 64), drawn(2, length, 64)
    work = *rows, (angles.cos(), angles.sin()), 32
    close(kernels.prefix_attention(*work), reference.prefix_attention(*work))


@pytest.mark.parametrize("changed", [True, False])
@pytest.mark.parametrize("centred", [True, False])
def test_add_and_norm(changed: bool, centred: bool) -> None:
    stream, weight = drawn(5, 7, 96), drawn(96)
    change, bias = drawn(5, 7, 96) if changed else None, drawn(96) if centred else None
    ours, theirs = stream.clone(), stream.clone()
    close(kernels.add_norm(ours, change, weight, bias, 1e-6), reference.add_norm(theirs, change, weight, bias, 1e-6))
    close(ours, theirs)


def test_silu_product() -> None:
    close(
        kernels.silu_product(drawn(7, 333), drawn(7, 333) + 1), reference.silu_product(drawn(7, 333), drawn(7, 333) + 1)
    )
