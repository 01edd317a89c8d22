"""GRPO with TRL: a language model learns to keep the win or the draw, rewarded by exact play.

python docs/examples/trl_grpo.py MODEL --out trained

MODEL is a folder or a name of the model hub. Needs TRL (pip install trl). With the options --count
64 --steps 20 --rate 0.01 --length 1, and a random model of one layer that knows 19 words, seven of
them answers, it took 20 seconds of one core and printed, last:

    mean reward of the first step -0.02, of the last 0.69
"""

import argparse
import tempfile
from pathlib import Path

import datasets
import torch
from trl import GRPOConfig, GRPOTrainer

from c4env import Position, evaluation
from c4env.agents import rewards
from c4env.envs.text import fill, read_move, template

KIND = "both+legal"  # of the prompts; a small model may need both+legal+answer+example


def questions(count, seed):
    """Return positions as prompts, none of the exam; "moves" leads to the position."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        found = evaluation.data(path, count, range(8, 31), seed, sets=["random"])
    rows = []
    for row in found:
        moves = row.position.moves()
        asked = fill(template(KIND), row.position, moves)
        rows.append({"prompt": [{"role": "user", "content": asked}], "moves": moves})
    return datasets.Dataset.from_list(rows)


def column_in(answer, moves):
    """Return the 0-based column that an answer announces, None without a legal one."""
    try:
        return read_move(answer, Position.parse(moves))
    except ValueError:  # unreadable or illegal
        return None


def keeps(completions, moves, **_):
    """1 for a move that keeps the win or the draw, 0 for another, -1 for none: TRL's reward."""
    answers = [completion[0]["content"] for completion in completions]
    columns = [column_in(*pair) for pair in zip(answers, moves, strict=True)]
    return rewards.keeps(moves, columns).tolist()


def train(model, out, count=1000, seed=1, steps=-1, rate=1e-6, length=512):
    """Train a model, a folder or a name of the hub; return the mean reward of each step."""
    config = GRPOConfig(
        out,
        seed=seed,
        max_steps=steps,
        learning_rate=rate,
        max_completion_length=length,
        num_generations=8,  # answers to a question
        gradient_accumulation_steps=8,  # with 8 answers each: 8 questions a step
        logging_steps=1,
        report_to="none",
        use_cpu=not torch.cuda.is_available(),
    )
    trainer = GRPOTrainer(model, keeps, config, train_dataset=questions(count, seed))
    trainer.train()
    trainer.save_model(out)
    return [row["reward"] for row in trainer.state.log_history if "reward" in row]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="GRPO with TRL on exact rewards")
    parser.add_argument("model", help="a folder, or a name of the model hub")
    parser.add_argument("--out", default="trained", help="folder of the result, default trained")
    parser.add_argument("--count", type=int, default=1000, help="positions, default %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    parser.add_argument("--steps", type=int, default=-1, help="default: each position 3 times")
    parser.add_argument("--rate", type=float, default=1e-6, help="of learning, default %(default)s")
    parser.add_argument("--length", type=int, default=512, help="tokens of an answer, default 512")
    found = train(**vars(parser.parse_args()))
    print(f"mean reward of the first step {found[0]:.2f}, of the last {found[-1]:.2f}")
