/** The reason why a tensor has no elements. */
#pragma once
#include <cstdint>
#include <memory>
#include <string>

struct Failure {
  /** The operation that failed: `aten::mm`. */
  std::string op;
  /** The call site in the code of the controller. */
  std::string site;
  std::string message;
  /** The rank of the process on which the operation failed. */
  uint64_t rank;
};

using FailurePtr = std::shared_ptr<const Failure>;
