/**
 * A tensor whose elements are on the workers of a mesh. In this process it has a shape, strides, a dtype and a
 * reference. libtorch treats it as a tensor of a PrivateUse1 device, so that autograd works as for other tensors.
 */
#pragma once
#include <memory>

#include "libtorch/torch.h"

class Recorder;

/** The number of a tensor of a mesh. The tensor is dropped with the last object that refers to it. */
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

class RecordedTensor final : public c10::TensorImpl {
 public:
  /** @param shape a tensor of device Meta with the same shape and type */
  RecordedTensor(c10::Storage storage, at::Tensor shape, std::shared_ptr<Reference> reference);

  const at::Tensor& shape() const { return shape_; }
  uint64_t reference() const { return reference_->number(); }
  const std::shared_ptr<Recorder>& recorder() const { return reference_->recorder(); }
  /** Returns the number of objects in this process that are the tensor with this number. */
  long uses() const { return reference_.use_count(); }
  /** Updates sizes and strides after an operation has changed `shape` in place. */
  void Reshape();
  /** Changes with each change of sizes or strides. */
  uint64_t shapeVersion() const { return shape_version_; }

  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(const c10::VariableVersion& version,
                                                         bool allow) const override;
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(c10::VariableVersion&& version, bool allow) const override;
  const char* tensorimpl_type_name() const override { return "Recorded"; }

 private:
  template <class Version>
  c10::intrusive_ptr<TensorImpl> Copy(Version&& version, bool allow) const;

  at::Tensor shape_;
  std::shared_ptr<Reference> reference_;
  uint64_t shape_version_ = 0;
};

/** Returns null for a tensor that is not recorded. */
RecordedTensor* RecordedOf(const at::Tensor& tensor);
/** Returns the device of recorded tensors. */
c10::Device RecordedDevice();
/** @param storage the storage of the tensor that the new tensor is a view of, or an empty storage */
at::Tensor NewRecorded(const std::shared_ptr<Recorder>& recorder, at::Tensor shape, c10::Storage storage,
                       uint64_t number);

/**
 * Calls a function for each defined tensor in a value. Makes no copies, because it runs for every argument of every
 * operation.
 */
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
