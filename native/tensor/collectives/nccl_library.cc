#include "collectives/nccl_library.h"

#include <dlfcn.h>

#include <stdexcept>

namespace {

/** The first version that has point-to-point messages. */
constexpr int kOldestVersion = 2700;
/** A symbol that the stand-in library of the tests exports if it accepts CPU memory. */
constexpr const char* kHostMemory = "viceroyStandInTakesHostMemory";

}  // namespace

std::string NcclVersionText(int version) {
  // Since 2.9, the minor version has two digits.
  const int major = version < 10000 ? version / 1000 : version / 10000;
  const int minor = version < 10000 ? version % 1000 / 100 : version % 10000 / 100;
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(version % 100);
}

template <class Function>
void NcclLibrary::Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw std::runtime_error(file_ + ", NCCL " + NcclVersionText(version_) + ", has no function " + name +
                             ": the file is damaged, or is not NCCL");
  }
}

NcclLibrary::NcclLibrary(const std::string& file) : file_(file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw std::runtime_error("NCCL cannot be loaded (" + std::string(why == nullptr ? "no reason is given" : why) +
                             "): install it (package libnccl2 of NVIDIA, or of Debian's contrib), set "
                             "VICEROY_NCCL to its path, or set VICEROY_NCCL=off to use none");
  }
  const auto get_version = reinterpret_cast<int (*)(int*)>(dlsym(library, "ncclGetVersion"));
  if (get_version == nullptr) throw std::runtime_error(file + " is not NCCL: it has no function ncclGetVersion");
  Dl_info found;
  if (dladdr(reinterpret_cast<void*>(get_version), &found) != 0) file_ = found.dli_fname;
  const int result = get_version(&version_);
  if (result != kNcclSuccess)
    throw std::runtime_error(file_ + " cannot report its version: ncclGetVersion returned " + std::to_string(result));
  if (version_ < kOldestVersion) {
    throw std::runtime_error(file_ + " is NCCL " + NcclVersionText(version_) + ", which is older than " +
                             NcclVersionText(kOldestVersion) +
                             ": install a newer version, or set VICEROY_NCCL=off to use none");
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

std::string NcclLibrary::ErrorText(int result, NcclCommunicator communicator) const {
  const char* means = error_string_(result);
  const char* last = last_error_ == nullptr ? nullptr : last_error_(communicator);
  return std::string(means == nullptr ? "result " + std::to_string(result) : means) +
         (last == nullptr || *last == '\0' ? "" : " (" + std::string(last) + ")");
}
