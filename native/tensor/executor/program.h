/** Programs: sequences of commands that are checked once, and then executed by each `replay` (commands/format.h). */
#pragma once
#include <memory>
#include <unordered_set>
#include <vector>

#include "executor/command_reader.h"

struct Program {
  uint32_t arguments = 0;
  std::vector<uint64_t> externals;
  uint32_t gradients = 0;
  uint32_t locals = 0;
  /** The number of numbers that each replay contains. */
  uint32_t numbers = 0;
  std::vector<Step> steps;
  /** The slots of the locals that outlive a replay. */
  std::vector<uint64_t> kept;
  /** For each gradient, the slot of the local that replaces it. */
  std::vector<uint64_t> replacements;
  size_t bytes = 0;

  /** The slots of arguments, externals and gradients end here. */
  uint64_t firstLocal() const { return 1 + uint64_t{arguments} + externals.size() + gradients; }
};

/** The tensors that are the gradients of a program. */
struct BoundGradients {
  std::vector<uint64_t> references;
  std::unordered_set<uint64_t> set;
};

/** One execution of a program. */
struct Replay {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const BoundGradients> gradients;
  std::vector<uint64_t> arguments;
  /** The number of the first local. */
  uint64_t base = 0;
  std::vector<double> numbers;
};

/**
 * Reads the definition of a program, from after its number on.
 * @throws std::runtime_error if it is invalid
 */
std::shared_ptr<const Program> ReadProgram(Reader& in, const Definitions& known, const Definitions& added);
