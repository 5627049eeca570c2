/**
 * Transfers elements through the communicator, which accesses CPU memory only. Elements on other devices are copied to
 * CPU memory and back.
 */
#include <cstring>

#include "collectives/backend.h"
#include "collectives/partition.h"

namespace {

/** The number of bytes per process that are reduced at a time. */
constexpr size_t kBlock = 512 << 10;

/** The pointers of tensors without elements may be null, which memcpy does not allow. */
void CopyBytes(uint8_t* to, const uint8_t* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

at::Tensor OnCpu(const at::Tensor& tensor) {
  return tensor.device().is_cpu() ? tensor : tensor.to(at::kCPU);
}

class CommunicatorBackend final : public CollectiveBackend {
 public:
  CommunicatorBackend(const CollectiveAgreement& agreement, const at::Tensor& in, const at::Tensor& out)
      : agreement_(agreement), group_(agreement.group()), device_out_(out), in_(OnCpu(in)), out_(OnCpu(out)) {}

  void AllReduce(Reduction reduction) override {
    // Within a machine, small blocks are used so that the reduced elements are still in the CPU's caches when they are
    // sent. For the network, all elements form one block.
    const bool shares = agreement_.communicator().AllShareMemory(group_.members);
    const size_t block = shares ? kBlock * group_.size() : std::max<size_t>(in_.nbytes(), 1);
    for (size_t at = 0; at < in_.nbytes(); at += block) {
      const Partition partition = Partition::Aligned(std::min(block, in_.nbytes() - at), group_.size());
      ReduceScatterParts(agreement_, reduction, in_.scalar_type(), in() + at, partition,
                         out() + at + partition.Begin(group_.index));
      AllGatherParts(agreement_, partition, out() + at);
    }
    CopyToDevice();
  }

  void AllGather() override {
    const Partition partition = Partition::Equal(out_.nbytes(), group_.size());
    CopyBytes(out() + partition.Begin(group_.index), in(), in_.nbytes());
    AllGatherParts(agreement_, partition, out());
    CopyToDevice();
  }

  void ReduceScatter(Reduction reduction) override {
    ReduceScatterParts(agreement_, reduction, in_.scalar_type(), in(), Partition::Equal(in_.nbytes(), group_.size()),
                       out());
    CopyToDevice();
  }

  void AllToAll() override {
    const Partition partition = Partition::Equal(in_.nbytes(), group_.size());
    CopyBytes(out() + partition.Begin(group_.index), in() + partition.Begin(group_.index),
              partition.Length(group_.index));
    std::vector<Send> sends;
    std::vector<Receive> receives;
    for (size_t i = 0; i < group_.size(); i++) {
      if (i == group_.index) continue;
      sends.push_back({group_.members[i], in() + partition.Begin(i), partition.Length(i)});
      receives.push_back({group_.members[i], out() + partition.Begin(i), partition.Length(i)});
    }
    agreement_.communicator().Exchange(sends, receives);
    CopyToDevice();
  }

  void Broadcast(size_t from) override {
    std::vector<Send> sends;
    std::vector<Receive> receives;
    if (group_.index != from) {
      receives.push_back({group_.members[from], out(), out_.nbytes()});
    } else {
      for (size_t i = 0; i < group_.size(); i++) {
        if (i != from) sends.push_back({group_.members[i], in(), in_.nbytes()});
      }
    }
    agreement_.communicator().Exchange(sends, receives);
    if (group_.index == from) out_.copy_(in_);
    CopyToDevice();
  }

  void ReduceTo(size_t to) override {
    // One partition contains all elements, and the others are empty.
    if (group_.index != to) return agreement_.communicator().Exchange({{group_.members[to], in(), in_.nbytes()}}, {});
    ReduceFromPeers(agreement_, {}, Reduction::sum, in_.scalar_type(), in(), in_.nbytes(), out());
    CopyToDevice();
  }

  void Permute(at::IntArrayRef to) override {
    std::vector<Send> sends;
    std::vector<Receive> receives;
    const auto own = static_cast<int64_t>(group_.index);
    for (size_t i = 0; i < group_.size(); i++) {
      const auto other = static_cast<int64_t>(i);
      if (to[i] == own && other == own) out_.copy_(in_);
      if (to[i] == own && other != own) receives.push_back({group_.members[i], out(), out_.nbytes()});
      if (to[group_.index] == other && other != own) sends.push_back({group_.members[i], in(), in_.nbytes()});
    }
    agreement_.communicator().Exchange(sends, receives);
    CopyToDevice();
  }

 private:
  const uint8_t* in() const { return static_cast<const uint8_t*>(in_.data_ptr()); }
  uint8_t* out() const { return static_cast<uint8_t*>(out_.data_ptr()); }
  void CopyToDevice() {
    if (!device_out_.device().is_cpu()) device_out_.copy_(out_);
  }

  const CollectiveAgreement& agreement_;
  const Group& group_;
  at::Tensor device_out_;
  const at::Tensor in_;
  at::Tensor out_;
};

}  // namespace

std::unique_ptr<CollectiveBackend> MakeCommunicatorBackend(const CollectiveAgreement& agreement, const at::Tensor& in,
                                                           const at::Tensor& out) {
  return std::make_unique<CommunicatorBackend>(agreement, in, out);
}
