/* SPDX-License-Identifier: Apache-2.0
 * Streams and events of a GPU. */
#include "streams.h"

#include "../leaf.h"

struct work {
    topk_stream stream, *made_stream;
    topk_event event, *made_event;
};

static int create_stream_now(const void *of) {
    return topk_device_create_stream(((const struct work *)of)->made_stream);
}

static topk_status create_stream(const topk_context *context, topk_stream *stream) {
    const struct work work = {.made_stream = stream};
    return topk_cuda_do(context, create_stream_now, &work);
}

static int destroy_stream_now(const void *of) {
    return topk_device_destroy_stream(((const struct work *)of)->stream);
}

static topk_status destroy_stream(const topk_context *context, topk_stream stream) {
    const struct work work = {.stream = stream};
    return topk_cuda_do(context, destroy_stream_now, &work);
}

static int create_event_now(const void *of) {
    return topk_device_create_event(((const struct work *)of)->made_event);
}

static topk_status create_event(const topk_context *context, topk_event *event) {
    const struct work work = {.made_event = event};
    return topk_cuda_do(context, create_event_now, &work);
}

static int destroy_event_now(const void *of) {
    return topk_device_destroy_event(((const struct work *)of)->event);
}

static topk_status destroy_event(const topk_context *context, topk_event event) {
    const struct work work = {.event = event};
    return topk_cuda_do(context, destroy_event_now, &work);
}

static int record_now(const void *of) {
    return topk_device_record(((const struct work *)of)->event, ((const struct work *)of)->stream);
}

static topk_status record(const topk_context *context, topk_event event, topk_stream stream) {
    const struct work work = {.event = event, .stream = stream};
    return topk_cuda_do(context, record_now, &work);
}

static int await_now(const void *of) {
    return topk_device_await(((const struct work *)of)->event, ((const struct work *)of)->stream);
}

static topk_status await_event(const topk_context *context, topk_event event, topk_stream stream) {
    const struct work work = {.event = event, .stream = stream};
    return topk_cuda_do(context, await_now, &work);
}

static int wait_now(const void *of) {
    return topk_device_wait_event(((const struct work *)of)->event);
}

static topk_status wait_event(const topk_context *context, topk_event event) {
    const struct work work = {.event = event};
    return topk_cuda_do(context, wait_now, &work);
}

const struct stream_calls topk_cuda_streams = {.create_stream = create_stream,
                                               .destroy_stream = destroy_stream,
                                               .create_event = create_event,
                                               .destroy_event = destroy_event,
                                               .record = record,
                                               .await = await_event,
                                               .wait_event = wait_event};
