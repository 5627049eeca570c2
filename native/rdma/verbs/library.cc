#include "verbs/library.h"

#include <dlfcn.h>
#include <sys/utsname.h>

#include <cstdio>
#include <mutex>

namespace {

struct Loaded {
  VerbsLibrary functions;
  bool complete = false;
  std::string why;

  Loaded();

  template <typename F>
  void Find(void* library, const char* name, F** function) {
    *function = reinterpret_cast<F*>(dlsym(library, name));
    if (*function == nullptr && why.empty()) why = std::string("libibverbs.so.1 has no ") + name;
  }
};

/**
 * Returns whether a process can start child processes while memory is registered. Since Linux 5.12 a new child gets
 * copies of registered pages, and the device keeps using the parent's pages. Before that version, the parent could lose
 * them. ibv_fork_init is not called: it excludes the registered pages from the child, and with them all other data on
 * those pages, so that starting a process fails with EFAULT.
 */
bool StartingProcessesIsSafe() {
  struct utsname system;
  int major = 0;
  int minor = 0;
  if (uname(&system) != 0 || sscanf(system.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 12);
}

Loaded::Loaded() {
  if (!StartingProcessesIsSafe()) {
    why = "it needs Linux 5.12 or later";
    return;
  }
  // The library is never unloaded, because it holds locks of its own.
  void* library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    why = dlerror();
    return;
  }
  Find(library, "ibv_get_device_list", &functions.get_device_list);
  Find(library, "ibv_free_device_list", &functions.free_device_list);
  Find(library, "ibv_get_device_name", &functions.get_device_name);
  Find(library, "ibv_open_device", &functions.open_device);
  Find(library, "ibv_close_device", &functions.close_device);
  Find(library, "ibv_query_device", &functions.query_device);
  Find(library, "ibv_query_port", &functions.query_port);
  Find(library, "ibv_alloc_pd", &functions.alloc_pd);
  Find(library, "ibv_dealloc_pd", &functions.dealloc_pd);
  Find(library, "ibv_reg_mr", &functions.reg_mr);
  Find(library, "ibv_dereg_mr", &functions.dereg_mr);
  Find(library, "ibv_create_comp_channel", &functions.create_comp_channel);
  Find(library, "ibv_destroy_comp_channel", &functions.destroy_comp_channel);
  Find(library, "ibv_create_cq", &functions.create_cq);
  Find(library, "ibv_destroy_cq", &functions.destroy_cq);
  Find(library, "ibv_get_cq_event", &functions.get_cq_event);
  Find(library, "ibv_ack_cq_events", &functions.ack_cq_events);
  Find(library, "ibv_create_qp", &functions.create_qp);
  Find(library, "ibv_modify_qp", &functions.modify_qp);
  Find(library, "ibv_destroy_qp", &functions.destroy_qp);
  Find(library, "ibv_wc_status_str", &functions.wc_status_str);
  if (!why.empty()) return;
  complete = true;
}

}  // namespace

const VerbsLibrary* VerbsLibrary::Load(std::string* why) {
  static std::once_flag once;
  static Loaded* loaded = nullptr;
  std::call_once(once, [] { loaded = new Loaded; });
  if (loaded->complete) return &loaded->functions;
  *why = loaded->why;
  return nullptr;
}
