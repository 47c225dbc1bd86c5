package buffer

import "testing"

func TestSizeClassesAreThese(t *testing.T) {
	want := []int{
		64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024,
		1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096, 5120, 6144, 7168, 8192,
		10240, 12288, 14336, 16384, 20480, 24576, 28672, 32768, 40960, 49152, 57344, 65536,
		81920, 98304, 114688, 131072, 163840, 196608, 229376, 262144, 327680, 393216, 458752, 524288,
	}
	if len(want) != numClasses {
		t.Fatalf("%d classes, want %d", numClasses, len(want))
	}
	if c := (&Cache{}); len(c.lists) != cachedClasses || len(c.published) != cachedClasses || want[cachedClasses-1] != maxCachedSize {
		t.Errorf("caches keep %d classes, the last of %d bytes", len(c.lists), want[cachedClasses-1])
	}
	for k, n := range want {
		if classSizes[k] != n {
			t.Errorf("class %d has %d bytes, want %d", k, classSizes[k], n)
		}
	}
}

func TestEverySizeGetsTheSmallestClassThatHasIt(t *testing.T) {
	for n := 0; n <= maxClassSize; n++ {
		k := classOf(n)
		if k < 0 || k >= numClasses || classSizes[k] < n || k > 0 && classSizes[k-1] >= n {
			t.Fatalf("size %d gets class %d", n, k)
		}
		if n > minClassSize && (classSizes[k]-n)*5 > classSizes[k] {
			t.Fatalf("size %d wastes more than a fifth of %d", n, classSizes[k])
		}
	}
}

func TestCapacityIsTheClassSize(t *testing.T) {
	c := NewPooled(PooledOptions{}).NewCache()
	c.Bind()
	defer c.Unbind()
	for name, a := range map[string]Allocator{"cache": c, "shared": c.pool} {
		for k, size := range classSizes {
			for range 2 { // new, then reused
				b := a.Allocate(size)
				if b.Cap() != size || b.Len() != 0 || b.Available() != size {
					t.Errorf("%s: capacity %d for %d", name, b.Cap(), size)
				}
				b.Close()
			}
			b := a.Allocate(size + 1)
			if k < numClasses-1 && b.Cap() != classSizes[k+1] || b.Cap() <= size {
				t.Errorf("%s: capacity %d for %d", name, b.Cap(), size+1)
			}
			b.Close()
		}
	}
}
