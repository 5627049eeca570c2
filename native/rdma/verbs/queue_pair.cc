#include "verbs/queue_pair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace {

/** The maximum number of pending transfers of one queue pair. runtime/rdma/transport/verbs/ posts fewer. */
constexpr uint32_t kSendQueue = 64;

}  // namespace

QueuePair::QueuePair(const VerbsLibrary* library, verbs::Pd* pd, verbs::Cq* cq) : library_(library) {
  verbs::QpInitAttr attributes = {};
  attributes.send_cq = cq;
  attributes.recv_cq = cq;
  attributes.qp_type = verbs::kQptRc;
  attributes.cap.max_send_wr = kSendQueue;
  attributes.cap.max_recv_wr = 1;
  attributes.cap.max_send_sge = 1;
  attributes.cap.max_recv_sge = 1;
  qp_ = library_->create_qp(pd, &attributes);
  if (qp_ == nullptr) failed_ = errno == 0 ? EIO : errno;
}

uint32_t QueuePair::Number() {
  std::lock_guard<std::mutex> lock(mutex_);
  return qp_ == nullptr ? 0 : qp_->qp_num;
}

int QueuePair::Connect(uint32_t first, const Local& local, const Peer& peer, const RetryPolicy& retry) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (qp_ == nullptr) return ENOENT;
  if (const int failed = Initialize(local)) return failed;
  if (const int failed = Receive(local, peer)) return failed;
  return Send(first, local, peer, retry);
}

int QueuePair::Initialize(const Local& local) {
  verbs::QpAttr attributes = {};
  attributes.qp_state = verbs::kInit;
  attributes.port_num = local.port;
  attributes.qp_access_flags = verbs::kRemoteRead | verbs::kRemoteWrite;
  return library_->modify_qp(qp_, &attributes, verbs::kState | verbs::kPkeyIndex | verbs::kPort | verbs::kAccessFlags);
}

int QueuePair::Receive(const Local& local, const Peer& peer) {
  verbs::QpAttr attributes = {};
  attributes.qp_state = verbs::kRtr;
  attributes.path_mtu = static_cast<int>(std::min(local.mtu, peer.mtu));
  attributes.dest_qp_num = peer.number;
  attributes.rq_psn = peer.first;
  attributes.max_dest_rd_atomic = static_cast<uint8_t>(local.reads_answered);
  attributes.min_rnr_timer = 12;
  memcpy(attributes.ah_attr.dgid, peer.gid, sizeof peer.gid);
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.sgid_index = local.gid_index;
  attributes.ah_attr.hop_limit = 64;
  attributes.ah_attr.dlid = static_cast<uint16_t>(peer.lid);
  attributes.ah_attr.port_num = local.port;
  return library_->modify_qp(qp_, &attributes,
                             verbs::kState | verbs::kAv | verbs::kPathMtu | verbs::kDestQpn | verbs::kRqPsn |
                                 verbs::kMaxDestRdAtomic | verbs::kMinRnrTimer);
}

int QueuePair::Send(uint32_t first, const Local& local, const Peer& peer, const RetryPolicy& retry) {
  verbs::QpAttr attributes = {};
  attributes.qp_state = verbs::kRts;
  attributes.timeout = static_cast<uint8_t>(retry.timeout);
  attributes.retry_cnt = static_cast<uint8_t>(retry.retries);
  attributes.rnr_retry = 7;
  attributes.sq_psn = first;
  attributes.max_rd_atomic = static_cast<uint8_t>(std::clamp<uint32_t>(peer.reads, 1, local.reads_asked));
  return library_->modify_qp(
      qp_, &attributes,
      verbs::kState | verbs::kTimeout | verbs::kRetryCnt | verbs::kRnrRetry | verbs::kSqPsn | verbs::kMaxRdAtomic);
}

int QueuePair::Fail() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (qp_ == nullptr) return ENOENT;
  verbs::QpAttr attributes = {};
  attributes.qp_state = verbs::kErr;
  return library_->modify_qp(qp_, &attributes, verbs::kState);
}

int QueuePair::Destroy() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (qp_ == nullptr) return ENOENT;
  return library_->destroy_qp(std::exchange(qp_, nullptr));
}

int QueuePair::Post(verbs::SendWr* request) {
  verbs::SendWr* bad = nullptr;
  std::lock_guard<std::mutex> lock(mutex_);
  if (qp_ == nullptr) return ENOENT;
  return qp_->context->ops.post_send(qp_, request, &bad);
}
