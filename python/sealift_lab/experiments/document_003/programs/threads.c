/* Starts threads, each of which calls a function, and waits for all of them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

typedef double work(uint32_t rounds);

/* What a thread does, and what came of it. */
struct part {
    work *call;
    double result;
    int64_t begin_ns, end_ns, cpu_ns, preemptions;
    uint32_t rounds;
};

static int64_t now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t preemptions(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

static void *body(void *argument) {
    struct part *part = argument;
    int64_t before = preemptions(), before_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    part->begin_ns = now_ns(CLOCK_MONOTONIC);
    part->result = part->call(part->rounds);
    part->end_ns = now_ns(CLOCK_MONOTONIC);
    part->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
    part->preemptions = preemptions() - before;
    return 0;
}

/* How many threads could be started: fewer where the system gives no more. */
uint32_t run(struct part *parts, uint32_t threads) {
    pthread_t started[threads];
    uint32_t count = 0;
    while (count < threads && !pthread_create(&started[count], 0, body, &parts[count])) count++;
    for (uint32_t i = 0; i < count; i++) pthread_join(started[i], 0);
    return count;
}
