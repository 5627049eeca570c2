#include "collectives/communicator.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include "collectives/spin_wait.h"
#include "libtorch/torch.h"

namespace {

/** The size in bytes of the chunks of a remote message, which is reduced while later chunks arrive. */
constexpr size_t kChunk = 4 << 20;
static_assert(kChunk % SharedMemoryTransport::kPiece == 0);

/** The interval at which a sleeping thread checks whether its peers are alive. */
constexpr int kPeerCheckMilliseconds = 100;

/** The interval at which a thread polls an operation that cannot wake it. */
constexpr auto kPollInterval = std::chrono::microseconds(200);

}  // namespace

/** Waits for messages from other machines in its own thread. */
class RemoteWaiter {
 public:
  RemoteWaiter(std::vector<std::pair<size_t, std::unique_ptr<RemoteTransfer>>> transfers,
               const std::function<void(const decltype(transfers)&)>& wait)
      : transfers_(std::move(transfers)) {
    if (transfers_.empty()) return;
    thread_ = std::thread([this, wait] {
      try {
        wait(transfers_);
      } catch (const std::exception&) {
        error_ = std::current_exception();
        failed_ = true;
      }
    });
  }
  ~RemoteWaiter() {
    if (!thread_.joinable()) return;
    for (const auto& [peer, transfer] : transfers_) transfer->Abort();
    thread_.join();
  }
  RemoteWaiter(const RemoteWaiter&) = delete;
  RemoteWaiter& operator=(const RemoteWaiter&) = delete;

  /**
   * Does not block.
   * @throws the exception of a message that has failed
   */
  void Check() const {
    if (failed_) std::rethrow_exception(error_);
  }
  /**
   * Blocks until all messages have arrived.
   * @throws std::exception
   */
  void Finish() {
    if (thread_.joinable()) thread_.join();
    Check();
  }

 private:
  std::vector<std::pair<size_t, std::unique_ptr<RemoteTransfer>>> transfers_;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};
  std::thread thread_;
};

std::vector<std::string> Communicator::Listen(const std::string& address) {
  remote_ = MakeRemoteTransport(rank_, ranks(), address);
  return remote_->addresses();
}

void Communicator::ConnectRemote(size_t peer, const std::string& address) {
  if (!remote_) throw std::runtime_error("this process does not listen for other machines");
  remote_->Connect(peer, address);
}

void Communicator::Interrupt() {
  interrupted_ = true;
  shared_.Leave();
  if (remote_) remote_->Abort();
}

bool Communicator::AllShareMemory(const std::vector<size_t>& peers) const {
  return std::all_of(peers.begin(), peers.end(),
                     [this](size_t peer) { return peer == rank_ || shared_.IsConnected(peer); });
}

void Communicator::Exchange(const std::vector<Send>& sends, const std::vector<Receive>& receives) {
  RunExchange(sends, receives, [&] { ExchangeMixed(sends, receives); });
}

void Communicator::ExchangeInPieces(const std::vector<Send>& sends, const std::vector<Receive>& receives,
                                    const Consume& consume) {
  RunExchange(sends, receives, [&] {
    std::vector<size_t> peers;
    for (const Send& out : sends) peers.push_back(out.peer);
    for (const Receive& in : receives) peers.push_back(in.peer);
    if (AllShareMemory(peers)) {
      ExchangeShared(sends, receives, &consume);
    } else {
      ExchangeInPiecesMixed(sends, receives, consume);
    }
  });
}

void Communicator::RunMonitored(const std::vector<size_t>& members, const std::function<void(const Wait& wait)>& move) {
  const uint8_t done = 1;
  std::vector<uint8_t> others(members.size());
  std::vector<Send> sends;
  std::vector<Receive> receives;
  for (size_t i = 0; i < members.size(); i++) {
    if (members[i] == rank_) continue;
    sends.push_back({members[i], &done, sizeof done});
    receives.push_back({members[i], &others[i], sizeof done});
  }
  RunExchange(sends, receives, [&] { MonitorPeers(sends, receives, move); });
}

void Communicator::MonitorPeers(const std::vector<Send>& sends, const std::vector<Receive>& receives,
                                const std::function<void(const Wait& wait)>& move) {
  std::vector<Send> shared_sends;
  std::vector<Receive> shared_receives;
  std::vector<PendingMessage> receiving;
  for (const Receive& in : receives) {
    if (shared_.IsConnected(in.peer)) {
      shared_receives.push_back(in);
    } else {
      receiving.emplace_back(in.peer, remote_->Receive(in.peer, in.into, in.bytes));
    }
  }
  // The loss of another machine is detected only by a pending message from it.
  RemoteWaiter remote(std::move(receiving),
                      [this](const std::vector<PendingMessage>& transfers) { WaitFor(transfers); });
  move([&](const std::function<bool()>& done) { WaitMonitored(shared_receives, remote, done); });
  std::vector<PendingMessage> sending;
  for (const Send& out : sends) {
    if (shared_.IsConnected(out.peer)) {
      shared_sends.push_back(out);
    } else {
      sending.emplace_back(out.peer, remote_->Send(out.peer, out.data, out.bytes));
    }
  }
  ExchangeShared(shared_sends, shared_receives, nullptr);
  WaitFor(sending);
  remote.Finish();
}

void Communicator::WaitMonitored(const std::vector<Receive>& receives, const RemoteWaiter& remote,
                                 const std::function<bool()>& done) const {
  SpinWait spin(ranks());
  auto checked = std::chrono::steady_clock::now();
  while (!done()) {
    if (interrupted_) throw std::runtime_error("the mesh is not active any more");
    if (spin.ShouldSpin()) continue;
    std::this_thread::sleep_for(kPollInterval);
    if (std::chrono::steady_clock::now() - checked < std::chrono::milliseconds(kPeerCheckMilliseconds)) continue;
    checked = std::chrono::steady_clock::now();
    remote.Check();
    for (const Receive& in : receives) {
      const std::string why = shared_.LossReason(in.peer);
      if (!why.empty()) throw std::runtime_error(why);
    }
  }
}

void Communicator::ExchangeInPiecesMixed(const std::vector<Send>& sends, const std::vector<Receive>& receives,
                                         const Consume& consume) {
  const size_t bytes = receives.empty() ? 0 : receives.front().bytes;
  // Memory from the allocator of tensors, which is reused. Faults of new pages would take longer than the reduction.
  std::vector<c10::DataPtr> memory;
  std::vector<Receive> whole;
  for (Receive in : receives) {
    memory.push_back(c10::GetAllocator(c10::DeviceType::CPU)->allocate(bytes));
    in.into = static_cast<uint8_t*>(memory.back().get());
    whole.push_back(in);
  }
  std::vector<Send> shared_sends;
  std::vector<Receive> shared_receives;
  // Senders and receivers derive the same number of chunks from the size of the message.
  std::vector<PendingMessage> sending;
  std::vector<std::vector<PendingMessage>> receiving((bytes + kChunk - 1) / kChunk);
  for (const Send& out : sends) {
    if (shared_.IsConnected(out.peer)) {
      shared_sends.push_back(out);
      continue;
    }
    for (size_t at = 0; at < out.bytes; at += kChunk) {
      sending.emplace_back(out.peer, remote_->Send(out.peer, out.data + at, std::min(kChunk, out.bytes - at)));
    }
  }
  for (const Receive& in : whole) {
    if (shared_.IsConnected(in.peer)) {
      shared_receives.push_back(in);
      continue;
    }
    for (size_t at = 0; at < bytes; at += kChunk) {
      receiving[at / kChunk].emplace_back(in.peer,
                                          remote_->Receive(in.peer, in.into + at, std::min(kChunk, bytes - at)));
    }
  }
  ExchangeShared(shared_sends, shared_receives, nullptr);
  for (size_t at = 0; at < bytes; at += SharedMemoryTransport::kPiece) {
    if (at % kChunk == 0) WaitFor(receiving[at / kChunk]);
    for (size_t i = 0; i < whole.size(); i++) {
      consume(i, at, whole[i].into + at, std::min(SharedMemoryTransport::kPiece, bytes - at));
    }
  }
  WaitFor(sending);
}

void Communicator::WaitFor(const std::vector<PendingMessage>& transfers) const {
  for (const auto& [peer, transfer] : transfers) {
    try {
      transfer->Wait();
    } catch (const std::exception& error) {
      if (interrupted_) throw;
      throw std::runtime_error("the connection to rank " + std::to_string(peer) + " is lost (" + error.what() + ")");
    }
  }
}

void Communicator::RunExchange(const std::vector<Send>& sends, const std::vector<Receive>& receives,
                               const std::function<void()>& run) {
  const auto each = [&](const std::function<void(size_t)>& call) {
    for (const Send& out : sends) call(out.peer);
    for (const Receive& in : receives) call(in.peer);
  };
  try {
    each([this](size_t peer) { CheckConnected(peer); });
    run();
  } catch (const std::exception& error) {
    const std::string why = error.what();
    each([&](size_t peer) { Disconnect(peer, why); });
    throw std::runtime_error(why);
  }
}

void Communicator::CheckConnected(size_t peer) const {
  if (interrupted_) throw std::runtime_error("the mesh is not active any more");
  if (peer == rank_) return;
  if (!failures_.at(peer).empty()) throw std::runtime_error(failures_[peer]);
  if (!shared_.IsConnected(peer) && !(remote_ && remote_->IsConnected(peer))) {
    throw std::runtime_error("this process is not connected to rank " + std::to_string(peer));
  }
}

void Communicator::Disconnect(size_t peer, const std::string& why) {
  if (peer == rank_ || !failures_.at(peer).empty()) return;
  failures_[peer] = why;
  if (shared_.IsConnected(peer)) {
    shared_.Close(peer);
  } else if (remote_ && remote_->IsConnected(peer)) {
    remote_->Close(peer);
  }
}

void Communicator::ExchangeMixed(const std::vector<Send>& sends, const std::vector<Receive>& receives) {
  std::vector<Send> shared_sends;
  std::vector<Receive> shared_receives;
  std::vector<PendingMessage> remote;
  for (const Send& out : sends) {
    if (shared_.IsConnected(out.peer)) {
      shared_sends.push_back(out);
    } else if (out.bytes > 0) {
      remote.emplace_back(out.peer, remote_->Send(out.peer, out.data, out.bytes));
    }
  }
  for (const Receive& in : receives) {
    if (shared_.IsConnected(in.peer)) {
      shared_receives.push_back(in);
    } else if (in.bytes > 0) {
      remote.emplace_back(in.peer, remote_->Receive(in.peer, in.into, in.bytes));
    }
  }
  ExchangeShared(shared_sends, shared_receives, nullptr);
  WaitFor(remote);
}

void Communicator::ExchangeShared(const std::vector<Send>& sends, const std::vector<Receive>& receives,
                                  const Consume* consume) {
  std::vector<size_t> sent(sends.size());
  std::vector<size_t> received(receives.size());
  SpinWait spin(ranks());
  bool gone = false;
  while (true) {
    const uint32_t event_count = shared_.event_count();
    bool moved = false;
    bool done = true;
    for (size_t i = 0; i < sends.size(); i++) {
      const auto& [peer, data, bytes] = sends[i];
      if (sent[i] == bytes) continue;
      const size_t piece = shared_.TryWrite(peer, data + sent[i], bytes - sent[i]);
      sent[i] += piece;
      moved |= piece > 0;
      done &= sent[i] == bytes;
    }
    for (size_t i = 0; i < receives.size(); i++) {
      const auto& [peer, into, bytes] = receives[i];
      const size_t left = bytes - received[i];
      if (left == 0) continue;
      const size_t behind = consume != nullptr && i > 0 ? received[i - 1] - received[i] : left;
      const size_t most = std::min(behind, SharedMemoryTransport::kPiece);
      const uint8_t* data = nullptr;
      const size_t piece = shared_.Peek(peer, left, most, data);
      done = false;
      if (piece == 0) continue;
      if (consume != nullptr) {
        (*consume)(i, received[i], data, piece);
      } else {
        std::memcpy(into + received[i], data, piece);
      }
      shared_.Release(peer, piece, left);
      received[i] += piece;
      moved = true;
    }
    if (done || !moved) shared_.NotifyPeers();
    if (done) return;
    if (interrupted_) throw std::runtime_error("the mesh is not active any more");
    if (moved) {
      spin.Reset();
      continue;
    }
    if (spin.ShouldSpin()) continue;
    const std::string why = StallReason(sends, sent, receives, received);
    // A peer that has gone may have sent data before. The loop therefore checks its ring once more before it reports
    // the loss.
    if (!why.empty() && gone) throw std::runtime_error(why);
    gone = !why.empty();
    if (!gone) shared_.Sleep(event_count, kPeerCheckMilliseconds);
  }
}

std::string Communicator::StallReason(const std::vector<Send>& sends, const std::vector<size_t>& sent,
                                      const std::vector<Receive>& receives, const std::vector<size_t>& received) const {
  std::string why;
  for (size_t i = 0; i < sends.size() && why.empty(); i++) {
    if (sent[i] < sends[i].bytes) why = shared_.LossReason(sends[i].peer);
  }
  for (size_t i = 0; i < receives.size() && why.empty(); i++) {
    if (received[i] < receives[i].bytes) why = shared_.LossReason(receives[i].peer);
  }
  return why;
}
