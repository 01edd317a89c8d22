"""GRPO with TRL, on a random model of a few words, made here: nothing is downloaded."""

import json

import pytest

from tests.helpers.examples import EXAMPLES
from tests.helpers.processes import environment, run_python

pytest.importorskip("trl", reason="needs TRL: pip install trl")

# TRL warns while it is imported, so that the script runs in a process of its own.
TRAINED = """
import json, sys
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

sys.path.insert(0, sys.argv[1])
import trl_grpo

torch.manual_seed(0)
torch.set_num_threads(1)
words = ["<end>", "<unknown>", "x", "o", ".", *"1234567"]
tokens = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, "<unknown>"))
tokens.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=tokens, eos_token="<end>", pad_token="<end>", unk_token="<unknown>"
)
tokenizer.add_tokens([f"Move: {column}" for column in range(1, 8)])  # an answer is one token
tokenizer.chat_template = "{% for message in messages %}{{ message.content }} {% endfor %}"
tokenizer.save_pretrained("tiny")
shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
ends = {"eos_token_id": 0, "pad_token_id": 0, "bos_token_id": None}
config = LlamaConfig(vocab_size=len(tokenizer), num_attention_heads=2, **shape, **ends)
LlamaForCausalLM(config).save_pretrained("tiny")
asked = trl_grpo.questions(4, 1)
answers = [[{"role": "assistant", "content": text}] for text in ("Move: 3", "Move: 1", "one")]
known = trl_grpo.keeps(answers, ["444444", "444444", "4"])
found = trl_grpo.train("tiny", "trained", count=64, steps=20, rate=0.01, length=1)
print(json.dumps([asked[0]["prompt"][0]["content"], known, found]))
"""


@pytest.mark.compiled
@pytest.mark.slow
def test_a_random_model_learns_to_answer_with_moves(tmp_path):
    here = environment(HF_HUB_OFFLINE="1")
    done = run_python("-c", TRAINED, str(EXAMPLES), cwd=tmp_path, env=here)
    assert done.returncode == 0, done.stderr
    prompt, known, found = json.loads(done.stdout.splitlines()[-1])
    assert prompt.startswith("This is Connect Four")
    assert known == [1, 0, -1]
    assert len(found) == 20
    assert min(found) > -1
    assert sum(found[-5:]) / 5 > found[0] + 0.3
    assert (tmp_path / "trained" / "model.safetensors").exists()
