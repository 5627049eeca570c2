#include "recorder/recorder.h"

#include "recorder/recorded_tensor.h"

namespace {

/** The number of commands after which they are sent although the code has not paused. */
constexpr size_t kMaxPendingCommands = 1024;
/** The size of commands in bytes after which they are sent. */
constexpr size_t kMaxPendingBytes = 1 << 20;

thread_local std::shared_ptr<Recorder> current_recorder;

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
  if (dropped_.empty()) return;
  out_.Put(Command::drop);
  out_.Put(static_cast<uint32_t>(dropped_.size()));
  for (const uint64_t reference : dropped_) out_.Put(reference);
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
  std::lock_guard<std::mutex> lock(mutex_);
  const auto number = static_cast<uint32_t>(sites_.size());
  const auto [entry, added] = sites_.emplace(place, number);
  if (added) {
    out_.Put(Command::defineSite);
    out_.Text(sites.at(place));
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
  out_.Put(static_cast<uint32_t>(results.size()));
  for (const uint64_t result : results) out_.Put(result);
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
  const uint64_t number = NextReference();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    WriteDropped();
    out_.Put(Command::put);
    out_.Put(number);
    out_.Constant(tensor);
    CountCommand();
  }
  at::Tensor shape = at::empty(tensor.sizes(), at::TensorOptions().dtype(tensor.scalar_type()).device(c10::kMeta));
  return NewRecorded(shared_from_this(), std::move(shape), {}, number);
}

at::Tensor Recorder::Declare(c10::IntArrayRef sizes, c10::ScalarType dtype) {
  return NewRecorded(shared_from_this(), at::empty(sizes, at::TensorOptions().dtype(dtype).device(c10::kMeta)), {},
                     NextReference());
}

uint64_t Recorder::NextId() {
  static std::atomic<uint64_t> ids{0};
  return ++ids;
}

void Recorder::Seed(uint64_t seed, bool ranks) {
  std::lock_guard<std::mutex> lock(mutex_);
  out_.Put(Command::seed);
  out_.Put(seed);
  out_.Put(static_cast<uint8_t>(ranks));
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
