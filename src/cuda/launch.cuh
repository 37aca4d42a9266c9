/* SPDX-License-Identifier: Apache-2.0
 * Launching kernels: the host's door to the hardware, as simt.cuh is the kernels'. */
#ifndef TOPK_SRC_CUDA_LAUNCH_CUH
#define TOPK_SRC_CUDA_LAUNCH_CUH

#include "simt.cuh"

struct CUstream_st;

struct simt_launch_shape {
    const char *name;      /* of the kernel, for reports */
    uint32_t blocks, rows; /* the grid's two dimensions, each at least 1 */
    uint32_t threads;      /* per block: a multiple of 32, at most 1024 */
    uint32_t cluster;      /* blocks per cluster; 0 and 1: none. See simt_resident_clusters */
    bool cooperative;      /* all blocks resident at once. See simt_resident_blocks */
    uint32_t shared_bytes; /* dynamic shared memory of a block */
    struct CUstream_st *stream;
    bool dependent; /* may start before the launch before it in the stream has ended */
};

/* The kernel of a dependent launch calls simt_wait_predecessor before it touches memory, and must have been
 * compiled for an architecture that knows of it: see simt_architecture. The first launch of a call into the
 * library is not dependent, since what comes before it is not known; and the last does not call
 * simt_allow_successor, since what comes after it is not known either. */

#ifdef __CUDACC__

/* Enqueues the kernel; returns 0 or a cudaError_t. Nothing is allocated and nothing waited for. */
template <typename Args>
static int simt_launch(const simt_launch_shape &shape, void (*kernel)(Args), Args args) {
    cudaLaunchAttribute attributes[3];
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(shape.blocks, shape.rows);
    config.blockDim = dim3(shape.threads);
    config.dynamicSmemBytes = shape.shared_bytes;
    config.stream = shape.stream;
    config.attrs = attributes;
    if (shape.cluster > 1) {
#ifdef TOPK_PORTABLE
        return cudaErrorNotSupported;
#else
        cudaLaunchAttribute &attribute = attributes[config.numAttrs++];
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = shape.cluster;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
#endif
    }
    if (shape.cooperative) {
        cudaLaunchAttribute &attribute = attributes[config.numAttrs++];
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
    }
#ifndef TOPK_PORTABLE
    if (shape.dependent) {
        cudaLaunchAttribute &attribute = attributes[config.numAttrs++];
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
    }
#endif
    void *parameters[] = {&args};
    return cudaLaunchKernelExC(&config, (const void *)kernel, parameters);
}

/* Once per kernel and device before a launch with more than 48 KiB of shared memory; 0 or a cudaError_t. */
template <typename Args> static int simt_allow_shared(void (*kernel)(Args), uint32_t bytes) {
    return cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)bytes);
}

/* Loads the kernel on the current device, so that its first launch neither allocates nor waits, and allows it
 * that much dynamic shared memory; 0 or a cudaError_t. */
template <typename Args> static int simt_prepare(void (*kernel)(Args), uint32_t shared_bytes) {
    cudaFuncAttributes attributes;
    int error = cudaFuncGetAttributes(&attributes, (const void *)kernel);
    if (error == 0 && shared_bytes > 48 * 1024)
        error = simt_allow_shared(kernel, shared_bytes);
    return error;
}

/* The architecture that the kernel was compiled for, such as 90 for sm_90; 0 on an error. The device's may be
 * later. Below 90 the kernel knows neither clusters nor dependent launches. */
template <typename Args> static uint32_t simt_architecture(void (*kernel)(Args)) {
    cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, (const void *)kernel) != cudaSuccess)
        return 0;
#ifdef TOPK_PORTABLE
    return SIMT_PORTABLE;
#else
    return (uint32_t)attributes.ptxVersion;
#endif
}

/* How many blocks of that shape the current device holds at once: a cooperative launch of more fails. 0 where
 * there are no such launches. The kernel has been prepared. */
template <typename Args>
static uint32_t simt_resident_blocks(void (*kernel)(Args), uint32_t threads, uint32_t shared_bytes) {
    int device = 0, cooperative = 0, sms = 0, per_sm = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, (const void *)kernel, (int)threads,
                                                      shared_bytes) != cudaSuccess)
        return 0;
    return (uint32_t)(cooperative != 0 ? sms * per_sm : 0);
}

/* How many clusters of `cluster` such blocks the current device holds at once; 0 where it has no room for
 * one, or the kernel was compiled for GPUs without clusters. The kernel has been prepared. A launch in
 * clusters of more than 8 blocks needs this call first, once per kernel and device. */
template <typename Args>
static uint32_t simt_resident_clusters(void (*kernel)(Args), uint32_t threads, uint32_t shared_bytes,
                                       uint32_t cluster) {
    int clusters = 0;
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(cluster);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (simt_architecture(kernel) < 90 ||
        (cluster > 8 &&
         cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) !=
             cudaSuccess) ||
        cudaOccupancyMaxActiveClusters(&clusters, (const void *)kernel, &config) != cudaSuccess)
        return 0;
    return (uint32_t)clusters;
}

#else
#include "simt_emulated_launch.h"
#endif
#endif
