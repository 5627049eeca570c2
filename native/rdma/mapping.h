/** A range of address space with memory of a file behind it; unmapped when nobody holds it any more. */
#pragma once
#include <sys/mman.h>

#include <cstddef>

class Mapping {
 public:
  /** @param wiped whether others see zeros there when the environment ends */
  Mapping(void* base, size_t length, bool wiped) : base_(base), length_(length), wiped_(wiped) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(base_, length_); }

  void* base() const { return base_; }
  size_t length() const { return length_; }
  /** The environment ends, and soon memory will be somebody else's that this speaks of. */
  void EnvironmentEnds() const {
    if (wiped_) madvise(base_, length_, MADV_REMOVE);
  }

 private:
  void* base_;
  size_t length_;
  bool wiped_;
};
