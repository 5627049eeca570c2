/**
 * libibverbs, loaded on first use, once per process for all its environments. A process without the library or without
 * RDMA devices works without it.
 */
#pragma once
#include <string>

#include "verbs/abi.h"

struct VerbsLibrary {
  verbs::Device** (*get_device_list)(int* count);
  void (*free_device_list)(verbs::Device** list);
  const char* (*get_device_name)(verbs::Device* device);
  verbs::Context* (*open_device)(verbs::Device* device);
  int (*close_device)(verbs::Context* context);
  int (*query_device)(verbs::Context* context, verbs::DeviceAttr* attributes);
  int (*query_port)(verbs::Context* context, uint8_t port, verbs::PortAttr* attributes);
  verbs::Pd* (*alloc_pd)(verbs::Context* context);
  int (*dealloc_pd)(verbs::Pd* pd);
  verbs::Mr* (*reg_mr)(verbs::Pd* pd, void* address, size_t length, int access);
  int (*dereg_mr)(verbs::Mr* mr);
  verbs::CompChannel* (*create_comp_channel)(verbs::Context* context);
  int (*destroy_comp_channel)(verbs::CompChannel* channel);
  verbs::Cq* (*create_cq)(verbs::Context* context, int entries, void* own, verbs::CompChannel* channel, int vector);
  int (*destroy_cq)(verbs::Cq* cq);
  int (*get_cq_event)(verbs::CompChannel* channel, verbs::Cq** cq, void** own);
  void (*ack_cq_events)(verbs::Cq* cq, unsigned count);
  verbs::Qp* (*create_qp)(verbs::Pd* pd, verbs::QpInitAttr* attributes);
  int (*modify_qp)(verbs::Qp* qp, verbs::QpAttr* attributes, int mask);
  int (*destroy_qp)(verbs::Qp* qp);
  const char* (*wc_status_str)(int status);

  /** Loads the library. @returns null on failure, with the reason in `why` */
  static const VerbsLibrary* Load(std::string* why);
};
