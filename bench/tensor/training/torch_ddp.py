"""
torch_ddp.py <problem file> <steps>: trains with DistributedDataParallel over Gloo, in this process and a second one. Prints the losses of the
first steps. Then, for each input line, runs `steps` steps and prints averages for one step: wall-clock ms, and ms of processor time of both.
"""
import json
import multiprocessing
import os
import sys
import tempfile
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo")

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

with open(sys.argv[1]) as file:
    problem = json.load(file)
steps = int(sys.argv[2])
layers, batch, batches, ranks = (problem[key] for key in ("layers", "batch", "batches", "ranks"))


def load(rank):
    with open(problem["floats"], "rb") as file:
        floats = torch.frombuffer(bytearray(file.read()), dtype=torch.float32)
    at = 0

    def take(*shape):
        nonlocal at
        length = torch.Size(shape).numel()
        at += length
        return floats[at - length : at].view(shape)

    modules = []
    for inputs, outputs in zip(layers, layers[1:]):
        linear = nn.Linear(inputs, outputs)
        linear.weight.data.copy_(take(outputs, inputs))
        linear.bias.data.copy_(take(outputs))
        modules += [linear, nn.ReLU()]
    rows = take(ranks, batches, batch, layers[0])[rank].clone()
    classes = take(ranks, batches, batch)[rank].long()
    return nn.Sequential(*modules[:-1]), rows, classes


def train(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=ranks)
    model, rows, classes = load(rank)
    model = DistributedDataParallel(model, gradient_as_bucket_view=True)
    if problem["optimizer"] == "SGD":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, foreach=True)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)

    def step(i):
        loss = cross_entropy(model(rows[i % batches]), classes[i % batches])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    def mean(value):
        dist.all_reduce(value)
        return value / ranks

    def measure():
        dist.barrier()
        begin, used = time.perf_counter(), time.process_time()
        for i in range(steps):
            step(i)
        used = time.process_time() - used
        total = ranks * mean(torch.tensor([used], dtype=torch.float64)).item()
        return {"ms": (time.perf_counter() - begin) * 1000 / steps, "cpu": total * 1000 / steps}

    losses = mean(torch.stack([step(i) for i in range(2 * batches)]))
    measure()
    go = torch.zeros(1)
    if rank == 0:
        print(json.dumps({"losses": losses.tolist()}), flush=True)
        for _ in sys.stdin:
            go[0] = 1
            dist.broadcast(go, 0)
            print(json.dumps(measure()), flush=True)
        go[0] = 0
    while True:
        dist.broadcast(go, 0)
        if go.item() == 0:
            return
        measure()


with tempfile.TemporaryDirectory() as folder:
    store = os.path.join(folder, "store")
    other = multiprocessing.get_context("fork").Process(target=train, args=(1, store))
    other.start()
    train(0, store)
    other.join()
