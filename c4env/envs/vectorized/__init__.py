"""Many boards in one step: as plain arrays, as a Gymnasium ``VectorEnv``, as tensors."""
