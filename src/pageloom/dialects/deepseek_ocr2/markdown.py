"""The Markdown between marks, cut into parts: paragraphs, headings, items, tables, formulas, code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Literal

from pageloom.dialects.deepseek_ocr2.tables import Grid, is_rule, read_html, read_pipes, tables_in

PartKind = Literal["paragraph", "heading", "item", "table", "formula", "code"]

RUN_LIMIT = 12
"""Marks in a row that are still taken for leaders, rules or fill-in lines as printed."""
RUN_KEPT = 3


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of content.

    Attributes:
        level: of a heading, 1-6.
        marker, depth: of a list item.
        grid: of a table.
    """

    kind: PartKind
    text: str = ""
    level: int = 1
    marker: str = ""
    depth: int = 0
    grid: Grid | None = None


_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*)")
_BULLET = r"(?:[-*+•·●○▪◦‣■□➢]|\d{1,3}[.)]|[(]\d{1,3}[)]|[a-zA-Z][.)])(?=[ \t　])"
_CHINESE_BULLET = r"\d{1,3}、|（\d{1,3}）"
_ITEM = re.compile(rf"(\s{{0,40}})({_BULLET}|{_CHINESE_BULLET})[ \t　]*(\S.*)")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_CENTER = re.compile(r"</?(?:center|html|body|p|div|span|b|i|u|strong|em|font)(?:\s[^<>]{0,200})?>", re.I)
_BREAK = re.compile(r"<br\s{0,9}/?>", re.I)
_STRONG = re.compile(r"\*\*([^*\n]{1,2000})\*\*")
_PICTURE = re.compile(r"!\[([^\[\]\n]{0,500})\]\([^()\n]{0,500}\)")
_RUN = re.compile(r"([^\w\s]|_)(?:\1|[ \t](?=\1)){" + str(RUN_LIMIT) + r",}")
_DISPLAYS = (("\\[", "\\]"), ("$$", "$$"), ("\\begin{equation}", "\\end{equation}"))


def trimmed_runs(text: str) -> tuple[str, bool]:
    """Runs of one punctuation mark (blanks between them allowed) cut to three, and whether there were any."""
    trimmed, count = _RUN.subn(lambda found: found[1] * RUN_KEPT, text)
    return trimmed, count > 0


def plain(text: str) -> str:
    """Words without the inline markup of a model: layout tags, strong marks, entities; formulas stay as written."""
    text = _BREAK.sub("\n", text)
    text = _PICTURE.sub(r"\1", _CENTER.sub("", text))
    return unescape(_STRONG.sub(r"\1", text)).strip()


def latex_of(text: str) -> str | None:
    r"""The LaTeX of a text that is one displayed formula (`\[ \]`, `$$ $$`), else None."""
    inner = text.strip()
    for begin, end in _DISPLAYS:
        if inner.startswith(begin) and len(inner) >= len(begin) + len(end) and inner.endswith(end):
            return _symbols(inner[len(begin) : -len(end)]) if inner.count(begin) <= 2 else None
    return None


def formula_of(text: str) -> str:
    """The LaTeX of a block marked as a formula, whatever its delimiters; a cut-off end is no fault."""
    found = latex_of(text)
    if found is not None:
        return found
    inner = text.strip()
    for begin, end in (*_DISPLAYS, ("\\(", "\\)")):
        if inner.startswith(begin) and end not in inner[len(begin) :]:
            return _symbols(inner.removeprefix(begin))
        if inner.startswith(begin) and inner.endswith(end) and inner.count(begin) == 1:
            return _symbols(inner.removeprefix(begin).removesuffix(end))
    return _symbols(inner)


def _symbols(latex: str) -> str:
    """Official clean-up: a symbol that few renderers know, spelt plainly."""
    return latex.strip().replace("\\coloneqq", ":=").replace("\\eqqcolon", "=:")


def parts(text: str) -> Iterator[Part]:
    """Parts of a text in order; no word of it is lost."""
    at = 0
    for start, end in tables_in(text):
        yield from _blocks(text[at:start])
        yield from table_parts(read_html(text[start:end]))
        at = end
    yield from _blocks(text[at:])


def table_parts(grid: Grid) -> Iterator[Part]:
    """A table, and the words that stood between its cells."""
    if grid.outside:
        yield Part("paragraph", grid.outside)
    if grid.cells:
        yield Part("table", grid=grid)


class _Paragraph:
    """Lines gathered until a blank line or something that is no running text."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def ended(self) -> Iterator[Part]:
        text = "\n".join(self.lines).strip()
        self.lines = []
        latex = latex_of(text)
        if latex is not None:
            yield Part("formula", latex)
        elif words := plain(text):
            yield Part("paragraph", words)


def _blocks(text: str) -> Iterator[Part]:
    lines = text.split("\n")
    paragraph = _Paragraph()
    at = 0
    while at < len(lines):
        line = lines[at]
        taken = _special(lines, at)
        if taken is None:
            at += 1
            if line.strip():
                paragraph.lines.append(line.rstrip())
            else:
                yield from paragraph.ended()
            continue
        yield from paragraph.ended()
        part, at = taken
        yield part
    yield from paragraph.ended()


def _special(lines: list[str], at: int) -> tuple[Part, int] | None:
    """The part that begins with this line, and the line after it; None for running text."""
    line = lines[at]
    if fence := _FENCE.match(line):
        return _code(lines, at, fence[1])
    if heading := _HEADING.fullmatch(line):
        words = plain(heading[2].rstrip("# ") or heading[2])
        return (Part("heading", words, level=len(heading[1])), at + 1) if words else None
    if line.lstrip().startswith(("\\[", "$$")) and (display := _display(lines, at)):
        return display
    if "|" in line and at + 1 < len(lines) and is_rule(lines[at + 1]):
        end = at + 2
        while end < len(lines) and "|" in lines[end]:
            end += 1
        return Part("table", grid=read_pipes(lines[at:end])), end
    if item := _ITEM.fullmatch(line):
        depth = len(item[1].expandtabs(4)) // 2
        return Part("item", plain(item[3]), marker=item[2], depth=depth), at + 1
    return None


def _code(lines: list[str], at: int, fence: str) -> tuple[Part, int]:
    end = at + 1
    while end < len(lines) and not lines[end].strip().startswith(fence):
        end += 1
    return Part("code", "\n".join(lines[at + 1 : end])), end + 1


_DISPLAY_LINES = 60


def _display(lines: list[str], at: int) -> tuple[Part, int] | None:
    """A displayed formula over one or several lines."""
    begin, end = ("\\[", "\\]") if lines[at].lstrip().startswith("\\[") else ("$$", "$$")
    first = lines[at].strip()
    if latex_of(first) is not None:
        return Part("formula", latex_of(first) or ""), at + 1
    if end in first.removeprefix(begin):
        return None
    for last in range(at + 1, min(len(lines), at + _DISPLAY_LINES)):
        if not lines[last].strip() or (begin != end and begin in lines[last]):
            return None
        if lines[last].rstrip().endswith(end):
            latex = latex_of("\n".join(lines[at : last + 1]))
            return (Part("formula", latex), last + 1) if latex is not None else None
    return None
