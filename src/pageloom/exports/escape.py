r"""Markdown in which a document's words stay words: escaped only where Markdown would change their meaning.

CommonMark 0.31 and GitHub's additions (tables, strike-through, dollar mathematics) are what is guarded against.
"""

import re

from pageloom.exports.writing import clean, one_line

PUNCTUATION = r"!-/:-@\[-`{-~"
# LaTeX commands that fetch, link, define or never end; a formula with one of them stays text.
UNSAFE_TEX = re.compile(
    r"\\(?:href|url|html\w*|includegraphics|input|include|require|def|gdef|edef|xdef|let|newcommand|renewcommand"
    r"|providecommand|newenvironment|loop|csname|catcode|write|openin|openout|immediate)(?![a-zA-Z])"
)
INLINE_TEX = re.compile(r"\\\(([^\n]{1,400}?)\\\)")

_BACKSLASH = re.compile(rf"\\(?=[{PUNCTUATION}]|$)", re.M)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY = re.compile(r"&(?=#?[A-Za-z0-9]{1,32};)")
_LINK = re.compile(r"\](?=[(\[:])")
_STARS = re.compile(r"(?<![\s])\*+|\*+(?![\s*])|(?<=^)\*+", re.M)
_UNDERSCORES = re.compile(r"_+")
_RULE = re.compile(r"^[\s|:=_*~+\-]+$")
_LEADING = re.compile(r"^(?:(#{1,6})(?=\s|$)|(>)|([-+*])(?=\s|$)|(\d{1,9})([.)])(?=\s|$)|(\|)|(~{3}))")


def paragraph(text: str) -> str:
    """A paragraph's words as Markdown; line breaks in it stay line breaks of one paragraph."""
    lines = (" ".join(line.split()) for line in clean(text).split("\n"))
    return "\n".join(_start(line) for line in inline("\n".join(line for line in lines if line)).split("\n"))


def heading(text: str) -> str:
    """A heading's words: one line, whose closing number signs are not taken for markup."""
    return re.sub(r"(?<!\\)(#+)$", r"\\\1", inline(one_line(text)))


def inline(text: str) -> str:
    r"""Words inside a line: no tag, entity, link, image, emphasis, code or formula comes of them.

    A formula that a reader wrote as `\(...\)` becomes `$...$` when it holds nothing but harmless LaTeX.
    """
    parts: list[str] = []
    end = 0
    for match in INLINE_TEX.finditer(text):
        if not _is_formula(match.group(1)):
            continue
        parts += [text[end : match.start()], f"${tex(match.group(1)).strip()}$"]
        end = match.end()
    parts.append(text[end:])
    dollars = text.count("$") + len(parts) // 2 > 1
    tildes = text.count("~") > 1
    return "".join(
        part if place % 2 else _words(part, dollars=dollars, tildes=tildes) for place, part in enumerate(parts)
    )


def tex(latex: str) -> str:
    r"""LaTeX on one line that cannot leave its dollars, open a tag or become a link: `$` as `\$`, `<` as `\lt `."""
    body = " ".join(clean(latex).split())
    # A reader means the sign, not a comment that would swallow the rest of the line.
    body = re.sub(r"(?<!\\)((?:\\\\)*)([$%])", r"\1\\\2", body)
    body = re.sub(r"\](?=[(\[:])", "] ", _TAG.sub(r"\\lt ", body)).replace("`", "'").replace("~", "\\ ")
    # A backslash at the end would escape the closing dollar.
    return body + " " if re.search(r"(?<!\\)(?:\\\\)*\\$", body) else body


def linear(text: str) -> str:
    """A formula's linear text between dollars: characters that mean something to LaTeX are escaped."""
    plain = one_line(text).replace("\\", "\\backslash ")
    plain = re.sub(r"([#%&_{}$])", r"\\\1", plain).replace("<", "\\lt ").replace("*", "\\ast ").replace("`", "'")
    plain = plain.replace("~", "\\sim ")
    plain = re.sub(r"\](?=[(\[:])", "] ", plain)
    # A raised letter or digit stays raised; any other circumflex is only a sign.
    return re.sub(r"\^(?![A-Za-z0-9])|(?<=\^.)\^|^\^", r"\\wedge ", plain)


def code(text: str) -> str:
    """A fenced block whose fence is longer than any run of backticks in it."""
    body = clean(text).strip("\n")
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{body}\n{fence}"


def _is_formula(latex: str) -> bool:
    return bool(latex.strip()) and "$" not in latex and UNSAFE_TEX.search(latex) is None


def _words(text: str, *, dollars: bool, tildes: bool) -> str:
    text = _BACKSLASH.sub(r"\\\\", text)
    text = text.replace("`", "\\`")
    text = _LINK.sub(r"\\]", _ENTITY.sub("&amp;", text))
    text = _STARS.sub(lambda match: "\\*" * len(match.group()), text)
    text = _UNDERSCORES.sub(_underscores, text)
    if dollars:
        text = text.replace("$", "\\$")
    if tildes:
        text = text.replace("~", "\\~")
    return _TAG.sub("&lt;", text)


def _underscores(match: re.Match[str]) -> str:
    whole, start, end = match.string, match.start(), match.end()
    before = whole[start - 1] if start else " "
    after = whole[end] if end < len(whole) else " "
    # Inside a word, or between blanks, CommonMark takes no underscore for emphasis.
    if (before.isalnum() and after.isalnum()) or (before.isspace() and after.isspace()):
        return match.group()
    return "\\_" * len(match.group())


def _start(line: str) -> str:
    """A line whose first characters would open a heading, list, quote, table, fence or rule, made plain."""
    if _RULE.match(line):
        return "\\" + line
    match = _LEADING.match(line)
    if match is None:
        return line
    if match.group(4):
        return f"{match.group(4)}\\{line[match.end(4) :]}"
    return "\\" + line
