#include "recorder/kernel.h"

#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "commands/forbidden.h"
#include "libtorch/dtype.h"
#include "libtorch/op.h"
#include "libtorch/torch.h"
#include "recorder/recorded_device.h"
#include "recorder/recorded_tensor.h"
#include "recorder/recorder.h"
#include "shapes/meta_kernels.h"
#include "shapes/operand_shapes.h"
#include "shapes/operand_types.h"

namespace {

using torch::jit::Stack;

/** Returns whether the result of an operation, or its shape, depends on elements. */
bool NeedsElements(const std::string& name) {
  static const std::unordered_set<std::string> names = {
      "aten::_local_scalar_dense",
      "aten::item",
      "aten::equal",
      "aten::is_nonzero",
      "aten::nonzero",
      "aten::nonzero_numpy",
      "aten::masked_select",
      "aten::_unique",
      "aten::_unique2",
      "aten::unique_dim",
      "aten::unique_consecutive",
      "aten::unique_dim_consecutive",
      "aten::bincount",
      "aten::repeat_interleave",
      "aten::_assert_async",
  };
  return names.count(name) > 0;
}

at::Tensor ShapeOf(const at::Tensor& tensor) {
  if (const RecordedTensor* recorded = RecordedOf(tensor)) return recorded->shape();
  // Tensors without dimensions combine with tensors of any device, and need no conversion.
  if (!tensor.defined() || tensor.dim() == 0) return tensor;
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(c10::kMeta));
}

/** Converts an argument to device Meta. */
c10::IValue OnMeta(const c10::IValue& value) {
  if (value.isTensor()) return ShapeOf(value.toTensor());
  if (value.isDevice()) {
    TORCH_CHECK(value.toDevice().type() == RecordedDevice().type(), "a tensor of a mesh stays there: use inspect");
    return c10::Device(c10::kMeta);
  }
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(ShapeOf(tensor));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<Optional<at::Tensor>> list;
    for (const auto& tensor : value.toOptionalTensorVector()) {
      list.push_back(tensor && tensor->defined() ? Optional<at::Tensor>(ShapeOf(*tensor)) : Optional<at::Tensor>());
    }
    return list;
  }
  return value;
}

/** The properties of an operation that each of its calls needs. */
struct Traits {
  bool needsElements;
  bool forbidden;
  /** The operation that is recorded instead of this one, or null. */
  const Op* replacement;
  /** The indices of the parameters that the operation writes to. */
  std::vector<size_t> written;
  /** For each result, the index of the parameter that it returns, or none if the result is new. */
  std::vector<Optional<size_t>> returned_parameter;
  /** The required types of elements. */
  std::vector<TypeRule> types;
  /** A check of the shapes, or null. */
  ShapeCheck shapes;
  /**
   * The index of the parameter that says which results are needed, with one boolean for each result. None if all are
   * needed.
   */
  Optional<size_t> mask;
};

Optional<size_t> MaskOf(const c10::FunctionSchema& schema) {
  for (size_t i = 0; i < schema.arguments().size(); i++) {
    if (schema.arguments()[i].name() == "output_mask") return i;
  }
  return {};
}

Traits TraitsFor(const c10::OperatorHandle& op) {
  const std::string& name = op.operator_name().name;
  // libtorch replaces `reshape` by this operation if the result can be a view. Its arguments contain strides, which are
  // not checked: a worker whose tensor has another layout would silently read wrong elements. `reshape` is recorded
  // instead, with the sizes only.
  Traits traits{NeedsElements(name),
                IsForbidden(name),
                name == "aten::_reshape_alias" ? FindOp("aten::reshape", "") : nullptr,
                {},
                {},
                TypeRulesOf(op),
                ShapeCheckOf(op),
                MaskOf(op.schema())};
  const auto& parameters = op.schema().arguments();
  const auto writes = [](const c10::Argument& one) {
    return one.alias_info() != nullptr && one.alias_info()->isWrite();
  };
  for (size_t i = 0; i < parameters.size(); i++) {
    if (writes(parameters[i])) traits.written.push_back(i);
  }
  for (const auto& result : op.schema().returns()) {
    traits.returned_parameter.emplace_back();
    if (!writes(result)) continue;
    for (const size_t i : traits.written) {
      const bool tensor = parameters[i].type()->kind() == c10::TypeKind::TensorType;
      if (!tensor || parameters[i].alias_info()->beforeSets() != result.alias_info()->beforeSets()) continue;
      traits.returned_parameter.back() = i;
      break;
    }
  }
  return traits;
}

/**
 * Returns the cached traits of an operation. The cache is per thread, and its keys are the addresses of schemas, which
 * do not change.
 */
const Traits& TraitsOf(const c10::OperatorHandle& op) {
  static thread_local std::unordered_map<const void*, Traits> known;
  const auto found = known.find(&op.schema());
  return found != known.end() ? found->second : known.emplace(&op.schema(), TraitsFor(op)).first->second;
}

/** A call that is being recorded. */
struct RecordedCall {
  const c10::OperatorHandle& op;
  const Traits& traits;
  std::shared_ptr<Recorder> recorder;
  std::vector<c10::IValue> arguments;
  std::vector<uint64_t> results;
  /** The number of results that have been converted to tensors. */
  size_t converted = 0;

  /**
   * Returns the storage of the argument that a result is a view of, or an empty storage if the result is not a view.
   */
  c10::Storage StorageFor(const at::Tensor& shape) const {
    c10::Storage storage;
    if (!shape.has_storage()) return storage;
    for (const auto& argument : arguments) {
      ForEachTensor(argument, [&](const at::Tensor& tensor) {
        const RecordedTensor* recorded = RecordedOf(tensor);
        if (recorded == nullptr || !recorded->shape().has_storage()) return;
        if (recorded->shape().storage().unsafeGetStorageImpl() == shape.storage().unsafeGetStorageImpl())
          storage = tensor.storage();
      });
    }
    return storage;
  }

  /**
   * Assigns a number to a result. A result becomes a tensor only after the call has been recorded, because the end of a
   * tensor is recorded, too.
   */
  void Number(const at::Tensor& shape) {
    TORCH_CHECK(!shape.defined() || IsDtype(static_cast<int64_t>(shape.scalar_type())),
                "its result has elements of type ", shape.scalar_type(), ", which tensors of a mesh cannot have");
    results.push_back(shape.defined() ? recorder->NextReference() : 0);
  }

  at::Tensor Result(const at::Tensor& shape) {
    const uint64_t number = results[converted++];
    return shape.defined() ? NewRecorded(recorder, shape, StorageFor(shape), number) : shape;
  }

  /**
   * Returns the argument that a result returns because the operation has written to it, or null if the result is new.
   */
  const c10::IValue* Written(size_t result) const {
    return traits.returned_parameter[result] ? &arguments[*traits.returned_parameter[result]] : nullptr;
  }

  /**
   * Returns whether a result is not needed. Some versions of device Meta compute such results, and CPU kernels leave
   * them out.
   */
  bool IsUnwanted(size_t result) const { return traits.mask && !arguments[*traits.mask].toBoolList().get(result); }

  void NumberResult(size_t index, const c10::IValue& shape) {
    if (Written(index) != nullptr || IsUnwanted(index)) {
      results.push_back(0);
    } else if (shape.isTensor()) {
      Number(shape.toTensor());
    } else if (shape.isTensorList()) {
      for (const at::Tensor& tensor : shape.toTensorVector()) Number(tensor);
    }
  }

  c10::IValue ResultOf(size_t index, const c10::IValue& shape) {
    if (const auto* written = Written(index)) {
      converted++;
      return *written;
    }
    if (IsUnwanted(index)) {
      converted++;
      return at::Tensor();
    }
    if (shape.isTensor()) return Result(shape.toTensor());
    if (!shape.isTensorList()) return shape;
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : shape.toTensorVector()) list.push_back(Result(tensor));
    return list;
  }

  /** Updates the sizes of arguments that the operation has resized. */
  void ReshapeWritten() const {
    for (const size_t i : traits.written) {
      ForEachTensor(arguments[i], [](const at::Tensor& tensor) {
        if (RecordedTensor* recorded = RecordedOf(tensor)) recorded->Reshape();
      });
    }
  }

  void Record() const {
    if (traits.replacement == nullptr) return recorder->Call(op, arguments, results);
    const auto count = static_cast<std::ptrdiff_t>(traits.replacement->parameters.size());
    recorder->Call(traits.replacement->handle, {arguments.begin(), arguments.begin() + count}, results);
  }

  /** @throws c10::Error if the operation would write to a tensor of this process */
  void CheckWritten() const {
    for (const size_t i : traits.written) {
      ForEachTensor(arguments[i], [](const at::Tensor& tensor) {
        TORCH_CHECK(RecordedOf(tensor) != nullptr,
                    "it would write elements of a mesh to a tensor of this process: use inspect");
      });
    }
  }
};

void InferShapes(const c10::OperatorHandle& op, Stack& shapes) {
  try {
    op.callBoxed(shapes);
  } catch (const c10::NotImplementedError&) {
    TORCH_CHECK_NOT_IMPLEMENTED(false,
                                "the shape of its result depends on elements, which are on the processes of a mesh (",
                                op.operator_name().name, ")");
  }
}

void Kernel(const c10::OperatorHandle& op, Stack* stack) {
  const at::AutoDispatchBelowADInplaceOrView below;
  const size_t count = op.schema().arguments().size();
  const Traits& traits = TraitsOf(op);
  TORCH_CHECK(!traits.needsElements, "its result depends on elements, which are on the processes of a mesh (",
              op.operator_name().name, "): use await inspect(tensor)");
  TORCH_CHECK(!traits.forbidden, "it accesses more than tensors, which a worker must not do (", op.operator_name().name,
              ")");
  RecordedCall call{op, traits, Recorder::Current(), {stack->end() - static_cast<std::ptrdiff_t>(count), stack->end()},
                    {}, 0};
  TORCH_CHECK(call.recorder, "it uses a tensor of a mesh outside of any recording");
  TORCH_CHECK(!call.recorder->closed(), "its mesh is not active any more");
  call.CheckWritten();
  CheckTypes(op, traits.types, call.arguments);
  if (traits.shapes != nullptr) traits.shapes(call.arguments);
  torch::jit::drop(*stack, count);
  Stack shapes;
  shapes.reserve(count);
  for (const auto& argument : call.arguments) shapes.push_back(OnMeta(argument));
  InferShapes(op, shapes);
  for (size_t i = 0; i < shapes.size(); i++) call.NumberResult(i, shapes[i]);
  // Operations without results are recorded because they can fail, for example if a matrix is not invertible.
  if (!call.results.empty() || !traits.written.empty() || op.schema().returns().empty()) {
    call.Record();
    call.ReshapeWritten();
  }
  for (size_t i = 0; i < shapes.size(); i++) stack->push_back(call.ResultOf(i, shapes[i]));
}

/**
 * Implements tensors of zeros without memory, which autograd uses for constant gradients, by `zeros`. Both operations
 * have the same arguments.
 */
void Zeros(const c10::OperatorHandle&, Stack* stack) {
  static const c10::OperatorHandle zeros = FindOp("aten::zeros", "")->handle;
  zeros.callBoxed(stack);
}

/**
 * Returns whether an operation is recorded as a whole although libtorch would decompose it before it calls the kernel
 * of a device. Operations that autograd must see decomposed are not.
 */
bool IsRecordedWhole(const c10::OperatorHandle& op) {
  return (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
          op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutogradNonFunctional)) &&
         !op.hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1);
}

void Register() {
  RegisterRecordedDevice();
  constexpr auto key = c10::DispatchKey::PrivateUse1;
  static torch::Library fallback(torch::Library::IMPL, "_", key, __FILE__, __LINE__);
  fallback.fallback(torch::CppFunction::makeFromBoxedFunction<&Kernel>());
  static torch::Library kernels(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op || !IsRecordedWhole(*op)) continue;
    const std::string full = name.name.substr(6) + (name.overload_name.empty() ? "" : "." + name.overload_name);
    kernels.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&Kernel>());
  }
  kernels.impl("_efficientzerotensor", torch::CppFunction::makeFromBoxedFunction<&Zeros>());
  RegisterMetaKernels();
}

}  // namespace

void RegisterKernels() {
  static std::once_flag once;
  std::call_once(once, Register);
}
