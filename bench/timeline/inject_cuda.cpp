/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaded by the CUDA driver (CUDA_INJECTION64_PATH): writes what CUPTI records of a process, launches by the
 * host and what the device does, to the file that TOPK_TIMELINE names. A line for each: kind, correlation,
 * begin and end in nanoseconds, name. ../timeline reads it. */
#include <cupti.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>

namespace {

std::FILE *out;

void CUPTIAPI give_buffer(std::uint8_t **buffer, std::size_t *size, std::size_t *records_max) {
    *size = std::size_t(1) << 20;
    *buffer = static_cast<std::uint8_t *>(std::aligned_alloc(8, *size));
    *size = *buffer != nullptr ? *size : 0;
    *records_max = 0; /* as many as fit */
}

template <typename Record> void write(const char *kind, const Record *record, const char *name) {
    std::fprintf(out, "%s,%u,%llu,%llu,\"%s\"\n", kind, record->correlationId,
                 static_cast<unsigned long long>(record->start), static_cast<unsigned long long>(record->end),
                 name);
}

/* Later versions of the structs only append to them. */
void write_record(const CUpti_Activity *record) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        const auto *kernel = reinterpret_cast<const CUpti_ActivityKernel9 *>(record);
        int status = 0;
        char *const plain = abi::__cxa_demangle(kernel->name, nullptr, nullptr, &status);
        write("kernel", kernel, status == 0 ? plain : kernel->name);
        std::free(plain);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        write("memset", reinterpret_cast<const CUpti_ActivityMemset4 *>(record), "memset");
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const auto *copy = reinterpret_cast<const CUpti_ActivityMemcpy6 *>(record);
        const bool in = copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
        const bool out_of = copy->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
        write("memcpy", copy, in ? "memcpy HtoD" : out_of ? "memcpy DtoH" : "memcpy DtoD");
    } else if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
        const auto *call = reinterpret_cast<const CUpti_ActivityAPI *>(record);
        const char *name = "?";
        (void)cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, call->cbid, &name);
        write("host", call, name);
    }
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t *buffer, std::size_t, std::size_t valid) {
    CUpti_Activity *record = nullptr;
    while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
        write_record(record);
    }
    std::free(buffer);
}

void finish() {
    (void)cuptiActivityFlushAll(1);
    std::fclose(out);
}

} // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
    const char *const path = std::getenv("TOPK_TIMELINE");
    out = path != nullptr ? std::fopen(path, "w") : nullptr;
    if (out == nullptr) {
        return 0;
    }
    std::fputs("kind,correlation,begin_ns,end_ns,name\n", out);
    const bool ok = cuptiActivityRegisterCallbacks(give_buffer, take_buffer) == CUPTI_SUCCESS &&
                    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS &&
                    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET) == CUPTI_SUCCESS &&
                    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS &&
                    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME) == CUPTI_SUCCESS;
    return ok && std::atexit(finish) == 0;
}
