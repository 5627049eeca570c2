#include "libtorch/random.h"

#include <ATen/Context.h>

#include <mutex>

void SeedProcess(uint64_t seed, c10::Device device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
}
