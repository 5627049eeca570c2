/** Why a tensor has no elements. */
#pragma once
#include <cstdint>
#include <memory>
#include <string>

struct Failure {
  /** `aten::mm` */
  std::string op;
  /** In the code of the controller. */
  std::string site;
  std::string message;
  /** The process of the mesh on which it failed. */
  uint64_t rank;
};

using Failed = std::shared_ptr<const Failure>;
