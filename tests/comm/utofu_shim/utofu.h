/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * A loopback shim of uTofu, the interface of the Tofu-D interconnect, for tests on machines without one.
 *
 * Written from the interface that Fujitsu documents ("Development Studio uTofu User's Guide"): the names, signatures
 * and return codes of what Halocline uses, so that the transport compiles against it unchanged. It joins ranks that
 * live in one process (comm::simulate): a put is a copy that the shim does piece by piece whenever some queue is
 * polled. Left out: reads, atomics, strides, the message receive queue, barriers and reductions, paths other than the
 * default one, session mode, prepared descriptors, and everything between two nodes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UTOFU_VCQ_FLAG_THREAD_SAFE (1UL << 0)
#define UTOFU_VCQ_FLAG_EXCLUSIVE (1UL << 1)
#define UTOFU_VCQ_FLAG_SESSION_MODE (1UL << 2)

#define UTOFU_ONESIDED_FLAG_STRONG_ORDER (1UL << 0)
#define UTOFU_ONESIDED_FLAG_CACHE_INJECTION (1UL << 5)
#define UTOFU_ONESIDED_FLAG_TCQ_NOTICE (1UL << 14)

typedef uint16_t utofu_tni_id_t;
typedef uintptr_t utofu_vcq_hdl_t;
typedef uint64_t utofu_vcq_id_t;
typedef uint64_t utofu_stadd_t;

enum utofu_return_code {
  UTOFU_SUCCESS = 0,
  UTOFU_ERR_NOT_FOUND = -1,
  UTOFU_ERR_BUSY = -4,
  UTOFU_ERR_FULL = -6,
  UTOFU_ERR_TCQ_STADD = -131,
  UTOFU_ERR_INVALID_ARG = -512,
  UTOFU_ERR_INVALID_POINTER = -513,
  UTOFU_ERR_INVALID_FLAGS = -514,
  UTOFU_ERR_INVALID_TNI_ID = -517,
  UTOFU_ERR_INVALID_VCQ_HDL = -521,
  UTOFU_ERR_INVALID_VCQ_ID = -522,
  UTOFU_ERR_INVALID_STADD = -525,
  UTOFU_ERR_INVALID_ADDRESS = -526,
  UTOFU_ERR_INVALID_SIZE = -527,
  UTOFU_ERR_INVALID_EDATA = -529
};

struct utofu_onesided_caps {
  unsigned long int flags;
  unsigned long int armw_ops;
  unsigned int num_cmp_ids;
  unsigned int num_reserved_stags;
  size_t cache_line_size;
  size_t stag_address_alignment;
  size_t max_toq_desc_size;
  size_t max_putget_size;
  size_t max_piggyback_size;
  size_t max_edata_size;
  size_t max_mtu;
  size_t max_gap;
};

/* The caller frees the list. */
int utofu_get_onesided_tnis(utofu_tni_id_t** tni_ids, size_t* num_tnis);
int utofu_query_onesided_caps(utofu_tni_id_t tni_id, struct utofu_onesided_caps** tni_caps);

int utofu_create_vcq(utofu_tni_id_t tni_id, unsigned long int flags, utofu_vcq_hdl_t* vcq_hdl);
int utofu_free_vcq(utofu_vcq_hdl_t vcq_hdl);
int utofu_query_vcq_id(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t* vcq_id);
int utofu_set_vcq_id_path(utofu_vcq_id_t* vcq_id, uint8_t path_coords[]);

int utofu_reg_mem(utofu_vcq_hdl_t vcq_hdl, void* addr, size_t size, unsigned long int flags, utofu_stadd_t* stadd);
int utofu_dereg_mem(utofu_vcq_hdl_t vcq_hdl, utofu_stadd_t stadd, unsigned long int flags);

int utofu_put(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd,
              size_t length, uint64_t edata, unsigned long int flags, void* cbdata);
int utofu_put_piggyback(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, void* lcl_data, utofu_stadd_t rmt_stadd,
                        size_t length, uint64_t edata, unsigned long int flags, void* cbdata);
int utofu_put_piggyback8(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id, uint64_t lcl_data, utofu_stadd_t rmt_stadd,
                         size_t length, uint64_t edata, unsigned long int flags, void* cbdata);
int utofu_poll_tcq(utofu_vcq_hdl_t vcq_hdl, unsigned long int flags, void** cbdata);

#ifdef __cplusplus
}
#endif
