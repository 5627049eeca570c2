/** Reads and checks the commands that are executed, of a batch or of a program. */
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "commands/format.h"
#include "executor/reader.h"
#include "executor/references.h"
#include "libtorch/op.h"

struct Replay;

/** An argument: a value, or references that are resolved when the command is executed. */
struct Argument {
  Tag tag;
  c10::IValue value;
  std::vector<uint64_t> references;
  /** The indices of the numbers of a replay that are the value. */
  uint32_t first = 0;
  uint32_t count = 0;
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
  /** The execution of a program by `replay`. */
  std::shared_ptr<const Replay> replay;
};

/** Returns whether an argument has the type of a parameter. Converts the argument if a conversion makes it match. */
bool MatchesParameter(Argument& argument, const Parameter& parameter);

/** The operations and call sites that commands have defined. */
struct Definitions {
  std::vector<const Op*> ops;
  std::vector<std::string> sites;
};

class CommandReader {
 public:
  /**
   * @param known the definitions of earlier batches
   * @param added the definitions of this batch
   * @param numbers counts the numbers of replays that the commands take; null outside of programs
   */
  CommandReader(Reader& in, const Definitions& known, const Definitions& added, References& references,
                uint32_t* numbers)
      : in_(in), known_(known), added_(added), references_(references), numbers_(numbers) {}

  /**
   * Reads a command of the kinds `call`, `drop`, `seed` and `put`.
   * @param command its first byte, which has been read
   * @returns false, without reading, if the command is of another kind
   * @throws std::runtime_error if the command is invalid
   */
  bool Read(uint8_t command, Step& step);

 private:
  const Op& OpOf(uint32_t number) const;
  void Call(Step& step);
  Argument ReadArgument();
  void ReadVariables(Argument& argument);
  c10::List<at::Scalar> ReadScalars();

  Reader& in_;
  const Definitions& known_;
  const Definitions& added_;
  References& references_;
  uint32_t* numbers_;
};
