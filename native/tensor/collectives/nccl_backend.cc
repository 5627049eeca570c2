/** Transfers elements from device to device through NCCL (nccl_communicators.h). */
#include "collectives/backend.h"
#include "collectives/nccl_communicators.h"

namespace {

class NcclBackend final : public CollectiveBackend {
 public:
  NcclBackend(const CollectiveAgreement& agreement, const at::Tensor& in, const at::Tensor& out)
      : agreement_(agreement),
        group_(agreement.group()),
        nccl_(*agreement.nccl()),
        plan_(nccl_.Prepare(group_)),
        type_(NcclType(in.scalar_type(), nccl_.library().version())),
        in_(in),
        out_(out) {}

  void AllReduce(Reduction reduction) override {
    Run("ncclAllReduce", [&](const NcclLibrary& library, NcclCommunicator communicator, NcclStream stream) {
      return library.allReduce(in(), out(), Count(in_), type_, NcclOperation(reduction), communicator, stream);
    });
    Divide(reduction);
  }

  void AllGather() override {
    Run("ncclAllGather", [&](const NcclLibrary& library, NcclCommunicator communicator, NcclStream stream) {
      return library.allGather(in(), out(), in_.nbytes(), kNcclByte, communicator, stream);
    });
  }

  void ReduceScatter(Reduction reduction) override {
    Run("ncclReduceScatter", [&](const NcclLibrary& library, NcclCommunicator communicator, NcclStream stream) {
      return library.reduceScatter(in(), out(), Count(out_), type_, NcclOperation(reduction), communicator, stream);
    });
    Divide(reduction);
  }

  void AllToAll() override {
    const size_t part = in_.nbytes() / group_.size();
    std::vector<Message> messages;
    for (size_t i = 0; i < group_.size(); i++) messages.push_back({i, in() + i * part, out() + i * part});
    Send(messages, part);
  }

  void Broadcast(size_t from) override {
    Run("ncclBroadcast", [&](const NcclLibrary& library, NcclCommunicator communicator, NcclStream stream) {
      return library.broadcast(in(), out(), in_.nbytes(), kNcclByte, static_cast<int>(from), communicator, stream);
    });
  }

  void ReduceTo(size_t to) override {
    Run("ncclReduce", [&](const NcclLibrary& library, NcclCommunicator communicator, NcclStream stream) {
      return library.reduce(in(), out(), Count(in_), type_, NcclOperation(Reduction::sum), static_cast<int>(to),
                            communicator, stream);
    });
  }

  void Permute(at::IntArrayRef to) override {
    std::vector<Message> messages;
    for (size_t i = 0; i < group_.size(); i++) {
      const bool receives = to[i] == static_cast<int64_t>(group_.index);
      const bool sends = to[group_.index] == static_cast<int64_t>(i);
      messages.push_back({i, sends ? in() : nullptr, receives ? out() : nullptr});
    }
    Send(messages, in_.nbytes());
  }

 private:
  /**
   * Messages to and from one process, which may be this one. A null pointer means that there is no message in that
   * direction.
   */
  struct Message {
    size_t peer;
    const uint8_t* from;
    uint8_t* into;
  };

  const uint8_t* in() const { return static_cast<const uint8_t*>(in_.data_ptr()); }
  uint8_t* out() const { return static_cast<uint8_t*>(out_.data_ptr()); }
  static size_t Count(const at::Tensor& tensor) { return static_cast<size_t>(tensor.numel()); }

  void Run(const char* name, const NcclCommunicators::Enqueue& enqueue) {
    // All processes of a group have tensors of the same shape, so all of them skip an empty tensor.
    if (in_.nbytes() > 0) nccl_.Run(agreement_, plan_, name, enqueue);
  }

  /**
   * Divides a sum to get an average, as the communicator does. NCCL has averages only in later versions, and not for
   * integers.
   */
  void Divide(Reduction reduction) {
    if (reduction == Reduction::avg) out_.div_(static_cast<double>(group_.size()));
  }

  void Send(const std::vector<Message>& messages, size_t bytes) {
    Run("ncclSend and ncclRecv", [&](const NcclLibrary& library, NcclCommunicator communicator, NcclStream stream) {
      int result = library.groupStart();
      if (result != kNcclSuccess) return result;
      const auto fits = [&result] { return result == kNcclSuccess || result == kNcclInProgress; };
      for (const auto& [peer, from, into] : messages) {
        if (from != nullptr && fits())
          result = library.send(from, bytes, kNcclByte, static_cast<int>(peer), communicator, stream);
        if (into != nullptr && fits())
          result = library.receive(into, bytes, kNcclByte, static_cast<int>(peer), communicator, stream);
      }
      // A group that has been started must be ended, also after an error.
      const int ended = library.groupEnd();
      return fits() ? ended : result;
    });
  }

  const CollectiveAgreement& agreement_;
  const Group& group_;
  NcclCommunicators& nccl_;
  const NcclCommunicators::Plan plan_;
  const int type_;
  const at::Tensor in_;
  at::Tensor out_;
};

}  // namespace

std::unique_ptr<CollectiveBackend> MakeNcclBackend(const CollectiveAgreement& agreement, const at::Tensor& in,
                                                   const at::Tensor& out) {
  return std::make_unique<NcclBackend>(agreement, in, out);
}

std::unique_ptr<CollectiveBackend> ChooseBackend(const CollectiveAgreement& agreement, const at::Tensor& in,
                                                 const at::Tensor& out, bool combined) {
  const NcclCommunicators* nccl = agreement.nccl();
  // All processes make the same choice: they agree on NCCL when they connect, and on the types when an operation
  // begins.
  const bool can = nccl != nullptr && (!combined || NcclType(in.scalar_type(), nccl->library().version()) >= 0);
  return can ? MakeNcclBackend(agreement, in, out) : MakeCommunicatorBackend(agreement, in, out);
}
