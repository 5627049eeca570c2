#include "libtorch/error_text.h"

#include "libtorch/torch.h"

std::string ErrorText(const std::exception& error) {
  auto torch = dynamic_cast<const c10::Error*>(&error);
  std::string what = torch == nullptr ? error.what() : torch->what_without_backtrace();
  // The lines that follow describe the location in libtorch's code.
  const size_t end = what.find("\nException raised from");
  if (end != std::string::npos) what.resize(end);
  while (!what.empty() && what.back() == '\n') what.pop_back();
  return what;
}
