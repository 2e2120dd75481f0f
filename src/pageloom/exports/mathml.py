"""LaTeX as MathML for pages that are shown in a browser: only mathematics comes out, whatever goes in."""

import re
from functools import cache
from typing import Final

from lxml import etree

from pageloom.exports.escape import UNSAFE_TEX

# Longer formulas, or such with deeper braces, are shown as LaTeX: the converter recurses.
LONGEST, DEEPEST = 4000, 40
NAMESPACE: Final = "{http://www.w3.org/1998/Math/MathML}"
TAGS: Final = frozenset(
    re.findall(
        r"\S+",
        "math mrow mi mo mn mtext ms mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mmultiscripts "
        "mprescripts none mtable mtr mtd mlabeledtr mstyle mpadded mphantom mfenced menclose merror",
    )
)
ATTRIBUTES: Final = frozenset(
    re.findall(
        r"\S+",
        "display mathvariant stretchy fence form separator lspace rspace columnalign rowalign columnspacing rowspacing "
        "linethickness width height depth voffset accent accentunder movablelimits scriptlevel displaystyle minsize "
        "maxsize symmetric largeop columnlines rowlines notation open close separators mathsize bevelled",
    )
)
_VALUE = re.compile(r"[\w .,%+()\[\]{}|-]{0,60}")


def mathml(latex: str) -> str | None:
    """A `<math>` element that shows a formula, or None where it cannot be converted."""
    if len(latex) > LONGEST or UNSAFE_TEX.search(latex) or _depth(latex) > DEEPEST:
        return None
    from latex2mathml.converter import convert

    try:
        made = convert(latex, display="block")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        root = etree.fromstring(made.encode(), parser)
    except _faults():
        return None
    if not _only_mathematics(root):
        return None
    return etree.tostring(root, encoding="unicode", with_tail=False)


def _only_mathematics(root: etree._Element) -> bool:
    """Whether all elements are MathML's; attributes that are not are taken off."""
    for element in root.iter():
        tag = element.tag
        if not isinstance(tag, str) or not tag.startswith(NAMESPACE) or tag.removeprefix(NAMESPACE) not in TAGS:
            return False
        for name, value in list(element.attrib.items()):
            if name not in ATTRIBUTES or not _VALUE.fullmatch(str(value)):
                del element.attrib[name]
    return True


def _depth(latex: str) -> int:
    depth = deepest = 0
    for sign in latex:
        depth += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
    return deepest + latex.count("\\left") + latex.count("\\begin")


@cache
def _faults() -> tuple[type[Exception], ...]:
    """All that the converter and the parser raise on bad input; the converter's own errors have no common base."""
    from latex2mathml import exceptions

    own = [fault for fault in vars(exceptions).values() if isinstance(fault, type) and issubclass(fault, Exception)]
    return (*own, etree.XMLSyntaxError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, StopIteration)
