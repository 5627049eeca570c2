/**
 * The interface between the addon `stack`, which needs the headers of V8, and the addon `tensor`, which works with
 * every version of Node.js. The former passes the address of a StackSampler to the latter through JavaScript.
 */
#pragma once
#include <cstddef>
#include <cstdint>

/** The layout of this structure and the meaning of its fields. Both addons compare it. */
constexpr uint32_t kStackSamplerLayout = 1;

/** Samples the stack of one thread of JavaScript. Used by this thread only. */
struct StackSampler {
  uint32_t layout = kStackSamplerLayout;
  /**
   * Increases whenever code may have been freed or moved. Positions of equal generations can be compared: equal ones
   * are the same place in the same code.
   */
  uint32_t generation = 0;
  /** The isolate of the thread. */
  void* isolate = nullptr;
  /**
   * Writes the positions of the innermost frames of JavaScript. A position is an address in machine code, or that of a
   * bytecode. The time grows with the number of frames.
   * @return the number of positions
   */
  size_t (*sample)(const StackSampler& sampler, void** positions, size_t limit) = nullptr;
};
