/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "data/data.h"
#include "points/suites.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* What a selection among matches may take: this many times the one from all, and the mask. */
static const double plain_tolerance = 1.15;

/* One line, column by column. A column has a name in CSV, a heading in the table, or both; width < 0: to the
 * left. */
typedef struct column {
    const char *name, *heading;
    int width;
    char text[192];
} column;

typedef struct line {
    column columns[64];
    int count;
} line;

__attribute__((format(printf, 5, 6))) static void put(line *to, const char *name, const char *heading,
                                                      int width, const char *format, ...) {
    column *each = &to->columns[to->count++];
    *each = (column){.name = name, .heading = heading, .width = width};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(each->text, sizeof each->text, format, arguments);
    va_end(arguments);
}

/* A number; nothing unless it is known. */
static void put_number(line *to, const char *name, const char *heading, int width, bool known, int digits,
                       double number) {
    put(to, name, heading, width, "%.*f", digits, number);
    if (!known) {
        to->columns[to->count - 1].text[0] = '\0';
    }
}

static const char *or_else(const char *text, const char *other) {
    return text[0] != '\0' ? text : other;
}

/* The predicate, and the share that it keeps where k does not tell; order and ties; what where writes. */
static void put_asked(line *to, const bench_point *point) {
    static const char *const read[] = {">", "<=", "byte", "bit"};
    static const char *const written[] = {"index", "value", "both", "count"};
    const char *order = bench_order_names[point->order], *ties = point->ties == TOPK_TIES_ANY ? "any" : "low";
    const char *predicate = read[point->predicate];
    const bool steps = point->max_iterations > 0, wide = point->index_type == TOPK_INDEX_I64;
    const int width = -16;
    if (point->operation == TOPK_OPERATION_ROUTE) {
        put(to, NULL, "asked", width, "%s", bench_routing_names[point->routing]);
    } else if (point->operation == TOPK_OPERATION_WHERE) {
        put(to, NULL, "asked", width, "%s %s%s", predicate, written[point->wanted],
            wide && bench_wants_indices(point) ? " i64" : "");
    } else if (!bench_has_k(point)) {
        put(to, NULL, "asked", width, "%s", predicate);
    } else if (bench_has_predicate(point)) {
        put(to, NULL, "asked", width, "%s %d%% %s %s", predicate, point->keep_percent, order, ties);
    } else if (bench_is_approximate(point)) {
        put(to, NULL, "asked", width, "%-4s %s %g", order, steps ? "steps" : "eps",
            fmax(point->max_iterations, fmax(point->epsilon, point->epsilon_relative)));
    } else if (point->chunk > 0) {
        put(to, NULL, "asked", width, "by %lld", (long long)point->chunk);
    } else {
        const char *lengths = point->lengths != BENCH_EVEN ? bench_lengths_names[point->lengths] : "";
        put(to, NULL, "asked", width, "%-4s %s %s", order, ties, lengths);
    }
}

static void put_point(line *to, const bench_point *point, int64_t k) {
    const bool has_predicate = bench_has_predicate(point), where = point->operation == TOPK_OPERATION_WHERE;
    put(to, "operation", "op", -12, "%s", bench_operation_names[point->operation]);
    put(to, "type", "type", -7, "%s", topk_type_name(point->type));
    put(to, "data", "data", -14, "%s", point->distribution->name);
    put_number(to, "rows", "rows", 8, true, 0, (double)point->rows);
    put_number(to, "n", "n", 10, true, 0, (double)point->n);
    put_number(to, "k", "k", 10, true, 0, (double)k);
    put_number(to, "keep_percent", NULL, 0, true, 0, (double)point->keep_percent);
    put(to, "direction", NULL, 0, "%s", bench_direction_names[point->direction]);
    put(to, "order", NULL, 0, "%s", bench_order_names[point->order]);
    put(to, "ties", NULL, 0, "%s", bench_ties_names[point->ties]);
    put(to, "index", NULL, 0, "%s", bench_index_names[point->index_type]);
    put_asked(to, point);
    put(to, "method", "method", -8, "%s", or_else(point->method, "auto"));
    put(to, "tuning", "tuning", -12, "%s", or_else(point->tuning, "none"));
    put(to, "predicate", NULL, 0, "%s", has_predicate ? bench_predicate_names[point->predicate] : "");
    put(to, "outputs", NULL, 0, "%s", where ? bench_wanted_names[point->wanted] : "");
    put(to, "routing", NULL, 0, "%s",
        point->operation == TOPK_OPERATION_ROUTE ? bench_routing_names[point->routing] : "");
    put_number(to, "chunk", NULL, 0, true, 0, (double)point->chunk);
    put(to, "max_iterations", NULL, 0, "%d", point->max_iterations);
    put(to, "epsilon", NULL, 0, "%g", point->epsilon);
    put(to, "epsilon_relative", NULL, 0, "%g", point->epsilon_relative);
    put(to, "lengths", NULL, 0, "%s", bench_lengths_names[point->lengths]);
}

static void put_times(line *to, const bench_result *result) {
    const bool known = result->outcome == BENCH_RIGHT && result->call_us > 0;
    const bench_quartiles *to_limit = &result->to_limit;
    put(to, "reader", NULL, 0, "%s", known ? result->reader : "");
    put_number(to, "reader_threads", NULL, 0, known && result->reader_threads > 0, 0, result->reader_threads);
    put_number(to, "pairs", NULL, 0, known, 0, result->runs);
    put_number(to, "read_us", "read us", 10, known, 3, result->read_us);
    put_number(to, "limit_us", "limit us", 10, known, 3, result->limit_us);
    put_number(to, "call_us", "call us", 10, known, 3, result->call_us);
    put_number(to, "host_us", "host us", 10, known, 3, result->host_us);
    put_number(to, NULL, "/read", 7, known, 3, result->call_us / result->read_us);
    put_number(to, "to_limit", "/limit", 7, known, 4, to_limit->median);
    put_number(to, "to_limit_q1", "first", 7, known, 4, to_limit->q1);
    put_number(to, "to_limit_q3", "third", 7, known, 4, to_limit->q3);
    put_number(to, "to_limit_iqr", NULL, 0, known, 4, to_limit->q3 - to_limit->q1);
    put_number(to, "to_topk", "/topk", 8, known, 3, result->to_topk);
    put_number(to, "floor_us", "floor us", 10, known && result->floor_us > 0, 3, result->floor_us);
    put_number(to, "hit_percent", "hits %", 6, known && result->hit_percent > 0, 2, result->hit_percent);
}

/* What became of the line, and why; against select, which the contract of select_where is about. */
static void put_verdict(line *to, const bench_result *result) {
    static const char *const names[] = {"ok", "FAIL", "refused", "skipped"};
    const bool right = result->outcome == BENCH_RIGHT;
    const char *name = right && result->invalid ? "VOID" : names[result->outcome];
    const double paid_us = plain_tolerance * result->plain_us + result->mask_us;
    put(to, "check", NULL, 0, "%s", name);
    if (right && result->call_us > 0 && result->plain_us > 0) {
        put(to, NULL, "check", -1, "%s, %.3f of %.2f select%s%s", name, result->call_us / paid_us,
            plain_tolerance, result->mask_us > 0 ? " + mask" : "",
            result->call_us > paid_us ? " TOO SLOW" : "");
    } else {
        put(to, NULL, "check", -1, "%s%s%s", name, result->reason[0] != '\0' ? ": " : "", result->reason);
    }
}

static void fill(line *to, const bench_session *session, const bench_result *result) {
    const bool gpu = session->empty_us > 0;
    const bool beside = result->outcome == BENCH_RIGHT && result->call_us > 0 && result->plain_us > 0;
    put(to, "what", "what", -22, "%s", result->name);
    put_point(to, result->point, result->k);
    put(to, "launch", "launch", -6, "%s", result->launch);
    put_number(to, "threads", "th", 4, result->threads > 0, 0, result->threads);
    put(to, "cache", NULL, 0, "%s", session->options.cold ? "cold" : "warm");
    put(to, "features", NULL, 0, "%s", session->features);
    put_times(to, result);
    put_number(to, "workspace_bytes", "workspace", 11, true, 0, (double)result->workspace_bytes);
    put_verdict(to, result);
    put_number(to, "empty_us", NULL, 0, gpu, 3, session->empty_us);
    put_number(to, "copy_tb_per_s", NULL, 0, gpu, 4, session->copy_rate / 1e12);
    put_number(to, "plain_us", NULL, 0, beside, 3, result->plain_us);
    put_number(to, "mask_us", NULL, 0, beside, 3, result->mask_us);
}

/* The line, with a header above it if asked for. */
static void write_line(const line *from, bool header, bool csv, FILE *out) {
    for (int above = header; above >= 0; --above) {
        const char *separator = "";
        for (int i = 0; i < from->count; ++i) {
            const column *each = &from->columns[i];
            const char *title = csv ? each->name : each->heading, *text = above ? title : each->text;
            if (title != NULL && csv) {
                const char *quote = strchr(text, ',') != NULL ? "\"" : "";
                fprintf(out, "%s%s%s%s", separator, quote, text, quote);
                separator = ",";
            } else if (title != NULL) {
                fprintf(out, "%s%*s", separator, each->width, or_else(text, "-"));
                separator = " ";
            }
        }
        fputc('\n', out);
    }
    fflush(out);
}

void bench_report_begin(bench_report *report, const bench_session *session) {
    char device[512];
    session->device->describe(session, device, sizeof device);
    fprintf(report->table, "libtopk %d.%d.%d on %s, %s, %d runs, seed %llu\n", topk_version() / 10000,
            topk_version() / 100 % 100, topk_version() % 100, device, session->options.cold ? "cold" : "warm",
            session->options.runs, (unsigned long long)session->options.source.seed);
}

void bench_report_add(void *state, const bench_session *session, const bench_result *result) {
    bench_report *report = state;
    line made = {.count = 0};
    fill(&made, session, result);
    write_line(&made, report->lines % 40 == 0, false, report->table);
    if (report->csv != NULL) {
        write_line(&made, report->lines == 0, true, report->csv);
    }
    ++report->lines;
    ++report->outcomes[result->outcome];
    report->invalid += result->outcome == BENCH_RIGHT && result->invalid;
}

void bench_report_end(bench_report *report) {
    if (report->invalid > 0) {
        fprintf(report->table,
                "VOID: in %d lines one read takes more than 5 %% longer than on this GPU at its best\n",
                report->invalid);
    }
    fprintf(report->table, "%d lines: %d right, %d wrong, %d refused, %d skipped, %d void\n", report->lines,
            report->outcomes[BENCH_RIGHT], report->outcomes[BENCH_WRONG], report->outcomes[BENCH_REFUSED],
            report->outcomes[BENCH_SKIPPED], report->invalid);
}

void bench_report_point(FILE *out, const bench_point *point, bool first) {
    line made = {.count = 0};
    put_point(&made, point, point->k);
    put_number(&made, "block", NULL, 0, true, 0, point->block);
    write_line(&made, first, true, out);
}
