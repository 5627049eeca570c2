#include "nccl.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <mutex>
#include <thread>

#include "arguments.h"

namespace {

/** From here on it has bfloat16. */
constexpr int kWithBfloat16 = 21000;

/** A communicator that is made in a thread of its own, which can be left alone with it. */
struct Making {
  std::mutex mutex;
  NcclCommunicator communicator = nullptr;
  int result = kNcclInProgress;
  /** Nobody waits for it any more. */
  bool left = false;
};

}  // namespace

int NcclType(c10::ScalarType dtype, int version) {
  switch (dtype) {
    case c10::ScalarType::Char:
      return 0;
    case c10::ScalarType::Byte:
    // Truth values are 0 and 1: the larger and the smaller one of them are what they should be.
    case c10::ScalarType::Bool:
      return 1;
    case c10::ScalarType::Int:
      return 2;
    case c10::ScalarType::Long:
      return 4;
    case c10::ScalarType::Half:
      return 6;
    case c10::ScalarType::Float:
      return 7;
    case c10::ScalarType::Double:
      return 8;
    case c10::ScalarType::BFloat16:
      return version >= kWithBfloat16 ? 9 : -1;
    default:
      return -1;
  }
}

int NcclOperation(Reduction reduction) {
  switch (reduction) {
    case Reduction::prod:
      return 1;
    case Reduction::max:
      return 2;
    case Reduction::min:
      return 3;
    default:
      return 0;
  }
}

Nccl::~Nccl() {
  // Nothing is under way. To destroy one could wait for others, which may have ended.
  for (const auto& [members, communicator] : communicators_) library_->abort(communicator);
}

Nccl::Plan Nccl::Prepare(const Group& group) const {
  Plan plan{{}, communicators_.count(group.members) == 0};
  StreamOfTorch();
  if (!plan.first_time || group.index != 0) return plan;
  const int result = library_->getUniqueId(&plan.id);
  if (result != kNcclSuccess) Fail("ncclGetUniqueId", result, nullptr);
  return plan;
}

void Nccl::Run(const Together& together, const Plan& plan, const char* name, const Enqueue& enqueue) {
  const Group& group = together.group();
  Plan all = plan;
  if (plan.first_time) together.TellFirst(&all.id, sizeof all.id);
  try {
    together.lines().Beside(group.members, [&](const Lines::Wait& wait) {
      if (plan.first_time) communicators_[group.members] = Make(group, all.id, wait);
      const NcclCommunicator communicator = communicators_.at(group.members);
      Settle(enqueue(*library_, communicator, StreamOfTorch()), communicator, name, wait);
      // What is enqueued is not done. Others that are lost meanwhile are looked for by who waits.
      wait([&] {
        int result = kNcclSuccess;
        if (library_->asyncError(communicator, &result) != kNcclSuccess) result = -1;
        if (result != kNcclSuccess && result != kNcclInProgress) Fail(name, result, communicator);
        return IsIdle(device_);
      });
    });
  } catch (const std::exception&) {
    Abort(group.members);
    throw;
  }
}

NcclCommunicator Nccl::Make(const Group& group, const NcclId& id, const Lines::Wait& wait) {
  if (library_->initRankConfig == nullptr) return MakeInThread(group, id, wait);
  NcclConfig config;
  NcclCommunicator made = nullptr;
  const int result = library_->initRankConfig(&made, static_cast<int>(group.size()), id, static_cast<int>(group.index), &config);
  if (made == nullptr) Fail("ncclCommInitRankConfig", result, nullptr);
  // It is aborted from here on, whatever becomes of it.
  communicators_[group.members] = made;
  Settle(result, made, "ncclCommInitRankConfig", wait);
  return made;
}

NcclCommunicator Nccl::MakeInThread(const Group& group, const NcclId& id, const Lines::Wait& wait) const {
  auto making = std::make_shared<Making>();
  std::thread([making, id, library = library_, device = device_, ranks = static_cast<int>(group.size()), rank = static_cast<int>(group.index)] {
    UseDevice(device);
    NcclCommunicator made = nullptr;
    const int result = library->initRank(&made, ranks, id, rank);
    std::lock_guard<std::mutex> lock(making->mutex);
    making->communicator = made;
    making->result = result;
    if (making->left && made != nullptr) library->abort(made);
  }).detach();
  try {
    wait([&] {
      std::lock_guard<std::mutex> lock(making->mutex);
      return making->result != kNcclInProgress;
    });
  } catch (const std::exception&) {
    std::lock_guard<std::mutex> lock(making->mutex);
    making->left = true;
    if (making->communicator != nullptr) library_->abort(making->communicator);
    throw;
  }
  if (making->result != kNcclSuccess) Fail("ncclCommInitRank", making->result, nullptr);
  return making->communicator;
}

void Nccl::Settle(int result, NcclCommunicator communicator, const char* name, const Lines::Wait& wait) const {
  if (result == kNcclInProgress) {
    wait([&] {
      if (library_->asyncError(communicator, &result) != kNcclSuccess) result = -1;
      return result != kNcclInProgress;
    });
  }
  if (result != kNcclSuccess) Fail(name, result, communicator);
}

void Nccl::Abort(const Members& members) {
  const auto found = communicators_.find(members);
  if (found == communicators_.end()) return;
  library_->abort(found->second);
  communicators_.erase(found);
}

NcclStream Nccl::StreamOfTorch() const {
  if (device_.is_cpu()) return nullptr;
  // libtorch's stream 0 of each device is CUDA's default one, which is null. Nothing here sets another one for this thread, and how libtorch
  // would name that to CUDA is not known without CUDA's headers.
  if (c10::impl::VirtualGuardImpl(device_.type()).getStream(device_).id() != 0) {
    throw std::runtime_error("libtorch's current stream is not CUDA's default one, which NCCL is given");
  }
  return nullptr;
}

void Nccl::Fail(const char* name, int result, NcclCommunicator communicator) const {
  throw std::runtime_error(std::string(name) + " of NCCL " + NcclVersionText(library_->version()) + " failed: " + library_->Why(result, communicator) +
                           "; NCCL_DEBUG=INFO, in the environment of the processes, has it say more");
}
