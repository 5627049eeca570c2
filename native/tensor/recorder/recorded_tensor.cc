#include "recorder/recorded_tensor.h"

#include "recorder/recorder.h"

namespace {

constexpr auto kType = c10::DeviceType::PrivateUse1;

}  // namespace

Reference::~Reference() {
  recorder_->Drop(number_);
}

RecordedTensor::RecordedTensor(c10::Storage storage, at::Tensor shape, std::shared_ptr<Reference> reference)
    : TensorImpl(std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), shape.dtype()),
      shape_(std::move(shape)),
      reference_(std::move(reference)) {
  Reshape();
}

void RecordedTensor::Reshape() {
  if (sizes() == shape_.sizes() && strides() == shape_.strides() && storage_offset() == shape_.storage_offset()) return;
  shape_version_++;
  set_sizes_and_strides(shape_.sizes(), shape_.strides());
  set_storage_offset(shape_.storage_offset());
}

/** The copy has the same elements and its own shape, which operations on the original do not change. */
template <class Version>
c10::intrusive_ptr<c10::TensorImpl> RecordedTensor::Copy(Version&& version, bool allow) const {
  at::Tensor shape(shape_.unsafeGetTensorImpl()->shallow_copy_and_detach(c10::VariableVersion(0), true));
  auto copy = c10::make_intrusive<RecordedTensor>(storage_, std::move(shape), reference_);
  copy_tensor_metadata(this, copy.get(), std::forward<Version>(version), allow);
  copy->Reshape();
  return copy;
}

c10::intrusive_ptr<c10::TensorImpl> RecordedTensor::shallow_copy_and_detach(const c10::VariableVersion& version,
                                                                            bool allow) const {
  return Copy(version, allow);
}

c10::intrusive_ptr<c10::TensorImpl> RecordedTensor::shallow_copy_and_detach(c10::VariableVersion&& version,
                                                                            bool allow) const {
  return Copy(std::move(version), allow);
}

RecordedTensor* RecordedOf(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.device().type() != kType) return nullptr;
  return dynamic_cast<RecordedTensor*>(tensor.unsafeGetTensorImpl());
}

c10::Device RecordedDevice() {
  return {kType, 0};
}

at::Tensor NewRecorded(const std::shared_ptr<Recorder>& recorder, at::Tensor shape, c10::Storage storage,
                       uint64_t number) {
  if (!storage) {
    storage = c10::Storage(c10::Storage::use_byte_size_t(), shape.storage().nbytes(),
                           c10::DataPtr(nullptr, RecordedDevice()), nullptr, false);
  }
  auto reference = std::make_shared<Reference>(recorder, number);
  recorder->NoteCreated(reference);
  const bool conjugate = shape.is_conj();
  const bool negative = shape.is_neg();
  at::Tensor made(c10::make_intrusive<RecordedTensor>(std::move(storage), std::move(shape), std::move(reference)));
  // libtorch asks the tensor whether it has a pending conjugation or negation.
  if (conjugate) made._set_conj(true);
  if (negative) made._set_neg(true);
  return made;
}
