"""What holds of every environment: it shares nothing, and what is refused changes nothing."""

import copy
import pickle
from functools import partial

import gymnasium
import numpy as np
import pytest

from c4env import ConnectFourEnv, ConnectFourVectorEnv, Position, agents, env, raw_env
from c4env.envs.registration import for_two
from c4env.envs.text import TextEnv
from c4env.errors import (
    C4Error,
    IllegalMove,
    InvalidAction,
    InvalidOption,
    InvalidPosition,
    WrongOrder,
)
from tests.helpers.environments import begun, handed_out, positions_of, state_of, step
from tests.helpers.policies import first_legal
from tests.helpers.processes import run_python

VECTORS = {
    f"vector, {mode}, {opponent}": partial(
        ConnectFourVectorEnv, 4, opponent=opponent, autoreset_mode=mode
    )
    for mode, opponent in (("NextStep", "random"), ("SameStep", "greedy"), ("Disabled", None))
}
ONE_BOARD = {"env": env, "raw_env": raw_env, "single": partial(ConnectFourEnv, seat=0)}
EVERY = ONE_BOARD | VECTORS
BY_RESET = pytest.mark.parametrize("name", [*ONE_BOARD, "vector, NextStep, random"])


def spoil(value):
    """Overwrite every array and dict that can be reached from here."""
    if isinstance(value, dict):
        for each in value.values():
            spoil(each)
        value.clear()
    elif isinstance(value, list | tuple):
        for each in value:
            spoil(each)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        spoil(value.tolist())
    elif isinstance(value, np.ndarray):
        value[...] = 1


@pytest.mark.parametrize("name", EVERY)
def test_what_is_handed_out_is_fresh(name):
    tidy, spoilt = EVERY[name](), EVERY[name]()
    for environment in (tidy, spoilt):
        result = environment.reset(seed=1)
        if environment is spoilt:
            spoil([result, handed_out(spoilt)])
    choose = np.random.default_rng(0)
    for _ in range(60):
        ended = [p.outcome is not None for p in positions_of(tidy)]
        for environment in (tidy, spoilt) if any(ended) else ():
            if name in ONE_BOARD:
                environment.reset()
            elif "Disabled" in name:
                environment.reset(options={"reset_mask": np.array(ended)})
        columns = [choose.choice(p.legal_columns() or [0]) for p in positions_of(tidy)]
        step(tidy, *columns)
        given = np.array(columns)
        spoil([step(spoilt, *given), handed_out(spoilt), given])
        assert state_of(tidy) == state_of(spoilt)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
@pytest.mark.parametrize("name", [*ONE_BOARD, "vector, SameStep, greedy"])
@pytest.mark.parametrize("moves", ["", "44", "4455667"])
def test_copies_keep_the_game_and_its_chance_and_go_their_own_way(name, moves, duplicate):
    environment = begun(EVERY[name], moves[: 3 if name == "single" else 7])
    over = name in ("env", "raw_env") and environment.position.outcome is not None
    double = duplicate(environment)
    before = state_of(environment)
    assert state_of(double) == before
    step(double, None if over else 5)
    assert state_of(environment) == before != state_of(double)
    step(environment, None if over else 5)
    assert state_of(double) == state_of(environment)


NOT_COLUMNS = [-1, 7, 10**30, True, np.True_, 2.0, "3", None, np.array([3])]


@pytest.mark.parametrize("action", NOT_COLUMNS, ids=repr)
@pytest.mark.parametrize(
    "make", [env, raw_env, ConnectFourEnv, partial(ConnectFourEnv, illegal="raise")]
)
def test_what_is_not_a_column_is_refused(make, action):
    environment = begun(make)
    before = state_of(environment)
    for error in (InvalidAction, AssertionError, C4Error):
        with pytest.raises(error, match=r"expected an integer 0\.\.6"):
            environment.step(action)
    assert state_of(environment) == before
    environment.step(np.uint8(3))
    assert state_of(environment) != before


@pytest.mark.parametrize(
    ("actions", "error", "match"),
    [
        ([0, 1], InvalidAction, r"shape \(2,\): expected \(3,\), one for"),
        ([0.0, 1.0, 2.0], InvalidAction, "dtype float64: expected integers"),
        ([0, 7, 2], InvalidAction, r"board 1: 7 is not a column: expected an integer 0\.\.6"),
        (np.array([0, 1, 2**63], np.uint64), InvalidAction, "board 2"),
        ([0, 1, 3], IllegalMove, "board 2: column 3 is full"),
    ],
)
@pytest.mark.parametrize("opponent", [None, "random", "greedy"])
def test_a_bad_action_names_the_board_and_changes_none(actions, error, match, opponent):
    environment = ConnectFourVectorEnv(3, opponent=opponent, seat=0, illegal="raise")
    environment.reset(seed=1, options={"moves": ["", "", "444444"]})
    before = state_of(environment)
    for kind in (error, C4Error):
        with pytest.raises(kind, match=match):
            environment.step(actions)
    assert state_of(environment) == before


class Fixed(agents.BatchAgent):
    def choose_many(self, discs, seeds):
        return read_only([3] * len(discs))


def read_only(columns):
    """As from Ray, a file in memory or another process."""
    return np.frombuffer(np.array(columns).tobytes(), np.int64)


@pytest.mark.parametrize("opponent", [None, "random", Fixed()], ids=repr)
def test_arrays_are_played_that_may_not_be_written(opponent):
    ours, theirs = (ConnectFourVectorEnv(2, opponent=opponent, seat=0) for _ in range(2))
    for environment, kind in ((ours, read_only), (theirs, np.array)):
        environment.reset(seed=1)
        for column in (2, 4):
            environment.step(kind([column] * 2))
    assert state_of(ours) == state_of(theirs)


@pytest.mark.parametrize(
    "make", [ConnectFourEnv, TextEnv, partial(ConnectFourVectorEnv, 3, opponent="random")]
)
def test_a_generator_that_is_assigned_draws(make):
    def seats(seed, after):
        environment = make()
        environment.reset(seed=seed)
        if after:
            environment.np_random = np.random.default_rng(5)
        return [np.array(environment.reset()[1]["seat"]).tolist() for _ in range(20)]

    assert seats(1, True) == seats(2, True) != seats(1, False)


@BY_RESET
@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"moves": "48"}, InvalidPosition, "'8'"),
        ({"moves": "4444444"}, IllegalMove, "column 4 is full"),
        ({"moves": "4455667"}, InvalidOption, "finished game"),
        ({"position": 44}, InvalidOption, "44: expected"),
        ({"moves": ["1", "2", "3"]}, InvalidOption, "3 starts: expected 1"),
        ({"position": Position(), "moves": ""}, InvalidOption, "only one"),
        ("4455", InvalidOption, "expected a dict"),
        ({"seed": -1}, InvalidOption, "seed=-1"),
        ({"seed": True}, InvalidOption, "seed=True"),
        ({"seed": np.True_}, InvalidOption, "seed=.*True"),
    ],
)
def test_a_reset_that_is_refused_leaves_the_game_as_it_was(name, options, error, match):
    environment = begun(EVERY[name], "1")
    before = state_of(environment)
    with pytest.raises(error, match=match):
        environment.reset(**(options if "seed" in options else {"options": options}))
    assert state_of(environment) == before


SMALL_VECTOR = partial(ConnectFourVectorEnv, 2)
ALL = [env, raw_env, ConnectFourEnv, SMALL_VECTOR]
SEATED = [ConnectFourEnv, partial(ConnectFourVectorEnv, 2, opponent="random")]


@pytest.mark.parametrize(
    ("makes", "option", "values"),
    [
        (ALL, "screen_scaling", (0, -3, 2.5, True, np.True_, "9")),
        (SEATED, "seat", (2, "first", True, np.True_, [])),
        (SEATED, "illegal", ("ignore",)),
        ([ConnectFourEnv, SMALL_VECTOR], "layout", ("rows", [])),
        ([ConnectFourEnv, SMALL_VECTOR], "dtype", ("float64", None, "int7")),
        ([SMALL_VECTOR], "autoreset_mode", ("never",)),
        ([SMALL_VECTOR], "action_mask", ("none", None, [])),
        ([ConnectFourVectorEnv], "num_envs", (0, -1, 2.0, True, np.True_, "3", None)),
    ],
)
def test_an_option_that_cannot_be_is_quoted(makes, option, values):
    for make in makes:
        for value in values:
            positional, named = ([value], {}) if option == "num_envs" else ([], {option: value})
            words = f"{option}={value!r}".replace("[", r"\[")
            with pytest.raises(InvalidOption, match=f"{words}.*expected"):
                make(*positional, **named)


@pytest.mark.parametrize(
    ("make", "call", "arguments"),
    [
        *[(make, "step", (3,)) for make in (env, ConnectFourEnv)],
        (env, "observe", ("player_0",)),
        (env, "state", ()),
        (env, "last", ()),
        (env, "render", ()),
        (partial(ConnectFourEnv, render_mode="ansi"), "render", ()),
        (SMALL_VECTOR, "step", ([0, 0],)),
    ],
)
def test_no_call_before_the_first_reset(make, call, arguments):
    # In env() PettingZoo's wrapper raises these.
    error = (AssertionError, AttributeError) if make is env else WrongOrder
    with pytest.raises(error, match="reset"):
        getattr(make(), call)(*arguments)


@pytest.mark.parametrize(
    "make", [env, raw_env, partial(ConnectFourEnv, first_legal, 0), SMALL_VECTOR]
)
def test_a_game_begins_where_it_is_told_to(make):
    environment = make()
    for options, expected in (
        ({"moves": "4455"}, "4455"),
        ({"position": Position.parse("4455")}, "4455"),
        ({"position": "4455"}, "4455"),
        ({"moves": [Position.parse("4455")]}, "4455"),
        ({"moves": ""}, ""),
        ({"moves": "4455"}, "4455"),
        (None, ""),
    ):
        environment.reset(seed=5, options=options)
        assert positions_of(environment) == [Position.parse(expected)] * (
            1 + (make is SMALL_VECTOR)
        )
        step(environment, 5)


@pytest.mark.parametrize("make", [env, ConnectFourEnv, SMALL_VECTOR])
def test_an_unknown_option_is_an_error_or_as_in_pettingzoo_a_warning(make):
    message = pytest.warns(UserWarning, match="unknown option speed: expected moves or position")
    with message if make is env else pytest.raises(InvalidOption, match="unknown option speed"):
        make().reset(options={"speed": 3})


SINGLE, SELF_PLAY = "c4env/ConnectFour-v0", "c4env/ConnectFourSelfPlay-v0"
ONE_MADE = partial(gymnasium.make, SINGLE)


@pytest.mark.parametrize(
    "make",
    [
        ONE_MADE,
        partial(gymnasium.make_vec, SINGLE),
        partial(gymnasium.make_vec, SELF_PLAY),
        for_two,  # what pettingzoo.make calls
    ],
)
def test_a_keyword_that_is_not_there_is_said_in_pythons_words(make):
    """TorchRL reads them in a TypeError of its ``frameskip=1``, and goes on without it."""
    words = {
        "frameskip": ": expected one of",
        "oponent": "; did you mean 'opponent'",
        "rendermode": "; did you mean 'render_mode'",
        "speed": r": expected one of \[.*'screen_scaling'",
        "rows": r": rows=5: a process has one board; write c4env\.use_board",
        "max_episode_steps": ": max_episode_steps=5: .* write also vectorization_mode='sync'",
    }
    for name in ("oponent",) if make is for_two else ("max_episode_steps",) * (make is ONE_MADE):
        del words[name]  # AEC has no opponent, and gymnasium.make takes a number of steps itself
    for keyword, rest in words.items():
        said = rf"^\w+\(\) got an unexpected keyword argument '{keyword}'{rest}"
        for error in (InvalidOption, TypeError):
            with pytest.raises(error, match=said):
                make(**{keyword: 5})


def test_what_other_environments_have_is_said():
    with pytest.raises(
        AttributeError, match=r"write env\.unwrapped, such as env\.unwrapped\.board"
    ):
        env().env.board  # noqa: B018  # as AgileRL's tutorial reads it
    for name in ("call", "get_attr", "set_attr"):
        with pytest.raises(AttributeError, match="vectorization_mode='sync'"):
            getattr(SMALL_VECTOR(), name)


def test_both_libraries_make_it_by_name_before_c4env_is_imported():
    pytest.importorskip("pettingzoo.env_registry")
    code = """import gymnasium
made = gymnasium.make("c4env:c4env/ConnectFour-v0")
assert type(made.unwrapped).__name__ == "ConnectFourEnv"
many = gymnasium.make_vec("c4env/ConnectFourSelfPlay-v0", num_envs=3)
assert type(many).__name__ == "ConnectFourVectorEnv" and many.num_envs == 3
import c4env.envs.aec, importlib, pettingzoo
made = pettingzoo.make("aec", "c4env/connect_four-v0", render_mode="ansi")
assert type(made) is type(c4env.env()) and made.render_mode == "ansi"
importlib.reload(c4env)"""
    run_python("-W", "error", "-c", code, check=True)
