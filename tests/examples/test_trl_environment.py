"""TRL's environment: a game by a tool. TRL itself trains a random model, made here, on it."""

import json
import sys
from unittest.mock import MagicMock

import pytest

from c4env.envs.text import TextEnv
from tests.helpers.examples import EXAMPLES, example
from tests.helpers.processes import environment, run_python


def test_a_game_is_the_text_environments_with_exact_rewards(monkeypatch):
    for name in ("datasets", "torch", "trl"):  # which the game does not need
        monkeypatch.setitem(sys.modules, name, MagicMock())
    script = example("trl_environment")
    game, same = script.Game(), TextEnv("greedy", kind=script.PROMPT, reward="exact")
    assert game.reset(prompt=[], seed=3) == same.reset(seed=3)[0]
    assert game.get_reward() == -1
    gained, over = [], False
    while not over:
        text, reward, over, _, _ = same.step("Move: 4")
        assert game.move(4) == text
        gained.append(reward)
    assert game.get_reward() == sum(gained) / len(gained)
    with pytest.raises(ValueError, match="The game is over"):
        game.move(4)
    assert "it is your turn. Call the tool `move`" in game.reset(seed=4)
    assert game.get_reward() == -1


TRAINED = """
import sys
from pathlib import Path

import torch
import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

sys.path.insert(0, sys.argv[1])
import trl_environment

torch.manual_seed(0)
torch.set_num_threads(1)
call = '<tool_call>\\n{{"name": "move", "arguments": {{"column": {}}}}}\\n</tool_call>'
alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
tokens = Tokenizer(models.BPE({character: i for i, character in enumerate(alphabet)}, []))
tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokens.decoder = decoders.ByteLevel()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=tokens, eos_token="<|im_end|>", pad_token="<|endoftext|>"
)
tokenizer.add_tokens([call.format(column) for column in range(1, 8)])  # a call is one token
templates = Path(trl.__file__).parent / "chat_templates"
tokenizer.chat_template = (templates / "qwen3.jinja").read_text()
tokenizer.save_pretrained("tiny")
shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
config = LlamaConfig(
    vocab_size=len(tokenizer), num_attention_heads=2, bos_token_id=None, **shape, **ends
)
LlamaForCausalLM(config).save_pretrained("tiny")
print(trl_environment.train("tiny", "trained", count=8, steps=1, rate=0.01, length=32, moves=1))
"""


@pytest.mark.slow
def test_trl_plays_the_games(tmp_path):
    pytest.importorskip("trl", reason="needs TRL: pip install trl")
    here = environment(HF_HUB_OFFLINE="1")
    done = run_python("-c", TRAINED, str(EXAMPLES), cwd=tmp_path, env=here)
    assert done.returncode == 0, done.stderr
    (reward,) = json.loads(done.stdout.splitlines()[-1])
    assert -1 < reward < 1
    assert (tmp_path / "trained" / "model.safetensors").exists()
