"""What `torchrun` starts for comparison: one small all-reduce over gloo."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.all_reduce(torch.ones(1000))
dist.destroy_process_group()
