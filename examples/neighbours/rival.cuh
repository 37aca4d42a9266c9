/* SPDX-License-Identifier: Apache-2.0
 * The same neighbours in two steps: cuBLAS writes all distances, topk_select() reads them. */
#ifndef TOPK_EXAMPLES_NEIGHBOURS_RIVAL_CUH
#define TOPK_EXAMPLES_NEIGHBOURS_RIVAL_CUH

#include <topk.h>

#include "fused.cuh"
#include "memory.cuh"

#ifdef NEIGHBOURS_HAS_CUBLAS

#include <cublasLt.h>

inline void require(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
        fail(cublasLtGetStatusString(status));
}

inline void require(topk_status status) {
    if (status != TOPK_OK)
        fail(topk_last_error());
}

template <typename Number> class rival {
  public:
    rival(const Number *of_vectors, const float *half_norms, const Number *of_queries, uint32_t count,
          uint32_t queried, uint32_t k)
        : vectors(of_vectors), queries(of_queries), distances(on_device<float>((size_t)count * queried)),
          values(on_device<float>((size_t)queried * k)), indices(on_device<int32_t>((size_t)queried * k)),
          room(on_device<char>(ROOM_BYTES)) {
        prepare_product(half_norms, count, queried);
        prepare_selection(count, queried, k);
    }
    ~rival() {
        for (void *memory : {(void *)distances, (void *)values, (void *)indices, (void *)room, workspace})
            require(cudaFree(memory));
        topk_context_destroy(context);
        require(cublasLtMatrixLayoutDestroy(layout_vectors));
        require(cublasLtMatrixLayoutDestroy(layout_queries));
        require(cublasLtMatrixLayoutDestroy(layout_distances));
        require(cublasLtMatmulDescDestroy(product));
        require(cublasLtDestroy(handle));
    }
    rival(const rival &) = delete;

    /* Whether cuBLAS multiplies such numbers on this GPU. */
    bool exists() const {
        return found > 0;
    }
    /* Else it computes less: products without |b|^2 / 2. */
    bool is_alike() const {
        return has_norms;
    }
    void enqueue_distances(cudaStream_t stream) const {
        const float minus_one = -1, zero = 0;
        require(cublasLtMatmul(handle, product, &minus_one, vectors, layout_vectors, queries, layout_queries,
                               &zero, distances, layout_distances, distances, layout_distances, &chosen.algo,
                               room, ROOM_BYTES, stream));
    }
    void enqueue(cudaStream_t stream) const {
        topk_input input = TOPK_INPUT_INIT;
        input.values = distances;
        enqueue_distances(stream);
        require(topk_select(context, &problem, &input, values, indices, workspace, workspace_bytes, stream));
    }
    std::vector<int32_t> results() const {
        return to_host(indices, (size_t)(problem.rows * problem.k_max));
    }

  private:
    static const size_t ROOM_BYTES = 32 << 20;
    static const cudaDataType_t TYPE = is_bfloat16<Number>::value ? CUDA_R_16BF : CUDA_R_16F;

    const Number *vectors, *queries;
    float *distances; /* of each query a row */
    float *values;
    int32_t *indices;
    char *room; /* for cuBLAS */
    void *workspace = nullptr;
    size_t workspace_bytes = 0;
    topk_context *context = nullptr;
    topk_problem problem = TOPK_PROBLEM_INIT;
    cublasLtHandle_t handle = nullptr;
    cublasLtMatmulDesc_t product = nullptr;
    cublasLtMatrixLayout_t layout_vectors = nullptr, layout_queries = nullptr, layout_distances = nullptr;
    cublasLtMatmulHeuristicResult_t chosen = {};
    int found = 0;
    bool has_norms = true;

    template <typename T> void set(cublasLtMatmulDescAttributes_t attribute, const T &value) {
        require(cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof value));
    }

    /* In columns: the vectors, transposed, times a column for each query. |b|^2 / 2 is a bias of each row. */
    void prepare_product(const float *half_norms, uint32_t count, uint32_t queried) {
        cublasLtMatmulPreference_t preference;
        const size_t room_bytes = ROOM_BYTES;
        require(cublasLtCreate(&handle));
        require(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
        set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
        set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
        set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, half_norms);
        set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_32F);
        require(cublasLtMatrixLayoutCreate(&layout_vectors, TYPE, DIMENSIONS, count, DIMENSIONS));
        require(cublasLtMatrixLayoutCreate(&layout_queries, TYPE, DIMENSIONS, queried, DIMENSIONS));
        require(cublasLtMatrixLayoutCreate(&layout_distances, CUDA_R_32F, count, queried, count));
        require(cublasLtMatmulPreferenceCreate(&preference));
        require(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                     &room_bytes, sizeof room_bytes));
        choose(preference);
        if (found == 0) {
            set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
            has_norms = false;
            choose(preference);
        }
        require(cublasLtMatmulPreferenceDestroy(preference));
    }

    void choose(cublasLtMatmulPreference_t preference) {
        if (cublasLtMatmulAlgoGetHeuristic(handle, product, layout_vectors, layout_queries, layout_distances,
                                           layout_distances, preference, 1, &chosen,
                                           &found) != CUBLAS_STATUS_SUCCESS)
            found = 0;
    }

    void prepare_selection(uint32_t count, uint32_t queried, uint32_t k) {
        topk_context_options options = TOPK_CONTEXT_OPTIONS_INIT;
        options.backend = TOPK_BACKEND_CUDA;
        problem.type = TOPK_F32;
        problem.direction = TOPK_SMALLEST;
        problem.rows = queried;
        problem.length_max = count;
        problem.k_max = k;
        require(topk_context_create(&options, &context));
        require(topk_workspace_size(context, TOPK_OPERATION_SELECT, &problem, &workspace_bytes));
        workspace = on_device<char>(workspace_bytes);
    }
};

#else

template <typename Number> struct rival {
    rival(const Number *, const float *, const Number *, uint32_t, uint32_t, uint32_t) {
    }
    bool exists() const {
        return false;
    }
    bool is_alike() const {
        return false;
    }
    void enqueue_distances(cudaStream_t) const {
    }
    void enqueue(cudaStream_t) const {
    }
    std::vector<int32_t> results() const {
        return {};
    }
};

#endif

#endif
