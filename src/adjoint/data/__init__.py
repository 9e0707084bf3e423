"""Data for training: batches of samples, and files that hold them."""

from adjoint.data.batches import Batches, BatchesByLength, collated, in_batches
from adjoint.data.idx import read_idx, write_idx

__all__ = ["Batches", "BatchesByLength", "collated", "in_batches", "read_idx", "write_idx"]
