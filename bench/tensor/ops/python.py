"""python.py <add or matmul>: for each input line, prints the processor time of one operation."""
import json
import sys
import time

operation = sys.argv[1]
if operation == "add":
    import torch

    torch.set_num_threads(1)
    a, b = torch.randn(2, 2), torch.randn(2, 2)
    times, run_once = 50_000, torch.add
else:
    import numpy

    a, b = (numpy.random.randn(1024, 1024).astype(numpy.float32) for _ in range(2))
    times, run_once = 5, numpy.matmul


def measure():
    begin = time.process_time()
    for _ in range(times):
        run_once(a, b)
    return (time.process_time() - begin) * 1e6 / times


measure()
print("{}", flush=True)
for _ in sys.stdin:
    us = measure()
    print(json.dumps({"us": us, "ms": us / 1000}), flush=True)
