/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

static const char *operation_name(topk_operation operation) {
    return operation == TOPK_OPERATION_SELECT ? "select" : operation == TOPK_OPERATION_KTH ? "kth" : "where";
}

static const char *method_name(const bench_result *result) {
    return result->point->method[0] != '\0' ? result->point->method : "auto";
}

/* The columns that say which point this is. */
static void write_point(FILE *csv, const bench_session *session, const bench_result *result) {
    const bench_point *point = result->point;
    fprintf(csv, "%s,%s,%s,%s,%lld,%lld,%lld,%d,", result->name, operation_name(point->operation),
            topk_type_name(point->type), bench_distribution_name(point->distribution), (long long)point->rows,
            (long long)point->n, (long long)result->k, point->keep_percent);
    fprintf(csv, "%s,%s,%s,%s,%s,%d,%s,%s", point->direction == TOPK_SMALLEST ? "smallest" : "largest",
            point->order == TOPK_ORDER_ANY ? "any" : "best", point->ties == TOPK_TIES_ANY ? "any" : "lowest",
            point->index_type == TOPK_INDEX_I64 ? "i64" : "i32", method_name(result), result->threads,
            session->cold ? "cold" : "warm", session->features);
}

static void write_csv(FILE *csv, const bench_session *session, const bench_result *result) {
    write_point(csv, session, result);
    if (!result->correct) {
        fprintf(csv, ",,,,,,,,,,,,,%zu,FAIL\n", result->workspace_bytes);
        return;
    }
    const bench_times *times = &result->times;
    fprintf(csv, ",%s,%d,%d,%.3f,%.3f,%.3f,%.3f,%.4f,%.4f,%.4f,%.4f,%.3f,%zu,ok\n", result->reader,
            result->reader_threads, result->pairs, 1e6 * times->read_s, 1e6 * times->limit_s,
            1e6 * times->subject_s, 1e6 * times->subject_s, times->to_limit.median, times->to_limit.q1,
            times->to_limit.q3, times->to_limit.q3 - times->to_limit.q1, times->to_reference,
            result->workspace_bytes);
}

/* A time in the unit that suits it. */
static const char *show_time(double seconds, char text[16]) {
    if (seconds < 1e-3) {
        snprintf(text, 16, "%.2f us", 1e6 * seconds);
    } else if (seconds < 1) {
        snprintf(text, 16, "%.3f ms", 1e3 * seconds);
    } else {
        snprintf(text, 16, "%.3f s", seconds);
    }
    return text;
}

static void write_header(FILE *table) {
    fprintf(table,
            "%-22s %-6s %-4s %-14s %8s %9s %9s %-5s %-4s %-10s %2s %11s %11s %11s %7s %15s %8s %9s  %s\n",
            "what", "op", "type", "data", "rows", "n", "k", "order", "ties", "method", "th", "read", "limit",
            "call", "/limit", "quartiles", "/topk", "workspace", "check");
}

static void write_line(FILE *table, const bench_result *result) {
    const bench_point *point = result->point;
    fprintf(table, "%-22s %-6s %-4s %-14s %8lld %9lld %9lld %-5s %-4s %-10s %2d ", result->name,
            operation_name(point->operation), topk_type_name(point->type),
            bench_distribution_name(point->distribution), (long long)point->rows, (long long)point->n,
            (long long)result->k, point->order == TOPK_ORDER_ANY ? "any" : "best",
            point->ties == TOPK_TIES_ANY ? "any" : "low", method_name(result), result->threads);
    if (!result->correct) {
        fprintf(table, "%11s %11s %11s %7s %15s %8s %9zu  FAIL: %s\n", "-", "-", "-", "-", "-", "-",
                result->workspace_bytes, result->reason);
        return;
    }
    const bench_times *times = &result->times;
    char read[16], limit[16], call[16], quartiles[32];
    snprintf(quartiles, sizeof quartiles, "%.3f-%.3f", times->to_limit.q1, times->to_limit.q3);
    fprintf(table, "%11s %11s %11s %7.3f %15s %8.2f %9zu  ok\n", show_time(times->read_s, read),
            show_time(times->limit_s, limit), show_time(times->subject_s, call), times->to_limit.median,
            quartiles, times->to_reference, result->workspace_bytes);
}

void bench_report_begin(bench_report *report, const bench_session *session) {
    fprintf(report->table, "libtopk %d.%d.%d, %d threads, %s, %s, %d pairs, seed %llu\n",
            topk_version() / 10000, topk_version() / 100 % 100, topk_version() % 100, session->threads,
            session->features, session->cold ? "cold" : "warm", session->pairs,
            (unsigned long long)session->seed);
    if (report->csv != NULL) {
        fputs(
            "what,operation,type,data,rows,n,k,keep_percent,direction,order,ties,index,method,threads,cache,"
            "features,reader,reader_threads,pairs,read_us,limit_us,call_us,host_us,to_limit,to_limit_q1,"
            "to_limit_q3,to_limit_iqr,to_topk,workspace_bytes,check\n",
            report->csv);
    }
}

void bench_report_add(void *state, const bench_session *session, const bench_result *result) {
    bench_report *report = state;
    if (report->lines++ % 40 == 0) {
        write_header(report->table);
    }
    write_line(report->table, result);
    fflush(report->table);
    if (report->csv != NULL) {
        write_csv(report->csv, session, result);
        fflush(report->csv);
    }
}
