/** A range of address space that maps a file. The range is unmapped when the last reference to it is dropped. */
#pragma once
#include <sys/mman.h>

#include <cstddef>

class Mapping {
 public:
  /** @param wiped whether other processes see zeros in this memory once the environment ends */
  Mapping(void* base, size_t length, bool wiped) : base_(base), length_(length), wiped_(wiped) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(base_, length_); }

  void* base() const { return base_; }
  size_t length() const { return length_; }
  /**
   * Frees the pages if the mapping was created with `wiped`. The environment is ending, and memory that this mapping
   * describes will soon belong to others.
   */
  void EnvironmentEnds() const {
    if (wiped_) madvise(base_, length_, MADV_REMOVE);
  }

 private:
  void* base_;
  size_t length_;
  bool wiped_;
};
