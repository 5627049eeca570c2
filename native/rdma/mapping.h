/** A range of address space with memory of a file behind it; unmapped when nobody holds it any more. */
#pragma once
#include <sys/mman.h>

#include <cstddef>

class Mapping {
 public:
  Mapping(void* base, size_t length) : base_(base), length_(length) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(base_, length_); }

  void* base() const { return base_; }
  size_t length() const { return length_; }

 private:
  void* base_;
  size_t length_;
};
