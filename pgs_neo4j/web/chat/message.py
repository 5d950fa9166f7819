"""An answer as the message of a chat, whole or as it is written.

The text is Markdown without any mark, link, or picture that is not of pgs, since programs show it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgs_neo4j.export import Document, counts, figures, wording
from pgs_neo4j.export.markdown import source_lines
from pgs_neo4j.export.written import inert_blocks
from pgs_neo4j.model import Answer
from pgs_neo4j.text.mentions import Cited, name_of

BESIDE = "The files and texts that the chat program sent with the question were not read."
REWRITTEN = "The text above was revised when it was complete. This is the answer:"


def to_message(document: Document, *, beside: bool = False) -> str:
    """Return an answer with the list of its sources, and what it has read.

    ``beside``: the question came with texts of the chat program, which were not read.
    """
    text = _text(document.answer) or wording.NO_SYNTHESIS
    note = f" {BESIDE}" if beside else ""
    return f"{text}\n\n{_end(document)}{note}"


@dataclass(slots=True)
class MessageStream:
    """Writes a message while its text arrives; ``quoted``: its marks are not Markdown.

    A line is written when the next one shows that it stays as it is.
    """

    quoted: bool = False
    beside: bool = False
    arrived: str = ""
    written: str = ""

    def add(self, text: str) -> str:
        """Take a piece of the text; return what can be shown of the message by now."""
        self.arrived += text
        if "\n" not in text:
            return ""
        blocks = _inert(self.arrived[: self.arrived.rindex("\n")], quoted=self.quoted)
        sure = blocks[: blocks.rfind("\n") + 1]
        if len(sure) <= len(self.written) or not sure.startswith(self.written):
            return ""
        more, self.written = sure[len(self.written) :], sure
        return more

    def end(self, document: Document) -> str:
        """Return the rest of the message.

        A text that became another one after it had been shown follows as a whole.
        """
        whole = to_message(document, beside=self.beside)
        if whole.startswith(self.written):
            return whole[len(self.written) :]
        return f"\n\n---\n\n{REWRITTEN}\n\n{whole}"


def _text(answer: Answer) -> str:
    return _inert(answer.text, quoted=counts.quotes_only(answer, synthesis=True))


def _end(document: Document) -> str:
    answer = document.answer
    stopped = f" {answer.stopped}." if answer.stopped else ""
    read = f"{figures.run_line(answer)}. Run {answer.run}.{stopped}"
    return "\n".join(("## Sources", "", *source_lines(document), "", _inert(read, quoted=True)))


def _inert(text: str, *, quoted: bool) -> str:
    return inert_blocks(text, _name, quoted=quoted)


def _name(group: tuple[Cited, ...]) -> str:
    return f"[{', '.join(name_of(*cited.place) for cited in group)}]"
