#include "random.h"

#include <ATen/Context.h>

#include <mutex>

void SeedProcess(uint64_t seed) {
  at::Generator generator = at::globalContext().defaultGenerator(c10::Device(c10::DeviceType::CPU));
  std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
}
