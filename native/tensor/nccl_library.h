/**
 * The library NCCL, which moves elements between graphics processors: opened when it is asked for, never linked to. What is declared here is
 * what its documentation says of its C interface, which has been the same since 2.7.
 */
#pragma once
#include <cstddef>
#include <string>

struct NcclCommunicatorData;
using NcclCommunicator = NcclCommunicatorData*;
/** `cudaStream_t`; null: the default one. */
using NcclStream = void*;

struct NcclId {
  char bytes[128];
};

/** `ncclResult_t`: what is neither of these is an error. */
constexpr int kNcclSuccess = 0;
constexpr int kNcclInProgress = 7;

/** `ncclConfig_t` as 2.14 began it; later ones read as much as it says that it has. */
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
};

class NcclLibrary {
 public:
  /**
   * For the rest of the process.
   * @param file a path, or a name that the loader looks for
   * @throws std::runtime_error when it is not there, is too old, or is something else
   */
  explicit NcclLibrary(const std::string& file);

  /** As `ncclGetVersion` has it: 22203 is 2.22.3. */
  int version() const { return version_; }
  /** Where the loader has found it. */
  const std::string& file() const { return file_; }
  /** Whether it takes tensors that are in memory of processors. NCCL does not; what tests have in its place says so by a function that it alone has. */
  bool takesHostMemory() const { return host_memory_; }
  /** What a result means. @param communicator null: of none */
  std::string Why(int result, NcclCommunicator communicator) const;

  int (*getUniqueId)(NcclId*) = nullptr;
  int (*initRank)(NcclCommunicator*, int ranks, NcclId, int rank) = nullptr;
  /** From 2.14 on; null before. */
  int (*initRankConfig)(NcclCommunicator*, int ranks, NcclId, int rank, NcclConfig*) = nullptr;
  int (*abort)(NcclCommunicator) = nullptr;
  int (*asyncError)(NcclCommunicator, int*) = nullptr;
  int (*allReduce)(const void*, void*, size_t count, int type, int op, NcclCommunicator, NcclStream) = nullptr;
  /** @param count of what each sends */
  int (*allGather)(const void*, void*, size_t count, int type, NcclCommunicator, NcclStream) = nullptr;
  /** @param count of what each receives */
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
  /** From 2.13 on; null before. */
  const char* (*last_error_)(NcclCommunicator) = nullptr;
  int version_ = 0;
  bool host_memory_ = false;
  std::string file_;
};

/** 2.22.3 for 22203, 2.7.8 for 2708. */
std::string NcclVersionText(int version);
