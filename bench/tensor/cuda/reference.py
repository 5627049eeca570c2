"""reference.py <add or matmul> <size> <dtype> <times>: prints the seconds that PyTorch takes for one operation on a graphics processor."""
import json
import sys
import time

import torch

operation, size, dtype, times = sys.argv[1], int(sys.argv[2]), getattr(torch, sys.argv[3]), int(sys.argv[4])
x = torch.randn(size, size, device="cuda").to(dtype)
run_once = (lambda: x.add(x)) if operation == "add" else (lambda: x.matmul(x))


def measure():
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(times):
        run_once()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / times


measure()
print(json.dumps({"seconds": sorted(measure() for _ in range(3))[1]}))
