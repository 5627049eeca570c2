/**
 * A group of processes of a mesh: the processes whose coordinates are equal in all dimensions except the given ones.
 */
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

struct Group {
  /** Ranks in the mesh. The coordinate in the last of the given dimensions varies fastest. */
  std::vector<size_t> members;
  /** The index of this process in `members`. */
  size_t index = 0;

  size_t size() const { return members.size(); }
};

/**
 * @param sizes the sizes of the dimensions of the mesh, outermost first
 * @param along indices of dimensions
 * @throws std::runtime_error if a dimension does not exist or is given twice
 */
Group GroupAlong(const std::vector<size_t>& sizes, size_t rank, const std::vector<int64_t>& along);
