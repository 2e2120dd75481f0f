#!/usr/bin/env python3
"""vLLM 0.25.1 in packs, for a GPU host without network: Python 3.12, torch 2.11 for CUDA 13.

    packs.py build OUT        where there is a package index: OUT/a, OUT/b, OUT/c, each under 64 MiB
    packs.py install IN SITE  on the GPU host, of the packs that are there; then PYTHONPATH=SITE

Only what DeepSeek-OCR-2 needs on one Hopper GPU is kept. `install` adds pageloom-vllm, from here.
Environment: HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 (`bench.py` sets the rest).
"""

from __future__ import annotations

import io
import lzma
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

VLLM = "vllm==0.25.1"
LIBRARIES = {
    "a/C.xz": "vllm/_C_stable_libtorch.abi3.so",
    "b/moe.xz": "vllm/_moe_C_stable_libtorch.abi3.so",
    "b/fa3.xz": "vllm/vllm_flash_attn/_vllm_fa3_C.abi3.so",
}
KEPT = re.compile(r"/(_rust_tool_parser|cumem_allocator|fs_io_C|spinloop)\.abi3\.so$")  # small, imported at start
DROPPED = re.compile(  # other libraries, sources of kernels, tuning tables of other GPUs
    r"\.so$|/vllm-rs$|third_party/(fmha_sm100|deep_gemm)/|\.(cuh?|hpp|h|inl)$|static/swagger"
    r"|device_name=(?!NVIDIA_H[12]00)"
)
HERE = Path(__file__).parent
PLUGIN = HERE.parents[1] / "packages/pageloom-vllm/src/pageloom_vllm"


def pip(*words: str) -> None:
    """Run pip, or leave."""
    subprocess.check_call([sys.executable, "-m", "pip", *words])


def download(target: Path, *wanted: str) -> None:
    """Wheels for the GPU host, whatever runs here."""
    glibcs = (5, 17, 24, 26, 27, 28, 31, 34, 35, 39)
    platforms = [f"--platform=manylinux_2_{minor}_x86_64" for minor in glibcs]
    platforms += ["--platform=manylinux1_x86_64", "--platform=manylinux2014_x86_64"]
    host = ("--only-binary=:all:", "--python-version=3.12", "--implementation=cp", *platforms)
    pip("download", "-q", "--no-deps", *host, "-d", str(target), *wanted)


def build(out: Path) -> None:
    """Download vLLM and what it needs, drop what this model does not, pack three ways."""
    for pack in "abc":
        (out / pack).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        download(Path(folder), VLLM)
        wheel = zipfile.ZipFile(next(Path(folder).glob("vllm-*.whl")))
        for target, member in LIBRARIES.items():
            (out / target).write_bytes(lzma.compress(wheel.read(member), preset=6))
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w") as archive:
            for info in wheel.infolist():
                if not info.is_dir() and (KEPT.search(info.filename) or not DROPPED.search(info.filename)):
                    entry = tarfile.TarInfo(info.filename)
                    entry.size = info.file_size
                    archive.addfile(entry, wheel.open(info))
        (out / "b/py.xz").write_bytes(lzma.compress(raw.getvalue(), preset=6))
    download(out / "c", "-r", str(HERE / "packs.txt"))
    for pack in "abc":
        size = sum(file.stat().st_size for file in (out / pack).iterdir())
        print(pack, round(size / 2**20, 1), "MiB")


def install(packs: Path, site: Path) -> None:
    """Unpack what has come so far; may be called again when more has."""
    site.mkdir(parents=True, exist_ok=True)
    if wheels := sorted(map(str, (packs / "c").glob("*.whl"))):
        quiet = ("-q", "--no-index", "--no-deps", "--no-compile", "--no-cache-dir", "--upgrade")
        pip("install", *quiet, "--target", str(site), *wheels)
    if (python := packs / "b/py.xz").exists():
        with tarfile.open(fileobj=io.BytesIO(lzma.decompress(python.read_bytes()))) as archive:
            archive.extractall(site, filter="data")
    for source, member in LIBRARIES.items():
        if (packs / source).exists():
            (site / member).parent.mkdir(parents=True, exist_ok=True)
            (site / member).write_bytes(lzma.decompress((packs / source).read_bytes()))
    shutil.copytree(PLUGIN, site / "pageloom_vllm", dirs_exist_ok=True)
    about = site / "pageloom_vllm-0.1.0.dist-info"  # by which vLLM finds the plug-in; no build tool needed
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: pageloom-vllm\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text("[vllm.general_plugins]\npageloom_vllm = pageloom_vllm:register\n")
    print("installed into", site)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["build", out]:
            build(Path(out))
        case ["install", packs, site]:
            install(Path(packs), Path(site))
        case _:
            sys.exit(__doc__)
