#include "collectives/nccl_communicators.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <mutex>
#include <thread>

namespace {

/** The first version that supports bfloat16. */
constexpr int kFirstBfloat16Version = 21000;

/** A communicator that a separate thread creates. If the peers are lost, the thread is left alone with it. */
struct PendingCommunicator {
  std::mutex mutex;
  NcclCommunicator communicator = nullptr;
  int result = kNcclInProgress;
  /** Set if no thread waits for the communicator any more. */
  bool abandoned = false;
};

}  // namespace

int NcclType(c10::ScalarType dtype, int version) {
  switch (dtype) {
    case c10::ScalarType::Char:
      return 0;
    case c10::ScalarType::Byte:
    // Booleans are 0 or 1, so the maximum and the minimum of bytes are correct.
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
      return version >= kFirstBfloat16Version ? 9 : -1;
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

NcclCommunicators::~NcclCommunicators() {
  // No operation is running. ncclCommDestroy could wait for peers that have ended.
  for (const auto& [members, communicator] : communicators_) library_->abort(communicator);
}

NcclCommunicators::Plan NcclCommunicators::Prepare(const Group& group) const {
  Plan plan{{}, communicators_.count(group.members) == 0};
  StreamOfTorch();
  if (!plan.first_time || group.index != 0) return plan;
  const int result = library_->getUniqueId(&plan.id);
  if (result != kNcclSuccess) Fail("ncclGetUniqueId", result, nullptr);
  return plan;
}

void NcclCommunicators::Run(const CollectiveAgreement& agreement, const Plan& plan, const char* name,
                            const Enqueue& enqueue) {
  const Group& group = agreement.group();
  Plan all = plan;
  if (plan.first_time) agreement.BroadcastFromFirst(&all.id, sizeof all.id);
  try {
    agreement.communicator().RunMonitored(group.members, [&](const Communicator::Wait& wait) {
      if (plan.first_time) communicators_[group.members] = Create(group, all.id, wait);
      const NcclCommunicator communicator = communicators_.at(group.members);
      WaitForResult(enqueue(*library_, communicator, StreamOfTorch()), communicator, name, wait);
      // An operation that is enqueued may still be running. The loss of a peer is detected by `wait`.
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

NcclCommunicator NcclCommunicators::Create(const Group& group, const NcclId& id, const Communicator::Wait& wait) {
  if (library_->initRankConfig == nullptr) return CreateInThread(group, id, wait);
  NcclConfig config;
  NcclCommunicator made = nullptr;
  const int result =
      library_->initRankConfig(&made, static_cast<int>(group.size()), id, static_cast<int>(group.index), &config);
  if (made == nullptr) Fail("ncclCommInitRankConfig", result, nullptr);
  // From here on, an error aborts the communicator.
  communicators_[group.members] = made;
  WaitForResult(result, made, "ncclCommInitRankConfig", wait);
  return made;
}

NcclCommunicator NcclCommunicators::CreateInThread(const Group& group, const NcclId& id,
                                                   const Communicator::Wait& wait) const {
  auto pending = std::make_shared<PendingCommunicator>();
  std::thread([pending, id, library = library_, device = device_, ranks = static_cast<int>(group.size()),
               rank = static_cast<int>(group.index)] {
    UseDevice(device);
    NcclCommunicator made = nullptr;
    const int result = library->initRank(&made, ranks, id, rank);
    std::lock_guard<std::mutex> lock(pending->mutex);
    pending->communicator = made;
    pending->result = result;
    if (pending->abandoned && made != nullptr) library->abort(made);
  }).detach();
  try {
    wait([&] {
      std::lock_guard<std::mutex> lock(pending->mutex);
      return pending->result != kNcclInProgress;
    });
  } catch (const std::exception&) {
    std::lock_guard<std::mutex> lock(pending->mutex);
    pending->abandoned = true;
    if (pending->communicator != nullptr) library_->abort(pending->communicator);
    throw;
  }
  if (pending->result != kNcclSuccess) Fail("ncclCommInitRank", pending->result, nullptr);
  return pending->communicator;
}

void NcclCommunicators::WaitForResult(int result, NcclCommunicator communicator, const char* name,
                                      const Communicator::Wait& wait) const {
  if (result == kNcclInProgress) {
    wait([&] {
      if (library_->asyncError(communicator, &result) != kNcclSuccess) result = -1;
      return result != kNcclInProgress;
    });
  }
  if (result != kNcclSuccess) Fail(name, result, communicator);
}

void NcclCommunicators::Abort(const Members& members) {
  const auto found = communicators_.find(members);
  if (found == communicators_.end()) return;
  library_->abort(found->second);
  communicators_.erase(found);
}

NcclStream NcclCommunicators::StreamOfTorch() const {
  if (device_.is_cpu()) return nullptr;
  // Stream 0 of each device is CUDA's default stream, which CUDA represents as null. No code here selects another
  // stream on this thread. Without CUDA's headers the CUDA handle of another stream cannot be determined.
  if (c10::impl::VirtualGuardImpl(device_.type()).getStream(device_).id() != 0) {
    throw std::runtime_error("libtorch's current stream is not CUDA's default stream, which NCCL uses");
  }
  return nullptr;
}

void NcclCommunicators::Fail(const char* name, int result, NcclCommunicator communicator) const {
  throw std::runtime_error(std::string(name) + " of NCCL " + NcclVersionText(library_->version()) +
                           " failed: " + library_->ErrorText(result, communicator) +
                           "; set NCCL_DEBUG=INFO in the environment of the processes for details");
}
