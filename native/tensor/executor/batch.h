/**
 * Reads and checks commands (commands/format.h). The input is not trusted: a batch is read to its end, and checked
 * against the tensors of the worker, before any of its commands is executed. An invalid batch has no effect.
 */
#pragma once
#include <unordered_map>
#include <vector>

#include "executor/program.h"

/** A program that can be replayed, and the tensors that are its gradients. */
struct DefinedProgram {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const BoundGradients> gradients;
};

/** The definitions of all batches so far. */
struct AllDefinitions : Definitions {
  std::unordered_map<uint32_t, DefinedProgram> programs;
  /** The size of the bodies of all programs. */
  size_t program_bytes = 0;
};

/**
 * Reads a batch.
 * @param definitions the definitions of earlier batches; those of a valid batch are added
 * @param known the tensors of the worker; the highest number is updated
 * @throws std::runtime_error with the position and the reason if the batch is invalid
 */
std::vector<Step> ReadBatch(const std::vector<uint8_t>& bytes, AllDefinitions& definitions, KnownTensors& known);
