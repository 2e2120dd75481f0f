"""Twenty pages of our own with known text and order: other fonts, layouts and noise than the development set.

They are drawn with fonts of the machine (Debian: fonts-dejavu, fonts-liberation, fonts-wqy-zenhei, fonts-arphic-uming),
never used for tuning, and made anew from fixed seeds at every run.
"""

import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

WIDTH, HEIGHT = 1240, 1754  # A4 at 150 dpi
FONTS = Path("/usr/share/fonts/truetype")
LATIN = (
    "dejavu/DejaVuSerif.ttf",
    "dejavu/DejaVuSansCondensed.ttf",
    "liberation/LiberationSerif-Regular.ttf",
    "liberation/LiberationSansNarrow-Regular.ttf",
)
CHINESE = ("arphic/uming.ttc", "wqy/wqy-zenhei.ttc")
NOUNS = "river bridge harbour garden letter engine market teacher window mountain village report winter signal orchard"
VERBS = "carries follows describes crosses supports repairs measures watches remembers replaces gathers explains"
TAILS = "before the rain|after a long winter|without any delay|for the second time|near the old mill|at a fair price"
ZH = (
    "本公司 采购 部门 应当 合同 约定 时间 提交 材料 报告 项目 资金 使用 情况 有关 人员 负责 检查 质量 标准"
    " 完成 工作 数据 分析 结果"
)


@dataclass
class Sheet:
    """A page in the making, and its text in reading order as Markdown paragraphs."""

    rng: random.Random
    face: str
    ground: tuple[int, int, int] = (255, 255, 255)
    truth: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.image = Image.new("RGB", (WIDTH, HEIGHT), self.ground)
        self.pen = ImageDraw.Draw(self.image)

    def font(self, size: int) -> ImageFont.FreeTypeFont:
        """The page's face in a size, pixels."""
        return ImageFont.truetype(str(FONTS / self.face), size)

    def put(self, x: int, y: int, text: str, size: int = 24, *, say: str | None = None) -> None:
        """Set one line; `say` replaces its words in the truth."""
        self.pen.text((x, y), text, fill=(25, 25, 30), font=self.font(size))
        if say != "":
            self.truth.append(say or text)

    def flow(self, x: int, y: int, width: int, text: str, size: int = 24, *, mark: str = "") -> int:
        """Set a paragraph, return the height below it; `mark` hangs left of it and begins its truth."""
        font, line, lines, lead = self.font(size), "", [], 1.35
        units = list(text) if self.face in CHINESE else [word + " " for word in text.split()]
        for unit in units:
            if font.getlength(line + unit.rstrip()) > width:
                lines.append(line)
                line = ""
            line += unit
        for whole in [*lines, line]:
            self.pen.text((x, y), whole.rstrip(), fill=(25, 25, 30), font=font)
            y += round(size * lead)
        if mark:
            self.pen.text((x - 2 * size, y - round(size * lead) * (len(lines) + 1)), mark, fill=(25, 25, 30), font=font)
        self.truth.append(f"{mark} {text}".strip())
        return y

    def sentence(self) -> str:
        """A sentence of the page's language."""
        if self.face in CHINESE:
            return "".join(self.rng.choice(ZH.split()) for _ in range(self.rng.randint(6, 11))) + "。"
        one, two = self.rng.choice(NOUNS.split()), self.rng.choice(NOUNS.split())
        return f"The {one} {self.rng.choice(VERBS.split())} the {two} {self.rng.choice(TAILS.split('|'))}."

    def prose(self, count: int) -> str:
        """Several sentences."""
        return ("" if self.face in CHINESE else " ").join(self.sentence() for _ in range(count))


def columns(sheet: Sheet, count: int, *, picture: bool) -> None:
    """Title over columns; a picture stands in one of them."""
    sheet.put(120, 110, "部门工作报告" if sheet.face in CHINESE else "Notes on the River and the Market", 52)
    gap, width = 50, (WIDTH - 200 - 50 * (count - 1)) // count
    for number in range(count):
        x, y = 100 + number * (width + gap), 230
        while y < HEIGHT - 420:
            if picture and number == 1 and 500 < y < 800:
                sheet.pen.rectangle((x, y, x + width, y + 300), fill=(120, 150, 170))
                sheet.pen.ellipse((x + 60, y + 60, x + 240, y + 240), fill=(200, 190, 120))
                y += 330
                picture = False
            y = sheet.flow(x, y, width, sheet.prose(sheet.rng.randint(3, 5)), 22) + 16


def report(sheet: Sheet) -> None:
    """Running header, sections, a list, a footnote, a page number."""
    sheet.pen.text((100, 60), "Yearbook of Harbours", fill=(60, 60, 60), font=sheet.font(18))
    y = 150
    for number in (1, 2):
        sheet.put(100, y, f"{number} The {sheet.rng.choice(NOUNS.split())} in {1990 + number}", 34)
        y = sheet.flow(100, y + 60, WIDTH - 200, sheet.prose(6)) + 18
        for item in range(3):
            y = sheet.flow(170, y, WIDTH - 270, sheet.prose(2), mark=f"{item + 1}.") + 6
        y += 30
    sheet.pen.line((100, HEIGHT - 170, 400, HEIGHT - 170), fill=(80, 80, 80), width=2)
    sheet.put(100, HEIGHT - 160, "* Figures as of the end of the year.", 17)
    sheet.pen.text((WIDTH // 2, HEIGHT - 80), str(sheet.rng.randint(11, 99)), fill=(60, 60, 60), font=sheet.font(20))


def form(sheet: Sheet) -> None:
    """Two boxes side by side, parted by a rule, then a paragraph."""
    zh = sheet.face in CHINESE
    sheet.put(430, 110, "服务确认单" if zh else "Order of Work", 44)
    sheet.pen.rectangle((100, 230, WIDTH - 100, 480), outline=(60, 60, 60), width=2)
    sheet.pen.line((WIDTH // 2, 230, WIDTH // 2, 480), fill=(60, 60, 60), width=2)
    for x, side in ((120, "甲方" if zh else "Client"), (WIDTH // 2 + 20, "乙方" if zh else "Builder")):
        rows = (
            ("名称：" + side + "测试公司", "地址：样例路18号", "电话：0571-8800")
            if zh
            else (f"{side}: Example Works", "Road: 18 Mill Lane", "Phone: 020 7946")
        )
        for number, text in enumerate((side, *rows)):
            sheet.put(x, 250 + 54 * number, text, 24)
    sheet.flow(100, 540, WIDTH - 200, sheet.prose(8))


def slide(sheet: Sheet) -> None:
    """A slide: large title, bullet points, a coloured panel with text."""
    sheet.pen.rectangle((0, 0, WIDTH, 170), fill=(205, 220, 235))
    sheet.put(80, 60, "Three reasons to repair it", 50)
    y = 260
    for _ in range(4):
        y = sheet.flow(160, y, 960, sheet.sentence(), 32, mark="•") + 26
    sheet.pen.rectangle((80, y + 60, WIDTH - 80, y + 330), fill=(240, 232, 214))
    sheet.flow(120, y + 90, WIDTH - 240, sheet.prose(3), 28)


def letter(sheet: Sheet) -> None:
    """A letter: addresses, a date at the right, body, signature line."""
    for number, text in enumerate(("Anna Miller", "4 Bridge Street", "Oldtown")):
        sheet.put(100, 120 + 36 * number, text)
    sheet.put(900, 300, "3 March 2021")
    sheet.put(100, 380, "Dear Mr Baker,")
    y = 450
    for _ in range(4):
        y = sheet.flow(100, y, WIDTH - 200, sheet.prose(4)) + 22
    sheet.put(100, y + 20, "Yours sincerely,")


def notice(sheet: Sheet) -> None:
    """One column of numbered clauses."""
    zh = sheet.face in CHINESE
    sheet.put(400, 110, "管理规定" if zh else "House Rules", 46)
    y = 230
    for number in range(1, 9):
        head = f"第{'一二三四五六七八'[number - 1]}条　" if zh else f"{number}.1 "
        y = sheet.flow(100, y, WIDTH - 200, head + sheet.prose(3), 25) + 14


def worn(image: Image.Image, rng: random.Random) -> Image.Image:
    """A scan's wear: slight tilt, blur, uneven light, grain, JPEG."""
    image = image.rotate(rng.uniform(-1.2, 1.2), Image.Resampling.BICUBIC, fillcolor=image.getpixel((3, 1750)))
    image = image.filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 0.8)))
    pixels = np.asarray(image, np.float32)
    noise = np.random.default_rng(rng.randrange(1 << 30))
    light = np.linspace(rng.uniform(0.85, 1.0), 1.0, WIDTH)[None, :, None]
    pixels = pixels * light + noise.normal(0, rng.uniform(2, 9), pixels.shape[:2])[..., None]
    held = io.BytesIO()
    Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(held, "JPEG", quality=rng.randint(45, 85))
    return Image.open(io.BytesIO(held.getvalue()))


def _plans() -> Iterator[tuple[str, str, Callable[[Sheet], None]]]:
    for place, face in enumerate(LATIN):
        yield "two_columns", face, lambda sheet, p=place: columns(sheet, 2, picture=p % 2 == 0)
        yield "three_columns", face, lambda sheet: columns(sheet, 3, picture=False)
        yield ("report", face, report) if place % 2 else ("slide", face, slide)
        yield ("form", face, form) if place % 2 else ("letter", face, letter)
    for face in CHINESE:
        yield "two_columns", face, lambda sheet: columns(sheet, 2, picture=True)
        yield ("form", face, form) if face == CHINESE[0] else ("notice", face, notice)


def make(folder: Path) -> list[Path]:
    """Draw the pages and write their truth beside them; returns the pictures."""
    pictures = []
    for number, (name, face, plan) in enumerate(_plans(), 1):
        rng = random.Random(7000 + number)
        sheet = Sheet(rng, face, (252, 247, 235) if number % 5 == 0 else (255, 255, 255))
        plan(sheet)
        path = folder / f"own_{number:02d}_{name}.jpg"
        worn(sheet.image, rng).save(path, quality=90)
        (folder / f"{path.stem}.gt.md").write_text("\n\n".join(sheet.truth) + "\n", "utf-8")
        pictures.append(path)
    return pictures
