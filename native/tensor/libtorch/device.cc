#include "libtorch/device.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

std::string LibtorchFile() {
  Dl_info found;
  return dladdr(reinterpret_cast<void*>(&c10::GetCPUAllocator), &found) != 0 ? found.dli_fname : "";
}

namespace {

constexpr auto kCuda = c10::DeviceType::CUDA;

/**
 * Loads libtorch's library with the CUDA kernels, which is next to the library that the addon is linked to. It is never
 * unloaded.
 * @returns the reason of a failure, or an empty text
 */
std::string LoadCuda() {
  const std::string torch = LibtorchFile();
  // Both file names have the same ending: `.so` or `.so.2.6`.
  const size_t name = torch.rfind('/') + 1;
  const std::string file =
      torch.substr(0, name) + "libtorch_cuda" + torch.substr(std::min(torch.find('.', name), torch.size()));
  if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* why = dlerror();
    return "libtorch " TORCH_VERSION " in " + torch + " has no CUDA (" + (why == nullptr ? "no reason is given" : why) +
           ")";
  }
  if (!c10::impl::hasDeviceGuardImpl(kCuda))
    return "libtorch " TORCH_VERSION " in " + torch + " does not support CUDA, though " + file + " is loaded";
  return {};
}

int DeviceCount() {
  static const std::string why = LoadCuda();
  if (!why.empty())
    throw std::runtime_error(why + ": install a libtorch with CUDA, and run `npx viceroy setup --tensor` again");
  const int count = c10::impl::VirtualGuardImpl(kCuda).deviceCount();
  if (count > 0) return count;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  throw std::runtime_error(
      std::string("libtorch " TORCH_VERSION
                  " finds no CUDA device: check the output of nvidia-smi; CUDA_VISIBLE_DEVICES is ") +
      (visible == nullptr ? "not set" : "\"" + std::string(visible) + "\""));
}

/** Returns the number after `cuda:`, or -1 if the text is not a number. */
int IndexIn(const std::string& name) {
  const std::string digits = name.substr(name.find(':') + 1);
  const bool number =
      !digits.empty() && digits.size() < 4 && digits.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::stoi(digits) : -1;
}

}  // namespace

c10::Device DeviceNamed(const std::string& name, uint64_t rank) {
  if (name == "cpu") return c10::Device(c10::DeviceType::CPU);
  const bool any = name == "cuda";
  const int wanted = any ? 0 : IndexIn(name);
  if (!any && (name.rfind("cuda:", 0) != 0 || wanted < 0)) {
    throw std::runtime_error("unknown device \"" + name + "\": expected \"cpu\", \"cuda\", or \"cuda:\" and a number");
  }
  const int count = DeviceCount();
  if (wanted >= count)
    throw std::runtime_error("there is no " + name + ": the process sees " + std::to_string(count) +
                             " devices, from 0 on");
  const c10::Device device(
      kCuda, static_cast<c10::DeviceIndex>(any ? rank % static_cast<uint64_t>(count) : static_cast<uint64_t>(wanted)));
  // Selects the device once, so that an unusable device is detected here and not by the thread that uses it later.
  const c10::impl::VirtualGuardImpl guard(kCuda);
  guard.setDevice(guard.exchangeDevice(device));
  return device;
}

void UseDevice(c10::Device device) {
  if (!device.is_cpu()) c10::impl::VirtualGuardImpl(device.type()).setDevice(device);
}

bool IsIdle(c10::Device device) {
  if (device.is_cpu()) return true;
  const c10::impl::VirtualGuardImpl guard(device.type());
  return guard.queryStream(guard.getStream(device));
}
