/**
 * Commands as a worker reads them (commands.h). What comes in is hostile: a batch is read to its end and checked against what the
 * worker has before anything of it is executed, so that of a batch that is refused nothing happens.
 */
#pragma once
#include <unordered_set>
#include <vector>

#include "commands.h"
#include "op.h"

/** An argument: a value, or numbers of tensors that are looked up when it is used. */
struct Argument {
  Tag tag;
  c10::IValue value;
  std::vector<uint64_t> references;
};

struct Step {
  Command command;
  /** Of `call`. */
  const Op* op = nullptr;
  uint32_t site = 0;
  std::vector<Argument> arguments;
  /** Results of `call`, what `drop` drops, what `put` puts. */
  std::vector<uint64_t> references;
  /** Of `put`. */
  at::Tensor constant;
  /** Of `seed`. */
  uint64_t seed = 0;
  bool ranks = false;
};

/** Whether an argument is what the schema says; what fits after a conversion is converted. */
bool Fits(Argument& argument, const Parameter& parameter);

/** Operations that reach beyond tensors: files, threads, memory by its address. No command may call them. @param name `aten::set` */
bool IsForbidden(const std::string& name);

/** What commands have defined so far. */
struct Definitions {
  std::vector<const Op*> ops;
  std::vector<std::string> sites;
};

/** Whether a worker has a tensor of this number. */
using HasReference = std::function<bool(uint64_t)>;

/**
 * @param definitions those of earlier batches; those of this one are added if it is not refused
 * @throws std::runtime_error that says what is wrong with it, and where
 */
std::vector<Step> ReadBatch(const std::vector<uint8_t>& bytes, Definitions& definitions, const HasReference& has);
