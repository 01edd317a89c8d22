"""The mask of legal columns in every form and mode: no row of zeros but PettingZoo's."""

import warnings
from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import c4env
from c4env import ConnectFourEnv, ConnectFourVectorEnv, MaskInObservation

NAME, SIZE = "c4env/ConnectFour-v0", 12


def chosen(masks, choose):
    """A legal column for each row, and one in thirty times perhaps a full one."""
    masks = np.asarray(masks) + (choose.random((len(masks), 1)) < 0.03)
    return (choose.random(masks.shape) * masks).argmax(axis=1)


# Each function plays, and yields rows of masks: of games that go on, and of games that are over.


def aec(make, choose):
    for _ in range(9):
        game = make()
        game.reset()
        while not any(game.terminations.values()):
            mask = game.observe(game.agent_selection)["action_mask"]
            yield [mask], []
            game.step(choose.choice(np.flatnonzero(mask)))
        yield [], [game.observe(agent)["action_mask"] for agent in game.possible_agents]


def one(make, read, choose):
    game, over = make(), True
    for _ in range(200):
        if over:
            seen, info = game.reset()
        mask, over = read(game, seen, info), False
        yield [mask], []
        seen, _, over, _, info = game.step(int(chosen([mask], choose)[0]))
        if over:
            yield [], [read(game, seen, info)]


def many(make, mode, in_info, choose):
    envs = make(autoreset_mode=mode)
    seen, info = envs.reset(seed=1)
    masks = (info if in_info else seen)["action_mask"]
    for _ in range(60):
        seen, _, over, _, info = envs.step(chosen(masks, choose))
        masks = (info if in_info else seen)["action_mask"].copy()
        if mode == "SameStep":
            ends = np.flatnonzero(over)
            if in_info:
                last = [info["final_info"]["action_mask"][i] for i in ends]
            else:
                last = [info["final_obs"][i]["action_mask"] for i in ends]
            yield masks, last
            continue
        yield masks[~over], masks[over]
        if mode == "Disabled" and over.any():
            seen, info = envs.reset(options={"reset_mask": over})
            masks[over] = (info if in_info else seen)["action_mask"][over]
            yield masks, []


def tensors(opponent, mode, choose):
    torch = pytest.importorskip("torch", reason="needs torch: the extra torch")
    envs = c4env.TensorEnv(SIZE, opponent=opponent, autoreset_mode=mode)
    seen, _ = envs.reset(seed=1)
    for _ in range(60):
        seen, _, over, _, _ = envs.step(torch.from_numpy(chosen(seen["action_mask"], choose)))
        masks = seen["action_mask"].numpy()
        if mode == "SameStep":
            yield masks, []
            continue
        yield masks[~over], masks[over]
        seen, _ = envs.reset(options={"reset_mask": over})
        yield seen["action_mask"].numpy(), []


def stable_baselines(choose):
    pytest.importorskip("stable_baselines3", reason="needs stable-baselines3: the extra sb3")
    from c4env.envs.stable_baselines import ConnectFourVecEnv

    envs = ConnectFourVecEnv(SIZE)
    envs.seed(1)
    envs.reset()
    for _ in range(60):
        masks = np.stack(envs.env_method("action_masks"))
        assert (envs.action_masks() == masks).all()
        yield masks, []
        _, _, over, infos = envs.step(chosen(masks, choose))
        rows = [info["action_mask"] for info in infos]
        yield [rows[i] for i in np.flatnonzero(~over)], [rows[i] for i in np.flatnonzero(over)]


def jax_states(choose):
    jax = pytest.importorskip("jax", reason="needs JAX: the extra jax")
    env = c4env.JaxEnv()
    step = jax.jit(jax.vmap(env.step))
    states = jax.vmap(env.init)(jax.random.split(jax.random.key(1), SIZE))
    for _ in range(60):
        masks, over = np.asarray(states.legal_action_mask), np.asarray(states.terminated)
        yield masks[~over], masks[over]
        states = step(states, chosen(masks, choose))


MODES = ("NextStep", "SameStep", "Disabled")
MADE = {
    "self-play": ConnectFourVectorEnv,
    "random": partial(ConnectFourVectorEnv, opponent="random"),
    "greedy": partial(ConnectFourVectorEnv, opponent="greedy"),
}


def kernel(autoreset_mode):
    return gymnasium.make_vec(NAME, SIZE, autoreset_mode=autoreset_mode)


def sync(autoreset_mode):
    single = [partial(gymnasium.make, NAME)] * SIZE
    return gymnasium.vector.SyncVectorEnv(single, autoreset_mode=autoreset_mode)


ONES = {
    "one, info": partial(one, ConnectFourEnv, lambda game, seen, info: info["action_mask"]),
    "one, action_masks": partial(one, ConnectFourEnv, lambda game, *_: game.action_masks()),
    "one, observation": partial(
        one, lambda: MaskInObservation(ConnectFourEnv()), lambda game, seen, _: seen["action_mask"]
    ),
    **{
        f"{name}, {mode}, {'info' if in_info else 'observation'}": partial(
            many,
            partial(make, SIZE, action_mask="info" if in_info else "observation"),
            mode,
            in_info,
        )
        for name, make in MADE.items()
        for mode in MODES
        for in_info in (False, True)
    },
    **{f"make_vec, {mode}": partial(many, kernel, mode, True) for mode in MODES},
    **{f"SyncVectorEnv, {mode}": partial(many, sync, mode, True) for mode in MODES},
    **{
        f"tensors, {opponent}, {mode}": partial(tensors, opponent, mode)
        for opponent in (None, "random")
        for mode in ("SameStep", "Disabled")
    },
    "Stable-Baselines3": stable_baselines,
    "JAX": jax_states,
}
ZEROS = {"AEC": partial(aec, c4env.env), "AEC, raw": partial(aec, c4env.raw_env)}


@pytest.mark.parametrize("form", ONES | ZEROS)
def test_a_game_that_is_over_has_a_mask_of_ones_and_in_aec_of_zeros(form):
    going = ended = 0
    for masks, finished in (ONES | ZEROS)[form](choose=np.random.default_rng(2)):
        assert np.reshape(masks, (-1, 7)).any(axis=1).all()
        assert (np.array(finished) == (form in ONES)).all()
        going, ended = going + len(masks), ended + len(finished)
    assert going > 100
    assert ended > 5 or (form.startswith("tensors") and "SameStep" in form)


def test_the_wrapper_puts_the_mask_where_a_library_reads_it():
    board = gymnasium.make(NAME, opponent="random", dtype="float32", seat=0)
    env = MaskInObservation(board, "obs", "mask", dtype=np.bool_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is another environment than the one within
        check_env(env, skip_render_check=True)
    seen, _ = env.reset(seed=1, options={"moves": "444444"})
    assert env.observation_space.contains(seen)
    assert seen["mask"].tolist() == [True, True, True, False, True, True, True]
    assert seen["obs"].sum() == 6
    assert isinstance(gymnasium.make(env.spec), MaskInObservation)
    for given, words in (
        ({"dtype": "foo"}, "dtype='foo'"),
        ({"mask": "observation"}, "another key"),
    ):
        with pytest.raises(c4env.errors.InvalidOption, match=words):
            MaskInObservation(board, **given)
