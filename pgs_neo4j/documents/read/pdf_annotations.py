"""Reads the annotations of a PDF: values of form fields, and remarks.

Annotations are not a part of a page's text. An annotation without words, such as handwriting, is
reported.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pgs_neo4j.documents.read.text import normalize

MOST_ANNOTATIONS = 5000
"""Maximum annotations of a page to read. Further annotations are reported as unread."""
HIDDEN = 1 << 1
"""The flag of an invisible annotation."""
PLAIN_VALUES = frozenset(("", "1", "on", "yes", "true", "x"))
"""Values, in lower case, which only say that a box is ticked."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """The annotations of a page: lines of text, and ``unread`` phrases such as ``a stamp``."""

    lines: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def read_overlay(page: Any) -> Overlay:
    """Return the values of the form fields of a page, and the remarks on it, in their order."""
    import pypdfium2.raw as pdfium

    lines: dict[str, None] = {}
    unread: dict[str, None] = {}
    count = pdfium.FPDFPage_GetAnnotCount(page)
    for place in range(min(count, MOST_ANNOTATIONS)):
        with _open_annotation(pdfium, page, place) as annotation:
            if annotation is None or pdfium.FPDFAnnot_GetFlags(annotation) & HIDDEN:
                continue
            if pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_WIDGET:
                line, left_out = _read_field(pdfium, page.formenv, annotation)
            else:
                line, left_out = _read_remark(pdfium, annotation)
        lines |= {line: None} if line else {}
        unread |= {left_out: None} if left_out else {}
    if count > MOST_ANNOTATIONS:
        unread[f"more than {MOST_ANNOTATIONS:,} annotations"] = None
    return Overlay(tuple(lines), tuple(unread))


@contextmanager
def _open_annotation(pdfium: Any, page: Any, place: int) -> Iterator[Any]:
    annotation = pdfium.FPDFPage_GetAnnot(page, place)
    try:
        yield annotation or None
    finally:
        if annotation:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _read_remark(pdfium: Any, annotation: Any) -> tuple[str, str]:
    """Return the line of a remark, and a phrase for its unread part. Either may be empty."""
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    # A popup only shows the text of another annotation.
    if kind in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
        return "", ""
    wordless = {
        pdfium.FPDF_ANNOT_STAMP: "a stamp",
        pdfium.FPDF_ANNOT_INK: "handwriting",
        pdfium.FPDF_ANNOT_FILEATTACHMENT: "an attached file",
        pdfium.FPDF_ANNOT_SOUND: "a recording",
        pdfium.FPDF_ANNOT_MOVIE: "a film",
        pdfium.FPDF_ANNOT_SCREEN: "a film",
        pdfium.FPDF_ANNOT_RICHMEDIA: "a film",
        pdfium.FPDF_ANNOT_THREED: "a 3D model",
    }
    contents = _read_string(pdfium, annotation, b"Contents")
    if not contents:
        return "", wordless.get(kind, "")
    author = _read_string(pdfium, annotation, b"T")
    by = f" by {author}" if author else ""
    # A file, a film, or a recording contains more than its description, so it stays unread.
    beyond = "" if kind in (pdfium.FPDF_ANNOT_STAMP, pdfium.FPDF_ANNOT_INK) else wordless.get(kind)
    return f"Remark{by}: {contents}", beyond or ""


def _read_field(pdfium: Any, form: Any, annotation: Any) -> tuple[str, str]:
    """Return the line of a form field, and a phrase for its unread part.

    The line is empty if the field is not filled in.
    """
    if form is None:  # The document has fields but no form for them.
        name, value = (_read_string(pdfium, annotation, key) for key in (b"T", b"V"))
        return (_write_line(name, value) if value else ""), ""
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    name = _read(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    name = name or _read(pdfium.FPDFAnnot_GetFormFieldName, form, annotation)
    if kind == pdfium.FPDF_FORMFIELD_PUSHBUTTON:
        return "", ""
    if kind == pdfium.FPDF_FORMFIELD_SIGNATURE:
        return "", "a signature" if pdfium.FPDFAnnot_HasKey(annotation, b"V") else ""
    if kind == pdfium.FPDF_FORMFIELD_CHECKBOX:
        return _read_box(pdfium, form, annotation, name), ""
    if kind == pdfium.FPDF_FORMFIELD_RADIOBUTTON:
        if not pdfium.FPDFAnnot_IsChecked(form, annotation):
            return "", ""
        return _write_line(
            name, _read(pdfium.FPDFAnnot_GetFormFieldExportValue, form, annotation)
        ), ""
    value = _read_selected(pdfium, form, annotation)
    value = value or _read(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    flags = pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation)
    secret = kind == pdfium.FPDF_FORMFIELD_TEXTFIELD and flags & pdfium.FPDF_FORMFLAG_TEXT_PASSWORD
    if value and secret:
        return "", "a password"
    return (_write_line(name, value) if value else ""), ""


def _read_box(pdfium: Any, form: Any, annotation: Any, name: str) -> str:
    """Return the line of a check box, written as in a task list."""
    if not pdfium.FPDFAnnot_IsChecked(form, annotation):
        return f"[ ] {name}".strip()
    value = _read(pdfium.FPDFAnnot_GetFormFieldExportValue, form, annotation)
    return f"[x] {name if value.lower() in PLAIN_VALUES else _write_line(name, value)}".strip()


def _read_selected(pdfium: Any, form: Any, annotation: Any) -> str:
    """Return the labels of the selected options, empty for a field without options."""
    count = max(0, pdfium.FPDFAnnot_GetOptionCount(form, annotation))
    labels = (
        _read(pdfium.FPDFAnnot_GetOptionLabel, form, annotation, place)
        for place in range(count)
        if pdfium.FPDFAnnot_IsOptionSelected(form, annotation, place)
    )
    return ", ".join(labels)


def _write_line(name: str, value: str) -> str:
    return f"{name}: {value}" if name else value


def _read_string(pdfium: Any, annotation: Any, key: bytes) -> str:
    return _read(pdfium.FPDFAnnot_GetStringValue, annotation, key)


def _read(get: Callable[..., int], *given: object) -> str:
    """Return the string that a function of PDFium writes into a buffer, may be empty."""
    size = get(*given, None, 0)
    if size <= 2:  # The final NUL alone has two bytes.
        return ""
    buffer = (ctypes.c_ushort * ((size + 1) // 2))()
    get(*given, buffer, size)
    text = bytes(buffer)[:size].decode("utf-16-le", "replace").rstrip("\0")
    return "\n".join(line.strip() for line in normalize(text).strip().split("\n"))
