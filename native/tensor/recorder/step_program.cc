#include "recorder/step_program.h"

#include "recorder/recorded_tensor.h"
#include "recorder/recorder.h"

namespace {

/** Returns a tensor of device Meta with the properties of another one and other memory. */
at::Tensor ShapeWith(const at::Tensor& shape, const c10::Storage& storage, int64_t offset) {
  at::Tensor made(shape.unsafeGetTensorImpl()->shallow_copy_and_detach(c10::VariableVersion(0), true));
  made.unsafeGetTensorImpl()->set_storage_keep_dtype(storage);
  made.unsafeGetTensorImpl()->set_storage_offset(offset);
  return made;
}

c10::Storage NewMetaStorage(size_t bytes) {
  return c10::Storage(c10::Storage::use_byte_size_t(), bytes, c10::DataPtr(nullptr, c10::Device(c10::kMeta)), nullptr,
                      false);
}

}  // namespace

bool StepProgram::Signature::operator==(const Signature& other) const {
  return dtype == other.dtype && same == other.same && memory == other.memory && sizes == other.sizes &&
         strides == other.strides && keys == other.keys;
}

StepProgram::Signature StepProgram::SignatureOf(const std::vector<at::Tensor>& arguments, size_t index) {
  const at::Tensor& tensor = arguments[index];
  Signature signature{
      tensor.sizes().vec(), tensor.strides().vec(), tensor.scalar_type(), tensor.key_set(), index, index};
  for (size_t at = index; at-- > 0;) {
    if (RecordedOf(arguments[at])->reference() == RecordedOf(tensor)->reference()) signature.same = at;
    if (arguments[at].storage().unsafeGetStorageImpl() == tensor.storage().unsafeGetStorageImpl())
      signature.memory = at;
  }
  return signature;
}

StepProgram::StepProgram(std::shared_ptr<Recorder> recorder, const std::vector<at::Tensor>& arguments)
    : recorder_(std::move(recorder)), grad_mode_(c10::GradMode::is_enabled()), varies_(arguments.size(), false) {
  for (size_t i = 0; i < arguments.size(); i++) signatures_.push_back(SignatureOf(arguments, i));
}

StepProgram::~StepProgram() {
  if (capture_) recorder_->EndCapture();
  Forget();
}

bool StepProgram::Matches(const std::vector<at::Tensor>& arguments) const {
  if (arguments.size() != signatures_.size() || c10::GradMode::is_enabled() != grad_mode_) return false;
  for (size_t i = 0; i < arguments.size(); i++) {
    if (RecordedOf(arguments[i])->recorder() != recorder_) return false;
    const Signature& wanted = signatures_[i];
    const at::Tensor& tensor = arguments[i];
    if (tensor.scalar_type() != wanted.dtype || tensor.sizes() != wanted.sizes || tensor.strides() != wanted.strides)
      return false;
    if (!(SignatureOf(arguments, i) == wanted)) return false;
  }
  return true;
}

void StepProgram::BeginCapture(const std::vector<at::Tensor>& arguments) {
  auto capture = std::make_shared<Capture>(arguments, leaves_);
  recorder_->BeginCapture(capture);
  capture_ = std::move(capture);
}

void StepProgram::CancelCapture() {
  recorder_->EndCapture();
  capture_.reset();
}

StepProgram::Comparison StepProgram::EndCapture(const std::vector<at::Tensor>& results, size_t numbers,
                                                const std::string& refusal) {
  recorder_->EndCapture();
  const auto capture = std::move(capture_);
  capture_.reset();
  if (!refusal.empty()) capture->refusal = refusal;
  if (capture->numbers != numbers) capture->Refuse("the numbers of an optimizer are not those of one operation");
  auto call = std::make_unique<CapturedCall>(*recorder_, *capture, results);
  leaves_ = call->leaves_used;
  if (!call->refusal.empty()) return {false, call->refusal};
  if (!last_) {
    last_ = std::move(call);
    return {true, "its first calls are recorded"};
  }
  const std::string difference = call->DifferenceFrom(*recorder_, *last_);
  if (!difference.empty()) {
    Forget();
    last_ = std::move(call);
    return {true, "it differs from the call before " + difference};
  }
  for (size_t i = 0; i < varies_.size(); i++) {
    if (call->arguments[i] != last_->arguments[i]) varies_[i] = true;
  }
  last_ = std::move(call);
  if (program_ == 0) Define();
  return {true, program_ == 0 ? "the mesh has too many or too large programs" : ""};
}

void StepProgram::Define() {
  Writer definition;
  last_->WriteDefinition(definition);
  program_ = recorder_->DefineProgram(definition.Take());
  bound_.clear();
}

void StepProgram::Forget() {
  if (program_ != 0) recorder_->ForgetProgram(program_);
  program_ = 0;
  last_.reset();
  varies_.assign(varies_.size(), false);
}

std::string StepProgram::WhyNotReplayed(const std::vector<at::Tensor>& arguments) const {
  if (program_ == 0) return "its first calls are recorded";
  for (size_t i = 0; i < arguments.size(); i++) {
    if (!varies_[i] && RecordedOf(arguments[i])->reference() != last_->arguments[i])
      return "an argument is another tensor than in all calls before";
    if (arguments[i].grad().defined()) return "an argument has a gradient";
    if (last_->SharesExternalMemory(arguments[i])) return "an argument shares memory with a tensor from outside";
  }
  for (const auto& leaf : last_->leaves) {
    const at::Tensor& gradient = leaf.tensor.grad();
    const RecordedTensor* recorded = RecordedOf(gradient);
    using Use = CapturedCall::GradientUse;
    if (leaf.use == Use::absent) {
      if (gradient.defined()) return "a tensor from outside has got a gradient between two calls";
      continue;
    }
    if (leaf.use == Use::used && recorded != nullptr && recorded->reference() != leaf.gradient)
      return "a gradient has been replaced between two calls";
    if (recorded == nullptr) return "a gradient has been set to null between two calls";
    if (!leaf.replaced()) continue;
    if (!IsUnshared(gradient))
      return "other code holds a gradient that it replaces, or a view of it: dispose of it before the next call";
    if (gradient.requires_grad() || recorded->recorder() != recorder_ ||
        gradient.scalar_type() != leaf.shape.scalar_type() || gradient.sizes() != leaf.shape.sizes() ||
        gradient.strides() != leaf.shape.strides())
      return "a gradient has been replaced between two calls";
  }
  for (const auto& external : last_->externals) {
    if (last_->TensorOf(external).requires_grad() != external.requires_grad)
      return "a tensor from outside has begun or ceased to require gradients";
    if (RecordedOf(last_->TensorOf(external))->shapeVersion() != external.shape_version)
      return "the shape of a tensor from outside has changed";
  }
  return "";
}

std::vector<at::Tensor> StepProgram::Replay(const std::vector<at::Tensor>& arguments,
                                            const std::vector<double>& numbers) {
  TORCH_CHECK(program_ != 0 && numbers.size() == last_->numbers, "the step has another number of numbers");
  std::vector<uint64_t> gradients;
  for (const auto& leaf : last_->leaves) {
    if (leaf.replaced()) gradients.push_back(RecordedOf(leaf.tensor.grad())->reference());
  }
  if (gradients != bound_) recorder_->BindGradients(program_, gradients);
  bound_ = std::move(gradients);
  std::vector<uint64_t> references;
  for (const at::Tensor& tensor : arguments) references.push_back(RecordedOf(tensor)->reference());
  const uint64_t base = recorder_->NextReferences(last_->locals);
  recorder_->Replay(program_, references, base, numbers);
  NoteChanges(arguments);
  return CreateResults(arguments, base);
}

/**
 * Increments the versions of tensors that the step changes in place, so that autograd refuses graphs that need their
 * earlier elements. Views share the version of their tensor, which changes only once.
 */
void StepProgram::NoteChanges(const std::vector<at::Tensor>& arguments) const {
  std::vector<std::pair<c10::TensorImpl*, uint32_t>> targets;
  const auto add = [&](const at::Tensor& tensor, uint32_t changes) {
    auto impl = tensor.unsafeGetTensorImpl();
    if (changes > 0) targets.emplace_back(impl, impl->version_counter().current_version() + changes);
  };
  for (size_t i = 0; i < arguments.size(); i++) add(arguments[i], last_->argument_changes[i]);
  for (const auto& external : last_->externals) add(last_->TensorOf(external), external.changes);
  for (const auto& [impl, version] : targets) {
    while (impl->version_counter().current_version() < version) impl->bump_version();
  }
}

std::vector<at::Tensor> StepProgram::CreateResults(const std::vector<at::Tensor>& arguments, uint64_t base) const {
  std::vector<at::Tensor> made;
  // Pointers to the tensors stay valid.
  made.reserve(last_->results.size());
  for (size_t i = 0; i < last_->results.size(); i++) {
    const TensorTemplate& result = last_->results[i];
    const at::Tensor* source = nullptr;
    int64_t offset = result.offset;
    if (result.memory == TensorTemplate::Memory::argument) {
      source = &arguments[result.source];
      offset += source->storage_offset();
    } else if (result.memory == TensorTemplate::Memory::external) {
      source = &last_->TensorOf(last_->externals[result.source]);
    } else if (result.memory == TensorTemplate::Memory::gradient) {
      source = &last_->leaves[result.source].tensor.grad();
    } else if (result.source != i) {
      source = &made[result.source];
    }
    const c10::Storage memory =
        source == nullptr ? NewMetaStorage(result.shape.storage().nbytes()) : RecordedOf(*source)->shape().storage();
    made.push_back(NewRecorded(recorder_, ShapeWith(result.shape, memory, offset),
                               source == nullptr ? c10::Storage() : source->storage(), base + result.local));
    if (source != nullptr) {
      made.back().unsafeGetTensorImpl()->set_version_counter(source->unsafeGetTensorImpl()->version_counter());
    }
  }
  return made;
}
