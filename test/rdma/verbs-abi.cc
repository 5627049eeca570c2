/**
 * Compares the declarations of native/rdma/verbs/abi.h with those of libibverbs. The file compiles only if they are
 * equal. test/rdma/verbs-abi.test.ts compiles it if the header of libibverbs is installed.
 */
#include <infiniband/verbs.h>

#include "verbs/abi.h"

#define SAME_PLACE(ours, theirs, field) \
  static_assert(offsetof(ours, field) == offsetof(theirs, field), #theirs "." #field)
#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define FITS(ours, theirs) static_assert(sizeof(ours) >= sizeof(theirs), #theirs)
#define STARTS_LIKE(ours, theirs) static_assert(sizeof(ours) <= sizeof(theirs), #theirs)
#define SAME_VALUE(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs), #theirs)

SAME_SIZE(verbs::ContextOps, ibv_context_ops);
SAME_PLACE(verbs::ContextOps, ibv_context_ops, poll_cq);
SAME_PLACE(verbs::ContextOps, ibv_context_ops, req_notify_cq);
SAME_PLACE(verbs::ContextOps, ibv_context_ops, post_send);
SAME_SIZE(verbs::Context, ibv_context);
SAME_PLACE(verbs::Context, ibv_context, ops);
SAME_PLACE(verbs::Context, ibv_context, cmd_fd);
SAME_PLACE(verbs::Context, ibv_context, async_fd);

SAME_SIZE(verbs::CompChannel, ibv_comp_channel);
SAME_PLACE(verbs::CompChannel, ibv_comp_channel, fd);

SAME_SIZE(verbs::Mr, ibv_mr);
SAME_PLACE(verbs::Mr, ibv_mr, addr);
SAME_PLACE(verbs::Mr, ibv_mr, length);
SAME_PLACE(verbs::Mr, ibv_mr, lkey);
SAME_PLACE(verbs::Mr, ibv_mr, rkey);

STARTS_LIKE(verbs::Cq, ibv_cq);
SAME_PLACE(verbs::Cq, ibv_cq, context);
SAME_PLACE(verbs::Cq, ibv_cq, cqe);
STARTS_LIKE(verbs::Qp, ibv_qp);
SAME_PLACE(verbs::Qp, ibv_qp, context);
SAME_PLACE(verbs::Qp, ibv_qp, qp_num);

FITS(verbs::DeviceAttr, ibv_device_attr);
SAME_PLACE(verbs::DeviceAttr, ibv_device_attr, max_qp);
SAME_PLACE(verbs::DeviceAttr, ibv_device_attr, max_qp_wr);
SAME_PLACE(verbs::DeviceAttr, ibv_device_attr, max_cqe);
SAME_PLACE(verbs::DeviceAttr, ibv_device_attr, max_qp_rd_atom);
SAME_PLACE(verbs::DeviceAttr, ibv_device_attr, max_qp_init_rd_atom);

FITS(verbs::PortAttr, ibv_port_attr);
SAME_PLACE(verbs::PortAttr, ibv_port_attr, state);
SAME_PLACE(verbs::PortAttr, ibv_port_attr, active_mtu);
SAME_PLACE(verbs::PortAttr, ibv_port_attr, lid);
SAME_VALUE(verbs::kPortActive, IBV_PORT_ACTIVE);

SAME_SIZE(verbs::QpCap, ibv_qp_cap);
SAME_SIZE(verbs::QpInitAttr, ibv_qp_init_attr);
SAME_PLACE(verbs::QpInitAttr, ibv_qp_init_attr, cap);
SAME_PLACE(verbs::QpInitAttr, ibv_qp_init_attr, qp_type);
SAME_PLACE(verbs::QpInitAttr, ibv_qp_init_attr, sq_sig_all);
SAME_VALUE(verbs::kQptRc, IBV_QPT_RC);

SAME_SIZE(verbs::AhAttr, ibv_ah_attr);
SAME_PLACE(verbs::AhAttr, ibv_ah_attr, dlid);
SAME_PLACE(verbs::AhAttr, ibv_ah_attr, is_global);
SAME_PLACE(verbs::AhAttr, ibv_ah_attr, port_num);
static_assert(offsetof(verbs::AhAttr, dgid) == offsetof(ibv_ah_attr, grh.dgid), "dgid");
static_assert(offsetof(verbs::AhAttr, sgid_index) == offsetof(ibv_ah_attr, grh.sgid_index), "sgid_index");
static_assert(offsetof(verbs::AhAttr, hop_limit) == offsetof(ibv_ah_attr, grh.hop_limit), "hop_limit");

SAME_SIZE(verbs::QpAttr, ibv_qp_attr);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, qp_state);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, path_mtu);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, rq_psn);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, sq_psn);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, dest_qp_num);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, qp_access_flags);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, ah_attr);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, pkey_index);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, max_rd_atomic);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, max_dest_rd_atomic);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, min_rnr_timer);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, port_num);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, timeout);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, retry_cnt);
SAME_PLACE(verbs::QpAttr, ibv_qp_attr, rnr_retry);

SAME_VALUE(verbs::kInit, IBV_QPS_INIT);
SAME_VALUE(verbs::kRtr, IBV_QPS_RTR);
SAME_VALUE(verbs::kRts, IBV_QPS_RTS);
SAME_VALUE(verbs::kErr, IBV_QPS_ERR);
SAME_VALUE(verbs::kState, IBV_QP_STATE);
SAME_VALUE(verbs::kAccessFlags, IBV_QP_ACCESS_FLAGS);
SAME_VALUE(verbs::kPkeyIndex, IBV_QP_PKEY_INDEX);
SAME_VALUE(verbs::kPort, IBV_QP_PORT);
SAME_VALUE(verbs::kAv, IBV_QP_AV);
SAME_VALUE(verbs::kPathMtu, IBV_QP_PATH_MTU);
SAME_VALUE(verbs::kTimeout, IBV_QP_TIMEOUT);
SAME_VALUE(verbs::kRetryCnt, IBV_QP_RETRY_CNT);
SAME_VALUE(verbs::kRnrRetry, IBV_QP_RNR_RETRY);
SAME_VALUE(verbs::kRqPsn, IBV_QP_RQ_PSN);
SAME_VALUE(verbs::kMaxRdAtomic, IBV_QP_MAX_QP_RD_ATOMIC);
SAME_VALUE(verbs::kMinRnrTimer, IBV_QP_MIN_RNR_TIMER);
SAME_VALUE(verbs::kSqPsn, IBV_QP_SQ_PSN);
SAME_VALUE(verbs::kMaxDestRdAtomic, IBV_QP_MAX_DEST_RD_ATOMIC);
SAME_VALUE(verbs::kDestQpn, IBV_QP_DEST_QPN);
SAME_VALUE(verbs::kLocalWrite, IBV_ACCESS_LOCAL_WRITE);
SAME_VALUE(verbs::kRemoteWrite, IBV_ACCESS_REMOTE_WRITE);
SAME_VALUE(verbs::kRemoteRead, IBV_ACCESS_REMOTE_READ);
SAME_VALUE(verbs::kRdmaWrite, IBV_WR_RDMA_WRITE);
SAME_VALUE(verbs::kRdmaRead, IBV_WR_RDMA_READ);
SAME_VALUE(verbs::kSignaled, IBV_SEND_SIGNALED);

SAME_SIZE(verbs::Sge, ibv_sge);
SAME_SIZE(verbs::SendWr, ibv_send_wr);
SAME_PLACE(verbs::SendWr, ibv_send_wr, sg_list);
SAME_PLACE(verbs::SendWr, ibv_send_wr, num_sge);
SAME_PLACE(verbs::SendWr, ibv_send_wr, opcode);
SAME_PLACE(verbs::SendWr, ibv_send_wr, send_flags);
static_assert(offsetof(verbs::SendWr, remote_addr) == offsetof(ibv_send_wr, wr.rdma.remote_addr), "remote_addr");
static_assert(offsetof(verbs::SendWr, rkey) == offsetof(ibv_send_wr, wr.rdma.rkey), "rkey");

SAME_SIZE(verbs::Wc, ibv_wc);
SAME_PLACE(verbs::Wc, ibv_wc, status);
SAME_PLACE(verbs::Wc, ibv_wc, qp_num);
