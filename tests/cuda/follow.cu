// SPDX-License-Identifier: Apache-2.0
#include "follow_cuda.h"

static __global__ void fill(follow_buffers buffers, unsigned char value) {
    for (int b = 0; b < FOLLOW_BUFFERS; b++)
        for (size_t at = blockIdx.x * blockDim.x + threadIdx.x; at < buffers.bytes[b];
             at += (size_t)gridDim.x * blockDim.x)
            buffers.data[b][at] = value;
}

cudaError_t follow_with_fill(cudaStream_t stream, const follow_buffers *buffers, unsigned char value) {
    cudaLaunchAttribute early;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(8);
    config.blockDim = dim3(128);
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, fill, *buffers, value);
}
