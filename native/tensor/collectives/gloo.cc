/**
 * Implements the remote transport (remote.h) with Gloo, if the headers and the library of Gloo are next to those of
 * libtorch when the addon is built.
 */
#include "collectives/remote.h"

#include <stdexcept>

#ifdef VICEROY_GLOO
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <mutex>
#include <unordered_set>

namespace {

/**
 * Transfers have no timeout. The loss of a peer closes its connection, and transfers that are no longer needed are
 * aborted.
 */
constexpr auto kNoTimeout = std::chrono::hours(24 * 365);
constexpr auto kConnectTimeout = std::chrono::seconds(30);

using Unbound = gloo::transport::UnboundBuffer;

/** The buffers with pending transfers, so that another thread can abort them. */
struct PendingBuffers {
  std::mutex mutex;
  std::unordered_set<Unbound*> receiving;
  std::unordered_set<Unbound*> sending;
  bool aborted = false;
};

class GlooTransfer final : public RemoteTransfer {
 public:
  GlooTransfer(std::shared_ptr<PendingBuffers> pending, std::unique_ptr<Unbound> buffer, bool receives)
      : pending_(std::move(pending)), buffer_(std::move(buffer)), receives_(receives) {
    std::lock_guard<std::mutex> lock(pending_->mutex);
    registered().insert(buffer_.get());
    if (pending_->aborted) Abort(buffer_.get(), receives_);
  }
  ~GlooTransfer() override {
    std::lock_guard<std::mutex> lock(pending_->mutex);
    registered().erase(buffer_.get());
  }
  void Wait() override {
    const bool done = receives_ ? buffer_->waitRecv(kNoTimeout) : buffer_->waitSend(kNoTimeout);
    if (!done) throw std::runtime_error("the mesh is not active any more");
  }
  void Abort() override { Abort(buffer_.get(), receives_); }
  static void Abort(Unbound* buffer, bool receives) {
    if (receives) {
      buffer->abortWaitRecv();
    } else {
      buffer->abortWaitSend();
    }
  }

 private:
  std::unordered_set<Unbound*>& registered() { return receives_ ? pending_->receiving : pending_->sending; }

  std::shared_ptr<PendingBuffers> pending_;
  std::unique_ptr<Unbound> buffer_;
  bool receives_;
};

class GlooTransport final : public RemoteTransport {
 public:
  GlooTransport(size_t rank, size_t ranks, const std::string& address)
      : rank_(rank), connected_(ranks), sent_(ranks), received_(ranks) {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = address;
    device_ = gloo::transport::tcp::CreateDevice(attributes);
    context_ = device_->createContext(static_cast<int>(rank), static_cast<int>(ranks));
    context_->setTimeout(kConnectTimeout);
    for (size_t peer = 0; peer < ranks; peer++) {
      if (peer != rank) context_->createPair(static_cast<int>(peer));
    }
  }

  std::vector<std::string> addresses() const override {
    std::vector<std::string> all;
    for (size_t peer = 0; peer < connected_.size(); peer++) {
      const auto bytes = peer == rank_ ? std::vector<char>() : PairTo(peer).address().bytes();
      all.emplace_back(bytes.begin(), bytes.end());
    }
    return all;
  }
  void Connect(size_t peer, const std::string& address) override {
    PairTo(peer).connect({address.begin(), address.end()});
    connected_.at(peer) = true;
  }
  bool IsConnected(size_t peer) const override { return connected_.at(peer); }

  std::unique_ptr<RemoteTransfer> Send(size_t peer, const uint8_t* data, size_t bytes) override {
    // Gloo does not write to a buffer that is sent.
    auto buffer = context_->createUnboundBuffer(const_cast<uint8_t*>(data), bytes);
    buffer->send(static_cast<int>(peer), sent_[peer]++);
    return std::make_unique<GlooTransfer>(pending_, std::move(buffer), false);
  }
  std::unique_ptr<RemoteTransfer> Receive(size_t peer, uint8_t* into, size_t bytes) override {
    auto buffer = context_->createUnboundBuffer(into, bytes);
    buffer->recv(static_cast<int>(peer), received_[peer]++);
    return std::make_unique<GlooTransfer>(pending_, std::move(buffer), true);
  }
  void Close(size_t peer) override { PairTo(peer).close(); }
  void Abort() override {
    std::lock_guard<std::mutex> lock(pending_->mutex);
    pending_->aborted = true;
    for (Unbound* buffer : pending_->receiving) GlooTransfer::Abort(buffer, true);
    for (Unbound* buffer : pending_->sending) GlooTransfer::Abort(buffer, false);
  }

 private:
  gloo::transport::Pair& PairTo(size_t peer) const { return *context_->getPair(static_cast<int>(peer)); }

  const size_t rank_;
  std::vector<bool> connected_;
  /** The numbers of messages so far, to and from each peer. */
  std::vector<uint64_t> sent_;
  std::vector<uint64_t> received_;
  std::shared_ptr<PendingBuffers> pending_ = std::make_shared<PendingBuffers>();
  std::shared_ptr<gloo::transport::Device> device_;
  std::shared_ptr<gloo::transport::Context> context_;
};

}  // namespace

std::shared_ptr<RemoteTransport> MakeRemoteTransport(size_t rank, size_t ranks, const std::string& address) {
  return std::make_shared<GlooTransport>(rank, ranks, address);
}
#else
std::shared_ptr<RemoteTransport> MakeRemoteTransport(size_t, size_t, const std::string&) {
  throw std::runtime_error(
      "processes of several machines exchange tensors through Gloo, and the addon was built without Gloo: PyTorch of "
      "PyPI "
      "has no headers of it. Install libtorch and Gloo (on Debian: apt-get install libtorch-dev libgloo-dev), set "
      "VICEROY_LIBTORCH to its folder if there is another libtorch, and run `npx viceroy setup --tensor` again");
}
#endif
