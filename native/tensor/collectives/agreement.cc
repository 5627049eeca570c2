#include "collectives/agreement.h"

#include <algorithm>
#include <cstring>

#include "libtorch/error_text.h"

namespace {

thread_local const CollectiveContext* current_context = nullptr;

/** The first message that each process sends to the others. */
struct Announcement {
  uint64_t signature;
  /** The size of the failure that follows, in bytes, or 0 if there is none. */
  uint64_t bytes;
};
constexpr uint64_t kMaxFailureBytes = 16 << 10;

/**
 * Serializes a failure as a rank and three texts. The bytes come from another worker, but `ReadFailure` checks them
 * like any input.
 */
std::vector<uint8_t> WriteFailure(const Failure& failure) {
  std::vector<uint8_t> bytes;
  const auto put = [&](const void* data, size_t length) {
    const auto* begin = static_cast<const uint8_t*>(data);
    bytes.insert(bytes.end(), begin, begin + length);
  };
  put(&failure.rank, sizeof failure.rank);
  for (const std::string* text : {&failure.op, &failure.site, &failure.message}) {
    const auto length = static_cast<uint32_t>(std::min<size_t>(text->size(), 4 << 10));
    put(&length, sizeof length);
    put(text->data(), length);
  }
  return bytes;
}

FailurePtr ReadFailure(const std::vector<uint8_t>& bytes) {
  auto failure = std::make_shared<Failure>();
  size_t at = 0;
  const auto take = [&](size_t length) {
    if (length > bytes.size() - at) throw std::runtime_error("another process sent an invalid failure");
    at += length;
    return bytes.data() + at - length;
  };
  std::memcpy(&failure->rank, take(sizeof failure->rank), sizeof failure->rank);
  for (std::string* text : {&failure->op, &failure->site, &failure->message}) {
    uint32_t length = 0;
    std::memcpy(&length, take(sizeof length), sizeof length);
    text->assign(reinterpret_cast<const char*>(take(length)), length);
  }
  return failure;
}

/**
 * Exchanges the signatures and failures of all processes.
 * @returns the failure of the first process that has one, or null
 * @throws std::runtime_error if the signatures differ
 */
FailurePtr Agree(Communicator& communicator, const Group& group, uint64_t signature, const FailurePtr& own) {
  const std::vector<uint8_t> text = own ? WriteFailure(*own) : std::vector<uint8_t>();
  const Announcement mine{signature, text.size()};
  std::vector<Announcement> all(group.size(), mine);
  std::vector<Send> sends;
  std::vector<Receive> receives;
  for (size_t i = 0; i < group.size(); i++) {
    if (i == group.index) continue;
    sends.push_back({group.members[i], reinterpret_cast<const uint8_t*>(&mine), sizeof mine});
    receives.push_back({group.members[i], reinterpret_cast<uint8_t*>(&all[i]), sizeof mine});
  }
  communicator.Exchange(sends, receives);
  std::vector<std::vector<uint8_t>> texts(group.size());
  receives.clear();
  for (size_t i = 0; i < group.size(); i++) {
    if (all[i].bytes > kMaxFailureBytes) throw std::runtime_error("another process sent an invalid failure");
    if (i == group.index) continue;
    texts[i].resize(all[i].bytes);
    receives.push_back({group.members[i], texts[i].data(), texts[i].size()});
  }
  for (auto& send : sends) send = {send.peer, text.data(), text.size()};
  communicator.Exchange(sends, receives);
  for (size_t i = 0; i < group.size(); i++) {
    if (all[i].bytes > 0) return i == group.index ? own : ReadFailure(texts[i]);
  }
  for (const auto& other : all) {
    if (other.signature != signature)
      throw std::runtime_error("the processes of its group execute different operations");
  }
  return nullptr;
}

Communicator& CommunicatorOf(const CollectiveContext& context) {
  if (context.communicator == nullptr || context.sizes.empty())
    throw std::runtime_error("the processes of the mesh are not connected to each other");
  return *context.communicator;
}

const CollectiveContext& CurrentContext() {
  if (current_context == nullptr)
    throw std::runtime_error(
        "its tensor does not belong to a mesh, so there are no processes to exchange elements with");
  return *current_context;
}

}  // namespace

ExecutingScope::ExecutingScope(const CollectiveContext& context) {
  current_context = &context;
}

ExecutingScope::~ExecutingScope() {
  current_context = nullptr;
}

CollectiveAgreement::CollectiveAgreement(c10::IntArrayRef along, int64_t ranks)
    : context_(CurrentContext()),
      communicator_(CommunicatorOf(context_)),
      group_(GroupAlong(context_.sizes, communicator_.rank(), along.vec())) {
  if (static_cast<int64_t>(group_.size()) != ranks)
    throw std::runtime_error("its group has another number of processes than the controller expects");
}

void CollectiveAgreement::Begin(uint64_t signature, const std::function<void()>& prepare) const {
  FailurePtr failure;
  try {
    prepare();
  } catch (const std::exception& error) {
    failure = std::make_shared<Failure>(Failure{context_.op, context_.site, ErrorText(error), communicator_.rank()});
  }
  failure = Agree(communicator_, group_, signature, failure);
  if (failure) throw CollectiveFailure(failure);
}

void CollectiveAgreement::BroadcastFromFirst(void* data, size_t bytes) const {
  auto* begin = static_cast<uint8_t*>(data);
  if (group_.index != 0) return communicator_.Exchange({}, {{group_.members.front(), begin, bytes}});
  std::vector<Send> sends;
  for (size_t i = 1; i < group_.size(); i++) sends.push_back({group_.members[i], begin, bytes});
  communicator_.Exchange(sends, {});
}

FailurePtr AgreeOnFailure(const CollectiveContext& context, const FailurePtr& failed,
                          const std::vector<int64_t>& along) {
  try {
    Communicator& communicator = CommunicatorOf(context);
    return Agree(communicator, GroupAlong(context.sizes, communicator.rank(), along), 0, failed);
  } catch (const std::exception&) {
    // A peer that cannot be reached detects the failure itself.
    return failed;
  }
}
