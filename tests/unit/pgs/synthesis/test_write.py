"""Phase 3 as a call: what is warned of, what is kept, and what is refused."""

import pytest

from pgs_neo4j.config import PGSConfig
from pgs_neo4j.errors import ModelOutputError, UsageError
from pgs_neo4j.events import ignore
from pgs_neo4j.llm.calls.calls import Calls
from pgs_neo4j.llm.scripted import ScriptedLLM
from pgs_neo4j.model import Completion, Partition, SweepStatus, Usage
from pgs_neo4j.pgs.synthesis.reply import SynthesisTools
from pgs_neo4j.pgs.synthesis.write import write_synthesis
from pgs_neo4j.text.thinking import ThinkingFilter
from pgs_neo4j.text.tokens import estimate
from tests.fakes.tokens import nothing_deleted
from tests.orders import swept, synthesis_order

PARTS = [Partition(id=1, size=10, tokens=1), Partition(id=2, size=10, tokens=1)]


def sweep(partition, bullets=1, words=1):
    texts = [(f"finding {i}", []) for i in range(bullets)]
    return swept(partition, texts, absences=["costs"], state="state " * words)


async def synthesized(reply, *sweeps, known=None, **knobs):
    warnings = []
    llm = ScriptedLLM(lambda prompt: reply)
    config = PGSConfig(**knobs)
    tools = SynthesisTools(
        llm=llm,
        calls=Calls.of(config, {}),
        replies=None,
        on_event=ignore,
        warn=warnings.append,
        check_deleted=nothing_deleted,
    )
    order = synthesis_order("Why?", sweeps, PARTS, config, known)
    result = await write_synthesis(order, tools)
    return result, warnings, llm.prompts[0]


async def test_what_was_left_out_is_said_in_one_sentence():
    _, warnings, prompt = await synthesized(
        "x", sweep(1, 900), sweep(2, 2), known="known " * 9000, max_pass_tokens=2500
    )
    assert estimate(prompt.system) + estimate(prompt.user) <= 2500
    (warning,) = warnings
    assert " bullets (the last of their lists); the end of the search's answer. " in warning
    assert "PGS_MAX_PASS_TOKENS" in warning
    _, warnings, _ = await synthesized("x", sweep(1, 1, 2000), max_pass_characters=6000)
    assert "does not see: 1 Domain State (in part). " in warnings[0]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (" ", "empty synthesis"),
        ("<think>x</think>\n", "empty synthesis"),
        ("<think>## Thesis\nx", "empty synthesis"),
        (
            Completion(text="<think>x", usage=Usage(), model="m", truncated=True),
            "cut off at 16000 tokens",
        ),
    ],
)
async def test_a_reply_that_says_nothing_is_refused(reply, said):
    with pytest.raises(ModelOutputError, match=said):
        await synthesized(reply, sweep(1))


async def test_a_text_that_was_cut_off_is_kept_without_its_thoughts():
    cut = Completion(text="<think>x</think>Iron", usage=Usage(), model="m", truncated=True)
    result, warnings, _ = await synthesized(cut, sweep(1))
    assert (result.text, result.complete) == ("Iron", False)
    assert "cut off" in warnings[0]


async def test_without_a_report_there_is_nothing_to_synthesize():
    with pytest.raises(UsageError, match="no report"):
        await synthesized("x", swept(1, status=SweepStatus.FAILED))


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("## Thesis\nIron.", "## Thesis\nIron."),
        ("<think>hm, [P1:n1]</think>\n\n## Thesis\nIron.", "## Thesis\nIron."),
        (" \n<think>hm</think>Iron <think> goes", "Iron "),
        ("<thin", "<thin"),
        ("<think>never ends", ""),
        ("", ""),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_thinking_at_the_beginning_is_not_streamed(reply, shown, size):
    assert ThinkingFilter().pass_on("#") == "#"  # what is said is passed on at once
    filtering = ThinkingFilter()
    pieces = [filtering.pass_on(reply[i : i + size]) for i in range(0, len(reply), size)]
    assert "".join([*pieces, filtering.end()]) == shown
