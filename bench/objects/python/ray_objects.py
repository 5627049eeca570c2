"""One run of Ray: `ray_objects.py <profile>` prints a line of JSON with the medians."""
import json
import logging
import os
import statistics
import sys
import time

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import numpy
import ray

profile = json.loads(sys.argv[1])
size = profile["bytes"]


@ray.remote(num_cpus=1)
def first(data):
    return int(data[0])


made = None


@ray.remote(num_cpus=1)
def make(length):
    global made
    if made is None:
        made = numpy.full(length, 7, dtype=numpy.uint8)
    return made


ray.init(
    address="local",
    num_cpus=4,
    include_dashboard=False,
    log_to_driver=False,
    logging_level=logging.ERROR,
    object_store_memory=2 * 1024**3,
)
value = numpy.full(size, 7, dtype=numpy.uint8)
took = {name: [] for name in ["put", "get", "again", "row", "tasks", "result", "number"]}


def measure(name, scale, body):
    begin = time.perf_counter()
    result = body()
    took[name].append((time.perf_counter() - begin) * 1000 * scale)
    return result


GETS = 100


def get_in_a_row(ref):
    for _ in range(GETS):
        ray.get(ref)


def put_and_get(number):
    if ray.get(ray.put(number)) != number:
        raise AssertionError("unexpected number")


for i in range(profile["repeats"] + 1):
    ref = measure("put", 1, lambda: ray.put(value))
    got = measure("get", 1, lambda: ray.get(ref))
    again = measure("again", 1000, lambda: ray.get(ref))
    if got[0] != 7 or again[-1] != 7:
        raise AssertionError("unexpected value")
    measure("row", 1000 / GETS, lambda: get_in_a_row(ref))
    answers = measure("tasks", 1, lambda: ray.get([first.remote(ref) for _ in range(8)]))
    if answers != [7] * 8:
        raise AssertionError(f"unexpected answers {answers}")
    del ref, got, again
    result = make.remote(size)
    measure("result", 1, lambda: ray.get(result))
    del result
    measure("number", 1000, lambda: put_and_get(i))

print(json.dumps({name: statistics.median(times[1:]) for name, times in took.items()}))
ray.shutdown()
