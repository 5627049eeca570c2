#include "verbs/device.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace {

/** The capacity of the completion queue, which all queue pairs share. */
constexpr int kCompletionQueueEntries = 4096;
constexpr uint8_t kMaxReads = 16;

int Errno() {
  return errno == 0 ? EIO : errno;
}

}  // namespace

VerbsDevice::VerbsDevice(const VerbsLibrary* library, std::string name, uint32_t port, uint32_t gid_index)
    : library_(library),
      name_(std::move(name)),
      port_(static_cast<uint8_t>(port)),
      gid_index_(static_cast<uint8_t>(gid_index)) {}

int VerbsDevice::OpenByName() {
  verbs::Device** list = library_->get_device_list(nullptr);
  if (list == nullptr) return Errno();
  int failed = ENODEV;
  for (verbs::Device** device = list; *device != nullptr; device++) {
    if (name_ != library_->get_device_name(*device)) continue;
    context_ = library_->open_device(*device);
    failed = context_ == nullptr ? Errno() : 0;
    break;
  }
  library_->free_device_list(list);
  return failed;
}

int VerbsDevice::Open() {
  std::unique_lock<SharedMutex> lock(in_use_);
  if (usable_) return EALREADY;
  const int failed = OpenResources();
  usable_ = failed == 0;
  // A failed attempt leaves nothing open, so that the next one starts from the beginning.
  if (failed != 0) CloseAll();
  return failed;
}

int VerbsDevice::OpenResources() {
  if (const int failed = OpenByName()) return failed;
  verbs::DeviceAttr attributes = {};
  if (const int failed = library_->query_device(context_, &attributes)) return failed;
  if (const int failed = library_->query_port(context_, port_, &port_attributes_)) return failed;
  if (port_attributes_.state != verbs::kPortActive) return ENETDOWN;
  reads_answered_ = static_cast<uint32_t>(std::clamp<int>(attributes.max_qp_rd_atom, 1, kMaxReads));
  reads_asked_ = static_cast<uint32_t>(std::clamp<int>(attributes.max_qp_init_rd_atom, 1, kMaxReads));
  pd_ = library_->alloc_pd(context_);
  if (pd_ == nullptr) return Errno();
  channel_ = library_->create_comp_channel(context_);
  if (channel_ == nullptr) return Errno();
  for (const int fd : {channel_->fd, context_->cmd_fd, context_->async_fd}) {
    if (fcntl(fd, F_SETFD, fcntl(fd, F_GETFD) | FD_CLOEXEC) != 0) return errno;
  }
  if (fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK) != 0) return errno;
  cq_ = library_->create_cq(context_, std::min(kCompletionQueueEntries, attributes.max_cqe), nullptr, channel_, 0);
  if (cq_ == nullptr) return Errno();
  return context_->ops.req_notify_cq(cq_, 0);
}

void VerbsDevice::Close() {
  std::unique_lock<SharedMutex> lock(in_use_);
  usable_ = false;
  std::vector<int32_t> pairs;
  std::map<int32_t, verbs::Mr*> regions;
  {
    std::lock_guard<std::mutex> maps(mutex_);
    for (const auto& [id, pair] : pairs_) pairs.push_back(id);
    regions.swap(regions_);
  }
  for (const int32_t id : pairs) DestroyPair(id);
  for (const auto& [id, region] : regions) library_->dereg_mr(region);
  CloseAll();
}

void VerbsDevice::CloseAll() {
  if (cq_ != nullptr) library_->destroy_cq(std::exchange(cq_, nullptr));
  if (channel_ != nullptr) library_->destroy_comp_channel(std::exchange(channel_, nullptr));
  if (pd_ != nullptr) library_->dealloc_pd(std::exchange(pd_, nullptr));
  if (context_ != nullptr) library_->close_device(std::exchange(context_, nullptr));
}

int32_t VerbsDevice::Register(void* data, size_t length, int access) {
  const Use use(this);
  if (!use.usable()) return -ESHUTDOWN;
  verbs::Mr* region = library_->reg_mr(pd_, data, length, access);
  if (region == nullptr) return -Errno();
  std::lock_guard<std::mutex> lock(mutex_);
  regions_[next_] = region;
  return next_++;
}

int VerbsDevice::Deregister(int32_t id) {
  const Use use(this);
  if (!use.usable()) return ESHUTDOWN;
  verbs::Mr* region = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = regions_.find(id);
    if (found == regions_.end()) return ENOENT;
    region = found->second;
    regions_.erase(found);
  }
  const int failed = library_->dereg_mr(region);
  if (failed == 0) return 0;
  std::lock_guard<std::mutex> lock(mutex_);
  regions_[id] = region;
  return failed;
}

uint32_t VerbsDevice::KeyOf(int32_t id) {
  const Use use(this);
  if (!use.usable()) return 0;
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = regions_.find(id);
  return found == regions_.end() ? 0 : found->second->rkey;
}

std::shared_ptr<QueuePair> VerbsDevice::PairOf(int32_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pairs_.find(id);
  return found == pairs_.end() ? nullptr : found->second;
}

int32_t VerbsDevice::CreatePair() {
  const Use use(this);
  if (!use.usable()) return -ESHUTDOWN;
  auto pair = std::make_shared<QueuePair>(library_, pd_, cq_);
  if (pair->failed() != 0) return -pair->failed();
  std::lock_guard<std::mutex> lock(mutex_);
  pairs_[next_] = std::move(pair);
  return next_++;
}

uint32_t VerbsDevice::NumberOf(int32_t id) {
  const Use use(this);
  if (!use.usable()) return 0;
  const auto pair = PairOf(id);
  return pair == nullptr ? 0 : pair->Number();
}

int VerbsDevice::Connect(int32_t id, uint32_t first, const QueuePair::Peer& peer, const QueuePair::RetryPolicy& retry) {
  const Use use(this);
  if (!use.usable()) return ESHUTDOWN;
  const auto pair = PairOf(id);
  const QueuePair::Local local = {port_, gid_index_, mtu(), reads_answered_, reads_asked_};
  return pair == nullptr ? ENOENT : pair->Connect(first, local, peer, retry);
}

int VerbsDevice::Fail(int32_t id) {
  const Use use(this);
  if (!use.usable()) return ESHUTDOWN;
  const auto pair = PairOf(id);
  return pair == nullptr ? ENOENT : pair->Fail();
}

int VerbsDevice::Destroy(int32_t id) {
  const Use use(this);
  if (!use.usable()) return ESHUTDOWN;
  return DestroyPair(id);
}

int VerbsDevice::DestroyPair(int32_t id) {
  std::shared_ptr<QueuePair> pair;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = pairs_.find(id);
    if (found == pairs_.end()) return ENOENT;
    pair = found->second;
    pairs_.erase(found);
  }
  return pair->Destroy();
}

int VerbsDevice::Post(int32_t pair, int32_t region, const Transfer& transfer) {
  const Use use(this);
  if (!use.usable()) return ESHUTDOWN;
  const auto found = PairOf(pair);
  if (found == nullptr) return ENOENT;
  verbs::Sge local = {0, transfer.length, 0};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto registered = regions_.find(region);
    if (registered == regions_.end()) return ENOENT;
    const uint64_t length = registered->second->length;
    if (transfer.offset > length || transfer.length > length - transfer.offset) return EINVAL;
    local.addr = reinterpret_cast<uint64_t>(registered->second->addr) + transfer.offset;
    local.lkey = registered->second->lkey;
  }
  verbs::SendWr request = {};
  request.wr_id = transfer.tag;
  request.sg_list = &local;
  request.num_sge = 1;
  request.opcode = transfer.write ? verbs::kRdmaWrite : verbs::kRdmaRead;
  request.send_flags = verbs::kSignaled;
  request.remote_addr = transfer.remote;
  request.rkey = transfer.key;
  return found->Post(&request);
}

int VerbsDevice::descriptor() {
  const Use use(this);
  return use.usable() ? channel_->fd : -1;
}

int VerbsDevice::Poll(uint32_t* words, int limit) {
  const Use use(this);
  if (!use.usable()) return -ESHUTDOWN;
  verbs::Cq* cq = nullptr;
  void* own = nullptr;
  unsigned events = 0;
  while (library_->get_cq_event(channel_, &cq, &own) == 0) events++;
  if (events > 0) library_->ack_cq_events(cq_, events);
  // Requests the notification before it polls, so that a completion in between is not lost.
  if (const int failed = context_->ops.req_notify_cq(cq_, 0)) return -failed;
  int count = 0;
  verbs::Wc completion;
  while (count < limit) {
    const int found = context_->ops.poll_cq(cq_, 1, &completion);
    if (found < 0) return -EIO;
    if (found == 0) break;
    words[2 * count] = static_cast<uint32_t>(completion.wr_id);
    words[2 * count + 1] = static_cast<uint32_t>(completion.status);
    count++;
  }
  return count;
}
