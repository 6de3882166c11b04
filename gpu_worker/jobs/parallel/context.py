"""Context parallel: one long sample over several ranks; keys and values are gathered, queries stay (Llama 3's way).

Under a causal mask a late token attends to more than an early one. Balanced, each rank holds two slices of the
sequence, one from each end, so that all have the same work; contiguous, the last rank has the most. Runs in a rank.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as functional
from torch import Tensor

from gpu_worker.jobs.model import Block
from gpu_worker.jobs.parallel.clock import Clock, Group
from gpu_worker.jobs.parallel.decoder import Decoder
from gpu_worker.jobs.parallel.loop import average_gradients, one_pass
from gpu_worker.jobs.parallel.mesh import DATA, lay_groups
from gpu_worker.jobs.shape import CONTEXT_DIMENSIONS, Dimensions, context_slices

# Queries of one call of attention: each call meets the keys up to its own last token, and computes no masked ones but
# in this last stretch.
QUERIES_A_CALL = 128


class _GatherTokens(torch.autograd.Function):
    """(kinds, batch, heads, tokens of this rank, head width) -> of all ranks in the order of ranks; gradients sum."""

    @staticmethod
    def forward(ctx: Any, own: Tensor, clock: Clock, group: Group) -> Tensor:
        ctx.about = clock, group
        flat = own.contiguous()
        whole = flat.new_empty(group.size, *flat.shape)

        def act() -> None:
            dist.all_gather_single(whole.view(-1), flat.view(-1), group=group.process_group)

        clock.wait_for("all-gather", group, whole.nbytes, act)
        return whole

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:  # type: ignore[override]
        clock, group = ctx.about
        whole = gradient.contiguous()
        own = whole.new_empty(whole.shape[1:])

        def act() -> None:
            dist.reduce_scatter_single(own.view(-1), whole.view(-1), group=group.process_group)

        clock.wait_for("reduce-scatter", group, whole.nbytes, act)
        return own, None, None


class ContextBlock(Block):
    """A block whose attention reaches over all ranks' tokens."""

    def __init__(self, size: Dimensions, shards: str, clock: Clock, group: Group) -> None:
        super().__init__(size)
        self.clock, self.group = clock, group
        slices = [context_slices(shards, size.context, group.size, rank) for rank in range(group.size)]
        self.own = slices[group.index]
        held = torch.cat([torch.arange(*one) for rank in slices for one in rank])
        self.in_order = held.argsort()  # from the order of ranks to the order of the text

    def _attend(self, stream: Tensor) -> Tensor:
        batch, tokens, width = stream.shape
        parts = self.query_key_value(stream).view(batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        whole = _GatherTokens.apply(torch.stack((key, value)), self.clock, self.group)
        keys, values = whole.movedim(0, 3).flatten(3, 4)[..., self.in_order, :]
        mixed = torch.cat(self._pieces(query, keys, values), dim=2)
        return self.attention_out(mixed.transpose(1, 2).reshape(batch, tokens, width))

    def _pieces(self, query: Tensor, keys: Tensor, values: Tensor) -> list[Tensor]:
        made, held = [], 0
        for first, last in self.own:
            for at in range(first, last, QUERIES_A_CALL):
                upto = min(last, at + QUERIES_A_CALL)
                mask = torch.arange(upto)[None] <= torch.arange(at, upto)[:, None]
                asked, met = query[:, :, held : held + upto - at], (keys[:, :, :upto], values[:, :, :upto])
                made.append(functional.scaled_dot_product_attention(asked, *met, attn_mask=mask))
                held += upto - at
        return made


class ContextModel(Decoder):
    """Predicts what follows the bytes of this rank's slices of each sample."""

    def __init__(self, size: Dimensions, shards: str, clock: Clock, group: Group) -> None:
        super().__init__(size, (ContextBlock(size, shards, clock, group) for _ in range(size.layers)))
        slices = context_slices(shards, size.context, group.size, group.index)
        self.held = torch.cat([torch.arange(*one) for one in slices])

    def forward(self, tokens: Tensor) -> Tensor:
        return self.loss_at(tokens, self.held)


class ContextParallel:
    """Ranks of a context group hold slices of the same samples."""

    def __init__(self, plan: dict[str, Any], clock: Clock) -> None:
        parallel = plan["job"]["parallel"]
        self._clock = clock
        self.groups = lay_groups("context", parallel)
        group = self.groups["context"]
        self.model = ContextModel(CONTEXT_DIMENSIONS, parallel["context_shards"], clock, group)
        # A sample is long, and shared by the group: one for each rank would be too much for these machines.
        self._samples_a_rank = plan["job"]["microbatch"] / group.size
        self.context, self.replica, self.sharers = CONTEXT_DIMENSIONS.context, self.groups[DATA].index, 1

    def train(self, tokens: Tensor) -> float:
        loss = one_pass(self.model, tokens, self._clock)
        for group in (self.groups["context"], self.groups[DATA]):
            average_gradients(list(self.model.parameters()), group, self._clock)
        return loss

    def counted(self) -> dict[str, Any]:
        """Tokens that this rank holds, and how many tokens each of them attends to, on average."""
        held = self.model.held
        about = {"tokens": len(held), "attends_to": float((held + 1).float().mean())}
        return {**about, "samples": self._samples_a_rank}


def make(plan: dict[str, Any], rank: int, clock: Clock) -> ContextParallel:
    return ContextParallel(plan, clock)
