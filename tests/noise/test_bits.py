import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import discreet
from discreet.noise import RandomBits
from tests.support.checks import children_share_no_noise
from tests.support.sources import SeededBits


def test_a_parent_and_its_forked_children_share_no_noise():
    children_share_no_noise(RandomBits)


def test_two_forked_processes_answer_with_different_noise():
    script = (
        "import os, discreet, numpy as np\n"
        "zeros = np.zeros(256, np.int64)\n"
        "discreet.laplace(zeros, sensitivity=1, epsilon=1e-6)\n"
        "child = os.fork()\n"
        "if child: os.waitpid(child, 0)\n"
        "print(discreet.laplace(zeros, sensitivity=1, epsilon=1e-6).tolist(), flush=True)\n"
    )
    lines = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(lines) == 2
    one, other = (np.array(eval(line)) for line in lines)  # our own list of ints
    assert (one == other).mean() < 0.05


def test_seeding_numpy_changes_nothing():
    draws = []
    for _ in range(2):
        np.random.seed(0)  # noqa: NPY002
        draws.append(RandomBits().words(64, 64).tolist())
    assert draws[0] != draws[1]


@pytest.mark.parametrize("width", [8, 16, 64])
def test_every_bit_of_every_width_is_fair(width):
    words = SeededBits(width).words(1 << 16, width)
    for place in range(width):
        ones = int(((words >> place) & 1).sum())
        assert abs(ones - (1 << 15)) < 6.2 * 128  # 6.2 standard deviations: 1e-9


def test_a_long_draw_is_the_short_draws_in_a_row():
    long = SeededBits("row").words(3_000_000, 8)
    source = SeededBits("row")
    short = np.concatenate([source.words(1_000_000, 8) for _ in range(3)])
    assert (long == short).all()


def test_threads_never_see_the_same_word():
    source, drawn = RandomBits(), []

    def draw():
        drawn.extend(source.words(20_000, 64).tolist())

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == 8 * 20_000


def test_a_key_is_retired_after_a_gibibyte(monkeypatch):
    monkeypatch.setattr("discreet.noise.random_bits._BYTES_PER_KEY", 64)
    source = RandomBits()
    first = source._stream
    source.words(4, 64)
    source.words(8, 64)
    assert source._stream is not first


def test_no_seed_can_be_given_from_the_public_api():
    for name in ("laplace", "gaussian", "choose", "randomized_response", "quantile"):
        arguments = getattr(discreet, name).__kwdefaults__ or {}
        assert not {"seed", "rng", "bits", "random_state"} & set(arguments)
    with pytest.raises(TypeError):
        RandomBits(0)


class SlowKeys(RandomBits):
    """Time for another thread to step in while a child gets its key."""

    def _fresh_key(self) -> bytes:
        time.sleep(0.05)
        return super()._fresh_key()


def test_threads_of_a_forked_child_never_draw_from_the_parents_stream():
    source = SlowKeys()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            threads = [
                threading.Thread(target=lambda: os.write(writer, source.words(4, 64).tobytes())) for _ in range(8)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        drawn = np.frombuffer(pipe.read(), np.uint64)
    os.waitpid(child, 0)
    assert drawn.size == 32
    assert not set(drawn.tolist()) & set(source.words(64, 64).tolist())
    assert len(set(drawn.tolist())) == 32
