// As interpolate.c: for each number on a line of input, the sum of that many interpolations, in 65,536ths.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
)

func interpolate(table []float64, x float64) float64 {
	k := int(x)
	return table[k] + (table[k+1]-table[k])*(x-float64(k))
}

func sum(table []float64, count uint32) float64 {
	total := 0.0
	for i := uint32(0); i < count; i++ {
		position := i * 0x9E3779B9
		total += interpolate(table, float64(position>>6)/65536)
	}
	return total
}

func main() {
	table := make([]float64, 1025)
	for k := range table {
		table[k] = float64(k * (11*k + 37) % 4096)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		count, err := strconv.ParseUint(lines.Text(), 10, 32)
		if err != nil {
			panic(err)
		}
		fmt.Println(int64(65536 * sum(table, uint32(count))))
	}
}
