"""What each paragraph is: heading, list item, caption, footnote, reference, code, or running text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pageloom.layout.drafts import Draft
from pageloom.layout.formulas import word_share
from pageloom.layout.pieces import Frame, cjk_share
from pageloom.layout.regions import FoundRegion, Kind
from pageloom.layout.rows import ADDRESS, BULLET, MARKER, STOPS

NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})[.．、:]?\s+(?=[^\W\d_]|[\"“«(])")
CHAPTER = re.compile(
    r"第\s*[一二三四五六七八九十百\d]+\s*(?P<zh>[章节篇部编条])|(?:chapter|part|kapitel|chapitre|section)\s+[\dIVX]+\b",
    re.IGNORECASE,
)
CHINESE_NUMBERED = re.compile(
    r"(?:(?P<one>[一二三四五六七八九十]{1,3}、)|(?P<two>[(（][一二三四五六七八九十]{1,3}[)）]))"
)
_WORDS = "abstract summary introduction conclusion conclusions references bibliography acknowledgements acknowledgments"
_WORDS += " appendix contents discussion results methods preface 摘要 目录 参考文献 引言 前言 结论 附录 致谢"
KNOWN_TITLES = frozenset(_WORDS.split())
BIBLIOGRAPHY = re.compile(
    r"(?:\d+\.?\s*)?(?:references?|bibliography|literature cited|works cited|literatur(?:verzeichnis)?|bibliographie"
    r"|references and notes|参\s*考\s*文\s*献)\s*:?",
    re.IGNORECASE,
)
CAPTION = re.compile(
    r"(?:(?:fig(?:ure)?s?|tab(?:le|elle)?|abb(?:ildung)?|tableau|figura|tabla|tabela|chart|exhibit|scheme|plate|box|listing|algorithm)"
    r"\s*\.?\s*(?:[A-Z]?\d+(?:[.\-–]\d+)*|[IVX]+)[a-z]?\s*(?:[.:|–—]|\s(?=[A-Z])|$)|[图表]\s*[\dA-Z]+(?:[.\-–—－]\d+)*\s*)",
    re.IGNORECASE,
)
NOTE_MARK = re.compile(r"\s*(?:\d{1,3}[.)]?|\[\d{1,2}\]|[*†‡§¶∗⋆]{1,3}|[①-⑳]|[注][:：])\s*(?=\S)")
ENTRY = re.compile(r"\s*(?:\[\d{1,3}\]|\[[A-Z][\w+]{1,9}\]|\d{1,3}[.)])\s*(?=\S)|\s*\d{1,3}\s+(?=[^\W\d_])")
CODE_LINE = re.compile(
    r"[;{}]\s*$|^\s*(?:def |class |import |from \w+ import|return\b|if \(|for \(|while \(|#include|public |private "
    r"|var |let |const |function\b|print\(|</?\w+>?)"
)
HEADING_EXACT, HEADING_BOXES = 1.12, 1.28  # letter height over that of running text: from fonts, from drawn boxes
LONGEST_HEADING = 160


@dataclass(frozen=True, slots=True)
class Setting:
    """What a page tells about its print.

    Attributes:
        em: letter height of the running text, points.
        exact: sizes and weights come from fonts, not from boxes a detector drew.
        left: most common left edge of text, points.
    """

    frame: Frame
    em: float
    exact: bool
    regions: Sequence[FoundRegion]

    def hint(self, draft: Draft, kind: Kind, score: float = 0.5) -> bool:
        """Whether the layout model sees a region of a kind where a draft stands."""
        x0, y0, x1, y1 = draft.place
        area = max(1e-6, (x1 - x0) * (y1 - y0))
        for region in self.regions:
            if region.kind != kind or region.score < score:
                continue
            a0, b0, a1, b1 = self.frame.place(region.box)
            wide, high = min(x1, a1) - max(x0, a0), min(y1, b1) - max(y0, b0)
            if wide > 0 and high > 0 and wide * high > 0.5 * area:
                return True
        return False


def name_kinds(drafts: Sequence[Draft], setting: Setting) -> None:
    """Say of every draft what it is; drafts are in reading order, and islands among them keep their kind."""
    for place, draft in enumerate(drafts):
        if draft.kind == "paragraph" and draft.rows:
            _name(draft, drafts, place, setting)
    _bold_runs(drafts, setting)
    _bibliography(drafts)
    _lists(drafts, setting)


def whole_programs(drafts: Sequence[Draft]) -> list[Draft]:
    """Parts of one program put together again: blank lines and lone brackets do not end it."""
    whole: list[Draft] = []
    for draft in drafts:
        last = whole[-1] if whole else None
        if last is not None and last.kind == "code" and _goes_on(last, draft):
            last.rows += draft.rows
        else:
            whole.append(draft)
    return whole


def _goes_on(code: Draft, draft: Draft) -> bool:
    if draft.column != code.column or not draft.rows or draft.place[1] - code.place[3] > 2.5 * code.em:
        return False
    return draft.kind == "code" or (draft.kind == "paragraph" and len(draft.text) <= 3)


def _name(draft: Draft, drafts: Sequence[Draft], place: int, setting: Setting) -> None:
    if _code(draft, setting):
        draft.kind = "code"
    elif CAPTION.match(draft.text) and _is_caption(draft, drafts, place, setting):
        draft.kind = "caption"
    elif _footnote(draft, drafts, place, setting):
        draft.kind = "footnote"
    elif _heading(draft, drafts, place, setting):
        draft.kind, draft.level = "heading", _level(draft, setting)
    elif MARKER.match(draft.text):
        draft.kind = "list_item"


def _code(draft: Draft, setting: Setting) -> bool:
    if setting.exact and all(row.mono for row in draft.rows):
        return (len(draft.rows) > 1 or len(draft.text) > 20) and not ADDRESS.search(draft.text)
    lines = sum(bool(CODE_LINE.search(row.text)) for row in draft.rows)
    return len(draft.rows) >= 3 and lines >= 0.6 * len(draft.rows)


def _is_caption(draft: Draft, drafts: Sequence[Draft], place: int, setting: Setting) -> bool:
    """A line that begins "Figure 3": a caption beside an island, or where the model sees one, or in small print."""
    near = [other for other in drafts[max(0, place - 2) : place + 3] if other.island is not None]
    if any(other.island is not None and other.island.kind in {"figure", "table"} for other in near):
        return True
    if setting.hint(draft, "figure_caption", 0.45) or setting.hint(draft, "table_caption", 0.45):
        return True
    return len(draft.text) < 400 and (
        re.match(r"\S+\s*[\dA-Z.\-]+\s*[.:|]", draft.text) is not None or len(draft.rows) == 1
    )


def _footnote(draft: Draft, drafts: Sequence[Draft], place: int, setting: Setting) -> bool:
    """Small print with a mark at its head, at the very foot of its column."""
    x0, y0, x1, _ = draft.place
    if y0 < 0.55 * setting.frame.height or draft.em > (0.93 if setting.exact else 0.86) * setting.em:
        return False
    before = drafts[place - 1] if place else None
    if before is not None and before.kind == "footnote" and before.column == draft.column:
        return True
    if not NOTE_MARK.match(draft.text) or word_share(draft.text) + cjk_share(draft.text) < 0.4:
        return False
    below = [other for other in drafts if other.place[1] > y0 and other.place[0] < x1 and other.place[2] > x0]
    return all(other is draft or (other.rows and other.em < 0.95 * setting.em) for other in below)


def _heading(draft: Draft, drafts: Sequence[Draft], place: int, setting: Setting) -> bool:
    text = draft.text.strip()
    if len(draft.rows) > 4 or not 1 < len(text) <= LONGEST_HEADING or not any(char.isalpha() for char in text):
        return False
    if re.match(rf"{BULLET}|[*†‡]", text) or text.endswith((",", "，", "；", ";", "、")):
        return False
    if word_share(text) < 0.4 and cjk_share(text) < 0.4 and not CHAPTER.match(text):
        return False
    large = draft.em > (HEADING_EXACT if setting.exact else HEADING_BOXES) * setting.em
    if large and len(draft.rows) <= 3:
        return True
    ends = text.endswith(STOPS) and not text.endswith(("?", "？", ")", "）"))
    if ends or len(draft.rows) > 2:
        return False
    if text.casefold().strip(" :：") in KNOWN_TITLES or (CHAPTER.match(text) and len(text) < 60):
        return True
    if setting.hint(draft, "title"):
        return True
    return _alone(draft, drafts, place) and _set_off(draft, text, setting)


def _set_off(draft: Draft, text: str, setting: Setting) -> bool:
    """Whether a short line is set as a heading is: bold, or numbered like a section."""
    if setting.exact and draft.bold:
        return True
    number = NUMBERED.match(text)
    if number and len(draft.rows) == 1:
        words = text[number.end() :]
        dotted = "." in number.group("number")
        return len(words) < 70 and (words[:1].isupper() or cjk_share(words) > 0.5) and (dotted or setting.exact)
    return False


def _alone(draft: Draft, drafts: Sequence[Draft], place: int) -> bool:
    """Whether something follows in the same column: a heading is a heading of something."""
    return place + 1 < len(drafts) and drafts[place + 1].column == draft.column and len(draft.text) < 120


def _level(draft: Draft, setting: Setting) -> int:
    """Level from the numbering where there is one, else from the size of the letters."""
    number, chapter, chinese = (pattern.match(draft.text) for pattern in (NUMBERED, CHAPTER, CHINESE_NUMBERED))
    if chapter:
        return 2 if chapter.group("zh") in {"节", "条"} else 1
    if number and setting.em * 1.6 > draft.em:
        return min(6, number.group("number").count(".") + 1)
    if chinese:
        return 1 if chinese.group("one") else 2
    ratio = draft.em / setting.em
    return 1 if ratio > 1.55 else 2 if ratio > 1.18 else 3


def _bold_runs(drafts: Sequence[Draft], setting: Setting) -> None:
    """Bold lines one after the other are no headings: nothing stands below them."""
    run: list[Draft] = []
    for draft in [*drafts, Draft(kind="end")]:
        plain = draft.kind == "heading" and draft.em < HEADING_EXACT * setting.em and not NUMBERED.match(draft.text)
        if plain:
            run.append(draft)
            continue
        if len(run) > 2:
            for one in run:
                one.kind = "paragraph"
        run = []


def _bibliography(drafts: Sequence[Draft]) -> None:
    """Entries below a heading "References" are references, until the next heading."""
    inside = False
    for draft in drafts:
        if draft.kind in {"heading", "paragraph"} and BIBLIOGRAPHY.fullmatch(draft.text.strip()):
            draft.kind, inside = "heading", True
        elif draft.kind == "heading" and inside and not ENTRY.match(draft.text):
            inside = False
        elif draft.rows and _entry(draft, inside=inside):
            draft.kind = "reference"


def _entry(draft: Draft, *, inside: bool) -> bool:
    """Whether a draft is an entry of a bibliography: inside one, or marked as entries are."""
    if draft.kind not in {"paragraph", "list_item", "heading"}:
        return False
    return inside or (draft.kind != "heading" and re.match(r"\[\d{1,3}\]\s*\S", draft.text) is not None)


def _lists(drafts: Sequence[Draft], setting: Setting) -> None:
    """Markers, depths; a number at the head of a lone paragraph makes no list."""
    run: list[Draft] = []
    for draft in [*drafts, Draft(kind="end")]:
        if draft.kind == "list_item":
            run.append(draft)
            continue
        if run:
            _list(run, setting)
        run = []


def _list(run: Sequence[Draft], setting: Setting) -> None:
    edges: list[float] = []
    for draft in run:
        marker = MARKER.match(draft.text)
        draft.marker = marker.group("marker") if marker else ""
        x = draft.rows[0].x0
        while edges and x < edges[-1] - 0.7 * setting.em:
            edges.pop()
        if not edges or x > edges[-1] + 0.7 * setting.em:
            edges.append(x)
        draft.depth = len(edges) - 1
    if len(run) == 1 and not re.fullmatch(BULLET + "|[-–—*]", run[0].marker) and len(run[0].rows) > 1:
        run[0].kind, run[0].marker = "paragraph", ""
