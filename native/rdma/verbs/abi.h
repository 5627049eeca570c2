/**
 * The part of the binary interface of libibverbs that the addon uses (IBVERBS_1.1, unchanged since 2008). It is
 * declared here because some build machines lack the headers, and some target machines lack the library, which is
 * therefore loaded on demand. test/rdma/verbs-abi.cc compares each size and offset with the real header.
 *
 * The names are those of the real header without `ibv_`, so its manual pages apply.
 */
#pragma once
#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace verbs {

struct Device;
struct Qp;
struct Cq;
struct Wc;
struct SendWr;

/** `ibv_context_ops`, with names for the entries that programs call themselves. */
struct ContextOps {
  void* before_poll_cq[11];
  int (*poll_cq)(Cq* cq, int entries, Wc* wc);
  int (*req_notify_cq)(Cq* cq, int solicited_only);
  void* before_post_send[12];
  int (*post_send)(Qp* qp, SendWr* wr, SendWr** bad);
  void* after_post_send[6];
};

struct Context {
  Device* device;
  ContextOps ops;
  int cmd_fd;
  int async_fd;
  int num_comp_vectors;
  pthread_mutex_t mutex;
  void* abi_compat;
};

struct Pd;

struct CompChannel {
  Context* context;
  int fd;
  int refcnt;
};

struct Mr {
  Context* context;
  Pd* pd;
  void* addr;
  size_t length;
  uint32_t handle;
  uint32_t lkey;
  uint32_t rkey;
};

struct Cq {
  Context* context;
  CompChannel* channel;
  void* cq_context;
  uint32_t handle;
  int cqe;
};

struct Qp {
  Context* context;
  void* qp_context;
  Pd* pd;
  Cq* send_cq;
  Cq* recv_cq;
  void* srq;
  uint32_t handle;
  uint32_t qp_num;
};

/** Written by ibv_query_device. The library writes more fields than this struct names. */
struct DeviceAttr {
  char fw_ver[64];
  uint64_t unused[4];
  uint32_t vendor[3];
  int max_qp;
  int max_qp_wr;
  unsigned device_cap_flags;
  int max_sge;
  int max_sge_rd;
  int max_cq;
  int max_cqe;
  int max_mr;
  int max_pd;
  /** The maximum number of concurrent reads that a queue pair answers. */
  int max_qp_rd_atom;
  int max_ee_rd_atom;
  int max_res_rd_atom;
  /** The maximum number of concurrent reads that a queue pair requests. */
  int max_qp_init_rd_atom;
  char rest[256];
};

/** Written by ibv_query_port. The library writes more fields than this struct names. */
struct PortAttr {
  int state;
  int max_mtu;
  int active_mtu;
  int gid_tbl_len;
  uint32_t unused[4];
  uint16_t pkey_tbl_len;
  uint16_t lid;
  char rest[64];
};

constexpr int kPortActive = 4;

struct QpCap {
  uint32_t max_send_wr;
  uint32_t max_recv_wr;
  uint32_t max_send_sge;
  uint32_t max_recv_sge;
  uint32_t max_inline_data;
};

constexpr int kQptRc = 2;

struct QpInitAttr {
  void* qp_context;
  Cq* send_cq;
  Cq* recv_cq;
  void* srq;
  QpCap cap;
  int qp_type;
  int sq_sig_all;
};

struct AhAttr {
  alignas(8) uint8_t dgid[16];
  uint32_t flow_label;
  uint8_t sgid_index;
  uint8_t hop_limit;
  uint8_t traffic_class;
  uint16_t dlid;
  uint8_t sl;
  uint8_t src_path_bits;
  uint8_t static_rate;
  uint8_t is_global;
  uint8_t port_num;
};

enum QpState : int { kInit = 1, kRtr = 2, kRts = 3, kErr = 6 };

struct QpAttr {
  int qp_state;
  int cur_qp_state;
  int path_mtu;
  int path_mig_state;
  uint32_t qkey;
  uint32_t rq_psn;
  uint32_t sq_psn;
  uint32_t dest_qp_num;
  unsigned qp_access_flags;
  QpCap cap;
  AhAttr ah_attr;
  AhAttr alt_ah_attr;
  uint16_t pkey_index;
  uint16_t alt_pkey_index;
  uint8_t en_sqd_async_notify;
  uint8_t sq_draining;
  uint8_t max_rd_atomic;
  uint8_t max_dest_rd_atomic;
  uint8_t min_rnr_timer;
  uint8_t port_num;
  uint8_t timeout;
  uint8_t retry_cnt;
  uint8_t rnr_retry;
  uint8_t alt_port_num;
  uint8_t alt_timeout;
  uint32_t rate_limit;
};

/** Values of `ibv_qp_attr_mask`. */
enum QpMask : int {
  kState = 1 << 0,
  kAccessFlags = 1 << 3,
  kPkeyIndex = 1 << 4,
  kPort = 1 << 5,
  kAv = 1 << 7,
  kPathMtu = 1 << 8,
  kTimeout = 1 << 9,
  kRetryCnt = 1 << 10,
  kRnrRetry = 1 << 11,
  kRqPsn = 1 << 12,
  kMaxRdAtomic = 1 << 13,
  kMinRnrTimer = 1 << 15,
  kSqPsn = 1 << 16,
  kMaxDestRdAtomic = 1 << 17,
  kDestQpn = 1 << 20,
};

/** Values of `ibv_access_flags`. */
enum Access : int { kLocalWrite = 1, kRemoteWrite = 2, kRemoteRead = 4 };

struct Sge {
  uint64_t addr;
  uint32_t length;
  uint32_t lkey;
};

enum Opcode : int { kRdmaWrite = 0, kRdmaRead = 4 };
constexpr unsigned kSignaled = 2;

struct SendWr {
  uint64_t wr_id;
  SendWr* next;
  Sge* sg_list;
  int num_sge;
  int opcode;
  unsigned send_flags;
  uint32_t imm_data;
  uint64_t remote_addr;
  uint32_t rkey;
  uint32_t rest[19];
};

struct Wc {
  uint64_t wr_id;
  int status;
  int opcode;
  uint32_t vendor_err;
  uint32_t byte_len;
  uint32_t imm_data;
  uint32_t qp_num;
  uint32_t src_qp;
  unsigned wc_flags;
  uint16_t pkey_index;
  uint16_t slid;
  uint8_t sl;
  uint8_t dlid_path_bits;
};

}  // namespace verbs
