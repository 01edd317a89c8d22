"""Many boards stepped at once: as plain arrays, as a Gymnasium ``VectorEnv``, as tensors."""
