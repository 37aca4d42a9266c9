/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/report.h"

#include "data/data.h"
#include "points/dimensions.h"

#include <string.h>

static const char *const outcome_names[] = {"ok", "FAIL", "refused", "skipped"};

/* A selection among the elements that match is to take no more than so many times the one from all, and the
 * mask. */
static const double plain_tolerance = 1.15;

static bool is_where(const bench_point *point) {
    return point->operation == TOPK_OPERATION_WHERE;
}

static const char *operation_name(const bench_point *point) {
    static const char *const names[] = {
        [TOPK_OPERATION_SELECT] = "select", [TOPK_OPERATION_KTH] = "kth",
        [TOPK_OPERATION_WHERE] = "where",   [TOPK_OPERATION_SELECT_WHERE] = "select_where",
        [TOPK_OPERATION_COUNT] = "count",   [TOPK_OPERATION_MASK] = "mask",
    };
    return names[point->operation];
}

/* Its line depends on the threads of a block. */
static bool is_baseline(const bench_gpu_result *result) {
    return strncmp(result->name, "baseline-", strlen("baseline-")) == 0;
}

static const char *or_else(const char *text, const char *other) {
    return text[0] != '\0' ? text : other;
}

static bool is_timed(const bench_gpu_result *result) {
    return result->outcome == BENCH_GPU_RIGHT && result->call_us.median > 0;
}

static const char *verdict_of(const bench_gpu_result *result) {
    return result->outcome == BENCH_GPU_RIGHT && result->invalid ? "VOID" : outcome_names[result->outcome];
}

/* The columns that say which point this is. */
static void write_point(FILE *csv, const bench_gpu_session *session, const bench_gpu_result *result) {
    const bench_point *point = result->point;
    fprintf(csv, "%s,%s,%s,%s,%lld,%lld,%lld,%d,", result->name, operation_name(point),
            topk_type_name(point->type), bench_distribution_name(point->distribution), (long long)point->rows,
            (long long)point->n, (long long)result->k, point->keep_percent);
    fprintf(csv, "%s,%s,%s,%s,%s,%s,%s,%s,%s,", point->direction == TOPK_SMALLEST ? "smallest" : "largest",
            point->order == TOPK_ORDER_ANY ? "any" : "best", point->ties == TOPK_TIES_ANY ? "any" : "lowest",
            point->index_type == TOPK_INDEX_I64 ? "i64" : "i32", or_else(point->method, "auto"),
            or_else(point->tuning, "none"), result->launch,
            bench_has_predicate(point) ? bench_predicate_names[point->predicate] : "",
            is_where(point) ? bench_wanted_names[point->wanted] : "");
    if (is_baseline(result)) {
        fprintf(csv, "%d", point->block);
    }
    fprintf(csv, ",%s,%s", session->options.warm ? "warm" : "cold", session->device);
}

static void write_csv(FILE *csv, const bench_gpu_session *session, const bench_gpu_result *result) {
    write_point(csv, session, result);
    if (!is_timed(result)) {
        fprintf(csv, ",,,,,,,,,,,,,%zu,%s,%.3f,%.4f,,\n", result->workspace_bytes, verdict_of(result),
                session->empty_us, session->copy_rate / 1e12);
        return;
    }
    const bench_quartiles *call = &result->call_us;
    const double read_us = result->read_us, limit_us = result->limit_us;
    fprintf(csv, ",\"%s\",,%d,%.3f,%.3f,%.3f,%.3f,%.4f,%.4f,%.4f,%.4f,%.3f,%zu,%s,%.3f,%.4f,", result->reader,
            result->runs, read_us, limit_us, call->median, result->host_us, call->median / limit_us,
            call->q1 / limit_us, call->q3 / limit_us, (call->q3 - call->q1) / limit_us, result->to_topk,
            result->workspace_bytes, verdict_of(result), session->empty_us, session->copy_rate / 1e12);
    if (result->plain_us > 0) {
        fprintf(csv, "%.3f,%.3f", result->plain_us, result->mask_us);
    } else {
        fputc(',', csv);
    }
    fputc('\n', csv);
}

static void write_header(FILE *table) {
    fprintf(table,
            "%-14s %-12s %-4s %-14s %8s %10s %10s %-16s %-8s %-12s %-5s %10s %10s %7s %7s %15s %8s %8s %11s  "
            "%s\n",
            "what", "op", "type", "data", "rows", "n", "k", "asked", "method", "tuning", "launch", "read us",
            "call us", "/read", "/limit", "quartiles", "host us", "/topk", "workspace", "check");
}

/* The predicate, and the share that it keeps where k does not tell; order and ties; what where writes. */
static const char *write_asked(const bench_point *point, char text[32]) {
    static const char *const read[] = {">", "<=", "byte", "bit"};
    static const char *const written[] = {"index", "value", "both", "count"};
    const char *order = point->order == TOPK_ORDER_ANY ? "any" : "best";
    const char *ties = point->ties == TOPK_TIES_ANY ? "any" : "low";
    const char *predicate = read[point->predicate];
    if (is_where(point)) {
        const bool wide = point->index_type == TOPK_INDEX_I64 && bench_wants_indices(point);
        snprintf(text, 32, "%s %s%s", predicate, written[point->wanted], wide ? " i64" : "");
    } else if (!bench_has_k(point)) {
        snprintf(text, 32, "%s", predicate);
    } else if (bench_has_predicate(point)) {
        snprintf(text, 32, "%s %d%% %s %s", predicate, point->keep_percent, order, ties);
    } else {
        snprintf(text, 32, "%-5s %-4s", order, ties);
    }
    return text;
}

static void write_line(FILE *table, const bench_gpu_result *result) {
    const bench_point *point = result->point;
    char asked[32];
    fprintf(table, "%-14s %-12s %-4s %-14s %8lld %10lld %10lld %-16s %-8s %-12s %-5s  ", result->name,
            operation_name(point), topk_type_name(point->type), bench_distribution_name(point->distribution),
            (long long)point->rows, (long long)point->n, (long long)result->k, write_asked(point, asked),
            or_else(point->method, "auto"), or_else(point->tuning, "none"), result->launch);
    if (!is_timed(result)) {
        fprintf(table, "%10s %10s %7s %7s %15s %8s %8s %11zu  %s%s%s\n", "-", "-", "-", "-", "-", "-", "-",
                result->workspace_bytes, verdict_of(result), result->reason[0] != '\0' ? ": " : "",
                result->reason);
        return;
    }
    const bench_quartiles *call = &result->call_us;
    char quartiles[40];
    snprintf(quartiles, sizeof quartiles, "%.3f-%.3f", call->q1 / result->limit_us,
             call->q3 / result->limit_us);
    fprintf(table, "%10.2f %10.2f %7.3f %7.3f %15s %8.2f %8.2f %11zu  %s", result->read_us, call->median,
            call->median / result->read_us, call->median / result->limit_us, quartiles, result->host_us,
            result->to_topk, result->workspace_bytes, verdict_of(result));
    if (result->plain_us > 0) {
        const double ratio = call->median / (plain_tolerance * result->plain_us + result->mask_us);
        fprintf(table, ", %.3f of %.2f select%s%s", ratio, plain_tolerance,
                result->mask_us > 0 ? " + mask" : "", ratio > 1 ? " TOO SLOW" : "");
    }
    fputc('\n', table);
}

void bench_gpu_report_begin(bench_gpu_report *report, const bench_gpu_session *session) {
    const bench_gpu_options *options = &session->options;
    fprintf(
        report->table,
        "libtopk %d.%d.%d on %s, %d SMs, driver for CUDA %d.%d, runtime %d.%d, %s, %d runs, seed %llu; an "
        "empty kernel %.2f us, a copy %.3f TB/s\n",
        topk_version() / 10000, topk_version() / 100 % 100, topk_version() % 100, session->device,
        session->sms, session->driver / 1000, session->driver % 1000 / 10, session->runtime / 1000,
        session->runtime % 1000 / 10, options->warm ? "warm" : "cold", options->runs,
        (unsigned long long)options->seed, session->empty_us, session->copy_rate / 1e12);
    if (report->csv != NULL) {
        fputs(
            "what,operation,type,data,rows,n,k,keep_percent,direction,order,ties,index,method,tuning,launch,"
            "predicate,outputs,threads,cache,features,reader,reader_threads,pairs,read_us,limit_us,call_us,"
            "host_us,to_limit,"
            "to_limit_q1,to_limit_q3,to_limit_iqr,to_topk,workspace_bytes,check,empty_us,copy_tb_per_s,"
            "plain_us,mask_us\n",
            report->csv);
    }
}

void bench_gpu_report_add(void *state, const bench_gpu_session *session, const bench_gpu_result *result) {
    bench_gpu_report *report = state;
    if (report->lines++ % 40 == 0) {
        write_header(report->table);
    }
    ++report->outcomes[result->outcome];
    report->invalid += result->outcome == BENCH_GPU_RIGHT && result->invalid;
    write_line(report->table, result);
    fflush(report->table);
    if (report->csv != NULL) {
        write_csv(report->csv, session, result);
        fflush(report->csv);
    }
}

void bench_gpu_report_end(bench_gpu_report *report) {
    if (report->invalid > 0) {
        fprintf(report->table,
                "VOID: in %d lines one read takes more than 5 %% longer than on this GPU at its best\n",
                report->invalid);
    }
    fprintf(report->table, "%d lines: %d right, %d wrong, %d refused, %d skipped, %d void\n", report->lines,
            report->outcomes[BENCH_GPU_RIGHT], report->outcomes[BENCH_GPU_WRONG],
            report->outcomes[BENCH_GPU_REFUSED], report->outcomes[BENCH_GPU_SKIPPED], report->invalid);
}
