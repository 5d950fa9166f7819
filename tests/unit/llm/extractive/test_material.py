"""Claims of the extractive synthesis: subject, statement, and qualified citations."""

from pgs_neo4j.llm.extractive.material import material_of, stemmed, written
from pgs_neo4j.model import Citation, Finding, Prompt, PromptReport, Report


def prompt_of(*findings: Finding) -> Prompt:
    report = Report(partition=4, domain_state="", findings=findings, flags=(), absences=())
    entry = PromptReport(name="P4", keywords=(), report=report, text="")
    return Prompt(task="synthesis", system="", user="", question="iron ores", reports=(entry,))


def finding(text: str, *aliases: str) -> Finding:
    citations = tuple(Citation(alias=alias, partition=4, valid=alias != "n9") for alias in aliases)
    return Finding(text=text, citations=citations)


def test_a_claim_keeps_only_valid_citations_each_once() -> None:
    material = material_of(prompt_of(finding("Iron melts late [n1, n9].", "n1", "n9", "n1")))
    [claim] = material.claims
    assert claim.cited == ("[P4:n1]",)
    assert "[" not in claim.text
    assert claim.line(200).endswith("[P4:n1]")


def test_claims_are_in_reading_order_and_by_partition() -> None:
    material = material_of(prompt_of(finding("Iron melts."), finding("Gold shines.")))
    assert [claim.place for claim in material.claims] == [0, 1]
    assert material.of(4) == material.claims
    assert material.of(5) == ()
    assert material.terms.stems == ("iron", "ore")


def test_the_stems_of_a_claim_join_subject_and_statement() -> None:
    [claim] = material_of(prompt_of(finding("Iron melts late."))).claims
    assert claim.all_stems == claim.subject | claim.stems
    assert "iron" in claim.all_stems


def test_stems_are_written_as_in_the_claim() -> None:
    [claim] = material_of(prompt_of(finding("Smelting furnaces need iron ores."))).claims
    assert written(claim, stemmed(("smelting", "furnaces"))) == "smelting furnaces"
    assert written(claim, ["iron", "absent"]) == "iron absent"
