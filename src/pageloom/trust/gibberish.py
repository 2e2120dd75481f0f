"""Does a text look like words at all? Letter habits that hold in every alphabet, no dictionary.

What it is for: a model with wrong weights or a recogniser that does not know a script writes fluent nonsense without a
low score. What it cannot see: wrong words that look like words, and nonsense made of ideographs.
"""

import re
import unicodedata

WORD = re.compile(r"[^\W_]{3,}")
VOWELS = frozenset("aeiouyæœøıаеёиоуыэюяіїєαεηιουωy")
# Fewer words than this say nothing: part lists and forms are full of odd ones.
FEWEST_WORDS = 25
LONGEST_CLUSTER = 6  # "Angstschweiß", "lengthwise", "Schlittschuh" have five or six consonants in a row at most


def gibberish(text: str) -> float | None:
    """Share of words that no language writes so, 0-1; None where there are too few words to tell."""
    words = WORD.findall(text)
    judged = [word for word in words if _alphabetic(word)]
    if len(judged) < FEWEST_WORDS:
        return None
    return sum(_odd(word) for word in judged) / len(judged)


def _alphabetic(word: str) -> bool:
    return any(letter.isalpha() and letter < "\u0530" for letter in word)


def _odd(word: str) -> bool:
    """Letters of two scripts in one word, capitals inside small letters, or no vowel where one is needed."""
    scripts = {unicodedata.name(letter, "?").split()[0] for letter in word if letter.isalpha()}
    if len(scripts) > 1:
        return True
    if word.isupper() or any(letter.isdigit() for letter in word):
        return False
    # "iPhone" and "McDonald" have one capital inside; ransom notes have more.
    if sum(letter.isupper() for letter in word[1:]) > 1:
        return True
    plain = [unicodedata.normalize("NFD", letter)[0] for letter in word.lower()]
    longest = run = 0
    for letter in plain:
        run = 0 if letter in VOWELS else run + 1
        longest = max(longest, run)
    return longest > LONGEST_CLUSTER or (len(word) > 4 and longest == len(word))
