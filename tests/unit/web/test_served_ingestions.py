"""What the server says of an ingestion's documents at the end of its job."""

from __future__ import annotations

from pgs_neo4j.web.jobs import ingested_data
from tests.fakes.commands import ingested, outcomes


def test_documents_that_failed_or_were_read_only_in_part_come_first() -> None:
    end = ingested_data(
        ingested(
            *outcomes("added", 1),
            *outcomes("changed", 1, note="read as cp1252", unread=("page 2 is a picture",)),
            *outcomes("failed", 1, reason="it is broken"),
        )
    )
    assert [(one["state"], one["reason"], one["note"]) for one in end["documents"]] == [
        ("failed", "it is broken", ""),
        ("changed", "", "read as cp1252; page 2 is a picture"),
        ("added", "", ""),
    ]
    assert end["notes"] == ["1 document read only in part"]
    assert ingested_data(ingested(*outcomes("added", 1)))["notes"] == []
