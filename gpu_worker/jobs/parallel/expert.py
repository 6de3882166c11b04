"""Expert parallel: one expert a rank; a router sends each token to one of them, through an all-to-all and back.

Balanced, the router assigns by Sinkhorn's iteration on its logits, as Megatron's top-1 routing does: every expert gets
about the same number of tokens. Collapsed, it follows its logits, which favour one expert. Runs in a rank.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as functional
from torch import Tensor, nn

from gpu_worker.jobs.model import Block
from gpu_worker.jobs.parallel.clock import Clock, Group
from gpu_worker.jobs.parallel.decoder import Decoder
from gpu_worker.jobs.parallel.loop import average_gradients, one_pass
from gpu_worker.jobs.parallel.mesh import DATA, lay_groups
from gpu_worker.jobs.shape import EXPERT_DIMENSIONS, Dimensions

SINKHORN_ROUNDS = 8


class _Exchange(torch.autograd.Function):
    """Rows to the ranks that `sent` says how many each gets; backward, their gradients return the same way."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, sent: list[int], received: list[int], clock: Clock, group: Group) -> Tensor:
        ctx.back = received, sent, clock, group
        return _exchange(rows, sent, received, clock, group)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None, None]:  # type: ignore[override]
        return _exchange(gradient, *ctx.back), None, None, None, None


def _exchange(rows: Tensor, sent: list[int], received: list[int], clock: Clock, group: Group) -> Tensor:
    rows = rows.contiguous()
    taken = rows.new_empty(sum(received), rows.shape[1])

    def act() -> None:
        dist.all_to_all_single(taken, rows, received, sent, group=group.process_group)

    clock.wait_for("all-to-all", group, rows.nbytes, act)
    return taken


class ExpertBlock(Block):
    """A block whose feed-forward net is one expert of several: its own weights are the expert of this rank."""

    def __init__(self, size: Dimensions, router: dict[str, Any], clock: Clock, group: Group) -> None:
        super().__init__(size)
        self.clock, self.group = clock, group
        self.gate = nn.Linear(size.width, group.size, bias=False)
        self.balanced = router["router"] == "balanced"
        favour = torch.zeros(group.size)
        favour[router["hot_expert"]] = 0.0 if self.balanced else router["router_bias"]
        self.register_buffer("favour", favour)
        self.sent: list[int] = []

    def forward(self, stream: Tensor) -> Tensor:
        stream = stream + self._attend(self.norm_attention(stream))
        normed = self.norm_forward(stream)
        return stream + self._through_experts(normed.flatten(0, 1)).view_as(stream)

    def _through_experts(self, rows: Tensor) -> Tensor:
        """(tokens, width) -> the same, each row through the expert that the router chose for it."""
        logits = self.gate(rows) + self.favour
        chosen = (_sinkhorn(logits) if self.balanced else logits.detach()).argmax(dim=1)
        weight = logits.softmax(dim=1).gather(1, chosen[:, None])
        order = chosen.argsort(stable=True)
        self.sent = torch.bincount(chosen, minlength=self.group.size).tolist()
        received = self._counts(self.sent)
        mine = _Exchange.apply(rows[order], self.sent, received, self.clock, self.group)
        answered = self.outer(functional.gelu(self.inner(mine)))
        back = _Exchange.apply(answered, received, self.sent, self.clock, self.group)
        return torch.empty_like(back).index_copy(0, order, back) * weight

    def _counts(self, sent: list[int]) -> list[int]:
        """How many rows each rank will send to this one."""
        given, taken = torch.tensor(sent), torch.empty(self.group.size, dtype=torch.int64)

        def act() -> None:
            dist.all_to_all_single(taken, given, group=self.group.process_group)

        self.clock.wait_for("all-to-all", self.group, given.nbytes, act)
        return taken.tolist()


@torch.no_grad()
def _sinkhorn(logits: Tensor) -> Tensor:
    """(tokens, experts) logits -> weights whose columns all hold the same share of the tokens."""
    weights = logits.softmax(dim=1)
    for _ in range(SINKHORN_ROUNDS):
        weights = weights / weights.sum(dim=0, keepdim=True)
        weights = weights / weights.sum(dim=1, keepdim=True)
    return weights / weights.sum(dim=0, keepdim=True)


class ExpertParallel:
    """One expert a rank of the expert group; each rank has samples of its own."""

    def __init__(self, plan: dict[str, Any], rank: int, clock: Clock) -> None:
        self._clock = clock
        self.groups = lay_groups("expert", plan["job"]["parallel"])
        size, router, group = EXPERT_DIMENSIONS, plan["job"]["parallel"], self.groups["expert"]
        self.model = Decoder(size, (ExpertBlock(size, router, clock, group) for _ in range(size.layers)))
        self.context, self.replica, self.sharers = EXPERT_DIMENSIONS.context, rank, 1

    def train(self, tokens: Tensor) -> float:
        loss = one_pass(self.model, tokens, self._clock)
        average_gradients(self._shared(), self.groups["expert"], self._clock)
        average_gradients(list(self.model.parameters()), self.groups[DATA], self._clock)
        return loss

    def _shared(self) -> list[nn.Parameter]:
        """The parameters that every rank holds: all but the experts'."""
        layers = [layer for block in self.model.blocks for layer in (block.inner, block.outer)]
        own = {id(parameter) for layer in layers for parameter in layer.parameters()}
        return [parameter for parameter in self.model.parameters() if id(parameter) not in own]

    def counted(self) -> dict[str, Any]:
        """Tokens that this rank sent to each expert, summed over the layers."""
        layers = [block.sent for block in self.model.blocks]
        return {"tokens_to_expert": [sum(counts) for counts in zip(*layers, strict=True)]}


def make(plan: dict[str, Any], rank: int, clock: Clock) -> ExpertParallel:
    return ExpertParallel(plan, rank, clock)
