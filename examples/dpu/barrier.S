// Adds up an array in MRAM with several tasklets that meet at a barrier, and prints the sum.
//
//     sealift dpu run examples/dpu/barrier.S --tasklets 16 --read total
//
// NR_TASKLETS is what --tasklets says.

    .set ARRAY_BYTES, 4096

    .text
        jeq   id, NR_TASKLETS - 1, work     // the last tasklet boots no other
        boot  id, 1                         // the one after this
    work:
        move  r0, 0                         // what this tasklet has added up
        lsl   r2, id, 6                     // where its first 64 bytes lie
        add   r1, r2, buffers
        move  r8, ARRAY_BYTES
    chunk:
        jgeu  r2, r8, arrive
        add   r4, r2, array
        ldma  r1, r4, 7                     // 8 times 8 bytes: one less is what stands here
        move  r5, r1
        add   r6, r1, 64
    word:
        lw    r7, r5, 0
        add   r0, r0, r7
        add   r5, r5, 4
        jltu  r5, r6, word
        add   r2, r2, 64 * NR_TASKLETS
        jump  chunk

    // The barrier: each stops but the last to come, who has the others go on.
    arrive:
        sw    id4, sums, r0                 // a word for each tasklet
    lock:
        acquire zero, 0, nz, lock
        lw    r1, zero, missing
        add   r1, r1, -1
        sw    zero, missing, r1
        jeq   r1, 0, last
        release zero, 0, nz, sleep
    sleep:
        stop                                // `resume` has it go on behind this
        jump  together
    last:
        release zero, 0, nz, wake
    wake:
        move  r2, NR_TASKLETS - 1
    each:
        jeq   id, r2, next
    again:
        resume r2, 0, nz, again             // once more, if that tasklet has not stopped yet
    next:
        add   r2, r2, -1, pl, each

    together:
        jneq  id, 0, end
        move  r0, 0
        move  r1, sums
        move  r6, sums + 4 * NR_TASKLETS
    part:
        lw    r7, r1, 0
        add   r0, r0, r7
        add   r1, r1, 4
        jltu  r1, r6, part
        sw    zero, total, r0
        move  r2, text
        tell  r2, 1                         // the text
        tell  r0, 0                         // the number
    end:
        stop

    .data
    missing: .long NR_TASKLETS
    total:   .long 0
    text:    .asciz "the sum is\n"

    .bss
        .p2align 3
    buffers: .zero 64 * NR_TASKLETS
    sums:    .zero 4 * NR_TASKLETS

    .section .mram
    array:   .long 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
             .zero ARRAY_BYTES - 64 - 4
             .long 1000
