"""Stands in for the `vllm` program: knows `serve --help=all`, serves, and dies when told by a file in its model folder.

Files in the folder: `crash` = die at the next request; `refuse` = do not start; `slow` = start in 2 s;
`starts` = a line for each start.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

HELP = "--served-model-name --host --port --dtype --max-num-seqs --limit-mm-per-prompt --no-enable-prefix-caching"


def main() -> None:
    if "--help=all" in sys.argv:
        sys.stdout.write(HELP)
        return
    folder = Path(sys.argv[2])
    with (folder / "starts").open("a") as starts:
        starts.write(f"{os.getpid()}\n")
    if (folder / "slow").exists():
        time.sleep(2.0)
    if (folder / "refuse").exists():
        sys.stderr.write("CUDA out of memory, as told\n")
        sys.exit(3)
    asyncio.run(serve(folder, int(sys.argv[sys.argv.index("--port") + 1])))


async def serve(folder: Path, port: int) -> None:
    from aiohttp import web
    from tests.engines.broken_server import BrokenServer

    server = BrokenServer(["slow"])

    async def chat(request: web.Request) -> web.StreamResponse:
        if (folder / "crash").exists():
            (folder / "crash").unlink()
            os._exit(9)
        return await server.chat(request)

    async def health(request: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "deepseek-ocr-2"}]})

    app = web.Application(client_max_size=2**26)
    app.add_routes([web.post("/v1/chat/completions", chat), web.get("/health", health), web.get("/v1/models", models)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    main()
