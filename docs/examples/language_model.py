"""A language model as an agent, by a client of your own. Needs the package openai.

It shows a prompt, a strict reading of the answer, a second question after an illegal move, a limit
on the tokens of a run, and a file of answers, so that a resumed run repeats no request. The agent
``chat:MODEL`` can do all but the limit; copy this file for what ``chat`` does not do.

export OPENAI_BASE_URL=http://127.0.0.1:8000/v1 BUDGET=100000
c4 run llm=docs/examples/language_model.py:agent:model=tiny random --openings 0 --out talk

The key is the variable OPENAI_API_KEY. A run takes as long as the answers. With a server that
always names the lowest free column it took 8 seconds and printed:

    llm leads random by 191 Elo (95 %: -280 .. +1453), but random may be as strong.
"""

import hashlib
import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import openai

from c4env import Position
from c4env.agents import Agent, EngineFault, Unavailable, Writes, validate_args

BUDGET = float(os.environ.get("BUDGET", "inf"))  # not an option: a greater budget is the same agent
KEY = os.environ.get("OPENAI_API_KEY") or "(no key)"
CLIENT = openai.OpenAI(api_key=KEY, max_retries=6)  # outside the class, so that an agent copies
PROMPT = """\
This is Connect Four, on 7 columns and 6 rows. A disc falls to the lowest free cell of its column. \
Whoever first has four discs in a row, across, upright or diagonal, wins.
The board now, x the discs of the first player, o those of the second, the columns' numbers below:

{board}

You have the discs {disc}, and it is your turn. The columns that are not full: {legal}
Think as long as you like. End with a line that holds your move and nothing else: the word Move, \
a colon, and the number of the column, from 1 to 7."""


def rows_of(path: Path) -> list[dict]:
    """Return the answers in a file."""
    rows = []
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        with suppress(ValueError):  # a kill leaves part of a line
            rows.append(json.loads(line))
    return rows


class LanguageModel(Agent):
    """Plays the column in the last line of an answer, ``Move: N``."""

    @validate_args
    def __init__(
        self,
        model: str,
        temperature: float | None = None,
        retries: int = 2,
        answers: Annotated[str, Writes()] = "answers.jsonl",
    ) -> None:
        self.model, self.retries, self.file = model, retries, Path(answers)
        self.options = {} if temperature is None else {"temperature": temperature}
        self.known = {row["key"]: row["answer"] for row in rows_of(self.file)}
        self.reset()

    def reset(self, seed: int | None = None) -> None:
        """Begin a game. No other game of a run has its seed."""
        self.seed = seed

    def choose(self, position: Position) -> int:
        """Return the model's column; a model without a legal one forfeits."""
        legal = [str(column + 1) for column in position.legal_columns()]
        listed = ", ".join(legal)
        asked = PROMPT.format(board=position, disc="xo"[position.to_move], legal=listed)
        messages = [{"role": "user", "content": asked}]
        for _ in range(self.retries + 1):
            answer = self.ask(messages)
            found = re.fullmatch(r"Move: (\d+)", answer.strip().split("\n")[-1])
            if found and found[1] in legal:
                return int(found[1]) - 1
            problem = f"expected Move: N as the last line, and N one of {listed}"
            messages += [{"role": "assistant", "content": answer or "(nothing)"}]
            messages += [{"role": "user", "content": f"That is no legal move: {problem}."}]
        raise EngineFault(f"{self.model} gave no legal move: {problem}")

    def ask(self, messages: list[dict[str, str]]) -> str:
        """Return the answer to a conversation, from the file or from the endpoint."""
        request = {"model": self.model, "messages": messages, **self.options}
        text = json.dumps([str(self.seed), request])
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        if key in self.known:
            return self.known[key]
        if sum(row["tokens"] for row in rows_of(self.file)) >= BUDGET:
            raise Unavailable(f"the answers in {self.file} took {BUDGET:g} tokens or more (BUDGET)")
        try:
            reply = CLIENT.chat.completions.create(**request)
            answer = (reply.choices[0].message.content or "").replace(KEY, "[key]")
        except Exception as error:  # the run ends, and the same command resumes it
            raise Unavailable(f"{self.model}: {error}".replace(KEY, "[key]")) from None
        tokens = reply.usage.total_tokens if reply.usage else 0
        row = json.dumps({"key": key, **request, "answer": answer, "tokens": tokens})
        with self.file.open("a", encoding="utf-8") as file:  # at once: every job has a process
            file.write(f"\n{row}")
        return answer


agent = LanguageModel
