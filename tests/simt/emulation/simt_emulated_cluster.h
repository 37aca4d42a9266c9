/* SPDX-License-Identifier: Apache-2.0
 * Clusters, and the shared memory of other blocks, which is checked as one's own is. */
#ifndef TOPK_TESTS_SIMT_EMULATED_CLUSTER_H
#define TOPK_TESTS_SIMT_EMULATED_CLUSTER_H

inline uint32_t simt_cluster_rank() {
    return simt_runtime::where().cluster_rank;
}

inline uint32_t simt_cluster_size() {
    return simt_runtime::where().cluster_size;
}

inline void simt_cluster_arrive(simt_site at = simt_here()) {
    simt_runtime::arrive_cluster(true, at);
}

inline void simt_cluster_arrive_relaxed(simt_site at = simt_here()) {
    simt_runtime::arrive_cluster(false, at);
}

inline void simt_cluster_wait(simt_site at = simt_here()) {
    simt_runtime::wait_cluster(at);
}

inline void simt_cluster_sync(simt_site at = simt_here()) {
    simt_cluster_arrive(at);
    simt_cluster_wait(at);
}

template <typename T> struct simt_remote {
    static_assert(std::is_same<T, uint32_t>::value || std::is_same<T, uint64_t>::value, "as on a GPU");
    simt_shared<T> array;
};

template <typename T> simt_remote<T> simt_shared_of_rank(simt_shared<T> array, uint32_t rank) {
    array.home = simt_runtime::block_of_rank(rank);
    return simt_remote<T>{array};
}

template <typename T> T simt_remote_load(simt_remote<T> remote, uint32_t index) {
    return remote.array[index];
}

template <typename T>
void simt_remote_store(simt_remote<T> remote, uint32_t index, typename simt_same<T>::type value) {
    remote.array[index] = value;
}

inline uint32_t simt_remote_add(simt_remote<uint32_t> remote, uint32_t index, uint32_t value) {
    return simt_atomic_add(&remote.array[index], value);
}

inline uint32_t simt_remote_max(simt_remote<uint32_t> remote, uint32_t index, uint32_t value) {
    return simt_atomic_max(&remote.array[index], value);
}

#endif
