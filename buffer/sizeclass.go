package buffer

// Size classes, as jemalloc has them: four steps to each doubling, so that rounding up
// wastes at most a fifth. 64, 80, 96, 112, 128, 160, … 524,288 bytes. The caches of the loops
// keep the smaller ones, up to 65,536 bytes.
const (
	minClassSize  = 64
	maxCachedSize = 64 << 10
	maxClassSize  = 512 << 10
	cachedClasses = 10*4 + 1            // ten doublings
	numClasses    = cachedClasses + 3*4 // three more
	classQuantum  = 16                  // divides every size
)

// classSizes holds the size of each class in bytes.
var classSizes = func() (sizes [numClasses]int) {
	sizes[0] = minClassSize
	for k := 1; k < numClasses; k++ {
		// Class k is step (k-1)%4+1 of 4 within doubling (k-1)/4.
		doubling, step := (k-1)/4, (k-1)%4+1
		base := minClassSize << doubling
		sizes[k] = base + step*base/4
	}
	return sizes
}()

// classTable holds the cached class of each multiple of classQuantum. Counting bits instead
// needs no table of 4 KiB, but measured 3 ns more on an allocation of 10.
var classTable = func() (table [maxCachedSize/classQuantum + 1]uint8) {
	k := uint8(0)
	for i := range table {
		if i*classQuantum > classSizes[k] {
			k++
		}
		table[i] = k
	}
	return table
}()

// cachedClassOf returns the smallest class that has n bytes. 0 ≤ n ≤ maxCachedSize.
func cachedClassOf(n int) int { return int(classTable[uint(n+classQuantum-1)/classQuantum]) }

// classOf is cachedClassOf for 0 ≤ n ≤ maxClassSize.
func classOf(n int) int {
	if n <= maxCachedSize {
		return cachedClassOf(n)
	}
	k := cachedClasses
	for classSizes[k] < n {
		k++
	}
	return k
}
