#include "nccl_library.h"

#include <dlfcn.h>

#include <stdexcept>

namespace {

/** The first that sends from one process to another one. */
constexpr int kOldest = 2700;
/** What a library in its place exports if it takes memory of processors. */
constexpr const char* kHostMemory = "viceroyStandInTakesHostMemory";

}  // namespace

std::string NcclVersionText(int version) {
  // From 2.9 on there are two digits for the second number.
  const int major = version < 10000 ? version / 1000 : version / 10000;
  const int minor = version < 10000 ? version % 1000 / 100 : version % 10000 / 100;
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(version % 100);
}

template <class Function>
void NcclLibrary::Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw std::runtime_error(file_ + ", NCCL " + NcclVersionText(version_) + ", has no function " + name + ": it is damaged, or something else");
  }
}

NcclLibrary::NcclLibrary(const std::string& file) : file_(file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw std::runtime_error("NCCL cannot be loaded (" + std::string(why == nullptr ? "no reason is given" : why) +
                             "): install it (package libnccl2 of NVIDIA, or of Debian's contrib), name its file by VICEROY_NCCL, or do without by VICEROY_NCCL=off");
  }
  const auto get_version = reinterpret_cast<int (*)(int*)>(dlsym(library, "ncclGetVersion"));
  if (get_version == nullptr) throw std::runtime_error(file + " is no NCCL: it has no function ncclGetVersion");
  Dl_info found;
  if (dladdr(reinterpret_cast<void*>(get_version), &found) != 0) file_ = found.dli_fname;
  const int result = get_version(&version_);
  if (result != kNcclSuccess) throw std::runtime_error(file_ + " does not say its version: ncclGetVersion answered " + std::to_string(result));
  if (version_ < kOldest) {
    throw std::runtime_error(file_ + " is NCCL " + NcclVersionText(version_) + ", which is older than " + NcclVersionText(kOldest) +
                             ": install another one, or do without by VICEROY_NCCL=off");
  }
  Find(library, "ncclGetUniqueId", getUniqueId);
  Find(library, "ncclCommInitRank", initRank);
  Find(library, "ncclCommAbort", abort);
  Find(library, "ncclCommGetAsyncError", asyncError);
  Find(library, "ncclGetErrorString", error_string_);
  Find(library, "ncclAllReduce", allReduce);
  Find(library, "ncclAllGather", allGather);
  Find(library, "ncclReduceScatter", reduceScatter);
  Find(library, "ncclBroadcast", broadcast);
  Find(library, "ncclReduce", reduce);
  Find(library, "ncclSend", send);
  Find(library, "ncclRecv", receive);
  Find(library, "ncclGroupStart", groupStart);
  Find(library, "ncclGroupEnd", groupEnd);
  initRankConfig = reinterpret_cast<decltype(initRankConfig)>(dlsym(library, "ncclCommInitRankConfig"));
  last_error_ = reinterpret_cast<decltype(last_error_)>(dlsym(library, "ncclGetLastError"));
  host_memory_ = dlsym(library, kHostMemory) != nullptr;
}

std::string NcclLibrary::Why(int result, NcclCommunicator communicator) const {
  const char* means = error_string_(result);
  const char* last = last_error_ == nullptr ? nullptr : last_error_(communicator);
  return std::string(means == nullptr ? "result " + std::to_string(result) : means) + (last == nullptr || *last == '\0' ? "" : " (" + std::string(last) + ")");
}
