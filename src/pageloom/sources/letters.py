"""Does a text look like a language? Letter frequencies, compared with those of languages of the same script.

A layer whose letters are shifted or mixed up ("Opnbddchmfr ne sgd" for "Proceedings of the") has words of the right
length in the right places, and nothing else gives it away. Frequencies are those of the table "Relative frequencies
of letters" as published for each language (Lewand, Cryptological Mathematics, for English; the national corpora named
in the article "Letter frequency" of Wikipedia for the others), accents taken off, per thousand.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable
from operator import mul

FEWEST_LETTERS = 80  # fewer letters of one script say nothing: forms, tables, part numbers
# Cosine to the nearest language: pages of 150 letters and more have 0.91-0.99, arbitrary permutations of the alphabet
# 0.3-0.7, shifts 0.5-0.85.
NO_LANGUAGE, LANGUAGE = 0.74, 0.90
SHIFT_GAIN = 0.04  # a shift that brings the letters so much nearer to a language is how the layer was spoilt

_ABC = "abcdefghijklmnopqrstuvwxyz"
_LATIN = (
    (82, 15, 28, 43, 127, 22, 20, 61, 70, 2, 8, 40, 24, 67, 75, 19, 1, 60, 63, 91, 28, 10, 24, 2, 20, 1),  # en
    (65, 19, 27, 51, 164, 17, 30, 46, 66, 3, 14, 34, 25, 98, 26, 7, 0, 70, 76, 62, 42, 8, 19, 0, 0, 11),  # de
    (81, 9, 33, 37, 173, 11, 9, 7, 75, 6, 1, 55, 30, 71, 58, 25, 14, 67, 79, 72, 63, 18, 0, 4, 1, 3),  # fr
    (120, 22, 40, 50, 126, 7, 18, 7, 70, 5, 0, 50, 32, 70, 92, 25, 9, 69, 80, 46, 31, 11, 0, 2, 10, 5),  # es
    (146, 10, 39, 50, 126, 10, 13, 13, 62, 9, 0, 28, 47, 44, 97, 25, 12, 65, 68, 43, 36, 16, 0, 5, 0, 5),  # pt
    (117, 9, 45, 37, 118, 12, 16, 6, 101, 0, 0, 65, 25, 69, 98, 31, 5, 64, 50, 56, 30, 21, 0, 0, 0, 12),  # it
    (75, 16, 12, 59, 189, 8, 34, 24, 65, 15, 22, 36, 22, 100, 61, 16, 0, 64, 37, 68, 20, 29, 15, 0, 0, 14),  # nl
    (125, 15, 15, 47, 101, 20, 29, 21, 58, 6, 31, 53, 35, 85, 58, 18, 0, 84, 66, 77, 19, 24, 1, 2, 7, 1),  # sv
    (105, 17, 43, 37, 85, 1, 17, 10, 83, 18, 28, 44, 25, 64, 75, 24, 0, 52, 59, 25, 21, 0, 58, 0, 32, 57),  # pl
    (129, 28, 27, 52, 99, 5, 24, 12, 137, 0, 57, 59, 38, 80, 38, 9, 0, 77, 48, 33, 51, 10, 0, 0, 33, 15),  # tr
    (158, 3, 3, 10, 80, 2, 4, 19, 108, 20, 50, 58, 32, 88, 61, 18, 0, 29, 79, 88, 50, 23, 1, 0, 17, 1),  # fi
    (108, 16, 26, 36, 106, 3, 3, 23, 71, 21, 37, 38, 32, 66, 87, 34, 0, 49, 55, 57, 38, 47, 0, 1, 28, 32),  # cs
)
_LATIN_NORMS = tuple((table, math.sqrt(sum(w * w for w in table))) for table in _LATIN)
_CYRILLIC_WEIGHTS = (
    110, 85, 80, 74, 67, 63, 55, 47, 45, 44, 35, 32, 30, 28, 26, 20, 19, 17, 17, 17, 16, 14, 12, 10,
    9, 7, 6, 5, 4, 3, 3,
)  # fmt: skip
_CYRILLIC = dict(zip("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф", _CYRILLIC_WEIGHTS, strict=True))
_GREEK_WEIGHTS = (
    120, 98, 93, 86, 85, 81, 65, 49, 43, 43, 42, 41, 35, 33, 20, 17, 17, 16, 13, 12, 9, 5, 5, 2,
)  # fmt: skip
_GREEK = dict(zip("αοιετσνηυρπκμλωγδθχφβξζψ", _GREEK_WEIGHTS, strict=True))
# The hundred-odd commonest ideographs and syllables make up a third of running text (Jun Da, Modern Chinese Character
# Frequency List; for Hangul, the particles and endings), a hundred arbitrary ones less than a fiftieth.
_HAN = frozenset(
    "的一是不了在人有我他这這个個们們中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那得于於着着下自之年"
    "过過发發后後作里裡用道行所然家种種事成方多经經么麼去法学學如都同现現当當没沒动動面起看定天分还還进進好小部其些主样樣"
    "理心本前开開但因只从從想实實日军軍者意无無力它与與长長把机機十民第公此已工使情明性知全三又关關点點正业業外将將两兩高间"
    "間由问問很最重并物手应應战戰向头頭文体體政美相见見被利什二等产產或新己制身果加西斯月话話合回特代内內信表化老给給世位次"
    "度门門任常先海通教儿兒原东東声聲提立及比员員解水名真论論处處走义義各入几幾口认認条條平系气氣题題活尔爾更别別打女变變四"
    "神总總何电電数數安少报報才结結反受目太量再感建务務做接必场場件计計管期市直德资資命山金指克许許统統区區保至队隊形社便空"
    "决決治展马馬科司五基眼书書非则則听聽白却界达達光放强強即像难難且权權思王象完设設式色路记記南品住告类類求据據程北"
    "元单單号號税稅额額价價项項目合收款付方甲乙本表格规格名称稱地址电话開户銀行"
)
_HANGUL = frozenset(
    "이다는의에가을하로고지한기도사대인자를리은서어정나시그아수일과있보해들것상으적전부스제공장주원계국여게면동구화연니요"
)
_COMMON_SHARE = 0.10  # running text has 0.25-0.5, lists of names 0.12


def plausibility(texts: Iterable[str]) -> float:
    """How far the words look like a language, 0-1; 1 where there is too little text of any script to tell."""
    scores = _scores(Counter("".join(texts).casefold()))
    total = sum(number for number, _ in scores)
    return sum(number * score for number, score in scores) / total if total else 1.0


def _scores(counts: Counter[str]) -> list[tuple[int, float]]:
    """Number of letters and score for each script that has enough letters."""
    latin: Counter[str] = Counter()
    others: dict[str, Counter[str]] = {"cyrillic": Counter(), "greek": Counter(), "han": Counter(), "hangul": Counter()}
    for text, number in counts.items():
        plain = unicodedata.normalize("NFD", text)[0] if text < "\u2e80" else text
        if plain in _ABC:
            latin[plain] += number
        elif script := _script(plain):
            others[script][plain.replace("ς", "σ")] += number
    scores = [
        (latin.total(), _latin(latin)),
        (others["cyrillic"].total(), _stretched(_cosine(others["cyrillic"], _CYRILLIC))),
        (others["greek"].total(), _stretched(_cosine(others["greek"], _GREEK))),
        (others["han"].total(), _common(others["han"], _HAN)),
        (others["hangul"].total(), _common(others["hangul"], _HANGUL)),
    ]
    return [(number, score) for number, score in scores if number >= FEWEST_LETTERS]


def _latin(counts: Counter[str]) -> float:
    """Score of Latin letters: near to a language, and nearer than after any shift of the alphabet."""
    row = [counts[letter] for letter in _ABC]
    cosines = [_nearest(row[-shift:] + row[:-shift] if shift else row) for shift in range(len(row))]
    return 0.0 if max(cosines) > cosines[0] + SHIFT_GAIN else _stretched(cosines[0])


def _nearest(row: list[int]) -> float:
    size = math.sqrt(sum(n * n for n in row)) or 1.0
    return float(max(sum(map(mul, row, table)) / (size * norm) for table, norm in _LATIN_NORMS))


def _script(letter: str) -> str:
    if "\u0400" <= letter <= "\u052f":
        return "cyrillic"
    if "\u0370" <= letter <= "\u03ff":
        return "greek"
    if "\u3400" <= letter <= "\u9fff":
        return "han"
    return "hangul" if "\uac00" <= letter <= "\ud7a3" else ""


def _cosine(counts: Counter[str], table: dict[str, int]) -> float:
    dot = sum(counts[letter] * weight for letter, weight in table.items())
    size = math.sqrt(sum(n * n for n in counts.values()) * sum(w * w for w in table.values()))
    return dot / size if size else 0.0


def _stretched(cosine: float) -> float:
    return min(1.0, max(0.0, (cosine - NO_LANGUAGE) / (LANGUAGE - NO_LANGUAGE)))


def _common(counts: Counter[str], common: frozenset[str]) -> float:
    share = sum(number for letter, number in counts.items() if letter in common) / max(1, counts.total())
    return min(1.0, share / _COMMON_SHARE)
