"""One document on its way into the output folder: pages are kept as they come, files are written at the end."""

import hashlib
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pageloom import app
from pageloom.cli.inputs import shown
from pageloom.cli.report import Outcome, PageLine
from pageloom.contracts import ExportOptions
from pageloom.errors import DamagedDocument, OutputExists, PageloomError
from pageloom.jobs.spool import PageSpool
from pageloom.library import Document
from pageloom.model.document import AnyPage, DocumentHead, FailedPage, Reason
from pageloom.model.job import Input

SOURCE = "source.txt"


@dataclass(frozen=True, slots=True)
class Writing:
    """How results are written, the same for all inputs of a run.

    Attributes:
        formats: names of the formats, with the ending of each one's main file (".md", ".chunks.jsonl").
    """

    formats: Mapping[str, str]
    options: ExportOptions
    resume: bool
    force: bool


class Desk:
    """One document: what is wanted, what is done, where it goes.

    Args:
        asked: the input; `skip` is filled in by `take_up`.
        shown: the input as the user named it.
        stem: path of the outputs without suffix.
    """

    def __init__(self, asked: Input, shown: str, stem: Path, how: Writing) -> None:
        self.asked = asked
        self.stem = stem
        self.outcome = Outcome(shown)
        self.total = 0
        self.tries = 0
        self._how = how
        self._spool: PageSpool | None = None
        self._head: DocumentHead | None = None
        self._began = time.monotonic()

    def take_up(self) -> Input | None:
        """What is still to be read; None when nothing is.

        Raises:
            OutputExists: results are there and are not to be touched.
            PageNotFound: a page that was asked for is not in the document.
        """
        there = [path for path in (*self._files(), self._folder) if path.exists()]
        if self._how.force:
            shutil.rmtree(self._folder, ignore_errors=True)
            return self.asked
        if there and not self._how.resume:
            raise OutputExists(f"{shown(there[0])} is there already; --resume completes it, --force writes over it")
        return self._resumed(there[0]) if there else self.asked

    def opened(self, head: DocumentHead, numbers: Sequence[int]) -> None:
        """The document is open: begin (or go on with) its pages."""
        self._began = time.monotonic()
        self._spool = self._spool or PageSpool(self._folder)
        self._spool.note(SOURCE, head.sha256)
        self._head = head
        self.total = len(set(numbers) | self.asked.skip)
        self.outcome.page_count = head.page_count
        self.outcome.warnings = tuple((reason.code, reason.text) for reason in head.warnings)
        for number in sorted(self.asked.skip):
            self._count(self._spool.page(number))

    def done(self, page: AnyPage, assets: Mapping[str, bytes]) -> PageLine:
        """A page has ended; it is on disk when this returns."""
        if self._spool is None:
            raise RuntimeError("a page came before its document was opened")
        self._spool.put(page, assets)
        return self._count(page)

    def unlock(self, password: str) -> Input:
        """The same input with another password."""
        self.tries += 1
        self.asked = replace(self.asked, password=password)
        self.outcome.error = None
        self.outcome.status = "not read"
        return self.asked

    def finish(self) -> None:
        """All pages have ended: write the files, forget the kept pages."""
        self.outcome.status = "partial" if self.outcome.verdicts["failed"] else "done"
        self._write(())
        if self._spool is not None and not self.outcome.error:
            self._spool.remove()

    def stop(self) -> None:
        """Interrupted: what is finished is written, and kept for --resume."""
        if self.outcome.status != "not read" or self._spool is None:
            return
        self.outcome.status = "interrupted"
        numbers = self._spool.numbers()
        if numbers:
            text = f"{len(numbers)} of {self.total} pages were read before an interruption"
            self._write((Reason(code="interrupted", text=text),))

    def _write(self, remarks: tuple[Reason, ...]) -> None:
        if self._spool is None or self._head is None:
            raise RuntimeError("a document was finished before it was opened")
        head = self._head.model_copy(update={"warnings": self._head.warnings + remarks})
        try:
            document = app.assemble(self._spool.document(head))
            self.outcome.outputs = app.write(document, tuple(self._how.formats), self.stem, self._how.options)
        except PageloomError as error:
            self.outcome.refuse(error)
        self.outcome.seconds = time.monotonic() - self._began

    def _count(self, page: AnyPage) -> PageLine:
        line = PageLine.of(page)
        self.outcome.pages[page.number] = line
        return line

    @property
    def _folder(self) -> Path:
        """Where finished pages are kept until the document is written."""
        return self._beside(".pages")

    def _files(self) -> tuple[Path, ...]:
        return tuple(self._beside(ending) for ending in self._how.formats.values())

    def _beside(self, ending: str) -> Path:
        return self.stem.with_name(f"{self.stem.name}{ending}")

    def _resumed(self, there: Path) -> Input | None:
        digest = digest_of(self.asked.files)
        if self._folder.is_dir():
            self._spool = PageSpool(self._folder)
            if self._spool.noted(SOURCE) != digest:
                raise OutputExists(f"{shown(self._folder)} was not made from this file; --force starts anew")
            self.asked = replace(self.asked, skip=self._spool.done())
            return self.asked
        written = _written(self._beside(".json"))
        if written is None or written.head.sha256 != digest:
            raise OutputExists(
                f"{shown(there)} was not made from this file, or not by Pageloom; --force writes over it"
            )
        return self._completed(written)

    def _completed(self, written: Document) -> Input | None:
        """Go on from a written document: with its failed and missing pages, with missing files, or not at all."""
        count = written.head.page_count
        wanted = set(self.asked.pages.of(count)) if self.asked.pages else set(range(1, count + 1))
        fine = [page for page in written.pages if not isinstance(page, FailedPage)]
        read = frozenset(page.number for page in fine)
        if wanted <= read and all(path.exists() for path in self._files()):
            self.outcome.status = "already done"
            self.outcome.page_count = count
            self.outcome.outputs = list(self._files())
            for page in written.pages:
                self._count(page)
            return None
        self._spool = PageSpool(self._folder)
        for page in fine:
            names = (getattr(block, "asset", None) for block in page.blocks)
            self._spool.put(page, {name: written.assets[name] for name in names if name in written.assets})
        self.asked = replace(self.asked, skip=read)
        if wanted <= read:
            self.opened(written.head, tuple(read))
            self.finish()
            return None
        return self.asked


def _written(path: Path) -> Document | None:
    """A document written earlier; None when there is none, or when it is not one of ours."""
    try:
        return Document.load(path)
    except DamagedDocument:
        return None


def digest_of(files: Sequence[Path]) -> str:
    """The sha256 that a document of these files carries: of the bytes, or of all files' sums when it was joined."""
    sums = []
    for path in files:
        with path.open("rb") as file:
            sums.append(hashlib.file_digest(file, "sha256").hexdigest())
    return sums[0] if len(sums) == 1 else hashlib.sha256("".join(sums).encode()).hexdigest()
