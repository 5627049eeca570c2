#include "lines.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

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

/** How often who sleeps asks whether the others are still there. */
constexpr int kSleepMilliseconds = 100;

}  // namespace

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

void Lines::Exchange(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals) {
  Together(departures, arrivals, [&] { ExchangeAll(departures, arrivals); });
}

void Lines::Fold(const std::vector<Departure>& departures, const std::vector<Arrival>& arrivals, const Consume& consume) {
  Together(departures, arrivals, [&] {
    const auto here = [this](size_t peer) { return peer == rank_ || shared_.has(peer); };
    const bool shared = std::all_of(departures.begin(), departures.end(), [&](const Departure& out) { return here(out.peer); }) &&
                        std::all_of(arrivals.begin(), arrivals.end(), [&](const Arrival& in) { return here(in.peer); });
    if (shared) {
      RunShared(departures, arrivals, &consume);
      return;
    }
    // The network brings whole messages.
    std::vector<std::unique_ptr<uint8_t[]>> memory;
    std::vector<Arrival> whole;
    for (Arrival in : arrivals) {
      memory.emplace_back(in.own == nullptr ? new uint8_t[in.bytes] : nullptr);
      in.into = memory.back().get();
      whole.push_back(in);
    }
    ExchangeAll(departures, whole);
    const size_t bytes = arrivals.empty() ? 0 : arrivals.front().bytes;
    for (size_t at = 0; at < bytes; at += SharedLines::kPiece) {
      for (size_t i = 0; i < whole.size(); i++) {
        const uint8_t* data = whole[i].own != nullptr ? whole[i].own : whole[i].into;
        consume(i, at, data + at, std::min(SharedLines::kPiece, bytes - at));
      }
    }
  });
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
  std::vector<std::pair<size_t, std::unique_ptr<RemoteTransfer>>> far;
  for (const Departure& out : departures) {
    if (shared_.has(out.peer)) {
      near.push_back(out);
    } else if (out.bytes > 0) {
      far.emplace_back(out.peer, remote_->Send(out.peer, out.data, out.bytes));
    }
  }
  for (const Arrival& in : arrivals) {
    if (in.own != nullptr) continue;
    if (shared_.has(in.peer)) {
      come.push_back(in);
    } else if (in.bytes > 0) {
      far.emplace_back(in.peer, remote_->Receive(in.peer, in.into, in.bytes));
    }
  }
  RunShared(near, come, nullptr);
  for (auto& [peer, transfer] : far) {
    try {
      transfer->Wait();
    } catch (const std::exception& error) {
      if (interrupted_) throw;
      throw std::runtime_error("the connection to rank " + std::to_string(peer) + " is lost (" + error.what() + ")");
    }
  }
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
      const auto& [peer, bytes, into, own] = arrivals[i];
      const size_t left = bytes - come[i];
      if (left == 0) continue;
      const size_t behind = consume != nullptr && i > 0 ? come[i - 1] - come[i] : left;
      const size_t most = std::min(behind, SharedLines::kPiece);
      const uint8_t* data = own == nullptr ? nullptr : own + come[i];
      const size_t piece = own != nullptr ? std::min(most, left) : shared_.Peek(peer, left, most, data);
      done = false;
      if (piece == 0) continue;
      if (consume != nullptr) {
        (*consume)(i, come[i], data, piece);
      } else {
        std::memcpy(into + come[i], data, piece);
      }
      if (own == nullptr) shared_.Take(peer, piece, left);
      come[i] += piece;
      moved = true;
    }
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
    if (come[i] < arrivals[i].bytes && arrivals[i].own == nullptr) why = shared_.WhyGone(arrivals[i].peer);
  }
  return why;
}
