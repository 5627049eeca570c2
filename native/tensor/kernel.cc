#include "kernel.h"

#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "batch.h"
#include "dtype.h"
#include "op.h"
#include "operand_shapes.h"
#include "operand_types.h"
#include "recorded.h"
#include "recorded_device.h"
#include "recorder.h"
#include "torch.h"

namespace {

using torch::jit::Stack;

/** Operations whose result, or its shape, depends on elements. */
bool NeedsElements(const std::string& name) {
  static const std::unordered_set<std::string> names = {
      "aten::_local_scalar_dense", "aten::item",          "aten::equal",
      "aten::is_nonzero",          "aten::nonzero",       "aten::nonzero_numpy",
      "aten::masked_select",       "aten::_unique",       "aten::_unique2",
      "aten::unique_dim",          "aten::unique_consecutive", "aten::unique_dim_consecutive",
      "aten::bincount",            "aten::repeat_interleave",  "aten::_assert_async",
  };
  return names.count(name) > 0;
}

at::Tensor ShapeOf(const at::Tensor& tensor) {
  if (const Recorded* recorded = RecordedOf(tensor)) return recorded->shape();
  // Numbers, which combine with tensors of any device, stay what they are.
  if (!tensor.defined() || tensor.dim() == 0) return tensor;
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(c10::kMeta));
}

/** The argument as device Meta takes it. */
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

/** What is asked of an operation for each of its calls. */
struct Traits {
  bool needsElements;
  bool forbidden;
  /** What is sent instead of it; null: itself. */
  const Op* instead;
  /** The parameters that it writes to. */
  std::vector<size_t> written;
  /** For each result, the parameter that it is; none: it is new. */
  std::vector<Optional<size_t>> same;
  /** What types of elements its arguments must have. */
  std::vector<TypeRule> types;
  /** What else is asked of them; null: nothing. */
  ShapeCheck shapes;
  /** The parameter that says which of its results are wanted, one truth value for each; none: all are. */
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
  // What libtorch makes of `reshape` where it can be a view has strides in it, and no check of them: a process whose tensor lay otherwise in
  // memory would take wrong elements and not know it. It is told the sizes instead.
  Traits traits{NeedsElements(name), IsForbidden(name), name == "aten::_reshape_alias" ? FindOp("aten::reshape", "") : nullptr, {}, {}, TypeRulesOf(op),
                ShapeCheckOf(op), MaskOf(op.schema())};
  const auto& parameters = op.schema().arguments();
  const auto writes = [](const c10::Argument& one) { return one.alias_info() != nullptr && one.alias_info()->isWrite(); };
  for (size_t i = 0; i < parameters.size(); i++) {
    if (writes(parameters[i])) traits.written.push_back(i);
  }
  for (const auto& result : op.schema().returns()) {
    traits.same.emplace_back();
    if (!writes(result)) continue;
    for (const size_t i : traits.written) {
      const bool tensor = parameters[i].type()->kind() == c10::TypeKind::TensorType;
      if (!tensor || parameters[i].alias_info()->beforeSets() != result.alias_info()->beforeSets()) continue;
      traits.same.back() = i;
      break;
    }
  }
  return traits;
}

/** Read once in each thread; a schema stays where it is. */
const Traits& TraitsOf(const c10::OperatorHandle& op) {
  static thread_local std::unordered_map<const void*, Traits> known;
  const auto found = known.find(&op.schema());
  return found != known.end() ? found->second : known.emplace(&op.schema(), TraitsFor(op)).first->second;
}

/** A call while it is recorded. */
struct Recordable {
  const c10::OperatorHandle& op;
  const Traits& traits;
  std::shared_ptr<Recorder> recorder;
  std::vector<c10::IValue> arguments;
  std::vector<uint64_t> results;
  /** How many of them have become tensors. */
  size_t taken = 0;

  /** The storage of the argument that a result is a view of; empty if it is none. */
  c10::Storage StorageFor(const at::Tensor& shape) const {
    c10::Storage storage;
    if (!shape.has_storage()) return storage;
    for (const auto& argument : arguments) {
      ForEachTensor(argument, [&](const at::Tensor& tensor) {
        const Recorded* recorded = RecordedOf(tensor);
        if (recorded == nullptr || !recorded->shape().has_storage()) return;
        if (recorded->shape().storage().unsafeGetStorageImpl() == shape.storage().unsafeGetStorageImpl()) storage = tensor.storage();
      });
    }
    return storage;
  }

  /** Gives a result its number. Only what has been recorded may become a tensor, whose end is recorded as well. */
  void Number(const at::Tensor& shape) {
    TORCH_CHECK(!shape.defined() || IsDtype(static_cast<int64_t>(shape.scalar_type())), "its result has elements of type ",
                shape.scalar_type(), ", which tensors of a mesh cannot have");
    results.push_back(shape.defined() ? recorder->NextReference() : 0);
  }

  at::Tensor Result(const at::Tensor& shape) {
    const uint64_t number = results[taken++];
    return shape.defined() ? NewRecorded(recorder, shape, StorageFor(shape), number) : shape;
  }

  /** The argument that a result is: one that was written to. Null if it is new. */
  const c10::IValue* Written(size_t result) const {
    return traits.same[result] ? &arguments[*traits.same[result]] : nullptr;
  }

  /** Device Meta computes in some versions what processors leave out because nobody wants it. */
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
      taken++;
      return *written;
    }
    if (IsUnwanted(index)) {
      taken++;
      return at::Tensor();
    }
    if (shape.isTensor()) return Result(shape.toTensor());
    if (!shape.isTensorList()) return shape;
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : shape.toTensorVector()) list.push_back(Result(tensor));
    return list;
  }

  /** Sizes that an operation has changed in place. */
  void ReshapeWritten() const {
    for (const size_t i : traits.written) {
      ForEachTensor(arguments[i], [](const at::Tensor& tensor) {
        if (Recorded* recorded = RecordedOf(tensor)) recorded->Reshape();
      });
    }
  }

  void Record() const {
    if (traits.instead == nullptr) return recorder->Call(op, arguments, results);
    const auto count = static_cast<std::ptrdiff_t>(traits.instead->parameters.size());
    recorder->Call(traits.instead->handle, {arguments.begin(), arguments.begin() + count}, results);
  }

  /** @throws c10::Error if it would write to a tensor of this process */
  void CheckWritten() const {
    for (const size_t i : traits.written) {
      ForEachTensor(arguments[i], [](const at::Tensor& tensor) {
        TORCH_CHECK(RecordedOf(tensor) != nullptr, "it would write elements of a mesh to a tensor of this process: use inspect");
      });
    }
  }
};

void InferShapes(const c10::OperatorHandle& op, Stack& shapes) {
  try {
    op.callBoxed(shapes);
  } catch (const c10::NotImplementedError&) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "the shape of its result cannot be told without elements, which are on the processes of a mesh (",
                                op.operator_name().name, ")");
  }
}

void Kernel(const c10::OperatorHandle& op, Stack* stack) {
  const at::AutoDispatchBelowADInplaceOrView below;
  const size_t count = op.schema().arguments().size();
  const Traits& traits = TraitsOf(op);
  TORCH_CHECK(!traits.needsElements, "its result depends on elements, which are on the processes of a mesh (", op.operator_name().name,
              "): use await inspect(tensor)");
  TORCH_CHECK(!traits.forbidden, "it reaches beyond tensors, which no process of a mesh does for others (", op.operator_name().name, ")");
  Recordable call{op, traits, Recorder::Current(), {stack->end() - static_cast<std::ptrdiff_t>(count), stack->end()}, {}, 0};
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
  // What answers nothing is asked for its failures: whether a matrix had an inverse.
  if (!call.results.empty() || !traits.written.empty() || op.schema().returns().empty()) {
    call.Record();
    call.ReshapeWritten();
  }
  for (size_t i = 0; i < shapes.size(); i++) stack->push_back(call.ResultOf(i, shapes[i]));
}

/** Zeros that have no memory, which gradients of what is constant are: here they are zeros. Both take the same arguments. */
void Zeros(const c10::OperatorHandle&, Stack* stack) {
  static const c10::OperatorHandle zeros = FindOp("aten::zeros", "")->handle;
  zeros.callBoxed(stack);
}

/**
 * Operations that libtorch takes apart before it asks for a kernel of the device are recorded whole as well: all but those that
 * autograd must see taken apart.
 */
bool IsWhole(const c10::OperatorHandle& op) {
  return (op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd) ||
          op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutogradNonFunctional)) &&
         !op.hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1);
}

void Register() {
  RegisterRecordedDevice();
  constexpr auto key = c10::DispatchKey::PrivateUse1;
  static torch::Library fallback(torch::Library::IMPL, "_", key, __FILE__, __LINE__);
  fallback.fallback(torch::CppFunction::makeFromBoxedFunction<&Kernel>());
  static torch::Library whole(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    const auto op = c10::Dispatcher::singleton().findSchema(name);
    if (!op || !IsWhole(*op)) continue;
    const std::string full = name.name.substr(6) + (name.overload_name.empty() ? "" : "." + name.overload_name);
    whole.impl(full.c_str(), torch::CppFunction::makeFromBoxedFunction<&Kernel>());
  }
  whole.impl("_efficientzerotensor", torch::CppFunction::makeFromBoxedFunction<&Zeros>());
  RegisterShapes();
}

}  // namespace

void RegisterKernels() {
  static std::once_flag once;
  std::call_once(once, Register);
}
