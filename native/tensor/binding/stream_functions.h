/** Functions for JavaScript that create and use streams. */
#pragma once
#include <napi.h>

#include <functional>
#include <string>

#include "executor/stream.h"

/** The result of a task, on its way to JavaScript. */
struct Outcome {
  std::function<Napi::Value(Napi::Env)> value;
  FailurePtr failure;
  std::string error;
};

using Task = std::function<void(Executor& executor, Outcome& outcome)>;

/**
 * Returns the stream in the first argument.
 * @throws Napi::TypeError
 */
Stream& StreamArgument(const Napi::CallbackInfo& info);
/**
 * Queues a task in a stream.
 * @param verb the operation for the error `cannot <verb>: …` if the task throws
 * @returns a promise of the outcome
 */
Napi::Value SubmitTask(const Napi::CallbackInfo& info, std::string verb, Task task);

/**
 * `newStream(rank, threads, rejectNan, device, index) -> stream`: if `rejectNan` is true, an operation that produces
 * NaN fails. `index` selects the device if `device` is `cuda` without a number.
 */
Napi::Value NewStream(const Napi::CallbackInfo& info);
/**
 * `submitCommands(stream, commands) -> promise`: rejects if the commands are invalid. A failed operation does not
 * reject the promise.
 */
Napi::Value SubmitCommands(const Napi::CallbackInfo& info);
/** `putTensor(stream, reference, tensor) -> promise`: stores a copy of the tensor under a reference. */
Napi::Value PutTensor(const Napi::CallbackInfo& info);
/** `failTensor(stream, reference, operation, site, message) -> promise`: stores a failure under a reference. */
Napi::Value FailTensor(const Napi::CallbackInfo& info);
/**
 * `fetchTensor(stream, reference) -> promise`: resolves to a copy of the tensor in this process. Rejects with an error
 * with `op`, `site` and `rank` if the tensor has failed.
 */
Napi::Value FetchTensor(const Napi::CallbackInfo& info);
/** `streamStats(stream) -> promise`: resolves to `{ tensors, calls }`, after all tasks that were queued before. */
Napi::Value StreamStats(const Napi::CallbackInfo& info);
/**
 * `offerCommunicator(stream, rank, ranks) -> { pid, memory, token }`: creates the communicator of a stream, and returns
 * the address for other processes of this machine. Called once for each stream.
 */
Napi::Value OfferCommunicator(const Napi::CallbackInfo& info);
/**
 * `offerNccl(stream, file) -> number`: loads NCCL. Returns its version, or 0 if it does not support the device of the
 * stream.
 */
Napi::Value OfferNccl(const Napi::CallbackInfo& info);
/** `findNccl(file) -> { version, file }`: loads NCCL, and returns its version and path. */
Napi::Value FindNccl(const Napi::CallbackInfo& info);
/**
 * `listenForPeers(stream, address) -> Uint8Array[]`: listens at an address of this machine. Returns for each rank the
 * address at which that rank reaches this process.
 */
Napi::Value ListenForPeers(const Napi::CallbackInfo& info);
/**
 * `connectCommunicator(stream, sizes, peers, nccl) -> promise`: connects to all processes of a mesh with the given
 * sizes of dimensions. `peers` contains for each rank `{ pid, memory, token }` of a process of this machine, or the
 * Uint8Array of a process of another machine; the entry of this rank is ignored. `nccl` tells whether all processes
 * have the same NCCL.
 */
Napi::Value ConnectCommunicator(const Napi::CallbackInfo& info);
/** `closeStream(stream)`: rejects the pending promises. Idempotent. */
Napi::Value CloseStream(const Napi::CallbackInfo& info);
