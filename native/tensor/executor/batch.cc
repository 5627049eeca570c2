#include "executor/batch.h"

#include "commands/forbidden.h"

namespace {

class BatchReader {
 public:
  BatchReader(const std::vector<uint8_t>& bytes, const AllDefinitions& definitions, const KnownTensors& tensors)
      : in_(bytes),
        known_(definitions),
        references_(tensors),
        commands_(in_, known_, added_, references_, nullptr),
        program_count_(definitions.programs.size()),
        program_bytes_(definitions.program_bytes) {}

  std::vector<Step> Read() {
    std::vector<Step> steps;
    size_t position = 0;
    try {
      while (!in_.done()) {
        position = in_.position();
        Step step{};
        if (ReadStep(step)) steps.push_back(std::move(step));
      }
    } catch (const std::exception& error) {
      throw std::runtime_error("the command at byte " + std::to_string(position) + " is invalid: " + error.what());
    }
    return steps;
  }

  /** Adds the definitions of this batch to those of earlier batches. */
  void Define(AllDefinitions& definitions) {
    definitions.ops.insert(definitions.ops.end(), added_.ops.begin(), added_.ops.end());
    definitions.sites.insert(definitions.sites.end(), added_.sites.begin(), added_.sites.end());
    for (auto& [number, program] : programs_) {
      if (program.program) {
        definitions.programs[number] = std::move(program);
      } else {
        definitions.programs.erase(number);
      }
    }
    definitions.program_bytes = program_bytes_;
  }

  uint64_t highest() const { return references_.highest(); }

 private:
  /** @returns whether the command is to be executed */
  bool ReadStep(Step& step) {
    const auto command = in_.Get<uint8_t>();
    if (commands_.Read(command, step)) return true;
    switch (step.command) {
      case Command::defineOp:
        DefineOp();
        return false;
      case Command::defineSite:
        added_.sites.push_back(in_.Text());
        return false;
      case Command::define:
        DefineProgram();
        return false;
      case Command::forget:
        Forget();
        return false;
      case Command::bind:
        Bind();
        return false;
      case Command::replay:
        ReadReplay(step);
        return true;
      default:
        throw std::runtime_error("unknown command " + std::to_string(command));
    }
  }

  void DefineOp() {
    const std::string name = in_.Text();
    const std::string overload = in_.Text();
    const std::string full = overload.empty() ? name : name + "." + overload;
    const bool ours = name.rfind("aten::", 0) == 0 || name.rfind("viceroy::", 0) == 0;
    const Op* op = ours && !IsForbidden(name) ? FindOp(name, overload) : nullptr;
    if (op == nullptr)
      throw std::runtime_error("this libtorch, " TORCH_VERSION ", has no operation " + full + " for commands");
    if (!op->returnsTensors || op->hasOut)
      throw std::runtime_error("operation " + full + " cannot be called by commands");
    added_.ops.push_back(op);
  }

  /** Returns a program, or null. */
  const DefinedProgram* Find(uint32_t number) const {
    const auto changed = programs_.find(number);
    if (changed != programs_.end()) return changed->second.program ? &changed->second : nullptr;
    const auto found = known_.programs.find(number);
    return found != known_.programs.end() ? &found->second : nullptr;
  }

  const DefinedProgram& ProgramOf(uint32_t number) const {
    const DefinedProgram* found = Find(number);
    if (found == nullptr) throw std::runtime_error("there is no program " + std::to_string(number));
    return *found;
  }

  void DefineProgram() {
    const auto number = in_.Get<uint32_t>();
    if (Find(number) != nullptr) throw std::runtime_error("there is a program " + std::to_string(number) + " already");
    auto program = ReadProgram(in_, known_, added_);
    program_count_++;
    program_bytes_ += program->bytes;
    if (program_count_ > kMaxPrograms || program_bytes_ > kMaxProgramBytes)
      throw std::runtime_error("there are too many programs");
    for (const uint64_t reference : program->externals) references_.Use(reference);
    programs_[number] = {std::move(program), nullptr};
  }

  void Forget() {
    const auto number = in_.Get<uint32_t>();
    program_bytes_ -= ProgramOf(number).program->bytes;
    program_count_--;
    programs_[number] = {};
  }

  void Bind() {
    const auto number = in_.Get<uint32_t>();
    const auto program = ProgramOf(number).program;
    auto bound = std::make_shared<BoundGradients>();
    bound->references = in_.List<uint64_t>();
    bound->set.insert(bound->references.begin(), bound->references.end());
    if (bound->references.size() != program->gradients || bound->set.size() != program->gradients)
      throw std::runtime_error("a program has other gradients");
    for (const uint64_t reference : program->externals) {
      if (bound->set.count(reference) > 0) throw std::runtime_error("a gradient is another tensor of the program, too");
    }
    programs_[number] = {program, std::move(bound)};
  }

  void ReadReplay(Step& step) {
    const auto number = in_.Get<uint32_t>();
    const DefinedProgram& defined = ProgramOf(number);
    auto replay = std::make_shared<Replay>();
    replay->program = defined.program;
    replay->gradients = defined.gradients;
    replay->arguments = in_.List<uint64_t>();
    replay->base = in_.Get<uint64_t>();
    replay->numbers = in_.List<double>();
    const Program& program = *defined.program;
    if (replay->arguments.size() != program.arguments || replay->numbers.size() != program.numbers)
      throw std::runtime_error("the program takes another number of arguments");
    if (program.gradients > 0 && !replay->gradients) throw std::runtime_error("the program has no gradients yet");
    for (const uint64_t reference : replay->arguments) {
      references_.Use(reference);
      if (replay->gradients && replay->gradients->set.count(reference) > 0)
        throw std::runtime_error("a gradient is another tensor of the program, too");
    }
    for (const uint64_t reference : program.externals) references_.Use(reference);
    if (replay->gradients) {
      for (const uint64_t reference : replay->gradients->references) references_.Use(reference);
    }
    references_.CheckUnused(replay->base, program.locals);
    for (const uint64_t slot : program.kept) references_.Create(replay->base + (slot - program.firstLocal()));
    step.replay = std::move(replay);
  }

  Reader in_;
  const AllDefinitions& known_;
  Definitions added_;
  BatchReferences references_;
  CommandReader commands_;
  /** The programs that this batch defines or changes; without a program if it forgets it. */
  std::unordered_map<uint32_t, DefinedProgram> programs_;
  size_t program_count_;
  size_t program_bytes_;
};

}  // namespace

std::vector<Step> ReadBatch(const std::vector<uint8_t>& bytes, AllDefinitions& definitions, KnownTensors& known) {
  BatchReader reader(bytes, definitions, known);
  auto steps = reader.Read();
  reader.Define(definitions);
  known.highest = reader.highest();
  return steps;
}
