# ruff: noqa: E501 - an ideograph counts as two columns
"""Letter statistics: languages apart from shifted and mixed-up letters."""

import random
import unicodedata

import pytest

from pageloom.sources.letters import plausibility

TEXTS = {
    "en": "The quick development of natural language processing has led to many systems that can read documents. In "
    "this section we describe how the model was trained and evaluated on several public benchmarks.",
    "de": "Die Rechnung ist innerhalb von vierzehn Tagen ohne Abzug zu bezahlen. Bitte geben Sie bei der Überweisung "
    "die Rechnungsnummer an. Für Rückfragen stehen wir Ihnen gerne zur Verfügung.",
    "fr": "Nous vous prions de bien vouloir trouver ci-joint la facture correspondant à votre commande du mois "
    "dernier. Le règlement doit être effectué dans un délai de trente jours à compter de la réception.",
    "es": "La presente factura deberá abonarse en un plazo máximo de treinta días. Para cualquier consulta sobre este "
    "documento pueden ponerse en contacto con nuestro departamento de administración.",
    "pt": "A fatura deverá ser paga no prazo de trinta dias após a data de emissão. Para qualquer esclarecimento sobre "
    "este documento, contacte por favor os nossos serviços administrativos.",
    "nl": "De factuur dient binnen veertien dagen na ontvangst te worden betaald. Voor vragen over dit document kunt u "
    "altijd contact opnemen met onze afdeling administratie in Utrecht.",
    "hu": "A magyar nyelv az uráli nyelvcsalád tagja, a finnugor nyelvek közé tartozó ugor nyelvek egyike. Legközelebbi "
    "rokonai a manysi és a hanti nyelv, majd utánuk az udmurt, a komi, a mari és a mordvin nyelvek.",
    "vi": "Tiếng Việt là ngôn ngữ của người Việt và là ngôn ngữ chính thức tại Việt Nam. Đây là tiếng mẹ đẻ của khoảng "
    "tám mươi lăm phần trăm dân cư Việt Nam cùng với hơn bốn triệu người Việt hải ngoại.",
    "ru": "Русский язык является одним из восточнославянских языков и национальным языком русского народа. Он является "
    "одним из наиболее распространённых языков мира по общему числу говорящих.",
    "uk": "Українська мова є національною мовою українців. Належить до східнослов'янської групи слов'янських мов, що "
    "входять до індоєвропейської мовної сім'ї, поряд з романськими та германськими мовами.",
    "el": "Η ελληνική γλώσσα ανήκει στην ινδοευρωπαϊκή οικογένεια και αποτελεί το μοναδικό μέλος του ελληνικού κλάδου, "
    "ενώ είναι η επίσημη γλώσσα της Ελλάδας και της Κύπρου.",
    "zh": "人工智能是研究使计算机来模拟人的某些思维过程和智能行为的学科，主要包括计算机实现智能的原理、制造类似于人脑智能的"
    "计算机，使计算机能实现更高层次的应用。人工智能将涉及到计算机科学、心理学、哲学和语言学等学科。",
    "zh-Hant": "人工智慧是研究使電腦來模擬人的某些思維過程和智慧行為的學科，主要包括電腦實現智慧的原理、製造類似於人腦智慧的電腦，"
    "使電腦能實現更高層次的應用。人工智慧將涉及到電腦科學、心理學、哲學和語言學等學科。",
    "ja": "日本語は日本国内や、かつての日本領だった国、そして国外移民や移住者を含む日本人同士の間で使用されている言語。日本は法令"
    "によって公用語を規定していないが、法令その他の公用文は全て日本語で記述されている。",
    "ko": "한국어는 대한민국과 조선민주주의인민공화국의 공용어이다. 둘은 표기나 문법, 동사 어미나 표현에서 약간의 차이가 있다. "
    "한국어를 쓰는 인구는 전 세계를 통틀어 약 팔천만 명으로 추산된다. 언어학자들은 한국어의 기원을 연구하고 있다.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_languages_are_plausible(language: str) -> None:
    assert plausibility([TEXTS[language]]) > 0.65


def shifted(text: str, by: int) -> str:
    plain = (unicodedata.normalize("NFD", char)[0] for char in text)
    return "".join(chr((ord(c.lower()) - 97 + by) % 26 + 97) if c.isascii() and c.isalpha() else c for c in plain)


@pytest.mark.parametrize("by", range(1, 26))
@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "nl"])
def test_every_shift_of_the_alphabet_is_found(language: str, by: int) -> None:
    assert plausibility([shifted(TEXTS[language], by)]) < 0.3


@pytest.mark.parametrize("language", ["ru", "zh", "zh-Hant", "ko"])
def test_neighbouring_code_points_are_no_language(language: str) -> None:
    moved = "".join(chr(ord(char) + 1) if char.isalpha() else char for char in TEXTS[language])
    assert plausibility([moved]) < 0.35


def test_most_permutations_of_the_alphabet_are_found() -> None:
    found = 0
    for seed in range(20):
        letters = list("abcdefghijklmnopqrstuvwxyz")
        random.Random(seed).shuffle(letters)
        mixed = TEXTS["en"].lower().translate(str.maketrans("abcdefghijklmnopqrstuvwxyz", "".join(letters)))
        found += plausibility([mixed]) < 0.5
    assert found >= 18


@pytest.mark.parametrize("text", ["", "12,345.67", "Qx7-33 ZZW", "株式会社"])
def test_too_few_letters_say_nothing(text: str) -> None:
    assert plausibility([text]) == 1.0
