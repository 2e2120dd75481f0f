"""What is asked, in the words the model was trained on (official README and config.py, without a trailing blank)."""

from pageloom.errors import SettingsError
from pageloom.model.reading import Ask

IMAGE = "<image>"
PROMPTS = {
    "markdown": "\n<|grounding|>Convert the document to markdown.",
    "text": "\nFree OCR.",
    "figure": "\nParse the figure.",
}
MAX_WORDS = 2000  # characters of a question or of a text to be found


def prompt_text(ask: Ask) -> str:
    """The words sent after the image.

    Raises:
        SettingsError: `locate` and `custom` need words; words must not carry the model's own control marks.
    """
    if ask.task in PROMPTS:
        return PROMPTS[ask.task]
    words = ask.words.strip()
    if not words or len(words) > MAX_WORDS:
        raise SettingsError(f"task {ask.task!r} needs between 1 and {MAX_WORDS} characters of text")
    if ask.task == "locate":
        if "<|" in words or IMAGE in words:
            raise SettingsError("the text to locate must not contain control marks of the model")
        return f"\nLocate <|ref|>{words}<|/ref|> in the image."
    return "\n" + words.replace(IMAGE, "")
