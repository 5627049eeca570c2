#include "executor/program.h"

namespace {

/** The slots of a program while its body is read. Each local is created once. */
class Slots final : public References {
 public:
  explicit Slots(const Program& program)
      : first_gradient_(1 + uint64_t{program.arguments} + program.externals.size()),
        first_local_(program.firstLocal()),
        end_(first_local_ + program.locals) {}

  void Use(uint64_t slot) const override {
    if (!Has(slot)) throw std::runtime_error("there is no tensor in slot " + std::to_string(slot));
  }
  void Create(uint64_t slot) override {
    if (slot < first_local_ || slot >= end_ || !created_.insert(slot).second)
      throw std::runtime_error("it cannot create a tensor in slot " + std::to_string(slot));
  }
  void Drop(uint64_t slot) override {
    Use(slot);
    if (slot < first_gradient_) throw std::runtime_error("it cannot drop the tensor in slot " + std::to_string(slot));
    dropped_.insert(slot);
  }
  bool IsLocal(uint64_t slot) const { return slot >= first_local_; }
  /** The number of locals that have been created and not dropped. */
  size_t locals() const {
    size_t count = created_.size();
    for (const uint64_t slot : dropped_) count -= IsLocal(slot) ? 1 : 0;
    return count;
  }

 private:
  bool Has(uint64_t slot) const {
    if (slot == 0 || dropped_.count(slot) > 0) return false;
    return slot < first_local_ || created_.count(slot) > 0;
  }

  uint64_t first_gradient_;
  uint64_t first_local_;
  uint64_t end_;
  std::unordered_set<uint64_t> created_;
  std::unordered_set<uint64_t> dropped_;
};

uint32_t ReadLimited(Reader& in) {
  const auto count = in.Get<uint32_t>();
  if (count > kMaxProgramSlots) throw std::runtime_error("a program has too many tensors or numbers");
  return count;
}

void ReadBody(const std::vector<uint8_t>& body, const Definitions& known, const Definitions& added, Slots& slots,
              Program& program) {
  Reader in(body);
  uint32_t numbers = 0;
  CommandReader commands(in, known, added, slots, &numbers);
  while (!in.done()) {
    Step step{};
    if (!commands.Read(in.Get<uint8_t>(), step)) throw std::runtime_error("a program contains another kind of command");
    program.steps.push_back(std::move(step));
  }
  if (numbers != program.numbers) throw std::runtime_error("a program takes another number of numbers");
}

}  // namespace

std::shared_ptr<const Program> ReadProgram(Reader& in, const Definitions& known, const Definitions& added) {
  auto program = std::make_shared<Program>();
  program->arguments = ReadLimited(in);
  program->externals = in.List<uint64_t>();
  program->gradients = ReadLimited(in);
  program->locals = ReadLimited(in);
  program->numbers = ReadLimited(in);
  const auto body = in.List<uint8_t>();
  program->bytes = body.size();
  program->kept = in.List<uint64_t>();
  program->replacements = in.List<uint64_t>();
  Slots slots(*program);
  ReadBody(body, known, added, slots, *program);
  std::unordered_set<uint64_t> survivors;
  for (const auto* list : {&program->kept, &program->replacements}) {
    for (const uint64_t slot : *list) {
      slots.Use(slot);
      if (!slots.IsLocal(slot) || !survivors.insert(slot).second)
        throw std::runtime_error("a program keeps slot " + std::to_string(slot) + ", which it cannot keep");
    }
  }
  if (program->replacements.size() != program->gradients || survivors.size() != slots.locals())
    throw std::runtime_error("a program keeps other tensors than it says");
  return program;
}
