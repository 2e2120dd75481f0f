"""Which way a page is read: the PDF's own text, its picture, or the picture with the text as a cross-check.

The limits come from the measurements in ADR 0030; every reason names the measured value and the limit beside it.
"""

from pageloom.model.document import Reason, Route, RouteName
from pageloom.model.image import DrawnPage, TextHealth

UNMAPPED_BAD = 0.20  # share of glyphs without Unicode: good PDFs 0 %, CID fonts without a table 73-78 %
UNMAPPED_SOME = 0.005  # fewer than one glyph in 200 does not hurt
FEW_GLYPHS = 10  # a page number or a stamp on a scan
BIG_IMAGE = 0.30  # share of the page under images, beside which so few glyphs cannot be the page's text
SCAN_COVER = 0.50  # half the page a picture ...
SCAN_GLYPHS = 200  # ... and no more text than a running header, a footer and a stamp hold
SYMBOLS_BAD = 0.50  # symbols among symbols, letters and digits
PLAUSIBLE_BAD = 0.50  # letter statistics: print of any language scores above, shifted letters far below
HIDDEN_COVER = 0.80  # a page that is one picture ...
HIDDEN_SHARE = 0.10  # ... with text drawn invisibly over it: somebody's OCR
HIDDEN_MOST = 0.50  # a page whose text is mostly invisible is never taken at its word


def route(drawn: DrawnPage, wanted: str = "auto") -> Route:
    """The way for one page.

    Args:
        drawn: the page with its text layer (None for images).
        wanted: the engine asked for: "auto" lets the measured health decide, "native" takes the text layer as it is,
            any other engine reads the picture.
    """
    if drawn.text is None:
        return Route(name="ocr", reasons=(Reason(code="no_text_layer", text="an image has no text layer"),))
    health = drawn.text.health
    measured = _measured(health)
    if wanted == "native":
        asked = Reason(code="asked", text="the text layer was asked for")
        return Route(name="native", reasons=(asked, *_faults(health), *_doubts(health)), measured=measured)
    name, reasons = _by_health(health, has_content=drawn.text.has_content)
    if wanted != "auto" and name == "native":
        name = "both" if health.glyphs else "ocr"
        reasons = (Reason(code="asked", text=f"engine {wanted} was asked for; the text layer is its cross-check"),)
    return Route(name=name, reasons=reasons, measured=measured)


def _by_health(health: TextHealth, *, has_content: bool) -> tuple[RouteName, tuple[Reason, ...]]:
    if health.glyphs == 0:
        if not has_content and health.image_cover == 0:
            return "native", (Reason(code="nothing_drawn", text="the page draws nothing"),)
        return "ocr", (Reason(code="no_glyphs", text="the page draws something, but its text layer has 0 glyphs"),)
    bad = _faults(health)
    if bad:
        return "ocr", bad
    doubts = _doubts(health)
    if doubts:
        return "both", doubts
    text = f"{health.glyphs} glyphs, {_percent(health.unmapped)} unmapped (limit {_percent(UNMAPPED_BAD)}), "
    text += f"letter statistics {health.plausible:.2f} (limit {PLAUSIBLE_BAD:.2f})"
    return "native", (Reason(code="healthy_text_layer", text=text),)


def _faults(health: TextHealth) -> tuple[Reason, ...]:
    """What makes a text layer useless, even as a cross-check."""
    found: list[Reason] = []
    if health.unmapped > UNMAPPED_BAD:
        text = f"{_percent(health.unmapped)} of {health.glyphs} glyphs have no Unicode mapping"
        found.append(Reason(code="unmapped_glyphs", text=f"{text} (limit {_percent(UNMAPPED_BAD)})"))
    if health.glyphs < FEW_GLYPHS and health.image_cover > BIG_IMAGE:
        text = (
            f"{health.glyphs} glyphs (limit {FEW_GLYPHS}) beside images on {_percent(health.image_cover)} of the page"
        )
        found.append(Reason(code="few_glyphs", text=f"{text} (limit {_percent(BIG_IMAGE)})"))
    if health.symbols > SYMBOLS_BAD:
        text = f"{_percent(health.symbols)} of the signs are symbols (limit {_percent(SYMBOLS_BAD)})"
        found.append(Reason(code="symbols", text=text))
    if health.plausible < PLAUSIBLE_BAD:
        text = f"letter statistics {health.plausible:.2f} are those of no language (limit {PLAUSIBLE_BAD:.2f})"
        found.append(Reason(code="implausible", text=text))
    return tuple(found)


def _doubts(health: TextHealth) -> tuple[Reason, ...]:
    """What forbids to take a text layer at its word, though it may serve as a cross-check."""
    found: list[Reason] = []
    cover = _percent(health.image_cover)
    if health.invisible > HIDDEN_MOST or (health.invisible > HIDDEN_SHARE and health.image_cover > HIDDEN_COVER):
        text = f"{_percent(health.invisible)} of the text is invisible (limit {_percent(HIDDEN_SHARE)} where images "
        text += f"cover {_percent(HIDDEN_COVER)} or more, {_percent(HIDDEN_MOST)} elsewhere); images cover {cover}"
        found.append(Reason(code="hidden_layer", text=f"{text}: the image is believed"))
    if FEW_GLYPHS <= health.glyphs < SCAN_GLYPHS and health.image_cover > SCAN_COVER:
        text = f"{health.glyphs} glyphs (limit {SCAN_GLYPHS}) beside images on {cover} of the page"
        found.append(Reason(code="scan_with_stamp", text=f"{text} (limit {_percent(SCAN_COVER)})"))
    if health.unmapped > UNMAPPED_SOME:
        text = f"{_percent(health.unmapped)} of {health.glyphs} glyphs have no Unicode mapping"
        found.append(
            Reason(code="some_unmapped", text=f"{text} (limit {_percent(UNMAPPED_SOME)}): read from the image")
        )
    return tuple(found)


def _measured(health: TextHealth) -> dict[str, float]:
    return {
        "glyphs": float(health.glyphs),
        "unmapped": round(health.unmapped, 4),
        "symbols": round(health.symbols, 4),
        "invisible": round(health.invisible, 4),
        "image_cover": round(health.image_cover, 4),
        "plausible": round(health.plausible, 4),
    }


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"
