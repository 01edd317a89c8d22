"""JaxEnv: pgx's interface, values and draws; the rules of c4env; JAX's transformations."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import c4env
from c4env import Position
from c4env.bitboard import COLUMNS
from c4env.errors import IllegalMove, InvalidAction, InvalidOption, InvalidPosition
from c4env.render import svg
from tests.helpers.processes import environment, run_python

jax = pytest.importorskip("jax", reason="needs jax: the extra jax")
jnp = jax.numpy

FIELDS = "current_player observation rewards terminated truncated legal_action_mask _step_count"


@pytest.fixture
def pgx():
    return pytest.importorskip("pgx")


def begin(env, size, seed=1):
    return jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(seed), size))


def resetting(env):
    from pgx.experimental import auto_reset

    return jax.jit(jax.vmap(auto_reset(env.step, env.init)))


def after(*columns, env=None):
    env = env or c4env.JaxEnv()
    state, step = env.init(jax.random.key(0)), jax.jit(env.step)
    for column in columns:
        state = step(state, column)
    return state


def same(ours, theirs):
    for name in FIELDS.split():
        a, b = getattr(ours, name), getattr(theirs, name)
        assert a.dtype == b.dtype
        assert np.array_equal(a, b), name
    for name in ("color", "board"):  # which pgx's pictures read
        assert np.array_equal(getattr(ours._x, name), getattr(theirs._x, name)), name


@pytest.mark.parametrize(("resets", "illegal"), [(False, 0), (True, 0.02)])
def test_two_thousand_games_are_pgxs_in_every_field(pgx, resets, illegal):
    """With illegal actions, with steps after the end, and with pgx's auto_reset."""
    size, choose = 2000, np.random.default_rng(2)
    envs = [c4env.JaxEnv(), pgx.make("connect_four")]
    for name in ("id", "version", "num_players", "num_actions", "observation_shape"):
        assert getattr(envs[0], name) == getattr(envs[1], name)
    states = [begin(env, size) for env in envs]
    steps = [resetting(env) if resets else jax.jit(jax.vmap(env.step)) for env in envs]
    ended = drawn = lost = 0
    for ply in range(45):
        same(*states)
        mask = np.asarray(states[1].legal_action_mask)
        may = mask | (choose.random(size) < illegal)[:, None]
        columns = (choose.random(mask.shape) * may).argmax(1).astype(np.int32)
        lost += int((~mask[np.arange(size), columns]).sum())
        keys = jax.random.split(jax.random.key(ply), size)
        over = states[1].terminated
        states = [step(state, columns, keys) for step, state in zip(steps, states, strict=True)]
        ends = np.asarray(states[1].terminated & (resets | ~over))
        ended += int(ends.sum())
        drawn += int((ends & (states[1].rewards == 0).all(1)).sum())
    assert ended >= 2000
    assert drawn > 0 or resets
    assert (lost > 0) == (illegal > 0)


def test_states_that_a_program_has_changed_play_as_pgxs(pgx):
    """With games cut short or taken up again, other masks, and illegal actions in all of them."""
    size, draw = 500, np.random.default_rng(7)
    envs = [c4env.JaxEnv(), pgx.make("connect_four")]
    states = [begin(env, size) for env in envs]
    steps = [jax.jit(jax.vmap(env.step)) for env in envs]
    for _ in range(30):
        columns = draw.integers(0, 7, size, np.int32)
        flags = {name: draw.random(size) < 0.1 for name in ("terminated", "truncated")}
        mask = states[1].legal_action_mask ^ (draw.random((size, 7)) < 0.1)
        states = [
            step(state.replace(**flags, legal_action_mask=mask), columns)
            for step, state in zip(steps, states, strict=True)
        ]
        same(*states)


def test_each_player_observes_as_in_pgx(pgx):
    theirs = pgx.make("connect_four")
    ours, state = after(3, 3, 2), after(3, 3, 2, env=theirs)
    for player in (0, 1, jnp.int32(1), None):
        expected = theirs._observe(state, state.current_player if player is None else player)
        assert np.array_equal(c4env.JaxEnv().observe(ours, player), expected)
    assert ours.env_id == state.env_id


def test_each_of_many_games_is_observed_by_a_player():
    env, states = c4env.JaxEnv(), begin(c4env.JaxEnv(), 2)
    states = jax.vmap(env.step)(states.replace(current_player=jnp.array([0, 1])), jnp.arange(2))
    for player, axis in ((0, None), (np.array([1, 0]), 0)):
        expected = jax.vmap(env.observe, (0, axis))(states, player)
        assert np.array_equal(env.observe(states, player), expected)


def test_games_are_those_of_positions():
    follow_positions(300)


def follow_positions(size):
    """Play games beside positions, on the board of the process."""
    env, choose = c4env.JaxEnv(), np.random.default_rng(3)
    step = jax.jit(jax.vmap(env.step))
    states, positions = begin(env, size), [Position()] * size
    first, moved = np.asarray(states.current_player), [0] * size
    assert 0 < first.sum() < size
    while not states.terminated.all():
        columns = (choose.random((size, COLUMNS)) * states.legal_action_mask).argmax(1)
        states = step(states, columns)
        for i, position in enumerate(positions):
            if position.outcome is None:
                positions[i], moved[i] = position.play(int(columns[i])), moved[i] + 1
        assert env.positions(states) == positions
        assert states._step_count.tolist() == moved
        for i, position in enumerate(positions):
            seen, over = c4env.observe(position), position.outcome is not None
            assert bool(states.terminated[i]) == over
            assert np.array_equal(states.observation[i], seen["observation"]) or over
            assert np.array_equal(states.legal_action_mask[i], seen["action_mask"] | over)
            assert int(states.current_player[i]) == first[i] ^ position.to_move
            if over and position.plies == states._step_count.max():
                winner = position.outcome.winner
                reward = [0, 0] if winner is None else [1, -1] if winner == first[i] else [-1, 1]
                assert states.rewards[i].tolist() == reward


@pytest.mark.parametrize("action", [0, 7, -1, 2**31 - 1, -(2**31), np.uint8(255)])
def test_an_illegal_action_loses(action):
    env, state = c4env.JaxEnv(), after(*[0] * 6, 1, 2)
    player = int(state.current_player)
    lost = jax.jit(env.step)(state, action)
    assert lost.terminated
    assert lost.legal_action_mask.all()
    assert [float(lost.rewards[p]) for p in (player, 1 - player)] == [-1, 1]
    with pytest.raises(InvalidPosition):
        env.positions(lost)
    for later in (3, -1):
        same(env.step(lost, later), lost.replace(rewards=jnp.zeros(2)))


def test_what_is_not_an_integer_is_refused():
    for action in (1.0, True, [1, 2]):
        with pytest.raises(InvalidAction, match=r"an action of shape .*: expected an integer"):
            after(action)
    states = begin(c4env.JaxEnv(), 2)
    with pytest.raises(InvalidAction, match=r"states of shape \(2,\): .* jax.vmap\(env.step\)"):
        c4env.JaxEnv().step(states, 3)


def test_positions_become_states_and_states_positions():
    env, texts = c4env.JaxEnv(), ["", "4455", "123", "123", "44444"]
    states = env.from_positions([Position.parse(texts[0]), *texts[1:]])
    assert env.positions(states) == [*map(Position.parse, texts)]
    assert states.current_player.tolist() == [0, 0, 1, 1, 1]
    won = jax.vmap(env.step)(env.from_positions("121212"), jnp.array([0]))
    assert (env.positions(won)[0].outcome.winner, won.rewards.tolist()) == (0, [[1, -1]])
    for wrong in ("1212121", [], 3):
        with pytest.raises((InvalidOption, IllegalMove)):
            env.from_positions(wrong)


def test_games_start_from_openings(pgx):
    """A column that is full in an opening is illegal at once, after auto_reset too."""
    openings = ["111111", "44", "321"]
    env = c4env.JaxEnv(openings)
    states = begin(env, 600)
    result, counts = np.unique([p.moves() for p in env.positions(states)], return_counts=True)
    assert {*result} == {*openings}
    assert counts.min() > 150
    assert 250 < int(states.current_player.sum()) < 350
    assert (states.legal_action_mask[:, 0].sum(), states._step_count.max()) == (600 - counts[0], 0)
    lose = resetting(env)(states, jnp.full(600, 7), jax.random.split(jax.random.key(5), 600))
    assert lose.terminated.all()
    full = np.array([p.moves() == "111111" for p in env.positions(lose)])
    assert np.array_equal(lose.legal_action_mask[:, 0], ~full)
    with pytest.raises(InvalidOption):
        c4env.JaxEnv("1212121")


def test_a_state_has_the_fields_and_shapes_of_pgxs(pgx):
    key, seen = jax.random.key(1), []
    for env in (pgx.make("connect_four"), c4env.JaxEnv()):
        state = jax.eval_shape(jax.vmap(env.init, out_axes=-1), jax.random.split(key, 5))
        names = [f.name for f in dataclasses.fields(state)]
        leaves = [getattr(state, name) for name in names[:7]]
        seen.append((names, [(leaf.shape, leaf.dtype) for leaf in leaves]))
        assert [*dataclasses.asdict(env.init(key))] == names
        assert dataclasses.replace(env.init(key), truncated=True).truncated

        def ply(state, column, env=env):
            state = env.step(state, column)
            return state.replace(observation=~state.observation), None

        assert jax.lax.scan(ply, env.init(key), jnp.arange(3))[0].observation.sum() == 81
    assert seen[0] == seen[1]


def test_states_are_donated():
    """From outside jit, where no two leaves may be one array."""
    env, columns = c4env.JaxEnv(), jnp.arange(4)
    keys = jax.random.split(jax.random.key(1), 4)
    step = jax.jit(jax.vmap(env.step), donate_argnums=0)
    stepped = jax.vmap(env.step)(jax.vmap(env.init)(keys), columns)
    for states in (jax.vmap(env.init)(keys), stepped, env.from_positions(["4455"] * 4)):
        plies = int(states.observation.sum())
        assert step(states, columns).observation.sum() == plies + 4


def test_it_plays_under_strict_promotion():
    env = c4env.JaxEnv(["444", "4"])
    with jax.numpy_dtype_promotion("strict"):
        state = env.step(env.init(jax.random.key(1)), jnp.int32(3))
        assert env.observe(state, 0).sum() == state._x.board.shape[0] - (state._x.board < 0).sum()


def test_a_game_is_drawn(tmp_path, pgx):
    state = after(3, 2)
    state.save_svg(tmp_path / "ours.svg")
    assert (tmp_path / "ours.svg").read_text() == svg(Position.parse("43"))
    pgx.save_svg(state, tmp_path / "theirs.svg")
    pgx.save_svg(after(3, 2, env=pgx.make("connect_four")), tmp_path / "pgx.svg")
    assert (tmp_path / "theirs.svg").read_text() == (tmp_path / "pgx.svg").read_text()
    two = begin(c4env.JaxEnv(), 2)
    with pytest.raises(InvalidOption, match=r"shape=\(2,\) of states: expected one; jax\.tree"):
        two.save_svg(tmp_path / "two.svg")
    assert state.to_svg() == state._repr_html_() == svg(Position.parse("43"))
    assert two._repr_html_() is None  # a notebook shows the arrays
    assert after(*[3] * 7)._repr_html_() is None  # after an illegal action


def test_a_state_is_a_pytree_that_is_copied_and_kept():
    flax, state = pytest.importorskip("flax.serialization"), after(3, 2)
    for twin in (
        *(copy.deepcopy(state), pickle.loads(pickle.dumps(state)), jax.device_get(state)),
        flax.from_bytes(after(), flax.to_bytes(state)),
    ):
        same(twin, state)
        same(c4env.JaxEnv().step(twin, 1), after(3, 2, 1))
    both = jax.tree.map(lambda *leaves: jnp.stack(leaves), state, after(3))
    assert both.observation.sum((1, 2, 3)).tolist() == [2, 1]


@pytest.mark.isolated
def test_it_runs_on_many_devices_and_beside_gradients():
    code = """
import jax, jax.numpy as jnp, numpy as np, c4env
from jax.sharding import PartitionSpec as P
env = c4env.JaxEnv()
def game(key):
    def ply(state, key):
        column = jax.random.categorical(key, jnp.where(state.legal_action_mask, 0.0, -1e9))
        state = env.step(state, column, key)
        return state, state.observation
    return jax.lax.scan(ply, env.init(key), jax.random.split(key, 20))
keys = jax.random.split(jax.random.PRNGKey(1), 4)
one = jax.vmap(game)(keys)
mesh = jax.sharding.Mesh(jax.devices(), "boards")
many = jax.shard_map(jax.vmap(game), mesh=mesh, in_specs=P("boards"), out_specs=P("boards"))(keys)
mapped = jax.pmap(jax.vmap(game))(keys.reshape(2, 2, -1))
for a, b, c in zip(*map(jax.tree.leaves, (one, many, mapped)), strict=True):
    assert np.array_equal(a, b) and np.array_equal(a.ravel(), c.ravel())
loss = lambda w: (w * env.step(env.init(keys[0]), 3).observation).sum()
assert jax.grad(loss)(1.0) == 1
"""
    flags = environment(XLA_FLAGS="--xla_force_host_platform_device_count=2")
    done = run_python("-c", code, env=flags)
    assert done.returncode == 0, done.stderr


def test_what_is_missing_or_too_large_is_said_in_one_line():
    code = "import sys; sys.modules['jax'] = None; import c4env; dir(c4env); c4env.JaxEnv"
    message = run_python("-c", code).stderr
    assert "MissingExtra: c4env.JaxEnv needs JAX: pip install jax" in message
    code = "import sys, c4env; dir(c4env); assert 'jax' not in sys.modules; c4env.JaxEnv"
    there = environment(C4ENV_BOARD="8x7x4", NUMBA_DISABLE_JIT="1")
    message = run_python("-c", code, env=there).stderr
    expected = "JaxEnv needs 4 columns of 9 bits in 32 bits: it cannot play on 8x7x4"
    assert expected in message.splitlines()[-1]
