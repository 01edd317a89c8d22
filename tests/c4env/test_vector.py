"""Many games as a Gymnasium VectorEnv: the same games as everywhere else, only more."""

import random

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from pettingzoo.utils.env_logger import EnvLogger

from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, batched, env, observe
from c4env.bitboard import COLUMN, winning_moves
from c4env.envs.vectorized.batch import Batch
from c4env.errors import IllegalMove, InvalidAction, OpponentFailed, WrongOrder
from c4env.observation import DTYPES, LAYOUTS, Form
from tests.helpers.environments import state_of

NEXT, SAME, DISABLED = AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED
MODES = pytest.mark.parametrize("mode", [NEXT, SAME, DISABLED])


def legal_actions(observation, choose):
    """A random legal column a board; 0 where none is legal."""
    mask = observation["action_mask"]
    return np.asarray((choose.random(mask.shape) * mask).argmax(axis=1))


@batched
def leftmost(observation):
    return np.asarray(observation["action_mask"].argmax(axis=1))


# -- the same games in every environment ------------------------------------------------------


class Traces:
    """Random games played in the AEC environment, row by row.

    Row t is what was seen before a ply or, in the last row of each game, after the end.
    """

    def __init__(self, games, *, seed, illegal):
        choose = random.Random(seed)
        environment = env()
        planes = []
        masks = []
        self.moves = []
        actions, rewards, self.starts = [], [], []
        for _ in range(games):
            environment.reset()
            self.starts.append(len(planes))
            moves = []
            wants_illegal = choose.random() < illegal
            while True:
                over = any(environment.terminations.values())
                mover = environment.possible_agents[environment.position.to_move]
                seen = environment.observe(mover)
                planes.append(seen["observation"])
                masks.append(seen["action_mask"])
                if over:
                    actions.append(0)
                    rewards.append((0.0, 0.0))
                    break
                full = np.flatnonzero(seen["action_mask"] == 0).tolist()
                columns = full if full and wants_illegal else np.flatnonzero(masks[-1]).tolist()
                action = choose.choice(columns)
                environment.step(action)
                moves.append(action)
                actions.append(action)
                rewards.append(tuple(environment.rewards[a] for a in environment.possible_agents))
            self.moves.append(moves)
        self.planes, self.masks = np.array(planes), np.array(masks)
        self.actions, self.rewards = np.array(actions), np.array(rewards)
        ends = [*self.starts[1:], len(planes)]
        self.last = np.zeros(len(planes), np.bool_)
        self.last[np.array(ends) - 1] = True
        self.starts.append(0)  # after the last game comes the first


@pytest.fixture
def quiet():
    EnvLogger.suppress_output()
    yield
    EnvLogger.unsuppress_output()
    EnvLogger.flush()


def follow(traces, mode, size):
    """Play all games on a vector environment, board by board one after the other."""
    games = len(traces.moves)
    each = games // size
    environment = ConnectFourVectorEnv(size, illegal="lose", autoreset_mode=mode)
    observation, _ = environment.reset(seed=0)
    game = np.arange(size) * each
    starts = np.array(traces.starts)
    row = starts[game]
    pending = np.zeros(size, np.bool_)
    played = 0
    while played < games:
        assert np.array_equal(observation["observation"], traces.planes[row])
        acting = ~traces.last[row]
        masks = traces.masks[row] if mode is not NEXT else traces.masks[row] | ~acting[:, None]
        assert np.array_equal(observation["action_mask"], masks)
        if mode is DISABLED and not acting.all():
            game += ~acting
            row = np.where(acting, row, starts[game % games])
            observation, _ = environment.reset(options={"reset_mask": ~acting})
            continue
        observation, rewards, terminated, truncated, info = environment.step(traces.actions[row])
        mover = traces.planes[row].sum(axis=(1, 2, 3)) & 1
        both = np.where(acting[:, None], traces.rewards[row], 0)
        assert np.array_equal(rewards, both[np.arange(size), mover])
        assert np.array_equal(info["player_rewards"], both)
        assert not truncated.any()
        row = np.where(acting, row + 1, row)
        assert np.array_equal(terminated, acting & traces.last[row])
        played += int(terminated.sum())
        if mode is SAME:
            for i in np.flatnonzero(terminated):
                final = info["final_obs"][i]
                assert np.array_equal(final["observation"], traces.planes[row[i]])
                assert np.array_equal(final["action_mask"], traces.masks[row[i]])
            game += terminated
            row = np.where(terminated, starts[game % games], row)
        elif mode is NEXT:
            game += pending
            row = np.where(pending, starts[game % games], row)
            pending = terminated


def follow_batch(traces):
    games = len(traces.moves)
    batch = Batch(games)
    row = np.array(traces.starts[:-1])
    alive = np.ones(games, np.bool_)
    while alive.any():
        planes, masks = batch.observe()
        assert np.array_equal(planes[alive], traces.planes[row][alive])
        assert np.array_equal(masks[alive], traces.masks[row][alive])
        actions = np.where(alive, traces.actions[row], masks.argmax(axis=1))
        rewards = batch.step(actions)
        assert np.array_equal(rewards[alive], traces.rewards[row][alive])
        row = row + alive
        assert np.array_equal(batch.over[alive], traces.last[row][alive])
        alive &= ~traces.last[row]
        batch.reset(batch.over)


def follow_single(traces):
    """Play the games on a single environment, from both seats by turns."""
    script = []
    environment = ConnectFourEnv(lambda _: script.pop(0), layout="planes_last")
    environment.reset(seed=0, options={"seat": 0})
    for game, moves in enumerate(traces.moves):
        seat = game % 2
        script[:] = moves[1 - seat :: 2]
        observation, info = environment.reset(options={"seat": seat})
        row = traces.starts[game] + seat
        for t, action in enumerate(moves[seat::2]):
            assert np.array_equal(observation, traces.planes[row + 2 * t])
            assert np.array_equal(info["action_mask"], traces.masks[row + 2 * t])
            observation, reward, terminated, _, info = environment.step(action)
        end = traces.starts[game] + len(moves)
        assert terminated
        assert reward == traces.rewards[end - 1][seat]
        final = traces.planes[end]
        flipped = environment.position.to_move != seat
        assert np.array_equal(observation, final[..., ::-1] if flipped else final)
        assert np.array_equal(info["action_mask"], traces.masks[end])


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.usefixtures("quiet")
def test_ten_thousand_games_are_the_same_everywhere():
    legal = Traces(10_000, seed=1, illegal=0.0)
    follow_batch(legal)
    follow_single(legal)
    mixed = Traces(1_000, seed=2, illegal=0.5)
    for mode in (NEXT, SAME, DISABLED):
        follow(legal, mode, 500)
        follow(mixed, mode, 50)


@pytest.mark.usefixtures("quiet")
def test_some_games_are_the_same_everywhere():
    legal = Traces(12, seed=3, illegal=0.0)
    follow_batch(legal)
    follow_single(legal)
    mixed = Traces(24, seed=4, illegal=0.5)
    for mode in (NEXT, SAME, DISABLED):
        follow(mixed, mode, 4)


# -- opponents --------------------------------------------------------------------------------


def wins(position, player):
    """Columns in which a disc of ``player`` would make four."""
    discs = [position.discs(player), position.discs(1 - player)]
    return {
        column
        for column in position.legal_columns()
        if winning_moves(*discs) & COLUMN << 7 * column
    }


@pytest.mark.parametrize("opponent", ["random", "greedy"])
def test_native_opponents(opponent):
    """Every reply is legal; greedy ones win if they can, else block if they must."""
    size = 40
    environment = ConnectFourVectorEnv(size, opponent=opponent, autoreset_mode=DISABLED)
    observation, info = environment.reset(seed=3)
    seats = info["seat"].copy()
    assert set(seats) == {0, 1}
    assert info["ply"].tolist() == seats.tolist()
    choose = np.random.default_rng(1)
    replies = set()
    won = lost = urgent = 0
    over = np.zeros(size, np.bool_)
    while not over.all():
        before = environment.positions()
        actions = legal_actions(observation, choose)
        live = np.flatnonzero(~over)
        observation, rewards, terminated, _, info = environment.step(actions)
        for i in live:
            middle = before[i].play(int(actions[i]))
            after = environment.positions()[i]
            if middle.outcome is not None:
                assert after == middle
                assert rewards[i] == (0.0 if middle.outcome.winner is None else 1.0)
                won += middle.outcome.winner is not None
                continue
            reply = next(c for c in middle.legal_columns() if middle.play(c) == after)
            replies.add(reply)
            mine, threat = wins(middle, middle.to_move), wins(middle, 1 - middle.to_move)
            if opponent == "greedy" and (mine or threat):
                assert reply in (mine or threat)
                urgent += 1
            outcome = after.outcome
            assert terminated[i] == (outcome is not None)
            lose = outcome is not None and outcome.winner is not None
            assert rewards[i] == (-1.0 if lose else 0.0)
            lost += lose
            assert info["player_rewards"][i].tolist() == (
                [0.0, 0.0] if not lose else [-1.0, 1.0] if seats[i] == 0 else [1.0, -1.0]
            )
            seen = observe(after, int(seats[i]))
            assert np.array_equal(observation["observation"][i], seen["observation"])
            assert np.array_equal(observation["action_mask"][i], seen["action_mask"])
        over |= terminated
        environment.reset(options={"reset_mask": terminated})
        observation = environment.reset(options={"reset_mask": np.zeros(size, np.bool_)})[0]
    assert replies == set(range(7))
    assert lost > 0
    if opponent == "greedy":
        assert urgent > 20
        assert lost > won
    else:
        assert won > 0


@pytest.mark.parametrize(
    ("answer", "match"),
    [
        (lambda o: np.zeros(99, np.int64), r"shape \(99,\)"),
        (lambda o: np.zeros(len(o["action_mask"])), "expected legal columns"),
        (lambda o: [-1] * len(o["action_mask"]), "board 0: -1 is not a column"),
        (lambda o: [3, 3, 0], "board 2: column 0 is full"),
        (lambda o: 1 / 0, "ZeroDivisionError on boards 0, 1, 2"),
        (lambda o: None, "shape"),
    ],
)
@MODES
def test_a_failing_opponent_needs_a_reset(answer, match, mode):
    environment = ConnectFourVectorEnv(3, opponent=batched(answer), seat=0, autoreset_mode=mode)
    environment.reset(seed=1, options={"moves": ["", "", "111111"]})
    with pytest.raises(OpponentFailed, match=f"{match}.*call reset"):
        environment.step([3, 3, 3])
    with pytest.raises(WrongOrder, match="after a step that failed"):
        environment.step([3, 3, 3])
    with pytest.raises(OpponentFailed):
        environment.reset(seed=2, options={"moves": ["1", "1", "1111112"]})
    with pytest.raises(WrongOrder, match="every board"):
        environment.reset(options={"reset_mask": np.array([True, False, False])})
    environment.reset(seed=1)


# -- chance -----------------------------------------------------------------------------------


def history(environment, steps, **reset):
    observation, _ = environment.reset(**reset)
    seen = [environment.positions()]
    for _ in range(steps):
        observation, *_ = environment.step(leftmost(observation))
        seen.append(environment.positions())
    return seen


def test_a_seed_is_of_the_first_board_and_the_next_ones_follow():
    first = history(ConnectFourVectorEnv(3, opponent="random"), 60, seed=10)
    assert history(ConnectFourVectorEnv(3, opponent="random"), 60, seed=[10, 11, 12]) == first
    assert len({tuple(row[i] for row in first) for i in range(3)}) == 3


def test_a_reset_without_seed_goes_on_with_its_chance():
    environment = ConnectFourVectorEnv(3, opponent="random")
    first = history(environment, 20, seed=1)
    second = history(environment, 20)
    assert first != second
    history(environment, 20, seed=1)
    assert history(environment, 20) == second
    assert history(environment, 20, seed=[1, None, 3]) != second


def test_reset_mask_leaves_the_other_boards_alone():
    def run(mask):
        environment = ConnectFourVectorEnv(3, opponent="random", seat=0)
        environment.reset(seed=4)
        environment.step([3, 3, 3])
        if mask is not None:
            _, info = environment.reset(seed=9, options={"reset_mask": mask})
            assert info["ply"].tolist() == [0 if chosen else 2 for chosen in mask]
        for _ in range(3):
            environment.step([0, 1, 2])
        return environment.positions()

    undisturbed = run(None)
    disturbed = run([False, True, False])
    assert disturbed[0] == undisturbed[0]
    assert disturbed[2] == undisturbed[2]
    assert disturbed[1].plies == 6


def test_openings_are_drawn():
    openings = ["44", Position.parse("1"), "777"]
    starts = {Position.parse(moves) for moves in ("44", "1", "777")}
    environment = ConnectFourVectorEnv(60, openings=openings, autoreset_mode=SAME)
    observation, _ = environment.reset(seed=1)
    assert set(environment.positions()) == starts
    seen = set()
    for _ in range(30):
        observation, _, terminated, _, _ = environment.step(leftmost(observation))
        positions = environment.positions()
        seen |= {positions[i] for i in np.flatnonzero(terminated)}
    assert seen == starts


# -- autoreset ----------------------------------------------------------------------------------


def won_in_one(mode, **options):
    environment = ConnectFourVectorEnv(2, autoreset_mode=mode, **options)
    environment.reset(seed=1, options={"moves": ["445566", ""]})
    return environment


def test_next_step():
    environment = won_in_one(NEXT)
    observation, rewards, terminated, _, info = environment.step([6, 6])
    assert (rewards.tolist(), terminated.tolist()) == ([1, 0], [True, False])
    assert info["player_rewards"].tolist() == [[1, -1], [0, 0]]
    assert info["ply"].tolist() == [7, 1]
    # Of the finished board every action can be sampled, since none is looked at.
    assert observation["action_mask"].tolist() == [[1] * 7, [1] * 7]
    # The action of the finished board is not looked at.
    observation, rewards, terminated, _, info = environment.step([99, 6])
    assert (rewards.tolist(), terminated.tolist()) == ([0, 0], [False, False])
    assert environment.positions() == [Position(), Position.parse("77")]


def test_same_step():
    environment = won_in_one(SAME)
    _, rewards, terminated, _, info = environment.step([6, 6])
    assert (rewards.tolist(), terminated.tolist()) == ([1, 0], [True, False])
    assert environment.positions() == [Position(), Position.parse("7")]
    assert info["ply"].tolist() == [0, 1]
    assert info["_final_obs"].tolist() == info["_final_info"].tolist() == [True, False]
    assert info["final_obs"][1] is None
    won = observe(Position.parse("4455667"))
    assert np.array_equal(info["final_obs"][0]["observation"], won["observation"])
    assert np.array_equal(info["final_obs"][0]["action_mask"], won["action_mask"])
    assert info["final_info"]["ply"].tolist() == [7, 0]
    assert info["final_info"]["_ply"].tolist() == [True, False]
    assert info["final_info"]["player_rewards"].tolist() == [[1, -1], [0, 0]]
    assert "final_obs" not in environment.step([0, 0])[4]


def test_disabled():
    environment = won_in_one(DISABLED)
    environment.step([6, 6])
    before = state_of(environment)
    with pytest.raises(IllegalMove, match="board 0: the game is over; reset"):
        environment.step([0, 0])
    assert state_of(environment) == before
    environment.reset(options={"reset_mask": np.array([True, False])})
    environment.step([0, 0])
    assert environment.positions() == [Position.parse("1"), Position.parse("71")]


# -- arrays -----------------------------------------------------------------------------------


def test_what_gymnasiums_returns_are_in_self_play():
    """1 whoever won; each player's return is the row of ``player_rewards`` at the end."""
    envs = ConnectFourVectorEnv(16)
    counted = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    observation, _ = counted.reset(seed=1)
    choose = np.random.default_rng(1)
    winners = []
    for _ in range(150):
        actions = legal_actions(observation, choose)
        observation, _, over, _, info = counted.step(actions)
        if over.any():
            both = info["player_rewards"][over]
            assert (info["episode"]["r"][over] == np.abs(both).max(axis=1)).all()
            assert (both.sum(axis=1) == 0).all()
            winners += both.argmax(axis=1).tolist()
    assert set(winners) == {0, 1}


@MODES
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_layout_shows_the_same_games(layout, dtype, mode):
    given = {"opponent": "greedy", "autoreset_mode": mode}
    plain, form = ConnectFourVectorEnv(5, **given), Form(layout, dtype)
    laid_out = ConnectFourVectorEnv(5, layout=layout, dtype=dtype, **given)
    expected, _ = plain.reset(seed=1)
    seen, _ = laid_out.reset(seed=1)
    choose, ended = np.random.default_rng(0), 0
    while ended < 20:
        assert laid_out.observation_space.contains(seen)
        assert np.array_equal(seen["observation"], form(expected["observation"]))
        assert np.array_equal(seen["action_mask"], expected["action_mask"])
        actions = choose.integers(7, size=5)
        expected, _, over, _, info = plain.step(actions)
        seen, *_, found = laid_out.step(actions)
        ended += int(over.sum())
        for last, same in zip(found.get("final_obs", ()), info.get("final_obs", ()), strict=True):
            if same is not None:
                assert laid_out.single_observation_space.contains(last)
                assert np.array_equal(last["observation"], form(same["observation"]))
        if mode is DISABLED and over.any():
            expected, _ = plain.reset(options={"reset_mask": over})
            seen, _ = laid_out.reset(options={"reset_mask": over})


@pytest.mark.parametrize("threads", [2, 3, 64])
@pytest.mark.parametrize("mode", [NEXT, SAME])
def test_threads_play_the_same_games(threads, mode):
    alone, shared = (
        ConnectFourVectorEnv(20, opponent="random", autoreset_mode=mode, threads=count)
        for count in (1, threads)
    )
    assert history(alone, 60, seed=1) == history(shared, 60, seed=1)
    shared.close()


# -- arguments ----------------------------------------------------------------------------------


def test_an_illegal_move_loses():
    environment = ConnectFourVectorEnv(2)
    environment.reset(seed=1, options={"moves": ["444444", "4444445"]})
    _, rewards, terminated, _, info = environment.step([3, 3])
    assert (rewards.tolist(), terminated.tolist()) == ([-1, -1], [True, True])
    assert info["player_rewards"].tolist() == [[-1, 0], [0, -1]]
    assert info["ply"].tolist() == [6, 7]
    environment.reset(seed=1)
    with pytest.raises(InvalidAction, match="board 0: 9"):
        environment.step([9, 0])


# -- names ----------------------------------------------------------------------------------------


def test_many_of_the_single_environment_play_as_one_does():
    name, options = "c4env/ConnectFour-v0", {"opponent": "greedy", "seat": 0}
    many, one = gymnasium.make_vec(name, 2, **options), gymnasium.make(name, **options)
    assert many.single_observation_space == one.observation_space
    for action in (None, 3, 2):
        seen = many.reset(seed=[3, 3])[0] if action is None else many.step([action, action])[0]
        single = one.reset(seed=3)[0] if action is None else one.step(action)[0]
        assert (seen == single).all()
