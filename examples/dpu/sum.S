// Adds up words of MRAM with several tasklets.
//
//     sealift dpu run examples/dpu/sum.S --tasklets 11 --write count=1024 --read total
//
// NR_TASKLETS is what --tasklets says; `count`, a multiple of 16, is how many words of `numbers` are added.

    .text
        jeq   id, NR_TASKLETS - 1, work     // the last tasklet boots no other
        boot  id, 1                         // the one after this
    work:
        move  r0, 0                         // what this tasklet has added up
        lsl   r2, id, 6                     // where its first 64 bytes lie
        add   r1, r2, buffers
        lw    r3, zero, count
        lsl   r3, r3, 2
    chunk:
        jgeu  r2, r3, done
        add   r4, r2, numbers
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
    done:
        acquire zero, 0, nz, done           // one tasklet at a time from here
        lw    r1, zero, total
        add   r1, r1, r0
        sw    zero, total, r1
        release zero, 0, nz, end
    end:
        stop

    .data
        .p2align 3
    count:   .long 16
    total:   .long 0

    .bss
        .p2align 3
    buffers: .zero 64 * NR_TASKLETS

    .section .mram
    numbers: .long 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
             .zero 4096 - 64
