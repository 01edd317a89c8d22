"""An Inspect task: a position a sample, scored by exact play.

python docs/examples/inspect_task.py                            # asks Inspect's mock model
inspect eval docs/examples/inspect_task.py --model openai/NAME  # asks a model

Needs Inspect (pip install inspect-ai). With the mock model, which always names column 4, it
took 20 seconds and printed:

    keeps the win or draw in 0.83 of 12 positions
"""

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, mean, scorer, stderr
from inspect_ai.solver import generate

from c4env import Position
from c4env.agents import rewards
from c4env.envs.text import read_move, template

POSITIONS = [
    "4", "44", "444", "4444", "44444", "444444", "4455", "44553", "2345", "112233", "1234567", "35",
]  # fmt: skip


def asked(moves):
    """Return the prompt for the position after moves."""
    position = Position.parse(moves)
    values = {"board": str(position), "legal": "", "moves": moves, "player": "", "disc": ""}
    return template("board").format(**values, ply=position.plies)


@scorer(metrics=[mean(), stderr()])
def keeps():
    """Score 1 for a move that keeps the win or draw, 0 for another, -1 for none."""

    async def score(state, target):
        moves = target.text
        try:
            column = read_move(state.output.completion, Position.parse(moves))
        except ValueError:  # unreadable or illegal
            column = None
        return Score(value=float(rewards.keeps([moves], [column])[0]), answer=str(column))

    return score


@task
def connect_four():
    """Return the task."""
    samples = [Sample(input=asked(moves), target=moves) for moves in POSITIONS]
    return Task(dataset=MemoryDataset(samples), solver=generate(), scorer=keeps())


def mock(answers):
    """Return Inspect's mock model with an answer for each sample."""
    said = [ModelOutput.from_content("mockllm/model", answer) for answer in answers]
    for output in said:
        output.usage = ModelUsage()  # else Inspect fetches a tokenizer to count
    return get_model("mockllm/model", custom_outputs=said)


def run(model):
    """Return the score of each sample, by its moves."""
    (log,) = eval(connect_four(), model=model, display="none", max_connections=1)
    return {s.target: score.value for s in log.samples for score in s.scores.values()}


if __name__ == "__main__":
    found = run(mock(["Move: 4"] * len(POSITIONS)))
    share = sum(value == 1 for value in found.values()) / len(found)
    print(f"keeps the win or draw in {share:.2f} of {len(found)} positions")
