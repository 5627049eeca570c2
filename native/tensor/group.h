/** Processes of a mesh that do something together: those that differ in their places along some dimensions, and in no other. */
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

struct Group {
  /** Ranks in the mesh, in the order of their places: along the first dimension that was named last. */
  std::vector<size_t> members;
  /** Of this process among them. */
  size_t index = 0;

  size_t size() const { return members.size(); }
};

/**
 * @param sizes of the dimensions of the mesh, outermost first
 * @param along dimensions, by their places in `sizes`
 * @throws std::runtime_error when there are no such dimensions
 */
Group GroupAlong(const std::vector<size_t>& sizes, size_t rank, const std::vector<int64_t>& along);
