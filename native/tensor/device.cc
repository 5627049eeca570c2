#include "device.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

std::string FileOfTorch() {
  Dl_info found;
  return dladdr(reinterpret_cast<void*>(&c10::GetCPUAllocator), &found) != 0 ? found.dli_fname : "";
}

namespace {

constexpr auto kCuda = c10::DeviceType::CUDA;

/** Its kernels are in a library of their own, beside the one that the addon is linked to. Loaded once, and never given back. @returns why it cannot be */
std::string LoadCuda() {
  const std::string torch = FileOfTorch();
  // Both have the same ending: `.so`, or `.so.2.6`.
  const size_t name = torch.rfind('/') + 1;
  const std::string file = torch.substr(0, name) + "libtorch_cuda" + torch.substr(std::min(torch.find('.', name), torch.size()));
  if (dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    const char* why = dlerror();
    return "libtorch " TORCH_VERSION " in " + torch + " has no CUDA (" + (why == nullptr ? "no reason is given" : why) + ")";
  }
  if (!c10::impl::hasDeviceGuardImpl(kCuda)) return "libtorch " TORCH_VERSION " in " + torch + " does not know of CUDA, though " + file + " is loaded";
  return {};
}

int DeviceCount() {
  static const std::string why = LoadCuda();
  if (!why.empty()) throw std::runtime_error(why + ": install a libtorch with CUDA, and run `npx viceroy setup --tensor` again");
  const int count = c10::impl::VirtualGuardImpl(kCuda).deviceCount();
  if (count > 0) return count;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  throw std::runtime_error(std::string("libtorch " TORCH_VERSION " finds no device of CUDA: look at what nvidia-smi says; CUDA_VISIBLE_DEVICES is ") +
                           (visible == nullptr ? "not set" : "\"" + std::string(visible) + "\""));
}

/** After `cuda:`. @returns -1 for what is no number */
int IndexIn(const std::string& name) {
  const std::string digits = name.substr(name.find(':') + 1);
  const bool number = !digits.empty() && digits.size() < 4 && digits.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::stoi(digits) : -1;
}

}  // namespace

c10::Device DeviceNamed(const std::string& name, uint64_t rank) {
  if (name == "cpu") return c10::Device(c10::DeviceType::CPU);
  const bool any = name == "cuda";
  const int wanted = any ? 0 : IndexIn(name);
  if (!any && (name.rfind("cuda:", 0) != 0 || wanted < 0)) {
    throw std::runtime_error("there is no device \"" + name + "\": it is \"cpu\", \"cuda\" or \"cuda:\" and a number");
  }
  const int count = DeviceCount();
  if (wanted >= count) throw std::runtime_error("there is no " + name + ": the process sees " + std::to_string(count) + " devices, from 0 on");
  const c10::Device device(kCuda, static_cast<c10::DeviceIndex>(any ? rank % static_cast<uint64_t>(count) : static_cast<uint64_t>(wanted)));
  // One that cannot be used is found here, and not by the thread that is to use it.
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
