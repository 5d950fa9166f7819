"""What ids look like in requests."""

from __future__ import annotations

RUN_ID = r"^r[0-9a-f]{12}$"
JOB_ID = r"^b[0-9a-f]{12}$"
UPLOAD_ID = r"^[0-9a-f]{16}$"
ID_FORMS = {
    RUN_ID: "the whole id of a run: r and 12 hexadecimal digits",
    JOB_ID: "the whole id of a live job: b and 12 hexadecimal digits",
    UPLOAD_ID: "the id of an uploaded file: 16 hexadecimal digits",
}
"""What the patterns mean, in words that follow "must be"."""
