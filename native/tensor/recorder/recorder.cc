#include "recorder/recorder.h"

#include "recorder/recorded_tensor.h"

namespace {

/** The number of commands after which they are sent although the code has not paused. */
constexpr size_t kMaxPendingCommands = 1024;
/** The size of commands in bytes after which they are sent. */
constexpr size_t kMaxPendingBytes = 1 << 20;

thread_local std::shared_ptr<Recorder> current_recorder;
/** The recorder with a capture. */
thread_local Recorder* capturing_recorder = nullptr;

/** States that another recorder is used while there is a capture. */
void CheckCapture(const Recorder* recorder) {
  if (capturing_recorder != nullptr && capturing_recorder != recorder)
    capturing_recorder->RefuseCapture("it uses tensors of another mesh");
}

/** Held while the autograd engine runs for a recorder. */
std::mutex engine_turn;
std::mutex engine_mutex;
std::shared_ptr<Recorder> engine_recorder;

}  // namespace

std::shared_ptr<Recorder> Recorder::Current() {
  if (current_recorder) return current_recorder;
  std::lock_guard<std::mutex> lock(engine_mutex);
  return engine_recorder;
}

void Recorder::Drop(uint64_t reference) {
  if (closed_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  dropped_.push_back(reference);
}

void Recorder::WriteDropped() {
  for (const uint32_t program : forgotten_) {
    out_.Put(Command::forget);
    out_.Put(program);
  }
  forgotten_.clear();
  if (dropped_.empty()) return;
  out_.Put(Command::drop);
  out_.References(dropped_);
  dropped_.clear();
}

uint32_t Recorder::OpNumber(const c10::OperatorHandle& op) {
  const auto number = static_cast<uint32_t>(ops_.size());
  const auto [entry, added] = ops_.emplace(&op.schema(), number);
  if (added) {
    out_.Put(Command::defineOp);
    out_.Text(op.operator_name().name);
    out_.Text(op.operator_name().overload_name);
  }
  return entry->second;
}

void Recorder::SetSite(const std::vector<std::string>& sites, size_t place) {
  CheckCapture(this);
  // Most operations have the site of the one before: a loop, or a layer of several operations.
  if (last_place_ == place) return;
  last_place_ = place;
  std::lock_guard<std::mutex> lock(mutex_);
  const auto number = static_cast<uint32_t>(sites_.size());
  const auto [entry, added] = sites_.emplace(place, number);
  if (added) {
    out_.Put(Command::defineSite);
    out_.Text(sites.at(place));
    site_texts_.push_back(sites.at(place));
  }
  site_ = entry->second;
}

void Recorder::Call(const c10::OperatorHandle& op, const std::vector<c10::IValue>& arguments,
                    const std::vector<uint64_t>& results) {
  std::lock_guard<std::mutex> lock(mutex_);
  WriteDropped();
  const uint32_t number = OpNumber(op);
  const size_t begin = out_.size();
  try {
    out_.Put(Command::call);
    out_.Put(number);
    out_.Put(site_);
    for (const auto& argument : arguments) out_.Argument(argument);
  } catch (...) {
    out_.Truncate(begin);
    throw;
  }
  out_.References(results);
  if (capture_) capture_->Call(op, number, site_, arguments, results, marks_numbers_);
  marks_numbers_ = false;
  CountCommand();
}

void Recorder::CountCommand() {
  commands_++;
  full_ = commands_ >= kMaxPendingCommands || out_.size() >= kMaxPendingBytes;
}

at::Tensor Recorder::Send(const at::Tensor& tensor) {
  TORCH_CHECK(RecordedOf(tensor) == nullptr && tensor.device().is_cpu(), "it is not a tensor of this process");
  TORCH_CHECK(tensor.nbytes() < (size_t{1} << 30), "it has ", tensor.nbytes(),
              " bytes; less than 1 GiB can be sent at once");
  CheckCapture(this);
  const uint64_t number = NextReference();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    WriteDropped();
    out_.Put(Command::put);
    out_.Put(number);
    out_.Constant(tensor);
    if (capture_) capture_->Put(number, tensor);
    CountCommand();
  }
  at::Tensor shape = at::empty(tensor.sizes(), at::TensorOptions().dtype(tensor.scalar_type()).device(c10::kMeta));
  return NewRecorded(shared_from_this(), std::move(shape), {}, number);
}

at::Tensor Recorder::Declare(c10::IntArrayRef sizes, c10::ScalarType dtype) {
  CheckCapture(this);
  RefuseCapture("it makes a tensor whose elements do not come from operations");
  return NewRecorded(shared_from_this(), at::empty(sizes, at::TensorOptions().dtype(dtype).device(c10::kMeta)), {},
                     NextReference());
}

uint64_t Recorder::NextId() {
  static std::atomic<uint64_t> ids{0};
  return ++ids;
}

void Recorder::Seed(uint64_t seed, bool ranks) {
  CheckCapture(this);
  std::lock_guard<std::mutex> lock(mutex_);
  out_.Put(Command::seed);
  out_.Put(seed);
  out_.Put(static_cast<uint8_t>(ranks));
  if (capture_) capture_->Seed(seed, ranks);
}

std::string Recorder::SiteText(uint32_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  return site_texts_.at(number);
}

void Recorder::NoteCreated(const std::shared_ptr<Reference>& reference) {
  if (!is_capturing_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (capture_) capture_->NoteCreated(reference);
}

void Recorder::NoteUse(const at::Tensor& tensor, bool gradient) {
  if (capturing_recorder == nullptr) return;
  const RecordedTensor* recorded = RecordedOf(tensor);
  if (recorded == nullptr) return;
  CheckCapture(recorded->recorder().get());
  std::lock_guard<std::mutex> lock(recorded->recorder()->mutex_);
  const auto& capture = recorded->recorder()->capture_;
  if (!capture) return;
  capture->NoteUse(tensor);
  if (gradient) capture->gradients_accessed.insert(recorded->reference());
}

Recorder* Recorder::Capturing() {
  return capturing_recorder;
}

void Recorder::BeginCapture(std::shared_ptr<Capture> capture) {
  std::lock_guard<std::mutex> lock(mutex_);
  TORCH_CHECK(capturing_recorder == nullptr && !capture_, "a call of a step is being recorded already");
  capture_ = std::move(capture);
  is_capturing_ = true;
  capturing_recorder = this;
}

void Recorder::EndCapture() {
  // Tensors that the capture holds last are dropped after the lock has been released.
  std::shared_ptr<Capture> ended;
  std::lock_guard<std::mutex> lock(mutex_);
  ended.swap(capture_);
  is_capturing_ = false;
  capturing_recorder = nullptr;
  marks_numbers_ = false;
}

void Recorder::RefuseCapture(const std::string& reason) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (capture_) capture_->Refuse(reason);
}

uint32_t Recorder::DefineProgram(const std::vector<uint8_t>& definition) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (programs_.size() >= kMaxPrograms || program_bytes_ + definition.size() > kMaxProgramBytes) return 0;
  WriteDropped();
  const uint32_t number = ++program_numbers_;
  programs_.emplace(number, definition.size());
  program_bytes_ += definition.size();
  out_.Put(Command::define);
  out_.Put(number);
  out_.Append(definition);
  CountCommand();
  return number;
}

void Recorder::ForgetProgram(uint32_t program) {
  if (closed_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  forgotten_.push_back(program);
  const auto known = programs_.find(program);
  program_bytes_ -= known->second;
  programs_.erase(known);
}

void Recorder::BindGradients(uint32_t program, const std::vector<uint64_t>& gradients) {
  std::lock_guard<std::mutex> lock(mutex_);
  WriteDropped();
  out_.Put(Command::bind);
  out_.Put(program);
  out_.References(gradients);
}

void Recorder::Replay(uint32_t program, const std::vector<uint64_t>& arguments, uint64_t base,
                      const std::vector<double>& numbers) {
  std::lock_guard<std::mutex> lock(mutex_);
  WriteDropped();
  out_.Put(Command::replay);
  out_.Put(program);
  out_.References(arguments);
  out_.Put(base);
  out_.Count(numbers.size());
  for (const double number : numbers) out_.Put(number);
  CountCommand();
}

std::vector<uint8_t> Recorder::Take() {
  std::lock_guard<std::mutex> lock(mutex_);
  WriteDropped();
  noticed_ = false;
  full_ = false;
  commands_ = 0;
  return out_.Take();
}

bool Recorder::NeedsNotice() {
  const bool first = !noticed_;
  noticed_ = true;
  return first || full_;
}

RecordingScope::RecordingScope(std::shared_ptr<Recorder> recorder, const std::vector<std::string>& sites, size_t place)
    : previous_(std::move(current_recorder)) {
  recorder->SetSite(sites, place);
  current_recorder = std::move(recorder);
}

RecordingScope::~RecordingScope() {
  current_recorder = std::move(previous_);
}

EngineRecordingScope::EngineRecordingScope(std::shared_ptr<Recorder> recorder) {
  engine_turn.lock();
  std::lock_guard<std::mutex> lock(engine_mutex);
  engine_recorder = std::move(recorder);
}

EngineRecordingScope::~EngineRecordingScope() {
  {
    std::lock_guard<std::mutex> lock(engine_mutex);
    engine_recorder.reset();
  }
  engine_turn.unlock();
}
