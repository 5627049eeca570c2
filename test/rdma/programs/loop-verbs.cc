/**
 * Replaces libibverbs under the sanitizers, where no device exists. Its devices connect the queue pairs of a process
 * with the memory of the same process. It checks that the addon follows the manual of the library: state transitions
 * are in order, every resource is freed, and only after the resources that were created from it. A violation ends the
 * process. Each device except the first fails in one function.
 */
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "verbs/abi.h"

namespace verbs {

struct Device {
  std::string name;
};

struct Pd {
  Context* context;
};

}  // namespace verbs

namespace {

using namespace verbs;

/** Statuses of completions, `ibv_wc_status`. */
constexpr int kProtection = 4;
constexpr int kFlushed = 5;
constexpr int kRemoteAccess = 10;

struct LoopCq : Cq {
  std::deque<Wc> completions;
  bool armed = false;
  unsigned told = 0;
  unsigned acknowledged = 0;
};

struct LoopQp : Qp {
  int state = 0;
};

/** A completion channel with one completion queue. */
struct LoopChannel : CompChannel {
  LoopCq* cq = nullptr;
};

struct LoopContext : Context {
  std::string fails;
  /** Number of resources that were created with the context and not freed. */
  int parts = 0;
};

std::mutex mutex;
std::map<uint32_t, std::pair<Mr*, int>> regions;
uint32_t last = 0x1000;
int contexts = 0;

[[noreturn]] void Wrong(const char* what) {
  fprintf(stderr, "libibverbs is used wrongly: %s\n", what);
  _exit(70);
}

struct AtTheEnd {
  ~AtTheEnd() {
    if (contexts != 0) Wrong("a device was not closed");
  }
} atTheEnd;

std::vector<Device>& Devices() {
  static std::vector<Device> devices = {{"loop"},        {"down"},      {"open_device"},         {"query_device"}, {"query_port"},
                                        {"alloc_pd"},    {"create_cq"}, {"create_comp_channel"}, {"reg_mr"},       {"dereg_mr"},
                                        {"create_qp"},   {"modify_qp"}, {"req_notify_cq"},       {"poll_cq"},      {"post_send"}};
  return devices;
}

bool Fails(Context* context, const char* call) {
  errno = ENOMEM;
  return static_cast<LoopContext*>(context)->fails == call;
}

template <typename T>
T* Made(Context* context, T* part) {
  static_cast<LoopContext*>(context)->parts++;
  return part;
}

template <typename T>
int Gone(T* part) {
  static_cast<LoopContext*>(part->context)->parts--;
  delete part;
  return 0;
}

int PollCq(Cq* cq, int entries, Wc* wc) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Fails(cq->context, "poll_cq")) return -1;
  auto& waiting = static_cast<LoopCq*>(cq)->completions;
  int count = 0;
  for (; count < entries && !waiting.empty(); count++, waiting.pop_front()) wc[count] = waiting.front();
  return count;
}

int RequestNotify(Cq* cq, int) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Fails(cq->context, "req_notify_cq")) return ENOMEM;
  static_cast<LoopCq*>(cq)->armed = true;
  return 0;
}

/** Returns the region of a key if it contains the range and allows the access, and nullptr otherwise. */
Mr* Find(uint32_t key, uint64_t address, uint32_t length, int access) {
  const auto found = regions.find(key);
  if (found == regions.end() || (found->second.second & access) != access) return nullptr;
  Mr* region = found->second.first;
  const uint64_t begin = reinterpret_cast<uint64_t>(region->addr);
  const bool inside = address >= begin && length <= region->length && address - begin <= region->length - length;
  return inside ? region : nullptr;
}

int PostSend(Qp* qp, SendWr* wr, SendWr**) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Fails(qp->context, "post_send")) return ENOMEM;
  auto& state = static_cast<LoopQp*>(qp)->state;
  if (state != kRts && state != kErr) return EINVAL;
  const Sge& local = *wr->sg_list;
  const bool write = wr->opcode == kRdmaWrite;
  Wc done = {};
  done.wr_id = wr->wr_id;
  if (state == kErr) {
    done.status = kFlushed;
  } else if (Find(local.lkey, local.addr, local.length, write ? 0 : kLocalWrite) == nullptr) {
    done.status = kProtection;
  } else if (Find(wr->rkey, wr->remote_addr, local.length, write ? kRemoteWrite : kRemoteRead) == nullptr) {
    done.status = kRemoteAccess;
  } else {
    const uint64_t from = write ? local.addr : wr->remote_addr;
    const uint64_t to = write ? wr->remote_addr : local.addr;
    memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), local.length);
  }
  if (done.status != 0) state = kErr;
  auto cq = static_cast<LoopCq*>(qp->send_cq);
  cq->completions.push_back(done);
  if (cq->armed) {
    cq->armed = false;
    const uint64_t one = 1;
    if (::write(cq->channel->fd, &one, sizeof one) != sizeof one) Wrong("its channel is closed");
  }
  return 0;
}

}  // namespace

extern "C" {

Device** ibv_get_device_list(int*) {
  auto& devices = Devices();
  auto list = new Device*[devices.size() + 1]();
  for (size_t i = 0; i < devices.size(); i++) list[i] = &devices[i];
  return list;
}

void ibv_free_device_list(Device** list) { delete[] list; }

const char* ibv_get_device_name(Device* device) { return device->name.c_str(); }

Context* ibv_open_device(Device* device) {
  if (device->name == "open_device") {
    errno = EACCES;
    return nullptr;
  }
  std::lock_guard<std::mutex> lock(mutex);
  contexts++;
  auto context = new LoopContext();
  context->device = device;
  context->fails = device->name;
  context->ops.poll_cq = PollCq;
  context->ops.req_notify_cq = RequestNotify;
  context->ops.post_send = PostSend;
  context->cmd_fd = eventfd(0, 0);
  context->async_fd = eventfd(0, 0);
  return context;
}

int ibv_close_device(Context* base) {
  std::lock_guard<std::mutex> lock(mutex);
  auto context = static_cast<LoopContext*>(base);
  if (context->parts != 0) Wrong("a device is closed before its resources are freed");
  contexts--;
  close(context->cmd_fd);
  close(context->async_fd);
  delete context;
  return 0;
}

int ibv_query_device(Context* context, DeviceAttr* attributes) {
  if (Fails(context, "query_device")) return ENOMEM;
  attributes->max_cqe = 100;
  attributes->max_qp_rd_atom = 128;
  attributes->max_qp_init_rd_atom = 0;
  return 0;
}

int ibv_query_port(Context* context, uint8_t port, PortAttr* attributes) {
  if (Fails(context, "query_port")) return ENOMEM;
  if (port != 1) return EINVAL;
  attributes->state = static_cast<LoopContext*>(context)->fails == "down" ? 1 : kPortActive;
  attributes->active_mtu = 3;
  attributes->lid = 9;
  return 0;
}

Pd* ibv_alloc_pd(Context* context) {
  return Fails(context, "alloc_pd") ? nullptr : Made(context, new Pd{context});
}

int ibv_dealloc_pd(Pd* pd) { return Gone(pd); }

Mr* ibv_reg_mr(Pd* pd, void* address, size_t length, int access) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Fails(pd->context, "reg_mr")) return nullptr;
  const uint32_t key = ++last;
  auto region = new Mr{pd->context, pd, address, length, 0, key, key};
  regions[key] = {region, access};
  return Made(pd->context, region);
}

int ibv_dereg_mr(Mr* region) {
  std::lock_guard<std::mutex> lock(mutex);
  auto context = static_cast<LoopContext*>(region->context);
  if (Fails(context, "dereg_mr")) {
    context->fails = "";  // The next attempt succeeds.
    return EBUSY;
  }
  regions.erase(region->lkey);
  return Gone(region);
}

CompChannel* ibv_create_comp_channel(Context* context) {
  if (Fails(context, "create_comp_channel")) return nullptr;
  auto channel = new LoopChannel();
  channel->context = context;
  channel->fd = eventfd(0, EFD_SEMAPHORE);
  return Made<CompChannel>(context, channel);
}

int ibv_destroy_comp_channel(CompChannel* channel) {
  if (channel->refcnt != 0) Wrong("a channel is destroyed before its completion queue");
  close(channel->fd);
  return Gone(static_cast<LoopChannel*>(channel));
}

Cq* ibv_create_cq(Context* context, int entries, void*, CompChannel* channel, int) {
  if (Fails(context, "create_cq")) return nullptr;
  if (entries > 100) Wrong("more completions are requested than the device supports");
  auto cq = new LoopCq();
  cq->context = context;
  cq->channel = channel;
  channel->refcnt++;
  static_cast<LoopChannel*>(channel)->cq = cq;
  return Made<Cq>(context, cq);
}

int ibv_destroy_cq(Cq* base) {
  auto cq = static_cast<LoopCq*>(base);
  if (cq->told != cq->acknowledged) Wrong("a completion queue is destroyed with events that were not acknowledged");
  cq->channel->refcnt--;
  return Gone(cq);
}

int ibv_get_cq_event(CompChannel* channel, Cq** cq, void**) {
  uint64_t event = 0;
  if (read(channel->fd, &event, sizeof event) != sizeof event) return -1;
  *cq = static_cast<LoopChannel*>(channel)->cq;
  static_cast<LoopCq*>(*cq)->told++;
  return 0;
}

void ibv_ack_cq_events(Cq* cq, unsigned count) { static_cast<LoopCq*>(cq)->acknowledged += count; }

Qp* ibv_create_qp(Pd* pd, QpInitAttr* attributes) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Fails(pd->context, "create_qp")) return nullptr;
  auto qp = new LoopQp();
  qp->context = pd->context;
  qp->pd = pd;
  qp->send_cq = attributes->send_cq;
  qp->qp_num = ++last;
  return Made<Qp>(pd->context, qp);
}

int ibv_modify_qp(Qp* base, QpAttr* attributes, int mask) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Fails(base->context, "modify_qp")) return ENOMEM;
  auto qp = static_cast<LoopQp*>(base);
  const int next = attributes->qp_state;
  const int needed = next == kInit  ? kState | kPkeyIndex | kPort | kAccessFlags
                     : next == kRtr ? kState | kAv | kPathMtu | kDestQpn | kRqPsn | kMaxDestRdAtomic | kMinRnrTimer
                     : next == kRts ? kState | kTimeout | kRetryCnt | kRnrRetry | kSqPsn | kMaxRdAtomic
                                    : kState;
  if (mask != needed || (next != kErr && next != qp->state + 1)) return EINVAL;
  qp->state = next;
  return 0;
}

int ibv_destroy_qp(Qp* qp) {
  std::lock_guard<std::mutex> lock(mutex);
  return Gone(static_cast<LoopQp*>(qp));
}

const char* ibv_wc_status_str(int) { return "a status"; }

}
