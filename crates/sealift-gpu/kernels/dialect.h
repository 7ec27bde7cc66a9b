/* What CUDA (NVRTC) and OpenCL C name differently.
 *
 * A program is these files one behind the other:
 *   dialect.h message.h ghash.h aes_table.h aes_circuit.h aes.h gcm.h many.cl long.cl
 * and these defines:
 *   KEY_WORDS  4, 6 or 8: the key size in words of 32 bits
 *   TABLES     4 or 1: tables in local memory; 0: the S-box as a circuit, no table and no local memory
 *   COPIES     32: a copy of the tables for each lane, so that no look-up's time depends on its
 *              address; 1: only where leaking by time is accepted
 * Work-groups are a multiple of 32 work-items, GROUP_MAX at most.
 */
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define ON_CUDA 1
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
#define KERNEL extern "C" __global__ void __launch_bounds__(GROUP_MAX)
#define FN static __device__ __forceinline__
/* For what is long and seldom called: one copy in the program instead of one at each call. */
#define SELDOM_FN static __device__ __noinline__
#define GLOBAL
#define LOCAL
#define RESTRICT __restrict__
#define GLOBAL_ID() (blockIdx.x * blockDim.x + threadIdx.x)
#define GLOBAL_SIZE() (gridDim.x * blockDim.x)
#define LOCAL_ID() (threadIdx.x)
#define LOCAL_SIZE() (blockDim.x)
#define LOCAL_BARRIER() __syncthreads()
#define UNIT(a, b, c, d) make_uint4(a, b, c, d)
#define BYTES_SWAPPED(x) __byte_perm(x, 0, 0x0123)
#define ROTATE_LEFT(x, n) __funnelshift_l(x, x, n)
/* Of several work-items' words, in whichever order they come. */
#define XORED_INTO(address, word) atomicXor(address, word)
/* The bits of b where mask has ones, those of a where it has zeros. */
FN u32 choose(u32 a, u32 b, u32 mask) {
    u32 chosen;
    asm("lop3.b32 %0, %1, %2, %3, 0xd8;" : "=r"(chosen) : "r"(a), "r"(b), "r"(mask));
    return chosen;
}
/* a * b, and c more. Said so that the compiler can't take the halves of a wider word for factors. */
FN u64 times(u32 a, u32 b) {
    u64 product;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
}
FN u64 times_and(u32 a, u32 b, u64 c) {
    u64 sum;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(sum) : "r"(a), "r"(b), "l"(c));
    return sum;
}
/* A unit as it is in memory now, that this work-item may have written itself. Said so because a load whose
 * address comes from one of two pointers is else taken for one of constant memory, and because what was
 * loaded before is else kept in registers. */
FN uint4 unit_loaded(const uint4 *address) {
    uint4 unit;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(unit.x), "=r"(unit.y), "=r"(unit.z), "=r"(unit.w)
                 : "l"(__cvta_generic_to_global(address))
                 : "memory");
    return unit;
}
/* Keeps a word in a register where the compiler would rather compute it again. */
#define HELD(word) asm volatile("" : "+r"(word))
#if TABLES
FN u8 *dynamic_shared(void) {
    extern __shared__ uint4 memory[];
    return (u8 *)memory;
}
#endif
#define LOCAL_ARGUMENT
#define LOCAL_MEMORY dynamic_shared()
#else
typedef uchar u8;
typedef uint u32;
typedef ulong u64;
#define KERNEL __kernel void
#define FN static inline
#define SELDOM_FN static inline
#define GLOBAL __global
#define LOCAL __local
#define RESTRICT restrict
#define GLOBAL_ID() ((u32)get_global_id(0))
#define GLOBAL_SIZE() ((u32)get_global_size(0))
#define LOCAL_ID() ((u32)get_local_id(0))
#define LOCAL_SIZE() ((u32)get_local_size(0))
#define LOCAL_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define UNIT(a, b, c, d) ((uint4)(a, b, c, d))
#define BYTES_SWAPPED(x) as_uint(as_uchar4((u32)(x)).wzyx)
#define ROTATE_LEFT(x, n) rotate((u32)(x), (u32)(n))
#define XORED_INTO(address, word) atomic_xor(address, word)
FN u32 choose(u32 a, u32 b, u32 mask) { return bitselect(a, b, mask); }
FN u64 times(u32 a, u32 b) { return (u64)a * (u64)b; }
FN u64 times_and(u32 a, u32 b, u64 c) { return (u64)a * (u64)b + c; }
FN uint4 unit_loaded(const __global uint4 *address) { return *(const volatile __global uint4 *)address; }
#define HELD(word)
/* PoCL 3.1 shares arrays declared in a kernel between work-groups when there is an argument like this
 * one, so this is all the local memory of a program. NVIDIA's driver aligns it for what the argument points
 * to: where that were bytes, kernels that read words there fail (driver 580.159, H200). */
#if TABLES
#define LOCAL_ARGUMENT , __local uint4 *local_memory
#define LOCAL_MEMORY ((__local u8 *)local_memory)
#else
#define LOCAL_ARGUMENT
#endif
#endif

#define UNROLLED _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
