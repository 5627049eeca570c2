/**
 * A tensor whose elements are on the processes of a mesh: here it has shape, strides, dtype and a number, its reference. libtorch
 * takes it for a tensor of a device of its own (PrivateUse1), so autograd works on it as on any other.
 */
#pragma once
#include <memory>

#include "torch.h"

class Recorder;

/** A reference, which ends with the last tensor that stands for it. */
class Reference {
 public:
  Reference(std::shared_ptr<Recorder> recorder, uint64_t number) : recorder_(std::move(recorder)), number_(number) {}
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  ~Reference();

  const std::shared_ptr<Recorder>& recorder() const { return recorder_; }
  uint64_t number() const { return number_; }

 private:
  std::shared_ptr<Recorder> recorder_;
  uint64_t number_;
};

class Recorded final : public c10::TensorImpl {
 public:
  /** @param shape a tensor of device Meta: the same without elements */
  Recorded(c10::Storage storage, at::Tensor shape, std::shared_ptr<Reference> reference);

  const at::Tensor& shape() const { return shape_; }
  uint64_t reference() const { return reference_->number(); }
  const std::shared_ptr<Recorder>& recorder() const { return reference_->recorder(); }
  /** Takes sizes and strides over from `shape`, which an operation has changed in place. */
  void Reshape();

  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(const c10::VariableVersion& version, bool allow) const override;
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(c10::VariableVersion&& version, bool allow) const override;
  const char* tensorimpl_type_name() const override { return "Recorded"; }

 private:
  template <class Version>
  c10::intrusive_ptr<TensorImpl> Copy(Version&& version, bool allow) const;

  at::Tensor shape_;
  std::shared_ptr<Reference> reference_;
};

/** Null for a tensor that is not recorded. */
Recorded* RecordedOf(const at::Tensor& tensor);
/** Where recorded tensors say that they are. */
c10::Device RecordedDevice();
/** A new one. @param storage of the tensor that it is a view of; empty for one with memory of its own */
at::Tensor NewRecorded(const std::shared_ptr<Recorder>& recorder, at::Tensor shape, c10::Storage storage, uint64_t number);

/** Those that are defined. Asked of every argument of every operation: nothing is made for it. */
template <class Call>
void ForEachTensor(const c10::IValue& value, const Call& call) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) call(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) call(tensor);
  } else if (value.isOptionalTensorList()) {
    for (const auto& tensor : value.toOptionalTensorVector()) {
      if (tensor && tensor->defined()) call(*tensor);
    }
  }
}
