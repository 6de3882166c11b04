"""The training job's shape, without torch: dimensions of the transformer and the bytes of its gradients.

A byte-level language model, small enough that four ranks on two cores compute a backward pass in about the time that
their gradients need on a 400 Mbit/s ring.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.physics import ddp_buckets

if TYPE_CHECKING:
    from gpu_worker.specs import Job

FLOAT32_BYTES = 4
RECORD_BYTES = 8192  # one document of the data set, as stored and as delivered
WIRE_BYTES = {"float32": 4, "bfloat16": 2, "float64": 8}


@dataclass(frozen=True)
class Dimensions:
    """Sizes of the decoder. `context` is tokens a sample; a token is a byte."""

    vocabulary: int = 256
    width: int = 256
    inner: int = 1200
    layers: int = 4
    heads: int = 4
    context: int = 112

    @property
    def parameters(self) -> int:
        """Trained numbers of the model without small tensors."""
        return sum(self.tensors())

    def tensors(self, small: int = 0) -> tuple[int, ...]:
        """Numbers in each trained tensor, in the order in which the model registers them.

        Two embeddings; the blocks (small tensors, norm, attention, norm, feed-forward); last norm and head. `small`
        vectors are spread evenly over the blocks, the first ones taking what is left over.
        """
        width, inner = self.width, self.inner
        attention = (width * 3 * width, 3 * width, width * width, width)
        feed_forward = (width * inner, inner, inner * width, width)
        block = (width, width, *attention, width, width, *feed_forward)
        blocks = (number for count in self.small_by_block(small) for number in (*(width,) * count, *block))
        head = (width, width, width * self.vocabulary, self.vocabulary)
        return (self.vocabulary * width, self.context * width, *blocks, *head)

    def small_by_block(self, small: int) -> tuple[int, ...]:
        """How many of the small tensors each block holds."""
        return tuple(small // self.layers + (at < small % self.layers) for at in range(self.layers))

    def step_flops(self, rows: float) -> float:
        """Floating-point operations of the products of one step over `rows` windows.

        A product of a weight costs 2 a number forward and 4 backward; blocks are computed again in the backward pass,
        which makes it 8, and attention adds its two products of context by context (4·context·width a token forward).
        Source: Narayanan et al. 2021, with this model's inner width.
        """
        width, tokens = self.width, rows * self.context
        block = 4 * width * width + 2 * width * self.inner
        attention = 4 * self.context * width * 4
        return float(tokens * (self.layers * (8 * block + attention) + 6 * width * self.vocabulary))


DIMENSIONS = Dimensions()
GRADIENT_BYTES = DIMENSIONS.parameters * FLOAT32_BYTES
SMALL_MESSAGE_BYTES = 64_000


def gradient_sizes(small_tensors: int = 0, dtype: str = "float32") -> list[int]:
    """Bytes of each gradient as it is reduced, in the order in which the model registers its parameters."""
    return [numbers * WIRE_BYTES[dtype] for numbers in DIMENSIONS.tensors(small_tensors)]


def planned_buckets(
    cap_bytes: float, first_cap_bytes: float | None = None, *, small_tensors: int = 0, dtype: str = "float32"
) -> list[float]:
    """Bytes on the wire of each bucket by the rule of DDP, in the order of launch.

    A cap counts the gradients as the model has them, in float32, whatever is sent of them.
    """
    share = WIRE_BYTES[dtype] / FLOAT32_BYTES
    return [share * size for size in ddp_buckets(gradient_sizes(small_tensors), cap_bytes, first_cap_bytes)]


def reduced_bytes(job: Job) -> int:
    """Bytes that a step of the job reduces."""
    return sum(gradient_sizes(job.small_tensors, job.communication_dtype))


# The other parallel forms, each of a size at which what it is about decides its step: activations for tensor groups,
# even layers for stages, feed-forward nets for experts, attention for context.
TENSOR_DIMENSIONS = Dimensions(inner=1024, layers=4)
PIPELINE_DIMENSIONS = Dimensions(inner=512, layers=8)
EXPERT_DIMENSIONS = Dimensions(inner=1536, layers=2)
CONTEXT_DIMENSIONS = Dimensions(width=128, inner=256, layers=2, heads=2, context=6144)


def stage_layers(stages: int, last: int = 0) -> tuple[int, ...]:
    """Layers of each pipeline stage: as even as they go, or `last` on the last stage and the others even.

    Raises ValueError where a stage would have none.
    """
    layers = PIPELINE_DIMENSIONS.layers
    others = stages - 1 if last else stages
    left = layers - last
    if others < 1 or left < others:
        raise ValueError(f"{layers} layers do not make {stages} stages with {last or 'an even share'} on the last")
    even = tuple(left // others + (at < left % others) for at in range(others))
    return (*even, last) if last else even


def context_slices(shards: str, context: int, ranks: int, rank: int) -> tuple[tuple[int, int], ...]:
    """(first, end) of each slice of a sample that a rank holds: one stretch, or `balanced` two, one from each end."""
    if shards == "contiguous":
        return ((context * rank // ranks, context * (rank + 1) // ranks),)
    cuts = [context * at // (2 * ranks) for at in range(2 * ranks + 1)]
    late = 2 * ranks - 1 - rank
    return ((cuts[rank], cuts[rank + 1]), (cuts[late], cuts[late + 1]))
