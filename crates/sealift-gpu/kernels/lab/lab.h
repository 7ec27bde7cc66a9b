/* What the lab's programs have in common; drivers use none of them. A program is dialect.h message.h lab.h
 * and one more file. Work-groups have any size up to the largest there is. */
#undef GROUP_MAX
#define GROUP_MAX 1024
