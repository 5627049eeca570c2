/**
 * The library NCCL, which transfers elements between GPUs. It is loaded on demand and never linked. The declarations
 * follow the documentation of its C interface, which has been stable since 2.7.
 */
#pragma once
#include <cstddef>
#include <string>

struct NcclCommunicatorData;
using NcclCommunicator = NcclCommunicatorData*;
/** `cudaStream_t`. Null is the default stream. */
using NcclStream = void*;

struct NcclId {
  char bytes[128];
};

/** Values of `ncclResult_t`. All other values are errors. */
constexpr int kNcclSuccess = 0;
constexpr int kNcclInProgress = 7;

/** `ncclConfig_t` of version 2.14. Later versions read as many bytes as `size` states. */
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};

class NcclLibrary {
 public:
  /**
   * Loads the library for the rest of the process.
   * @param file a path, or a name for the dynamic loader
   * @throws std::runtime_error if the library does not exist, is too old, or is not NCCL
   */
  explicit NcclLibrary(const std::string& file);

  /** Returns the version as `ncclGetVersion` encodes it: 22203 is 2.22.3. */
  int version() const { return version_; }
  /** Returns the path of the loaded library. */
  const std::string& file() const { return file_; }
  /**
   * Returns whether the library accepts tensors in CPU memory. NCCL does not; the stand-in of the tests exports a
   * symbol to say so.
   */
  bool takesHostMemory() const { return host_memory_; }
  /**
   * Returns the meaning of a result.
   * @param communicator the communicator of the failed call, or null
   */
  std::string ErrorText(int result, NcclCommunicator communicator) const;

  int (*getUniqueId)(NcclId*) = nullptr;
  int (*initRank)(NcclCommunicator*, int ranks, NcclId, int rank) = nullptr;
  /** Available since 2.14, otherwise null. */
  int (*initRankConfig)(NcclCommunicator*, int ranks, NcclId, int rank, NcclConfig*) = nullptr;
  int (*abort)(NcclCommunicator) = nullptr;
  int (*asyncError)(NcclCommunicator, int*) = nullptr;
  int (*allReduce)(const void*, void*, size_t count, int type, int op, NcclCommunicator, NcclStream) = nullptr;
  /** @param count the number of elements that each process sends */
  int (*allGather)(const void*, void*, size_t count, int type, NcclCommunicator, NcclStream) = nullptr;
  /** @param count the number of elements that each process receives */
  int (*reduceScatter)(const void*, void*, size_t count, int type, int op, NcclCommunicator, NcclStream) = nullptr;
  int (*broadcast)(const void*, void*, size_t count, int type, int root, NcclCommunicator, NcclStream) = nullptr;
  int (*reduce)(const void*, void*, size_t count, int type, int op, int root, NcclCommunicator, NcclStream) = nullptr;
  int (*send)(const void*, size_t count, int type, int peer, NcclCommunicator, NcclStream) = nullptr;
  int (*receive)(void*, size_t count, int type, int peer, NcclCommunicator, NcclStream) = nullptr;
  int (*groupStart)() = nullptr;
  int (*groupEnd)() = nullptr;

 private:
  template <class Function>
  void Find(void* library, const char* name, Function& function);

  const char* (*error_string_)(int) = nullptr;
  /** Available since 2.13, otherwise null. */
  const char* (*last_error_)(NcclCommunicator) = nullptr;
  int version_ = 0;
  bool host_memory_ = false;
  std::string file_;
};

/** Returns 2.22.3 for 22203, and 2.7.8 for 2708. */
std::string NcclVersionText(int version);
