#include "node/environment.h"

#include <iterator>

namespace {

using Held = std::shared_ptr<Environment>;

/** Runs while the heap still exists: grants of memory in the heap must end before that memory is reused. */
void End(void* data) {
  auto environment = static_cast<Environment*>(data);
  environment->ending = true;
  for (const auto& entry : environment->mappings) entry.second->EnvironmentEnds();
}

}  // namespace

std::shared_ptr<Environment> Environment::Of(Napi::Env env) {
  return *env.GetInstanceData<Held>();
}

std::shared_ptr<Mapping> Environment::HolderOf(const void* address) const {
  auto after = mappings.upper_bound(const_cast<void*>(address));
  if (after == mappings.begin()) return nullptr;
  const auto& mapping = std::prev(after)->second;
  const auto offset =
      static_cast<size_t>(static_cast<const char*>(address) - static_cast<const char*>(mapping->base()));
  return offset < mapping->length() ? mapping : nullptr;
}

void Environment::Begin(Napi::Env env) {
  auto held = new Held(std::make_shared<Environment>());
  // Deleted after the environment has ended; the cleanup hooks run before that.
  env.SetInstanceData<Held>(held);
  napi_add_env_cleanup_hook(env, End, held->get());
}
