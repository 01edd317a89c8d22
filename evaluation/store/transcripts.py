"""The prompts and answers of language models in the games of a run.

``transcripts.jsonl`` in the run directory has a JSON line with the whole conversation for each
answer, written at once. A resumed run reuses the stored answers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from c4env.errors import C4Error, Unavailable
from c4env.evaluation.store.header import Fixture
from c4env.evaluation.store.lines import Lines, read_lines

if TYPE_CHECKING:
    from c4env.agents.adapters.chat import Exchange, Tape

TRANSCRIPTS_FILE: Final = "transcripts.jsonl"


@dataclass(frozen=True)
class Spoken:
    """A prompt to a language model in a game, and the model's answer."""

    players: tuple[str, str]
    opening: str
    exchange: Exchange
    agent: str  # hash of the agent's spec, code and prompt

    @property
    def fixture(self) -> Fixture:
        """The players and the opening, which identify the game in the schedule of its run."""
        return self.players, self.opening

    @property
    def player(self) -> str:
        """The name of the agent that received the prompt."""
        return self.players[len(self.exchange.moves) & 1]

    @property
    def _key(self) -> tuple[Any, ...]:
        exchange = self.exchange
        return (self.agent, *self.players, self.opening, exchange.moves, exchange.attempt)

    def values(self) -> dict[str, Any]:
        """Return the fields as JSON values, the inverse of :meth:`parse`."""
        game = {"players": self.players, "opening": self.opening, "agent": self.agent}
        return {**game, **asdict(self.exchange)}

    @classmethod
    def parse(cls, value: Any) -> Spoken:
        """Parse a line's JSON value; ValueError, TypeError or KeyError if it is malformed."""
        from c4env.agents.adapters.chat import Exchange

        fields = dict(value)
        (first, second), opening, agent = map(fields.pop, ("players", "opening", "agent"))
        if (tokens := fields["tokens"]) is not None:
            fields["tokens"] = tokens[0] + 0, tokens[1] + 0
        if fields["column"] not in (None, *range(7)):
            raise ValueError(f"unknown column {fields['column']!r}")
        return cls((first, second), opening, Exchange(**fields), agent)


class Transcripts:
    """A thread-safe store of the prompts and answers of a run.

    Args:
        folder: the run directory; None writes no file.
        agents: for each agent's name, the hash of the agent's spec, code and prompt.
        missing: the games still to play.
        budget: the most tokens, in prompts and answers, for the whole run; None sets no limit.
    """

    def __init__(
        self,
        folder: Path | None,
        agents: Mapping[str, str],
        missing: Collection[Fixture] = (),
        budget: int | None = None,
    ) -> None:
        self._agents = agents
        self._budget = budget
        self._changed = threading.Condition()
        self._under_way = 0  # requests
        self._closed = False
        self._lines = Lines(folder and folder / TRANSCRIPTS_FILE, Spoken.parse)
        entries: list[Spoken] = self._lines.entries
        self._spent = sum(sum(entry.exchange.tokens or ()) for entry in entries)
        unplayed = set(missing)
        self._stored = {s._key: s.exchange for s in entries if s.fixture in unplayed}
        entries.clear()

    def tape(self, fixture: Fixture) -> Tape:
        """Return a function that gives stored answers of a game, and requests missing answers."""
        players, opening = fixture

        def answer(moves: str, attempt: int, ask: Callable[[], Exchange]) -> Exchange:
            agent = self._agents[players[len(moves) & 1]]
            stored = self._stored.pop((agent, *players, opening, moves, attempt), None)
            if stored is not None:
                return stored
            with self._changed:
                if self._closed:
                    raise Unavailable("the run has ended")
                if self._budget is not None and self._spent >= self._budget:
                    raise Unavailable(
                        f"{self._spent} tokens used, of {self._budget} that the run may use"
                    )
                self._under_way += 1
            try:
                exchange = ask()
                self._keep(Spoken(players, opening, exchange, agent))
            finally:
                with self._changed:
                    self._under_way -= 1
                    self._changed.notify_all()
            return exchange

        return answer

    def _keep(self, spoken: Spoken) -> None:
        exchange = spoken.exchange
        with self._changed:
            try:
                self._lines.append(spoken.values())
            except C4Error as error:  # a full disk must not count as a forfeit
                raise Unavailable(str(error)) from None
            self._spent += sum(exchange.tokens or ())
            if exchange.tokens is None and self._budget is not None:
                raise Unavailable(
                    f"{exchange.model}: its endpoint does not report the tokens used, so the run "
                    "cannot keep to a number of tokens"
                )

    def close(self) -> None:
        """Wait for the answers under way, which may cost money, and close the file.

        Later requests raise an error.
        """
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._under_way)
            self._lines.close()


def read_transcripts(folder: Path) -> list[Spoken]:
    """Return the prompts and answers of a run in the order of the answers; [] if there are none."""
    path = folder / TRANSCRIPTS_FILE
    return read_lines(path, Spoken.parse) if path.exists() else []
