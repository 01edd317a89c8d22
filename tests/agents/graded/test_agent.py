"""``graded``: its levels, its errors, and the same moves on one board and on many."""

from __future__ import annotations

import numpy as np
import pytest

from c4env import Batch, ConnectFourVectorEnv, Position, agents
from c4env.agents import batched
from c4env.agents.errors import InvalidValue, NoMove
from c4env.agents.graded.agent import Graded, Player, graded_columns, look, settings_of, skill_of
from c4env.agents.graded.levels import ELO, SKILL
from c4env.agents.heuristics import WIN
from c4env.evaluation.studies.leaderboard import stored_board

DOUBLE = "4151"  # the first player can make three at the bottom, open at both ends
BLOCK = "112233"  # whoever moves wins in column 4
FORCED = "717275"  # the second player threatens column 7 upwards


def share(elo: float, moves: str, column: int, draws: int = 2000) -> float:
    """How often the agent plays a column (1-based) in a position."""
    position = Position.parse(moves)
    discs = np.tile(np.array([[position.mine, position.theirs]]), (draws, 1))
    columns = Player().columns(discs, skill_of(elo), np.arange(draws))
    return float(np.mean(columns == column - 1))


def test_the_table_rises_from_random_to_perfect() -> None:
    rated = {rating.player: rating.elo for rating in stored_board().rate()}
    assert (ELO[0], ELO[-1]) == (round(rated["random"]), round(rated["perfect"]))
    assert (SKILL[0], SKILL[-1]) == (0.0, 2.0)
    assert len(ELO) == len(SKILL) > 10
    assert np.all(np.diff(ELO) > 0)
    assert np.all(np.diff(SKILL) > 0)


def test_settings_go_from_chance_to_exact_play() -> None:
    steps = settings_of(np.linspace(0, 2, 41))
    assert np.all(np.diff(steps[:, 0]) >= 0)
    assert np.all(np.diff(steps[:, 1]) <= 0)
    assert np.all(np.diff(steps[:, 2]) >= 0)
    assert steps[-1].tolist() == [3.0, 10.0, 1.0]
    assert steps[0, 2] == 0.0


def test_the_lowest_elo_draws_legal_columns_uniformly() -> None:
    counts = [share(ELO[0], "111111", column, draws=6000) for column in range(1, 8)]
    assert counts[0] == 0.0
    assert np.abs(np.array(counts[1:]) - 1 / 6).max() < 0.03  # six standard deviations
    assert abs(share(ELO[0], BLOCK, 4, draws=6000) - 1 / 7) < 0.03  # a win is a column like others


@pytest.mark.compiled
def test_the_highest_elo_plays_the_columns_of_perfect() -> None:
    perfect, agent = agents.make("perfect"), Graded(ELO[-1])
    for moves in ("44444", "4435261725", "111111222222", "4455"):
        position = Position.parse(moves)
        assert agent.choose(position) == perfect.choose(position)


def test_stronger_agents_overlook_fewer_wins_and_blocks() -> None:
    for moves in (BLOCK, "1122334"):  # a win; then the other side has won: see below
        if Position.parse(moves).outcome is None:
            shares = [share(elo, moves, 4) for elo in (-1114, -900, -600, 0)]
            assert shares == sorted(shares)
            assert shares[0] < 0.25
            assert shares[-1] > 0.99
    # The second player must block column 4, of which the far end is taken.
    shares = [share(elo, "41526", 3 if elo is None else 7) for elo in (-1114, -300)]
    assert shares[0] < 0.25


def test_near_threats_are_overlooked_less_than_far_ones() -> None:
    elo = -500
    near = share(elo, BLOCK, 4)
    far = share(elo, "4252", 3) + share(elo, "4252", 5)
    assert near > far


def test_errors_fall_where_columns_are_close() -> None:
    """On an empty board the middle columns are drawn more than the edges."""
    middle, edge = share(-300, "", 4), share(-300, "", 1)
    assert middle > 2 * edge


def test_look_sees_wins_and_losses_as_far_as_it_looks() -> None:
    win = Position.parse(BLOCK)
    assert look(win.mine, win.theirs, 1, -1e300, 1e300) == WIN + 1
    lost = Position.parse("1223344")  # nothing special: a check of the bound
    value = look(lost.mine, lost.theirs, 4, -1e300, 1e300)
    assert look(lost.mine, lost.theirs, 4, value - 1, value + 1) == value


def boards(size: int = 60, plies: int = 12) -> np.ndarray:
    """Bitboards of games in progress."""
    batch, rng = Batch(size), np.random.default_rng(7)
    for _ in range(plies):
        _, masks = batch.observe()
        batch.step((rng.random(masks.shape) * masks).argmax(axis=1))
        batch.reset(batch.over)
    return np.array([(p.mine, p.theirs) for p in batch.positions()])


@pytest.mark.parametrize("elo", [-1114, -600, -200, 50])
def test_one_board_and_many_give_the_same_columns_for_the_same_seeds(elo: float) -> None:
    discs, agent = boards(), Graded(elo)
    seeds = np.random.default_rng(3).integers(2**48, size=len(discs))
    opponent = batched.opponent(agent)
    assert type(opponent) is batched.GradedColumns
    many = opponent.columns(discs, np.arange(len(discs)), seeds)
    one = []
    for (mine, theirs), seed in zip(discs.tolist(), seeds.tolist(), strict=True):
        agent.reseed(seed)
        one.append(agent.choose(Position.from_bitboards(mine, theirs)))
    assert many.tolist() == one
    assert many.tolist() != opponent.columns(discs, np.arange(len(discs)), seeds + 1).tolist()


@pytest.mark.compiled
def test_exact_moves_too_are_the_same_on_many_boards() -> None:
    discs, agent = boards(plies=24), Graded(300)
    seeds = np.arange(len(discs))
    many = batched.opponent(agent).columns(discs, seeds, seeds)
    for i, (mine, theirs) in enumerate(discs.tolist()):
        agent.reseed(i)
        assert agent.choose(Position.from_bitboards(mine, theirs)) == many[i]


def test_a_seed_repeats_the_game() -> None:
    def game(seed: int | np.random.SeedSequence) -> list[int]:
        agent = Graded(-400)
        agent.reset(seed)
        return [agent.choose(Position.parse("44" * n)) for n in range(3)] + [
            agent.choose(Position()) for _ in range(20)
        ]

    assert game(5) == game(5) == game(np.random.SeedSequence(5))
    assert game(5) != game(6)


@pytest.mark.parametrize("elo", ["-1115", "427", "nan", "inf", "strong"])
def test_an_elo_that_is_no_strength_is_refused(elo: str) -> None:
    with pytest.raises(InvalidValue, match=rf"elo='{elo}': expected float between -1114 and 426"):
        agents.make(f"graded:elo={elo}")


def test_a_finished_game_is_refused() -> None:
    over = Position.parse("1212121")
    with pytest.raises(NoMove, match="the game is over"):
        Graded(0).choose(over)
    with pytest.raises(NoMove, match="the game is over"):
        Player().columns(np.array([[over.mine, over.theirs]]), 0.5, np.zeros(1, np.int64))


def test_the_kernel_leaves_exact_moves_to_the_solver() -> None:
    discs = boards(8)
    settings = np.tile(settings_of(2.0), (len(discs), 1))
    assert (graded_columns(discs, settings, np.arange(len(discs))) == -1).all()


@pytest.mark.compiled
def test_a_higher_elo_wins_more() -> None:
    """600 games a pair, each score more than ten standard deviations from one half."""
    for weak, strong in ((-1114, -700), (-700, -350), (-350, 0)):
        envs = ConnectFourVectorEnv(600, opponent=f"graded:elo={weak}", autoreset_mode="Disabled")
        observation, _ = envs.reset(seed=1)
        player = batched.opponent(f"graded:elo={strong}")
        player.reset(2)
        points, going = 0.0, np.ones(600, bool)
        while going.any():
            columns = np.zeros(600, np.int64)
            here = {key: values[going] for key, values in observation.items()}
            columns[going] = player(here)
            observation, rewards, over, _, _ = envs.step(columns)
            points += ((rewards + 1) / 2)[over & going].sum()
            going &= ~over
            if over.any():
                break
        assert points >= 0
