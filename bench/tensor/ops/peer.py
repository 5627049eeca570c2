"""peer.py <add or matmul>: answers each line by the processor time that one operation has taken."""
import json
import sys
import time

what = sys.argv[1]
if what == "add":
    import torch

    torch.set_num_threads(1)
    a, b = torch.randn(2, 2), torch.randn(2, 2)
    times, once = 50_000, torch.add
else:
    import numpy

    a, b = (numpy.random.randn(1024, 1024).astype(numpy.float32) for _ in range(2))
    times, once = 5, numpy.matmul


def measure():
    begin = time.process_time()
    for _ in range(times):
        once(a, b)
    return (time.process_time() - begin) * 1e6 / times


measure()
print("{}", flush=True)
for _ in sys.stdin:
    us = measure()
    print(json.dumps({"us": us, "ms": us / 1000}), flush=True)
