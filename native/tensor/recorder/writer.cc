#include "recorder/writer.h"

#include "recorder/recorded_tensor.h"

namespace {

uint64_t ReferenceOf(const at::Tensor& tensor) {
  const RecordedTensor* recorded = RecordedOf(tensor);
  TORCH_CHECK(recorded != nullptr, "a list mixes tensors of a mesh with tensors of this process");
  return recorded->reference();
}

}  // namespace

void Writer::Text(const std::string& text) {
  Count(text.size());
  bytes_.insert(bytes_.end(), text.begin(), text.end());
}

void Writer::Constant(const at::Tensor& tensor) {
  const at::Tensor contiguous = Materialize(tensor);
  Put(static_cast<uint8_t>(contiguous.scalar_type()));
  Put(static_cast<uint8_t>(tensor.unsafeGetTensorImpl()->is_wrapped_number()));
  Put(static_cast<uint8_t>(contiguous.dim()));
  for (const int64_t size : contiguous.sizes()) Put(size);
  Count(contiguous.nbytes());
  auto data = static_cast<const uint8_t*>(contiguous.data_ptr());
  bytes_.insert(bytes_.end(), data, data + contiguous.nbytes());
}

void Writer::Tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    Put(Tag::undefined);
    return;
  }
  if (const RecordedTensor* recorded = RecordedOf(tensor)) {
    Put(Tag::reference);
    Reference(recorded->reference());
    return;
  }
  TORCH_CHECK(tensor.device().is_cpu() && tensor.nbytes() <= kMaxConstantBytes, "a tensor of this process has ",
              tensor.nbytes(), " bytes; a tensor of more than ", kMaxConstantBytes,
              " bytes must be sent to the mesh first");
  Put(Tag::constant);
  Constant(tensor);
}

void Writer::Scalar(const c10::IValue& value) {
  if (value.isBool()) {
    Put(Tag::boolean);
    Put(static_cast<uint8_t>(value.toBool()));
  } else if (value.isInt()) {
    Put(Tag::integer);
    Put(value.toInt());
  } else if (value.isComplexDouble()) {
    Put(Tag::complex);
    Put(value.toComplexDouble().real());
    Put(value.toComplexDouble().imag());
  } else {
    TORCH_CHECK(value.isDouble(), "an argument of type ", value.tagKind(), " cannot be sent to a mesh");
    Put(Tag::real);
    Put(value.toDouble());
  }
}

void Writer::Argument(const c10::IValue& value) {
  if (value.isNone()) {
    Put(Tag::none);
  } else if (value.isTensor()) {
    Tensor(value.toTensor());
  } else if (value.isString()) {
    Put(Tag::text);
    Text(value.toStringRef());
  } else if (value.isDevice()) {
    Put(Tag::device);
  } else if (value.isIntList()) {
    Put(Tag::integers);
    const auto list = value.toIntVector();
    Count(list.size());
    for (const int64_t number : list) Put(number);
  } else if (value.isDoubleList()) {
    Put(Tag::reals);
    const auto list = value.toDoubleVector();
    Count(list.size());
    for (const double number : list) Put(number);
  } else if (value.isBoolList()) {
    Put(Tag::booleans);
    const auto list = value.toBoolList();
    Count(list.size());
    for (const bool truth : list) Put(static_cast<uint8_t>(truth));
  } else if (value.isTensorList()) {
    Put(Tag::references);
    const auto list = value.toTensorVector();
    Count(list.size());
    for (const at::Tensor& tensor : list) Reference(ReferenceOf(tensor));
  } else if (value.isOptionalTensorList()) {
    Put(Tag::optionalReferences);
    const auto list = value.toOptionalTensorVector();
    Count(list.size());
    for (const auto& tensor : list) Reference(tensor && tensor->defined() ? ReferenceOf(*tensor) : uint64_t{0});
  } else if (value.isList()) {
    const auto list = value.toList();
    Put(Tag::scalars);
    Count(list.size());
    for (size_t i = 0; i < list.size(); i++) Scalar(list.get(i));
  } else {
    Scalar(value);
  }
}
