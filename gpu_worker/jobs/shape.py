"""The training job's shape, without torch: dimensions of the transformer and the bytes of its gradients.

A byte-level language model, small enough that four ranks on two cores compute a backward pass in about the time that
their gradients need on a 400 Mbit/s ring.
"""

from __future__ import annotations

from dataclasses import dataclass

FLOAT32_BYTES = 4
RECORD_BYTES = 8192  # one document of the data set, as stored and as delivered


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
        """Trained numbers: two embeddings, the blocks (attention, feed-forward, two norms), last norm and head."""
        width, inner = self.width, self.inner
        attention = width * 3 * width + 3 * width + width * width + width
        feed_forward = width * inner + inner + inner * width + width
        block = attention + feed_forward + 4 * width
        embeddings = (self.vocabulary + self.context) * width
        head = width * self.vocabulary + self.vocabulary
        return embeddings + self.layers * block + 2 * width + head


DIMENSIONS = Dimensions()
GRADIENT_BYTES = DIMENSIONS.parameters * FLOAT32_BYTES
SMALL_MESSAGE_BYTES = 64_000
