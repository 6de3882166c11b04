"""The job laid over its ranks in other ways than by data alone: FSDP2, tensor, pipeline, expert and context parallel.

Each form is one module with a class `Form`. They share a loop, a clock and process groups of a DeviceMesh.
"""
