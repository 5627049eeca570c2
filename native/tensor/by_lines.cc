/** Elements by the lines between processes (lines.h), which reach memory of processors: those of other devices are copied there, and back. */
#include <cstring>

#include "carrier.h"
#include "moving.h"

namespace {

/** What each process of a group combines at a time. */
constexpr size_t kBlock = 512 << 10;

/** Of no bytes, neither is asked where it is: tensors without elements are nowhere. */
void CopyBytes(uint8_t* to, const uint8_t* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

at::Tensor OnProcessors(const at::Tensor& tensor) {
  return tensor.device().is_cpu() ? tensor : tensor.to(at::kCPU);
}

class ByLines final : public Carrier {
 public:
  ByLines(const Together& together, const at::Tensor& in, const at::Tensor& out)
      : together_(together), group_(together.group()), home_(out), in_(OnProcessors(in)), out_(OnProcessors(out)) {}

  void AllReduce(Reduction reduction) override {
    // Within a machine what has been combined is passed on while the processor's caches have it; the network is given all at once.
    const bool shares = together_.lines().shares(group_.members);
    const size_t block = shares ? kBlock * group_.size() : std::max<size_t>(in_.nbytes(), 1);
    for (size_t at = 0; at < in_.nbytes(); at += block) {
      const Parts parts = Parts::Aligned(std::min(block, in_.nbytes() - at), group_.size());
      CombineParts(together_, reduction, in_.scalar_type(), in() + at, parts, out() + at + parts.Begin(group_.index));
      SpreadParts(together_, parts, out() + at);
    }
    Home();
  }

  void AllGather() override {
    const Parts parts = Parts::Equal(out_.nbytes(), group_.size());
    CopyBytes(out() + parts.Begin(group_.index), in(), in_.nbytes());
    SpreadParts(together_, parts, out());
    Home();
  }

  void ReduceScatter(Reduction reduction) override {
    CombineParts(together_, reduction, in_.scalar_type(), in(), Parts::Equal(in_.nbytes(), group_.size()), out());
    Home();
  }

  void AllToAll() override {
    const Parts parts = Parts::Equal(in_.nbytes(), group_.size());
    CopyBytes(out() + parts.Begin(group_.index), in() + parts.Begin(group_.index), parts.Length(group_.index));
    std::vector<Departure> departures;
    std::vector<Arrival> arrivals;
    for (size_t i = 0; i < group_.size(); i++) {
      if (i == group_.index) continue;
      departures.push_back({group_.members[i], in() + parts.Begin(i), parts.Length(i)});
      arrivals.push_back({group_.members[i], out() + parts.Begin(i), parts.Length(i)});
    }
    together_.lines().Exchange(departures, arrivals);
    Home();
  }

  void Broadcast(size_t from) override {
    std::vector<Departure> departures;
    std::vector<Arrival> arrivals;
    if (group_.index != from) {
      arrivals.push_back({group_.members[from], out(), out_.nbytes()});
    } else {
      for (size_t i = 0; i < group_.size(); i++) {
        if (i != from) departures.push_back({group_.members[i], in(), in_.nbytes()});
      }
    }
    together_.lines().Exchange(departures, arrivals);
    if (group_.index == from) out_.copy_(in_);
    Home();
  }

  void ReduceTo(size_t to) override {
    // One part has everything, others nothing.
    if (group_.index != to) return together_.lines().Exchange({{group_.members[to], in(), in_.nbytes()}}, {});
    Combined(together_, {}, Reduction::sum, in_.scalar_type(), in(), in_.nbytes(), out());
    Home();
  }

  void Permute(at::IntArrayRef to) override {
    std::vector<Departure> departures;
    std::vector<Arrival> arrivals;
    const auto own = static_cast<int64_t>(group_.index);
    for (size_t i = 0; i < group_.size(); i++) {
      const auto other = static_cast<int64_t>(i);
      if (to[i] == own && other == own) out_.copy_(in_);
      if (to[i] == own && other != own) arrivals.push_back({group_.members[i], out(), out_.nbytes()});
      if (to[group_.index] == other && other != own) departures.push_back({group_.members[i], in(), in_.nbytes()});
    }
    together_.lines().Exchange(departures, arrivals);
    Home();
  }

 private:
  const uint8_t* in() const { return static_cast<const uint8_t*>(in_.data_ptr()); }
  uint8_t* out() const { return static_cast<uint8_t*>(out_.data_ptr()); }
  void Home() {
    if (!home_.device().is_cpu()) home_.copy_(out_);
  }

  const Together& together_;
  const Group& group_;
  at::Tensor home_;
  const at::Tensor in_;
  at::Tensor out_;
};

}  // namespace

std::unique_ptr<Carrier> CarryByLines(const Together& together, const at::Tensor& in, const at::Tensor& out) {
  return std::make_unique<ByLines>(together, in, out);
}
