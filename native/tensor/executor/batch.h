/**
 * Reads and checks commands (commands/format.h). The input is not trusted: a batch is read to its end, and checked
 * against the tensors of the worker, before any of its commands is executed. An invalid batch has no effect.
 */
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "commands/format.h"
#include "libtorch/op.h"

/** An argument: a value, or references that are resolved when the command is executed. */
struct Argument {
  Tag tag;
  c10::IValue value;
  std::vector<uint64_t> references;
};

struct Step {
  Command command;
  /** The operation of `call`. */
  const Op* op = nullptr;
  uint32_t site = 0;
  std::vector<Argument> arguments;
  /** The results of `call`, the tensors that `drop` drops, or the tensor that `put` creates. */
  std::vector<uint64_t> references;
  /** The tensor of `put`. */
  at::Tensor constant;
  /** The seed of `seed`, and whether each rank has a different sequence. */
  uint64_t seed = 0;
  bool ranks = false;
};

/** Returns whether an argument has the type of a parameter. Converts the argument if a conversion makes it match. */
bool MatchesParameter(Argument& argument, const Parameter& parameter);

/** The operations and call sites that commands have defined so far. */
struct Definitions {
  std::vector<const Op*> ops;
  std::vector<std::string> sites;
};

/** Returns whether the worker has a tensor with this number. */
using HasReference = std::function<bool(uint64_t)>;

/**
 * Reads a batch.
 * @param definitions the definitions of earlier batches; those of a valid batch are added
 * @throws std::runtime_error with the position and the reason if the batch is invalid
 */
std::vector<Step> ReadBatch(const std::vector<uint8_t>& bytes, Definitions& definitions, const HasReference& has);
