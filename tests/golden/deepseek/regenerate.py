"""Writes the blocks of every answer again."""

import json
from pathlib import Path

from pageloom.dialects.deepseek_ocr2.grounding import parse

ANSWERS = Path(__file__).with_name("answers")


def blocks_of(name: str) -> dict[str, object]:
    """Blocks and remarks of an answer, without what has its default."""
    text = (ANSWERS / f"{name}.txt").read_text(encoding="utf-8")
    parsed = parse(text, finish="length" if name.startswith("cut") else "stop")
    blocks = [
        {"kind": event.block.kind, **event.block.model_dump(mode="json", exclude_defaults=True)}
        for event in parsed.events
    ]
    return {"blocks": blocks, "notes": list(parsed.notes), "truncated": parsed.truncated}


if __name__ == "__main__":
    for file in sorted(ANSWERS.glob("*.txt")):
        told = json.dumps(blocks_of(file.stem), ensure_ascii=False, indent=1)
        file.with_suffix(".json").write_text(told + "\n", encoding="utf-8")
