#include "recorder/recorded_device.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "recorder/recorded_tensor.h"

#if VICEROY_TORCH >= 206
#include <ATen/detail/PrivateUse1HooksInterface.h>
#endif

namespace {

class RecordedGuard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return RecordedDevice().type(); }
  c10::Device exchangeDevice(c10::Device) const override { return RecordedDevice(); }
  c10::Device getDevice() const override { return RecordedDevice(); }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device) const noexcept override { return Only(); }
  c10::Stream getDefaultStream(c10::Device) const override { return Only(); }
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return Only(); }
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
#if VICEROY_TORCH >= 203
  c10::Stream getNewStream(c10::Device, int) const override { return Only(); }
#endif
#if VICEROY_TORCH >= 204
  void synchronizeEvent(void*) const override {}
#endif
  void record(void**, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void destroyEvent(void*, const c10::DeviceIndex) const noexcept override {}

 private:
  static c10::Stream Only() { return c10::Stream(c10::Stream::DEFAULT, RecordedDevice()); }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, RecordedGuard);

#if VICEROY_TORCH >= 206
/**
 * Declares the device as an accelerator. Since 2.8, autograd asks the accelerator of the process for a stream, and
 * computes no gradients without an accelerator.
 */
class RecordedHooks final : public at::PrivateUse1HooksInterface {
 public:
  // In 2.6 these two functions override nothing.
  bool isBuilt() const { return true; }
  bool isAvailable() const { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
};
#endif

}  // namespace

void RegisterRecordedDevice() {
#if VICEROY_TORCH >= 206
  // Never deleted, because the threads of autograd run until the process has ended.
  at::RegisterPrivateUse1HooksInterface(new RecordedHooks);
  // A device without a name is not an accelerator. The name also appears in messages of libtorch.
  c10::register_privateuse1_backend("mesh");
#endif
}
