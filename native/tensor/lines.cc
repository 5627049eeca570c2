#include "lines.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include "torch.h"

namespace {

/** To be woken takes longer than most messages: a process looks for a short time before it sleeps, where it has a processor to do so. */
class Patience {
 public:
  explicit Patience(size_t processes) : looks_(processes <= std::thread::hardware_concurrency()) {}
  void Reset() { since_ = {}; }
  /** @returns whether to look again at once */
  bool Look() {
    if (!looks_) return false;
    const auto now = std::chrono::steady_clock::now();
    if (since_ == std::chrono::steady_clock::time_point()) since_ = now;
    return now - since_ < std::chrono::microseconds(50);
  }

 private:
  const bool looks_;
  std::chrono::steady_clock::time_point since_;
};

/** Of a message that is combined while the rest of it comes. */
constexpr size_t kChunk = 4 << 20;
static_assert(kChunk % SharedLines::kPiece == 0);

/** How often who sleeps asks whether the others are still there. */
constexpr int kSleepMilliseconds = 100;

/** The same of who cannot sleep, since nobody would wake it: at most so long between two questions whether something is done. */
constexpr auto kNap = std::chrono::microseconds(200);

}  // namespace

/** Waits for messages of other machines, in a thread of its own. */
class Listening {
 public:
  Listening(std::vector<std::pair<size_t, std::unique_ptr<RemoteTransfer>>> transfers, const std::function<void(const decltype(transfers)&)>& wait)
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
  ~Listening() {
    if (!thread_.joinable()) return;
    for (const auto& [peer, transfer] : transfers_) transfer->Abort();
    thread_.join();
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  /** Does not wait. @throws what waiting for one of them has thrown */
  void Check() const {
    if (failed_) std::rethrow_exception(error_);
  }
  /** Until all have come. @throws std::exception */
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

std::vector<std::string> Lines::Listen(const std::string& address) {
  remote_ = MakeRemoteLines(rank_, ranks(), address);
  return remote_->addresses();
}

void Lines::Connect(size_t peer, const std::string& address) {
  if (!remote_) throw std::runtime_error("nobody listens for other machines");
  remote_->Connect(peer, address);
}

void Lines::Interrupt() {
  interrupted_ = true;
  shared_.Leave();
  if (remote_) remote_->Abort();
}

bool Lines::shares(const std::vector<size_t>& peers) const {
  return std::all_of(peers.begin(), peers.end(), [this](size_t peer) { return peer == rank_ || shared_.has(peer); });
}

void Lines::Exchange(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals) {
  Together(departures, arrivals, [&] { ExchangeAll(departures, arrivals); });
}

void Lines::Fold(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals, const Consume& consume) {
  Together(departures, arrivals, [&] {
    std::vector<size_t> peers;
    for (const Departure& out : departures) peers.push_back(out.peer);
    for (const Arrival& in : arrivals) peers.push_back(in.peer);
    if (shares(peers)) {
      RunShared(departures, arrivals, &consume);
    } else {
      FoldAll(departures, arrivals, consume);
    }
  });
}

void Lines::Beside(const std::vector<size_t>& members, const std::function<void(const Wait& wait)>& move) {
  const uint8_t done = 1;
  std::vector<uint8_t> others(members.size());
  std::vector<Departure> departures;
  std::vector<Arrival> arrivals;
  for (size_t i = 0; i < members.size(); i++) {
    if (members[i] == rank_) continue;
    departures.push_back({members[i], &done, sizeof done});
    arrivals.push_back({members[i], &others[i], sizeof done});
  }
  Together(departures, arrivals, [&] { MoveBeside(departures, arrivals, move); });
}

void Lines::MoveBeside(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals, const std::function<void(const Wait& wait)>& move) {
  std::vector<Departure> near;
  std::vector<Arrival> come;
  std::vector<Underway> receiving;
  for (const Arrival& in : arrivals) {
    if (shared_.has(in.peer)) {
      come.push_back(in);
    } else {
      receiving.emplace_back(in.peer, remote_->Receive(in.peer, in.into, in.bytes));
    }
  }
  // Nothing tells that another machine is lost but a message that is waited for.
  Listening far(std::move(receiving), [this](const std::vector<Underway>& transfers) { WaitFor(transfers); });
  move([&](const std::function<bool()>& done) { WaitBeside(come, far, done); });
  std::vector<Underway> sending;
  for (const Departure& out : departures) {
    if (shared_.has(out.peer)) {
      near.push_back(out);
    } else {
      sending.emplace_back(out.peer, remote_->Send(out.peer, out.data, out.bytes));
    }
  }
  RunShared(near, come, nullptr);
  WaitFor(sending);
  far.Finish();
}

void Lines::WaitBeside(const std::vector<Arrival>& arrivals, const Listening& far, const std::function<bool()>& done) const {
  Patience patience(ranks());
  auto looked = std::chrono::steady_clock::now();
  while (!done()) {
    if (interrupted_) throw std::runtime_error("the mesh is not active any more");
    if (patience.Look()) continue;
    std::this_thread::sleep_for(kNap);
    if (std::chrono::steady_clock::now() - looked < std::chrono::milliseconds(kSleepMilliseconds)) continue;
    looked = std::chrono::steady_clock::now();
    far.Check();
    for (const Arrival& in : arrivals) {
      const std::string why = shared_.WhyGone(in.peer);
      if (!why.empty()) throw std::runtime_error(why);
    }
  }
}

void Lines::FoldAll(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals, const Consume& consume) {
  const size_t bytes = arrivals.empty() ? 0 : arrivals.front().bytes;
  // Memory of tensors, which is kept for the next ones: fresh pages cost more than what is done here.
  std::vector<c10::DataPtr> memory;
  std::vector<Arrival> whole;
  for (Arrival in : arrivals) {
    memory.push_back(c10::GetAllocator(c10::DeviceType::CPU)->allocate(bytes));
    in.into = static_cast<uint8_t*>(memory.back().get());
    whole.push_back(in);
  }
  std::vector<Departure> near;
  std::vector<Arrival> come;
  // Those that send have the same number of chunks as those that receive: both follow from the length of the message.
  std::vector<Underway> sending;
  std::vector<std::vector<Underway>> receiving((bytes + kChunk - 1) / kChunk);
  for (const Departure& out : departures) {
    if (shared_.has(out.peer)) {
      near.push_back(out);
      continue;
    }
    for (size_t at = 0; at < out.bytes; at += kChunk) {
      sending.emplace_back(out.peer, remote_->Send(out.peer, out.data + at, std::min(kChunk, out.bytes - at)));
    }
  }
  for (const Arrival& in : whole) {
    if (shared_.has(in.peer)) {
      come.push_back(in);
      continue;
    }
    for (size_t at = 0; at < bytes; at += kChunk) {
      receiving[at / kChunk].emplace_back(in.peer, remote_->Receive(in.peer, in.into + at, std::min(kChunk, bytes - at)));
    }
  }
  RunShared(near, come, nullptr);
  for (size_t at = 0; at < bytes; at += SharedLines::kPiece) {
    if (at % kChunk == 0) WaitFor(receiving[at / kChunk]);
    for (size_t i = 0; i < whole.size(); i++) {
      consume(i, at, whole[i].into + at, std::min(SharedLines::kPiece, bytes - at));
    }
  }
  WaitFor(sending);
}

void Lines::WaitFor(const std::vector<Underway>& transfers) const {
  for (const auto& [peer, transfer] : transfers) {
    try {
      transfer->Wait();
    } catch (const std::exception& error) {
      if (interrupted_) throw;
      throw std::runtime_error("the connection to rank " + std::to_string(peer) + " is lost (" + error.what() + ")");
    }
  }
}

void Lines::Together(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals, const std::function<void()>& run) {
  const auto each = [&](const std::function<void(size_t)>& call) {
    for (const Departure& out : departures) call(out.peer);
    for (const Arrival& in : arrivals) call(in.peer);
  };
  try {
    each([this](size_t peer) { CheckOpen(peer); });
    run();
  } catch (const std::exception& error) {
    const std::string why = error.what();
    each([&](size_t peer) { Break(peer, why); });
    throw std::runtime_error(why);
  }
}

void Lines::CheckOpen(size_t peer) const {
  if (interrupted_) throw std::runtime_error("the mesh is not active any more");
  if (peer == rank_) return;
  if (!broken_.at(peer).empty()) throw std::runtime_error(broken_[peer]);
  if (!shared_.has(peer) && !(remote_ && remote_->has(peer))) {
    throw std::runtime_error("there is no line to rank " + std::to_string(peer));
  }
}

void Lines::Break(size_t peer, const std::string& why) {
  if (peer == rank_ || !broken_.at(peer).empty()) return;
  broken_[peer] = why;
  if (shared_.has(peer)) {
    shared_.Close(peer);
  } else if (remote_ && remote_->has(peer)) {
    remote_->Close(peer);
  }
}

void Lines::ExchangeAll(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals) {
  std::vector<Departure> near;
  std::vector<Arrival> come;
  std::vector<Underway> far;
  for (const Departure& out : departures) {
    if (shared_.has(out.peer)) {
      near.push_back(out);
    } else if (out.bytes > 0) {
      far.emplace_back(out.peer, remote_->Send(out.peer, out.data, out.bytes));
    }
  }
  for (const Arrival& in : arrivals) {
    if (shared_.has(in.peer)) {
      come.push_back(in);
    } else if (in.bytes > 0) {
      far.emplace_back(in.peer, remote_->Receive(in.peer, in.into, in.bytes));
    }
  }
  RunShared(near, come, nullptr);
  WaitFor(far);
}

void Lines::RunShared(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals, const Consume* consume) {
  std::vector<size_t> sent(departures.size());
  std::vector<size_t> come(arrivals.size());
  Patience patience(ranks());
  bool gone = false;
  while (true) {
    const uint32_t bell = shared_.bell();
    bool moved = false;
    bool done = true;
    for (size_t i = 0; i < departures.size(); i++) {
      const auto& [peer, data, bytes] = departures[i];
      if (sent[i] == bytes) continue;
      const size_t piece = shared_.Push(peer, data + sent[i], bytes - sent[i]);
      sent[i] += piece;
      moved |= piece > 0;
      done &= sent[i] == bytes;
    }
    for (size_t i = 0; i < arrivals.size(); i++) {
      const auto& [peer, into, bytes] = arrivals[i];
      const size_t left = bytes - come[i];
      if (left == 0) continue;
      const size_t behind = consume != nullptr && i > 0 ? come[i - 1] - come[i] : left;
      const size_t most = std::min(behind, SharedLines::kPiece);
      const uint8_t* data = nullptr;
      const size_t piece = shared_.Peek(peer, left, most, data);
      done = false;
      if (piece == 0) continue;
      if (consume != nullptr) {
        (*consume)(i, come[i], data, piece);
      } else {
        std::memcpy(into + come[i], data, piece);
      }
      shared_.Take(peer, piece, left);
      come[i] += piece;
      moved = true;
    }
    if (done || !moved) shared_.Tell();
    if (done) return;
    if (interrupted_) throw std::runtime_error("the mesh is not active any more");
    if (moved) {
      patience.Reset();
      continue;
    }
    if (patience.Look()) continue;
    const std::string why = WhyStuck(departures, sent, arrivals, come);
    // What it had sent before comes first.
    if (!why.empty() && gone) throw std::runtime_error(why);
    gone = !why.empty();
    if (!gone) shared_.Sleep(bell, kSleepMilliseconds);
  }
}

std::string Lines::WhyStuck(const std::vector<Departure>& departures, const std::vector<size_t>& sent,
                            const std::vector<Arrival>& arrivals, const std::vector<size_t>& come) const {
  std::string why;
  for (size_t i = 0; i < departures.size() && why.empty(); i++) {
    if (sent[i] < departures[i].bytes) why = shared_.WhyGone(departures[i].peer);
  }
  for (size_t i = 0; i < arrivals.size() && why.empty(); i++) {
    if (come[i] < arrivals[i].bytes) why = shared_.WhyGone(arrivals[i].peer);
  }
  return why;
}
