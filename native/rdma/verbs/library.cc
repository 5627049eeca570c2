#include "verbs/library.h"

#include <sys/utsname.h>

#include <cstdio>

#include "node/libuv.h"

namespace {

struct Loaded {
  VerbsLibrary functions;
  bool complete = false;
  std::string why;
  /** The library is never unloaded, because it holds locks of its own. */
  uv_lib_t library = {};

  Loaded();

  template <typename F>
  void Find(const char* name, F** function) {
    void* found = nullptr;
    uv_dlsym(&library, name, &found);
    *function = reinterpret_cast<F*>(found);
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
  if (uv_dlopen("libibverbs.so.1", &library) != 0) {
    why = uv_dlerror(&library);
    return;
  }
  Find("ibv_get_device_list", &functions.get_device_list);
  Find("ibv_free_device_list", &functions.free_device_list);
  Find("ibv_get_device_name", &functions.get_device_name);
  Find("ibv_open_device", &functions.open_device);
  Find("ibv_close_device", &functions.close_device);
  Find("ibv_query_device", &functions.query_device);
  Find("ibv_query_port", &functions.query_port);
  Find("ibv_alloc_pd", &functions.alloc_pd);
  Find("ibv_dealloc_pd", &functions.dealloc_pd);
  Find("ibv_reg_mr", &functions.reg_mr);
  Find("ibv_dereg_mr", &functions.dereg_mr);
  Find("ibv_create_comp_channel", &functions.create_comp_channel);
  Find("ibv_destroy_comp_channel", &functions.destroy_comp_channel);
  Find("ibv_create_cq", &functions.create_cq);
  Find("ibv_destroy_cq", &functions.destroy_cq);
  Find("ibv_get_cq_event", &functions.get_cq_event);
  Find("ibv_ack_cq_events", &functions.ack_cq_events);
  Find("ibv_create_qp", &functions.create_qp);
  Find("ibv_modify_qp", &functions.modify_qp);
  Find("ibv_destroy_qp", &functions.destroy_qp);
  Find("ibv_wc_status_str", &functions.wc_status_str);
  if (!why.empty()) return;
  complete = true;
}

}  // namespace

const VerbsLibrary* VerbsLibrary::Load(std::string* why) {
  static const Loaded* loaded = new Loaded;
  if (loaded->complete) return &loaded->functions;
  *why = loaded->why;
  return nullptr;
}
