"""The script for TRL: its trainer plays games with a tiny model whose answers are scripted."""

from __future__ import annotations

import json
import re
import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the library's own
    trl = pytest.importorskip("trl", reason="needs the extra trl: pip install 'c4env[trl]'")

from c4env.agents.training.game_tools import GameTools, starts
from tests.helpers.judged import lowest, reward

# The solver needs its speed; the library warns of things of its own.
pytestmark = [pytest.mark.compiled, pytest.mark.filterwarnings("ignore")]
LEGAL = re.compile(r"columns that are not full: ([\d, ]+)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of 13,000 random weights, with a token for each byte and the template of Qwen 3."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
    from trl.chat_template_utils import qwen3_chat_template

    torch.set_num_threads(1)  # a second one would but wait on a busy machine
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("model")
    alphabet = {letter: n for n, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    letters = Tokenizer(models.BPE(alphabet, []))
    letters.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters.decoder = decoders.ByteLevel()
    tokens = PreTrainedTokenizerFast(
        tokenizer_object=letters, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    tokens.add_tokens(["<|im_start|>", "<tool_call>", "</tool_call>", "<think>", "</think>"])
    tokens.chat_template = qwen3_chat_template
    tokens.save_pretrained(folder)
    config = Qwen3Config(
        vocab_size=len(tokens),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        max_position_embeddings=16384,
        eos_token_id=tokens.eos_token_id,
        pad_token_id=tokens.pad_token_id,
        bos_token_id=None,
    )
    Qwen3ForCausalLM(config).save_pretrained(folder)
    return folder


def call(column, name="play"):
    arguments = {"name": name, "arguments": {"column": column}}
    return f"<tool_call>\n{json.dumps(arguments)}\n</tool_call>"


def highest(position):
    return position.legal_columns()[-1]


def answer(text, first):
    """One of four answers: the lowest column, the highest after bad calls, words, one move."""
    kind = str(first) if first is not None else re.findall(r"I am (\d)", text)[-1]
    said = f"I am {kind}. "
    legal = LEGAL.findall(text)[-1].split(", ")
    if kind == "0" and "The game is over" not in text:
        return said + call(int(legal[0]))
    if kind == "1" and "The game is over" not in text:
        bad = [call("a"), call(8), call(1, "resign")][text.count("{'error': ") :]
        return said + (bad[0] if bad else call(int(legal[-1])))
    if kind == "3" and first is not None:
        return said + call(int(legal[0]))
    return said + "I stop."


def test_rewards_are_those_of_exact_play_and_the_model_learns(folder, tmp_path, monkeypatch):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen3ForCausalLM

    from c4env.agents.training.examples.trl_tools import train

    tokens = AutoTokenizer.from_pretrained(folder)
    texts, rewards = [], []

    def generate(self, input_ids, **_):
        shown = tokens.batch_decode(input_ids)
        begins = all("I am" not in text for text in shown)
        said = [answer(text, n % 4 if begins else None) for n, text in enumerate(shown)]
        texts.extend(text + words for text, words in zip(shown, said, strict=True))
        rows = [tokens(words + "<|im_end|>")["input_ids"] for words in said]
        longest = max(map(len, rows))
        padded = [row + [tokens.pad_token_id] * (longest - len(row)) for row in rows]
        return torch.cat([input_ids, torch.tensor(padded)], dim=1)

    def get_reward(self, given=GameTools.get_reward):
        rewards.append(given(self))
        return rewards[-1]

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(Qwen3ForCausalLM, "generate", generate)
    monkeypatch.setattr(GameTools, "get_reward", get_reward)
    out = tmp_path / "out"
    options = {"learning_rate": 1e-3, "shuffle_dataset": False}
    mean = train(out, 2, 3, str(folder), "greedy", games=4, options=options)

    expected = []
    for row in starts(2, plies=24, seed=3):
        expected += [reward(row["moves"], choose) for choose in (lowest, highest)] + [-1, -1]
    assert rewards == pytest.approx(expected)
    assert mean == pytest.approx(sum(expected[-4:]) / 4, abs=1e-3)
    text = "".join(texts)
    assert '"name": "play"' in text  # offered as a tool, with what its docstring says
    assert "The number of the column, from 1 to 7." in text
    assert '"name": "reset"' not in text
    assert "column='a': expected an integer from 1 to 7" in text
    assert "column=8: expected an integer from 1 to 7" in text
    assert "Tool resign not found." in text
    before, after = (AutoModelForCausalLM.from_pretrained(f) for f in (folder, out))
    changed = [
        not torch.equal(a.float(), b.float())
        for a, b in zip(before.parameters(), after.parameters(), strict=True)
    ]
    assert any(changed)


def test_a_model_that_calls_no_tool_loses(folder, tmp_path, monkeypatch):
    from c4env.agents.training.examples.trl_tools import train

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    options = {"max_completion_length": 50}
    assert train(tmp_path / "out", 1, model=str(folder), games=2, options=options) == -1
